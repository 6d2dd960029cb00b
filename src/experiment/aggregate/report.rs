//! The four reports.

use super::backend::{Backend, BackendNames};
use super::datetime::datetime_utc;
use super::measure::Measure;
use super::speedup::{BackendSpeedups, Baseline, PERCENTILES, TimeSpeedups};
use super::table::{Cell, Heading, Table};
use ns_base::Order;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReportKind {
    /// Models by speed-up, each backend at its own newest timestamp.
    Latest,
    /// Models by name at the newest timestamp, and their geometric mean.
    LatestGrouped,
    /// Percentiles of the models over time.
    Histogram,
    /// The geometric mean over time.
    #[default]
    Speedup,
    /// Models that became slower and still are; the suite does not have this report.
    Changes,
}

/// The data for a report.
#[derive(Clone, Debug)]
pub struct Report<'a> {
    pub kind: ReportKind,
    /// Speed-ups at every timestamp in order.
    pub times: &'a [TimeSpeedups],
    /// The backends that were chosen; the first is the baseline.
    pub backends: &'a [Backend],
    /// The times that make the baseline.
    pub baseline: Baseline,
    pub names: BackendNames,
}

/// Name of the row of geometric means.
const GEOMEAN: &str = "GEOMEAN";

impl Report<'_> {
    /// The report as a table; `None` for a report on models when there are none.
    pub fn table(&self) -> Option<Table> {
        match self.kind {
            ReportKind::Latest => self.latest(),
            ReportKind::LatestGrouped => self.latest_grouped(),
            ReportKind::Histogram => Some(self.histogram()),
            ReportKind::Speedup => Some(self.speedup()),
            ReportKind::Changes => Some(self.changes()),
        }
    }

    /// A backend's newest speed-ups.
    pub fn newest(&self, backend: usize) -> Option<&BackendSpeedups> {
        self.times.iter().rev().find_map(|t| t.backends.get(backend)?.as_ref())
    }

    /// The timestamp of a backend's newest speed-ups, seconds since 1970.
    pub fn newest_time(&self, backend: usize) -> Option<f64> {
        self.times.iter().rev().find(|t| t.backends.get(backend).is_some_and(Option::is_some)).map(|t| t.timestamp)
    }

    /// Models of a backend by speed-up, then deviation, then name.
    pub fn ranked(&self, backend: usize) -> Vec<&(String, Measure)> {
        let mut models: Vec<_> = self.newest(backend).map(|b| b.models.iter().collect()).unwrap_or_default();
        models.order_by(|(name, m): &&(String, Measure), (other, o)| {
            m.avg.total_cmp(&o.avg).then(m.std.total_cmp(&o.std)).then_with(|| name.cmp(other))
        });
        models
    }

    /// Models of the newest timestamp by name, ignoring case, each with one measure for each backend, and the geometric
    /// means last.
    pub fn grouped(&self) -> Vec<(String, Vec<Option<Measure>>)> {
        let Some(newest) = self.times.last() else { return Vec::new() };
        let mut names: Vec<&str> = Vec::new();
        for (name, _) in newest.backends.iter().flatten().flat_map(|b| &b.models) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        if names.is_empty() {
            return Vec::new();
        }
        names.order_by_key(|name| name.to_lowercase());
        let of = |name: &str, b: &Option<BackendSpeedups>| {
            b.as_ref()?.models.iter().find(|(model, _)| model == name).map(|(_, m)| *m)
        };
        let row = |name: &str| (name.to_owned(), newest.backends.iter().map(|b| of(name, b)).collect());
        let mut rows: Vec<(String, Vec<Option<Measure>>)> = names.into_iter().map(row).collect();
        rows.push((GEOMEAN.to_owned(), newest.backends.iter().map(|b| b.as_ref().map(|b| b.gmean)).collect()));
        rows
    }

    fn base(&self) -> (&'static str, &'static str) {
        (self.baseline.title(), self.backends.first().map_or("", |b| self.names.title(*b)))
    }

    fn speedup_headings(&self, backend: Backend) -> [Heading; 2] {
        let ((when, base), title) = (self.base(), self.names.title(backend));
        let short = format!("Speedup({title}/{when} {base})");
        [Heading::stacked(short, &["Speedup", title, "over", when, base]), Heading::plain("StdDev")]
    }

    fn latest(&self) -> Option<Table> {
        let ranked: Vec<_> = (0..self.backends.len()).map(|b| self.ranked(b)).collect();
        let longest = ranked.iter().map(Vec::len).max().filter(|n| *n > 0)?;
        let mut headings = vec![Heading::plain("Workload")];
        for backend in self.backends {
            headings.extend(self.speedup_headings(*backend));
            let title = self.names.title(*backend);
            headings.push(Heading::stacked(format!("ModelName({title})"), &["ModelName", title]));
        }
        let row = |i: usize| {
            let mut cells = vec![Cell::Count(i as u64)];
            for models in &ranked {
                match models.get(i) {
                    Some((name, m)) => {
                        cells.extend([Cell::Number(m.avg), Cell::Number(m.std), Cell::Text(name.clone())]);
                    }
                    None => cells.extend([Cell::Empty, Cell::Empty, Cell::Empty]),
                }
            }
            cells
        };
        Some(Table { headings, rows: (0..longest).map(row).collect() })
    }

    fn latest_grouped(&self) -> Option<Table> {
        let mut headings = vec![Heading::plain("ModelName")];
        headings.extend(self.backends.iter().flat_map(|b| self.speedup_headings(*b)));
        let row = |(name, measures): (String, Vec<Option<Measure>>)| {
            [vec![Cell::Text(name)], measures.into_iter().flat_map(measure_cells).collect()].concat()
        };
        let rows: Vec<Vec<Cell>> = self.grouped().into_iter().map(row).collect();
        (!rows.is_empty()).then_some(Table { headings, rows })
    }

    fn speedup(&self) -> Table {
        let mut headings = vec![Heading::plain("Datetime(UTC)")];
        headings.extend(self.backends.iter().flat_map(|b| self.speedup_headings(*b)));
        let row = |t: &TimeSpeedups| {
            let cells = t.backends.iter().flat_map(|b| measure_cells(b.as_ref().map(|b| b.gmean)));
            [vec![date(t.timestamp)], cells.collect()].concat()
        };
        let has_data = |t: &&TimeSpeedups| t.backends.iter().any(Option::is_some);
        Table { headings, rows: self.times.iter().filter(has_data).map(row).collect() }
    }

    fn histogram(&self) -> Table {
        let mut headings = vec![Heading::plain("Datetime(UTC)")];
        for title in self.backends.iter().map(|b| self.names.title(*b)) {
            headings.extend(PERCENTILES.map(|p| Heading::stacked(format!("{title} p{p}"), &[title, &format!("p{p}")])));
        }
        let cells = |b: &Option<BackendSpeedups>| match b {
            Some(b) => b.percentiles.map(Cell::Number).to_vec(),
            None => vec![Cell::Empty; PERCENTILES.len()],
        };
        let row = |t: &TimeSpeedups| [vec![date(t.timestamp)], t.backends.iter().flat_map(cells).collect()].concat();
        let has_first = |t: &&TimeSpeedups| t.backends.first().is_some_and(Option::is_some);
        Table { headings, rows: self.times.iter().filter(has_first).map(row).collect() }
    }
}

fn measure_cells(measure: Option<Measure>) -> Vec<Cell> {
    match measure {
        Some(m) => vec![Cell::Number(m.avg), Cell::Number(m.std)],
        None => vec![Cell::Empty, Cell::Empty],
    }
}

/// A date, or the number itself if it is outside the calendar.
fn date(timestamp: f64) -> Cell {
    Cell::Text(datetime_utc(timestamp).unwrap_or_else(|| crate::python::repr(timestamp)))
}
