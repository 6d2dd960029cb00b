//! The columns of a table of reports: every key of a report, some with a title.

use serde_json::Value;

use ns_bench::{Interval, PublishedFigures, REPORT_KEYS, Report};
use ns_device::EstimateMark;
use ns_forms::results::DEFAULT_COLUMNS;
use ns_view::table::{Cell, Column, ColumnKind, Table};

/// Titles of the keys that have one; the others are named by their key, which users know from NeuronPerf's files.
const TITLES: [(&str, &str); 34] = [
    ("model_name", "Model"),
    ("n_models", "Models"),
    ("workers_per_model", "Workers/model"),
    ("pipeline_size", "Pipeline"),
    ("batch_size", "Batch"),
    ("throughput_avg", "Throughput avg (inf/s)"),
    ("throughput_peak", "Peak (inf/s)"),
    ("throughput_window", "Throughput of the window (inf/s)"),
    ("latency_ms_p50", "p50 (ms)"),
    ("latency_ms_p90", "p90 (ms)"),
    ("latency_ms_p95", "p95 (ms)"),
    ("latency_ms_p99", "p99 (ms)"),
    ("latency_ms_p100", "Max (ms)"),
    ("cost_per_1m_inf", "US$ per 1M"),
    ("call_host_ms", "Host of a call (ms)"),
    ("call_link_ms", "Link of a call (ms)"),
    ("call_device_ms", "Device of a call (ms)"),
    ("call_wait_ms", "Wait of a call (ms)"),
    ("wait_avg_ms", "Wait beside the call (ms)"),
    ("status", "Status"),
    ("instance_type", "Instance"),
    ("performance_level", "Level"),
    ("compiler_args", "Compiled with"),
    ("workflow", "Workflow"),
    ("estimated_ops", "Estimated operators"),
    ("device_type", "Device"),
    ("host_busy_percent", "Host busy (%)"),
    ("path_busy_percent", "Way to the devices busy (%)"),
    ("workers_tried", "Workers tried"),
    ("shortened", "Simulated"),
    ("estimate", "Costs that are guesses"),
    ("published", "AWS published"),
    ("interval", "8 of 10 cases (inf/s)"),
    ("interval_unknown", "Why no interval"),
];

pub fn column_title(key: &str) -> &str {
    TITLES.iter().find(|(k, _)| *k == key).map_or(key, |(_, title)| title)
}

/// Keys that distinguish rows and are not among the default columns.
const TELLING: [&str; 5] = ["instance_type", "performance_level", "device_type", "compiler_args", "workflow"];

/// The columns to show: the chosen ones, or the default ones, those in which rows differ, and what is published, if anything is.
pub fn visible_columns<'a>(chosen: &[&'a str], rows: &[&ReportCells]) -> Vec<&'a str> {
    let mut columns = chosen.to_vec();
    if chosen != DEFAULT_COLUMNS {
        return columns;
    }
    let is_given = |key: &str| rows.iter().any(|row| *row.get(key) != Cell::Missing);
    let estimated = Some("estimated_ops").filter(|key| is_given(key));
    let telling: Vec<&str> = TELLING.into_iter().filter(|key| differs(key, rows)).chain(estimated).collect();
    let at = columns.iter().position(|key| *key == "throughput_avg").unwrap_or(columns.len());
    columns.splice(at..at, telling);
    if is_given("published") {
        let after = columns.iter().position(|key| *key == "throughput_avg").map_or(columns.len(), |at| at + 1);
        columns.insert(after, "published");
    }
    columns
}

/// Columns that describe a configuration, which stand above the table where all rows have them alike.
const IDENTITY: [&str; 8] = [
    "model_name",
    "instance_type",
    "n_models",
    "workers_per_model",
    "pipeline_size",
    "batch_size",
    "performance_level",
    "status",
];

/// Of the columns to show, those in which several rows are alike, each with its title and its value in words: they stand above the
/// table, and are taken out of `keys`. Columns that the reader has chosen stay.
pub fn take_alike(keys: &mut Vec<&str>, chosen: &[&str], rows: &[&ReportCells]) -> Vec<(&'static str, String)> {
    let Some(first) = rows.first().filter(|_| rows.len() > 1 && chosen == DEFAULT_COLUMNS) else { return Vec::new() };
    let alike: Vec<&'static str> = IDENTITY.into_iter().filter(|key| !differs(key, rows)).collect();
    keys.retain(|key| !alike.contains(key));
    let text =
        |key: &&'static str| Some((column_title(key), Some(first.get(key).raw()).filter(|text| !text.is_empty())?));
    alike.iter().filter_map(text).collect()
}

fn differs(key: &str, rows: &[&ReportCells]) -> bool {
    rows.windows(2).any(|pair| pair[0].get(key) != pair[1].get(key))
}

/// The keys that decide between configurations, the most important first.
const DECIDING: [&str; 3] = ["throughput_avg", "latency_ms_p99", "cost_per_1m_inf"];

/// The same columns for a window that shows three or four of them: first what tells the rows apart, then the deciding keys. What all rows
/// have alike, such as the name of the only model, comes later.
pub fn narrow_columns<'a>(keys: &[&'a str], rows: &[&ReportCells]) -> Vec<&'a str> {
    let is_measured = |key: &&str| DECIDING.contains(key);
    let identity = keys.split(is_measured).next().unwrap_or_default();
    let mut first: Vec<&str> = identity.iter().copied().filter(|key| differs(key, rows)).collect();
    if first.is_empty() {
        first.extend(identity.first());
    }
    first.extend(DECIDING.iter().filter_map(|d| keys.iter().find(|key| *key == d)));
    let rest: Vec<&str> = keys.iter().copied().filter(|key| !first.contains(key)).collect();
    first.into_iter().chain(rest).collect()
}

/// The values of a report, computed once, because the table is rebuilt with each new row.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportCells(Vec<Cell>);

impl ReportCells {
    /// The values of a report.
    pub fn of(report: &Report) -> Self {
        let values = serde_json::to_value(report).unwrap_or_default();
        let mut cells: Vec<Cell> = REPORT_KEYS.iter().map(|key| cell(values.get(*key))).collect();
        let beside = [
            ("published", report.published.as_ref().map(PublishedFigures::in_short)),
            ("interval", report.interval.map(Interval::in_short)),
            ("estimate", report.estimate.map(EstimateMark::note)),
        ];
        for (key, text) in beside {
            if let (Some(text), Some(cell)) = (text, position(key).and_then(|at| cells.get_mut(at))) {
                *cell = Cell::Text(text);
            }
        }
        // The reason is more useful than the word error.
        if let (Some(error), Some(at)) = (&report.error, position("status"))
            && let Some(status) = cells.get_mut(at)
        {
            *status = Cell::Text(format!("{}: {error}", report.status));
        }
        Self(cells)
    }

    /// The value of a key; [`Cell::Missing`] for an unknown key.
    pub fn get(&self, key: &str) -> &Cell {
        position(key).and_then(|i| self.0.get(i)).unwrap_or(&Cell::Missing)
    }
}

fn position(key: &str) -> Option<usize> {
    REPORT_KEYS.iter().position(|k| *k == key)
}

fn cell(value: Option<&Value>) -> Cell {
    match value {
        None | Some(Value::Null) => Cell::Missing,
        Some(Value::Bool(true)) => Cell::Text("True".to_owned()),
        Some(Value::Bool(false)) => Cell::Text("False".to_owned()),
        Some(Value::Number(n)) => match n.as_u64() {
            Some(n) => Cell::Count(n),
            None => Cell::from(n.as_f64()),
        },
        Some(Value::String(text)) if text.is_empty() => Cell::Missing,
        Some(Value::String(text)) => Cell::Text(text.clone()),
        Some(Value::Array(list)) => Cell::Text(format!("{} values", list.len())),
        Some(Value::Object(map)) => Cell::Text(format!("{} fields", map.len())),
    }
}

/// Of a latency and of a cost, the least is the best.
fn column(rows: &[&ReportCells], key: &str) -> Column {
    let column = Column::new(key, column_title(key), kind(rows, key));
    let is_least_first = ["latency_ms_", "cost_per_"].iter().any(|start| key.starts_with(start));
    if is_least_first { column.least_first() } else { column }
}

/// The kind of a column follows from its rows, so that keys of other tools' files are aligned too.
fn kind(rows: &[&ReportCells], key: &str) -> ColumnKind {
    let mut kind = ColumnKind::Number;
    let mut is_whole = true;
    for row in rows {
        match row.get(key) {
            Cell::Text(_) => kind = ColumnKind::Text,
            Cell::Number(_) => is_whole = false,
            Cell::Count(_) | Cell::Missing => {}
        }
    }
    if kind == ColumnKind::Number && is_whole { ColumnKind::Count } else { kind }
}

/// The same table with a column that says on which Pareto fronts a row is: before the status, or at the end.
pub fn with_pareto(mut table: Table, fronts: &[Option<String>]) -> Table {
    let at = table.columns.iter().position(|c| c.id == "status").unwrap_or(table.columns.len());
    table.columns.insert(at, Column::new("pareto", "Pareto front of", ColumnKind::Text));
    for (row, of) in table.rows.iter_mut().zip(fronts) {
        row.insert(at, of.clone().map_or(Cell::Missing, Cell::Text));
    }
    table
}

pub fn report_table(rows: &[&ReportCells], keys: &[&str]) -> Table {
    Table {
        columns: keys.iter().map(|key| column(rows, key)).collect(),
        rows: rows.iter().map(|row| keys.iter().map(|key| row.get(key).clone()).collect()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_forms::results::offered_columns;

    #[test]
    fn every_key_is_offered_once_and_every_title_is_of_a_key() {
        let mut offered = offered_columns();
        assert_eq!(offered.len(), REPORT_KEYS.len());
        offered.sort_unstable();
        offered.dedup();
        assert_eq!(offered.len(), REPORT_KEYS.len());
        assert!(TITLES.iter().all(|(key, _)| REPORT_KEYS.contains(key)));
    }

    #[test]
    fn distinguishing_columns_are_shown_beside_the_usual_ones() {
        let row = |flags: &str| ReportCells::of(&Report { compiler_args: Some(flags.into()), ..Report::default() });
        let (a, b) = (row("--auto-cast none -O2"), row("--auto-cast all --auto-cast-type bf16 -O2"));
        assert_eq!(visible_columns(&DEFAULT_COLUMNS, &[&a, &a]), DEFAULT_COLUMNS);
        let columns = visible_columns(&DEFAULT_COLUMNS, &[&a, &b]);
        assert_eq!((columns.len(), columns[5], columns[6]), (14, "compiler_args", "throughput_avg"));
        assert_eq!(visible_columns(&["status"], &[&a, &b]), ["status"]);
    }

    #[test]
    fn published_figures_are_a_column_where_there_are_some() {
        let published = PublishedFigures {
            throughput: 1_218.875,
            release: "PyTorch 2.5".into(),
            ratio: 0.998,
            ..PublishedFigures::default()
        };
        let row = ReportCells::of(&Report { published: Some(published), ..Report::default() });
        let plain = ReportCells::of(&Report::default());
        assert_eq!(row.get("published"), &Cell::Text("1,219/s (PyTorch 2.5), ratio 1.00".into()));
        let columns = visible_columns(&DEFAULT_COLUMNS, &[&plain, &row]);
        assert_eq!(columns[5..7], ["throughput_avg", "published"]);
        assert_eq!(visible_columns(&DEFAULT_COLUMNS, &[&plain, &plain]), DEFAULT_COLUMNS);
    }

    #[test]
    fn narrow_windows_show_what_differs_and_what_decides() {
        let row = |n_models, batch_size| {
            let model_name = "bert-base-uncased".to_owned();
            ReportCells::of(&Report { model_name, n_models, batch_size, ..Report::default() })
        };
        let (a, b, c) = (row(1, 1), row(2, 1), row(2, 8));
        let keys = narrow_columns(&DEFAULT_COLUMNS, &[&a, &b, &c]);
        let first = ["n_models", "batch_size", "throughput_avg", "latency_ms_p99", "cost_per_1m_inf", "model_name"];
        assert_eq!(keys[..6], first);
        assert_eq!(narrow_columns(&DEFAULT_COLUMNS, &[&a])[..2], ["model_name", "throughput_avg"]);
        let (mut all, mut before) = (keys, DEFAULT_COLUMNS.to_vec());
        all.sort_unstable();
        before.sort_unstable();
        assert_eq!(all, before);
        assert_eq!(narrow_columns(&["throughput_avg", "status"], &[&a, &b]), ["throughput_avg", "status"]);
        assert!(narrow_columns(&[], &[&a, &b]).is_empty());
    }

    #[test]
    fn the_front_is_a_column_before_the_status() {
        let finished = ReportCells::of(&Report { status: "finished".into(), ..Report::default() });
        let table = with_pareto(
            report_table(&[&finished, &finished], &["n_models", "status"]),
            &[Some("cost".to_owned()), None],
        );
        assert_eq!(table.columns[1].title, "Pareto front of");
        assert_eq!((&table.rows[0][1], &table.rows[1][1]), (&Cell::Text("cost".into()), &Cell::Missing));
        assert!(table.rows.iter().all(|row| row.len() == 3));
    }

    #[test]
    fn cells_are_typed_and_missing_values_are_missing() {
        let finished =
            Report { n_models: 4, throughput_avg: Some(2_746.0), status: "finished".into(), ..Report::default() };
        let failed = Report { status: "error".into(), error: Some("no room".into()), ..Report::default() };
        let rows = [ReportCells::of(&finished), ReportCells::of(&failed)];
        let table =
            report_table(&rows.iter().collect::<Vec<_>>(), &["n_models", "throughput_avg", "status", "no_such"]);
        let kinds: Vec<ColumnKind> = table.columns.iter().map(|c| c.kind).collect();
        assert_eq!(kinds, [ColumnKind::Count, ColumnKind::Number, ColumnKind::Text, ColumnKind::Count]);
        assert_eq!(
            table.rows[0],
            [Cell::Count(4), Cell::Number(2_746.0), Cell::Text("finished".into()), Cell::Missing]
        );
        assert_eq!(table.rows[1][1..3], [Cell::Missing, Cell::Text("error: no room".into())]);
    }
}
