//! Simulating one execution.

use std::rc::Rc;

use super::{Job, JobState, MakeProfile};
use crate::open_profile::OpenProfile;
use crate::protocol::Message;
use ns_capture::{Recorder, RunTitle, build_profile, run_of};
use ns_device::{Compilation, Device, EstimateMark, EstimatedOp, GainsRun, ModelLibrary, model_label};
use ns_fidelity::published_times;
use ns_forms::{ProfileOrigin, ProfileSpec};
use ns_insight::Insights;
use ns_machine::Executable;
use ns_machine::cost::CostTable;
use ns_neuron::sim::{SimProgress, Simulator};

/// Compiles a model and simulates one call of it.
pub(crate) struct ProfileJob {
    spec: ProfileSpec,
    models: ModelLibrary,
    start_ns: Option<i64>,
    stage: Stage,
}

enum Stage {
    Compile,
    Simulate(Box<Simulation>),
}

struct Simulation {
    compilation: Compilation,
    device: Device,
    simulator: Simulator<Rc<Executable>, Rc<CostTable>>,
    recorder: Recorder,
}

impl ProfileJob {
    pub fn new(spec: ProfileSpec, models: ModelLibrary, start_ns: Option<i64>) -> Self {
        Self { spec, models, start_ns, stage: Stage::Compile }
    }

    fn progress(&self, done: u64, total: u64, doing: &str) -> Message {
        Message::Progress { done, total, label: format!("{doing} {}", model_label(&self.spec.model)) }
    }

    fn compile(&mut self) -> Result<(), String> {
        let spec = &self.spec;
        let device = Device::new(&spec.instance, spec.options)?.with_models(&self.models);
        let compilation = device.compilation(&spec.model, spec.batch_size, spec.workflow)?;
        let simulator = Simulator::new(Rc::clone(&compilation.executable), Rc::clone(&device.costs));
        let recorder = Recorder::default();
        self.stage = Stage::Simulate(Box::new(Simulation { compilation, device, simulator, recorder }));
        Ok(())
    }
}

impl Simulation {
    /// The profile of a simulation that is done.
    fn profile(self, spec: ProfileSpec, start_ns: Option<i64>) -> MakeProfile {
        let Self { compilation, device, simulator, recorder } = self;
        let (executable, costs, workflow) = (&compilation.executable, &device.costs, spec.workflow);
        let name = spec.run_title();
        let captured = build_profile(executable, &recorder, costs, workflow, RunTitle { text: &name, start_ns });
        let mut analysed = run_of(executable, &recorder, costs, workflow);
        analysed.products = Some((compilation.products_before, compilation.products_after));
        let insights = Insights::of(&analysed, &costs.core);
        let window = simulator.outcome().window;
        let step = compilation.step(costs, window, workflow);
        let facts = facts(&compilation);
        let mark = EstimateMark::of(&compilation.estimated_ops);
        let published = published_times(&spec.model, spec.batch_size, workflow, &spec.instance);
        let origin = ProfileOrigin::Simulated(spec.clone());
        let mut gains = GainsRun::new(device, (spec.model, spec.batch_size), workflow, (compilation, window));
        let limits = move |insights: &mut Insights, budget: u32| {
            if let Some(found) = gains.step(u64::from(budget))? {
                insights.set_limits(found);
            }
            Ok(gains.progress())
        };
        Box::new(move |key| {
            OpenProfile::new(key, name, origin, captured.profile, Some(captured.device_window_ns))
                .with_step(step)
                .with_facts(facts)
                .with_insights(insights, Box::new(limits))
                .with_published(published)
                .with_mark(mark)
        })
    }
}

/// Notes for the user about a model file: which times are estimates.
fn facts(compilation: &Compilation) -> Vec<(String, String)> {
    let of = |op: &EstimatedOp| if op.is_unknown { "Cost is not known" } else { "Time is an estimate" };
    let estimates = compilation.estimated_ops.iter().map(|op| (of(op).to_owned(), op.to_string()));
    let notes = compilation.notes.iter().map(|note| ("Note".to_owned(), note.clone()));
    estimates.chain(notes).collect()
}

impl Job for ProfileJob {
    fn step(&mut self, budget_events: u32, sink: &mut dyn FnMut(Message)) -> Result<JobState, String> {
        let Stage::Simulate(run) = &mut self.stage else {
            sink(self.progress(0, 0, "Compiling"));
            self.compile()?;
            return Ok(JobState::More);
        };
        let progress = run.simulator.step(u64::from(budget_events), &mut run.recorder);
        match progress.map_err(|e| format!("{}: {e}", model_label(&self.spec.model)))? {
            SimProgress::More { items, total } => {
                sink(self.progress(items, total, "Simulating"));
                Ok(JobState::More)
            }
            SimProgress::Done => {
                let Stage::Simulate(run) = std::mem::replace(&mut self.stage, Stage::Compile) else {
                    return Ok(JobState::Done);
                };
                Ok(JobState::Profile(run.profile(self.spec.clone(), self.start_ns)))
            }
        }
    }
}
