//! The rows of one process of the operator timeline.

use serde_json::json;

use super::lanes::Lanes;
use super::segments::{Stretch, level, segments};
use ns_base::{FxHashMap, Interval};
use ns_machine::{SourceEntry, SourceId, SourceMap, SourceMember};
use ns_profile::fused::{SHARES, share_text};
use ns_profile::neuron::{FRAMEWORK_TRACK, HLO_TRACK};
use ns_profile::{ArgsId, ProcessId, ProfileBuilder, TrackId};

/// Tracks of a process, top to bottom.
pub(super) struct Rows {
    modules: TrackId,
    framework: Lanes,
    hlo: Lanes,
}

/// Numbers for `fused_N`, above those given by the compiler.
pub(super) struct FusedNames(u32);

impl FusedNames {
    pub fn above(sources: &SourceMap) -> Self {
        let compiled = sources.iter().filter_map(|s| s.hlo_text.strip_prefix("fused_")?.parse::<u32>().ok()).max();
        Self(compiled.map_or(0, |n| n + 1))
    }

    fn next(&mut self) -> String {
        let name = format!("fused_{}", self.0);
        self.0 += 1;
        name
    }
}

impl Rows {
    pub fn new(builder: &mut ProfileBuilder, process: ProcessId) -> Self {
        let modules = builder.thread(process, "modules", "Modules");
        Self {
            modules,
            framework: Lanes::new(builder, process, "framework", FRAMEWORK_TRACK, Lanes::ROOM),
            hlo: Lanes::new(builder, process, "hlo", HLO_TRACK, 2 * Lanes::ROOM),
        }
    }

    /// The module hierarchy: one level below another, the outermost on top.
    pub fn modules(
        &self,
        builder: &mut ProfileBuilder,
        sources: &SourceMap,
        fused: &mut FusedNames,
        spans: &[(SourceId, Interval<i64>)],
    ) {
        let cut = segments(spans);
        let deepest = spans.iter().map(|(s, _)| sources[*s].scope.len()).max().unwrap_or(0);
        // The model itself is one slice from the first to the last of its operations in this process, as the plugin
        // shows it.
        if let (Some(first), Some(last)) = (cut.first(), cut.last()) {
            let model = &sources[first.active[0]].scope[..1];
            let time = Interval::new(first.time.start, last.time.end);
            labelled(builder, self.modules, time, fused, model, String::clone, "module");
        }
        for depth in 1..deepest {
            let row = level(&cut, |s| (sources[s].scope.len() > depth).then(|| sources[s].scope[..=depth].join("/")));
            for Stretch { time, labels: paths, .. } in row {
                let short = |path: &String| path.rsplit('/').next().unwrap_or(path).to_owned();
                labelled(builder, self.modules, time, fused, &paths, short, "module");
            }
        }
    }

    /// Framework and HLO rows in which overlapping operations are shown as one.
    pub fn overlapping_operations(
        &mut self,
        builder: &mut ProfileBuilder,
        sources: &SourceMap,
        fused: &mut FusedNames,
        spans: &[(SourceId, Interval<i64>)],
    ) {
        let cut = segments(spans);
        for Stretch { time, labels: paths, first } in level(&cut, |s| Some(sources[s].path.clone())) {
            let category = sources[first].framework_op.clone();
            let short = |_: &String| category.clone();
            let track = self.framework.place(builder, time);
            labelled(builder, track, time, fused, &paths, short, &category);
        }
        for Stretch { time, labels: texts, first } in level(&cut, |s| Some(sources[s].hlo_text.clone())) {
            let track = self.hlo.place(builder, time);
            labelled(builder, track, time, fused, &texts, String::clone, &sources[first].hlo_opcode);
        }
    }

    /// Framework and HLO rows in which each operation has separate slices: one for each span in which it is busy.
    /// All slices of an operation but the first are marked as continued, so that occurrences can be counted.
    pub fn separate_operations(
        &mut self,
        builder: &mut ProfileBuilder,
        sources: &SourceMap,
        spans: &[(SourceId, Interval<i64>)],
    ) {
        let mut seen: FxHashMap<SourceId, ArgsId> = FxHashMap::default();
        for (source, time) in spans {
            let entry = &sources[*source];
            let args = match seen.get(source) {
                None => {
                    seen.insert(*source, builder.add_args(&args_of(entry, true)));
                    builder.add_args(&args_of(entry, false))
                }
                Some(continued) => *continued,
            };
            let rows = [
                (&mut self.framework, &entry.framework_op, &entry.framework_op),
                (&mut self.hlo, &entry.hlo_text, &entry.hlo_opcode),
            ];
            for (lanes, name, category) in rows {
                let track = lanes.place(builder, *time);
                let (name, category) = (builder.intern(name), builder.intern(category));
                builder.slice_of(track, time.start, Some(time.end - time.start), name, category, args);
            }
        }
    }
}

/// A slice of one operation under its short label, or of several as `fused_N` with their labels.
fn labelled(
    builder: &mut ProfileBuilder,
    track: TrackId,
    time: Interval<i64>,
    fused: &mut FusedNames,
    labels: &[String],
    short: impl Fn(&String) -> String,
    category: &str,
) {
    let (name, category, args) = match labels {
        [only] => (short(only), category, json!({ "path": only }).to_string()),
        several => (fused.next(), "fused", json!({ "fused": several.join(",\n") }).to_string()),
    };
    builder.slice(track, time.start, time.end - time.start, &name, category, Some(&args));
}

/// Arguments of an operation's slice, as JSON text.
pub(super) fn args_of(entry: &SourceEntry, continued: bool) -> String {
    let mut args = serde_json::Map::new();
    args.insert("path".into(), json!(entry.path));
    args.insert("hlo".into(), json!(entry.hlo_text));
    if !entry.members.is_empty() {
        let list = |text: fn(&SourceMember) -> String| entry.members.iter().map(text).collect::<Vec<_>>().join(",\n");
        args.insert("fused".into(), json!(list(|m| m.path.clone())));
        args.insert("fused_hlo".into(), json!(list(|m| m.hlo_text.clone())));
        // Without shares the root has all of the time.
        if entry.members.iter().rev().skip(1).any(|m| m.share_ppm > 0) {
            args.insert(SHARES.into(), json!(list(|m| share_text(m.share_ppm))));
        }
    }
    if continued {
        args.insert("continues".into(), json!(true));
    }
    serde_json::Value::Object(args).to_string()
}
