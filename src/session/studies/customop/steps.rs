//! The tutorial's steps beside each other, each with its gain over the one before it and the reason.

use super::cases::{Finished, Purpose};
use crate::view::document::{Block, Figure, Plot};
use crate::view::plot::Bars;
use crate::view::table::{Cell, Column, ColumnKind, Table};

/// The steps, when they were asked for.
pub(super) fn blocks(finished: &[Finished]) -> Vec<Block> {
    let steps: Vec<&Finished> = finished.iter().filter(|f| f.case.purpose == Purpose::Step).collect();
    if steps.is_empty() {
        return Vec::new();
    }
    let text = "The same ReLU in the same network. The element-wise kernel fetches every element from device memory by itself. The \
                second copies blocks to local memory (TCM) and works on them there. The third divides the elements among the \
                processors.";
    let rates = steps.iter().filter_map(|f| {
        let rate = f.report.iterations_per_s?;
        Some((f.report.kernel.clone(), f.report.kernel.clone(), rate))
    });
    let plot = Plot::Bars(Bars::new(rates), "iterations/s".to_owned());
    let columns = vec![
        Column::new("kernel", "Kernel", ColumnKind::Text),
        Column::new("iterations_per_s", "Iterations/s", ColumnKind::Number),
        Column::new("gain", "Gain", ColumnKind::Number),
        Column::new("ns_per_element", "ns an element", ColumnKind::Number),
        Column::new("bound_by", "Bound by", ColumnKind::Text),
        Column::new("reason", "Why", ColumnKind::Text),
    ];
    let rows = steps.iter().enumerate().map(|(i, f)| {
        let r = &f.report;
        let before = i.checked_sub(1).and_then(|i| steps.get(i)).map(|f| &f.report);
        let gain = before.and_then(|b| Some(r.iterations_per_s? / b.iterations_per_s?));
        let reason = before.map_or_else(|| format!("most of it: {}", r.largest_part()), |b| r.reason_against(b));
        vec![
            Cell::Text(r.kernel.clone()),
            r.iterations_per_s.into(),
            gain.into(),
            r.ns_per_element.into(),
            Cell::Text(r.bound_by.unwrap_or("-").to_owned()),
            Cell::Text(reason),
        ]
    });
    let table = Table { columns, rows: rows.collect() };
    vec![
        Block::Heading("The tutorial\u{2019}s steps".to_owned()),
        Block::Text(text.to_owned()),
        Block::Plot(Figure { title: "Iterations a second".to_owned(), note: String::new(), plot }),
        Block::Table { title: "Steps of the tutorial".to_owned(), file: "customop-steps".to_owned(), table },
    ]
}
