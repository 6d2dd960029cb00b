//! The reaction of the benchmark page to an opened link: it shows results that the browser kept, or runs the benchmark.

use super::{KeptHead, KeptRun};
use ns_bench::{BenchConfig, DeviceType};
use ns_experiment::sweep::ExperimentsRequest;
use ns_forms::options::measures;

/// The reaction to a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// Show the results of this kept sweep, given by its place in the list.
    Restore(usize),
    /// Run the rest of this kept sweep, given by its place in the list.
    Resume(usize),
    /// Run the benchmark.
    Run,
    /// Wait for Run: the benchmark measures this processor, which the user must want.
    Wait,
}

/// Decides the reaction to a link to `config`; `kept_sweep` are the sweeps that the browser kept, the latest first. A simulated sweep
/// gives the same numbers each time, so a kept one is as good as a new run.
pub fn opening_of<'a>(config: &BenchConfig, kept: impl IntoIterator<Item = &'a KeptHead>) -> Opening {
    let is_measured = config.options.device_type == DeviceType::Cpu;
    opening(is_measured, kept.into_iter().map(|head| (head.config == *config, head.is_done)))
}

/// As [`opening_of`], for a run of experiments. Records of another time are as good.
pub fn opening_of_run<'a>(request: &ExperimentsRequest, kept: impl IntoIterator<Item = &'a KeptRun>) -> Opening {
    opening(measures(request), kept.into_iter().map(|head| (head.config.request == *request, head.is_done)))
}

/// Of kept runs: whether each is the one that is asked for, and whether it is done.
fn opening(is_measured: bool, kept: impl Iterator<Item = (bool, bool)>) -> Opening {
    let mut unfinished = None;
    for (at, (_, is_done)) in kept.enumerate().filter(|(_, (is_same, _))| *is_same) {
        if is_done {
            return Opening::Restore(at);
        }
        unfinished.get_or_insert(at);
    }
    match (is_measured, unfinished) {
        (true, _) => Opening::Wait,
        (false, Some(at)) => Opening::Resume(at),
        (false, None) => Opening::Run,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_experiment::plan::Accelerator;
    use ns_experiment::sweep::ExperimentsRun;
    use ns_forms::options::default_experiments;

    fn head(seed: u64, is_done: bool) -> KeptHead {
        KeptHead { config: BenchConfig { seed, ..BenchConfig::default() }, rows: 4, is_done }
    }

    #[test]
    fn kept_results_come_before_a_run() {
        let kept = [head(1, true), head(7, false), head(7, true), head(8, false)];
        let opening = |seed| opening_of(&BenchConfig { seed, ..BenchConfig::default() }, &kept);
        assert_eq!(opening(7), Opening::Restore(2));
        assert_eq!(opening(8), Opening::Resume(3));
        assert_eq!(opening(9), Opening::Run);
    }

    #[test]
    fn a_run_of_experiments_is_restored_resumed_or_run() {
        let request = default_experiments();
        let head = |repeat: u32, is_done| {
            let mut request = request.clone();
            request.settings.repeat = repeat;
            KeptRun { config: ExperimentsRun { request, timestamp: 1.0, processor: String::new() }, rows: 2, is_done }
        };
        let repeat = request.settings.repeat;
        assert_eq!(opening_of_run(&request, &[head(3, true)]), Opening::Run);
        assert_eq!(opening_of_run(&request, &[head(3, true), head(repeat, false)]), Opening::Resume(1));
        assert_eq!(opening_of_run(&request, &[head(repeat, false), head(repeat, true)]), Opening::Restore(1));
        let mut measured = request.clone();
        measured.plan.expand.accelerator = vec![Accelerator::Cpu];
        assert_eq!(opening_of_run(&measured, &[]), Opening::Wait);
    }

    #[test]
    fn a_measurement_waits_but_its_results_are_shown_again() {
        let mut measured = head(0, false);
        measured.config.options.device_type = DeviceType::Cpu;
        let config = measured.config.clone();
        assert_eq!(opening_of(&config, [&measured]), Opening::Wait);
        assert_eq!(opening_of(&config, []), Opening::Wait);
        measured.is_done = true;
        assert_eq!(opening_of(&config, [&measured]), Opening::Restore(0));
    }
}
