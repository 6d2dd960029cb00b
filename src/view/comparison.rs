//! The comparison of two profiles as a table.

use super::table::{Cell, Column, ColumnKind, Table};
use ns_analysis::compare::{ComparedRow, Comparison, Presence};

/// A row for each operator, in the order of the comparison. The ratio is missing if the base has no time.
pub fn comparison_table(comparison: &Comparison) -> Table {
    let column = Column::new;
    let per = if comparison.per_step { " per step" } else { "" };
    // Whole numbers need no decimals.
    let kind = if comparison.per_step { ColumnKind::Number } else { ColumnKind::Count };
    Table {
        columns: vec![
            column("name", "Operator", ColumnKind::Name),
            column("presence", "In", ColumnKind::Text),
            column("base_count", &format!("Base count{per}"), kind),
            column("other_count", &format!("Other count{per}"), kind),
            column("base_ns", &format!("Base (ns{per})"), kind),
            column("other_ns", &format!("Other (ns{per})"), kind),
            column("difference_ns", &format!("Difference (ns{per})"), kind),
            column("ratio", "Ratio", ColumnKind::Number),
        ],
        rows: comparison.rows.iter().map(row).collect(),
    }
}

fn row(r: &ComparedRow) -> Vec<Cell> {
    let presence = match r.presence {
        Presence::Both => "both",
        Presence::New => "new",
        Presence::Gone => "gone",
    };
    vec![
        Cell::Text(r.name.clone()),
        Cell::Text(presence.to_owned()),
        Cell::Number(r.base_count),
        Cell::Number(r.other_count),
        Cell::Number(r.base_ns),
        Cell::Number(r.other_ns),
        Cell::Number(r.difference_ns),
        r.ratio.into(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_analysis::compare::{Measure, OperatorTime, OperatorTotals};

    #[test]
    fn a_new_row_has_no_ratio() {
        let totals = |name: &str, own| OperatorTotals {
            rows: vec![OperatorTime { name: name.to_owned(), count: 2, total_ns: own, self_ns: own }],
            ..OperatorTotals::default()
        };
        let compared = Comparison::of(&totals("mm", 10), &totals("dot", 30), Measure::SelfTime, false).unwrap();
        assert_eq!(
            comparison_table(&compared).to_csv(),
            "name,presence,base_count,other_count,base_ns,other_ns,difference_ns,ratio\n\
             dot,new,0,2,0,30,30,N/A\nmm,gone,2,0,10,0,-10,0\n"
        );
    }
}
