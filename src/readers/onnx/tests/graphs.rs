//! Functions, conditions, loops, unknown operators.

use super::{A, X, compute, file, floats, graph, info, ints, msg, node, node_of, num, read};
use ns_program::{Op, Verdict};

/// A function: name, inputs, outputs, nodes, attributes without and with a default.
fn function(name: &str, reads: &str, gives: &str, nodes: &[Vec<u8>], defaults: &[Vec<u8>]) -> Vec<u8> {
    let names = |field: u64, list: &str| -> Vec<u8> { list.split_whitespace().flat_map(|n| msg(field, n)).collect() };
    let nodes: Vec<u8> = nodes.iter().flat_map(|n| msg(7, n)).collect();
    let defaults: Vec<u8> = defaults.iter().flat_map(|d| msg(11, d)).collect();
    [msg(1, name), names(4, reads), names(5, gives), nodes, msg(9, num(2, 18)), msg(10, "pkg.torch.2.4.1"), defaults]
        .concat()
}

#[test]
fn functions_are_written_out_with_their_attributes() {
    let inner = function(
        "torch_nn_modules_activation_LeakyReLU_act_1",
        "a",
        "b",
        &[node("Flatten", "a", "b", &[A::Ref("axis", "from")])],
        &[[msg(1, "from"), num(3, 0), num(20, 2)].concat()],
    );
    let outer = function(
        "models_NN_1",
        "p q",
        "r",
        &[
            node_of("pkg.torch.2.4.1", "torch_nn_modules_activation_LeakyReLU_act_1", "p", "m", &[A::I("from", 2)]),
            node("Clip", "m _ q", "r", &[]),
        ],
        &[],
    );
    let main =
        graph(&[node_of("pkg.torch.2.4.1", "models_NN_1", "x", "y", &[])], &[], &[info("x", 1, &[2, 3, 4])], &["y"]);
    let made = [file(&main, 18), msg(25, inner), msg(25, outer)].concat();
    let imported = read(&made).unwrap();
    assert_eq!(imported.inspection.outputs[0].shape, [6, 4]);
    assert_eq!(imported.inspection.modules, ["NN[model]/LeakyReLU[act]", "NN[model]"]);
    assert_eq!(imported.inspection.ops["pkg.torch.2.4.1.models_NN_1"], 1);
}

#[test]
fn a_function_that_calls_itself_is_refused() {
    let me = function("f", "a", "b", &[node_of("pkg.torch.2.4.1", "f", "a", "b", &[])], &[]);
    let main = graph(&[node_of("pkg.torch.2.4.1", "f", "x", "y", &[])], &[], &[info("x", 1, &[2])], &["y"]);
    let error = read(&[file(&main, 18), msg(25, me)].concat()).unwrap_err().to_string();
    assert!(error.contains("call each other more than 48 deep"), "{error}");
}

#[test]
fn a_known_condition_is_folded_and_an_open_one_refused() {
    let branch = |op: &str| graph(&[node(op, "x", "r", &[])], &[], &[], &["r"]);
    let choose =
        |flag: &str| node("If", flag, "y", &[A::G("then_branch", branch("Relu")), A::G("else_branch", branch("Neg"))]);
    let nodes = [
        node("Shape", "x", "s", &[]),
        node("Size", "s", "n", &[]),
        node("Equal", "n one", "flag", &[]),
        choose("flag"),
    ];
    let made = file(&graph(&nodes, &[ints("one", &[], &[1])], &[info("x", 1, &[2])], &["y"]), 17);
    assert_eq!(compute(&made, &[X(&[2], &[-1.0, 2.0])]).1, [0.0, 2.0]);
    let nodes = [
        node("ReduceSum", "x", "s", &[A::I("keepdims", 0)]),
        node("Cast", "s", "flag", &[A::I("to", 9)]),
        choose("flag"),
    ];
    let error = read(&file(&graph(&nodes, &[], &[info("x", 1, &[2])], &["y"]), 17)).unwrap_err().to_string();
    assert!(error.contains("If y: an If node with subgraphs: which of them is run depends on the input"), "{error}");
}

#[test]
fn loops_of_a_known_number_of_turns_are_written_out() {
    let body = graph(
        &[node("Add", "v w", "v2", &[]), node("Identity", "c", "c2", &[]), node("Mul", "v2 v2", "square", &[])],
        &[],
        &[info("i", 7, &[]), info("c", 9, &[]), info("v", 1, &[1])],
        &["c2", "v2", "square"],
    );
    let made = |turns: &str| {
        let nodes = [node("Loop", &format!("{turns} _ x"), "last y", &[A::G("body", body.clone())])];
        let arrays = [ints("three", &[], &[3]), floats("w", &[1], &[1.0])];
        file(&graph(&nodes, &arrays, &[info("x", 1, &[1]), info("n", 7, &[])], &["y"]), 17)
    };
    let imported = read(&made("three")).unwrap();
    assert_eq!(imported.inspection.outputs[0].shape, [3, 1]);
    assert_eq!(imported.inspection.ops["Add"], 1);
    let error = read(&made("n")).unwrap_err().to_string();
    assert!(error.contains("the number of its turns depends on the input"), "{error}");
}

#[test]
fn an_operator_that_is_not_known_is_never_free() {
    let nodes = [node_of("my.domain", "Fancy", "x", "m", &[]), node_of("my.domain", "Fancy", "m", "y", &[])];
    let imported = read(&file(&graph(&nodes, &[], &[info("x", 1, &[2, 3])], &["y"]), 17)).unwrap();
    let unsupported = &imported.inspection.unsupported;
    assert_eq!((unsupported.len(), unsupported[0].op.as_str(), unsupported[0].count), (1, "my.domain.Fancy", 2));
    // The nodes have no names: the first result is the place.
    assert_eq!(unsupported[0].first, "m");
    assert_eq!(imported.inspection.verdict, Verdict::Partial);
    let entry = &imported.program.computations[imported.program.entry];
    let opaque = entry.instructions.iter().filter(|i| matches!(&i.op, Op::Opaque(f) if f.name == "my.domain.Fancy"));
    assert_eq!(opaque.count(), 2);
    assert!(
        imported.inspection.notes.iter().any(|n| n.contains("does not give the type")),
        "{:?}",
        imported.inspection.notes
    );
}

#[test]
fn origins_name_the_operator() {
    let mut relu = node("Relu", "x", "y", &[]);
    relu.extend(msg(3, "/layer1/act/Relu"));
    let imported = read(&file(&graph(&[relu], &[], &[info("x", 1, &[2])], &["y"]), 17)).unwrap();
    let entry = &imported.program.computations[imported.program.entry];
    let origin = &entry.instructions[entry.root].origin;
    assert_eq!((origin.op.as_str(), origin.scope.as_str()), ("Relu", "layer1/act"));
}

#[test]
fn lists_leave_nothing_behind() {
    let nodes = [
        node("SplitToSequence", "x", "all", &[A::I("axis", 1), A::I("keepdims", 0)]),
        node("SequenceAt", "all minus", "last", &[]),
        node("SequenceInsert", "all last", "more", &[]),
        node("ConcatFromSequence", "more", "y", &[A::I("axis", 1), A::I("new_axis", 1)]),
    ];
    let made = file(&graph(&nodes, &[ints("minus", &[], &[-1])], &[info("x", 1, &[1, 3])], &["y"]), 17);
    assert_eq!(compute(&made, &[X(&[1, 3], &[1.0, 2.0, 3.0])]), (vec![1, 4], vec![1.0, 2.0, 3.0, 3.0]));
    let imported = read(&made).unwrap();
    let entry = &imported.program.computations[imported.program.entry];
    assert!(entry.instructions.iter().all(|i| i.op != Op::Tuple));
}

#[test]
fn attributes_reach_graphs_in_functions() {
    let branch = graph(&[node("Flatten", "a", "r", &[A::Ref("axis", "from")])], &[], &[], &["r"]);
    let other = graph(&[node("Identity", "a", "r", &[])], &[], &[], &["r"]);
    let choose = node("If", "flag", "b", &[A::G("then_branch", branch), A::G("else_branch", other)]);
    let nodes = [
        node("Shape", "a", "s", &[]),
        node("Size", "s", "n", &[]),
        node("Cast", "n", "flag", &[A::I("to", 9)]),
        choose,
    ];
    let f = function("f", "a", "b", &nodes, &[]);
    let main = graph(
        &[node_of("pkg.torch.2.4.1", "f", "x", "y", &[A::I("from", 2)])],
        &[],
        &[info("x", 1, &[2, 3, 4])],
        &["y"],
    );
    let imported = read(&[file(&main, 18), msg(25, f)].concat()).unwrap();
    assert_eq!(imported.inspection.outputs[0].shape, [6, 4]);
}

#[test]
fn an_embedding_that_is_the_last_weight_too_counts_once() {
    let table: Vec<f32> = (0..40u8).map(f32::from).collect();
    let turned: Vec<f32> = (0..40).map(|at| table[at % 10 * 4 + at / 10]).collect();
    let count = |weight: &str, numbers: &[f32]| {
        let nodes = [node("Gather", "table ids", "x", &[]), node("MatMul", &format!("x {weight}"), "y", &[])];
        let arrays = [floats("table", &[10, 4], &table), floats(weight, &[4, 10], numbers)];
        let found = read(&file(&graph(&nodes, &arrays, &[info("ids", 7, &[1, 3])], &["y"]), 17)).unwrap().inspection;
        (found.parameters, found.notes.len())
    };
    assert_eq!(count("onnx::MatMul_9", &turned), (40, 1));
    assert_eq!(count("onnx::MatMul_9", &table), (80, 0));
    // An array with its own name is a separate parameter.
    assert_eq!(count("head.weight", &turned), (80, 0));
}
