//! The command with the same figures.

use ns_base::convert::u64_to_f64;
use ns_forms::options::command_line;
use ns_forms::studies::MatmultStudy;

/// Options that are written even if they have the default.
const ALWAYS: [&str; 8] = [
    "matrix_dim",
    "batch_size",
    "loop_count",
    "dtype",
    "instance",
    "num_timed_iterations",
    "num_warmup_iterations",
    "num_verification_iterations",
];

/// `neuronscope matmult ...` of a microbenchmark with its pitfalls applied; its `--csv` and `--json` are the files that the page saves.
pub(super) fn command(study: &MatmultStudy) -> String {
    let config = study.measured();
    let (run, is_layer) = (&config.run, config.is_layer());
    let of = MatmultStudy { config: config.clone(), ..MatmultStudy::default() };
    // A flag of another subject than the one that is measured is refused.
    let line =
        command_line("matmult", &of, &MatmultStudy::default(), &ALWAYS, |line, option, text| match option.key() {
            "matrix_dim" | "loop_count" | "unchained" | "no_bias" if !is_layer => line,
            "model" if !config.operators.is_empty() => line,
            "lazy" => line.option("workflow", "mark_step"),
            "optlevel" => line.option("neuron_cc_flags", &format!("-O{text}")),
            _ => option.on(line, text),
        });
    let line = line.flag("add_bias", run.add_bias && is_layer);
    let tick = (run.clock_tick_ns > 0).then(|| (u64_to_f64(run.clock_tick_ns) / 1e6).to_string());
    line.some("clock_tick", tick.as_deref()).print()
}
