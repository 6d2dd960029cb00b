//! Operator tables: time by operator, for the framework view, the HLO view, or the slices of any trace.

use serde::{Deserialize, Serialize};

use ns_analysis::Instances;

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
    /// Operator name.
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
