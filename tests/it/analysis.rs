//! Analyses of real traces against facts that an independent reader computed from them.
//!
//! For a folder of larger traces set `NEURONSCOPE_TRACES`, as for the module `formats`.

use std::fs;
use std::path::Path;

use neuronscope::base::{Interval, TraceNs};
use neuronscope::profile::analysis::calltree::{CallTree, call_tree};
use neuronscope::profile::analysis::histogram::{BinScale, Histogram};
use neuronscope::profile::analysis::members::{MemberOrder, members};
use neuronscope::profile::analysis::modules::module_tree;
use neuronscope::profile::analysis::operators::{OpQuery, OpTable, operator_stats};
use neuronscope::profile::analysis::{GroupBy, RangeRule, Selection};
use neuronscope::profile::formats::read_bytes;
use neuronscope::profile::{Profile, SliceFlags};
use serde_json::Value;

use crate::formats::fixtures;

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

/// Every way to group and every tree holds the same slices and the same time.
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
    for (by, name) in GroupBy::ALL {
        assert_eq!(sum(&table(profile, by, Selection::default())), (count, total, own), "{what} by {name}");
    }
    let all_threads = call_tree(profile, &Selection::default(), false);
    for tree in [&all_threads, &call_tree(profile, &Selection::default(), true)] {
        assert_eq!(sum_of_tree(tree), (count, total, own), "{what}: call tree");
    }
    // Halves of the span, clipped, are the whole.
    let (start, end) = (profile.span().start.0, profile.span().end.0 + 1);
    let half = start + (end - start) / 3;
    let part = |from, to| {
        let within = Some(Interval::new(TraceNs(from), TraceNs(to)));
        let (_, total, own) =
            sum(&table(profile, GroupBy::Name, Selection { within, rule: RangeRule::Clip, tracks: None }));
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
fn larger_traces_keep_their_sums_in_every_grouping_and_tree() {
    let Some(dir) = std::env::var_os("NEURONSCOPE_TRACES") else { return };
    let dir = Path::new(&dir);
    check_folder(dir, &dir.join("facts"), 40);
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
fn python_stacks_give_a_module_hierarchy() {
    let Some(dir) = std::env::var_os("NEURONSCOPE_TRACES") else { return };
    let profile = open(Path::new(&dir), "tracelens_qwen05b_mi300.json.gz");
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
