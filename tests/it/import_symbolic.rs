//! Files of `jax.export` with symbolic sizes, compared with what JAX computes at these sizes: see `fixtures/models/symbolic/README.md`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use neuronscope::program::eval::Casts;
use neuronscope::program::file::{ModelFormat, sniff};
use neuronscope::program::{ImportOptions, ImportedModel, Op, OpenDimension, compare};
use neuronscope::readers::{read_mlir_bytecode, read_stablehlo};
use serde_json::Value;

use super::import_npz;

fn symbolic(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures/models/symbolic").join(name)
}

/// A file and its facts.
fn corpus() -> BTreeMap<String, Value> {
    serde_json::from_slice(&std::fs::read(symbolic("facts.json")).unwrap()).unwrap()
}

fn read(name: &str, dims: &[(&str, u64)]) -> Result<ImportedModel, String> {
    let bytes = std::fs::read(symbolic(name)).unwrap();
    assert_eq!(sniff(&bytes).unwrap(), ModelFormat::MlirBytecode, "{name}");
    let dims = dims.iter().map(|&(name, size)| (name.to_owned(), size)).collect();
    read_mlir_bytecode(&bytes, &ImportOptions { dims, display_only: false }).map_err(|e| e.to_string())
}

fn shapes(list: &Value) -> Vec<Vec<u64>> {
    serde_json::from_value(list.clone()).unwrap()
}

/// Shapes of the arguments that have a symbol in their shape. Of others, their use says whether they are weights.
fn open_inputs(facts: &Value, case: &Value) -> Vec<Vec<u64>> {
    let specification: Vec<String> = serde_json::from_value(facts["specification"].clone()).unwrap();
    let has_symbol = |text: &str| text.chars().any(char::is_alphabetic);
    let inputs = specification.iter().zip(shapes(&case["inputs"]));
    inputs.filter(|(text, _)| has_symbol(text)).map(|(_, shape)| shape).collect()
}

/// What differs from the facts of one choice of sizes.
fn differences(name: &str, facts: &Value, case: &Value) -> Vec<String> {
    let dims: BTreeMap<String, u64> = serde_json::from_value(case["dims"].clone()).unwrap();
    let dims: Vec<(&str, u64)> = dims.iter().map(|(name, &size)| (name.as_str(), size)).collect();
    let imported = match read(name, &dims) {
        Ok(imported) => imported,
        Err(error) => return vec![error],
    };
    let mut out = Vec::new();
    let inspection = &imported.inspection;
    let given = |list: &[neuronscope::program::TensorInfo]| list.iter().map(|t| t.shape.clone()).collect::<Vec<_>>();
    if given(&inspection.outputs) != shapes(&case["outputs"]) {
        out.push(format!("results {:?}", given(&inspection.outputs)));
    }
    if given(&inspection.inputs) != open_inputs(facts, case) {
        out.push(format!("inputs {:?}", given(&inspection.inputs)));
    }
    if Some(inspection.flops) != case["flops"].as_u64() {
        out.push(format!("{} operations of products", inspection.flops));
    }
    if !inspection.unsupported.is_empty() {
        out.push(format!("{:?}", inspection.unsupported));
    }
    let Some(values) = case["values"].as_str() else { return out };
    let arrays = import_npz::arrays(&std::fs::read(symbolic(values)).unwrap());
    match compare(&imported, &Vec::new(), &arrays, &arrays, Casts::NONE) {
        Ok(results) if results.len() != inspection.outputs.len() => out.push(format!("{} results", results.len())),
        Ok(results) => out.extend(
            results
                .iter()
                .filter(|r| r.relative_error > 1e-4)
                .map(|r| format!("result {}: {:e}", r.index, r.relative_error)),
        ),
        Err(error) => out.push(error.to_string()),
    }
    out
}

#[test]
fn every_choice_of_sizes_gives_what_jax_gives() {
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for (name, facts) in corpus() {
        for case in facts["cases"].as_array().unwrap() {
            let found = differences(&name, &facts, case);
            wrong.extend(found.into_iter().map(|what| format!("{name} with {}: {what}", case["dims"])));
            compared += 1;
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(compared > 20, "{compared} choices were compared");
}

#[test]
fn a_size_that_is_a_term_of_symbols_shows_the_term() {
    let found = read("sizes-of-products--jax0.10.2.jax_export", &[("a", 3), ("b", 2)]).unwrap().inspection;
    let names: Vec<&str> = found.open_dimensions.iter().map(|d| d.name.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!((found.inputs[0].open[&0].as_str(), found.inputs[0].shape[0]), ("4*a", 12));
    assert_eq!((found.inputs[1].open[&1].as_str(), found.inputs[2].open[&0].as_str()), ("b", "b"));
}

#[test]
fn parts_at_known_places_are_slices() {
    let gathers = |name: &str, dims: &[(&str, u64)]| {
        let program = read(name, dims).unwrap().program;
        let all = program.computations.iter().flat_map(|c| c.instructions.iter());
        all.filter(|i| matches!(i.op, Op::Gather(_))).count()
    };
    // Written as x[:, ::2], x[:, -1] and y[:batch % 3].
    assert_eq!(gathers("moving-slices--jax0.10.2.jax_export", &[("batch", 3), ("seq", 7)]), 0);
    assert_eq!(gathers("mod-max--jax0.10.2.jax_export", &[("batch", 5), ("seq", 3)]), 0);
}

#[test]
fn sizes_that_the_model_refuses_are_refused_in_its_words() {
    let odd = read("divisible--jax0.10.2.jax_export", &[("batch", 3)]).unwrap_err();
    let expected = "the model refuses these sizes: Input shapes do not match the symbolic shape constraint \
        2*floordiv(batch, 2) == batch. Expected '2*floordiv(batch, 2) - batch' to be equal to 0, but found -1; \
        give other sizes with --dim";
    assert_eq!(odd, expected);
    let zero = read("scan-nested--jax0.10.2.jax_export", &[("batch", 0)]).unwrap_err();
    assert!(zero.contains("Expected value >= 1 for dimension variable 'batch'"), "{zero}");
}

#[test]
fn without_a_choice_the_smallest_sizes_that_work_are_used() {
    let used = |name: &str| {
        let found = read(name, &[]).unwrap().inspection;
        let sizes = found.open_dimensions.iter().map(|OpenDimension { used, is_chosen, .. }| (*used, *is_chosen));
        (sizes.collect::<Vec<_>>(), found.notes)
    };
    assert_eq!(used("cumsum--jax0.10.2.jax_export").0, [(1, false); 2]);
    assert_eq!(used("divisible--jax0.10.2.jax_export").0, [(2, false)]);
    assert_eq!(used("convolutions--jax0.10.2.jax_export").0, [(8, false); 3]);
    let (sizes, notes) = used("written-two--jax0.10.2.jax_export");
    assert_eq!(sizes, [(2, false)]);
    assert!(notes.iter().any(|n| n == "the size of batch is open: 2 was used, give another one"), "{notes:?}");
}

#[test]
fn a_model_that_works_at_one_size_only_is_named_so() {
    let error = read("written-two--jax0.10.2.jax_export", &[("batch", 8)]).unwrap_err();
    let start = "the model works only with batch=2, not with batch=8: its operations are written for a size of 2 (";
    let end = "give --dim batch=2, or export the model again with this size taken from its input, as in x.shape[0]";
    assert!(error.starts_with(start) && error.ends_with(end), "{error}");
}

#[test]
fn a_model_of_multiples_names_two_of_them() {
    // A row for each twelve rows of the input: floor(b / 12) rows of 48 numbers.
    let text = module(
        "    %c = stablehlo.constant dense<12> : tensor<i32>
    %c_48 = stablehlo.constant dense<48> : tensor<1xi32>
    %c_4 = stablehlo.constant dense<4> : tensor<1xi32>
    %0 = stablehlo.divide %n, %c : tensor<i32>
    %1 = stablehlo.reshape %0 : (tensor<i32>) -> tensor<1xi32>
    %2 = stablehlo.concatenate %1, %c_48, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %3 = stablehlo.dynamic_reshape %x, %2 : (tensor<?x4xf32>, tensor<2xi32>) -> tensor<?x48xf32>
    %4 = stablehlo.tanh %3 : tensor<?x48xf32>
    %5 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
    %6 = stablehlo.concatenate %5, %c_4, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %7 = stablehlo.dynamic_reshape %4, %6 : (tensor<?x48xf32>, tensor<2xi32>) -> tensor<?x4xf32>
    return %7 : tensor<?x4xf32>",
    );
    let with = |b: u64| {
        let options = ImportOptions { dims: [("b".to_owned(), b)].into_iter().collect(), display_only: false };
        read_stablehlo(&text, &options).map(|found| found.inspection.outputs[0].shape[0]).map_err(|e| e.to_string())
    };
    assert_eq!(with(36), Ok(36));
    let error = with(8).unwrap_err();
    assert!(error.starts_with("the model does not work with b=8; it does with b=12 and b=24 ("), "{error}");
}

#[test]
fn of_several_platforms_the_first_is_read() {
    let found = read("two-platforms--jax0.10.2.jax_export", &[("batch", 3)]).unwrap().inspection;
    assert_eq!(found.inputs.len(), 1, "the number of the platform is no input");
    let note = "the file has code for several platforms: that of the first is read";
    assert!(found.notes.iter().any(|n| n == note), "{:?}", found.notes);
}

/// What `jax.jit(f).lower(shapes).as_text()` gives for symbolic shapes: sizes are arguments of main.
fn lowered(symbols: &[&str]) -> String {
    let passed = symbols.iter().enumerate();
    let passed = passed.map(|(i, name)| format!("%arg{i}: tensor<i32> {{jax.global_constant = \"{name}\"}}, "));
    let n = symbols.len();
    format!(
        "module @jit_f {{
  func.func public @main({}%arg{n}: tensor<4xf32>, %arg{}: tensor<?x4xf32>) -> tensor<?x4xf32> {{
    %c = stablehlo.constant dense<4> : tensor<1xi32>
    %0 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %1 = stablehlo.concatenate %0, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %2 = stablehlo.dynamic_broadcast_in_dim %arg{n}, %1, dims = [1] : (tensor<4xf32>, tensor<2xi32>) -> tensor<?x4xf32>
    %3 = stablehlo.add %2, %arg{} : tensor<?x4xf32>
    return %3 : tensor<?x4xf32>
  }}
}}",
        passed.collect::<String>(),
        n + 1,
        n + 1,
    )
}

#[test]
fn sizes_that_a_lowered_text_passes_are_known() {
    let options = ImportOptions { dims: [("rows".to_owned(), 3)].into_iter().collect(), display_only: false };
    let found = read_stablehlo(&lowered(&["rows"]), &options).unwrap();
    let names: Vec<&str> = found.program.parameters.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["arg0", "arg1"]);
    assert_eq!(found.inspection.outputs[0].shape, [3, 4]);
    let input = found.inspection.inputs.iter().find(|i| i.name == "arg1").unwrap();
    assert_eq!((input.shape.clone(), input.open[&0].as_str()), (vec![3, 4], "rows"));
    let error = read_stablehlo(&lowered(&["cols", "rows"]), &options).unwrap_err().to_string();
    let start =
        "the text does not say which open size is which of its symbols (cols, rows); save the file that says it: ";
    assert!(error.starts_with(start) && error.contains("jax.export.export("), "{error}");
}

/// A module whose main passes/// A module whose main passes its open size on to a function.
fn module(inner: &str) -> String {
    format!(
        "module @jit_f attributes {{jax.uses_shape_polymorphism = true}} {{
  func.func public @main(%arg0: tensor<?x4xf32>) -> tensor<?x4xf32> {{
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
    %1 = call @inner(%0, %arg0) : (tensor<i32>, tensor<?x4xf32>) -> tensor<?x4xf32>
    return %1 : tensor<?x4xf32>
  }}
  func.func private @inner(%n: tensor<i32> {{jax.global_constant = \"b\"}}, %x: tensor<?x4xf32>) -> tensor<?x4xf32> {{
{inner}
  }}
}}"
    )
}

#[test]
fn a_loop_that_carries_a_size_unchanged_knows_it() {
    let looped = |next: &str| {
        module(&format!(
            "    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<1> : tensor<i32>
    %c_4 = stablehlo.constant dense<4> : tensor<1xi32>
    %cst = stablehlo.constant dense<1.0> : tensor<f32>
    %0:3 = stablehlo.while(%i = %c, %size = %n, %y = %x) : tensor<i32>, tensor<i32>, tensor<?x4xf32>
     cond {{
      %1 = stablehlo.compare LT, %i, %size, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }} do {{
      %1 = stablehlo.reshape %size : (tensor<i32>) -> tensor<1xi32>
      %2 = stablehlo.concatenate %1, %c_4, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
      %3 = stablehlo.dynamic_broadcast_in_dim %cst, %2, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x4xf32>
      %4 = stablehlo.add %y, %3 : tensor<?x4xf32>
      %5 = stablehlo.add %i, %c_1 : tensor<i32>
      %6 = stablehlo.add %size, %c_1 : tensor<i32>
      stablehlo.return %5, {next}, %4 : tensor<i32>, tensor<i32>, tensor<?x4xf32>
    }}
    return %0#2 : tensor<?x4xf32>"
        ))
    };
    let options = ImportOptions { dims: [("b".to_owned(), 3)].into_iter().collect(), display_only: false };
    let found = read_stablehlo(&looped("%size"), &options).unwrap();
    assert_eq!(found.inspection.outputs[0].shape, [3, 4]);
    // A size that grows with each turn has no number.
    let error = read_stablehlo(&looped("%6"), &options).unwrap_err().to_string();
    assert!(error.contains("dynamic_broadcast_in_dim: its operand 1 is a shape that depends on data"), "{error}");
}

#[test]
fn a_slice_of_computed_place_and_size_is_refused() {
    let sliced = |limit: &str| {
        module(&format!(
            "    %c = stablehlo.constant dense<[0, 0]> : tensor<2xi32>
    %c_1 = stablehlo.constant dense<1> : tensor<2xi32>
    %c_2 = stablehlo.constant dense<[3, 4]> : tensor<2xi32>
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %s = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<?x4xf32>, tensor<f32>) -> tensor<f32>
    %i = stablehlo.convert %s : (tensor<f32>) -> tensor<i32>
    %0 = stablehlo.reshape %i : (tensor<i32>) -> tensor<1xi32>
    %1 = stablehlo.slice %c [0:1] : (tensor<2xi32>) -> tensor<1xi32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %3 = stablehlo.{limit} : tensor<2xi32>
    %4 = stablehlo.real_dynamic_slice %x, %2, %3, %c_1 : (tensor<?x4xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x4xf32>
    return %4 : tensor<?x4xf32>"
        ))
    };
    let options = ImportOptions { dims: [("b".to_owned(), 5)].into_iter().collect(), display_only: false };
    let found = read_stablehlo(&sliced("add %2, %c_2"), &options).unwrap();
    assert_eq!(found.inspection.outputs[0].shape, [3, 4]);
    let error = read_stablehlo(&sliced("multiply %2, %c_2"), &options).unwrap_err().to_string();
    assert!(error.contains("real_dynamic_slice: its operand 1 is a shape that depends on data"), "{error}");
}
