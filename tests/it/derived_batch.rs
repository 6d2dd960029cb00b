//! The batch of files that were exported with one batch size: which follow from the graph, and whether their samples keep their values.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use neuronscope::container::ByteSource;
use neuronscope::device::BatchRule;
use neuronscope::program::eval::evaluate;
use neuronscope::program::{ImportOptions, ImportedModel, Numbers, Role, Value, load_parameter, rebatch};
use neuronscope::readers::read_model;

use super::import_npz;

/// Most computed elements of one evaluation: the small models.
const BUDGET: u64 = 40_000_000;

fn model_files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures/models");
    let folders = ["hlo", "onnx", "pt2", "stablehlo", "torchscript"];
    let files = folders.iter().flat_map(|folder| fs::read_dir(root.join(folder)).unwrap());
    let mut files: Vec<PathBuf> = files.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| {
        let name = path.to_string_lossy();
        path.is_file() && ![".npz", ".md", ".json", ".py"].iter().any(|end| name.ends_with(end))
    });
    files.sort();
    files
}

/// The inputs of a file's expected values.
fn inputs(path: &Path) -> Vec<Value> {
    let name = path.to_string_lossy();
    let stem = name.strip_suffix(".gz").unwrap_or(&name);
    let found = [format!("{name}.npz"), format!("{stem}.npz")].into_iter().find_map(|p| fs::read(p).ok());
    let arrays = found.map(|bytes| import_npz::arrays(&bytes)).unwrap_or_default();
    arrays.into_iter().filter(|(name, _)| name.starts_with("in")).map(|(_, value)| value).collect()
}

/// The numbers of an array in another order.
fn reverse(value: &Value) -> Value {
    let mut value = value.clone();
    match &mut value.numbers {
        Numbers::Real(all) => all.reverse(),
        Numbers::Whole(all) => all.reverse(),
        Numbers::Complex(all) => all.reverse(),
    }
    value
}

/// Two arrays behind each other along a dimension.
fn join(a: &Value, b: &Value, dimension: usize) -> Value {
    fn runs<T: Clone>(a: &[T], b: &[T], run: usize) -> Vec<T> {
        a.chunks(run).zip(b.chunks(run)).flat_map(|(a, b)| [a, b].concat()).collect()
    }
    let run = a.ty.dims.iter().skip(dimension).product::<u64>().max(1) as usize;
    let numbers = match (&a.numbers, &b.numbers) {
        (Numbers::Real(a), Numbers::Real(b)) => Numbers::Real(runs(a, b, run)),
        (Numbers::Whole(a), Numbers::Whole(b)) => Numbers::Whole(runs(a, b, run)),
        (Numbers::Complex(a), Numbers::Complex(b)) => Numbers::Complex(runs(a, b, run)),
        _ => panic!("{} and {}", a.ty, b.ty),
    };
    let mut ty = a.ty.clone();
    ty.dims[dimension] += b.ty.dims[dimension];
    Value { ty, numbers }
}

/// The results of a program; `None` where the file lacks numbers, or where it computes too much.
fn results(imported: &ImportedModel, bytes: &dyn ByteSource, inputs: &[Value]) -> Option<Vec<Value>> {
    let mut inputs = inputs.iter();
    let mut parameters = Vec::new();
    for parameter in &imported.program.parameters {
        let mut value = match parameter.role {
            Role::Input => inputs.next().cloned()?,
            _ => load_parameter(bytes, parameter).ok().flatten()?,
        };
        value.ty = parameter.ty.clone();
        parameters.push(value);
    }
    Some(evaluate(&imported.program, parameters, BUDGET).ok()?.outputs)
}

/// Whether the model at twice its batch gives each half what it gives alone; `None` where its values are not known.
fn keeps_values(imported: &ImportedModel, bytes: &dyn ByteSource, inputs: &[Value], batch: u64) -> Option<bool> {
    let twice = imported.at_batch(batch, 2 * batch).unwrap();
    let others: Vec<Value> = inputs.iter().map(reverse).collect();
    let has_samples = |value: &Value| value.ty.dims.first() == Some(&batch);
    let both = |(a, b): (&Value, &Value)| if has_samples(a) { join(a, b, 0) } else { a.clone() };
    let others: Vec<Value> =
        others.iter().zip(inputs).map(|(b, a)| if has_samples(a) { b.clone() } else { a.clone() }).collect();
    let joined: Vec<Value> = inputs.iter().zip(&others).map(both).collect();
    let [first, second] = [inputs, &others].map(|inputs| results(imported, bytes, inputs));
    let (first, second, all) = (first?, second?, results(&twice, bytes, &joined)?);
    let is_equal = |((a, b), all): ((&Value, &Value), &Value)| {
        let grown = (0..a.ty.dims.len()).find(|d| all.ty.dims[*d] == 2 * a.ty.dims[*d]);
        let expected = grown.map_or_else(|| a.clone(), |dimension| join(a, b, dimension));
        import_npz::distance(all, &expected) < 1e-5
    };
    Some(first.iter().zip(&second).zip(&all).all(is_equal))
}

#[test]
fn samples_keep_their_values_at_another_batch() {
    let (mut said, mut compared) = (String::new(), 0);
    for path in model_files() {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let bytes = fs::read(&path).unwrap();
        let Ok(imported) = read_model(&name, &bytes, &ImportOptions::default()) else { continue };
        let text = match BatchRule::of(&imported) {
            BatchRule::Open { dimension, .. } => format!("open: {dimension}"),
            BatchRule::Fixed { size } => {
                let why = rebatch(&imported.program, size, size + 1).unwrap_err();
                format!("fixed at {size}: {why}")
            }
            BatchRule::Derived { exported } => match keeps_values(&imported, &bytes, &inputs(&path), exported) {
                Some(true) => {
                    compared += 1;
                    format!("derived from {exported}, values equal")
                }
                Some(false) => format!("derived from {exported}, VALUES DIFFER"),
                None => format!("derived from {exported}"),
            },
        };
        writeln!(said, "{name}: {text}").unwrap();
    }
    assert!(!said.contains("DIFFER") && compared > 20, "{compared} compared\n{said}");
    insta::assert_snapshot!(said);
}
