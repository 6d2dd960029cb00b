//! A measured row beside the model, and the table of documents.

use serde::Serialize;

use super::MeasuredRow;
use super::cost::model_value;
use super::reasons::reason_of;
use ns_base::units::format_change;

/// Error from which a row has a reason.
const TOLERATED: f64 = 0.1;

/// A measured row with the model's value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RowComparison {
    /// What was measured.
    pub what: String,
    pub instance: String,
    /// The quantity, and the unit of both values.
    pub metric: String,
    pub unit: String,
    /// The published value.
    pub measured: Option<f64>,
    /// The model's value.
    pub model: Option<f64>,
    /// Model over measured, less one.
    pub error: Option<f64>,
    /// Why the cost stays where the error is more than a tenth.
    pub reason: Option<String>,
    /// The reason why the row cannot be compared.
    pub skipped: Option<String>,
}

/// Compares a row with the model.
pub fn compare(row: &MeasuredRow) -> RowComparison {
    let measured = row.value.replace(',', "").parse::<f64>().ok().filter(|value| value.is_finite() && *value > 0.0);
    let model = match measured {
        None => Err(format!("the value '{}' is not a positive number", row.value)),
        Some(_) => model_value(row).map_err(|error| error.to_string()),
    };
    let (model, skipped) = match model {
        Ok(model) => (Some(model), None),
        Err(reason) => (None, Some(reason)),
    };
    let error = model.zip(measured).map(|(model, measured)| model / measured - 1.0);
    let is_off = error.is_some_and(|error| error.abs() > TOLERATED);
    RowComparison {
        what: row.what.clone(),
        instance: row.instance.clone(),
        metric: row.metric.clone(),
        unit: row.unit.clone(),
        measured,
        model,
        error,
        reason: reason_of(&row.what, &row.metric).filter(|_| is_off).map(str::to_owned),
        skipped,
    }
}

/// The rows that the model has a cost for, as a table of a document.
pub fn measured_markdown(rows: &[RowComparison]) -> String {
    let mut out = "| what | on | quantity | measured | model | error | why it stays |\n|---|---|---|---|---|---|---|\n"
        .to_owned();
    for row in rows {
        if let (Some(measured), Some(model), Some(error)) = (row.measured, row.model, row.error) {
            let error = format_change(error * 100.0);
            let unit = if row.unit == "fraction" { String::new() } else { format!(" {}", row.unit) };
            out.push_str(&format!(
                "| {} | {} | {} | {}{unit} | {} | {error} | {} |\n",
                row.what,
                row.instance,
                row.metric.replace('_', " "),
                digits(measured),
                digits(model),
                row.reason.as_deref().unwrap_or_default()
            ));
        }
    }
    out
}

/// Four digits, and no zeros after the last one that says something.
fn digits(value: f64) -> String {
    let decimals = match value.abs() {
        x if x >= 1_000.0 => 0,
        x if x >= 100.0 => 1,
        x if x >= 10.0 => 2,
        x if x >= 1.0 => 3,
        _ => 4,
    };
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(level: &str, instance: &str, what: &str, metric: &str, unit: &str, value: &str) -> RowComparison {
        let text = |text: &str| text.to_owned();
        compare(&MeasuredRow {
            level: text(level),
            instance: text(instance),
            what: text(what),
            metric: text(metric),
            unit: text(unit),
            value: text(value),
            ..MeasuredRow::default()
        })
    }

    #[test]
    fn values_come_in_the_unit_of_the_row() {
        let us = row("instruction", "inf2.xlarge", "ACTIVATE free=512", "instr_latency_median", "us", "0.522");
        let ns = row("instruction", "inf2.xlarge", "ACTIVATE free=512", "instr_latency_median", "ns", "522");
        assert!((us.model.unwrap() * 1e3 - ns.model.unwrap()).abs() < 1e-6, "{us:?}");
        assert!((us.error.unwrap() - ns.error.unwrap()).abs() < 1e-9);
        let single = row("dma", "inf2", "DMA read single transfer 8 KiB", "bandwidth", "GB/s", "205.7");
        assert!(single.error.unwrap().abs() < 0.05, "a single transfer has its start and its end: {single:?}");
    }

    #[test]
    fn rows_without_a_cost_or_a_value_say_so() {
        let skipped = |row: RowComparison| row.skipped.unwrap();
        assert_eq!(
            skipped(row("dma", "inf2", "DMA write 4 KiB", "bandwidth", "GB/s", "-3")),
            "the value '-3' is not a positive number"
        );
        assert_eq!(
            skipped(row("dma", "inf2", "DMA transpose p128 4 KiB", "bandwidth", "GB/s", "114.6")),
            "the model has no cost for 'DMA transpose p128 4 KiB' as bandwidth"
        );
        assert_eq!(
            skipped(row("instruction", "inf2", "MATMUL free=-5", "instr_latency_median", "ns", "10")),
            "the model has no cost for 'MATMUL free=-5' as instr_latency_median"
        );
        assert!(skipped(row("throttle", "inf1.xlarge", "8192^3", "mfu", "", "1")).contains("tensor_mhz"));
        assert_eq!(skipped(row("dma", "p5.48xlarge", "x", "y", "", "1")), "unknown instance 'p5.48xlarge'");
    }
}
