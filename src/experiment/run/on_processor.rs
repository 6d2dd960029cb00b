//! Experiments on the processor, timed with a clock that the shell provides.

use super::error::RunError;
use super::experiment::Experiment;
use super::network::{Network, Program};
use super::noise::calibrate;
use super::operation::ProgramOperation;
use crate::micro::{BenchPlan, do_bench};
use crate::plan::Dynamo;
use crate::record::Metrics;
use ns_base::Clock;
use ns_base::convert::u64_to_f64;

const NS_PER_S: f64 = 1e9;

/// Seconds since a reading of the clock.
fn since(clock: &dyn Clock, start_ns: u64) -> f64 {
    u64_to_f64(clock.now().0.saturating_sub(start_ns)) / NS_PER_S
}

/// Times every repeat: the first also compiles. Weights and inputs are drawn before. Between repeats the same work is
/// timed (in nanoseconds each), which shows disturbances of the machine.
pub(super) fn measure(
    experiment: &Experiment<'_>,
    network: &Network,
    clock: &dyn Clock,
) -> Result<(Metrics, Vec<u64>), RunError> {
    let config = experiment.config;
    let fused = config.dynamo.is_some() || config.xla.is_some();
    let program = network.bind(network.compile(fused)?)?;
    if experiment.pure_wall_time {
        return least_times(experiment, &program, clock);
    }
    let (mut metrics, mut calibration_ns) = (Metrics::default(), Vec::new());
    for repeat in 0..experiment.repeat {
        calibration_ns.push(calibrate(clock));
        let start = clock.now().0;
        let compile_s = if repeat == 0 && fused {
            network.compile(true)?;
            since(clock, start)
        } else {
            0.0
        };
        let (trace_s, execute_s) = iterate(experiment, network, &program, clock)?;
        let total_s = since(clock, start);
        metrics.push_total(total_s, experiment.iterations_per_run);
        if config.xla.is_some() {
            metrics.push_trace(compile_s + trace_s, experiment.iterations_per_run);
            metrics
                .push_xla([compile_s, execute_s], [u64::from(repeat == 0), u64::from(experiment.iterations_per_run)]);
        }
    }
    Ok((metrics, calibration_ns))
}

/// `--pure-wall-time`: each iteration takes the shortest of many calls with cleared caches. Nothing is compiled or recorded in
/// that time, so only totals are kept.
fn least_times(
    experiment: &Experiment<'_>,
    program: &Program,
    clock: &dyn Clock,
) -> Result<(Metrics, Vec<u64>), RunError> {
    let (mut metrics, mut calibration_ns) = (Metrics::default(), Vec::new());
    let mut operation = ProgramOperation::new(program);
    for _ in 0..experiment.repeat {
        calibration_ns.push(calibrate(clock));
        let mut total_s = 0.0;
        for _ in 0..experiment.iterations_per_run {
            let times = do_bench(&mut operation, BenchPlan::default(), clock)?;
            total_s += times.min_ms().unwrap_or(0.0) / 1e3;
        }
        metrics.push_total(total_s, experiment.iterations_per_run);
    }
    Ok((metrics, calibration_ns))
}

/// The iterations of one repeat: seconds of tracing, and of computing.
fn iterate(
    experiment: &Experiment<'_>,
    network: &Network,
    program: &Program,
    clock: &dyn Clock,
) -> Result<(f64, f64), RunError> {
    // Lazy tensors record the model at every step; a compiled model is only called.
    let records = experiment.config.xla.is_some() && experiment.config.dynamo != Some(Dynamo::Openxla);
    let (mut trace_s, mut execute_s) = (0.0, 0.0);
    for _ in 0..experiment.iterations_per_run {
        let start = clock.now().0;
        if records {
            network.trace_again()?;
        }
        trace_s += since(clock, start);
        let start = clock.now().0;
        program.run()?;
        execute_s += since(clock, start);
    }
    Ok((trace_s, execute_s))
}
