//! The contents of a run directory of TensorBoard's Neuron plugin in addition to its timeline: the operator tables as the
//! plugin shows them, and the name of the run.

use ns_base::Order;
use serde::{Deserialize, Serialize};

/// One of the two operator tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OperatorView {
    /// Operators of the framework (`aten__addmm_dot`).
    Framework,
    /// Operators of the compiler (`dot`).
    Hlo,
}

/// One row of an operator table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OperatorRow {
    /// Operator: the category of its slices, or their name if they have none.
    pub name: String,
    /// How often it ran.
    pub occurrences: u64,
    /// Neuron device it ran on.
    pub device: u32,
    /// NeuronCore of the device.
    pub core: u32,
    /// Time spent on it, in ns: an instant in which several operators run counts for the one that began last.
    pub time_ns: i64,
    /// Share of the time of all operators of that core, in percent.
    pub time_percent: f64,
    /// The members of a fused operator, if a file lists them.
    pub members: Vec<String>,
}

/// Sorts rows as the tables show them: longest time first, ties by name and core.
pub fn sort_rows(rows: &mut [OperatorRow]) {
    rows.order_by(|a, b| {
        let by_time = b.time_ns.cmp(&a.time_ns);
        by_time.then_with(|| a.name.cmp(&b.name)).then_with(|| (a.device, a.core).cmp(&(b.device, b.core)))
    });
}

/// An operator table that was read from a file of the plugin.
#[derive(Clone, Debug, PartialEq)]
pub struct PluginTable {
    /// Which of the two tables it is.
    pub view: OperatorView,
    /// Its rows, in the order tables are shown in.
    pub rows: Vec<OperatorRow>,
    /// The time of all operators according to the file, in ns; absent if the file has none.
    pub total_time_ns: Option<i64>,
    /// The file as it was, without a byte order mark; it is written back unchanged. Absent if it was incomplete.
    pub text: Option<Box<str>>,
}

/// The file that a timeline of the plugin comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PluginTimeline {
    /// `neuron_op_timeline.json`: one execution, operator by operator. The plugin's tool `operator-timeline`.
    Operators,
    /// `neuron_trace.json`: the host and the devices over a whole program. The plugin's tool `trace`.
    Trace,
}

/// A run directory of the plugin, or one of its operator files alone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PluginRun {
    /// The run directory below `plugins/neuron`: `2022_10_14_19_22_22_16`. Empty if the files had no directory.
    pub name: String,
    /// The operator tables, at most one of each view.
    pub tables: Vec<PluginTable>,
    /// The file that the slices come from; absent without a timeline.
    pub timeline: Option<PluginTimeline>,
}

impl PluginRun {
    /// The table of a view.
    pub fn table(&self, view: OperatorView) -> Option<&PluginTable> {
        self.tables.iter().find(|table| table.view == view)
    }
}
