//! Models by name at the newest run, backends side by side, and their geometric means.

use super::super::record_filter::RecordFilter;
use super::super::reproduce;
use super::super::text::{backend_fill, moment, number, of_report};
use super::super::view_input::ViewInput;
use super::nothing;
use ns_experiment::aggregate::ReportKind;
use ns_view::document::{Block, Document, Figure, Plot};
use ns_view::plot::Bars;
use ns_view::table::{Column, ColumnKind};

/// Most bars; with more, only a table is shown.
const MOST_BARS: usize = 60;

pub fn document(input: &ViewInput<'_>) -> Document {
    let report = input.report(ReportKind::LatestGrouped);
    let title = format!("Speed-up of {} over {}, by model", input.metric_text(), input.base_text());
    let (Some(printed), Some(newest)) = (report.table(), input.times.last()) else {
        return Document { title, blocks: vec![nothing(input)] };
    };
    let grouped = report.grouped();
    let bars = grouped.iter().flat_map(|(model, measures)| {
        measures.iter().zip(&input.backends).filter_map(move |(m, backend)| {
            Some((format!("{model}, {}", backend.title()), backend.title().to_owned(), m.as_ref()?.avg))
        })
    });
    let bars: Vec<_> = bars.collect();
    let mut blocks = Vec::new();
    if bars.len() <= MOST_BARS {
        let note = "The last bars are the geometric means over the models of each backend.".to_owned();
        let mut plot = Bars::new(bars);
        for bar in &mut plot.bars {
            bar.fill = backend_fill(&bar.name).unwrap_or(bar.fill);
        }
        let plot = Plot::Bars(plot, "times as fast".to_owned());
        blocks.push(Block::Plot(Figure { title: "Speed-up of each model".to_owned(), note, plot }));
    }
    let mut table = of_report(&printed);
    let reaches = input.reaches.iter().find(|t| t.timestamp == newest.timestamp);
    for (b, backend) in input.backends.iter().enumerate() {
        let name = backend.title();
        table.columns.push(Column::new(&format!("Low95({name})"), &format!("95 % low {name}"), ColumnKind::Number));
        table.columns.push(Column::new(&format!("High95({name})"), &format!("95 % high {name}"), ColumnKind::Number));
        let of_backend = reaches.and_then(|t| t.backends.get(b)?.as_ref());
        let last = grouped.len().saturating_sub(1);
        for (i, (row, (model, _))) in table.rows.iter_mut().zip(&grouped).enumerate() {
            let reach = of_backend.and_then(|of| {
                if i == last { Some(of.gmean) } else { of.models.iter().find(|(n, _)| n == model).map(|(_, m)| *m) }
            });
            row.extend([number(reach.map(|m| m.avg - m.std)), number(reach.map(|m| m.avg + m.std))]);
        }
    }
    let target = |(i, (model, _)): (usize, &(String, _))| {
        // The means cover all records of the run.
        let model = (i + 1 < grouped.len()).then_some(model.as_str());
        RecordFilter::of(model, None, Some(newest.timestamp))
    };
    let targets = grouped.iter().enumerate().map(target).collect();
    let title_of_table = format!("Models of the run of {}", moment(newest.timestamp));
    blocks.push(Block::Rows {
        title: title_of_table,
        file: "latest_grouped".to_owned(),
        table,
        targets,
        faint: Vec::new(),
    });
    blocks.push(Block::Command(reproduce::aggregate(input, "latest_grouped")));
    Document { title, blocks }
}
