//! Measures one case: compiled, simulated once, and called as often as configured, in parts of a bounded number of events.

use std::rc::Rc;

use ns_base::convert::u64_to_f64;
use ns_base::{Refusal, SimTime};
use ns_device::{Compilation, Device, ModelLibrary};
use ns_machine::Executable;
use ns_machine::cost::CostTable;
use ns_neuron::sim::{NoObserver, SimOutcome, SimProgress, Simulator};
use ns_neuron::step::StepCosts;

use super::call_times::CallTimes;
use super::config::MatmultCase;

pub(super) struct CaseResult {
    /// Operations of one call: by the guide's formula, or for another model those of its products and convolutions.
    pub operations: f64,
    pub compilation: Compilation,
    /// Costs and limits of its core.
    pub costs: Rc<CostTable>,
    /// One execution.
    pub outcome: SimOutcome,
    /// The parts of a call.
    pub step: StepCosts,
    pub timed: CallTimes,
}

/// A case that is being measured.
pub(super) enum Measuring {
    /// It waits for the compiler, whose work is not divided.
    Compile(Box<MatmultCase>, ModelLibrary),
    /// One execution is simulated.
    Simulate(Box<Simulating>),
    /// Two shorter executions are simulated, one after the other.
    Repeat(Box<Repeating>),
}

/// An execution under way.
pub(super) struct Simulating {
    case: MatmultCase,
    compilation: Compilation,
    costs: Rc<CostTable>,
    simulator: Simulator<Rc<Executable>, Rc<CostTable>>,
}

impl Measuring {
    /// Begins a case whose model is in the zoo or in `models`.
    pub fn new(case: MatmultCase, models: ModelLibrary) -> Self {
        Self::Compile(Box::new(case), models)
    }

    /// Compiles, or simulates about this many more events. Returns the result of the case when that was the last part. Fails when
    /// the device is not simulated, or the layer cannot be compiled for it.
    pub fn step(self, budget_events: u64) -> Result<Step, Refusal> {
        match self {
            Self::Compile(case, models) => match compiled((*case).clone(), &models) {
                Ok(run) => Ok(Step::More(Self::Simulate(Box::new(run)))),
                Err(error) => match Repeating::of(*case, models) {
                    Some(repeating) => Ok(Step::More(Self::Repeat(Box::new(repeating)))),
                    None => Err(error),
                },
            },
            Self::Repeat(repeating) => repeating.step(budget_events),
            Self::Simulate(mut run) => {
                let progress = run.simulator.step(budget_events, &mut NoObserver)?;
                match progress {
                    SimProgress::More { .. } => Ok(Step::More(Self::Simulate(run))),
                    SimProgress::Done => Ok(Step::Done(Box::new(run.finish()))),
                }
            }
        }
    }
}

/// Most instructions of the longer of the two runs that stand for a run with more products than can be simulated one by one.
const REPEATED_ITEMS: usize = 2_000_000;
/// Fewest products of that run, whatever their instructions: the first and the last differ from those between them.
const LEAST_REPEATED: u32 = 3;

/// A layer with more instructions than can be simulated. Its products are alike, so it is simulated with fewer of them, twice: the longer run
/// has some more than the shorter one, and the layer has those some more times.
pub(super) struct Repeating {
    case: MatmultCase,
    models: ModelLibrary,
    /// Products of the two runs.
    lengths: [u32; 2],
    shorter: Option<Box<CaseResult>>,
    running: Option<Measuring>,
}

impl Repeating {
    /// The runs for a case that could not be compiled; `None` if its products are not the reason.
    fn of(case: MatmultCase, models: ModelLibrary) -> Option<Self> {
        if case.model.is_some() || !case.run.chained || case.loop_count <= LEAST_REPEATED {
            return None;
        }
        let few = compiled(MatmultCase { loop_count: 2, ..case.clone() }, &models).ok()?;
        let each = (few.compilation.executable.item_count() / 2).max(1);
        let most = u32::try_from(REPEATED_ITEMS / each).unwrap_or(u32::MAX).max(LEAST_REPEATED);
        (most < case.loop_count).then(|| Self::with(case, models, most))
    }

    /// The runs of which the longer one has at most these many products.
    fn with(case: MatmultCase, models: ModelLibrary, most: u32) -> Self {
        let more = (most / 2).max(1);
        let longer = case.loop_count - (case.loop_count - most).div_ceil(more) * more;
        Self { case, models, lengths: [longer - more, longer], shorter: None, running: None }
    }

    fn step(mut self: Box<Self>, budget_events: u64) -> Result<Step, Refusal> {
        let length = self.lengths[usize::from(self.shorter.is_some())];
        let begin = || Measuring::new(MatmultCase { loop_count: length, ..self.case.clone() }, self.models.clone());
        let done = match self.running.take().unwrap_or_else(begin).step(budget_events)? {
            Step::More(running) => {
                self.running = Some(running);
                return Ok(Step::More(Measuring::Repeat(self)));
            }
            Step::Done(done) => done,
        };
        match self.shorter.take() {
            None => {
                self.shorter = Some(done);
                Ok(Step::More(Measuring::Repeat(self)))
            }
            Some(shorter) => Ok(Step::Done(Box::new(self.repeated(&shorter, *done)))),
        }
    }

    /// The case from its two runs.
    fn repeated(&self, shorter: &CaseResult, longer: CaseResult) -> CaseResult {
        let [few, many] = self.lengths;
        let times = u64::from((self.case.loop_count - many) / (many - few));
        let time =
            |of: &dyn Fn(&CaseResult) -> SimTime| of(&longer) + of(&longer).saturating_sub(of(shorter)).times(times);
        let count = |of: &dyn Fn(&CaseResult) -> u64| {
            of(&longer).saturating_add(of(&longer).saturating_sub(of(shorter)).saturating_mul(times))
        };
        let outcome = SimOutcome {
            window: time(&|r| r.outcome.window),
            items: count(&|r| r.outcome.items),
            engine_busy: std::array::from_fn(|engine| time(&|r| r.outcome.engine_busy[engine])),
            dma_busy: time(&|r| r.outcome.dma_busy),
            dma_bytes: count(&|r| r.outcome.dma_bytes),
        };
        let counts = [
            count(&|r| r.compilation.products_before),
            count(&|r| r.compilation.products_after),
            count(&|r| r.compilation.recorded_ops),
            count(&|r| r.compilation.model_flops),
        ];
        let compile = time(&|r| r.step.first.compile);
        let [products_before, products_after, recorded_ops, model_flops] = counts;
        let costs = Rc::clone(&longer.costs);
        let compilation =
            Compilation { products_before, products_after, recorded_ops, model_flops, ..longer.compilation };
        let mut step = compilation.step(&costs, outcome.window, self.case.run.workflow);
        step.first.compile = compile;
        let timed = CallTimes::of(&step, &self.case.run, self.case.run.seed);
        let operations = self.case.operations().unwrap_or(u64_to_f64(compilation.model_flops));
        CaseResult { operations, compilation, costs, outcome, step, timed }
    }
}

/// State of a case after a step.
pub(super) enum Step {
    /// There is more to do.
    More(Measuring),
    Done(Box<CaseResult>),
}

/// The HLO of a case as text, before and after the compiler's passes. Fails when it cannot be compiled, or its device is not
/// simulated.
pub fn programs(case: &MatmultCase, models: &ModelLibrary) -> Result<[String; 2], Refusal> {
    let device = Device::new(&case.instance, case.options)?.with_models(models);
    device.programs(&case.specification(), Some(case.batch_size), case.run.workflow)
}

fn compiled(case: MatmultCase, models: &ModelLibrary) -> Result<Simulating, Refusal> {
    let device = Device::new(&case.instance, case.options)?.with_models(models);
    let compilation = device.compilation(&case.specification(), Some(case.batch_size), case.run.workflow)?;
    let costs = Rc::clone(&device.costs);
    let simulator = Simulator::new(Rc::clone(&compilation.executable), Rc::clone(&costs));
    Ok(Simulating { case, compilation, costs, simulator })
}

impl Simulating {
    fn finish(self) -> CaseResult {
        let Self { case, compilation, costs, simulator } = self;
        let outcome = simulator.outcome().clone();
        let operations = case.operations().unwrap_or(u64_to_f64(compilation.model_flops));
        let step = compilation.step(&costs, outcome.window, case.run.workflow);
        let timed = CallTimes::of(&step, &case.run, case.run.seed);
        CaseResult { operations, compilation, costs, outcome, step, timed }
    }
}

impl CaseResult {
    /// Tera-operations per second of some calls by the clock, counting the operations as written; 0 when the clock did not tick.
    pub fn tops_of(&self, timed: &CallTimes) -> f64 {
        let mean = timed.mean_s();
        if mean > 0.0 { self.operations / mean / 1e12 } else { 0.0 }
    }

    /// The same for the timed calls.
    pub fn tops(&self) -> f64 {
        self.tops_of(&self.timed)
    }

    /// The same for the products that the core computes.
    pub fn tops_computed(&self) -> f64 {
        self.tops() * self.computed_share()
    }

    /// The same by a clock without ticks.
    pub fn tops_exact(&self) -> f64 {
        self.operations * self.computed_share() / self.timed.true_mean_s().max(f64::MIN_POSITIVE) / 1e12
    }

    /// The rate of those products from the first to the last instruction of an execution.
    pub fn tops_executing(&self) -> f64 {
        let window_s = self.step.window.to_secs_f64().max(f64::MIN_POSITIVE);
        self.operations * self.computed_share() / window_s / 1e12
    }

    /// The part of the operations whose products the compiler kept.
    pub fn computed_share(&self) -> f64 {
        let c = &self.compilation;
        u64_to_f64(c.products_after) / u64_to_f64(c.products_before.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matmult::MatmultConfig;

    fn done(mut measuring: Measuring) -> CaseResult {
        loop {
            match measuring.step(1_000).unwrap() {
                Step::More(more) => measuring = more,
                Step::Done(result) => return *result,
            }
        }
    }

    #[test]
    fn repeated_products_are_those_that_are_simulated_one_by_one() {
        let config = MatmultConfig { matrix_dims: vec![256], loop_counts: vec![60], ..MatmultConfig::default() };
        let case = config.cases().unwrap().remove(0);
        let models = ModelLibrary::default();
        let direct = done(Measuring::new(case.clone(), models.clone()));
        for most in [6, 9, 20] {
            let repeating = Repeating::with(case.clone(), models.clone(), most);
            assert!(repeating.lengths[1] <= most && repeating.lengths[0] > 0, "{:?}", repeating.lengths);
            let repeated = done(Measuring::Repeat(Box::new(repeating)));
            let counts = |r: &CaseResult| {
                let c = &r.compilation;
                (
                    c.products_before,
                    c.products_after,
                    c.recorded_ops,
                    c.model_flops,
                    r.outcome.items,
                    r.outcome.dma_bytes,
                )
            };
            assert_eq!((counts(&repeated), repeated.operations), (counts(&direct), direct.operations), "{most}");
            assert_eq!(repeated.step.first, direct.step.first, "{most}");
            // A product ends on a tick of the engines' clock, so products differ by a picosecond.
            let (a, b) = (repeated.outcome.window.0, direct.outcome.window.0);
            assert!(a.abs_diff(b) <= 60, "{most}: {a} and {b}");
        }
    }
}
