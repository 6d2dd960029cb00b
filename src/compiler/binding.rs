//! Values for a module's parameters: the given inputs, and weights drawn from a seed.

use std::rc::Rc;

use ns_base::{Refusal, refuse};
use ns_model::{Graph, weight_tensor};
use ns_tensor::Tensor;

use super::hlo::{HloModule, Opcode, ParameterRole};

/// The value of each parameter, by index, for [`super::hlo::evaluate`]. `graph` is the graph that the module was lowered
/// from: it says how weights are initialised. An eager run with the same seed has the same weights. Fails when an input or weight
/// is missing, or a weight is too large.
pub fn parameter_values(
    module: &HloModule,
    graph: &Graph,
    inputs: &[Rc<Tensor>],
    seed: u64,
) -> Result<Vec<Rc<Tensor>>, Refusal> {
    let weights = graph.weights();
    let value = |id| {
        let instruction = &module.instructions[id];
        let Opcode::Parameter { index, role } = &instruction.opcode else {
            return Err(refuse!("instruction %{}: an operand has no value; verify the module", instruction.name));
        };
        let missing = || refuse!("instruction %{}: no value was given for parameter {index}", instruction.name);
        match role {
            ParameterRole::Input(n) => inputs.get(*n as usize).cloned().ok_or_else(missing),
            ParameterRole::Weight(path) => {
                let weight = weights.get(path).ok_or_else(missing)?;
                let tensor = weight_tensor(seed, path, &weight.shape, weight.init);
                let at = |e| refuse!("instruction %{}: {e}", instruction.name);
                tensor.map(Rc::new).map_err(at)
            }
        }
    };
    module.parameters().into_iter().map(value).collect()
}
