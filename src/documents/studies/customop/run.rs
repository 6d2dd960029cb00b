//! The cases one after another, each kernel in parts of a fixed number of statements.

use std::collections::VecDeque;
use std::rc::Rc;

use super::document::{CaseReport, document, timeline};
use super::text::customop_reports_json;
use crate::studies::run::{StudyFile, StudyReports, StudyResult, StudyRun, StudyStep, is_shown};
use ns_base::convert::{f64_to_u64, u64_to_f64};
use ns_capture::build_customop_profile;
use ns_formats::WriteFormat;
use ns_forms::studies::{CustomopStudy, KernelCase};
use ns_machine::cost::CostTable;
use ns_neuron::gpsimd::CustomOpRun;
use ns_profile::Profile;

/// Parts of a case, for the progress bar.
const PARTS: u64 = 1_000;

struct CustomopStudyRun {
    study: CustomopStudy,
    costs: CostTable,
    waiting: VecDeque<KernelCase>,
    current: Option<(KernelCase, CustomOpRun)>,
    finished: Vec<CaseReport>,
    /// The processors of the first case.
    timeline: Option<Rc<Profile>>,
}

/// Begins the study. Fails when the kernel does not have the constant, or a number is out of its bounds.
pub(in crate::studies) fn start(study: CustomopStudy) -> Result<Box<dyn StudyRun>, String> {
    let cases = study.cases()?;
    for case in &cases {
        case.spec.check().map_err(|e| e.to_string())?;
    }
    Ok(Box::new(CustomopStudyRun {
        study,
        costs: CostTable::neuroncore_v2(),
        waiting: cases.into(),
        current: None,
        finished: Vec::new(),
        timeline: None,
    }))
}

impl StudyRun for CustomopStudyRun {
    fn step(&mut self, budget_events: u32) -> Result<StudyStep, String> {
        let (case, mut run) = match self.current.take() {
            Some(current) => current,
            None => match self.waiting.pop_front() {
                Some(case) => {
                    let run = CustomOpRun::new(case.spec.clone(), &self.costs).map_err(|e| e.to_string())?;
                    (case, run)
                }
                None => return Ok(StudyStep::Done(Box::new(self.result(true)?))),
            },
        };
        if !run.advance(u64::from(budget_events)) {
            let (fraction, label) = (run.fraction(), case.label());
            self.current = Some((case, run));
            return Ok(self.more(fraction, label, None));
        }
        let (report, processors) = run.finish().map_err(|e| e.to_string())?;
        if self.finished.is_empty() {
            self.timeline = Some(Rc::new(build_customop_profile(&case.spec.name, &processors)));
        }
        self.finished.push(CaseReport { case, report, timeline: timeline(&processors) });
        let Some(next) = self.waiting.front() else {
            return Ok(StudyStep::Done(Box::new(self.result(true)?)));
        };
        let label = next.label();
        let done = self.finished.len();
        let so_far = is_shown(done, done + self.waiting.len()).then(|| self.result(false)).transpose()?;
        Ok(self.more(0.0, label, so_far.map(Box::new)))
    }
}

impl CustomopStudyRun {
    fn more(&self, fraction: f64, label: String, so_far: Option<Box<StudyResult>>) -> StudyStep {
        let cases = self.finished.len() + self.waiting.len() + usize::from(self.current.is_some());
        let done = self.finished.len() as u64 * PARTS + f64_to_u64(fraction * u64_to_f64(PARTS));
        StudyStep::More { done, total: cases as u64 * PARTS, label, so_far }
    }

    fn result(&self, is_over: bool) -> Result<StudyResult, String> {
        let document = document(&self.study, &self.finished);
        let files = if is_over { self.files()? } else { Vec::new() };
        let reports = self.finished.iter().map(|case| (case.case.spec.clone(), case.report.clone())).collect();
        let reports = StudyReports::Customop { reports, timeline: self.timeline.clone() };
        Ok(StudyResult { document, files, reports, ..StudyResult::default() })
    }

    /// The command line's output of `--json`, and its timeline of `--output`.
    fn files(&self) -> Result<Vec<StudyFile>, String> {
        let results: Vec<_> = self.finished.iter().map(|f| (&f.case.spec, &f.report)).collect();
        let json = customop_reports_json(&results);
        let mut files = vec![StudyFile::json("customop.json", json.map_err(|e| e.to_string())?)];
        // A kernel that does not compile has none.
        if let Some(profile) = self.timeline.as_ref().filter(|profile| !profile.slices().is_empty()) {
            let text = String::from_utf8(WriteFormat::Chrome.write(profile)).map_err(|e| e.to_string())?;
            files.push(StudyFile::trace("customop-trace.json", text));
        }
        Ok(files)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_forms::options::Options as _;
    use ns_neuron::gpsimd::{customop_json, run_with_processors};
    use ns_view::document::Block;

    fn study(fields: &[(&str, &str)]) -> CustomopStudy {
        let mut study = CustomopStudy::default();
        study.set_text("layers", "16,24,8,4").unwrap();
        study.set_text("batch", "4").unwrap();
        for (key, text) in fields {
            study.set_text(key, text).unwrap();
        }
        study
    }

    fn result(study: CustomopStudy, budget: u32) -> (StudyResult, usize) {
        let mut run = start(study).unwrap();
        let mut steps = 0;
        loop {
            steps += 1;
            if let StudyStep::Done(result) = run.step(budget).unwrap() {
                return (*result, steps);
            }
        }
    }

    #[test]
    fn the_answer_equals_the_command_line_at_any_step_size() {
        let study = study(&[("kernel", "relu-multicore"), ("input", "1003"), ("fill", "ramp")]);
        let spec = study.cases().unwrap()[0].spec.clone();
        let (report, _) = run_with_processors(&spec, &CostTable::neuroncore_v2()).unwrap();
        let (few, steps) = result(study.clone(), 50);
        assert!(steps > 20, "{steps}");
        assert_eq!(few, result(study, 1_000_000).0);
        assert_eq!(few.files[0].text, customop_json(&[(&spec, &report)], |_| None).unwrap());
        assert!(few.files[1].is_trace() && few.files[1].text.contains("processor 7"));
        let found = few.document.blocks.iter().find_map(|b| match b {
            Block::Finding(f) if f.text.contains("1003 elements do not divide by 8 processors") => Some(f),
            _ => None,
        });
        assert!(found.is_some(), "{:?}", few.document.blocks);
    }

    #[test]
    fn a_kernel_that_does_not_parse_or_end_is_a_document_with_its_line() {
        for (source, part) in [
            ("torch::Tensor f(const torch::Tensor& t) {\n  return u;\n}", "u"),
            ("torch::Tensor f(const torch::Tensor& t) {\n  while (true) { }\n  return t;\n}", "does not end"),
        ] {
            let (result, _) = result(study(&[("source", source), ("layers", "4,4,4")]), 1_000_000);
            let notes: Vec<_> = result
                .document
                .blocks
                .iter()
                .filter_map(|b| match b {
                    Block::Source(s) => Some(s.lines[1].notes.clone()),
                    _ => None,
                })
                .collect();
            assert!(notes[0].len() == 1, "{part}: {notes:?}");
            assert!(result.files[0].text.contains("\"complete\": false"));
        }
    }

    #[test]
    fn a_kernel_that_does_not_compile_has_no_values_and_a_wrong_one_no_times() {
        let notes = |fields: &[(&str, &str)]| {
            let (result, _) = result(study(fields), 1_000_000);
            let mut notes = Vec::new();
            for block in result.document.blocks {
                match block {
                    Block::Tiles(tiles) => {
                        notes.extend(tiles.into_iter().map(|t| format!("{}: {} {}", t.name, t.value, t.note)))
                    }
                    Block::Finding(found) => notes.push(found.title),
                    Block::Table { file, table, .. } if file == "customop-runs" => {
                        notes.extend(table.rows.iter().map(|row| format!("{:?} {:?}", row[4], row[8])));
                    }
                    _ => {}
                }
            }
            notes.join("\n")
        };
        let unknown = notes(&[("source", "torch::Tensor f(const torch::Tensor& t) {\n  return bufer;\n}")]);
        assert!(
            unknown.contains("the kernel does not compile: line 2") && unknown.contains("Values: none nothing ran")
        );
        let race = notes(&[("kernel", "relu-multicore"), ("input", "1003")]);
        assert!(race.contains("Error at line") && !race.contains("What would help"), "{race}");
        let swept = notes(&[("kernel", "relu-tcm"), ("constant", "buffer_size=64,9000")]);
        assert!(swept.contains("Missing Text(\"off by"), "{swept}");
        assert_eq!(swept.matches("Number(").count(), 1, "{swept}");
    }

    #[test]
    fn all_element_types_are_rows_even_refused_ones() {
        let (result, _) = result(study(&[("kernel", "relu-any-type"), ("dtype", "float32,int16,bfloat16")]), 1_000_000);
        let runs = result.document.blocks.iter().find_map(|b| match b {
            Block::Table { file, table, .. } if file == "customop-runs" => Some(table),
            _ => None,
        });
        let texts: Vec<String> = runs.unwrap().rows.iter().map(|row| format!("{:?} {:?}", row[3], row[8])).collect();
        assert_eq!(texts.len(), 3);
        assert!(texts[0].contains("float32") && texts[1].contains("int16") && !texts[1].contains("not_supported"));
        assert!(texts[2].contains("bfloat16") && texts[2].contains("not_supported"), "{texts:?}");
    }

    #[test]
    fn steps_and_sweeps_are_shown_beside_the_kernel() {
        let study = study(&[
            ("kernel", "relu-multicore-fixed"),
            ("constant", "buffer_size=64,128,256"),
            ("cores", "4,8"),
            ("steps", "true"),
        ]);
        let (result, _) = result(study, 1_000_000);
        let headings: Vec<_> = result
            .document
            .blocks
            .iter()
            .filter_map(|b| match b {
                Block::Heading(text) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        assert!(
            headings.contains(&"The tutorial\u{2019}s steps") && headings.contains(&"What was compared"),
            "{headings:?}"
        );
        let tables = result.document.blocks.iter().filter_map(|b| match b {
            Block::Table { table, .. } => Some(table.rows.len()),
            _ => None,
        });
        assert!(tables.into_iter().any(|rows| rows == 6));
    }
}
