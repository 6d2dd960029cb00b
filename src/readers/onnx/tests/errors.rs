//! Wrong files: the error messages and their places.

use super::{A, file, floats, graph, info, ints, msg, node, node_of, num, read};

fn error(nodes: &[Vec<u8>], arrays: &[Vec<u8>]) -> String {
    read(&file(&graph(nodes, arrays, &[info("x", 1, &[2, 3])], &["y"]), 17)).unwrap_err().to_string()
}

#[test]
fn errors_name_the_node_and_what_to_do() {
    let all = [
        (error(&[node("Relu", "z", "y", &[])], &[]), "needs the value z, which no node, input or initialiser gives"),
        (error(&[node("Add", "x", "y", &[])], &[]), "Add y: Add needs operand 1 and the node has 1"),
        (error(&[node("Relu", "y2", "y", &[]), node("Relu", "y", "y2", &[])], &[]), "the graph has a cycle"),
        (error(&[node("Concat", "x x", "y", &[A::I("axis", 2)])], &[]), "axis 2 and its operand 2 dimensions"),
        (
            error(&[node("Concat", "x x", "y", &[A::S("axis", "a")])], &[]),
            "attribute axis of Concat has to be a whole number",
        ),
        (error(&[node("Relu", "x", "y z", &[])], &[]), "gives 1 results and the node wants 2"),
        (error(&[node("NonZero", "x", "y", &[])], &[]), "the size of NonZero's result depends on the input"),
        (error(&[node("StringNormalizer", "x", "y", &[])], &[]), "works with text"),
        (error(&[node("SequenceEmpty", "", "y", &[])], &[]), "an array is wanted"),
        (error(&[node_of("com.microsoft.nchwc", "Conv", "x x", "y", &[])], &[]), "ORT_ENABLE_EXTENDED"),
        (error(&[node("Reshape", "x s", "y", &[])], &[ints("s", &[1], &[7])]), "f32[2,3]"),
        (error(&[node("MatMul", "x w", "y", &[])], &[floats("w", &[2, 2], &[0.0; 4])]), "cannot be multiplied"),
        (error(&[node("Relu", "x", "y", &[])], &[floats("w", &[4], &[0.0; 2])]), "needs 16 bytes and 8 are there"),
        (error(&[node("Relu", "x", "y", &[])], &[floats("w", &[-4], &[0.0; 2])]), "negative sizes [-4]"),
    ];
    for (given, wanted) in &all {
        assert!(given.contains(wanted), "{given:?} does not say {wanted:?}");
    }
}

#[test]
fn whole_numbers_that_an_element_does_not_hold_are_refused() {
    // ONNX's number of the element type, and the content of the field of 32-bit numbers for its only element.
    let read = |element: i64, number: i64| {
        let array = [num(1, 1), num(2, element), msg(8, "w"), num(5, number)].concat();
        read(&file(&graph(&[node("Relu", "x", "y", &[])], &[array], &[info("x", 1, &[2, 3])], &["y"]), 17))
    };
    let (half, unsigned, signed, pairs) = (10, 2, 3, 22);
    for (element, number) in [(half, 0xffff), (unsigned, 255), (signed, -128), (signed, 255), (pairs, 0xf7)] {
        assert!(read(element, number).is_ok(), "{number} of type {element}");
    }
    for (element, number) in [(half, 0x1_0000), (unsigned, 256), (signed, -129), (pairs, 0x1_07)] {
        let message = read(element, number).unwrap_err().to_string();
        assert!(message.contains(&format!("{number} is not a number of ")), "{message}");
    }
}

#[test]
fn inputs_of_no_size_are_refused() {
    let with = |input: Vec<u8>| {
        read(&file(&graph(&[node("Relu", "x", "y", &[])], &[], &[input], &["y"]), 17)).unwrap_err().to_string()
    };
    assert!(with(info("x", 1, &[1 << 40, 1 << 40])).contains("beyond 64 bits"));
    assert!(with(info("x", 1, &[-2])).contains("the negative size -2"));
    assert!(with(info("x", 8, &[2])).contains("not an array of numbers"));
    assert!(with(msg(1, "x")).contains("not an array of numbers"));
}

#[test]
fn versions_and_emptiness_are_named() {
    let nodes = graph(&[node("Relu", "x", "y", &[])], &[], &[info("x", 1, &[2])], &["y"]);
    assert!(
        read(&file(&nodes, 99))
            .unwrap_err()
            .to_string()
            .contains("operators of version 99; versions 5 to 26 are known")
    );
    assert!(read(&[]).unwrap_err().to_string().contains("no graph of ONNX"));
    assert!(read(&[num(1, 9), msg(7, [])].concat()).unwrap_err().to_string().contains("no outputs"));
}

#[test]
fn long_names_are_cut_in_messages() {
    let long = "n".repeat(1 << 20);
    let message = error(&[node("Relu", &long, "y", &[])], &[]);
    assert!(message.len() < 1000 && message.contains("(1048576 bytes)"), "{} bytes", message.len());
}

#[test]
fn nested_graphs_have_an_end() {
    let mut inner = graph(&[node("Identity", "x", "r", &[])], &[], &[], &["r"]);
    for _ in 0..200 {
        inner = graph(&[node("If", "f", "r", &[A::G("then_branch", inner.clone())])], &[], &[], &["r"]);
    }
    let message = error(&[node("If", "f", "y", &[A::G("then_branch", inner)])], &[]);
    assert!(message.contains("more than 16 deep"), "{message}");
}

#[test]
fn a_hundred_thousand_nodes_are_read() {
    let count = 100_000;
    let name = |n: usize| if n == count { "y".to_owned() } else { format!("v{n}") };
    let mut nodes = vec![node("Relu", "x", "v1", &[])];
    nodes.extend((1..count).map(|n| node("Relu", &name(n), &name(n + 1), &[])));
    let made = file(&graph(&nodes, &[], &[info("x", 1, &[2])], &["y"]), 17);
    assert_eq!(read(&made).unwrap().inspection.ops["Relu"], count as u64);
}

#[test]
fn what_does_not_fit_a_guessed_result_is_the_fault_of_the_unknown_operator() {
    let nodes = [node("Odd", "w x", "z", &[]), node("Add", "z x", "y", &[])];
    let given = error(&nodes, &[floats("w", &[5, 7], &[0.0; 35])]);
    assert!(given.starts_with("Odd z: the operator Odd is not known, and the file does not give the type"), "{given}");
}
