//! Estimates the work of a configuration before it runs, for the progress of a sweep and for memory.

use serde::{Deserialize, Serialize};

use ns_base::convert::{f64_to_u64, u64_to_f64};
use ns_base::{Refusal, SimTime, refuse};

use crate::config::configuration::Configuration;
use crate::config::options::Accounting;
use crate::measured::measurement::MAX_INFERENCES;
use ns_device::ServiceTimes;

/// The expected work of a configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Estimate {
    /// Inferences, including those in flight at the end; seldom fewer than really happen.
    pub inferences: u64,
    /// Scheduler events.
    pub events: u64,
    /// Simulated time, bring-up included.
    pub simulated: SimTime,
    /// Length of the measured window: the duration, or shorter where that is enough.
    pub window: SimTime,
}

/// Inferences that each worker makes at least: the first ones of a run wait for less, or for more, than the others.
const OF_EACH_WORKER: u64 = 20;

/// Estimates a configuration by its tightest bound: the workers' own pace, the cores of the host, the path that all copies
/// share, the link of each device, what the workers of one process do in turns, or the slowest pipeline stage.
pub fn estimate(configuration: &Configuration, times: &ServiceTimes) -> Estimate {
    let (models, workers) = (f64::from(configuration.n_models), u64_to_f64(configuration.workers()));
    let rate = |servers: f64, time: SimTime| {
        if time == SimTime::ZERO { f64::INFINITY } else { servers / time.to_secs_f64() }
    };
    let mut per_second = rate(workers, times.unloaded()).min(rate(1.0, times.host + times.transfer));
    per_second = per_second.min(rate(f64::from(configuration.links()), times.link));
    if let Some(cores) = configuration.host_cores() {
        per_second = per_second.min(rate(f64::from(cores), times.host_work()));
    }
    per_second = per_second.min(match configuration.options.is_multiprocess() {
        true => rate(models, times.input.max(times.record)),
        false => rate(1.0, times.input + times.preprocess + times.record + times.postprocess),
    });
    for (i, stage) in times.device.iter().enumerate() {
        let busy = if i == 0 { times.transfer + *stage } else { *stage };
        per_second = per_second.min(rate(models, busy));
    }
    // Jitter lowers a mean by far less than this margin; saturating casts keep an absurd pace large instead of wrapping it.
    let warmups = times.warmup.times(u64::from(configuration.warmup_inferences));
    let beside = times.load_of(configuration.n_models).saturating_sub(times.load);
    let bring_up = times.setup_total() + beside + warmups;
    let measured = match configuration.options.accounting {
        Accounting::Window => configuration.duration(),
        Accounting::Original => configuration.duration() - bring_up,
    };
    let in_time = f64_to_u64(per_second * measured.to_secs_f64() * 1.002);
    let enough = configuration.options.max_inferences.map(u64::from);
    let enough = enough.map(|n| n.max(configuration.workers().saturating_mul(OF_EACH_WORKER)));
    let (in_time, measured) = match enough.filter(|n| *n < in_time && configuration.may_be_shortened()) {
        Some(n) => (n, SimTime::from_secs_f64(measured.to_secs_f64() * (u64_to_f64(n) / u64_to_f64(in_time)))),
        None => (in_time, measured),
    };
    let (inferences, measured) = match configuration.options.dataset.filter(|d| !d.looped) {
        Some(dataset) => {
            let calls = dataset.calls(configuration.batch_size);
            let all = calls.saturating_mul(u64::from(configuration.n_models));
            (all, SimTime::from_secs_f64(u64_to_f64(all) / per_second))
        }
        None => (in_time.saturating_add(configuration.workers()), measured),
    };
    let steps = [
        times.input,
        times.preprocess,
        times.record,
        times.call,
        times.host,
        times.link,
        times.transfer,
        times.postprocess,
    ];
    let events_each = steps.iter().filter(|t| **t != SimTime::ZERO).count() as u64 + times.device.len() as u64;
    Estimate {
        inferences,
        events: inferences.saturating_mul(events_each),
        simulated: bring_up + measured,
        window: measured,
    }
}

impl Estimate {
    /// Refuses a run whose latencies would not fit in memory. Fails when more than [`MAX_INFERENCES`] are expected; the error names
    /// a duration that fits.
    pub fn check(&self, configuration: &Configuration) -> Result<(), Refusal> {
        if self.inferences <= MAX_INFERENCES {
            return Ok(());
        }
        let duration_s = configuration.duration_s;
        let longest = duration_s * (u64_to_f64(MAX_INFERENCES) / u64_to_f64(self.inferences));
        let longest_s = if longest >= 1.0 { libm::floor(longest) } else { longest };
        Err(refuse!(
            "about {} inferences in {duration_s} s are more than the {MAX_INFERENCES} that one run records; use a duration_s of at most {longest_s}",
            self.inferences
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BenchConfig, expand};

    fn one(duration_s: f64) -> Configuration {
        expand(&BenchConfig { duration_s, ..BenchConfig::default() }).unwrap().configurations[0].clone()
    }

    #[test]
    fn a_lone_worker_is_bound_by_its_own_pace() {
        let times = ServiceTimes {
            load: SimTime::from_us(62_000),
            host: SimTime::from_us(216),
            transfer: SimTime::from_us(140),
            device: vec![SimTime::from_us(2_895)],
            ..ServiceTimes::default()
        };
        let e = estimate(&one(60.0), &times);
        assert!((18_455..=18_495).contains(&e.inferences), "{}", e.inferences);
        assert_eq!(e.events, e.inferences * 3);
        assert_eq!(e.simulated, SimTime::from_us(60_062_000));
        assert_eq!(e.check(&one(60.0)), Ok(()));
    }

    #[test]
    fn a_run_ends_when_it_has_enough_inferences() {
        let times = ServiceTimes { device: vec![SimTime::from_us(100)], ..ServiceTimes::default() };
        let of = |max_inferences, accounting| {
            let mut c = one(60.0);
            (c.options.max_inferences, c.options.accounting) = (Some(max_inferences), accounting);
            estimate(&c, &times)
        };
        let short = of(10_000, Accounting::Window);
        assert!((short.window.to_secs_f64() - 1.0).abs() < 0.01 && short.inferences <= 10_001, "{short:?}");
        assert_eq!(of(10_000_000, Accounting::Window).window, SimTime::from_secs(60), "the duration is the most");
        assert_eq!(of(1, Accounting::Window).inferences, OF_EACH_WORKER + 1);
        assert!(of(10, Accounting::Original).inferences > 500_000, "bring-up is part of the duration");
    }

    #[test]
    fn too_long_a_run_of_too_fast_a_model_is_refused_with_a_remedy() {
        let times = ServiceTimes { device: vec![SimTime::from_ns(10)], ..ServiceTimes::default() };
        let configuration = one(86_400.0);
        let refused = estimate(&configuration, &times).check(&configuration).unwrap_err();
        assert!(refused.what().contains("duration_s of at most 0.99"), "{refused}");
    }
}
