//! Analyses of real traces against facts that an independent reader computed from them.
//!
//! For a folder of larger traces set `NEURONSCOPE_TRACES`, as for the module `formats`.

use std::fs;
use std::path::Path;

use neuronscope::analysis::calltree::{CallTree, CallTreePass, call_tree};
use neuronscope::analysis::compare::{Comparison, Measure, OperatorTotals, Presence};
use neuronscope::analysis::critical::CriticalPath;
use neuronscope::analysis::histogram::{BinScale, Histogram};
use neuronscope::analysis::idle::idle_gaps;
use neuronscope::analysis::members::{MemberOrder, members};
use neuronscope::analysis::modules::module_tree;
use neuronscope::analysis::operators::{OpQuery, OpTable, operator_stats};
use neuronscope::analysis::sentences::{SentencesPass, Topic, sentences};
use neuronscope::analysis::work::{Work, Works};
use neuronscope::analysis::{GroupBy, Instances, Names, Selection};
use neuronscope::base::{Interval, TraceNs};
use neuronscope::formats::read_bytes;
use neuronscope::profile::flows::FlowIndex;
use neuronscope::profile::{Profile, SliceFlags, SliceId};
use serde_json::Value;

use crate::formats::{fixtures, gunzip, large_traces};

fn open(dir: &Path, name: &str) -> Profile {
    read_bytes(name, &fs::read(dir.join(name)).unwrap()).unwrap()
}

fn table(profile: &Profile, group_by: GroupBy, selection: Selection) -> OpTable {
    operator_stats(profile, &OpQuery { group_by, selection, percentiles: true })
}

fn sum(table: &OpTable) -> (u64, i64, i64) {
    let rows = &table.stats;
    (rows.iter().map(|r| r.count).sum(), rows.iter().map(|r| r.total_ns).sum(), rows.iter().map(|r| r.self_ns).sum())
}

fn name_of(row: &Value) -> &str {
    let name = row[0].as_str().unwrap();
    if name == "None" { "" } else { name }
}

/// Every grouping and every tree holds the same slices and the same time.
fn check_sums(profile: &Profile, facts: &Value, what: &str) {
    let by_name = table(profile, GroupBy::Name, Selection::default());
    let (count, total, own) = sum(&by_name);
    if let Some(slices) = facts["n_slices_X_plus_matched_BE"].as_u64() {
        assert_eq!(count, slices, "{what}");
    }
    if let (Some(ns), None) = (facts["X_total_dur_ns"].as_i64(), facts.get("BE")) {
        assert_eq!(total, ns, "{what}");
    }
    for row in facts["top10_self_ns"].as_array().into_iter().flatten() {
        let found = by_name.stats.iter().find(|s| by_name.name(profile, s) == name_of(row));
        assert_eq!(found.map(|s| s.self_ns), row[1].as_i64(), "{what}: self time of {}", row[0]);
    }
    for by in GroupBy::ALL {
        assert_eq!(sum(&table(profile, by, Selection::default())), (count, total, own), "{what} by {}", by.name());
    }
    let all_threads = call_tree(profile, &Selection::default(), false);
    for tree in [&all_threads, &call_tree(profile, &Selection::default(), true)] {
        assert_eq!(sum_of_tree(tree), (count, total, own), "{what}: call tree");
    }
    // The two clipped halves of the span add up to the whole.
    let (start, end) = (profile.span().start.0, profile.span().end.0 + 1);
    let half = start + (end - start) / 3;
    let part = |from, to| {
        let within = Some(Interval::new(TraceNs(from), TraceNs(to)));
        let (_, total, own) = sum(&table(profile, GroupBy::Name, Selection::within(within)));
        (total, own)
    };
    let (left, right) = (part(start, half), part(half, end));
    assert_eq!((left.0 + right.0, left.1 + right.1), (total, own), "{what}: two parts of the span");
}

fn sum_of_tree(tree: &CallTree) -> (u64, i64, i64) {
    let named = tree.nodes().iter().filter(|n| n.count > 0);
    named.fold((0, 0, 0), |(c, t, s), n| (c + n.count, t + n.total_ns, s + n.self_ns))
}

fn check_folder(dir: &Path, facts: &Path, at_least: usize) {
    let mut checked = 0;
    for entry in fs::read_dir(facts).unwrap() {
        let path = entry.unwrap().path();
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        let Some(name) = file.strip_suffix(".facts.json") else { continue };
        let facts: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        if facts.get("n_events").is_some() && matches!(facts["form"].as_str(), Some("object" | "array")) {
            check_sums(&open(dir, name), &facts, name);
            checked += 1;
        }
    }
    assert!(checked >= at_least, "only {checked} traces with facts in {}", dir.display());
}

#[test]
fn fixtures_keep_their_sums_in_every_grouping_and_tree() {
    check_folder(&fixtures(), &fixtures(), 20);
}

#[test]
#[ignore = "needs NEURONSCOPE_TRACES"]
fn large_traces_keep_their_sums_in_every_grouping_and_tree() {
    let dir = large_traces();
    check_folder(&dir, &dir.join("facts"), 40);
}

#[test]
fn members_and_histogram_of_a_kineto_operator() {
    let profile = open(&fixtures(), "hta_critical_path_overlaid.json.gz");
    let found = members(&profile, &Selection::default(), GroupBy::Name, "aten::to", MemberOrder::Longest);
    assert_eq!((found.len(), found.iter().map(|(_, dur)| dur).sum::<i64>()), (20, 24_655_662_000));
    assert!(found.is_sorted_by_key(|(_, dur)| std::cmp::Reverse(*dur)));
    let h = Histogram::of(found.iter().map(|(_, dur)| *dur).collect(), BinScale::Log, 20);
    assert_eq!((h.count, h.total_ns, h.bins.iter().map(|b| b.count).sum::<u64>()), (20, 24_655_662_000, 20));
    let by_category = table(&profile, GroupBy::Category, Selection::default());
    let kernels = by_category.stats.iter().find(|s| by_category.name(&profile, s) == "kernel").unwrap();
    assert_eq!(kernels.count, 79); // categories of the facts
    let by_device = table(&profile, GroupBy::Device, Selection::default());
    let devices: Vec<&str> = by_device.stats.iter().map(|s| by_device.name(&profile, s)).collect();
    assert!(devices.contains(&"GPU 0") && devices.contains(&"CPU"), "{devices:?}");
}

#[test]
#[ignore = "needs NEURONSCOPE_TRACES"]
fn large_traces_with_python_stacks_have_a_module_hierarchy() {
    let profile = open(&large_traces(), "tracelens_qwen05b_mi300.json.gz");
    let tree = module_tree(&profile, &Selection::default(), 10_000);
    let paths: Vec<(u16, &str)> = tree.nodes.iter().map(|n| (n.depth, n.name.as_str())).collect();
    assert!(paths.iter().any(|(depth, name)| *depth > 3 && name.contains("Linear")), "{paths:?}");
    let closed = profile.slices().ids().filter(|id| !profile.slices().flags(*id).has(SliceFlags::UNCLOSED));
    let own: i64 = sum(&table(&profile, GroupBy::Name, Selection::default())).2;
    assert_eq!(tree.nodes[0].total_ns + tree.outside_ns, own);
    assert!(tree.nodes[0].count < closed.count() as u64);
    for (i, node) in tree.nodes.iter().enumerate() {
        let below: i64 = tree.nodes.iter().skip(1).filter(|n| n.parent as usize == i).map(|n| n.total_ns).sum();
        assert_eq!(node.total_ns, node.self_ns + below, "{}", node.name);
    }
}

/// The trace that HTA wrote its own critical path into, without HTA's arrows, and the slices that HTA found critical.
fn trace_with_known_critical_path() -> (Profile, Vec<SliceId>) {
    let name = "hta_critical_path_overlaid.json.gz";
    let bytes = fs::read(fixtures().join(name)).unwrap();
    let plain = gunzip(&bytes);
    let mut trace: Value = serde_json::from_slice(&plain).unwrap();
    trace["traceEvents"].as_array_mut().unwrap().retain(|e| e["cat"] != "critical_path");
    let profile = read_bytes("trace.json", trace.to_string().as_bytes()).unwrap();
    let slices = profile.slices();
    let is_critical = |id: &SliceId| profile.args().get(slices.args(*id)).contains("\"critical\":1");
    let critical = slices.ids().filter(is_critical).collect();
    (profile, critical)
}

#[test]
fn the_critical_path_of_kineto_agrees_with_htas() {
    let (profile, known) = trace_with_known_critical_path();
    assert_eq!(known.len(), 624);
    let (works, flows) = (Works::of(&profile), FlowIndex::new(&profile));
    let path = CriticalPath::of(&profile, &works, &flows, None);
    // The parts follow one another from the first to the last work.
    assert!(path.parts.windows(2).all(|p| p[0].span.end == p[1].span.start));
    let slices = profile.slices();
    let on_path: Vec<_> = path.parts.iter().filter_map(|p| Some((p.slice?, p.span.end.0 - p.span.start.0))).collect();
    let agreed: i64 = on_path.iter().filter(|(id, _)| known.contains(id)).map(|(_, ns)| ns).sum();
    let all: i64 = on_path.iter().map(|(_, ns)| ns).sum();
    let devices = |ids: &[SliceId]| {
        let mut found: Vec<_> = ids.to_vec();
        found.retain(|id| works.of_slice(&profile, slices.track(*id), *id).is_some_and(Work::is_device));
        found.sort_unstable();
        found.dedup();
        found
    };
    let (ours, theirs) = (devices(&on_path.iter().map(|p| p.0).collect::<Vec<_>>()), devices(&known));
    let both = ours.iter().filter(|id| theirs.contains(id)).count();
    println!(
        "critical path: {} parts, {:.5} of {} ns on slices that HTA has; device slices {both} of HTA's {}, {} of ours",
        path.parts.len(),
        agreed as f64 / all as f64,
        path.length_ns(),
        theirs.len(),
        ours.len()
    );
    assert!(agreed as f64 >= 0.99 * all as f64, "{agreed} of {all} ns");
    assert!(both == ours.len() && 2 * both > theirs.len(), "{both} of {} and {}", ours.len(), theirs.len());
}

#[test]
fn sentences_hold_numbers_that_the_facts_confirm() {
    let profile = open(&fixtures(), "hta_critical_path_overlaid.json.gz");
    let (works, flows) = (Works::of(&profile), FlowIndex::new(&profile));
    let said = sentences(&profile, &works, &flows);
    let figure = |topic: Topic, name: &str| {
        let of_topic = said.iter().filter(|s| s.topic == topic).flat_map(|s| &s.figures);
        of_topic.filter(|f| f.name == name).map(|f| f.value).next()
    };
    assert_eq!(figure(Topic::Profile, "slices"), Some(838.0));
    // Self time of the host's largest operation, from the facts.
    assert_eq!(figure(Topic::Host, "self"), Some(24_587_247_000.0));
    assert_eq!(figure(Topic::Communication, "time"), None);
    let parts: f64 =
        ["compute", "data transfer", "communication"].iter().filter_map(|n| figure(Topic::Verdict, n)).sum();
    let (busy, window) = (figure(Topic::Verdict, "busy").unwrap(), figure(Topic::Verdict, "window").unwrap());
    assert!(busy <= parts && parts <= window, "{busy} {parts} {window}");
    assert_eq!(figure(Topic::Verdict, "idle"), Some(window - busy));
    let gaps = idle_gaps(&profile, &works, &flows, None, usize::MAX);
    // The device's first work is not the first of the window: gaps are within the idle time.
    assert!(gaps.idle_ns as f64 <= window - busy && gaps.total == gaps.gaps.len() as u64);
    let clang = open(&fixtures(), "clang_clang11-pid-45_test.json");
    let topics: Vec<_> =
        sentences(&clang, &Works::of(&clang), &FlowIndex::new(&clang)).iter().map(|s| s.topic).collect();
    assert_eq!(topics, [Topic::Profile, Topic::Verdict, Topic::Operator]);
}

/// The sentence about a topic, with its figures.
fn said_of(profile: &Profile, topic: Topic) -> (String, impl Fn(&str) -> f64) {
    let found = sentences(profile, &Works::of(profile), &FlowIndex::new(profile));
    let sentence = found.into_iter().find(|s| s.topic == topic).expect("the topic is spoken of");
    let figures = sentence.figures;
    let figure = move |name: &str| figures.iter().find(|f| f.name == name).map_or(f64::NAN, |f| f.value);
    (sentence.text, figure)
}

#[test]
fn a_verdict_names_the_idle_time_and_who_causes_it() {
    let none = open(&fixtures(), "kineto_resnet50_workers0_a.json.gz");
    let (text, figure) = said_of(&none, Topic::Verdict);
    assert!(
        text.starts_with("Devices are idle for") && text.contains("DataLoader") && text.contains("workers"),
        "{text}"
    );
    assert!(figure("idle") > 0.4 * figure("window") && figure("cause") > 0.3 * figure("idle"), "{text}");
    // With workers that load, the host is too slow in handing over kernels.
    let four = open(&fixtures(), "kineto_resnet50_workers4_a.json.gz");
    let (text, figure) = said_of(&four, Topic::Verdict);
    assert!(text.starts_with("Devices are idle for") && !text.contains("DataLoader"), "{text}");
    assert!(figure("started late") > 0.5 * figure("idle") && figure("idle") < 0.3 * figure("window"), "{text}");
    // Kernels of one function count together.
    let (text, figure) = said_of(&four, Topic::Operator);
    assert!(text.starts_with("\"vectorized_elementwise_kernel\""), "{text}");
    assert_eq!(figure("count"), 5_940.0);
}

#[test]
fn starting_and_stopping_a_profiler_is_no_time_of_a_device() {
    // Between start_trace and stop_trace lie seconds; the device works for a few milliseconds of them.
    let legacy = open(&fixtures(), "tracelens_jax_conv_legacy.xplane.pb");
    let (text, figure) = said_of(&legacy, Topic::Verdict);
    assert!(figure("window") < 30e6 && text.contains("Execute"), "{text}");
    let attention = open(&fixtures(), "tracelens_jax_te_fused_attn.xplane.pb");
    let (text, figure) = said_of(&attention, Topic::Verdict);
    assert!(text.starts_with("Compute dominates") && figure("busy") > 0.9 * figure("window"), "{text}");
}

#[test]
fn two_data_loaders_compared() {
    let totals = |name: &str| {
        let profile = open(&fixtures(), name);
        OperatorTotals::of(&profile, &Selection::default(), &table(&profile, GroupBy::Name, Selection::default()), name)
    };
    let (none, four) = (totals("kineto_resnet50_workers0_a.json.gz"), totals("kineto_resnet50_workers4_a.json.gz"));
    let found = Comparison::of(&none, &four, Measure::Total, false).unwrap();
    let row = |name: &str| found.rows.iter().find(|r| r.name == name).unwrap();
    // Totals of the facts: 415,791,000 ns with no workers; the profiler's own span 1,065,723,000 and 846,954,000 ns.
    let loader = row("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
    assert_eq!((loader.presence, loader.base_ns, loader.base_count), (Presence::Gone, 415_791_000.0, 6.0));
    assert_eq!(row("PyTorch Profiler (0)").difference_ns, 846_954_000.0 - 1_065_723_000.0);
    // Wrappers and waits never come first in a list, however large their effect is.
    let last = ["Profiler", "PyTorch P", "cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventQuery"];
    let wraps: Vec<bool> = found.rows.iter().map(|r| last.iter().any(|name| r.name.starts_with(name))).collect();
    assert!(wraps.is_sorted() && wraps.contains(&true) && !wraps[0]);
    assert_eq!((found.sum.base_count, found.sum.other_count), (44_666.0, 41_906.0));
    assert_eq!((none.steps, four.steps), (Some(6), Some(6)));
    // The first step begins and the last one ends as the facts' events do.
    assert!(found.took.what == "Steps" && found.took.other_ns < 0.9 * found.took.base_ns, "{}", found.took.text());
}

/// Several devices that are idle at once wait once: a cause cannot be longer than the time in which none works.
#[test]
fn no_cause_of_idle_time_is_longer_than_the_idle_time() {
    let mut causes = 0;
    for entry in fs::read_dir(fixtures()).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        if ![".json", ".json.gz", ".pb"].iter().any(|end| name.ends_with(end)) || name.ends_with(".facts.json") {
            continue;
        }
        let Ok(profile) = read_bytes(&name, &fs::read(fixtures().join(&name)).unwrap()) else { continue };
        let (works, flows) = (Works::of(&profile), FlowIndex::new(&profile));
        let mut pass = SentencesPass::new(&profile);
        while !pass.advance(&profile, &works, &flows, usize::MAX) {}
        let found = pass.finish_overview(&profile, &works);
        if let (Some(cause), Some(breakdown)) = (found.idle.cause, found.breakdown) {
            causes += 1;
            assert_eq!(found.idle.idle_ns, breakdown.waiting_ns(), "{name}");
            assert!(cause.ns <= breakdown.waiting_ns(), "{name}: {} > {}", cause.ns, breakdown.waiting_ns());
        }
    }
    assert!(causes > 3, "{causes} profiles have a cause");
}

/// Times in which a call of the host's thread runs and no kernel or copy of the device does, added up from the events of the files.
#[test]
fn a_cause_of_idle_time_has_the_time_of_the_calls_inside_it() {
    let expected = [
        ("kineto_resnet50_workers0_a.json.gz", 461_335_000, "enumerate(DataLoader)#_Single", 355_571_000),
        (
            "tracelens_bert_small_mi300.json.gz",
            3_616_586,
            "transformers/models/bert/modeling_bert.py(573): forward",
            2_426_207,
        ),
    ];
    for (name, idle_ns, starts, cause_ns) in expected {
        let profile = open(&fixtures(), name);
        let (works, flows) = (Works::of(&profile), FlowIndex::new(&profile));
        let mut pass = SentencesPass::new(&profile);
        while !pass.advance(&profile, &works, &flows, usize::MAX) {}
        let found = pass.finish_overview(&profile, &works).idle;
        let cause = found.cause.clone().unwrap();
        assert!(cause.name.starts_with(starts), "{name}: {cause:?}");
        assert_eq!((found.idle_ns, cause.ns), (idle_ns, cause_ns), "{name}");
        assert!(found.text().contains("more loader workers") || found.text().contains("fewer and larger"), "{name}");
    }
}

#[test]
fn every_tool_merges_the_instances_that_the_overview_merges() {
    let profile = open(&fixtures(), "kineto_resnet50_workers0_a.json.gz");
    let (works, flows) = (Works::of(&profile), FlowIndex::new(&profile));
    let mut pass = SentencesPass::new(&profile);
    while !pass.advance(&profile, &works, &flows, usize::MAX) {}
    let first = pass.finish_overview(&profile, &works).operations.into_iter().take(5);
    let expected: Vec<(String, i64)> = first.map(|o| (o.name, o.self_ns)).collect();
    assert_eq!(expected[0].0, "vectorized_elementwise_kernel");

    let selection = Selection::of_level(profile.levels().default_level());
    let of_table = table(&profile, GroupBy::Operation, selection.clone());
    let rows = of_table.stats.iter().take(5).map(|s| (of_table.name(&profile, s).to_owned(), s.self_ns));
    assert_eq!(rows.collect::<Vec<_>>(), expected, "operators");

    let names = Names::of(&profile, Instances::Merged);
    let mut pass = CallTreePass::new(&profile, selection.clone(), false, names);
    while !pass.advance(&profile, usize::MAX) {}
    let tree = pass.finish();
    let children = tree.children();
    let nodes = children[0].iter().take(5).map(|i| &tree.nodes()[*i as usize]);
    assert_eq!(nodes.map(|n| (n.frame.label(&profile), n.self_ns)).collect::<Vec<_>>(), expected, "flame graph");

    let totals = OperatorTotals::of(&profile, &selection, &of_table, "a");
    let compared = totals.rows.iter().take(5).map(|r| (r.name.clone(), r.self_ns));
    assert_eq!(compared.collect::<Vec<_>>(), expected, "comparison");

    // Each name by itself, another operation is first.
    let each = table(&profile, GroupBy::Name, selection);
    assert!(each.name(&profile, &each.stats[0]).contains("dgrad_engine<float, 512"));
}
