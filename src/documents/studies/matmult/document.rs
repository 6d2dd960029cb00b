//! The document of a microbenchmark: parts that documents of one case and of a sweep have in common.

use super::command::command;
use super::processor::{Processor, beside};
use super::{single, sweep};
use ns_base::units::capital;
use ns_bench::matmult::{MatmultDetail, MatmultReport, Pitfall};
use ns_forms::studies::MatmultStudy;
use ns_view::document::{Block, Document, Finding, Tone};
use ns_view::table::{Cell, Column, ColumnKind, Table};

pub(super) struct CaseResult {
    pub report: MatmultReport,
    /// Data for the plots of a single case.
    pub detail: Option<MatmultDetail>,
    /// Its program before and after the passes, when they removed products from it.
    pub programs: Option<[String; 2]>,
}

/// The results of the cases so far, and the measurements on this processor.
pub(super) fn document(study: &MatmultStudy, done: &[CaseResult], total: usize, processor: &[Processor]) -> Document {
    let mut blocks = match done {
        [one] if total == 1 => single::blocks(one),
        several => sweep::blocks(several, total),
    };
    blocks.extend(beside(done, processor));
    blocks.push(Block::Table {
        title: "Cases".to_owned(),
        file: "matmult-cases".to_owned(),
        table: table(done.iter().map(|d| &d.report)),
    });
    blocks.push(Block::Heading("The same on the command line".to_owned()));
    blocks.push(Block::Command(command(study)));
    let title = match done {
        [one] if total == 1 => one.report.case.label(),
        _ => format!("{} of {total} cases", done.len()),
    };
    Document { title, blocks }
}

/// A pitfall that was found.
pub(super) fn finding(pitfall: Pitfall, text: &str) -> Block {
    let tone = match pitfall {
        Pitfall::ProductsRemoved | Pitfall::NoBias => Tone::Bad,
        _ => Tone::Warning,
    };
    Block::Finding(Finding { tone, title: format!("{}.", pitfall.title()), text: sentence(text) })
}

/// A clause as a sentence: with a capital and a full stop.
pub(super) fn sentence(text: &str) -> String {
    let mut said = capital(text);
    if !said.ends_with('.') {
        said.push('.');
    }
    said
}

/// Columns of the table: name, heading, kind.
const COLUMNS: [(&str, &str, ColumnKind); 20] = [
    ("instance_type", "Instance", ColumnKind::Text),
    ("dtype", "Format", ColumnKind::Text),
    ("operator", "Operator", ColumnKind::Text),
    ("shapes", "Shapes", ColumnKind::Text),
    ("matrix_dim", "N", ColumnKind::Count),
    ("batch_size", "Batch", ColumnKind::Count),
    ("loop_count", "Loop", ColumnKind::Count),
    ("iteration_ms", "Call (ms)", ColumnKind::Number),
    ("host_ms", "Host (ms)", ColumnKind::Number),
    ("link_ms", "Link (ms)", ColumnKind::Number),
    ("hidden_ms", "Hidden (ms)", ColumnKind::Number),
    ("device_ms", "Device (ms)", ColumnKind::Number),
    ("tops", "TFLOPS", ColumnKind::Number),
    ("tops_computed", "TFLOPS computed", ColumnKind::Number),
    ("peak_tops", "Peak TFLOPS", ColumnKind::Number),
    ("peak_percent", "Of the peak", ColumnKind::Percent),
    ("dma_gb_per_s", "DMA (GB/s)", ColumnKind::Number),
    ("peak_gb_per_s", "Peak DMA (GB/s)", ColumnKind::Number),
    ("limited_by", "Limited by", ColumnKind::Text),
    ("findings", "Found", ColumnKind::Text),
];

fn table<'a>(reports: impl Iterator<Item = &'a MatmultReport>) -> Table {
    let row = |r: &MatmultReport| {
        let number = |v: Option<f64>| v.map_or(Cell::Missing, Cell::Number);
        let ms = |s: Option<f64>| number(s.map(|s| s * 1e3));
        let found: Vec<&str> = r.findings.iter().map(|f| f.pitfall.code()).collect();
        // Another model has neither size nor loop.
        let of_layer = |n: u32| if r.case.model.is_some() { Cell::Missing } else { Cell::Count(u64::from(n)) };
        let operator = |text: Option<&str>| text.map_or(Cell::Missing, |t| Cell::Text(t.to_owned()));
        let limit = r.limit.as_ref().map(|l| l.by.clone());
        vec![
            Cell::Text(r.case.instance.clone()),
            Cell::Text(r.dtype.clone()),
            operator(r.case.operator.as_deref()),
            operator(r.case.operator.as_ref().map(|_| r.case.shapes.as_str()).filter(|s| !s.is_empty())),
            of_layer(r.case.matrix_dim),
            Cell::Count(u64::from(r.case.batch_size)),
            of_layer(r.case.loop_count),
            ms(r.iteration_s),
            ms(r.host_s),
            ms(r.link_s),
            ms(r.hidden_s),
            ms(r.device_s),
            number(r.tops),
            number(r.tops_computed),
            number(r.peak_tops),
            number(r.peak_percent),
            number(r.dma_gb_per_s),
            number(r.peak_gb_per_s),
            Cell::Text(limit.or_else(|| r.error.clone()).unwrap_or_else(|| r.status.clone())),
            Cell::Text(found.join(", ")),
        ]
    };
    let columns = COLUMNS.map(|(id, title, kind)| Column::new(id, title, kind));
    Table { columns: columns.into(), rows: reports.map(row).collect() }
}
