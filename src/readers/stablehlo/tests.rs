//! Constructs of StableHLO text, and the errors for wrong text.

use super::*;
use ns_program::{Op, Program, TripCounts};

fn read(text: &str) -> Result<ImportedModel, ImportError> {
    read_stablehlo(text, &ImportOptions::default())
}

/// A module of one function with one argument.
fn main(body: &str) -> String {
    format!("module @m {{\n  func.func public @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {{\n{body}\n  }}\n}}\n")
}

fn program(body: &str) -> Program {
    read(&main(body)).unwrap_or_else(|e| panic!("{e}")).program
}

fn error(body: &str) -> String {
    read(&main(body)).map(|_| ()).unwrap_err().to_string()
}

#[test]
fn loops_carry_what_they_read_around_them() {
    let program = program(
        "    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<7> : tensor<i32>
    %0 = stablehlo.tanh %arg0 : tensor<2x3xf32>
    %1:2 = stablehlo.while(%iterArg = %c, %iterArg_1 = %arg0) : tensor<i32>, tensor<2x3xf32>
     cond {
      %2 = stablehlo.compare LT, %iterArg, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %c_2 = stablehlo.constant dense<3> : tensor<i32>
      %2 = stablehlo.add %iterArg, %c_2 : tensor<i32>
      %3 = stablehlo.add %iterArg_1, %0 : tensor<2x3xf32>
      stablehlo.return %2, %3 : tensor<i32>, tensor<2x3xf32>
    }
    return %1#1 : tensor<2x3xf32>",
    );
    let entry = &program.computations[program.entry];
    let found = entry.instructions.iter().find(|i| i.op == Op::While).unwrap();
    assert_eq!(found.ty.to_string(), "(s32[], f32[2,3], s32[], f32[2,3])");
    assert_eq!(TripCounts::of(&program).count(program.entry, found), Some(3));
}

#[test]
fn a_choice_by_data_is_refused_and_a_dead_one_is_left_out() {
    let choice = |flag: &str, result: &str| {
        format!(
            "    %p = {flag}
    %0 = \"stablehlo.if\"(%p) ({{
      %1 = stablehlo.tanh %arg0 : tensor<2x3xf32>
      stablehlo.return %1 : tensor<2x3xf32>
    }}, {{
      stablehlo.return %arg0 : tensor<2x3xf32>
    }}) : (tensor<i1>) -> tensor<2x3xf32>
    return {result} : tensor<2x3xf32>"
        )
    };
    let data = "stablehlo.custom_call @flag(%arg0) : (tensor<2x3xf32>) -> tensor<i1>";
    assert!(error(&choice(data, "%0")).starts_with("0: a branch that is chosen by data; "));
    assert_eq!(program(&choice(data, "%arg0")).computations.len(), 1);
    let known = |flag: &str| choice(&format!("stablehlo.constant dense<{flag}> : tensor<i1>"), "%0");
    for (flag, branch) in [("true", 0), ("false", 1)] {
        let program = program(&known(flag));
        let found = program.computations[program.entry].instructions.iter().find(|i| i.op == Op::Conditional);
        assert_eq!(TripCounts::of(&program).branch(program.entry, found.unwrap()), Some(branch));
    }
}

#[test]
fn a_module_in_the_generic_form_is_read() {
    let module = |head: &str, function: &str| {
        format!(
            "{head} ({{
  \"func.func\"() <{{function_type = (tensor<2x3xf32>) -> tensor<3x2xf32>, sym_name = \"{function}\"}}> ({{
  ^bb0(%arg0: tensor<2x3xf32>):
    %0 = \"stablehlo.transpose\"(%arg0) {{permutation = dense<[1, 0]> : tensor<2xi64>}} : (tensor<2x3xf32>) -> tensor<3x2xf32>
    \"func.return\"(%0) : (tensor<3x2xf32>) -> ()
  }}) : () -> ()
}}) {{mhlo.num_partitions = 1 : i32}} : () -> ()
"
        )
    };
    for head in ["\"builtin.module\"()", "\"builtin.module\"() <{sym_name = \"jit_f\"}>"] {
        let imported = read(&module(head, "main")).unwrap();
        assert_eq!(imported.program.result_type().to_string(), "f32[3,2]");
        assert_eq!((imported.inspection.producer.as_str(), imported.inspection.inputs.len()), ("jax", 1));
    }
    let other = read(&module("\"tosa.module\"()", "main")).unwrap_err().to_string();
    assert!(
        other.starts_with("line 1, column 1: \"tosa.module\" where a function of the module should be; "),
        "{other}"
    );
}

#[test]
fn reducers_with_several_results_and_captured_constants() {
    let body = |inner: &str| {
        format!(
            "    %c = stablehlo.constant dense<1.5> : tensor<f32>
    %i = stablehlo.iota dim = 1 : tensor<2x3xi32>
    %z = stablehlo.constant dense<0> : tensor<i32>
    %0:2 = stablehlo.reduce(%arg0 init: %c), (%i init: %z) across dimensions = [1] : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
     reducer(%a: tensor<f32>, %b: tensor<f32>) (%j: tensor<i32>, %k: tensor<i32>)  {{
      %1 = stablehlo.add %a, {inner} : tensor<f32>
      %2 = stablehlo.maximum %j, %k : tensor<i32>
      stablehlo.return %1, %2 : tensor<f32>, tensor<i32>
    }}
    %3 = stablehlo.broadcast_in_dim %0#0, dims = [0] : (tensor<2xf32>) -> tensor<2x3xf32>
    return %3 : tensor<2x3xf32>"
        )
    };
    let reduced = program(&body("%c"));
    let parameters: Vec<String> = reduced.computations.as_slice()[0]
        .instructions
        .iter()
        .filter(|i| matches!(i.op, Op::Parameter(_)))
        .map(|i| i.ty.to_string())
        .collect();
    assert_eq!(parameters, ["f32[]", "s32[]", "f32[]", "s32[]"]);
    assert!(error(&body("%arg0")).contains("the region reads %arg0 around it"));
}

#[test]
fn generic_forms_and_locations() {
    let text = "#loc1 = loc(\"jit(f)/MLP/layer1/add\"(#loc2))
module @jit_f {
  sdy.mesh @mesh = <[\"d\"=2]>
  func.func @main(%arg0: tensor<2x3xf32> loc(\"params['a']['kernel']\"), %arg1: tensor<2x3xf32> loc(\"xs[0]\")) -> tensor<2x3xf32> {
    %0 = \"stablehlo.add\"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32> loc(#loc1)
    %1 = \"stablehlo.compare\"(%0, %arg1) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
    %2 = \"stablehlo.select\"(%1, %0, %arg1) : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %3 = sdy.sharding_constraint %2 <@mesh, [{}, {}]> : tensor<2x3xf32>
    %4 = stablehlo.custom_call @Sharding(%3) {mhlo.sharding = \"{replicated}\"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return %4 : tensor<2x3xf32> loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc = loc(unknown)
#loc2 = loc(\"/a/b.py\":3:4)
";
    let ImportedModel { inspection, program } = read(text).unwrap();
    assert_eq!(inspection.modules, ["MLP", "MLP/layer1"]);
    assert_eq!((inspection.parameters, inspection.inputs[0].name.as_str()), (6, "arg1"));
    assert_eq!(program.parameters[0].name, "a.kernel");
    assert_eq!((inspection.ops["stablehlo.compare"], inspection.ops["sdy.mesh"]), (1, 1));
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    let cases = [
        ("    return %9 : tensor<2x3xf32>", "line 3, column 12: the value %9 is not defined before it is read"),
        (
            "    %0 = stablehlo.tanh %arg0 : tensor<2x4xf32>\n    return %0 : tensor<2x4xf32>",
            "0: its operands give f32[2,3] and the file declares f32[2,4]",
        ),
        (
            "    %0 = call @f(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>\n    return %0 : tensor<2x3xf32>",
            "a function \"f\" is called and not defined",
        ),
        (
            "    %0 = call @main(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>\n    return %0 : tensor<2x3xf32>",
            "the function \"main\" calls itself",
        ),
        (
            "    %0 = stablehlo.constant dense<[1, 2]> : tensor<3xi32>\n    return %0 : tensor<3xi32>",
            "a constant of s32[3] holds 2 numbers",
        ),
        ("    %0 = stablehlo.tanh %arg0", "the text ends in the middle"),
        ("    %0 = stablehlo.tanh %arg0 : tensor<2x3xf32>", "does not return"),
        (
            "    %0 = stablehlo.fft %arg0, type = RFFT, length = [3] : (tensor<2x3xf32>) -> tensor<2x2xcomplex<f32>>\n    return %0 : tensor<2x2xcomplex<f32>>",
            "a Fourier transform",
        ),
    ];
    for (body, expected) in cases {
        let found = if expected.contains("middle") {
            read(&main(body)[..100]).map(|_| ()).unwrap_err().to_string()
        } else {
            error(body)
        };
        assert!(found.contains(expected), "{found}\nis to contain\n{expected}");
    }
}

#[test]
fn an_operation_that_is_not_known_is_listed() {
    let body = "    %0 = \"mine.fancy\"(%arg0) {a = 1 : i32} : (tensor<2x3xf32>) -> tensor<2x3xf32>\n    return %0 : tensor<2x3xf32>";
    let inspection = read(&main(body)).unwrap().inspection;
    assert_eq!((inspection.unsupported[0].op.as_str(), inspection.verdict), ("mine.fancy", Verdict::Partial));
}

#[test]
fn an_operation_of_another_dialect_says_which() {
    let body = "    %0 = tosa.tanh %arg0 : (tensor<2x3xf32>) -> tensor<2x3xf32>\n    return %0 : tensor<2x3xf32>";
    let unsupported = read(&main(body)).unwrap().inspection.unsupported;
    assert_eq!(unsupported[0].why, "the dialect tosa is not read; export StableHLO");
}

#[test]
fn a_module_for_several_devices_is_refused_for_that_reason() {
    let body = "    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{\"x\"}, {}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={\"x\"} (%arg1: tensor<1x3xf32>) {
      %1 = stablehlo.tanh %arg1 : tensor<1x3xf32>
      sdy.return %1 : tensor<1x3xf32>
    } : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>";
    assert_eq!(
        error(body),
        "line 3, column 10: sdy.manual_computation: the module is divided over several devices; export the model for one device, without a mesh"
    );
}

#[test]
fn a_size_that_an_array_has_already_is_no_operation() {
    let unknown = |size: u64| {
        let body = format!(
            "    %c = stablehlo.constant dense<{size}> : tensor<i32>
    %0 = stablehlo.set_dimension_size %arg0, %c, dim = 1 : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>"
        );
        read(&main(&body)).unwrap_or_else(|e| panic!("{e}")).inspection.unsupported.len()
    };
    assert_eq!((unknown(3), unknown(2)), (0, 1));
}

#[test]
fn an_open_batch_is_asked_for_and_shapes_fold() {
    let text = "module @jit_f attributes {jax.uses_shape_polymorphism = true} {
  func.func public @main(%arg0: tensor<4xf32>, %arg1: tensor<?x4xf32>) -> tensor<?x8xf32> {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.get_dimension_size %arg1, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
    %1 = stablehlo.compare GE, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%1, %0) {has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %2 = call @inner(%0, %arg0, %arg1) : (tensor<i32>, tensor<4xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
    return %2 : tensor<?x8xf32>
  }
  func.func private @inner(%arg0: tensor<i32> {jax.global_constant = \"b\"}, %arg1: tensor<4xf32>, %arg2: tensor<?x4xf32>) -> tensor<?x8xf32> {
    %c = stablehlo.constant dense<4> : tensor<1xi32>
    %0 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %1 = stablehlo.concatenate %0, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %2 = stablehlo.dynamic_broadcast_in_dim %arg1, %1, dims = [1] : (tensor<4xf32>, tensor<2xi32>) -> tensor<?x4xf32>
    %3 = stablehlo.add %arg2, %2 : tensor<?x4xf32>
    %4 = stablehlo.concatenate %3, %2, dim = 1 : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
    return %4 : tensor<?x8xf32>
  }
}";
    let mut asked = ImportOptions::default();
    asked.dims.insert("b".to_owned(), 3);
    for (options, size) in [(ImportOptions::default(), 1), (asked, 3)] {
        let inspection = read_stablehlo(text, &options).unwrap_or_else(|e| panic!("{e}")).inspection;
        assert_eq!(inspection.outputs[0].shape, [size, 8]);
        assert_eq!((inspection.open_dimensions[0].name.as_str(), inspection.open_dimensions[0].used), ("b", size));
        assert_eq!((inspection.inputs[0].shape[0], inspection.inputs[0].open[&0].as_str()), (size, "b"));
        assert_eq!((inspection.verdict, inspection.notes.len()), (Verdict::Partial, if size == 1 { 2 } else { 1 }));
    }
}
