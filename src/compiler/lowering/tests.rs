//! Lowering of ops that no model of the zoo combines.

#![allow(clippy::result_large_err, reason = "closures of tests return the compiler's own errors")]

use crate::Workflow;
use crate::hlo::{evaluate, print};
use crate::parameter_values;
use ns_base::Refusal;
use ns_model::{Ctx, Module, NodeId, Value, run_eager, trace};
use ns_tensor::kernels::{BinaryOp, UnaryOp};
use ns_tensor::{Shape, Tensor};

use super::lower;

type Forward = fn(&mut Ctx, &[Value]) -> Result<Value, Refusal>;

struct Ops(Forward);

impl Module for Ops {
    fn class(&self) -> &str {
        "Ops"
    }
    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        (self.0)(cx, inputs)
    }
}

/// The text of the lowered ops, after a check that they evaluate to the eager result.
fn check(shapes: &[&[u64]], forward: Forward) -> String {
    let shapes: Vec<Shape> = shapes.iter().map(|d| Shape::f32(*d)).collect();
    let graph = trace(&Ops(forward), &shapes).unwrap();
    let module = lower(&graph, Workflow::Trace).unwrap();
    let inputs: Vec<Tensor> = shapes.iter().map(|s| Tensor::from_fn(s.clone(), |i| 1.0 + i as f32).unwrap()).collect();
    let eager = run_eager(&Ops(forward), inputs.clone(), 0).unwrap();
    let inputs: Vec<_> = inputs.into_iter().map(std::rc::Rc::new).collect();
    let values = parameter_values(&module, &graph, &inputs, 0).unwrap();
    assert!(evaluate(&module, &values).unwrap()[0].same_bits(&eager));
    print(&module)
}

#[test]
fn broadcasting_drops_stretched_dimensions_first() {
    let text = check(&[&[2, 3], &[2, 1], &[3]], |cx, x| {
        let y = cx.binary(BinaryOp::Mul, &x[0], &x[1])?;
        cx.binary(BinaryOp::Sub, &y, &x[2])
    });
    assert!(text.contains("%reshape = f32[2] reshape(%p1)"), "{text}");
    assert!(text.contains("= f32[2,3] broadcast(%reshape), dimensions={0}"), "{text}");
    assert!(text.contains("= f32[2,3] broadcast(%p0), dimensions={1}"), "{text}");
}

#[test]
fn both_sides_may_stretch() {
    check(&[&[4, 1, 3], &[2, 1]], |cx, x| cx.binary(BinaryOp::Div, &x[0], &x[1]));
    check(&[&[], &[2, 2]], |cx, x| cx.binary(BinaryOp::Maximum, &x[0], &x[1]));
}

#[test]
fn one_value_broadcast_for_two_readers_is_broadcast_twice() {
    let text = check(&[&[3], &[2, 3], &[4, 3]], |cx, x| {
        let a = cx.binary(BinaryOp::Add, &x[1], &x[0])?;
        let b = cx.binary(BinaryOp::Add, &x[2], &x[0])?;
        let (a, b) = (cx.mean(&a)?, cx.mean(&b)?);
        cx.binary(BinaryOp::Minimum, &a, &b)
    });
    assert_eq!(text.matches(" broadcast(").count(), 2, "{text}");
    assert!(
        text.contains("Ops[model]/Tensor_1/aten__mean_reduce")
            && text.contains("Ops[model]/Tensor_2/aten__mean_reduce")
    );
}

#[test]
fn every_elementwise_function_lowers() {
    check(&[&[5]], |cx, x| {
        let mut y = x[0].clone();
        for op in [UnaryOp::Neg, UnaryOp::Exp, UnaryOp::Sqrt, UnaryOp::Rsqrt, UnaryOp::Log, UnaryOp::Tanh] {
            y = cx.unary(op, &y)?;
        }
        y = cx.unary(UnaryOp::ReluKernel, &y)?;
        y = cx.log_softmax(&y, 0)?;
        cx.binary(BinaryOp::Add, &y, &y)
    });
}

#[test]
fn a_model_may_give_back_its_input() {
    let text = check(&[&[2]], |_, x| Ok(x[0].clone()));
    assert!(text.contains("ROOT %p0 = f32[2] parameter(0), input=0"), "{text}");
}

#[test]
fn the_same_graph_under_mark_step_is_numbered() {
    let graph = trace(&Ops(|cx, x| cx.tanh(&x[0])), &[Shape::f32([2])]).unwrap();
    let module = lower(&graph, Workflow::MarkStep).unwrap();
    assert_eq!((module.name.as_str(), module.workflow), ("SyncTensorsGraph.3", Workflow::MarkStep));
    assert_eq!(lower(&graph, Workflow::Trace).unwrap().name, "Ops");
}

#[test]
fn a_damaged_graph_is_an_error() {
    let mut graph = trace(&Ops(|cx, x| cx.tanh(&x[0])), &[Shape::f32([2])]).unwrap();
    let tanh = graph.output;
    graph.nodes[tanh].inputs = vec![tanh];
    let e = lower(&graph, Workflow::Trace).unwrap_err();
    assert!(e.what().starts_with("Ops[model]/aten__tanh reads a value that is not computed before it"), "{e}");
    graph.nodes[tanh].inputs = vec![NodeId(0), NodeId(0)];
    let e = lower(&graph, Workflow::Trace).unwrap_err();
    assert!(e.what().starts_with("Ops[model]/aten__tanh has 2 operands"), "{e}");
    graph.output = NodeId(7);
    let e = lower(&graph, Workflow::Trace).unwrap_err();
    assert!(e.what().starts_with("the result is node 7 of 2"), "{e}");
}
