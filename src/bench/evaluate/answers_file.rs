//! Answers in a CSV table: a heading, then a line for each record with its outputs and its target.

use ns_base::convert::f64_to_f32;
use ns_base::{Refusal, refuse};

/// Outputs and target of each line; the target is in the column with this name, or in the last one. An error names the record at fault.
pub fn read_answers(table: &[u8], target_column: Option<&str>) -> Result<Vec<(Vec<f32>, f64)>, Refusal> {
    let unread = |e: csv::Error| refuse!("{e}");
    let mut reader = csv::Reader::from_reader(table);
    let headings = reader.headers().map_err(unread)?.clone();
    let target = match target_column {
        Some(name) => headings.iter().position(|h| h.trim() == name).ok_or_else(|| refuse!("no column '{name}'"))?,
        None => headings.len().saturating_sub(1),
    };
    if headings.len() < 2 {
        return Err(refuse!("it has {} columns; write columns for the outputs and the target", headings.len()));
    }
    let mut answers = Vec::new();
    for (i, line) in reader.records().enumerate() {
        let number =
            |cell: &str| cell.trim().parse().map_err(|_| refuse!("record {}: '{cell}' is not a number", i + 1));
        let numbers: Vec<f64> = line.map_err(unread)?.iter().map(number).collect::<Result<_, _>>()?;
        let output = numbers.iter().enumerate().filter(|(c, _)| *c != target).map(|(_, x)| f64_to_f32(*x)).collect();
        answers.push((output, numbers.get(target).copied().unwrap_or(f64::NAN)));
    }
    Ok(answers)
}
