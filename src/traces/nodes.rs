//! The nodes of V8's CPU profiles, which are files of their own or events of a Chrome trace: a flat list, or a tree.

use crate::json::Value;
use crate::stacks::{MAX_STACK, StackFrame, StackTable, StackTrack, frame};
use ns_base::FxHashMap;
use ns_profile::ProfileBuilder;

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
pub struct Nodes {
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
            let place = self.table.count();
            let below = parents.get(&id).and_then(|p| self.place_of.get(p)).copied();
            self.table.push(frame, below.filter(|&p| p != place && self.kinds[p] != NodeKind::Root));
        }
    }

    /// Adds a tree of nodes with their children inside them, and calls `visit` for each.
    pub fn add_tree<'a>(
        &mut self,
        builder: &mut ProfileBuilder,
        head: Value<'a>,
        mut visit: impl FnMut(Value<'a>, usize),
    ) {
        let mut open = vec![(head, None, 0usize)];
        while let Some((node, below, depth)) = open.pop() {
            let [id, call, children, hits] = node.fields(["id", "callFrame", "children", "hitCount"]);
            let (frame, kind) = call_frame(builder, call.unwrap_or(node));
            let place = self.table.count();
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

    /// The nodes that were on top in samples, and how often; the list is empty afterwards.
    pub fn take_hits(&mut self) -> Vec<(usize, i64)> {
        std::mem::take(&mut self.hits)
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
