//! Published rows as fits without their family predict them: the table `left_out.csv`.

use csv::ReaderBuilder;
use ns_bench::SdkGeneration;

/// Written by a test from `Calibrator::left_out_rows`; `UPDATE_DOCS=1 cargo test --test it fidelity` refreshes it.
const LEFT_OUT: &str = include_str!("left_out.csv");

const HEADER: &str = "family,also_without,framework,batch_size,ratio\n";

/// A published row as a fit without its family predicts it.
#[derive(Clone, Debug, PartialEq)]
pub struct LeftOutRow {
    pub family: String,
    /// A second family without which the fit was made; empty for a fit of all other families.
    pub also_without: String,
    pub generation: SdkGeneration,
    /// Samples of one inference.
    pub batch_size: u32,
    /// Predicted over published throughput.
    pub ratio: f64,
}

/// The rows of the table.
pub(super) fn left_out_rows() -> Vec<LeftOutRow> {
    let mut reader = ReaderBuilder::new().from_reader(LEFT_OUT.as_bytes());
    let row = |record: csv::StringRecord| {
        let cell = |n: usize| record.get(n).unwrap_or("").to_owned();
        Some(LeftOutRow {
            family: cell(0),
            also_without: cell(1),
            generation: SdkGeneration::of_framework(&cell(2)),
            batch_size: cell(3).parse().ok()?,
            ratio: cell(4).parse().ok()?,
        })
    };
    reader.records().filter_map(Result::ok).filter_map(row).collect()
}

/// The table of some rows.
pub fn left_out_csv(rows: &[LeftOutRow]) -> String {
    let line = |r: &LeftOutRow| {
        let release = if r.generation == SdkGeneration::Pt1 { 1 } else { 2 };
        format!("{},{},PyTorch {release},{},{:.4}\n", r.family, r.also_without, r.batch_size, r.ratio)
    };
    rows.iter().fold(HEADER.to_owned(), |table, row| table + &line(row))
}
