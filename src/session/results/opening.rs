//! The reaction of the benchmark page to an opened link: it shows results that the browser kept, or runs the benchmark.

use super::KeptHead;
use ns_bench::{BenchConfig, DeviceType};

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
#[must_use]
pub fn opening_of<'a>(config: &BenchConfig, kept: impl IntoIterator<Item = &'a KeptHead>) -> Opening {
    let is_measured = config.options.device_type == DeviceType::Cpu;
    let mut unfinished = None;
    for (at, head) in kept.into_iter().enumerate().filter(|(_, head)| head.config == *config) {
        if head.is_done {
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
