//! Measures one copy of a model.

use std::rc::Rc;

use serde::{Deserialize, Serialize};

use crate::config::configuration::Configuration;
use crate::config::options::Processes;
use crate::host_step::step::HostStep;
use ns_base::convert::u64_to_f64;
use ns_base::{Clock, WallNs};
use ns_base::{Refusal, refuse};
use ns_device::ModelFileValues;
use ns_tensor::Tensor;

use super::CpuModel;

/// Measured times of one copy, nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuTimers {
    /// Compiling the model and drawing its weights.
    pub load_ns: u64,
    /// Inferences before the window.
    pub warmup_ns: Vec<u64>,
    /// End times, counted from the opening of the window, and latencies, in order of completion.
    pub inferences: Vec<(u64, u64)>,
    /// Work before each call, in the same order; empty where there is none.
    pub preprocess_ns: Vec<u64>,
    /// Work after each call.
    pub postprocess_ns: Vec<u64>,
    /// From the opening of the window to the end of the last inference.
    pub elapsed_ns: u64,
    /// The smallest step that the clock shows.
    pub resolution_ns: u64,
    /// Why the copy stopped early.
    pub error: Option<String>,
}

/// Number of copies that are measured side by side, and the work of each. If all share one process (`multiprocess=False`), the
/// copies and their workers take turns, which is the same as one copy with all workers.
pub fn side_by_side(configuration: &Configuration) -> (u32, Configuration) {
    let mut each = configuration.clone();
    if configuration.options.processes != Processes::Shared {
        return (configuration.n_models.max(1), each);
    }
    (each.n_models, each.workers_per_model) = (1, u32::try_from(configuration.workers()).unwrap_or(u32::MAX));
    if let Some(dataset) = &mut each.options.dataset {
        // Each copy goes through all records, and its last batch is its own.
        let (calls, batch) = (dataset.calls(configuration.batch_size), u64::from(configuration.batch_size));
        dataset.length = calls.saturating_mul(batch).saturating_mul(u64::from(configuration.n_models));
    }
    (1, each)
}

/// State of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CpuStage {
    /// The next step loads the model.
    Load,
    /// The next step is a warm-up inference.
    WarmUp,
    /// Loaded and warm: the next step opens the window. Copies that begin together wait for each other here.
    Ready,
    /// Inside the window.
    Measure,
    /// All work is done.
    Done,
}

/// A copy in progress. It computes one inference at a time; the workers of one copy are requests that wait for their
/// turn, so that each latency covers as many inferences as there are workers.
pub struct CpuRun {
    configuration: Configuration,
    /// The values of a model file, until it is loaded.
    file: Option<Box<ModelFileValues>>,
    model: Option<CpuModel>,
    stage: CpuStage,
    timers: CpuTimers,
    opened: WallNs,
    /// When each worker asked for the inference it waits for, in the order in which they are served.
    asked: std::collections::VecDeque<u64>,
    left: Option<u64>,
}

impl CpuRun {
    /// Makes a copy of the configuration's model.
    pub fn new(configuration: Configuration) -> Self {
        let workers = configuration.workers_per_model.max(1) as usize;
        let dataset = configuration.options.dataset.filter(|d| !d.looped);
        let left = dataset.map(|d| d.calls(configuration.batch_size));
        Self {
            configuration,
            file: None,
            model: None,
            stage: CpuStage::Load,
            timers: CpuTimers::default(),
            opened: WallNs(0),
            asked: std::iter::repeat_n(0, workers).collect(),
            left,
        }
    }

    /// The same copy, of a model file with these values ([`super::file_values`]). The copy ends with the reason if there are none.
    pub fn with_file(mut self, values: Result<Option<ModelFileValues>, Refusal>) -> Self {
        match values {
            Ok(values) => self.file = values.map(Box::new),
            Err(error) => (self.timers.error, self.stage) = (Some(error.to_string()), CpuStage::Done),
        }
        self
    }

    /// The state of the copy.
    pub fn stage(&self) -> CpuStage {
        self.stage
    }

    /// Share of the window that has passed, 0 to 1.
    pub fn share(&self) -> f64 {
        match self.stage {
            CpuStage::Done => 1.0,
            _ => (u64_to_f64(self.timers.elapsed_ns) / self.window_ns()).min(0.999),
        }
    }

    /// The measurements so far.
    pub fn into_timers(self) -> CpuTimers {
        self.timers
    }

    fn window_ns(&self) -> f64 {
        self.configuration.duration_s * 1e9
    }

    /// Does the next step: loads, warms up, or computes one inference.
    pub fn step(&mut self, clock: &dyn Clock) {
        let before = clock.now();
        let done = match self.stage {
            CpuStage::Load => self.load(clock, before),
            CpuStage::WarmUp => self.warm_up(clock, before),
            CpuStage::Ready => {
                self.opened = before;
                self.stage = CpuStage::Measure;
                Ok(())
            }
            CpuStage::Measure => self.measure(clock),
            CpuStage::Done => Ok(()),
        };
        if let Err(error) = done {
            self.timers.error = Some(error.to_string());
            self.stage = CpuStage::Done;
        }
    }

    fn load(&mut self, clock: &dyn Clock, before: WallNs) -> Result<(), Refusal> {
        self.model = Some(match self.file.take() {
            Some(values) => CpuModel::of_file(values)?,
            None => CpuModel::load(&self.configuration)?,
        });
        self.timers.load_ns = since(clock, before);
        self.timers.resolution_ns = clock.resolution_ns();
        self.stage = if self.configuration.warmup_inferences > 0 { CpuStage::WarmUp } else { CpuStage::Ready };
        Ok(())
    }

    fn warm_up(&mut self, clock: &dyn Clock, before: WallNs) -> Result<(), Refusal> {
        self.infer()?;
        self.timers.warmup_ns.push(since(clock, before));
        if self.timers.warmup_ns.len() as u64 >= u64::from(self.configuration.warmup_inferences) {
            self.stage = CpuStage::Ready;
        }
        Ok(())
    }

    fn measure(&mut self, clock: &dyn Clock) -> Result<(), Refusal> {
        let now = since(clock, self.opened);
        let is_over = match &mut self.left {
            Some(left) => {
                let over = *left == 0;
                *left = left.saturating_sub(1);
                over
            }
            None => u64_to_f64(now) >= self.window_ns(),
        };
        if is_over {
            self.stage = CpuStage::Done;
            return Ok(());
        }
        let asked = self.asked.pop_front().unwrap_or(now);
        let Some(model) = &self.model else { return Err(refuse!("the model was not loaded")) };
        let options = &self.configuration.options;
        self.timers.preprocess_ns.extend(work(clock, &options.preprocess, model.inputs()));
        // A result that is not used must still be computed.
        let outputs = std::hint::black_box(model.infer()?);
        self.timers.postprocess_ns.extend(work(clock, &options.postprocess, &outputs));
        let end = since(clock, self.opened);
        self.timers.inferences.push((end, end - asked));
        self.timers.elapsed_ns = end;
        self.asked.push_back(end);
        Ok(())
    }

    fn infer(&self) -> Result<(), Refusal> {
        let Some(model) = &self.model else { return Err(refuse!("the model was not loaded")) };
        std::hint::black_box(model.infer()?);
        Ok(())
    }
}

/// Does a step on these values and returns how long it took; a custom step waits until its time is over. `None` for no step.
fn work(clock: &dyn Clock, step: &HostStep, values: &[Rc<Tensor>]) -> Option<u64> {
    if *step == HostStep::None {
        return None;
    }
    let before = clock.now();
    let data: Vec<&[f32]> = values.iter().map(|tensor| tensor.data()).collect();
    std::hint::black_box(step.work_on(&data));
    let wanted_ns = step.custom_ms().unwrap_or(0.0) * 1e6;
    while u64_to_f64(since(clock, before)) < wanted_ns {
        std::hint::spin_loop();
    }
    Some(since(clock, before))
}

fn since(clock: &dyn Clock, before: WallNs) -> u64 {
    clock.now().0.saturating_sub(before.0)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::{BenchConfig, DeviceType, RunOptions, expand};

    /// Each reading takes a millisecond.
    #[derive(Default)]
    struct Ticking(Cell<u64>);

    impl Clock for Ticking {
        fn now(&self) -> WallNs {
            self.0.set(self.0.get() + 1_000_000);
            WallNs(self.0.get())
        }
        fn resolution_ns(&self) -> u64 {
            1_000_000
        }
    }

    fn configuration(workers: u32) -> Configuration {
        let config = BenchConfig {
            duration_s: 0.1,
            workers_per_model: Some(vec![workers]),
            options: RunOptions { device_type: DeviceType::Cpu, ..RunOptions::default() },
            ..BenchConfig::default()
        };
        expand(&config).unwrap().configurations.remove(0)
    }

    fn run(configuration: Configuration) -> CpuTimers {
        let (clock, mut run) = (Ticking::default(), CpuRun::new(configuration));
        while run.stage() != CpuStage::Done {
            run.step(&clock);
        }
        run.into_timers()
    }

    #[test]
    fn load_and_warm_up_are_before_the_window() {
        let t = run(configuration(1));
        assert_eq!((t.error, t.warmup_ns.len(), t.resolution_ns), (None, 1, 1_000_000));
        // The clock is read three times for each inference; the reading at the beginning of a step is not needed.
        assert!((30..=50).contains(&t.inferences.len()), "{}", t.inferences.len());
        assert!(t.inferences.is_sorted_by_key(|(end, _)| *end) && t.elapsed_ns >= 90_000_000);
        let sum: u64 = t.inferences.iter().map(|(_, latency)| latency).sum();
        assert_eq!(sum, t.elapsed_ns, "one worker is always inside one inference");
    }

    #[test]
    fn workers_of_a_copy_wait_for_each_other() {
        let (one, two) = (run(configuration(1)), run(configuration(2)));
        let last = |t: &CpuTimers| t.inferences.last().unwrap().1;
        assert_eq!(last(&two), 2 * last(&one));
    }

    #[test]
    fn work_around_the_call_is_done_and_timed() {
        let mut configuration = configuration(1);
        configuration.options.preprocess = HostStep::Custom(4.0);
        configuration.options.postprocess = HostStep::Softmax;
        let t = run(configuration.clone());
        let n = t.inferences.len();
        assert!(n > 5 && t.preprocess_ns.len() == n && t.postprocess_ns.len() == n, "{t:?}");
        assert!(t.preprocess_ns.iter().all(|ns| *ns >= 4_000_000));
        let around = |i: usize| t.preprocess_ns[i] + t.postprocess_ns[i];
        assert!((0..n).all(|i| t.inferences[i].1 > around(i)), "the work is part of an inference");
        let detail = crate::RunDetail::default();
        let report = crate::cpu::cpu_row(&configuration, &[t], &Default::default(), &Default::default(), detail).report;
        assert!(report.preprocess_avg_ms >= Some(4.0) && report.postprocess_avg_ms > Some(0.0));
        let parts =
            report.preprocess_avg_ms.unwrap() + report.infer_avg_ms.unwrap() + report.postprocess_avg_ms.unwrap();
        assert!((parts - report.e2e_avg_ms.unwrap()).abs() < 0.01);
    }

    #[test]
    fn copies_of_one_process_take_turns() {
        let mut configuration = configuration(2);
        configuration.n_models = 3;
        assert_eq!(side_by_side(&configuration), (3, configuration.clone()));
        configuration.options.processes = Processes::Shared;
        let (copies, each) = side_by_side(&configuration);
        assert_eq!((copies, each.n_models, each.workers_per_model), (1, 1, 6));
        let (alone, shared) = (run(self::configuration(1)), run(each));
        assert_eq!(shared.inferences.last().unwrap().1, 6 * alone.inferences.last().unwrap().1);
        let detail = crate::RunDetail::default();
        let report =
            crate::cpu::cpu_row(&configuration, &[shared], &Default::default(), &Default::default(), detail).report;
        assert_eq!((report.n_models, report.workers_per_model, report.multiprocess), (3, 2, false));
    }

    #[test]
    fn a_dataset_is_records_and_each_call_takes_a_batch() {
        let mut configuration = configuration(1);
        configuration.batch_size = 8;
        configuration.options.dataset = Some(crate::Dataset { length: 20, looped: false });
        assert_eq!(run(configuration.clone()).inferences.len(), 3);
        (configuration.n_models, configuration.options.processes) = (2, Processes::Shared);
        assert_eq!(run(side_by_side(&configuration).1).inferences.len(), 6, "each copy has a last batch of its own");
    }

    #[test]
    fn what_can_not_run_says_why() {
        let mut fixed = configuration(1);
        fixed.model = "fixed:device_ms=1".into();
        assert!(run(fixed).error.unwrap().contains("nothing to run"));
        let mut unknown = configuration(1);
        unknown.model = "resnet9000".into();
        assert!(run(unknown).error.unwrap().contains("resnet9000"));
    }
}
