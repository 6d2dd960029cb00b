//! Simulating one execution.

use std::rc::Rc;

use super::{Job, JobState};
use crate::base::SimTime;
use crate::bench::Device;
use crate::capture::{Recorder, build_profile, run_of};
use crate::compiler::modelled_compile_s;
use crate::insight::Insights;
use crate::kernel::without_source;
use crate::machine::Executable;
use crate::machine::cost::CostTable;
use crate::neuron::runtime::inference_costs;
use crate::neuron::sim::{SimProgress, Simulator};
use crate::session::held::{Held, ModelledTimes};
use crate::session::{Event, JobId, ProfileOrigin, ProfileSpec};

/// Compiles a model and simulates one call of it.
pub(in crate::session) struct ProfileJob {
    id: JobId,
    spec: ProfileSpec,
    stage: Stage,
}

enum Stage {
    Compile,
    Simulate(Box<Simulation>),
}

struct Simulation {
    executable: Rc<Executable>,
    costs: Rc<CostTable>,
    simulator: Simulator<Rc<Executable>, Rc<CostTable>>,
    recorder: Recorder,
}

impl ProfileJob {
    pub fn new(id: JobId, spec: ProfileSpec) -> Self {
        Self { id, spec, stage: Stage::Compile }
    }

    fn progress(&self, done: u64, total: u64, doing: &str) -> Event {
        Event::Progress { job: self.id, done, total, label: format!("{doing} {}", without_source(&self.spec.model)) }
    }

    fn compile(&mut self) -> Result<(), String> {
        let device = Device::new(&self.spec.instance, self.spec.options)?;
        let executable = device.compile(&self.spec.model, self.spec.batch_size, self.spec.workflow)?;
        let costs = Rc::clone(&device.costs);
        let simulator = Simulator::new(Rc::clone(&executable), Rc::clone(&costs));
        let recorder = Recorder::default();
        self.stage = Stage::Simulate(Box::new(Simulation { executable, costs, simulator, recorder }));
        Ok(())
    }
}

impl Job for ProfileJob {
    fn id(&self) -> JobId {
        self.id
    }

    fn step(&mut self, budget_events: u32, sink: &mut dyn FnMut(Event)) -> Result<JobState, String> {
        let Stage::Simulate(run) = &mut self.stage else {
            sink(self.progress(0, 0, "Compiling"));
            self.compile()?;
            return Ok(JobState::More);
        };
        let progress = run.simulator.step(u64::from(budget_events), &mut run.recorder);
        match progress.map_err(|e| format!("{}: {e}", without_source(&self.spec.model)))? {
            SimProgress::More { items, total } => {
                sink(self.progress(items, total, "Simulating"));
                Ok(JobState::More)
            }
            SimProgress::Done => {
                let workflow = self.spec.workflow;
                let name = self.spec.run_title();
                let captured = build_profile(&run.executable, &run.recorder, &run.costs, workflow, &name);
                let analysed = run_of(&run.executable, &run.recorder, &run.costs, workflow);
                let insights = Insights::of(&analysed, &run.costs.core);
                let load = inference_costs(&run.executable, &run.costs, SimTime::ZERO).load;
                let modelled =
                    ModelledTimes { compile_s: modelled_compile_s(&run.executable), load_ms: load.to_secs_f64() * 1e3 };
                let origin = ProfileOrigin::Simulated(self.spec.clone());
                Ok(JobState::Profile(Box::new(move |key| {
                    Held::new(key, name, origin, captured.profile, Some(captured.device_window_ns))
                        .with_modelled(modelled)
                        .with_insights(insights)
                })))
            }
        }
    }
}
