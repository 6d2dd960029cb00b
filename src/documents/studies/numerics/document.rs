//! The document of a comparison: the verdict, where NaN and infinity first occurred, the values of both sides.

use super::records::DATASET;
use crate::reports::Evaluation;
use ns_base::Refusal;
use ns_base::convert::u64_to_usize;
use ns_base::units::format_count;
use ns_device::{ModelKind, model_label};
use ns_forms::commands::has_name;
use ns_forms::options::command_line;
use ns_forms::studies::NumericsStudy;
use ns_neuron::numerics::{NumericsReport, NumericsSpec, Origin, OutputComparison, Sample, value_text};
use ns_view::document::{Block, Document, Figure, Finding, Plot, Tile, Tone};
use ns_view::plot::{HeatCell, HeatMap, HeatRow};
use ns_view::table::{Cell, Table};

pub(super) fn document(study: &NumericsStudy, report: &NumericsReport) -> Document {
    let spec = &study.compared;
    let tone = if report.passed() { Tone::Good } else { Tone::Bad };
    let verdict = Finding { tone, title: report.status.clone(), text: summary(report) };
    let mut settings = format!("{}, {}, rounding {}, seed {}", report.core, spec.options, spec.rounding, spec.seed);
    if report.flops > 0 {
        settings += &format!("; {} operations of the products", format_count(report.flops));
    }
    let mut blocks = vec![Block::Finding(verdict), Block::Text(settings)];
    // What each operation makes is only known of a model of the zoo with inputs from the seed.
    if study.dataset.is_empty() && ModelKind::of(&spec.model) != ModelKind::File {
        blocks.push(origins(report));
    }
    if !report.metrics.is_empty() {
        let table = Table::of(&report.metrics)
            .text("metric", "Metric", |m| m.metric.as_str())
            .number("reference", "CPU", |m| m.reference)
            .number("device", "Device", |m| m.device)
            .table();
        blocks.push(Block::Table { title: "How good the answers are".into(), file: "metrics".into(), table });
    }
    blocks.extend(report.notes.iter().map(|note| Block::Text(note.clone())));
    blocks.push(Block::Table { title: "Outputs compared".into(), file: "numerics".into(), table: table(report) });
    blocks.extend(report.outputs.iter().flat_map(sides));
    blocks.extend(command(study));
    Document { title: format!("{} on {}", model_label(&spec.model), spec.instance), blocks }
}

/// What metrics say of answers that were made elsewhere. Fails with the record that cannot be read or judged.
pub(super) fn of_answers(study: &NumericsStudy) -> Result<Document, Refusal> {
    let evaluation =
        Evaluation { metrics: study.metrics.clone(), target: study.target.clone(), ..Evaluation::default() };
    let mut document = evaluation.run(DATASET, study.dataset.as_bytes())?;
    // The model and how it is compiled mean nothing here.
    let alone = NumericsStudy { compared: NumericsSpec::default(), ..study.clone() };
    document.blocks.extend(command(&alone));
    Ok(document)
}

/// The command that gives the same result; `None` for a model that only the page has.
fn command(study: &NumericsStudy) -> Option<Block> {
    let always: &[_] = if study.is_answered { &[] } else { &["model", "instance"] };
    let line = command_line("numerics", study, &NumericsStudy::default(), always, |line, option, text| {
        option.on(line, if option.key() == "dataset" { "records.csv" } else { text })
    });
    let saved = if study.dataset.is_empty() { "" } else { "# with the data set above saved as records.csv\n" };
    has_name(&study.compared.model).then(|| Block::Command(format!("{saved}{}", line.print())))
}

fn summary(report: &NumericsReport) -> String {
    let outputs = report.outputs.len();
    let all = if outputs == 1 { "The output".to_owned() } else { format!("All {outputs} outputs") };
    let worst = report.outputs.iter().filter_map(|o| o.mean_relative_error).reduce(f64::max);
    let tolerance = report.spec.tolerance;
    match (report.passed(), worst) {
        (true, Some(worst)) => {
            let verb = if outputs == 1 { "keeps" } else { "keep" };
            format!("{all} {verb} within the tolerance: mean relative error {worst:.3e}, tolerance {tolerance}.")
        }
        (true, None) => format!("{all} agree."),
        (false, _) => {
            let failed = report.outputs.iter().filter(|o| !o.passed);
            let reasons: Vec<String> =
                failed.filter_map(|o| Some(format!("output {}: {}", o.index, o.reason.as_ref()?))).collect();
            format!("{}.", reasons.join("; "))
        }
    }
}

/// The places where values first became NaN or infinite.
fn origins(report: &NumericsReport) -> Block {
    let places = [
        ("First with only zeros", &report.first_underflow, &report.reference_underflow),
        ("First infinity", &report.first_inf, &report.reference_inf),
        ("First NaN", &report.first_nan, &report.reference_nan),
    ];
    let tile = |(what, device, reference): (&str, &Option<Origin>, &Option<Origin>)| {
        let Origin { path, hlo, opcode, elements, of, .. } = device.as_ref()?;
        let both = if reference.is_some() { "the reference has it too" } else { "only on the device" };
        let note = format!("{hlo} ({opcode}), {elements} of {of} elements; {both}");
        Some(Tile { tone: Tone::Bad, ..Tile::new(what, path.clone(), note) })
    };
    let tiles: Vec<Tile> = places.into_iter().filter_map(tile).collect();
    if tiles.is_empty() {
        Block::Text("No operation on the device made a NaN, an infinity or only zeros.".to_owned())
    } else {
        Block::Tiles(tiles)
    }
}

fn table(report: &NumericsReport) -> Table {
    let error = |e: Option<f64>| e.map_or(Cell::Missing, |e| Cell::Text(format!("{e:.3e}")));
    Table::of(&report.outputs)
        .count("output", "Output", |o| u64::from(o.index))
        .text("path", "Operation", |o| o.path.as_str())
        .text("shape", "Shape", |o| o.shape.as_str())
        .text("mean_relative_error", "Mean relative error", |o| error(o.mean_relative_error))
        .text("max_abs_error", "Max abs error", |o| error(o.max_abs_error))
        .text("tolerance", "Tolerance", |o| o.tolerance.to_string())
        .count("nan", "NaN", |o| o.nan)
        .count("inf", "Inf", |o| o.inf)
        .text("result", "Result", |o| if o.passed { "PASS" } else { "FAIL" })
        .table()
}

/// One output with the values of both sides.
fn sides(output: &OutputComparison) -> [Block; 3] {
    let s = &output.sample;
    let (rows, columns) = (u64::from(s.rows), u64::from(s.columns));
    let side = |name: &str, values: &[f32]| Figure {
        title: format!("{name}, output {}", output.index),
        note: String::new(),
        plot: Plot::HeatMap(corner(s, values, output.tolerance)),
    };
    let mut reach = "Shaded values are NaN or infinite, or differ by more than the tolerance.".to_owned();
    if rows < s.all_rows || columns < s.all_columns {
        let (all_rows, all_columns) = (s.all_rows, s.all_columns);
        reach = format!("The first {rows} of {all_rows} rows, {columns} of {all_columns} values each. {reach}");
    }
    [
        Block::Heading(format!("Output {}: {} {}", output.index, output.shape, output.path).trim_end().to_owned()),
        Block::Plots(vec![side("CPU", &s.reference), side("Device", &s.device)]),
        Block::Text(reach),
    ]
}

/// The values of a side, shaded where they are NaN or infinite, or where the two sides differ by more than the tolerance.
fn corner(sample: &Sample, values: &[f32], tolerance: f64) -> HeatMap {
    let is_off = |(reference, device): (&f32, &f32)| {
        f64::from((device - reference).abs()) > tolerance * f64::from(reference.abs())
    };
    let off: Vec<bool> = sample.reference.iter().zip(&sample.device).map(is_off).collect();
    let cell = |(value, is_off): (&f32, &bool)| {
        let share = if *is_off || !value.is_finite() { 1.0 } else { 0.0 };
        Some(HeatCell { value: f64::from(*value), text: value_text(*value), share })
    };
    let cells: Vec<_> = values.iter().zip(&off).map(cell).collect();
    let width = u64_to_usize(u64::from(sample.columns.max(1)));
    let row = |(at, cells): (usize, &[Option<HeatCell>])| HeatRow { name: at.to_string(), cells: cells.to_vec() };
    HeatMap {
        x_title: "column".to_owned(),
        y_title: "row".to_owned(),
        value_title: String::new(),
        columns: (0..width).map(|at| at.to_string()).collect(),
        rows: cells.chunks(width).enumerate().map(row).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_names_only_changed_options() {
        let compared = NumericsSpec { model: "matmult:n=32".to_owned(), seed: 3, ..NumericsSpec::default() };
        let mut study = NumericsStudy { compared, ..NumericsStudy::default() };
        let line = "neuronscope numerics --model matmult:n=32 --instance trn1.2xlarge --seed 3";
        let command = |study: &NumericsStudy| match command(study) {
            Some(Block::Command(text)) => Some(text),
            _ => None,
        };
        assert_eq!(command(&study).as_deref(), Some(line));
        (study.dataset, study.metrics) = ("1,2\n".to_owned(), vec!["Accuracy".to_owned()]);
        let with = format!("{line} --dataset records.csv --eval-metrics Accuracy");
        assert!(command(&study).is_some_and(|command| command.ends_with(&with)));
        study.is_answered = true;
        let blocks = of_answers(&NumericsStudy { dataset: "0.1,0.9,1\n".to_owned(), ..study.clone() }).unwrap().blocks;
        let alone = "# with the data set above saved as records.csv\nneuronscope numerics --dataset records.csv --eval-metrics Accuracy --answers";
        assert_eq!(blocks.last(), Some(&Block::Command(alone.to_owned())));
        study.compared.model = "file:a.onnx@0123456789abcdef".to_owned();
        assert_eq!(command(&study), None);
    }
}
