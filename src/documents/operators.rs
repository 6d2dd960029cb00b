//! Operator tables: time by operator, for the framework view, the HLO view, or the slices of any trace.

use serde::{Deserialize, Serialize};

use ns_analysis::Instances;
use ns_profile::Unit;
use ns_view::table::{Column, ColumnKind, Table};

/// The kind of operators in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum OperatorKind {
    /// Operators as the framework names them: `aten__addmm_dot`.
    Framework,
    /// HLO opcodes: `dot`.
    Hlo,
    /// Slices of a trace by name, for profiles without information on NeuronCores.
    Slices,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OperatorTable {
    /// The kind of operators that it lists.
    pub kind: OperatorKind,
    /// The level that was asked for; absent for the default one.
    pub level: Option<String>,
    /// Whether slices count by their operation or each name by itself.
    pub instances: Instances,
    /// Rows, most time first.
    pub rows: Vec<OperatorRow>,
}

/// Time of one operator on one core.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OperatorRow {
    pub name: String,
    /// How often it ran.
    pub occurrences: u64,
    /// Neuron device, when the profile knows it.
    pub device: Option<u32>,
    /// NeuronCore within the instance, when the profile knows it.
    pub core: Option<u32>,
    /// Time of all occurrences in nanoseconds.
    pub time_ns: u64,
    /// Time not spent in nested slices, in nanoseconds, when slices nest.
    pub self_ns: Option<u64>,
    /// Share of the table's time, 0 to 100.
    pub time_percent: f64,
    /// For a fused operator: its parts.
    pub members: Vec<String>,
}

impl OperatorKind {
    /// What a table of this kind lists, as a heading.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Framework => "Framework operators",
            Self::Hlo => "HLO operators",
            Self::Slices => "Operators",
        }
    }
}

impl OperatorTable {
    /// The table with its columns: the plugin's for operators of NeuronCores, total and self time in the profile's unit for slices.
    pub fn to_table(&self, unit: &Unit) -> Table {
        match self.kind {
            OperatorKind::Framework | OperatorKind::Hlo => neuron_table(&self.rows),
            OperatorKind::Slices => slice_table(&self.rows, unit.name()),
        }
    }
}

fn neuron_table(rows: &[OperatorRow]) -> Table {
    Table::of(rows)
        .text("name", "Op Name", |r| r.name.as_str())
        .count("occurrences", "Occurrences", |r| r.occurrences)
        .count("device", "Neuron Device", |r| r.device.map(u64::from))
        .count("core", "NeuronCore", |r| r.core.map(u64::from))
        .count("time_ns", "Time (ns)", |r| r.time_ns)
        .percent("time_percent", "Time %", |r| r.time_percent)
        .table()
}

fn slice_table(rows: &[OperatorRow], unit: &str) -> Table {
    Table::of(rows)
        .name("name", "Name", |r| r.name.as_str())
        .count("count", "Count", |r| r.occurrences)
        .column(Column::in_unit(unit, "total_ns", "Total", ColumnKind::Count), |r| r.time_ns)
        .column(Column::in_unit(unit, "self_ns", "Self", ColumnKind::Count), |r| r.self_ns)
        .percent("time_percent", "Self %", |r| r.time_percent)
        .table()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(kind: OperatorKind) -> OperatorTable {
        let row = OperatorRow {
            name: "mm".to_owned(),
            occurrences: 2,
            device: Some(0),
            core: Some(1),
            time_ns: 1_500,
            self_ns: Some(1_000),
            time_percent: 50.0,
            members: Vec::new(),
        };
        OperatorTable { kind, level: None, instances: Instances::Merged, rows: vec![row] }
    }

    #[test]
    fn a_table_has_the_columns_of_its_kind_and_the_unit_of_its_profile() {
        let head = |table: &Table| table.columns.iter().map(|c| c.title.clone()).collect::<Vec<_>>().join(", ");
        let slices = table(OperatorKind::Slices).to_table(&Unit::count_of("samples"));
        assert_eq!(head(&slices), "Name, Count, Total (samples), Self (samples), Self %");
        assert_eq!(slices.to_csv(), "name,count,total_ns,self_ns,time_percent\nmm,2,1500,1000,50\n");
        let hlo = table(OperatorKind::Hlo).to_table(&Unit::Ns);
        assert_eq!(head(&hlo), "Op Name, Occurrences, Neuron Device, NeuronCore, Time (ns), Time %");
        assert_eq!(hlo.to_csv(), "name,occurrences,device,core,time_ns,time_percent\nmm,2,0,1,1500,50\n");
    }
}
