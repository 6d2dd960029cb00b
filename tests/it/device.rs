//! From a model to the operator timeline: the published figures of the tutorials, and properties of every model.

use std::collections::BTreeMap;

use super::on_core::core_time;
use neuronscope::capture::{CapturedProfile, Recorder, build_profile};
use neuronscope::compiler::{Workflow, codegen, lower, passes};
use neuronscope::device::Device;
use neuronscope::machine::Executable;
use neuronscope::machine::arch::NEURONCORE_V2;
use neuronscope::machine::cost::CostTable;
use neuronscope::machine::isa::{Activity, DmaDirection, DmaQueue, Engine};
use neuronscope::model::ModelSpec;
use neuronscope::neuron::sim::simulate;
use neuronscope::profile::Profile;
use neuronscope::profile::neuron::{OperatorRow, OperatorView, operator_table};
use neuronscope::program::ImportOptions;
use neuronscope::readers::read_hlo_text;

fn compile(model: &str, workflow: Workflow) -> Executable {
    let spec: ModelSpec = model.parse().unwrap();
    let graph = spec.trace(spec.info().default_batch_size).unwrap();
    let (module, _) = passes::optimize(lower(&graph, workflow).unwrap()).unwrap();
    codegen::generate(&module, &CostTable::neuroncore_v2()).unwrap()
}

fn capture(model: &str, workflow: Workflow, costs: &CostTable) -> CapturedProfile {
    let executable = compile(model, workflow);
    let mut recorder = Recorder::default();
    simulate(&executable, costs, &mut recorder).unwrap();
    build_profile(&executable, &recorder, costs, workflow, model.into())
}

fn row<'a>(rows: &'a [OperatorRow], name: &str) -> &'a OperatorRow {
    rows.iter().find(|r| r.name == name).unwrap_or_else(|| panic!("no operator {name} in {rows:?}"))
}

fn within(percent: f64, predicted: u64, published: u64) {
    let off = (predicted as f64 / published as f64 - 1.0) * 100.0;
    assert!(off.abs() <= percent, "{predicted} is {off:.1} % off the published {published}");
}

/// Slice names of a row of a process.
fn names(profile: &Profile, process: &str, track: &str) -> Vec<String> {
    let tracks = profile
        .tracks()
        .iter_enumerated()
        .filter(|(_, t)| profile.str(profile.processes()[t.process].name) == process && profile.str(t.name) == track);
    let slices = profile.slices();
    tracks
        .flat_map(|(id, _)| slices.of_track(id).map(|s| profile.str(slices.name(s)).to_owned()).collect::<Vec<_>>())
        .collect()
}

#[test]
fn the_two_layer_example_lands_on_the_published_timeline() {
    let costs = CostTable::neuroncore_v2();
    let lazy = capture("nn", Workflow::MarkStep, &costs);
    let traced = capture("nn", Workflow::Trace, &costs);
    within(5.0, lazy.device_window_ns, 7_200);
    within(5.0, traced.device_window_ns, 4_050);
    assert!(traced.device_window_ns < lazy.device_window_ns);
    for captured in [&lazy, &traced] {
        let hlo = operator_table(&captured.profile, OperatorView::Hlo);
        assert_eq!(hlo.len(), 3, "{hlo:?}");
        let (dot, maximum, tanh) = (row(&hlo, "dot"), row(&hlo, "maximum"), row(&hlo, "tanh"));
        assert_eq!((dot.occurrences, maximum.occurrences, tanh.occurrences), (2, 1, 1));
        within(5.0, dot.time_ns.unsigned_abs(), 279);
        within(5.0, maximum.time_ns.unsigned_abs(), 276);
        within(5.0, tanh.time_ns.unsigned_abs(), 159);
        let order: Vec<&str> = hlo.iter().map(|r| r.name.as_str()).collect();
        assert_eq!(order, ["dot", "maximum", "tanh"], "the pie has the published order");
        let framework = operator_table(&captured.profile, OperatorView::Framework);
        let by_name: BTreeMap<&str, u64> = framework.iter().map(|r| (r.name.as_str(), r.occurrences)).collect();
        let expected = [("aten__addmm_dot", 2), ("aten__relu_maximum", 1), ("aten__tanh_tanh", 1)];
        assert_eq!(by_name, BTreeMap::from(expected));
    }
}

/// Slices of the framework row of Data Transfer: name, start, duration, and the paths of its operations.
fn transfers(workflow: Workflow) -> Vec<(String, i64, i64, Vec<String>)> {
    let profile = capture("nn", workflow, &CostTable::neuroncore_v2()).profile;
    let slices = profile.slices();
    let row = |id: &neuronscope::profile::SliceId| {
        let track = &profile.tracks()[slices.track(*id)];
        profile.str(profile.processes()[track.process].name) == "Process Data Transfer"
            && profile.str(track.name) == "Framework Ops"
    };
    let members = |args: &str| {
        let args: serde_json::Value = serde_json::from_str(args).unwrap();
        let paths = args["fused"].as_str().or(args["path"].as_str()).unwrap();
        paths.split(",\n").map(str::to_owned).collect()
    };
    let slice = |id| {
        let name = profile.str(slices.name(id)).to_owned();
        (name, slices.start(id).0, slices.dur_ns(id), members(profile.args().get(slices.args(id))))
    };
    slices.ids().filter(row).map(slice).collect()
}

#[test]
fn the_tutorials_fusions_appear_with_their_members() {
    let lazy = transfers(Workflow::MarkStep);
    let fused_3 = lazy.iter().find(|(name, ..)| name == "fused_3").unwrap();
    assert_eq!(fused_3.3, ["NN[model]/input", "NN[model]/ReLU[nl1]/Tensor_1/aten__relu_maximum"]);
    within(30.0, fused_3.2.unsigned_abs(), 36);
    // The tutorial's fused_16: bias and weight of the first layer beside the input.
    let three =
        ["NN[model]/input", "NN[model]/Linear[layer1]/aten__addmm_add", "NN[model]/Linear[layer1]/aten__addmm_dot"];
    assert_eq!(lazy.iter().filter(|(_, _, _, members)| *members == three).count(), 1, "{lazy:?}");

    // The traced fused_19: weights of the first layer beside the table of the tanh.
    let traced = transfers(Workflow::Trace);
    let beside =
        traced.iter().find(|(_, _, _, members)| members.iter().any(|m| m == "NN[model]/Tanh[nl2]/aten__tanh_tanh"));
    let (name, start, ns, members) = beside.unwrap();
    assert!(
        name.starts_with("fused_") && members.iter().any(|m| m.starts_with("NN[model]/Linear[layer1]/")),
        "{beside:?}"
    );
    // At 5,824 ns for 367 ns in its picture.
    assert!((5_100..6_200).contains(start) && *ns > 0, "{beside:?}");
}

#[test]
fn inputs_are_transferred_in_a_step_and_not_in_a_traced_call() {
    let costs = CostTable::neuroncore_v2();
    let transfers = |workflow| {
        let profile = capture("nn", workflow, &costs).profile;
        let framework = names(&profile, "Process Data Transfer", "Framework Ops");
        let hlo = names(&profile, "Process Data Transfer", "HLO Ops");
        (framework.iter().any(|n| n == "input"), hlo.iter().any(|n| n.starts_with("SyncTensorsGraph.")))
    };
    assert_eq!(transfers(Workflow::MarkStep), (true, true));
    assert_eq!(transfers(Workflow::Trace), (false, false));
    let staged = |workflow| {
        let ring = &compile("nn", workflow).queues[DmaQueue::Io.index()];
        ring.iter().filter(|d| d.direction == DmaDirection::HbmToHbm).count()
    };
    assert_eq!((staged(Workflow::MarkStep), staged(Workflow::Trace)), (2, 0));
}

#[test]
fn the_tanh_table_is_loaded_ahead_only_in_a_traced_model() {
    let table_wait = |workflow| {
        let executable = compile("nn", workflow);
        let loads = &executable.engines[Engine::Scalar.index()];
        assert_eq!(loads[0].activity, Activity::Control);
        loads[0].waits_len
    };
    assert_eq!(table_wait(Workflow::Trace), 0);
    assert!(table_wait(Workflow::MarkStep) > 0);
}

#[test]
fn one_constant_moves_the_window() {
    let costs = CostTable::neuroncore_v2();
    let mut slower = costs.clone();
    slower.dma.trigger_to_data_ns += 100;
    let window = |costs: &CostTable| capture("nn", Workflow::Trace, costs).device_window_ns;
    // The critical path of the traced model has two DMAs, one after the other: a load and the store of the result.
    assert_eq!(window(&slower), window(&costs) + 200);
}

#[test]
fn every_instruction_leads_back_to_an_operation_of_the_model() {
    for model in ["nn", "mlp:hidden1=256,hidden2=128", "matmult:n=256,loop_count=3,add_bias=false"] {
        let executable = compile(model, Workflow::Trace);
        let sources: Vec<_> = executable
            .engines
            .iter()
            .flatten()
            .map(|i| i.source)
            .chain(executable.queues.iter().flatten().map(|d| d.source))
            .collect();
        assert!(!sources.is_empty());
        for source in sources {
            let entry = &executable.sources[source];
            assert!(entry.scope[0].ends_with("[model]"), "{model}: {entry:?}");
            assert!(!entry.hlo_text.is_empty() && !entry.framework_op.is_empty(), "{model}: {entry:?}");
            assert!(entry.path.starts_with(&entry.scope.join("/")), "{model}: {entry:?}");
        }
    }
}

#[test]
fn a_fused_operation_lists_its_members() {
    let profile = capture("nn", Workflow::Trace, &CostTable::neuroncore_v2()).profile;
    let slices = profile.slices();
    let fused = slices
        .ids()
        .find(|s| profile.str(slices.name(*s)) == "fused_0")
        .expect("the compiler's first fusion is on the timeline");
    let args = profile.args().get(slices.args(fused));
    for member in ["NN[model]/Linear[layer1]/aten__addmm_add", "NN[model]/ReLU[nl1]/Tensor_1/aten__relu_maximum"] {
        assert!(args.contains(member), "{args}");
    }
}

#[test]
fn the_chained_microbenchmark_reaches_its_published_rate() {
    // 1000 chained 1024-wide layers took 27.66 us each, 77.64 TFLOPS.
    let executable = compile("matmult:n=1024,loop_count=1000,add_bias=true", Workflow::Trace);
    let costs = CostTable::neuroncore_v2();
    let outcome = simulate(&executable, &costs, &mut neuronscope::neuron::sim::NoObserver).unwrap();
    within(5.0, outcome.window.to_ns() / 1_000, 27_660);
    let tflops = executable.model_flops as f64 / outcome.window.to_secs_f64() / 1e12;
    assert!((tflops / 77.64 - 1.0).abs() < 0.05, "{tflops} TFLOPS");
}

#[test]
fn the_element_wise_custom_relu_dominates_as_published() {
    // 8.0986 iterations a second with the element-wise accessor.
    let executable = compile("mlp", Workflow::Trace);
    let costs = CostTable::neuroncore_v2();
    let outcome = simulate(&executable, &costs, &mut neuronscope::neuron::sim::NoObserver).unwrap();
    within(5.0, outcome.window.to_ns() / 1_000, 123_477);
}

#[test]
fn a_model_that_does_not_fit_says_how_much_is_missing() {
    let spec: ModelSpec = "matmult:n=1024,loop_count=1".parse().unwrap();
    let module = lower(&spec.trace(1).unwrap(), Workflow::Trace).unwrap();
    let (module, _) = passes::optimize(module).unwrap();
    let small = neuronscope::machine::arch::CoreSpec { hbm_bytes: 1 << 20, ..NEURONCORE_V2 };
    let costs = CostTable { core: small, ..CostTable::neuroncore_v2() };
    let error = codegen::generate(&module, &costs).err().map(|e| e.to_string()).unwrap_or_default();
    // 2 MiB of weights, 4 KiB of bias at two bytes each, 4 MiB of input.
    assert!(error.contains("needs 6.00 MiB of device memory on one core, which has 1.00 MiB"), "{error}");
    assert!(error.contains("5.00 MiB are missing"), "{error}");
}

#[test]
fn an_array_beyond_device_memory_is_refused_before_it_is_cut_into_blocks() {
    // 2^40 rows: as instructions they would need more memory than this machine has.
    let text = "HloModule m
ENTRY e {
  x = f32[1099511627776,8] parameter(0)
  ROOT y = f32[1099511627776,8] tanh(x)
}";
    let imported = read_hlo_text(text, &ImportOptions::default()).unwrap();
    let error = core_time(&Device::of_instance("inf2.xlarge").unwrap(), imported).err();
    let error = error.map(|e| e.to_string()).unwrap_or_default();
    assert!(error.contains("has an array of 16.0 TiB, and one core has 16.0 GiB of device memory"), "{error}");
}

#[test]
fn constants_and_repeated_values_may_be_read_by_any_operation() {
    let programs = [
        // The keys of all heads are the same: attention with one key for many queries.
        "  q = f32[2,4,8] parameter(0)\n  y = f32[5,8] parameter(1)\n  k = f32[5,8] tanh(y)
  keys = f32[2,5,8] broadcast(k), dimensions={1,2}
  ROOT s = f32[2,4,5] dot(q, keys), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2}",
        // Sums as a product with ones.
        "  x = f32[4,8] parameter(0)\n  one = f32[] constant(1)\n  ones = f32[8,3] broadcast(one), dimensions={}
  ROOT s = f32[4,3] dot(x, ones), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        // A repeated value is a result.
        "  x = f32[4,8] parameter(0)\n  t = f32[4,8] tanh(x)\n  ROOT r = f32[3,4,8] broadcast(t), dimensions={1,2}",
        // A constant is a result, beside others.
        "  x = f32[4,8] parameter(0)\n  t = f32[4,8] tanh(x)\n  one = f32[] constant(1)
  ones = f32[8,3] broadcast(one), dimensions={}\n  ROOT r = (f32[4,8], f32[8,3]) tuple(t, ones)",
        // A row is repeated twice before it is added.
        "  x = f32[3,4,8] parameter(0)\n  b = f32[8] parameter(1)\n  rows = f32[4,8] broadcast(b), dimensions={1}
  all = f32[3,4,8] broadcast(rows), dimensions={1,2}\n  t = f32[3,4,8] tanh(x)\n  ROOT s = f32[3,4,8] add(t, all)",
    ];
    let device = Device::of_instance("inf2.xlarge").unwrap();
    for lines in programs {
        let text = format!("HloModule m\nENTRY e {{\n{lines}\n}}");
        let imported = read_hlo_text(&text, &ImportOptions::default()).unwrap();
        let time = core_time(&device, imported).unwrap_or_else(|e| panic!("{e}: {lines}"));
        assert!(time.to_ns() > 0, "{lines}");
    }
}

#[test]
fn memory_stays_within_the_core_and_engines_within_the_window() {
    for model in ["nn", "mlp", "matmult:n=1024,loop_count=4,add_bias=true", "matmult:n=1536,loop_count=2"] {
        let executable = compile(model, Workflow::MarkStep);
        assert!(executable.memory.sbuf_peak_bytes <= executable.memory.sbuf_capacity_bytes, "{model}");
        let captured = capture(model, Workflow::MarkStep, &CostTable::neuroncore_v2());
        let (profile, window) = (&captured.profile, captured.device_window_ns);
        for (id, track) in profile.tracks().iter_enumerated() {
            if profile.str(profile.processes()[track.process].name) != "NeuronCore engines" {
                continue;
            }
            assert!(profile.diagnostics().is_empty(), "{model}: {:?}", profile.diagnostics());
            let queue = profile.str(track.name).starts_with('q');
            let busy: i64 = profile.slices().of_track(id).map(|s| profile.slices().dur_ns(s)).sum();
            assert!(queue || busy.unsigned_abs() <= window, "{model}: {busy} of {window}");
            assert!(queue || profile.slices().rows(id) <= 1, "{model}: an engine overlaps itself");
        }
    }
}

#[test]
fn the_timeline_of_the_example_is_kept_whole() {
    let profile = capture("nn", Workflow::MarkStep, &CostTable::neuroncore_v2()).profile;
    assert!(profile.diagnostics().is_empty(), "{:?}", profile.diagnostics());
    let slices = profile.slices();
    let lines: Vec<String> = slices
        .ids()
        .map(|s| {
            let track = slices.track(s);
            let process = profile.process_label(profile.tracks()[track].process);
            let (label, name) = (profile.track_label(track), profile.str(slices.name(s)));
            format!("{process} | {label} | {} +{} | {name}", slices.start(s).0, slices.dur_ns(s))
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_simulated_profile_opens_without_diagnostics() {
    let costs = CostTable::neuroncore_v2();
    for (model, workflow) in [("nn", Workflow::MarkStep), ("bert-base-uncased", Workflow::Trace)] {
        let profile = capture(model, workflow, &costs).profile;
        assert!(profile.diagnostics().is_empty(), "{model}: {:?}", profile.diagnostics().items());
    }
}
