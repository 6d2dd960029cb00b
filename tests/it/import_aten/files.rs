//! Exported programs in unusual files: constants that JSON cannot express, very many nodes, long names, packed archives.

use neuronscope::program::eval::evaluate;
use neuronscope::program::{ImportOptions, Numbers};
use neuronscope::readers::read_model;
use serde_json::{Value as Json, json};

use super::{Tensor, archive, count, f, file, float, import, meta, value, x};

#[test]
fn bare_infinities_of_python_are_read() {
    let input = f(&[2], &[1.0, 2.0]);
    let mask: Tensor = (vec![2], vec![1.0, 0.0], 12);
    let want = f(&[2], &[-7.0, 2.0]);
    let arguments = json!([["self", x(0)], ["mask", x(1)], ["value", float(-7.0)]]);
    let bytes = file(&[input.clone(), mask.clone()], &[("masked_fill.Scalar", arguments, vec![("y", &want)])]);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let at = text.find("\"as_float\":-7.0").unwrap();
    assert!(at > 0);
    let start = bytes.windows(4).position(|w| w == b"-7.0").unwrap();
    // The archive's sizes change with the text: only the JSON is taken.
    let begin = bytes.iter().position(|&b| b == b'{').unwrap();
    let end = bytes.windows(4).rposition(|w| w == b"PK\x01\x02").unwrap();
    let json = [&bytes[begin..start], b"-Infinity", &bytes[start + 4..end]].concat();
    let bytes = archive(&[("m/models/model.json", &json)]);
    let imported = import(&bytes);
    let given = evaluate(&imported.program, vec![value(&input), value(&mask)], 1000).unwrap().outputs;
    assert_eq!(given[0].numbers, Numbers::Real(vec![f64::NEG_INFINITY, 2.0]));
}

#[test]
fn a_complex_scalar_is_the_reason_why_a_known_operator_is_not_read() {
    let input = count(&[2]);
    let imaginary = json!({"as_complex": {"real": 0.0, "imag": 1.0}});
    let arguments = json!([["self", x(0)], ["other", imaginary]]);
    let given = import(&file(std::slice::from_ref(&input), &[("mul.Tensor", arguments, vec![("y", &input)])]));
    let [unsupported] = given.inspection.unsupported.as_slice() else { panic!("{:?}", given.inspection) };
    assert_eq!(
        (unsupported.op.as_str(), unsupported.why.as_str()),
        ("aten::mul", "its argument other is a complex number")
    );
}

#[test]
fn large_graphs_and_long_names_are_read_within_bounds() {
    let input = count(&[2]);
    let kind = meta(&[2], 7);
    let (mut nodes, mut values) = (Vec::new(), vec![format!("\"x0\":{kind}")]);
    let mut before = "x0".to_owned();
    for at in 0..100_000 {
        let (from, to) =
            (format!(r#"{{"as_tensor":{{"name":"{before}"}}}}"#), format!(r#"{{"as_tensor":{{"name":"v{at}"}}}}"#));
        nodes.push(format!(
            r#"{{"target":"torch.ops.aten.relu_.default","inputs":[{{"name":"self","arg":{from}}}],"outputs":[{to}],"metadata":{{}}}}"#
        ));
        values.push(format!("\"v{at}\":{kind}"));
        before = format!("v{at}");
    }
    let (nodes, values) = (nodes.join(","), values.join(","));
    let (first, last) = (r#"{"as_tensor":{"name":"x0"}}"#, format!(r#"{{"as_tensor":{{"name":"{before}"}}}}"#));
    let text = format!(
        r#"{{"graph_module":{{"graph":{{"inputs":[{first}],"outputs":[{last}],"nodes":[{nodes}],"tensor_values":{{{values}}}}},
        "signature":{{"input_specs":[{{"user_input":{{"arg":{first}}}}}],"output_specs":[{{"user_output":{{"arg":{last}}}}}]}}}},
        "schema_version":{{"major":8,"minor":14}}}}"#
    );
    let imported = import(&archive(&[("m/models/model.json", text.as_bytes())]));
    assert_eq!(imported.inspection.ops["torch.ops.aten.relu_.default"], 100_000);
    let long = "n".repeat(1 << 20);
    let nodes = [("nosuch.default", json!([["self", x(0)]]), vec![(long.as_str(), &input)])];
    let imported = import(&file(std::slice::from_ref(&input), &nodes));
    assert!(imported.inspection.unsupported[0].first.len() <= 200);
}

#[test]
fn archives_packed_again_are_read_and_bombs_are_not() {
    let input = count(&[2]);
    let plain = file(std::slice::from_ref(&input), &[("relu.default", json!([["self", x(0)]]), vec![("y", &input)])]);
    let deflated = |content: &[u8], claimed: u32| {
        let packed = miniz_oxide::deflate::compress_to_vec(content, 6);
        let mut bytes = archive(&[("m/models/model.json", &packed)]);
        for (at, from) in [(0, b"PK\x03\x04"), (6, b"PK\x01\x02")] {
            let header = bytes.windows(4).rposition(|w| w == from).unwrap() + usize::from(at == 6) * 2;
            bytes[header + 8..header + 10].copy_from_slice(&[8, 0]);
            bytes[header + 22..header + 26].copy_from_slice(&claimed.to_le_bytes());
        }
        bytes
    };
    let begin = plain.iter().position(|&b| b == b'{').unwrap();
    let end = plain.windows(4).rposition(|w| w == b"PK\x01\x02").unwrap();
    let json = &plain[begin..end];
    assert_eq!(import(&deflated(json, json.len() as u32)).inspection.ops.len(), 1);
    // Blanks said to be four gigabytes, or a hundred bytes.
    let bomb = vec![b' '; 1 << 20];
    for claimed in [u32::MAX - 1, 100] {
        let error = read_model("bomb.pt2", &deflated(&bomb, claimed), &ImportOptions::default()).unwrap_err();
        assert!(error.to_string().contains("bytes"), "{error}");
    }
}

#[test]
fn an_operator_with_effects_is_opaque_and_its_tokens_are_left_out() {
    let tensor = |name: &str| json!({"as_tensor": {"name": name}});
    let unnamed = |arg: Json| json!({"name": "", "arg": arg});
    let nodes = json!([
        {"target": "torch.ops.higher_order.with_effects",
         "inputs": [unnamed(tensor("token")), unnamed(json!({"as_operator": "torch.ops.mine.log.default"})), unnamed(tensor("x"))],
         "outputs": [tensor("getitem"), tensor("y")], "metadata": {}},
        {"target": "torch.ops.higher_order.with_effects",
         "inputs": [unnamed(tensor("getitem")), unnamed(json!({"as_operator": "torch.ops.aten._print.default"})), unnamed(json!({"as_string": "hi"}))],
         "outputs": [tensor("getitem_1"), json!({"as_none": true})], "metadata": {}},
        {"target": "torch.ops.aten.relu.default", "inputs": [{"name": "self", "arg": tensor("y")}], "outputs": [tensor("z")], "metadata": {}},
    ]);
    let kind = json!({"dtype": 7, "sizes": [{"as_int": 2}, {"as_int": 3}], "strides": [], "requires_grad": false, "layout": 7});
    let graph = json!({"inputs": [tensor("token"), tensor("x")], "outputs": [tensor("getitem_1"), tensor("z")], "nodes": nodes,
        "tensor_values": {"x": kind, "y": kind, "z": kind}, "sym_int_values": {}});
    let signature = json!({
        "input_specs": [{"token": {"arg": {"name": "token"}}}, {"user_input": {"arg": tensor("x")}}],
        "output_specs": [{"token": {"arg": {"name": "getitem_1"}}}, {"user_output": {"arg": tensor("z")}}]});
    let program = json!({"graph_module": {"graph": graph, "signature": signature}, "range_constraints": {},
        "schema_version": {"major": 8, "minor": 14}, "torch_version": "2.9.1"});
    let given = import(&archive(&[("m/models/model.json", program.to_string().as_bytes())])).inspection;
    let unsupported: Vec<(&str, u64)> = given.unsupported.iter().map(|u| (u.op.as_str(), u.count)).collect();
    assert_eq!(unsupported, [("mine::log", 1), ("aten::_print", 1)]);
    let shapes = |all: &[neuronscope::program::TensorInfo]| all.iter().map(|t| t.shape.clone()).collect::<Vec<_>>();
    assert_eq!((shapes(&given.inputs), shapes(&given.outputs)), (vec![vec![2, 3]], vec![vec![2, 3]]));
}
