//! The columns of the CSV report that are always there.

/// Columns in order. Columns of further metrics follow in order of their first appearance.
pub const FIXED_COLUMNS: [&str; 20] = [
    "timestamp",
    "suite_name",
    "model_name",
    "accelerator",
    "accelerator_model",
    "xla",
    "xla_flags",
    "dynamo",
    "torch_xla2",
    "test",
    "batch_size",
    "repeat",
    "iterations_per_run",
    "error_message",
    "median_total_time",
    "median_per_iter_time",
    // Nothing ever fills this one; readers of the database expect it.
    "xla_median_trace_per_iter_time",
    "xla_compile_time",
    "dynamo_compile_time",
    "outputs_file",
];

/// Metrics of a record that failed, in the order of the JSONL report; each is -1.
pub(super) const FAILED_METRICS: [&str; 5] = [
    "median_total_time",
    "median_per_iter_time",
    "xla_median_trace_per_iter_time",
    "xla_compile_time",
    "dynamo_compile_time",
];
