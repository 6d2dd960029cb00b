//! ONNX files of real exporters, compared with known facts: verdicts, inputs, results, operators, products, values.

use std::path::Path;

use neuronscope::program::eval::evaluate;
use neuronscope::program::{
    ImportOptions, ImportedModel, Inspection, Numbers, Program, Role, Value, Verdict, load_parameter,
};
use neuronscope::readers::{read_model, read_onnx};
use serde_json::Value as Json;

use super::import_npz;
use super::model_cases::{Case, corpus, dtype, fixtures};

/// The files in the repository.
fn files() -> Vec<Case> {
    fixtures(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures/models/onnx"))
}

/// ONNX's own files and those of its JSON form.
fn has_onnx(name: &str) -> bool {
    let ending = Path::new(name).extension();
    ending.is_some_and(|e| e == "onnx" || e == "json")
}

fn read(case: &Case) -> Result<ImportedModel, String> {
    let mut options = ImportOptions::default();
    // The size that the expected values were made with.
    options.dims.insert("batch".to_owned(), 3);
    read_model(&case.name, &case.bytes, &options).map_err(|e| e.to_string())
}

/// What differs from the facts.
fn differences(found: &Inspection, facts: &Json) -> Vec<String> {
    let mut wrong = Vec::new();
    let verdict = facts["expect"]["verdict"].as_str().unwrap();
    let own = if found.verdict == Verdict::Import { "import" } else { "partial" };
    if verdict != own {
        wrong.push(format!("verdict {own}, expected {verdict}: {:?} {:?}", found.notes, found.unsupported));
    }
    for (what, list, file) in [("inputs", &found.inputs, "file_inputs"), ("outputs", &found.outputs, "file_outputs")] {
        let expected = facts[file].as_array().unwrap();
        if list.len() != expected.len() {
            wrong.push(format!("{} {what}, expected {}", list.len(), expected.len()));
        }
        for (at, (own, fact)) in list.iter().zip(expected).enumerate() {
            // The file may leave sizes out; the facts beside it have the inputs and results of the exporter.
            let sizes = &facts[what][at]["shape"];
            let is_same = own.name == fact["name"].as_str().unwrap()
                && own.dtype == dtype(fact["dtype"].as_str().unwrap())
                && serde_json::json!(own.shape) == *sizes;
            if !is_same {
                wrong.push(format!("{what} {at}: {own:?}, expected {fact} {sizes}"));
            }
        }
    }
    // Exporters drop parameters that nothing reads and tables that they look up: the file does not mention them.
    if let Some(known) = facts["parameters"].as_f64()
        && (found.parameters as f64 - known).abs() > 0.025 * known
    {
        wrong.push(format!("{} parameters, expected {known}", found.parameters));
    }
    if serde_json::json!(found.ops) != facts["op_histogram"] {
        wrong.push(format!("operators {:?}, expected {}", found.ops, facts["op_histogram"]));
    }
    let is_counted = facts["flops"].get("not_counted").is_none();
    let flops = facts["flops"]["products"].as_f64().unwrap();
    if is_counted && (found.flops as f64 - flops).abs() > 0.01 * flops {
        wrong.push(format!("products {}, expected {flops}", found.flops));
    }
    wrong
}

/// One value for each parameter of a program: weights from the file, inputs as given.
fn parameters(program: &Program, bytes: &[u8], inputs: &[Value]) -> Option<Vec<Value>> {
    let mut inputs = inputs.iter();
    let value = |p: &neuronscope::program::ProgramParameter| match &p.role {
        Role::Input => inputs.next().cloned(),
        _ => load_parameter(&bytes.to_vec(), p).unwrap(),
    };
    program.parameters.iter().map(value).collect()
}

/// The largest distance of a file's results from the expected ones; none when they are not known.
fn value_distance(case: &Case, imported: &ImportedModel) -> Option<Result<f64, String>> {
    let arrays = import_npz::arrays(case.expected.as_ref()?);
    let pick = |stem: &str| -> Vec<Value> {
        (0..)
            .map_while(|n| arrays.iter().find(|(name, _)| *name == format!("{stem}{n}")))
            .map(|(_, v)| v.clone())
            .collect()
    };
    let (inputs, outputs) = (pick("in"), pick("out"));
    let parameters = parameters(&imported.program, &case.bytes, &inputs)?;
    let given = match evaluate(&imported.program, parameters, 1 << 34) {
        Ok(given) => given.outputs,
        Err(e) => return Some(Err(e.to_string())),
    };
    if given.len() != outputs.len() {
        return Some(Err(format!("{} results, expected {}", given.len(), outputs.len())));
    }
    for (a, b) in given.iter().zip(&outputs) {
        if a.ty != b.ty {
            return Some(Err(format!("a result of {}, expected {}", a.ty, b.ty)));
        }
        if let Numbers::Real(v) = &a.numbers
            && v.iter().any(|n| n.is_nan())
        {
            return Some(Err("a result that is not a number".to_owned()));
        }
    }
    Some(Ok(given.iter().zip(&outputs).map(|(a, b)| import_npz::distance(a, b)).fold(0.0, f64::max)))
}

#[test]
fn every_file_agrees_with_its_facts() {
    let mut wrong = Vec::new();
    let (mut agreed, mut valued) = (0, 0);
    let cases: Vec<Case> = files().into_iter().chain(corpus(&["onnx", "bad"], |_, name| has_onnx(name))).collect();
    for case in &cases {
        let verdict = case.facts["expect"]["verdict"].as_str().unwrap();
        let found = match read(case) {
            Err(e) if verdict == "refuse" => {
                println!("{}: refused: {e}", case.name);
                agreed += 1;
                continue;
            }
            Err(e) => {
                wrong.push(format!("{}: refused: {e}", case.name));
                continue;
            }
            Ok(_) if verdict == "refuse" => {
                wrong.push(format!("{}: read, but {}", case.name, case.facts["expect"]["why"]));
                continue;
            }
            Ok(found) => found,
        };
        let mut own = differences_of(&found, case);
        match value_distance(case, &found) {
            None => {}
            Some(Ok(distance)) if distance < 1e-4 => valued += 1,
            Some(other) => own.push(format!("values: {other:?}")),
        }
        println!(
            "{}: parameters {} (known {}), {} instructions, {} modules, {:?}",
            case.name,
            found.inspection.parameters,
            case.facts["parameters"],
            found.program.computations.iter().map(|c| c.instructions.len()).sum::<usize>(),
            found.inspection.modules.len(),
            found.inspection.notes,
        );
        agreed += usize::from(own.is_empty());
        wrong.extend(own.into_iter().map(|w| format!("{}: {w}", case.name)));
    }
    println!("{agreed} of {} files agree, {valued} in their values", cases.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The differences; a file with an open batch is partial until its size is chosen.
fn differences_of(found: &ImportedModel, case: &Case) -> Vec<String> {
    let mut inspection = found.inspection.clone();
    if !inspection.open_dimensions.is_empty() {
        let unasked = read_onnx(&case.bytes, &ImportOptions::default()).unwrap().inspection;
        assert_eq!(inspection.verdict, Verdict::Import, "{}", case.name);
        inspection.verdict = unasked.verdict;
    }
    differences(&inspection, &case.facts)
}

#[test]
fn damaged_files_are_errors_or_models() {
    let small: Vec<Vec<u8>> = files().into_iter().map(|c| c.bytes).filter(|b| b.len() < 40_000).collect();
    let edits = proptest::collection::vec((0usize..40_000, proptest::num::u8::ANY), 0..6);
    let strategy = (0..small.len(), edits, proptest::option::of(0usize..40_000));
    let mut runner = proptest::test_runner::TestRunner::new(proptest::test_runner::Config {
        failure_persistence: None,
        cases: std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(64),
        ..Default::default()
    });
    let outcome = runner.run(&strategy, |(which, edits, cut)| {
        let mut bytes = small[which].clone();
        for (at, byte) in edits {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut % bytes.len());
        }
        // It must give a result, whatever it is.
        match read_onnx(&bytes, &ImportOptions::default()) {
            Ok(imported) => proptest::prop_assert!(!imported.inspection.outputs.is_empty()),
            Err(error) => {
                proptest::prop_assert!(!error.refusal.what().is_empty() && !error.refusal.instead().is_empty())
            }
        }
        Ok(())
    });
    outcome.unwrap();
}

#[test]
fn files_that_end_early_are_refused_by_the_byte() {
    let whole =
        files().into_iter().find(|c| c.name.starts_with("tiny-cnn--torch2.9.1-onnx-legacy-op11")).unwrap().bytes;
    for share in [1, 3, 6, 9] {
        let error = read_onnx(&whole[..whole.len() * share / 10].to_vec(), &ImportOptions::default()).unwrap_err();
        assert!(error.to_string().starts_with("byte "), "{error}");
    }
}
