//! Tracing a module into a graph, and running it eagerly.

use ns_base::{Refusal, refuse};
use ns_tensor::{Shape, Tensor};

use super::context::root_scope;
use super::{Ctx, Graph, Module};

/// Records the aten ops of one forward pass for example inputs of these shapes. No weights and no values are
/// allocated. Fails when shapes do not fit; the message names the op and its scope.
pub fn trace(module: &dyn Module, inputs: &[Shape]) -> Result<Graph, Refusal> {
    let mut cx = Ctx::tracing();
    let values = inputs
        .iter()
        .zip(0u32..)
        .map(|(shape, index)| cx.input(index, shape, module))
        .collect::<Result<Vec<_>, _>>()?;
    let output = cx.call_root(module, &values)?;
    let nodes = values.iter().filter_map(super::Value::node).collect();
    let output = output.node().ok_or_else(|| foreign("forward", &root_scope(module)))?;
    Ok(cx.into_graph(module.class(), nodes, output))
}

/// Computes one forward pass. Weights are drawn from the seed and their paths. Fails when shapes do not fit or a tensor is too
/// large.
pub fn run_eager(module: &dyn Module, inputs: Vec<Tensor>, seed: u64) -> Result<Tensor, Refusal> {
    let mut cx = Ctx::eager(seed);
    let values: Vec<_> = inputs.into_iter().map(Ctx::value).collect();
    let output = cx.call_root(module, &values)?;
    output.tensor().map(|t| t.as_ref().clone()).ok_or_else(|| foreign("forward", &root_scope(module)))
}

/// The error of an op that reads a value of another trace or run.
pub(super) fn foreign(op: &str, scope: &str) -> Refusal {
    refuse!("{op} in {scope}: an operand belongs to another trace or run; use the values this forward was given")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zoo::tutorial_network;
    use crate::{AtenOp, named_parameters};

    #[test]
    fn nn_is_recorded_with_its_scopes() {
        let graph = trace(&tutorial_network(), &[Shape::f32([4, 4])]).unwrap();
        let paths: Vec<String> = graph.nodes.iter().map(crate::Node::path).collect();
        assert_eq!(
            paths,
            [
                "NN[model]/input",
                "NN[model]/Linear[layer1]/weight",
                "NN[model]/Linear[layer1]/bias",
                "NN[model]/Linear[layer1]/aten__permute",
                "NN[model]/Linear[layer1]/aten__addmm",
                "NN[model]/ReLU[nl1]/Tensor_1/aten__relu",
                "NN[model]/Linear[layer2]/weight",
                "NN[model]/Linear[layer2]/bias",
                "NN[model]/Linear[layer2]/aten__permute",
                "NN[model]/Linear[layer2]/aten__addmm",
                "NN[model]/Tanh[nl2]/aten__tanh",
            ]
        );
        assert_eq!(graph.nodes[graph.output].op.name(), "aten::tanh");
        assert_eq!((graph.parameter_count(), graph.flops()), (30, 2 * (4 * 4 * 4 + 4 * 4 * 2)));
    }

    #[test]
    fn a_shape_error_names_op_scope_and_both_shapes() {
        let e = trace(&tutorial_network(), &[Shape::f32([4, 5])]).unwrap_err();
        assert_eq!(
            e.to_string(),
            "aten::addmm in NN[model]/Linear[layer1]: input [4,5] does not match weight [4,4]: expected last dimension 4"
        );
        let eager =
            run_eager(&tutorial_network(), vec![Tensor::splat(Shape::f32([4, 5]), 0.0).unwrap()], 0).unwrap_err();
        assert_eq!(e, eager);
    }

    #[test]
    fn the_number_of_inputs_is_checked() {
        let e = trace(&tutorial_network(), &[]).unwrap_err();
        assert_eq!(e.to_string(), "NN[model] takes 1 input(s), 0 were given");
    }

    #[test]
    fn traced_weights_are_the_declared_ones() {
        let nn = tutorial_network();
        let graph = trace(&nn, &[Shape::f32([4, 4])]).unwrap();
        let mut declared: Vec<String> = named_parameters(&nn).into_iter().map(|(path, _)| path).collect();
        declared.sort();
        assert_eq!(graph.weights().into_keys().collect::<Vec<_>>(), declared);
        assert!(graph.nodes.iter().filter(|n| matches!(n.op, AtenOp::Weight { .. })).count() == 4);
    }
}
