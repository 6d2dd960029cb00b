//! An operator table for a view.

use crate::{OperatorKind, OperatorTable};
use ns_view::table::{Cell, Column, ColumnKind, Table};

/// The title of a table of this kind.
pub(super) const fn title(kind: OperatorKind) -> &'static str {
    match kind {
        OperatorKind::Framework => "Framework operators",
        OperatorKind::Hlo => "HLO operators",
        OperatorKind::Slices => "Slices by operation",
    }
}

/// The first rows of a table, and its total number of rows. Columns that no row has a value for are left out.
pub(super) fn table(operators: &OperatorTable, most: usize) -> (Table, usize) {
    let index = |n: Option<u32>| Cell::from(n.map(u64::from));
    let columns = [
        ("name", "Name", ColumnKind::Name),
        ("occurrences", "Occurrences", ColumnKind::Count),
        ("device", "Neuron Device", ColumnKind::Count),
        ("core", "NeuronCore", ColumnKind::Count),
        ("time_ns", "Time (ns)", ColumnKind::Count),
        ("self_ns", "Self (ns)", ColumnKind::Count),
        ("time_percent", "Time %", ColumnKind::Percent),
    ];
    let mut rows: Vec<Vec<Cell>> = operators
        .rows
        .iter()
        .take(most)
        .map(|r| {
            vec![
                Cell::Text(r.name.clone()),
                Cell::Count(r.occurrences),
                index(r.device),
                index(r.core),
                Cell::Count(r.time_ns),
                Cell::from(r.self_ns),
                Cell::Number(r.time_percent),
            ]
        })
        .collect();
    let is_kept: Vec<bool> =
        (0..columns.len()).map(|i| rows.is_empty() || rows.iter().any(|row| row[i] != Cell::Missing)).collect();
    for row in &mut rows {
        let mut kept = is_kept.iter();
        row.retain(|_| kept.next().copied().unwrap_or(true));
    }
    let columns = columns.iter().zip(&is_kept).filter(|(_, kept)| **kept);
    let columns = columns.map(|((id, title, kind), _)| Column::new(id, title, *kind)).collect();
    (Table { columns, rows }, operators.rows.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OperatorRow;
    use ns_analysis::Instances;

    #[test]
    fn empty_columns_are_omitted_and_the_first_rows_are_listed() {
        let row = |name: &str| OperatorRow {
            name: name.to_owned(),
            occurrences: 2,
            device: None,
            core: None,
            time_ns: 1_500,
            self_ns: Some(1_000),
            time_percent: 50.0,
            members: Vec::new(),
        };
        let rows = vec![row("mm"), row("add"), row("dot")];
        let (table, all) =
            table(&OperatorTable { kind: OperatorKind::Slices, level: None, instances: Instances::Merged, rows }, 2);
        let ids: Vec<&str> = table.columns.iter().map(|c| c.id.as_str()).collect();
        assert_eq!(ids, ["name", "occurrences", "time_ns", "self_ns", "time_percent"]);
        assert_eq!((table.rows.len(), all), (2, 3));
        assert!(table.rows.iter().all(|row| row.len() == ids.len()));
    }
}
