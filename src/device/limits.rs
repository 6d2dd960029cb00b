//! What each limit of a core costs a model.

use std::rc::Rc;

use super::{Compilation, Device};
use ns_base::{Refusal, SimTime};
use ns_compiler::Workflow;
use ns_machine::Executable;
use ns_machine::cost::{CostTable, Gains, Limit};
use ns_neuron::sim::{NoObserver, SimProgress, Simulator};

/// A simulator that shares its program and its costs.
type OwnSimulator = Simulator<Rc<Executable>, Rc<CostTable>>;

/// What an execution of a compiled model, whose window is known, would gain without each limit, found in steps. What the compiler decided
/// stays, but for a core with more SBUF: the model is compiled for it again.
pub struct GainsRun {
    device: Device,
    model: String,
    batch_size: Option<u32>,
    workflow: Workflow,
    compiled: Compilation,
    window: SimTime,
    /// The time without each limit that was removed so far, in the order of [`Limit::ALL`].
    times: Vec<SimTime>,
    /// The execution without the next one.
    running: Option<(Compilation, OwnSimulator)>,
}

impl GainsRun {
    pub fn new(
        device: Device,
        (model, batch_size): (String, Option<u32>),
        workflow: Workflow,
        (compiled, window): (Compilation, SimTime),
    ) -> Self {
        let (times, running) = (Vec::new(), None);
        Self { device, model, batch_size, workflow, compiled, window, times, running }
    }

    /// The limit that is removed now, how many were before, and of how many; `None` once the gains are known.
    pub fn progress(&self) -> Option<(Limit, u64, u64)> {
        let limit = Limit::ALL.get(self.times.len())?;
        Some((*limit, self.times.len() as u64, Limit::ALL.len() as u64))
    }

    /// Compiles, or simulates about `budget` items; the gains when all are known. Fails as [`Device::compile`] and [`Device::step`].
    pub fn step(&mut self, budget: u64) -> Result<Option<Gains>, Refusal> {
        if let Some((limit, ..)) = self.progress() {
            self.remove(limit, budget)?;
        }
        self.progress().is_none().then(|| self.gains()).transpose()
    }

    /// Compiles without a limit, or simulates about `budget` items.
    fn remove(&mut self, limit: Limit, budget: u64) -> Result<(), Refusal> {
        let costs = Rc::new(self.device.costs.without(limit));
        let Some((compiled, simulator)) = &mut self.running else {
            if limit == Limit::Launch {
                self.times.push(self.compiled.step(&costs, self.window, self.workflow).device());
                return Ok(());
            }
            let device = Device { costs: Rc::clone(&costs), ..self.device.clone() };
            let compiled = match limit {
                Limit::Sbuf => device.compilation(&self.model, self.batch_size, self.workflow)?,
                _ => self.compiled.clone(),
            };
            let simulator = Simulator::new(Rc::clone(&compiled.executable), costs);
            self.running = Some((compiled, simulator));
            return Ok(());
        };
        if simulator.step(budget, &mut NoObserver)? == SimProgress::Done {
            self.times.push(compiled.step(&costs, simulator.outcome().window, self.workflow).device());
            self.running = None;
        }
        Ok(())
    }

    fn gains(&self) -> Result<Gains, Refusal> {
        let total = self.compiled.step(&self.device.costs, self.window, self.workflow).device();
        let mut times = self.times.iter();
        Gains::of(total, |_| Ok(times.next().copied().unwrap_or(total)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_neuron::sim::simulate;

    fn gains(instance: &str, model: &str) -> Gains {
        let device = Device::of_instance(instance).unwrap();
        let compiled = device.compilation(model, None, Workflow::Trace).unwrap();
        let window = simulate(&compiled.executable, &device.costs, &mut NoObserver).unwrap().window;
        let mut run = GainsRun::new(device, (model.to_owned(), None), Workflow::Trace, (compiled, window));
        let mut done = Vec::new();
        loop {
            done.extend(run.progress().map(|(limit, ..)| limit));
            if let Some(gains) = run.step(50_000).unwrap() {
                done.dedup();
                assert_eq!((done.as_slice(), run.progress()), (Limit::ALL.as_slice(), None));
                return gains;
            }
        }
    }

    /// The bound is what a run without it shows, not the unit that is busy longest: on Trn2 that is DMA for both models.
    #[test]
    fn the_bound_of_a_model_is_the_limit_that_costs_most() {
        let bert = gains("trn1.2xlarge", "bert-base-uncased");
        assert_eq!(bert, gains("trn1.2xlarge", "bert-base-uncased"));
        assert_eq!((bert.bound.as_deref(), bert.saves_us["sbuf"]), (Some("dma_rate"), 0.0));
        let faster = gains("trn2.48xlarge", "bert-base-uncased");
        assert_eq!(faster.bound.as_deref(), Some("tensor"));
        assert!(faster.saves_us["tensor"] > 3.0 * faster.saves_us["dma_rate"], "{faster:?}");
    }

    #[test]
    fn each_kind_of_limit_is_found_where_it_costs() {
        assert!(gains("trn1.2xlarge", "vgg16").saves_us["sbuf"] > 100.0, "its weights wait for room");
        let small = gains("trn1.2xlarge", "nn");
        assert_eq!(small.bound.as_deref(), Some("launch"));
        // The table's kernel, and one that was run.
        for kernel in ["relu", "relu-tcm"] {
            let custom = gains("trn1.2xlarge", &format!("mlp:hidden1=64,hidden2=64,kernel={kernel}"));
            assert_eq!(custom.bound.as_deref(), Some("gpsimd"), "{kernel}: {custom:?}");
        }
    }
}
