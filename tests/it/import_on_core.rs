//! Imported models on a simulated core: all of them are placed, and models of the zoo are as fast as the built-in ones.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::on_core::core_time;
use neuronscope::compiler::{AutoCast, Pipeline, Workflow};
use neuronscope::device::Device;
use neuronscope::machine::MemoryPlan;
use neuronscope::machine::isa::Op;
use neuronscope::neuron::sim::{NoObserver, simulate};
use neuronscope::program::{ImportOptions, ImportedModel};
use neuronscope::readers::read_model;

fn files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures/models");
    let mut found: Vec<PathBuf> = ["pt2", "onnx", "hlo", "stablehlo"]
        .iter()
        .flat_map(|format| fs::read_dir(root.join(format)).unwrap().map(|entry| entry.unwrap().path()))
        .filter(|path| {
            path.is_file() && !matches!(path.extension().and_then(|e| e.to_str()), Some("npz" | "json" | "md"))
        })
        .collect();
    found.sort();
    found
}

fn read(path: &Path) -> Option<ImportedModel> {
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    read_model(&name, &fs::read(path).unwrap(), &ImportOptions::default()).ok()
}

#[test]
fn every_model_that_is_read_is_placed_on_a_core() {
    let device = Device::of_instance("inf2.xlarge").unwrap();
    let (mut placed, mut wrong) = (0, Vec::new());
    for path in files() {
        let Some(imported) = read(&path) else { continue };
        match core_time(&device, imported) {
            Ok(time) if time.to_ns() > 0 => placed += 1,
            Ok(_) => wrong.push(format!("{}: takes no time", path.display())),
            Err(e) => wrong.push(format!("{}: {e}", path.display())),
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(placed > 60, "{placed}");
}

/// Microseconds of one call on the core: of a zoo model, and of each file whose name has this prefix.
fn beside_the_zoo(model: &str, begin: &str) -> (f64, Vec<(String, f64)>) {
    let device = Device::of_instance("inf2.xlarge").unwrap();
    let us = |time: neuronscope::base::SimTime| time.to_ms_f64() * 1e3;
    let executable = device.compile(model, Some(1), Workflow::Trace).unwrap();
    let zoo = us(simulate(&executable, &device.costs, &mut NoObserver).unwrap().window);
    let of = |path: &PathBuf| {
        let name = path.file_name()?.to_str()?.to_owned();
        let imported = name.starts_with(begin).then(|| read(path))??;
        Some((name, us(core_time(&device, imported).unwrap())))
    };
    (zoo, files().iter().filter_map(of).collect())
}

/// Models of the zoo, with the prefix of the file names of the same model and the number of these files in the fixtures.
const PUBLISHED: [(&str, &str, usize); 5] = [
    ("bert-base-uncased:seq=128", "bert-base-b1-s128", 5),
    ("bert-base-uncased:seq=128", "flax-bert-base-b1-s128", 1),
    ("resnet50", "resnet50-b1", 2),
    ("resnet50", "flax-resnet50-b1", 2),
    ("vit-base-patch16-224", "vit-base-p16-b1", 2),
];

/// A file in which equal vectors are one: an untrained BERT's biases and norms, so that most of its vectors are not loaded.
const SHARED: &str = "bert-base-b1-s128--torch2.9.1-onnx-legacy.onnx";

/// The largest difference between a model file and its model of the zoo, as a fraction.
pub(super) fn most_difference(file: &str) -> f64 {
    if file.contains(SHARED) { 0.08 } else { 0.05 }
}

#[test]
fn a_model_file_is_as_fast_as_the_model_of_the_zoo() {
    let mut wrong = Vec::new();
    let mut table = "| file | one call | the zoo's | difference |\n|---|---|---|---|\n".to_owned();
    for (model, begin, least) in PUBLISHED {
        let (zoo, files) = beside_the_zoo(model, begin);
        assert!(files.len() >= least, "{files:?}");
        for (name, us) in files {
            let difference = us / zoo - 1.0;
            let line = format!(
                "| {} | {us:.0} us | {zoo:.0} us | {:+.1} % |\n",
                name.trim_end_matches(".gz"),
                difference * 1e2
            );
            if difference.abs() >= most_difference(&name) {
                wrong.push(line.clone());
            }
            table.push_str(&line);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    super::doc_tables::assert_written("docs/import.md", "model files beside the zoo", &table);
}

/// A product of an input and a weight in an element type, under a cast: its memory, the passes through the array (a transpose
/// takes one) and its milliseconds.
fn product_of(element: &str, auto_cast: AutoCast) -> (MemoryPlan, Option<u32>, f64) {
    let text = format!(
        "HloModule m
ENTRY main {{
  p0 = {element}[256,512] parameter(0)
  p1 = {element}[512,512] parameter(1)
  d = {element}[256,512] dot(p0, p1), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  ROOT r = {element}[256,512] add(d, p0)
}}"
    );
    let imported = read_model("m.hlo.txt", &text.into_bytes(), &ImportOptions::default()).unwrap();
    let mut device = Device::of_instance("inf2.xlarge").unwrap();
    device.options.auto_cast = auto_cast;
    let pipeline = Pipeline::of_file(Rc::new(imported), BTreeMap::new(), Workflow::Trace, device.options);
    let executable = device.generate(&pipeline).unwrap().executable;
    let passes = executable.ops.iter().filter_map(|op| match op.op {
        Op::Matmul { passes, .. } => Some(passes),
        _ => None,
    });
    let window = simulate(&executable, &device.costs, &mut NoObserver).unwrap().window;
    let passes = passes.max();
    (executable.memory, passes, window.to_ms_f64())
}

#[test]
fn a_model_in_a_narrow_type_moves_and_multiplies_in_that_type_without_a_cast() {
    let (full, passes, time) = product_of("f32", AutoCast::None);
    assert_eq!(passes, Some(4));
    assert_eq!((full.input_bytes, full.weight_bytes, full.output_bytes), (1 << 19, 1 << 20, 1 << 19));
    let (_, _, cast) = product_of("f32", AutoCast::All);
    for element in ["bf16", "f16"] {
        for auto_cast in [AutoCast::None, AutoCast::Matmult, AutoCast::All] {
            let (memory, passes, narrow) = product_of(element, auto_cast);
            assert_eq!(passes, Some(1), "{element}");
            assert_eq!((memory.input_bytes, memory.weight_bytes, memory.output_bytes), (1 << 18, 1 << 19, 1 << 18));
            assert!(narrow <= cast && cast < time, "{element}: {narrow} {cast} {time}");
        }
    }
}

#[test]
fn an_input_moves_in_its_own_type() {
    let bytes = |element: &str| {
        let text = format!(
            "HloModule m\nENTRY main {{\n  p0 = {element}[64,512] parameter(0)\n  ROOT r = f32[64,512] convert(p0)\n}}"
        );
        let imported = read_model("m.hlo.txt", &text.into_bytes(), &ImportOptions::default()).unwrap();
        let device = Device::of_instance("inf2.xlarge").unwrap();
        let pipeline = Pipeline::of_file(Rc::new(imported), BTreeMap::new(), Workflow::Trace, device.options);
        device.generate(&pipeline).unwrap().executable.memory.input_bytes / (64 * 512)
    };
    let types = ["f32", "s32", "s64", "bf16", "f16", "pred", "s8", "u8", "f8e4m3fn"];
    assert_eq!(types.map(bytes), [4, 4, 4, 2, 2, 1, 1, 1, 1]);
}
