//! Formats times, dates and reports as texts and cells.

use std::collections::BTreeSet;

use ns_base::convert::usize_to_u8;
use ns_base::units::{format_change, format_ns, format_times};
use ns_experiment::aggregate::{self, Backend, datetime_utc};
use ns_experiment::python::round8;
use ns_view::palette::GREY;
use ns_view::plot::Lines;
use ns_view::table::{Cell, Column, ColumnKind, Table};

/// A date with its time of day to the second, UTC; the number itself if it is outside the calendar.
pub fn moment(timestamp: f64) -> String {
    datetime_utc(timestamp).map_or_else(|| timestamp.to_string(), |date| date.chars().take(19).collect())
}

/// Seconds as people read them.
pub fn seconds(s: f64) -> String {
    if s.is_finite() { format_ns(s * 1e9) } else { "not a number".to_owned() }
}

/// A change as people read it: `+12.3 %`.
pub fn change(ratio: f64) -> String {
    format_change((ratio - 1.0) * 100.0).replace('-', "\u{2212}")
}

/// A speed-up: `1.234x`.
pub fn speedup(x: f64) -> String {
    if x.is_finite() { format_times(x, 3) } else { "not a number".to_owned() }
}

/// The colour of a backend, as its place in the palette: the same in every view. The name of a bar or a line begins or ends
/// with that of its backend.
pub fn backend_fill(name: &str) -> Option<u8> {
    let is_of = |title: &str| {
        let rest = name.strip_prefix(title).or_else(|| name.strip_suffix(title));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(", ") || rest.ends_with(", "))
    };
    Backend::ALL.into_iter().find(|b| is_of(b.title())).map(|b| usize_to_u8(b.index()))
}

/// Gives lines the colours of their backends. A second line of a backend has a colour of its own, that of no backend.
pub fn colour_backends(plot: &mut Lines) {
    let (mut taken, mut next) = (BTreeSet::new(), usize_to_u8(Backend::ALL.len()));
    for line in &mut plot.lines {
        let Some(fill) = backend_fill(&line.name) else { continue };
        line.fill = if taken.insert(fill) { fill } else { next % GREY };
        next += u8::from(line.fill != fill);
    }
}

/// A number that may be missing or not finite.
pub fn number(x: Option<f64>) -> Cell {
    x.filter(|x| x.is_finite()).into()
}

pub fn word(text: impl Into<String>) -> Cell {
    Cell::Text(text.into())
}

/// A table of these columns: id, title, kind.
pub fn table(columns: &[(&str, &str, ColumnKind)]) -> Table {
    Table { columns: columns.iter().map(|(id, title, kind)| Column::new(id, title, *kind)).collect(), rows: Vec::new() }
}

/// A report of the command line with the numbers that it prints. Columns with the same name are labelled with their backend.
pub fn of_report(report: &aggregate::Table) -> Table {
    let mut columns: Vec<Column> = Vec::new();
    let mut whose = String::new();
    for (i, heading) in report.headings.iter().enumerate() {
        if let Some(inside) = heading.short.split_once('(').map(|(_, rest)| rest.split('/').next().unwrap_or(rest)) {
            inside.trim_end_matches(')').clone_into(&mut whose);
        }
        let known = report.headings.iter().filter(|h| h.short == heading.short).count() > 1;
        let id = if known { format!("{}({whose})", heading.short) } else { heading.short.clone() };
        let title = if known { format!("{} {whose}", heading.short) } else { heading.lines.join(" ") };
        let kind = report.rows.iter().find_map(|row| match row.get(i)? {
            aggregate::Cell::Empty => None,
            aggregate::Cell::Count(_) => Some(ColumnKind::Count),
            aggregate::Cell::Number(_) => Some(ColumnKind::Number),
            aggregate::Cell::Text(_) => Some(ColumnKind::Text),
        });
        columns.push(Column::new(&id, &title, kind.unwrap_or(ColumnKind::Text)));
    }
    let cell = |cell: &aggregate::Cell| match cell {
        aggregate::Cell::Empty => Cell::Missing,
        aggregate::Cell::Count(n) => Cell::Count(*n),
        aggregate::Cell::Number(x) => Cell::Number(round8(*x)),
        aggregate::Cell::Text(text) => Cell::Text(text.clone()),
    };
    Table { columns, rows: report.rows.iter().map(|row| row.iter().map(cell).collect()).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_view::plot::LineStyle;

    #[test]
    fn a_backend_has_one_colour_whatever_stands_beside_it() {
        let colours = |names: &[&str]| -> Vec<u8> {
            let points = vec![(0.0, 1.0), (1.0, 2.0)];
            let series = names.iter().map(|name| ((*name).to_owned(), LineStyle::Solid, points.clone()));
            let mut plot = Lines::new("x", "y", series, true);
            colour_backends(&mut plot);
            plot.lines.iter().map(|line| line.fill).collect()
        };
        let [eager, inductor, dynamo, lazy] = Backend::ALL.map(|b| backend_fill(b.title()).unwrap());
        assert_eq!(colours(&["Inductor", "XLA+LazyTensor"]), [inductor, lazy]);
        assert_eq!(colours(&["XLA+Dynamo, batch 8", "Eager, batch 8"]), [dynamo, eager]);
        assert_eq!(backend_fill("resnet18, Inductor"), Some(inductor));
        assert_eq!(backend_fill("Eagerly"), None);
        let twice = colours(&["Eager, batch 1", "Eager, batch 8", "Inductor, batch 1"]);
        assert_eq!((twice[0], twice[2]), (eager, inductor));
        assert!(![eager, inductor, dynamo, lazy].contains(&twice[1]));
    }
}
