//! V8's CPU profiles (`.cpuprofile`) and sampled heap profiles (`.heapprofile`).
//!
//! Newer files have a list of nodes, the node of each sample and the time between samples; old ones a tree of nodes
//! (`head`). Times are microseconds.

use super::frames::{WeightUnit, bad_sample, check_slices, frame};
use crate::decimal::TimeUnit;
use crate::document::TextContent;
use crate::json::{Doc, Value};
use crate::stacks::{MAX_STACK, StackFrame, StackTable, StackTrack};
use ns_base::Refusal;
use ns_base::{Diagnostics, FxHashMap};
use ns_profile::{ProfileBuilder, TrackId};

/// Reads a whole `.cpuprofile`.
pub(crate) fn read_cpuprofile(text: &[u8]) -> Result<TextContent, Refusal> {
    let doc = Doc::new(text);
    let (mut builder, mut diagnostics) = (ProfileBuilder::new("cpuprofile"), Diagnostics::new());
    let process = builder.process("", "JavaScript");
    let track = builder.thread(process, "", "CPU profile");
    let mut nodes = Nodes::default();
    let [list, head] = doc.root().fields(["nodes", "head"]);
    match (list, head) {
        (Some(list), _) => nodes.add_list(&mut builder, list),
        (None, Some(head)) => nodes.add_tree(&mut builder, head, |_, _| {}),
        (None, None) => {}
    }
    let samples = Samples::of(doc.root());
    if samples.is_none() {
        samples.write_hits(&mut builder, &mut diagnostics, track, &mut nodes);
    } else {
        samples.write(&mut builder, &mut diagnostics, track, &mut nodes, text.len())?;
    }
    doc.report_damage(&mut diagnostics);
    Ok(TextContent::of(builder, diagnostics))
}

/// Larger counts do not occur: sums and products of counts up to this do not overflow.
const MAX_HITS: i64 = 1 << 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NodeKind {
    Function,
    /// The root above all other nodes; not shown.
    Root,
    /// Runs on top of whatever ran before it.
    Collector,
}

impl NodeKind {
    fn of(name: &str) -> Self {
        match name {
            "(root)" => Self::Root,
            "(garbage collector)" => Self::Collector,
            _ => Self::Function,
        }
    }
}

/// The nodes of a profile, by the ids it uses.
#[derive(Default)]
pub(crate) struct Nodes {
    table: StackTable,
    kinds: Vec<NodeKind>,
    place_of: FxHashMap<i64, usize>,
    /// The top nodes of samples, and the number of samples at each.
    hits: Vec<(usize, i64)>,
}

impl Nodes {
    /// Adds a flat list, which may continue an earlier one: children are named by id, or each node names its parent.
    pub fn add_list(&mut self, builder: &mut ProfileBuilder, list: Value<'_>) {
        let mut parents: FxHashMap<i64, i64> = FxHashMap::default();
        let mut rows = Vec::new();
        for node in list.items() {
            let [id, call, children, parent, hits] = node.fields(["id", "callFrame", "children", "parent", "hitCount"]);
            let Some(id) = id.and_then(Value::i64) else { continue };
            for child in children.into_iter().flat_map(Value::items).filter_map(Value::i64) {
                parents.insert(child, id);
            }
            if let Some(parent) = parent.and_then(Value::i64) {
                parents.insert(id, parent);
            }
            let (frame, kind) = call_frame(builder, call.unwrap_or(node));
            self.place_of.insert(id, self.kinds.len());
            self.note_hits(hits);
            self.kinds.push(kind);
            rows.push((id, frame));
        }
        for (id, frame) in rows {
            let place = self.table.len();
            let below = parents.get(&id).and_then(|p| self.place_of.get(p)).copied();
            self.table.push(frame, below.filter(|&p| p != place && self.kinds[p] != NodeKind::Root));
        }
    }

    /// Adds a tree of nodes with their children inside them, and calls `visit` for each.
    fn add_tree<'a>(&mut self, builder: &mut ProfileBuilder, head: Value<'a>, mut visit: impl FnMut(Value<'a>, usize)) {
        let mut open = vec![(head, None, 0usize)];
        while let Some((node, below, depth)) = open.pop() {
            let [id, call, children, hits] = node.fields(["id", "callFrame", "children", "hitCount"]);
            let (frame, kind) = call_frame(builder, call.unwrap_or(node));
            let place = self.table.len();
            self.table.push(frame, below);
            self.note_hits(hits);
            self.kinds.push(kind);
            if let Some(id) = id.and_then(Value::i64) {
                self.place_of.insert(id, place);
            }
            visit(node, place);
            let above = if kind == NodeKind::Root { below } else { Some(place) };
            if depth < MAX_STACK {
                let first = open.len();
                open.extend(children.into_iter().flat_map(Value::items).map(|c| (c, above, depth + 1)));
                open[first..].reverse();
            }
        }
    }

    /// Notes how often the next node was on top.
    fn note_hits(&mut self, hits: Option<Value<'_>>) {
        self.hits.extend(hits.and_then(Value::i64).filter(|&n| n > 0).map(|n| (self.kinds.len(), n.min(MAX_HITS))));
    }

    /// Runs the stack of this node from `ts` on.
    pub fn set(&mut self, builder: &mut ProfileBuilder, stack: &mut StackTrack, ts: i64, place: usize) {
        match self.kinds.get(place) {
            Some(NodeKind::Root) | None => stack.set(builder, ts, &[]),
            Some(NodeKind::Collector) => {
                if let [.., collector] = self.table.path(Some(place)) {
                    stack.add(ts, *collector);
                }
            }
            Some(NodeKind::Function) => stack.set(builder, ts, self.table.path(Some(place))),
        }
    }

    /// The index of the node with this id.
    pub fn place(&self, id: i64) -> Option<usize> {
        self.place_of.get(&id).copied()
    }
}

/// The frame of a node and its kind. Lines and columns count from 0 in newer files.
fn call_frame(builder: &mut ProfileBuilder, call: Value<'_>) -> (StackFrame, NodeKind) {
    let [name, url, line, col] = call.fields(["functionName", "url", "lineNumber", "columnNumber"]);
    let name = name.and_then(Value::str).unwrap_or_default();
    let (line, col) = (line.and_then(Value::i64), col.and_then(Value::i64));
    // Nodes that are not functions have -1 for both.
    let from_one = |n: Option<i64>| n.filter(|&n| n >= 0).map(|n| n.saturating_add(1));
    let url = url.and_then(Value::str).unwrap_or_default();
    (frame(builder, &name, &url, from_one(line), from_one(col)), NodeKind::of(&name))
}

/// The samples of a profile.
struct Samples<'a> {
    start_ns: i64,
    end_ns: Option<i64>,
    nodes: Option<Value<'a>>,
    deltas: Option<Value<'a>>,
    timestamps: Option<Value<'a>>,
}

impl<'a> Samples<'a> {
    fn of(root: Value<'a>) -> Self {
        let [start, end, nodes, deltas, timestamps] =
            root.fields(["startTime", "endTime", "samples", "timeDeltas", "timestamps"]);
        // Old files have the ends in seconds and a time for each sample in microseconds.
        let unit = if deltas.is_some() || timestamps.is_none() { TimeUnit::Us } else { TimeUnit::S };
        let ns = |v: Option<Value<'_>>| v.and_then(|v| v.ns(unit));
        let start_ns = if timestamps.is_some() && deltas.is_none() { None } else { ns(start) };
        Self { start_ns: start_ns.unwrap_or(0), end_ns: ns(end), nodes, deltas, timestamps }
    }

    /// Whether the file has no samples.
    fn is_none(&self) -> bool {
        self.nodes.and_then(|list| list.items().next()).is_none()
    }

    /// For a file that recorded only how often each node was on top: each node is shown once, for its share of the time.
    fn write_hits(
        self,
        builder: &mut ProfileBuilder,
        diagnostics: &mut Diagnostics,
        track: TrackId,
        nodes: &mut Nodes,
    ) {
        let hits = std::mem::take(&mut nodes.hits);
        let all: i128 = hits.iter().map(|(_, n)| i128::from(*n)).sum();
        let span = self.end_ns.map_or(0, |end| end.saturating_sub(self.start_ns)).max(0);
        let (mut stack, mut before) = (StackTrack::new(track), 0i128);
        for (place, n) in hits {
            builder.count_events("P", n.cast_unsigned());
            builder.note_track(track);
            // Without times a sample is one nanosecond.
            let passed = if span > 0 { i128::from(span) * before / all } else { before };
            nodes.set(builder, &mut stack, self.start_ns.saturating_add(clamped(passed)), place);
            before += i128::from(n);
        }
        let passed = if span > 0 { span } else { clamped(before) };
        stack.finish(builder, self.start_ns.saturating_add(passed));
        builder.note_time(self.start_ns);
        builder.note_time(self.start_ns.saturating_add(passed));
        if all > 0 {
            diagnostics.add("no_samples", None, || {
                "the file records only how often each function was seen, not when: each is shown once, for its share of the time"
                    .to_owned()
            });
        }
    }

    /// The first delta is the time from the start to the first sample; a stack runs to the next sample, the last one to the end.
    fn write(
        self,
        builder: &mut ProfileBuilder,
        diagnostics: &mut Diagnostics,
        track: TrackId,
        nodes: &mut Nodes,
        text_bytes: usize,
    ) -> Result<(), Refusal> {
        let is_absolute = self.deltas.is_none();
        let mut times = self.deltas.or(self.timestamps).into_iter().flat_map(Value::items);
        let (mut now, mut stack) = (self.start_ns, StackTrack::new(track));
        builder.note_time(now);
        for sample in self.nodes.into_iter().flat_map(Value::items) {
            let time = times.next().and_then(|t| t.ns(TimeUnit::Us));
            let place = sample.i64().and_then(|id| nodes.place(id));
            builder.note_track(track);
            let (Some(time), Some(place)) = (time, place) else {
                builder.count_event(None);
                bad_sample(diagnostics, Some(sample), "a sample has no time or names no node");
                continue;
            };
            builder.count_event(Some("P"));
            let at = if is_absolute { time } else { now.saturating_add(time) };
            if at < now {
                diagnostics.add("time_backwards", Some(sample.offset()), || {
                    "a sample is before the one in front of it: taken as at the same time".to_owned()
                });
            }
            now = at.max(now);
            nodes.set(builder, &mut stack, now, place);
            check_slices(builder, text_bytes)?;
        }
        let end = self.end_ns.unwrap_or(now).max(now);
        stack.finish(builder, end);
        builder.note_time(end);
        Ok(())
    }
}

fn clamped(ns: i128) -> i64 {
    i64::try_from(ns).unwrap_or(i64::MAX)
}

/// Reads a whole `.heapprofile`: bytes allocated in each function, as lengths.
pub(crate) fn read_heapprofile(text: &[u8]) -> Result<TextContent, Refusal> {
    let doc = Doc::new(text);
    let (mut builder, mut diagnostics) = (ProfileBuilder::new("heapprofile"), Diagnostics::new());
    let process = builder.process("", "JavaScript");
    let track = builder.thread(process, "", "Sampled heap");
    let (mut nodes, mut sizes) = (Nodes::default(), Vec::new());
    if let Some(head) = doc.root().get("head") {
        nodes.add_tree(&mut builder, head, |node, place| {
            let size = node.get("selfSize").and_then(Value::i64).unwrap_or(0);
            sizes.push((place, size.max(0)));
        });
    }
    let (mut now, mut stack) = (0i64, StackTrack::new(track));
    for (place, size) in sizes.into_iter().filter(|(_, size)| *size > 0) {
        builder.count_event(Some("P"));
        builder.note_track(track);
        nodes.set(&mut builder, &mut stack, now, place);
        now = now.saturating_add(size);
    }
    stack.finish(&mut builder, now);
    WeightUnit::Count.note("bytes", &mut builder, &mut diagnostics);
    doc.report_damage(&mut diagnostics);
    Ok(TextContent::of(builder, diagnostics))
}
