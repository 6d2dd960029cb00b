//! A model as a picture, one request after another.

#![allow(clippy::disallowed_methods, reason = "fixtures are files")]

use super::*;
use ns_container::ByteSource;
use ns_device::{ModelFileSettings, ModelLibrary};
use ns_forms::share::unpack_model;
use ns_forms::{InspectField, InspectSpec};
use ns_program::ReadModel;

/// What a session keeps between two requests.
#[derive(Default)]
struct Open {
    inspector: SharedInspector,
    models: ModelLibrary,
}

impl Open {
    fn with_model_reader(read: ReadModel) -> Self {
        Self { models: ModelLibrary::new(read), ..Self::default() }
    }
}

fn run(open: &mut Open, ask: InspectAsk, file: Option<Vec<u8>>) -> Result<InspectResult, String> {
    let source = file.map(|bytes| Box::new(bytes) as Box<dyn ByteSource>);
    let mut run = InspectRun::new(open.inspector.clone(), open.models.clone(), ask, source)?;
    loop {
        match run.step(1_000_000, &mut |_, _, _| {})? {
            Some(InspectAnswer::View(view)) => return Ok(*view),
            Some(InspectAnswer::File(_)) => return Err("no answer".to_owned()),
            None => {}
        }
    }
}

fn model(name: &str) -> InspectSpec {
    InspectSpec::default().with(InspectField::Model, name)
}

fn show(spec: &InspectSpec) -> InspectResult {
    run(&mut Open::default(), InspectAsk::Show(Box::new(spec.clone())), None).unwrap()
}

#[test]
fn a_model_of_the_zoo_has_its_modules_times_and_figures() {
    let view = show(&model("nn"));
    let titles: Vec<&str> = view.tree.iter().map(|r| r.title.as_str()).collect();
    assert!(
        titles.contains(&"Linear[layer1]") && titles.contains(&"input 0") && titles.contains(&"output 0"),
        "{titles:?}"
    );
    // In the order of the data, and an operator is one node also where weights are prepared for it.
    let at = |title: &str| titles.iter().position(|t| *t == title);
    assert!(at("Linear[layer1]") < at("Linear[layer2]"), "{titles:?}");
    assert_eq!(titles.iter().filter(|t| **t == "aten::addmm").count(), 2, "{titles:?}");
    let top: f64 = view.tree.iter().filter(|r| r.depth == 0).map(|r| r.share).sum();
    assert!((top - 1.0).abs() < 0.02, "shares of the outermost modules sum up to {top}");
    // A bar is as long as the number beside it says.
    let timed: Vec<(f64, f64)> =
        view.tree.iter().filter(|r| !r.time.is_empty()).map(|r| (ns_of(&r.time), r.share)).collect();
    let call_ns = timed[0].0 / timed[0].1;
    assert!(timed.iter().all(|(ns, share)| (ns / call_ns - share).abs() < 0.01), "{timed:?}");
    assert!(view.picture.starts_with("<svg") && view.size.0 > 0.0);
    let said = format!("{:?}", (&view.head, &view.details));
    assert!(said.contains("Obstacles for this model") && said.contains("Time on the core"), "{said}");
}

/// `1.03 \u{b5}s` in nanoseconds.
fn ns_of(time: &str) -> f64 {
    let (number, unit) = time.split_once(' ').expect("a number and its unit");
    number.parse::<f64>().expect("a number") * if unit == "ns" { 1.0 } else { 1e3 }
}

#[test]
fn blocks_that_are_alike_are_one_row_until_it_is_opened() {
    let view = show(&model("distilbert-base-uncased:seq=8"));
    let fold = view.tree.iter().find(|r| r.title == "6 \u{d7} TransformerBlock").expect("six blocks").clone();
    assert_eq!((fold.is_open, fold.note.contains("operators"), fold.time.is_empty()), (Some(false), true, false));
    assert!(!view.tree.iter().any(|r| r.depth > fold.depth && r.id.starts_with(&fold.id)));
}

#[test]
fn sums_are_those_of_the_model() {
    use ns_model::zoo::ModelSpec;
    for name in ["nn", "distilbert-base-uncased:seq=8", "resnet50"] {
        let spec = model(name);
        let subject = subject::Subject::of(&spec, &ns_device::ModelLibrary::default()).unwrap();
        let (operations, results) = operation::operations(&subject.module, &subject.pipeline.buffers());
        let tree = tree::tree_of("model", &operations, &results, None);
        let graph = name.parse::<ModelSpec>().unwrap();
        let graph = graph.trace(graph.info().default_batch_size).unwrap();
        assert_eq!(tree.facts[0].flops, graph.flops(), "{name}");
        assert_eq!(tree.facts[0].weight_bytes, graph.weight_bytes(), "{name}");
        // PyTorch counts no running statistics.
        assert_eq!(tree.facts[0].parameters, graph.parameter_count(), "{name}");
        assert!(name != "resnet50" || graph.parameter_count() == 25_557_032);
        assert!(tree.graph.nodes().iter().all(|n| n.children.len() <= 60), "{name}");
        let mut ids: Vec<&str> = tree.graph.nodes().iter().map(|n| n.id.as_str()).collect();
        ids.sort_unstable();
        assert!(ids.windows(2).all(|p| p[0] != p[1]), "{name}: every node has a path of its own");
    }
}

#[test]
fn bytes_count_each_value_once_and_of_a_table_the_rows_looked_up() {
    let spec = model("distilbert-base-uncased:seq=8");
    let subject = subject::Subject::of(&spec, &ns_device::ModelLibrary::default()).unwrap();
    let (operations, results) = operation::operations(&subject.module, &subject.pipeline.buffers());
    let (lookups, others): (Vec<_>, Vec<_>) = operations.iter().partition(|o| o.opcode == "gather");
    let words = lookups.iter().max_by_key(|o| o.weight_bytes).expect("the table of words");
    assert_eq!(words.bytes, 2 * words.shape.bytes(), "rows are read and written: {words:?}");
    assert!(words.bytes < words.weight_bytes / 100);
    let made =
        |o: &&operation::Operation| if o.opcode == "reshape" || o.opcode == "broadcast" { 0 } else { o.shape.bytes() };
    for o in &others {
        assert!(o.bytes <= o.weight_bytes + made(o), "{o:?}");
    }
    // The values that an operation reads are counted where they are made.
    let weight = others.iter().find(|o| o.opcode == "transpose" && o.weight_bytes > 0).expect("a transposed weight");
    assert_eq!(weight.bytes, weight.weight_bytes, "the compiler folds the transpose into the product");
    let product = others.iter().find(|o| o.opcode == "dot").expect("a product");
    assert_eq!((product.weight_bytes, product.bytes), (0, product.shape.bytes()));
    let tree = tree::tree_of("model", &operations, &results, None);
    assert_eq!(tree.facts[0].bytes, operations.iter().map(|o| o.bytes).sum::<u64>());
}

#[test]
fn details_say_what_is_exposed_beside_what_is_busy() {
    let spec = model("bert-base-uncased:seq=16");
    let found = show(&spec.clone().with(InspectField::Search, "BertSelfAttention")).hits;
    let details = show(&spec.with(InspectField::Selected, &found[0])).details.expect("details of the selection");
    let said = format!("{details:?}");
    assert!(said.contains("each counted whole") && said.contains("nothing executes"), "{said}");
}

#[test]
fn the_gpsimd_engine_is_an_obstacle_only_where_it_takes_time() {
    let said = |name: &str| format!("{:?}", show(&model(name)));
    // In these it sets constants and takes a maximum or two.
    for name in ["nn", "resnet50", "alexnet"] {
        assert!(!said(name).contains("falls back to the GpSimd engine"), "{name}");
    }
    let kernel = said("mlp:kernel=relu-tcm");
    assert!(kernel.contains("falls back to the GpSimd engine") && kernel.contains("far slower"), "{kernel}");
}

#[test]
fn modules_open_close_and_are_found() {
    let spec = model("distilbert-base-uncased:seq=8");
    let first = show(&spec);
    assert!(first.tree.len() <= 75, "{} rows at first", first.tree.len());
    let closed = first.tree.iter().find(|r| r.is_open == Some(false)).expect("a closed module or operator").clone();
    let mut toggled = spec.clone();
    toggled.toggle(&closed.id);
    let opened = show(&toggled);
    assert!(opened.tree.len() > first.tree.len());
    assert_eq!(opened.tree.iter().find(|r| r.id == closed.id).and_then(|r| r.is_open), Some(true));
    let found = show(&spec.clone().with(InspectField::Search, "softmax"));
    assert!(found.found >= 2 && found.tree.iter().any(|r| r.is_found), "{}", found.found);
    // The selected node is visible, even in a closed module.
    let hit = found.hits[0].clone();
    let selected = show(&spec.with(InspectField::Selected, &hit));
    assert!(selected.tree.iter().any(|r| r.id == hit));
    let details = format!("{:?}", selected.details.expect("details of the selection"));
    assert!(details.contains("engine") && details.contains("Gives"), "{details}");
}

#[test]
fn the_table_and_the_passes_are_there() {
    let table = show(&model("nn").with(InspectField::View, "table"));
    let said = format!("{:?}", table.panel);
    assert!(said.contains("aten::addmm") && said.contains("Tensor") && table.picture.is_empty(), "{said}");
    let passes = show(&model("nn").with(InspectField::View, "passes").with(InspectField::Pass, "99"));
    let said = format!("{:?}", passes.panel);
    assert!(said.contains("fusion") && said.contains("lines"), "{said}");
}

#[test]
fn endless_names_and_flat_files_stay_small() {
    // A thousand operations in one list, below a module whose name has a hundred thousand letters.
    let name = "x".repeat(100_000);
    let shape = ns_tensor::Shape::f32([2, 2]);
    let operation = |i: usize| operation::Operation {
        name: format!("add.{i}"),
        opcode: "add",
        scope: vec!["model".to_owned(), name.clone()],
        framework: None,
        shape: shape.clone(),
        reads: Vec::new(),
        from: i.checked_sub(1).into_iter().collect(),
        parameters: 0,
        weight_bytes: 0,
        flops: 0,
        bytes: 0,
        is_estimate: false,
        is_unknown: false,
        refused: None,
        work: None,
        is_input: false,
    };
    let operations: Vec<operation::Operation> = (0..1_000).map(operation).collect();
    let tree = tree::tree_of("model", &operations, &[999], None);
    assert!(tree.graph.nodes().iter().all(|n| n.id.len() < 1_000 && n.children.len() <= 60));
    assert_eq!(tree.facts[0].operators, 1_000);
    assert_eq!(tree.graph.edges().len(), 1_000, "a chain and its result");
    let seen = tree.graph.opening(60).iter().map(|&m| tree.graph.nodes()[m as usize].children.len()).sum::<usize>();
    assert!((2..=62).contains(&seen), "{seen} nodes at first");
}

#[test]
fn a_file_is_opened_kept_and_refused() {
    let mut session = Open::with_model_reader(ns_readers::read_model);
    let open = |session: &mut Open, name: &str, bytes: &[u8]| {
        let (spec, name, size) = (Box::default(), name.to_owned(), bytes.len() as u64);
        run(session, InspectAsk::Open { spec, name, size }, Some(bytes.to_vec()))
    };
    let hlo = include_bytes!("../../../tests/it/fixtures/models/hlo/nn-442--torchxla2.9.0-named.hlo.txt");
    let view = open(&mut session, "nn.hlo.txt", hlo).unwrap();
    assert!(view.spec.get(InspectField::Model).starts_with("file:nn.hlo.txt@"));
    let (file, linked) = *view.opened.clone().expect("what was opened");
    assert_eq!((file.id.as_str(), linked.size), (view.spec.get(InspectField::Model), hlo.len() as u64));
    // A worker sends it in this form, which has no names of fields.
    let message = postcard::to_allocvec(&view).unwrap();
    assert_eq!(postcard::from_bytes::<InspectResult>(&message).unwrap(), view);
    // The content of a link opens the same file in a session that has never seen it.
    let mut other = Open::with_model_reader(ns_readers::read_model);
    let unpacked = unpack_model(&linked.packed.expect("a small file")).unwrap();
    other.models.open(&unpacked.name, unpacked.source.into(), ModelFileSettings::default()).unwrap();
    let again = run(&mut other, InspectAsk::Show(Box::new(view.spec.clone())), None).unwrap();
    assert_eq!((again.title.as_str(), again.tree.len()), (view.title.as_str(), view.tree.len()));
    assert!(view.tree.iter().any(|r| r.title == "Linear[layer1]"), "{:?}", view.tree);
    let refused = open(&mut session, "notes.txt", b"a text about something else").unwrap_err();
    assert!(refused.contains("notes.txt"), "{refused}");
    // The one before is still there.
    let spec = Box::new(view.spec.clone().with(InspectField::Search, "addmm"));
    assert!(run(&mut session, InspectAsk::Show(spec), None).unwrap().found > 0);
    let other = Box::new(InspectSpec::default().with(InspectField::Model, "file:other.onnx@12345678"));
    let wanted = run(&mut session, InspectAsk::Show(other), None).unwrap_err();
    assert!(wanted.contains("other.onnx") && wanted.contains("not open"), "{wanted}");
}

#[test]
fn branches_and_loops_that_data_decides_are_shown_whatever_the_format() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/it/fixtures/models");
    for (file, node, reason) in [
        ("onnx/control-flow-cond--torch2.9.1.onnx", "If", "data decides which branch runs"),
        ("onnx/scripted-loop--torch2.9.1-legacy.onnx", "Loop", "data decides how often it turns"),
        ("pt2/control-flow-cond--torch2.9.1.pt2.gz", "cond", "data decides which branch runs"),
        ("torchscript/scripted-loop--torch2.9.1-ts-script.pt.gz", "", "data decides how often it turns"),
    ] {
        let mut session = Open::with_model_reader(ns_readers::read_model);
        let bytes = std::fs::read(folder.join(file)).unwrap();
        let name = file.rsplit('/').next().unwrap_or_default().to_owned();
        let (spec, size) = (Box::default(), bytes.len() as u64);
        let view = run(&mut session, InspectAsk::Open { spec, name: name.clone(), size }, Some(bytes.clone()))
            .unwrap_or_else(|e| panic!("{file}: {e}"));
        let refused = view.tree.iter().find(|row| row.note.starts_with("refused"));
        let refused = refused.unwrap_or_else(|| panic!("{file}: {:?}", view.tree));
        assert!(refused.title.contains(node), "{file}: {}", refused.title);
        let spec = view.spec.clone().with(InspectField::Selected, &refused.id);
        let details = run(&mut session, InspectAsk::Show(Box::new(spec)), None).unwrap().details;
        assert!(format!("{details:?}").contains(reason), "{file}: {details:?}");
        // The operations around it are there as well.
        assert!(view.tree.len() > 2, "{file}: {:?}", view.tree);
        // Reading it for a run refuses it.
        let error = ns_readers::read_model(&name, &bytes, &ns_program::ImportOptions::default());
        assert!(error.is_err(), "{file}");
    }
}

#[test]
fn a_program_that_the_compiler_refuses_is_shown_with_the_reason_at_its_node() {
    let mut session = Open::with_model_reader(ns_readers::read_model);
    let mlir = include_bytes!("../../../tests/it/fixtures/models/stablehlo/jax-while-data-dependent--jax0.10.2.mlir");
    let (spec, name, size) = (Box::default(), "while.mlir".to_owned(), mlir.len() as u64);
    let view = run(&mut session, InspectAsk::Open { spec, name, size }, Some(mlir.to_vec())).unwrap();
    let said = format!("{:?}", (&view.head, &view.details));
    assert!(said.contains("It cannot run on a NeuronCore.") && said.contains("number of turns"), "{said}");
    assert!(!said.contains("is an estimate"), "a refusal is no estimate: {said}");
    let refused = view.tree.iter().find(|row| row.note.starts_with("refused")).expect("the loop stands in the tree");
    assert!(view.picture.contains("operator refused"));
    let spec = view.spec.clone().with(InspectField::Selected, &refused.id);
    let details = run(&mut session, InspectAsk::Show(Box::new(spec)), None).unwrap().details;
    let details = format!("{details:?}");
    assert!(details.contains("Refused") && details.contains("data decides how often it turns"), "{details}");
}
