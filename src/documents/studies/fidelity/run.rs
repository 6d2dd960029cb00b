//! A prediction for each row of a table.

use super::table::{FigureTable, Predictions};
use crate::studies::{StudyFile, StudyResult, StudyRun, StudyStep};
use ns_forms::commands::CommandLine;
use ns_forms::studies::FidelityStudy;
use ns_view::document::Block;

struct FidelityRun {
    study: FidelityStudy,
    table: FigureTable,
    /// The next row.
    row: usize,
    predictions: Predictions,
}

/// Begins a comparison. Fails when the table cannot be read, or its rows need files beside it.
pub(in crate::studies) fn start(study: FidelityStudy) -> Result<Box<dyn StudyRun>, String> {
    let file = study.file();
    let table = FigureTable::of(&study).map_err(|e| format!("{file}: {e}"))?;
    if matches!(table, FigureTable::Kernels(_)) {
        return Err(format!(
            "{file}: holds NKI kernels, whose files lie beside it; neuronscope validate {file} runs them"
        ));
    }
    Ok(Box::new(FidelityRun { study, table, row: 0, predictions: Predictions::default() }))
}

impl StudyRun for FidelityRun {
    fn step(&mut self, _budget_events: u32) -> Result<StudyStep, String> {
        if self.row < self.table.len() {
            self.predictions.add(&self.table, self.row);
            self.row += 1;
            let (done, total) = (self.row as u64, self.table.len() as u64);
            return Ok(StudyStep::More { done, total, label: self.table.name_of(self.row).to_owned(), so_far: None });
        }
        let answer = std::mem::take(&mut self.predictions).into_answer(&self.table);
        let mut document = answer.document(&self.study.file());
        document
            .blocks
            .extend(self.study.named().map(|name| Block::Command(CommandLine::new("validate").word(name).print())));
        let json = serde_json::to_string_pretty(&answer).map_err(|e| e.to_string())? + "\n";
        let files = vec![StudyFile::json("validate.json", json)];
        Ok(StudyStep::Done(Box::new(StudyResult { document, files, ..StudyResult::default() })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(table: &str, rows: &str) -> Result<StudyResult, String> {
        let mut run = start(FidelityStudy { table: table.to_owned(), rows: rows.to_owned() })?;
        loop {
            if let StudyStep::Done(result) = run.step(1)? {
                return Ok(*result);
            }
        }
    }

    #[test]
    fn every_table_of_the_program_has_its_predictions() {
        for name in FidelityStudy::shipped() {
            let result = run(name, "").unwrap();
            assert_eq!(result.document.title, format!("{name}.csv beside the model"));
            assert!(result.document.blocks.iter().any(|block| matches!(block, Block::Table { .. })), "{name}");
        }
    }

    #[test]
    fn rows_of_a_user_are_predicted_and_the_others_say_why_not() {
        let rows = "model,instance,batch_size,n_models_or_cores,throughput\nresnet50,inf2.xlarge,1,1,1218.9\nmine,inf2.xlarge,1,1,5\n";
        let json: serde_json::Value = serde_json::from_str(&run("mine.csv", rows).unwrap().files[0].text).unwrap();
        let ratio = json["rows"][0]["ratio"].as_f64().unwrap();
        assert!((0.9..1.1).contains(&ratio), "{ratio}");
        assert!(json["rows"][1]["skipped"].as_str().unwrap().contains("mine"), "{json}");
    }

    #[test]
    fn what_is_no_table_is_refused_with_what_to_give() {
        let wrong = |table: &str, rows: &str| run(table, rows).unwrap_err();
        let none = wrong("own", "");
        assert!(none.starts_with("own.csv: there are no rows; give a CSV file"), "{none}");
        let columns = wrong("a.csv", "a,b\n1,2\n");
        assert_eq!(
            columns,
            "a.csv: is not a table of published figures: the table has no column model; its columns are a, b"
        );
        assert_eq!(wrong("a.csv", "model,throughput\n"), "a.csv: the table has no row");
        let kernels = wrong("k.csv", "variant,kernel,shapes,measured_us\na,k.py::f,1x2,3\n");
        assert!(kernels.ends_with("neuronscope validate k.csv runs them"), "{kernels}");
    }
}
