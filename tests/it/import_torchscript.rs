//! Files of `torch.jit.save`, compared with known facts, and source that is written here: what runs, what is refused and where.

use std::path::{Path, PathBuf};

use neuronscope::container::ByteSource;
use neuronscope::program::{ImportOptions, ImportedModel, Numbers, Verdict};
use neuronscope::readers::read_model;

use super::import_aten::archive;
use super::import_pt2::check_all;
use super::model_cases::{fixtures, unpacked};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures/models/torchscript")
}

fn read(bytes: &dyn ByteSource, dims: &[(&str, u64)]) -> Result<ImportedModel, String> {
    let dims = dims.iter().map(|&(name, size)| (name.to_owned(), size)).collect();
    read_model("file", bytes, &ImportOptions { dims, display_only: false }).map_err(|e| e.to_string())
}

/// A file whose model has this method `forward` of one tensor, and nothing else.
fn file(body: &str) -> Vec<u8> {
    let lines: String = body.lines().map(|line| format!("    {line}\n")).collect();
    let source = format!(
        "class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n  training : bool\n  def forward(self: __torch__.m.M,\n    x: Tensor) -> Tensor:\n{lines}"
    );
    let data: &[u8] = b"\x80\x02c__torch__.m\nM\nq\x00)\x81}(X\x08\x00\x00\x00training\x89ub.";
    archive(&[("m/data.pkl", data), ("m/code/__torch__/m.py", source.as_bytes()), ("m/constants.pkl", b"\x80\x02).")])
}

/// The model of a method, called with a tensor of 2 x 3 x 4.
fn model(body: &str) -> Result<ImportedModel, String> {
    read(&file(body), &[("x.0", 2), ("x.1", 3), ("x.2", 4)])
}

/// Type of the result of a method.
fn result(body: &str) -> String {
    let imported = model(body).unwrap_or_else(|e| panic!("{body}: {e}"));
    assert_eq!(imported.inspection.verdict, Verdict::Import, "{body}: {:?}", imported.inspection.notes);
    let types: Vec<String> = imported.inspection.outputs.iter().map(|o| format!("{}{:?}", o.dtype, o.shape)).collect();
    types.join(" ")
}

#[test]
fn the_files_of_the_tests_are_as_known() {
    let cases = fixtures(&folder());
    assert_eq!(cases.len(), 10);
    check_all(&cases);
}

#[test]
fn a_loop_that_depends_on_an_input_is_refused_by_name_and_line() {
    let bytes = unpacked(&folder().join("scripted-loop--torch2.9.1-ts-script.pt.gz"));
    let error = read(&bytes, &[]).unwrap_err();
    for part in ["code/__torch__.py, line 11", "prim::Loop", "the input n", "torch.export.save"] {
        assert!(error.contains(part), "{error}");
    }
    // With a known number of iterations, only the branch after the loop remains.
    let error = read(&bytes, &[("n", 3)]).unwrap_err();
    assert!(error.contains("line 14") && error.contains("prim::If"), "{error}");
}

#[test]
fn sizes_missing_in_a_frozen_file_come_from_its_first_operation_and_may_be_set() {
    let bytes = unpacked(&folder().join("tiny-cnn--torch2.9.1-ts-frozen.pt.gz"));
    let open = read(&bytes, &[]).unwrap().inspection;
    assert_eq!((open.verdict, open.inputs[0].shape.as_slice()), (Verdict::Partial, [1, 3, 224, 224].as_slice()));
    assert!(open.notes.iter().any(|n| n.contains("--dim x.2=N")), "{:?}", open.notes);
    assert_eq!(open.parameters, 986);
    let asked = read(&bytes, &[("x.0", 8)]).unwrap().inspection;
    assert_eq!((asked.verdict, asked.outputs[0].shape.as_slice()), (Verdict::Partial, [8, 10].as_slice()));
    let all = [("x.0", 2), ("x.1", 3), ("x.2", 32), ("x.3", 32)];
    assert_eq!(read(&bytes, &all).unwrap().inspection.verdict, Verdict::Import);
    assert!(read(&bytes, &[("y.0", 2)]).unwrap_err().contains("y.0"));
}

#[test]
fn sizes_of_a_trace_may_be_asked_for() {
    let bytes = unpacked(&folder().join("tiny-cnn--torch2.9.1-ts.pt.gz"));
    let given = read(&bytes, &[("x.0", 8)]).unwrap().inspection;
    assert_eq!((given.verdict, given.outputs[0].shape.as_slice()), (Verdict::Import, [8, 10].as_slice()));
    let error = read(&bytes, &[("batch", 8)]).unwrap_err();
    assert!(error.contains("batch") && error.contains("x.0, x.1, x.2, x.3"), "{error}");
}

#[test]
fn modules_have_their_paths() {
    let bytes = unpacked(&folder().join("tiny-cnn--torch2.9.1-ts.pt.gz"));
    let modules = read(&bytes, &[]).unwrap().inspection.modules;
    assert!(modules.iter().any(|m| m == "TinyCNN[model]/Sequential[features]/Conv2d[features.0]"), "{modules:?}");
}

#[test]
fn results_have_the_types_that_torch_gives() {
    let cases = [
        ("return torch.add(x, 1)", "f32[2, 3, 4]"),
        ("return torch.view(x, [-1, 4])", "f32[6, 4]"),
        ("return torch.reshape(x, [int(torch.size(x, 0)), -1])", "f32[2, 12]"),
        ("return torch.flatten(x, 1)", "f32[2, 12]"),
        ("return torch.unsqueeze(torch.select(x, 1, -1), 0)", "f32[1, 2, 4]"),
        ("return torch.squeeze(torch.slice(x, 0, 1), 0)", "f32[3, 4]"),
        ("return torch.expand(torch.unsqueeze(x, 1), [-1, 5, -1, -1])", "f32[2, 5, 3, 4]"),
        ("return torch.permute(x, [2, 0, 1])", "f32[4, 2, 3]"),
        ("return torch.cat([x, x], -1)", "f32[2, 3, 8]"),
        ("return torch.stack([x, x], 1)", "f32[2, 2, 3, 4]"),
        ("a, b, = torch.split(x, [1, 3], 2)\nreturn b", "f32[2, 3, 3]"),
        ("a, b, c, = torch.chunk(x, 3, 1)\nreturn torch.mul(a, c)", "f32[2, 1, 4]"),
        ("a, b, = torch.unbind(x)\nreturn a", "f32[3, 4]"),
        ("return torch.repeat(x, [2, 1, 1, 3])", "f32[2, 2, 3, 12]"),
        ("return torch.eq(x, 0)", "pred[2, 3, 4]"),
        ("return torch.argmax(x, 2, True)", "s64[2, 3, 1]"),
        ("a, b = torch.max(x, 1)\nreturn (a, b)", "f32[2, 4] s64[2, 4]"),
        ("a, b = torch.topk(x, 2)\nreturn b", "s64[2, 3, 2]"),
        ("return torch.sum(torch.gt(x, 0), [0, 1])", "s64[4]"),
        ("return torch.mean(x, [-1], True)", "f32[2, 3, 1]"),
        ("return torch.to(x, 4)", "s64[2, 3, 4]"),
        ("return torch.div(torch.to(x, 3), 2)", "f32[2, 3, 4]"),
        ("return torch.floor_divide(torch.to(x, 3), 2)", "s32[2, 3, 4]"),
        (
            "return torch.arange(0, torch.size(x, 2), dtype=None, layout=None, device=torch.device(\"cpu\"), pin_memory=False)",
            "s64[4]",
        ),
        ("return torch.full([2, 2], 3., dtype=6, layout=None, device=None, pin_memory=False)", "f32[2, 2]"),
        ("return torch.zeros_like(x, dtype=11)", "pred[2, 3, 4]"),
        ("return torch.where(torch.gt(x, 0), x, 0.)", "f32[2, 3, 4]"),
        ("return torch.adaptive_avg_pool1d(x, [2])", "f32[2, 3, 2]"),
        ("return torch.upsample_nearest1d(x, None, [2.])", "f32[2, 3, 8]"),
        ("return torch.upsample_linear1d(x, [6], False, None)", "f32[2, 3, 6]"),
        ("return torch.softmax(x, -1)", "f32[2, 3, 4]"),
        ("return torch.cumsum(torch.to(x, 3), 1)", "s64[2, 3, 4]"),
        ("return torch.index_select(x, 2, torch.arange(2, dtype=4))", "f32[2, 3, 2]"),
        ("return torch.matmul(x, torch.transpose(x, 1, 2))", "f32[2, 3, 3]"),
        ("return torch.einsum(\"bij,bkj->bik\", [x, x])", "f32[2, 3, 3]"),
        ("return torch.pixel_shuffle(torch.view(x, [1, 4, 3, 2]), 2)", "f32[1, 1, 6, 4]"),
        ("return torch.std(x, [1], True, False)", "f32[2, 4]"),
        ("return torch.norm(x, 2, [2], True)", "f32[2, 3, 1]"),
        ("return torch.clamp(x, None, 1.)", "f32[2, 3, 4]"),
        ("return {\"a\": x, \"b\": torch.exp(x)}", "f32[2, 3, 4] f32[2, 3, 4]"),
    ];
    for (body, want) in cases {
        assert_eq!(result(body), want, "{body}");
    }
}

#[test]
fn loops_and_branches_that_numbers_decide_are_run() {
    let body = "y = x\nn = torch.len(torch.size(x))\nfor i in range(n):\n  if torch.eq(i, 1):\n    y = torch.relu(y)\n  elif i > 1 and not False:\n    y = torch.tanh(y)\n  else:\n    pass\nreturn y";
    let given = model(body).unwrap().inspection;
    assert_eq!((given.ops.get("aten::relu"), given.ops.get("aten::tanh")), (Some(&1), Some(&1)));
}

#[test]
fn writes_in_place_change_what_looks_at_the_same_memory() {
    let body = "y = torch.zeros_like(x)\nrow = torch.select(y, 1, 0)\n_0 = torch.copy_(row, torch.select(x, 1, 2), False)\nreturn y";
    assert_eq!(result(body), "f32[2, 3, 4]");
    let imported = model(body).unwrap();
    let value = neuronscope::program::Value {
        ty: imported.program.parameters[0].ty.clone(),
        numbers: Numbers::Real((0..24).map(f64::from).collect()),
    };
    let given = neuronscope::program::eval::evaluate(&imported.program, vec![value], 10_000).unwrap().outputs;
    let Numbers::Real(numbers) = &given[0].numbers else { panic!("{given:?}") };
    assert_eq!(numbers[..5], [8.0, 9.0, 10.0, 11.0, 0.0]);
    assert_eq!(numbers[12..16], [20.0, 21.0, 22.0, 23.0]);
}

#[test]
fn code_without_a_fixed_program_is_refused_with_its_line() {
    let cases = [
        ("return torch.nonzero_static", 7, "the model gives"),
        ("while True:\n  x = torch.relu(x)\nreturn x", 7, "while loop"),
        ("if torch.gt(torch.sum(x), 0):\n  x = torch.relu(x)\nreturn x", 7, "prim::If"),
        ("for i in range(int(torch.sum(x))):\n  x = torch.relu(x)\nreturn x", 7, "computed from data"),
        ("y = x\nraise Exception(\"no\")\nreturn y", 8, "`raise`"),
        ("return (self.missing).forward(x)", 7, "missing"),
        ("return unknown(x)", 7, "unknown"),
        ("return y", 7, "the name y"),
        ("return __torch__.m.helper(x)", 7, "helper"),
        ("return ops.neuron.forward_v2([x], x)", 7, "NEFF"),
        ("for i in range(1000000000000):\n  x = torch.relu(x)\nreturn x", 7, "turns"),
        ("for i in range(9999):\n  for j in range(9999):\n    x = x\nreturn x", 9, "longer than its source"),
        ("return (self).forward(x)", 7, "nested more than"),
        ("x = (1,\nreturn x", 8, "is wanted"),
    ];
    for (body, line, what) in cases {
        let error = model(body).map(|_| ()).expect_err(body);
        let has_line = what == "the model gives" || error.contains(&format!("line {line}:"));
        assert!(error.contains(what) && has_line, "{body}: {error}");
    }
}

#[test]
fn an_operator_that_is_not_known_is_opaque_and_listed_with_its_place() {
    let given = model("return torch.relu(ops.my.fancy(x, 2))").unwrap().inspection;
    assert_eq!(given.verdict, Verdict::Partial);
    let [unsupported] = given.unsupported.as_slice() else { panic!("{given:?}") };
    assert_eq!((unsupported.op.as_str(), unsupported.count), ("my::fancy", 1));
    assert!(unsupported.first.contains("m.py, line 7"), "{unsupported:?}");
}

#[test]
fn factors_that_leave_no_size_are_listed_with_the_reason() {
    for (factor, why) in [
        ("-2.", "argument scale_factors of upsample_nearest1d is not a positive number"),
        ("0.", "argument scale_factors of upsample_nearest1d is not a positive number"),
        ("1e400", "argument scale_factors of upsample_nearest1d is not a positive number"),
        ("1e300", "upsample_nearest1d is not possible with sizes [2, 3, 4]"),
    ] {
        let given = model(&format!("return torch.upsample_nearest1d(x, None, [{factor}])")).unwrap().inspection;
        assert_eq!(given.verdict, Verdict::Partial, "{factor}");
        assert!(given.notes.iter().any(|n| n.contains(why)), "{factor}: {:?}", given.notes);
        assert_eq!(given.outputs[0].shape, [2, 3, 4], "{factor}");
    }
    assert_eq!(result("return torch.upsample_nearest1d(x, None, [2.5])"), "f32[2, 3, 10]");
}

#[test]
fn factors_of_matrices_have_their_sizes_and_are_estimates() {
    for (body, types) in [
        ("q, r, = torch.linalg_qr(x)\nreturn (q, r)", "f32[2, 3, 3] f32[2, 3, 4]"),
        ("q, r, = torch.linalg_qr(x, \"complete\")\nreturn (q, r)", "f32[2, 3, 3] f32[2, 3, 4]"),
        (
            "y = torch.transpose(x, 1, 2)\nq, r, = torch.linalg_qr(y, \"complete\")\nreturn (q, r)",
            "f32[2, 4, 4] f32[2, 4, 3]",
        ),
        ("u, s, v, = torch.linalg_svd(x)\nreturn (u, s, v)", "f32[2, 3, 3] f32[2, 3] f32[2, 4, 4]"),
        ("u, s, v, = torch.linalg_svd(x, False)\nreturn (u, s, v)", "f32[2, 3, 3] f32[2, 3] f32[2, 3, 4]"),
        ("u, s, v, = torch.svd(x)\nreturn (u, s, v)", "f32[2, 3, 3] f32[2, 3] f32[2, 4, 3]"),
        ("return torch.linalg_svdvals(x)", "f32[2, 3]"),
        (
            "y = torch.matmul(x, torch.transpose(x, 1, 2))\nl, v, = torch.linalg_eigh(y)\nreturn (l, v)",
            "f32[2, 3] f32[2, 3, 3]",
        ),
        ("y = torch.matmul(x, torch.transpose(x, 1, 2))\nreturn torch.linalg_eigvalsh(y)", "f32[2, 3]"),
    ] {
        let given = model(body).unwrap_or_else(|e| panic!("{body}: {e}")).inspection;
        let found: Vec<String> = given.outputs.iter().map(|o| format!("{}{:?}", o.dtype, o.shape)).collect();
        assert_eq!((found.join(" ").as_str(), given.verdict), (types, Verdict::Partial), "{body}");
        assert_eq!(given.unsupported.len(), 1, "{body}: {:?}", given.unsupported);
    }
}

#[test]
fn places_of_largest_elements_are_results_too() {
    let body = "y, i, = torch.max_pool2d_with_indices(x, [1, 2], [1, 2])\nreturn torch.max_unpool2d(y, i, [3, 4])";
    assert_eq!(result(body), "f32[2, 3, 4]");
}

#[test]
fn a_traced_encoder_layer_has_the_products_of_its_parts() {
    let weight = |sizes: &str| format!("torch.ones([{sizes}])");
    let row = |n: u64| weight(&n.to_string());
    let attention = [weight("12, 4"), row(12), weight("4, 4"), row(4)].join(", ");
    let norms = [row(4), row(4), row(4), row(4)].join(", ");
    let linear = [weight("7, 4"), row(7), weight("4, 7"), row(4)].join(", ");
    let layer =
        format!("torch._transformer_encoder_layer_fwd(x, 4, 2, {attention}, True, False, 1e-05, {norms}, {linear})");
    let alone = format!("torch._native_multi_head_attention(x, x, x, 4, 2, {attention}, None, False)");
    // Two samples of three rows of four: queries, keys, values and results, scores and their sums, and the two linear layers.
    let heads = 2 * (2 * 3 * 4 * 4) * 4 + 2 * (2 * 3 * 3 * 4) * 2;
    let whole = model(&format!("return {layer}")).unwrap().inspection;
    assert_eq!((whole.flops, whole.verdict), (heads + 2 * (2 * 3 * 4 * 7) * 2, Verdict::Import), "{:?}", whole.notes);
    assert_eq!(whole.outputs[0].shape, [2, 3, 4]);
    let part = model(&format!("y, z, = {alone}\nreturn y")).unwrap().inspection;
    assert_eq!((part.flops, part.verdict), (heads, Verdict::Import), "{:?}", part.notes);
}

#[test]
fn an_input_of_unknown_sizes_is_asked_for_by_name() {
    let error = read(&file("return torch.relu(x)"), &[]).unwrap_err();
    assert!(error.contains("its input x") && error.contains("--dim x.0="), "{error}");
}

#[test]
fn damaged_parts_are_named() {
    let whole = file("return torch.relu(x)");
    let data = archive(&[("m/data.pkl", b"\x80\x02c__torch__"), ("m/code/__torch__/m.py", b"")]);
    assert!(read(&data, &[]).unwrap_err().contains("data.pkl"), "{:?}", read(&data, &[]).unwrap_err());
    let missing = archive(&[("m/data.pkl", b"\x80\x02c__torch__.m\nM\n)\x81."), ("m/code/__torch__/other.py", b"")]);
    assert!(read(&missing, &[]).unwrap_err().contains("__torch__.m.M"));
    let binary = archive(&[("m/data.pkl", b"\x80\x02c__torch__.m\nM\n)\x81."), ("m/code/__torch__/m.py", b"\xff\xfe")]);
    assert!(read(&binary, &[]).unwrap_err().contains("UTF-8"));
    assert!(read(&whole, &[("x.0", 1)]).is_ok());
}

#[test]
fn sizes_beyond_all_bounds_do_not_crash() {
    for body in [
        "return torch.zeros([9223372036854775807, 9223372036854775807])",
        "return torch.view(x, [-5, 3])",
        "return torch.repeat(x, [4611686018427387904, 4611686018427387904, 8])",
        "return torch.arange(0, 1e30)",
        "a, b, = torch.split(x, 0)\nreturn a",
        "return torch.unsqueeze(x, 99)",
        "return torch.index_select(x, 7, x)",
        "return torch.expand(x, [1])",
        "return torch.cat([], 0)",
        "return torch.adaptive_avg_pool2d(x, [])",
        "return torch.max_pool2d(x, [0, 0], [0, 0])",
        "return torch.upsample_nearest2d(x, None, [1e300, -1.])",
    ] {
        match model(body) {
            Ok(imported) => {
                let given = &imported.inspection.outputs[0].shape;
                assert!(given.iter().try_fold(1u64, |all, &n| all.checked_mul(n)).is_some(), "{body}: {given:?}");
            }
            Err(error) => assert!(error.len() < 2000, "{error}"),
        }
    }
}

#[test]
fn a_size_that_is_multiplied_in_place_has_its_new_number_everywhere() {
    // The size is 2, and was read as a number before it changed.
    for sizes in ["int(C), before, -1", "int(B), before, -1"] {
        let body = format!(
            "B = ops.prim.NumToTensor(torch.size(x, 0))\nbefore = int(B)\nC = torch.mul_(B, 3)\nreturn torch.view(x, [{sizes}])"
        );
        assert_eq!(result(&body), "f32[6, 2, 2]", "{sizes}");
    }
}
