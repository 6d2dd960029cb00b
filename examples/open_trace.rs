//! Opens a trace and prints its operators: `cargo run --example open_trace -- FILE`.
//!
//! The file may have any format that the library reads, packed or not. Without a file, a PyTorch trace of the repository is
//! opened. Needs no feature.

#![allow(clippy::print_stdout, reason = "an example prints its result")]

use std::error::Error;
use std::fs;

use neuronscope::analysis::Selection;
use neuronscope::analysis::operators::{OpQuery, operator_stats};
use neuronscope::base::units::format_ns;
use neuronscope::formats::{ChunkedReader, ProfileReader};

const SAMPLE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/fixtures/traces/tracelens_bert_small_mi300.json.gz");

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).unwrap_or_else(|| SAMPLE.to_owned());
    let bytes = fs::read(&path).map_err(|e| format!("{path}: {e}"))?;

    // A reader takes pieces of any size: a file need never be in memory as a whole.
    let mut reader = Box::new(ProfileReader::new(&path));
    for piece in bytes.chunks(1 << 16) {
        reader.push(piece)?;
    }
    let profile = reader.finish()?;
    let meta = profile.meta();
    println!("{}: {} events, {} slices", meta.format, meta.events, profile.slices().len());
    // Damage does not fail a file that holds anything readable. It is counted.
    for damage in profile.diagnostics().items() {
        println!("{} ({} times)", damage.code, damage.count);
    }

    // No two slices of one level show the same work, so no time counts twice.
    let level = profile.levels().default_level();
    println!("level: {}", profile.levels().name(level));
    let query = OpQuery { selection: Selection::of_level(level), ..OpQuery::default() };
    let table = operator_stats(&profile, &query);
    for row in table.stats.iter().take(10) {
        let total = format_ns(row.total_ns as f64);
        let name: String = table.name(&profile, row).chars().take(80).collect();
        println!("{total:>10}  {:>6} x  {name}", row.count);
    }
    Ok(())
}
