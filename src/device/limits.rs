//! What each limit of a core costs a model.

use std::rc::Rc;

use super::{Compilation, Device};
use ns_base::{Refusal, SimTime};
use ns_compiler::Workflow;
use ns_machine::cost::{Gains, Limit};

impl Device {
    /// What an execution of a compiled model, whose window is known, would gain without each limit. What the compiler decided stays, but
    /// for a core with more SBUF: the model is compiled for it again. Fails as [`Self::compile`] and [`Self::step`].
    pub fn gains(
        &self,
        model: &str,
        batch_size: Option<u32>,
        workflow: Workflow,
        (compiled, window): (&Compilation, SimTime),
    ) -> Result<Gains, Refusal> {
        let total = compiled.step(&self.costs, window, workflow).device();
        Gains::of(total, |limit| {
            let device = Self { costs: Rc::new(self.costs.without(limit)), ..self.clone() };
            let step = match limit {
                Limit::Launch => compiled.step(&device.costs, window, workflow),
                Limit::Sbuf => device.step(&device.compilation(model, batch_size, workflow)?, workflow)?,
                _ => device.step(compiled, workflow)?,
            };
            Ok(step.device())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_neuron::sim::{NoObserver, simulate};

    fn gains(instance: &str, model: &str) -> Gains {
        let device = Device::of_instance(instance).unwrap();
        let compiled = device.compilation(model, None, Workflow::Trace).unwrap();
        let window = simulate(&compiled.executable, &device.costs, &mut NoObserver).unwrap().window;
        device.gains(model, None, Workflow::Trace, (&compiled, window)).unwrap()
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
        assert_eq!(gains("trn1.2xlarge", "mlp:hidden1=64,hidden2=64").bound.as_deref(), Some("gpsimd"));
    }
}
