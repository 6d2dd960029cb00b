//! NN as HLO text: the names the profiling tutorial's figures show.

use neuronscope::compiler::Workflow;
use neuronscope::compiler::hlo::{expressions, print};
use neuronscope::compiler::passes::optimize;

use super::lowered;

#[test]
fn nn_before_the_passes() {
    insta::assert_snapshot!(print(&lowered("nn", Workflow::MarkStep)));
}

#[test]
fn nn_after_the_passes() {
    insta::assert_snapshot!(print(&optimize(lowered("nn", Workflow::Trace)).unwrap().0));
}

#[test]
fn mlp_after_the_passes() {
    insta::assert_snapshot!(print(&optimize(lowered("mlp", Workflow::Trace)).unwrap().0));
}

#[test]
fn the_figures_expressions_come_out() {
    let module = lowered("nn", Workflow::MarkStep);
    let all: Vec<String> = expressions(&module).into_values().collect();
    for expected in ["%dot = dot(%p4, %transpose.1)", "%add = add(%dot, %broadcast.1)"] {
        assert!(all.iter().any(|e| e == expected), "{expected} is missing: {all:#?}");
    }
    let paths: Vec<&str> = module.instructions.iter().map(|i| i.metadata.op_name.as_str()).collect();
    for expected in [
        "NN[model]/input",
        "NN[model]/Linear[layer1]/aten__addmm_dot",
        "NN[model]/Linear[layer1]/aten__addmm_add",
        "NN[model]/ReLU[nl1]/Tensor_1/aten__relu_maximum",
        "NN[model]/Tanh[nl2]/aten__tanh_tanh",
    ] {
        assert!(paths.contains(&expected), "{expected} is missing: {paths:#?}");
    }
}
