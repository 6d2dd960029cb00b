//! Tables: columns with a kind, sorting, searching, the visible rows, and CSV.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use super::text::contains_ignoring_case;
use ns_analysis::opcode::short_name;
use ns_base::Order;
use ns_base::convert::{i64_to_f64, u64_to_f64};
use ns_base::units::{format_cell_share, format_count, format_grouped};

/// The kind of values in a column, which decides alignment and text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ColumnKind {
    Text,
    /// Names of slices: shown in their short form.
    Name,
    /// Whole numbers, with thousands separators.
    Count,
    /// Numbers with three decimals, so that they line up.
    Number,
    /// Numbers with one decimal: for means of whole numbers.
    Tenths,
    /// Numbers as they are: for columns whose values differ by orders of magnitude.
    Exact,
    /// Percentages, shown with a bar.
    Percent,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// Short name in links and CSV: `time_ns`.
    pub id: String,
    /// Text of the head: `Time (ns)`.
    pub title: String,
    /// The kind of its values.
    pub kind: ColumnKind,
    /// Whether the least value is the best, so that a first press sorts it to the top: a cost, a latency.
    pub is_least_first: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Cell {
    Text(String),
    Count(u64),
    Number(f64),
    /// The value is not known.
    Missing,
}

/// A table with its rows in their own order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// Columns from left to right.
    pub columns: Vec<Column>,
    /// Rows, each as long as `columns`.
    pub rows: Vec<Vec<Cell>>,
}

/// The column that rows are sorted by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sort {
    /// [`Column::id`].
    pub column: String,
    pub descending: bool,
}

impl Column {
    pub fn new(id: &str, title: &str, kind: ColumnKind) -> Self {
        Self { id: id.to_owned(), title: title.to_owned(), kind, is_least_first: false }
    }

    /// The same for values of which the least is the best.
    pub fn least_first(self) -> Self {
        Self { is_least_first: true, ..self }
    }

    /// A column whose heading names the unit of its values: `Total (ns)`, `Total (samples)`.
    pub fn in_unit(unit: &str, id: &str, what: &str, kind: ColumnKind) -> Self {
        Self::new(id, &format!("{what} ({unit})"), kind)
    }

    /// Whether values are right-aligned.
    pub const fn is_numeric(&self) -> bool {
        !matches!(self.kind, ColumnKind::Text | ColumnKind::Name)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

/// A time since 1970 in nanoseconds has more digits than a float.
impl From<i64> for Cell {
    fn from(value: i64) -> Self {
        u64::try_from(value).map_or_else(|_| Self::Number(i64_to_f64(value)), Self::Count)
    }
}

impl From<u64> for Cell {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Missing, Into::into)
    }
}

/// A table in the making: each column is its head and the cell of an item.
#[derive(Debug)]
pub struct TableOf<'a, T> {
    items: &'a [T],
    table: Table,
}

impl<'a, T> TableOf<'a, T> {
    pub fn column<C: Into<Cell>>(mut self, column: Column, cell: impl Fn(&'a T) -> C) -> Self {
        self.table.columns.push(column);
        for (row, item) in self.table.rows.iter_mut().zip(self.items) {
            row.push(cell(item).into());
        }
        self
    }

    pub fn text<C: Into<Cell>>(self, id: &str, title: &str, cell: impl Fn(&'a T) -> C) -> Self {
        self.column(Column::new(id, title, ColumnKind::Text), cell)
    }

    pub fn name<C: Into<Cell>>(self, id: &str, title: &str, cell: impl Fn(&'a T) -> C) -> Self {
        self.column(Column::new(id, title, ColumnKind::Name), cell)
    }

    pub fn count<C: Into<Cell>>(self, id: &str, title: &str, cell: impl Fn(&'a T) -> C) -> Self {
        self.column(Column::new(id, title, ColumnKind::Count), cell)
    }

    pub fn number<C: Into<Cell>>(self, id: &str, title: &str, cell: impl Fn(&'a T) -> C) -> Self {
        self.column(Column::new(id, title, ColumnKind::Number), cell)
    }

    pub fn percent<C: Into<Cell>>(self, id: &str, title: &str, cell: impl Fn(&'a T) -> C) -> Self {
        self.column(Column::new(id, title, ColumnKind::Percent), cell)
    }

    pub fn table(self) -> Table {
        self.table
    }
}

/// Three decimals; large numbers with thousands separators, small ones with three significant digits.
fn readable(v: f64) -> String {
    let size = v.abs();
    if (1_000.0..9e15).contains(&size) {
        return format_grouped(v, 3);
    }
    if size > 0.0 && size < 0.001 { format!("{v:.2e}") } else { format!("{v:.3}") }
}

/// A whole number with a sign if it is negative, with thousands separators.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and below 2^53")]
fn whole(value: f64) -> String {
    let sign = if value < 0.0 { "\u{2212}" } else { "" };
    format!("{sign}{}", format_count(value.abs() as u64))
}

impl Cell {
    /// Its text in a column of this kind.
    pub fn text(&self, kind: ColumnKind) -> String {
        match (self, kind) {
            (Self::Missing, _) => "\u{2013}".to_owned(),
            (Self::Text(t), ColumnKind::Name) => short_name(t).into_owned(),
            (Self::Text(t), _) => t.clone(),
            (Self::Count(n), ColumnKind::Text | ColumnKind::Name) => n.to_string(),
            (Self::Count(n), _) => format_count(*n),
            (Self::Number(v), ColumnKind::Percent) => format_cell_share(*v),
            (Self::Number(v), ColumnKind::Exact) => v.to_string(),
            (Self::Number(v), ColumnKind::Tenths) => format_grouped(*v, 1),
            (Self::Number(v), ColumnKind::Count) if libm::trunc(*v) == *v && v.abs() < 9e15 => whole(*v),
            (Self::Number(v), _) => readable(*v),
        }
    }

    /// Its number, for bars and sorting.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Count(n) => Some(u64_to_f64(*n)),
            Self::Number(v) => Some(*v),
            Self::Text(_) | Self::Missing => None,
        }
    }

    /// The plain value: for machines that read the page, and for CSV.
    pub fn raw(&self) -> String {
        match self {
            Self::Missing => "N/A".to_owned(),
            Self::Text(t) => t.clone(),
            Self::Count(n) => n.to_string(),
            Self::Number(v) => format!("{v}"),
        }
    }

    fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Text(a), Self::Text(b)) => natural(a, b),
            (Self::Count(a), Self::Count(b)) => a.cmp(b),
            _ => match (self.number(), other.number()) {
                (Some(a), Some(b)) => a.total_cmp(&b),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => Ordering::Equal,
            },
        }
    }
}

/// Compares names in natural order: `fused_2` before `fused_10`.
fn natural(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a.chars().peekable(), b.chars().peekable());
    loop {
        match (a.peek().copied(), b.peek().copied()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
            (Some(x), Some(y)) if x.is_ascii_digit() && y.is_ascii_digit() => {
                match digits(&mut a).cmp(&digits(&mut b)) {
                    Ordering::Equal => {}
                    unequal => return unequal,
                }
            }
            (Some(x), Some(y)) => match x.to_lowercase().cmp(y.to_lowercase()).then(x.cmp(&y)) {
                Ordering::Equal => {
                    a.next();
                    b.next();
                }
                unequal => return unequal,
            },
        }
    }
}

/// Reads a run of digits: its length without leading zeros and its text, which together compare like the number itself.
fn digits(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> (usize, String) {
    let mut text = String::new();
    while let Some(c) = chars.next_if(char::is_ascii_digit) {
        if !(text.is_empty() && c == '0') {
            text.push(c);
        }
    }
    (text.len(), text)
}

impl Table {
    /// A table with a row for each item, whose columns follow.
    pub fn of<T>(items: &[T]) -> TableOf<'_, T> {
        TableOf { items, table: Self { columns: Vec::new(), rows: vec![Vec::new(); items.len()] } }
    }

    /// Positions of the rows to show: those that contain `search` in some text column, in the order of `sort`. Rows of
    /// equal value keep their own order; missing values come last either way.
    pub fn order(&self, sort: Option<&Sort>, search: &str) -> Vec<usize> {
        let needle = search.trim();
        let mut order: Vec<usize> = (0..self.rows.len()).filter(|&r| self.row_contains(r, needle)).collect();
        let Some(sort) = sort else { return order };
        let Some(c) = self.columns.iter().position(|c| c.id == sort.column) else { return order };
        order.order_by(|&a, &b| {
            let (a, b) = (&self.rows[a][c], &self.rows[b][c]);
            match (a == &Cell::Missing, b == &Cell::Missing) {
                (true, true) => Ordering::Equal,
                (true, false) => Ordering::Greater,
                (false, true) => Ordering::Less,
                (false, false) if sort.descending => b.compare(a),
                (false, false) => a.compare(b),
            }
        });
        order
    }

    fn row_contains(&self, row: usize, needle: &str) -> bool {
        needle.is_empty()
            || self.rows[row].iter().zip(&self.columns).any(|(cell, column)| match cell {
                Cell::Text(t) if contains_ignoring_case(t, needle) => true,
                Cell::Text(_) if column.kind != ColumnKind::Name => false,
                Cell::Text(_) => contains_ignoring_case(&cell.text(column.kind), needle),
                Cell::Count(_) | Cell::Number(_) => contains_ignoring_case(&cell.text(column.kind), needle),
                Cell::Missing => false,
            })
    }

    /// The table in its own order as CSV: a head of column ids, missing values as `N/A`.
    pub fn to_csv(&self) -> String {
        let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::Any(b'\n')).from_writer(Vec::new());
        // Writing into memory cannot fail, and every row is as long as the head.
        let _ = writer.write_record(self.columns.iter().map(|c| c.id.as_str()));
        for row in &self.rows {
            let _ = writer.write_record(row.iter().map(Cell::raw));
        }
        writer.into_inner().ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
    }
}

/// The rows that need to be rendered while a long table is scrolled: a range of positions, with `overscan` more at either end.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "negative and NaN give 0, and `len` caps it"
)]
pub fn visible_range(
    scroll_top: f64,
    height: f64,
    row_height: f64,
    len: usize,
    overscan: usize,
) -> std::ops::Range<usize> {
    if row_height <= 0.0 {
        return 0..len;
    }
    let first = (libm::floor(scroll_top / row_height) as usize).min(len);
    let seen = libm::ceil(height / row_height) as usize + 1;
    first.saturating_sub(overscan)..first.saturating_add(seen).saturating_add(overscan).min(len)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operators() -> Table {
        let row =
            |name: &str, n: u64, percent: f64| vec![Cell::Text(name.into()), Cell::Count(n), Cell::Number(percent)];
        Table {
            columns: vec![
                Column::new("name", "Op Name", ColumnKind::Text),
                Column::new("n", "Occurrences", ColumnKind::Count),
                Column::new("percent", "Time %", ColumnKind::Percent),
            ],
            rows: vec![
                row("fused_10", 2, 39.08),
                row("fused_2", 1, 38.66),
                vec![Cell::Text("a,b\"c".into()), Cell::Missing, Cell::Number(22.27)],
            ],
        }
    }

    fn sort(column: &str, descending: bool) -> Sort {
        Sort { column: column.into(), descending }
    }

    #[test]
    fn numbers_are_grouped_with_the_decimals_of_their_column() {
        assert_eq!(Cell::from(1_700_000_000_000_050_001_i64).text(ColumnKind::Count), "1,700,000,000,000,050,001");
        let text = |v: f64, kind| Cell::Number(v).text(kind);
        assert_eq!(text(69_298_500.25, ColumnKind::Tenths), "69,298,500.2");
        assert_eq!(
            (text(0.04, ColumnKind::Tenths), text(-1_234.56, ColumnKind::Tenths)),
            ("0.0".into(), "\u{2212}1,234.6".into())
        );
        assert_eq!(
            (text(1_234.5, ColumnKind::Number), text(12.0, ColumnKind::Number)),
            ("1,234.500".into(), "12.000".into())
        );
    }

    #[test]
    fn names_sort_as_people_count() {
        assert_eq!(operators().order(Some(&sort("name", false)), ""), [2, 1, 0]);
    }

    #[test]
    fn names_are_short_in_sight_and_whole_in_files() {
        let name = Cell::Text("void n::dgrad_engine<float, 512, 6>(int)".to_owned());
        let table =
            Table { columns: vec![Column::new("name", "Name", ColumnKind::Name)], rows: vec![vec![name.clone()]] };
        assert_eq!(name.text(ColumnKind::Name), "dgrad_engine\u{2039}512, 6\u{203a}");
        assert_eq!(table.to_csv(), "name\n\"void n::dgrad_engine<float, 512, 6>(int)\"\n");
        for search in ["float", "\u{2039}512"] {
            assert_eq!(table.order(None, search), [0], "{search}");
        }
    }

    #[test]
    fn missing_values_come_last_both_ways() {
        assert_eq!(operators().order(Some(&sort("n", false)), ""), [1, 0, 2]);
        assert_eq!(operators().order(Some(&sort("n", true)), ""), [0, 1, 2]);
        assert_eq!(operators().order(Some(&sort("unknown", true)), ""), [0, 1, 2]);
    }

    #[test]
    fn search_uses_the_displayed_texts() {
        assert_eq!(operators().order(None, " FUSED "), [0, 1]);
        assert_eq!(operators().order(None, "39.08"), [0]);
        assert!(operators().order(None, "nothing").is_empty());
    }

    #[test]
    fn csv_quotes_where_needed() {
        assert_eq!(operators().to_csv(), "name,n,percent\nfused_10,2,39.08\nfused_2,1,38.66\n\"a,b\"\"c\",N/A,22.27\n");
    }

    #[test]
    fn only_rows_in_sight_exist() {
        assert_eq!(visible_range(0.0, 100.0, 20.0, 1_000, 2), 0..8);
        assert_eq!(visible_range(10_000.0, 100.0, 20.0, 1_000, 2), 498..508);
        assert_eq!(visible_range(1e9, 100.0, 20.0, 10, 2), 8..10);
        assert_eq!(visible_range(-5.0, 100.0, 20.0, 3, 2), 0..3);
    }
}
