//! Reports as pictures: a drawing of lines, marks and words, written as SVG.

mod bars;
mod drawing;
mod frame;
mod points;
mod svg;

pub use bars::bar_figure;
pub use drawing::{Anchor, Dash, Drawing, HALF_MARK, MarkKind, Shape};
pub use frame::FigureSize;
pub use points::{rank_figure, time_figure};

use super::aggregate::{Metric, Report, ReportKind};

/// The picture of a report. `title` is a second line.
#[must_use]
pub fn figure(report: &Report<'_>, metric: Metric, size: FigureSize, title: Option<&str>) -> Drawing {
    let base = report.backends.first().map_or("", |b| b.title());
    let what = if metric == Metric::Compilation { " of compilation" } else { "" };
    let first = format!("Speedup{what} over {} Benchmarked {base}", report.baseline.title());
    let first = if report.kind == ReportKind::Histogram { format!("Histogram of {first}") } else { first };
    let titles: Vec<&str> = std::iter::once(first.as_str()).chain(title).collect();
    match report.kind {
        ReportKind::Latest => rank_figure(report, size, &titles),
        ReportKind::LatestGrouped => bar_figure(report, size, &titles),
        ReportKind::Histogram | ReportKind::Speedup | ReportKind::Changes => time_figure(report, size, &titles),
    }
}
