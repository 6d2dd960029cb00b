//! Formats of sampling profilers. Their samples become nested slices, one for each run of consecutive samples that share
//! a frame; the weights of samples are durations.

mod collapsed;
mod cpuprofile;
mod firefox;
mod frames;
mod perf_script;
mod pprof;
mod safari;
mod speedscope;
mod stackprof;

pub(super) use collapsed::{CollapsedReader, has_two_counts, looks_collapsed};
pub(super) use cpuprofile::{read_cpuprofile, read_heapprofile};
pub(super) use firefox::read_firefox;
pub(super) use perf_script::{PerfScriptReader, looks_perf_script};
pub(super) use pprof::read_pprof;
pub(super) use safari::read_safari;
pub(super) use speedscope::read_speedscope;
pub(super) use stackprof::read_stackprof;

/// Names of the formats that hold only stacks.
const OF_STACKS: [&str; 8] = [
    "collapsed-stacks",
    "cpuprofile",
    "heapprofile",
    "perf-script",
    "pprof",
    "safari-recording",
    speedscope::FORMAT,
    "stackprof",
];

/// Whether profiles of a format hold only sampled stacks, so that a flame graph shows them best.
pub fn is_of_stacks(format: &str) -> bool {
    OF_STACKS.contains(&format)
}

#[cfg(test)]
mod tests;
