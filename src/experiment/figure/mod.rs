//! Reports as pictures: a drawing of lines, marks and words, written as SVG.

mod bars;
mod characters;
mod frame;
mod look;
mod points;

pub use bars::bar_figure;
pub use frame::FigureSize;
pub use look::{Look, Picture, look};
pub use points::{rank_figure, time_figure};

use super::aggregate::{Metric, Report, ReportKind, datetime_utc};

/// The day of the newest speed-ups, for a title.
fn as_of(report: &Report<'_>) -> String {
    let newest = (0..report.backends.len()).filter_map(|b| report.newest_time(b)).reduce(f64::max);
    let day = newest.and_then(datetime_utc).map(|date| date.chars().take(10).collect::<String>());
    day.map_or_else(String::new, |day| format!(" as of {day}"))
}

/// The picture of a report. `title` is a second line.
pub fn figure(report: &Report<'_>, metric: Metric, size: FigureSize, title: Option<&str>) -> Picture {
    let base = report.backends.first().map_or("", |b| report.names.title(*b));
    let what = if metric == Metric::Compilation { " of compilation" } else { "" };
    let over = format!("{} Benchmarked {base}", report.baseline.title());
    // As the pictures of the suite's document are titled.
    let first = match report.kind {
        ReportKind::Histogram => format!("Histogram of Speedup{what} over {over}"),
        ReportKind::Speedup | ReportKind::Changes => format!("Geomean Speedup{what} Over {over}"),
        ReportKind::Latest | ReportKind::LatestGrouped => format!("Speedup{what} Over {over}{}", as_of(report)),
    };
    let titles: Vec<&str> = std::iter::once(first.as_str()).chain(title).collect();
    match report.kind {
        ReportKind::Latest => rank_figure(report, size, &titles),
        ReportKind::LatestGrouped => bar_figure(report, size, &titles),
        ReportKind::Histogram | ReportKind::Speedup | ReportKind::Changes => time_figure(report, size, &titles),
    }
}
