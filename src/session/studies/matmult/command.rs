//! The command with the same figures.

use ns_base::convert::u64_to_f64;
use ns_bench::comma_list;
use ns_bench::matmult::{MatmultConfig, dtype_of};
use ns_compiler::Workflow;

/// `neuronscope matmult ...` of a microbenchmark; its `--csv` and `--json` are the files that the page saves.
pub(super) fn command(config: &MatmultConfig) -> String {
    let (run, mut words) = (&config.run, vec!["neuronscope matmult".to_owned()]);
    let mut option = |name: &str, value: String| words.push(format!("--{name} {value}"));
    option("batch_size", comma_list(&config.batch_sizes));
    config.operators.iter().for_each(|operator| option("op", operator.clone()));
    config.shapes.iter().for_each(|shapes| option("shape", shapes.clone()));
    match &config.model {
        _ if !config.operators.is_empty() => {}
        Some(model) => option("model", model.clone()),
        None => {
            option("matrix_dim", comma_list(&config.matrix_dims));
            option("loop_count", comma_list(&config.loop_counts));
        }
    }
    option("dtype", config.options.iter().map(dtype_of).collect::<Vec<_>>().join(","));
    option("instance", config.instances.join(","));
    option("num_warmup_iterations", run.warmup_iterations.to_string());
    option("num_timed_iterations", run.timed_iterations.to_string());
    option("num_verification_iterations", run.verification_iterations.to_string());
    option("seed", run.seed.to_string());
    option("jitter", run.jitter.to_string());
    if let Some(options) = config.options.first() {
        option("neuron_cc_flags", format!("-O{}", options.opt_level));
    }
    if run.clock_tick_ns > 0 {
        option("clock_tick", (u64_to_f64(run.clock_tick_ns) / 1e6).to_string());
    }
    if run.workflow == Workflow::MarkStep {
        option("workflow", "mark_step".to_owned());
    }
    let is_layer = config.is_layer();
    let flags = [
        ("sync", run.sync),
        ("skip_compilation", run.skip_compilation),
        ("unchained", !run.chained && is_layer),
        ("add_bias", run.add_bias && is_layer),
        ("no_bias", !run.add_bias && is_layer),
    ];
    words.extend(flags.iter().filter(|(_, is_set)| *is_set).map(|(name, _)| format!("--{name}")));
    words.join(" ")
}
