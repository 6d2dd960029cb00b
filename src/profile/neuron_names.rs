//! Names of the processes and rows that Neuron profiles have, the plugin's and the simulator's.

/// Name of the processes whose operators are counted: what runs on the engines, as opposed to control and transfer.
pub const EXECUTION_PROCESS: &str = "Process Execution";
/// Name of the processes that move data.
pub const TRANSFER_PROCESS: &str = "Process Data Transfer";
/// Name of the process with a track for each engine, whose slices are instructions.
pub const ENGINES_PROCESS: &str = "NeuronCore engines";
/// Name of the tracks with framework operators.
pub const FRAMEWORK_TRACK: &str = "Framework Ops";
/// Name of the tracks with HLO operators.
pub const HLO_TRACK: &str = "HLO Ops";
/// Name of the tracks with the module hierarchy.
pub const MODULES_TRACK: &str = "Modules";
/// Name of the track of a benchmark run in which a core executes.
pub const EXECUTION_TRACK: &str = "NeuronDevice Execution";
