//! The views: each a document made from the chosen records. The page shows it without knowledge of the subject.

mod by_model;
mod changes;
mod compile;
mod latest;
mod lines;
mod over_time;
mod overview;
mod records;
mod report_plots;
mod report_row;
mod reports;
mod verification;

use super::record_filter::RecordFilter;
use super::reproduce;
use super::view_input::ViewInput;
use ns_experiment::aggregate::{ReportKind, WARM_UP};
use ns_forms::ExperimentView;
use ns_view::document::{Block, Document, Finding, Tone};

pub fn document(input: &ViewInput<'_>) -> Document {
    // With reports only, the views of speed-ups compare their files.
    let only_reports = input.store.entries.is_empty() && !input.store.reports.is_empty();
    let mut document = match (&input.record_filter, input.view) {
        (Some(RecordFilter { report: Some(place), .. }), _) => report_row::document(input, *place),
        (None, ExperimentView::OverTime) if only_reports => report_plots::over_files(input),
        (None, ExperimentView::Histogram) if only_reports => report_plots::percentiles(input),
        (None, ExperimentView::Latest) if only_reports => report_plots::latest(input),
        (Some(record_filter), _) => records::document(input, record_filter),
        (None, ExperimentView::Overview) => overview::document(input),
        (None, ExperimentView::Changes) => changes::document(input),
        (None, ExperimentView::OverTime) => over_time::speedups(input),
        (None, ExperimentView::Histogram) => over_time::percentiles(input),
        (None, ExperimentView::Latest) => latest::document(input),
        (None, ExperimentView::ByModel) => by_model::document(input),
        (None, ExperimentView::Compile) => compile::document(input),
        (None, ExperimentView::Verification) => verification::document(input),
        (None, ExperimentView::Reports) => reports::document(input),
        (None, ExperimentView::Lines) => lines::document(input),
    };
    if input.record_filter.is_none() && report_of(input.view).is_none() {
        document.blocks.push(Block::Command(reproduce::records(input)));
    }
    let wrong = input.problems.iter().map(|problem| {
        Block::Finding(Finding {
            tone: Tone::Bad,
            title: "A choice cannot be used.".to_owned(),
            text: format!("{problem}."),
        })
    });
    document.blocks.splice(0..0, wrong.collect::<Vec<_>>());
    document
}

/// The command line's report that a view corresponds to.
pub const fn report_of(view: ExperimentView) -> Option<ReportKind> {
    match view {
        ExperimentView::OverTime => Some(ReportKind::Speedup),
        ExperimentView::Latest => Some(ReportKind::Latest),
        ExperimentView::ByModel => Some(ReportKind::LatestGrouped),
        ExperimentView::Histogram => Some(ReportKind::Histogram),
        _ => None,
    }
}

fn finding(tone: Tone, title: impl Into<String>, text: impl Into<String>) -> Block {
    Block::Finding(Finding { tone, title: title.into(), text: text.into() })
}

/// The view when there is nothing to compare.
fn nothing(input: &ViewInput<'_>) -> Block {
    if input.entries.is_empty() {
        let (test, accelerator) = (input.test_text(), input.accelerator.as_deref().unwrap_or("any accelerator"));
        let text = "Choose another accelerator or test, or other models.".to_owned();
        return finding(Tone::Warning, format!("There is no record of {test} on {accelerator}."), text);
    }
    let backends: Vec<&str> = input.backends.iter().map(|b| b.title()).collect();
    let text = format!(
        "A model counts when its baseline ({}) and another record of the same batch size both have a time. The first {WARM_UP} repeats of a record warm up and do not count. Choose another baseline, backend ({}), accelerator or test.",
        input.base_text(),
        backends.join(", ")
    );
    finding(Tone::Warning, "There is nothing to compare.", text)
}
