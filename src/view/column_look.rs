//! The look of a table column: one format and one unit for all its cells, with the exact value on request.

use super::table::{Cell, Column, ColumnKind, Table};
use ns_base::units::{format_in_place, format_number, format_percent, unit_of_bytes, unit_of_ns, unit_of_place};

/// How the head of a column names the unit of its values.
const NS: &str = "(ns";
const BYTES: &str = "(bytes";

/// Whether a column holds points in time, which need more than three significant digits.
fn is_place(id: &str) -> bool {
    ["start", "end", "from", "to"].iter().any(|place| id.split(['_', '(', ')']).any(|part| part == *place))
}

/// How the cells of a column are written.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnLook {
    /// Text of the head, with the unit of its cells.
    pub title: String,
    kind: ColumnKind,
    /// The unit of the cells; `None` if values are shown as they are.
    scale: Option<Scale>,
}

/// A unit that suits the largest value of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Scale {
    /// Its length, in units of the values.
    length: f64,
    /// The unit of the values.
    of: &'static str,
    is_place: bool,
}

impl ColumnLook {
    /// Cells without formatting: for tables that look like those of another tool.
    pub fn exact(column: &Column) -> Self {
        Self { title: column.title.clone(), kind: column.kind, scale: None }
    }

    /// Looks of the columns of a table: nanoseconds and bytes in the unit that suits the largest value of the column.
    pub fn of(table: &Table) -> Vec<Self> {
        let look = |(i, column): (usize, &Column)| {
            let is_place = is_place(&column.id);
            let largest = || table.rows.iter().filter_map(|row| row.get(i)?.number()).map(f64::abs).fold(0.0, f64::max);
            let (head, of, (unit, length)) = match &column.title {
                title if !column.is_numeric() || title.is_empty() => return Self::exact(column),
                title if title.ends_with("(ns)") && is_place => (NS, "ns", unit_of_place(largest())),
                title if title.ends_with("(ns)") => (NS, "ns", unit_of_ns(largest())),
                title if title.contains(BYTES) => (BYTES, "bytes", unit_of_bytes(largest())),
                _ => return Self::exact(column),
            };
            let scale = (length > 1.0).then_some(Scale { length, of, is_place });
            let title =
                if length > 1.0 { column.title.replace(head, &format!("({unit}")) } else { column.title.clone() };
            Self { title, kind: column.kind, scale }
        };
        table.columns.iter().enumerate().map(look).collect()
    }

    pub fn text(&self, cell: &Cell) -> String {
        match (cell.number(), self.scale, self.kind) {
            (Some(value), Some(Scale { length, is_place: true, .. }), _) => format_in_place(value, length),
            (Some(value), Some(scale), _) => in_unit(value / scale.length),
            (Some(value), None, ColumnKind::Percent) => format_percent(value),
            (Some(value), None, ColumnKind::Number | ColumnKind::Tenths) => format_number(value),
            _ => cell.text(self.kind),
        }
    }

    /// The exact value or the whole name, if [`Self::text`] has shortened it.
    pub fn exact_text(&self, cell: &Cell) -> Option<String> {
        if let (Cell::Text(whole), ColumnKind::Name) = (cell, self.kind) {
            return (self.text(cell) != *whole).then(|| whole.clone());
        }
        let value = cell.number()?;
        let is_rounded =
            self.scale.is_some() || matches!(self.kind, ColumnKind::Percent | ColumnKind::Number | ColumnKind::Tenths);
        let unit = self.scale.map_or_else(String::new, |scale| format!(" {}", scale.of));
        is_rounded.then(|| match cell {
            Cell::Count(_) => format!("{}{unit}", cell.text(ColumnKind::Count)),
            _ => format!("{value}{unit}"),
        })
    }
}

/// A value in the unit that suits the largest one of its column; beside that, one that is much smaller is next to nothing.
fn in_unit(value: f64) -> String {
    const LEAST: f64 = 1e-4;
    if value > 0.0 && value < LEAST { format!("< {LEAST}") } else { format_number(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(values: [f64; 2]) -> Table {
        Table {
            columns: vec![
                Column::new("total_ns", "Total (ns)", ColumnKind::Count),
                Column::new("rate", "Throughput (inf/s)", ColumnKind::Number),
                Column::new("share", "Self %", ColumnKind::Percent),
                Column::new("n", "Count", ColumnKind::Count),
            ],
            rows: values
                .map(|v| {
                    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count in a column")]
                    let ns = Cell::Count(v as u64);
                    vec![ns, Cell::Number(v / 1e3), Cell::Number(99.707_795_670_257_01), Cell::Count(1_340_804)]
                })
                .into(),
        }
    }

    #[test]
    fn a_value_that_is_tiny_beside_the_largest_has_no_power_of_ten() {
        let table = table([45_482_500_000.0, 8.0]);
        let looks = ColumnLook::of(&table);
        assert_eq!((looks[0].title.as_str(), looks[0].text(&table.rows[1][0])), ("Total (s)", "< 0.0001".to_owned()));
        assert_eq!(looks[0].exact_text(&table.rows[1][0]).as_deref(), Some("8 ns"));
    }

    #[test]
    fn a_column_has_one_unit_and_the_exact_value_is_kept() {
        let table = table([45_482_500.0, 28_864_712.0]);
        let looks = ColumnLook::of(&table);
        assert_eq!(looks[0].title, "Total (ms)");
        let texts = |row: usize| -> Vec<String> {
            table.rows[row].iter().zip(&looks).map(|(cell, look)| look.text(cell)).collect()
        };
        assert_eq!(texts(0), ["45.5", "45,500", "99.7 %", "1,340,804"]);
        assert_eq!(texts(1), ["28.9", "28,900", "99.7 %", "1,340,804"]);
        let exact = |i: usize| looks[i].exact_text(&table.rows[1][i]);
        assert_eq!(exact(0).as_deref(), Some("28,864,712 ns"));
        assert_eq!(exact(1).as_deref(), Some("28864.712"));
        assert_eq!(exact(2).as_deref(), Some("99.70779567025701"));
        assert_eq!(exact(3), None, "counts are exact as they are");
    }

    #[test]
    fn places_in_time_keep_the_microsecond() {
        let of = |id: &str| {
            let columns = vec![Column::new(id, "x (ns)", ColumnKind::Count)];
            let table = Table { columns, rows: vec![vec![Cell::Count(45_482_500)]] };
            ColumnLook::of(&table)[0].text(&table.rows[0][0])
        };
        assert_eq!(["start_ns", "end", "min(start)"].map(of), ["45.483"; 3].map(str::to_owned));
        assert_eq!(["total_ns", "sum(dur)", "duration_ns", "time_ns"].map(of), ["45.5"; 4].map(str::to_owned));
    }

    #[test]
    fn sizes_have_a_binary_unit() {
        let columns = vec![Column::new("peak", "Most allocated (bytes)", ColumnKind::Count)];
        let table = Table { columns, rows: vec![vec![Cell::Count(57_803_264)], vec![Cell::Count(2_791_636_480)]] };
        let look = &ColumnLook::of(&table)[0];
        assert_eq!(look.title, "Most allocated (GiB)");
        assert_eq!(table.rows.iter().map(|row| look.text(&row[0])).collect::<Vec<_>>(), ["0.0538", "2.60"]);
        assert_eq!(look.exact_text(&table.rows[1][0]).as_deref(), Some("2,791,636,480 bytes"));
        let few = Table { rows: vec![vec![Cell::Count(512)]], ..table };
        assert_eq!(ColumnLook::of(&few)[0].title, "Most allocated (bytes)");
    }

    #[test]
    fn short_times_and_tables_of_other_tools_stay_as_they_are() {
        let table = table([840.0, 12.0]);
        assert_eq!(ColumnLook::of(&table)[0].title, "Total (ns)");
        assert_eq!(ColumnLook::of(&table)[0].text(&table.rows[1][0]), "12");
        let look = ColumnLook::exact(&table.columns[0]);
        assert_eq!(look.text(&Cell::Count(45_482_500)), "45,482,500");
        assert_eq!(look.text(&Cell::Missing), "\u{2013}");
    }
}
