//! The source of stage times for the scheduler: a simulated device with jitter, or scripted times in a test.

use ns_base::{Rng, SimTime};

use crate::config::configuration::Configuration;
use ns_device::ServiceTimes;

/// A part of one inference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Fetching an input, holding the model's input lock.
    Input,
    /// The user's work before the call.
    Preprocess,
    /// Recording the ops of a lazy step; the workers of one process take turns.
    Record,
    /// Host work of the call on the worker's own thread.
    Call,
    /// Host work before a NeuronCore is acquired.
    Host,
    /// Inputs and outputs over the link of the copy's device, before a NeuronCore is acquired.
    Link,
    /// Data movement while the NeuronCore is held.
    Transfer,
    /// A pipeline stage on its NeuronCore, from 0.
    Device(u32),
    /// The user's work after the call.
    Postprocess,
}

/// A part of bringing up one model copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetupStep {
    /// Work before the load.
    EnvSetup,
    Load,
    /// Work after the load.
    Setup,
    Warmup,
}

/// The times of a device. The scheduler asks for each step once, in a fixed order for each model and each worker.
pub trait Executor {
    /// How long a step of bringing up `model` takes.
    fn setup_time(&mut self, model: u32, step: SetupStep) -> SimTime;
    /// How long the next `stage` of `worker` takes (workers are numbered over all models). Zero means that the stage
    /// does not happen and never waits.
    fn stage_time(&mut self, worker: u32, stage: Stage) -> SimTime;
}

/// Executes on a simulated device: the given times, each with a uniform deviation of at most the jitter.
#[derive(Clone, Debug)]
pub struct SimulatedExecutor {
    fixed: [Spread; 8],
    device: Vec<Spread>,
    setup: [Spread; 4],
    /// A stall of the path, and the share of 2^32 calls that meet it; of one copy alone none does.
    stall: Option<(SimTime, u32)>,
    workers: Vec<Rng>,
    models: Vec<Rng>,
}

/// A uniform range of picoseconds.
#[derive(Clone, Copy, Debug)]
struct Spread {
    low: u64,
    /// Number of values above `low`; zero draws nothing.
    width: u64,
}

impl Spread {
    fn new(time: SimTime, jitter: f64) -> Self {
        let reach = SimTime::from_secs_f64(time.to_secs_f64() * jitter).0.min(time.0);
        Self { low: time.0 - reach, width: 2 * reach }
    }

    #[inline]
    fn draw(self, rng: &mut Rng) -> SimTime {
        if self.width == 0 {
            return SimTime(self.low);
        }
        let u = rng.next_u32();
        let offset = match u32::try_from(self.width) {
            Ok(width) => (u64::from(u) * (u64::from(width) + 1)) >> 32,
            // Above 4.3 ms of spread the product needs more than 64 bits; the shifted value fits again.
            Err(_) => u64::try_from((u128::from(u) * (u128::from(self.width) + 1)) >> 32).unwrap_or(self.width),
        };
        SimTime(self.low + offset)
    }
}

impl SimulatedExecutor {
    /// An executor for one configuration. Every model and every worker has its own stream of random numbers, so that
    /// none depends on how the others are scheduled.
    pub fn new(configuration: &Configuration, times: &ServiceTimes) -> Self {
        let spread = |t: SimTime| Spread::new(t, configuration.jitter);
        let stream = |kind: &str, model: u32, worker: u32| {
            let key = configuration.digest().text(kind).number(u64::from(model)).number(u64::from(worker)).finish();
            Rng::new(configuration.seed, key)
        };
        let (n, w) = (configuration.n_models, configuration.workers_per_model);
        Self {
            fixed: [
                times.input,
                times.preprocess,
                times.host,
                times.transfer,
                times.postprocess,
                times.call,
                times.link,
                times.record,
            ]
            .map(spread),
            device: times.device.iter().map(|t| spread(*t)).collect(),
            setup: [times.env_setup, times.load_of(n), times.setup, times.warmup].map(spread),
            stall: configuration
                .options
                .shared_overhead
                .filter(|_| n > 1)
                .map(|overhead| (SimTime::from_secs_f64(overhead.stall_ms / 1e3), u32::MAX / overhead.calls)),
            workers: (0..n).flat_map(|m| (0..w).map(move |i| (m, i))).map(|(m, i)| stream("worker", m, i)).collect(),
            models: (0..n).map(|m| stream("model", m, 0)).collect(),
        }
    }
}

impl Executor for SimulatedExecutor {
    fn setup_time(&mut self, model: u32, step: SetupStep) -> SimTime {
        let spread = self.setup[match step {
            SetupStep::EnvSetup => 0,
            SetupStep::Load => 1,
            SetupStep::Setup => 2,
            SetupStep::Warmup => 3,
        }];
        self.models.get_mut(model as usize).map_or(SimTime::ZERO, |rng| spread.draw(rng))
    }

    #[inline]
    fn stage_time(&mut self, worker: u32, stage: Stage) -> SimTime {
        let spread = match stage {
            Stage::Input => self.fixed[0],
            Stage::Preprocess => self.fixed[1],
            Stage::Host => self.fixed[2],
            Stage::Transfer => self.fixed[3],
            Stage::Postprocess => self.fixed[4],
            Stage::Call => self.fixed[5],
            Stage::Link => self.fixed[6],
            Stage::Record => self.fixed[7],
            Stage::Device(i) => match self.device.get(i as usize) {
                Some(spread) => *spread,
                None => return SimTime::ZERO,
            },
        };
        if let (Stage::Host, Some((stall, share)), Some(rng)) =
            (stage, self.stall, self.workers.get_mut(worker as usize))
        {
            let time = spread.draw(rng);
            return if rng.next_u32() < share { SimTime(time.0 + stall.0) } else { time };
        }
        // Most stages of most runs have no length, or always the same.
        if spread.width == 0 {
            return SimTime(spread.low);
        }
        self.workers.get_mut(worker as usize).map_or(SimTime::ZERO, |rng| spread.draw(rng))
    }
}

/// Replays scripted times, for tests of the scheduler: each worker goes through its own list again and again.
#[derive(Clone, Debug, Default)]
pub struct MockExecutor {
    /// Times of each worker's inferences, in order.
    pub scripts: Vec<Vec<ServiceTimes>>,
    /// The requests, in order: (worker, stage).
    pub asked: Vec<(u32, Stage)>,
    begun: Vec<usize>,
}

impl MockExecutor {
    /// One script for each worker, numbered over all models. The first entry of a model's first worker gives its
    /// set-up and warm-up times.
    pub fn new(scripts: Vec<Vec<ServiceTimes>>) -> Self {
        let begun = vec![0; scripts.len()];
        Self { scripts, asked: Vec::new(), begun }
    }
}

impl Executor for MockExecutor {
    fn setup_time(&mut self, model: u32, step: SetupStep) -> SimTime {
        let Some(times) = self.scripts.get(model as usize).and_then(|s| s.first()) else { return SimTime::ZERO };
        match step {
            SetupStep::EnvSetup => times.env_setup,
            SetupStep::Load => times.load,
            SetupStep::Setup => times.setup,
            SetupStep::Warmup => times.warmup,
        }
    }

    fn stage_time(&mut self, worker: u32, stage: Stage) -> SimTime {
        self.asked.push((worker, stage));
        let w = worker as usize;
        let (Some(script), Some(begun)) = (self.scripts.get(w), self.begun.get_mut(w)) else { return SimTime::ZERO };
        if stage == Stage::Input {
            *begun += 1;
        }
        let Some(times) = script.get(begun.saturating_sub(1) % script.len().max(1)) else { return SimTime::ZERO };
        match stage {
            Stage::Input => times.input,
            Stage::Preprocess => times.preprocess,
            Stage::Record => times.record,
            Stage::Call => times.call,
            Stage::Host => times.host,
            Stage::Link => times.link,
            Stage::Transfer => times.transfer,
            Stage::Device(i) => times.device.get(i as usize).copied().unwrap_or_default(),
            Stage::Postprocess => times.postprocess,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jitter_stays_inside_its_bound_and_fills_it() {
        for (time, name) in [(SimTime::from_us(2_895), "32-bit"), (SimTime::from_secs(2), "wide")] {
            let spread = Spread::new(time, 0.01);
            let mut rng = Rng::from_seed(1);
            let draws: Vec<u64> = (0..20_000).map(|_| spread.draw(&mut rng).0).collect();
            let (low, high) = (time.0 - time.0 / 100, time.0 + time.0 / 100);
            assert!(draws.iter().all(|d| (low..=high).contains(d)), "{name}");
            let mean = draws.iter().map(|d| *d as f64).sum::<f64>() / draws.len() as f64;
            assert!((mean / time.0 as f64 - 1.0).abs() < 2e-4, "{name}: mean {mean}");
            assert!(draws.iter().any(|d| *d < low + time.0 / 1000) && draws.iter().any(|d| *d > high - time.0 / 1000));
        }
        assert_eq!(Spread::new(SimTime(7), 0.0).draw(&mut Rng::from_seed(0)), SimTime(7));
        assert_eq!(Spread::new(SimTime::ZERO, 0.5).draw(&mut Rng::from_seed(0)), SimTime::ZERO);
    }
}
