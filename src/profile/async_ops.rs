//! Asynchronous operations as slices, on tracks of their own: begins, ends and steps that an id joins (`b` `n` `e`,
//! and the old `S` `T` `p` `F`).
//!
//! An end belongs to the last begin of its name, category and id that is open, in its own process if there is one
//! there. What begins while another operation of the same id is open is inside it; such a tree is on one track, and
//! trees that overlap are on tracks beside one another. The link events stay as they are.

use super::builder::ProfileBuilder;
use super::{ArgsId, ProcessId, SliceFlags, TrackId, TrackKind};
use crate::base::{Diagnostics, FxHashMap, StrId};

/// Tracks of one name beside one another; beyond that operations share the last.
const MAX_LANES: usize = 256;

/// A step that is done, or waits for its end.
#[derive(Clone, Copy)]
struct Op {
    name: StrId,
    category: StrId,
    args: ArgsId,
    start: i64,
    end: i64,
    flags: SliceFlags,
    process: ProcessId,
    tree: usize,
    is_open: bool,
}

/// An outermost operation with those inside it.
struct Tree {
    process: ProcessId,
    name: StrId,
    start: i64,
    end: i64,
}

/// Adds the tracks.
pub(super) fn derive(b: &mut ProfileBuilder, diagnostics: &mut Diagnostics) {
    let is_step = |phase: u8| matches!(phase, b'b' | b'n' | b'e' | b'S' | b'T' | b'p' | b'F');
    let mut order: Vec<u32> = (0..b.links.ts.len() as u32).filter(|&i| is_step(b.links.phase[i as usize])).collect();
    if order.is_empty() {
        return;
    }
    order.sort_by_key(|&i| b.links.ts[i as usize]);
    let mut ops = Ops::default();
    for i in order {
        ops.step(b, i as usize, diagnostics);
    }
    ops.close_open(b, diagnostics);
    ops.place(b);
}

#[derive(Default)]
struct Ops {
    done: Vec<Op>,
    trees: Vec<Tree>,
    /// Positions in `done` of what is open, by category and id.
    open: FxHashMap<(StrId, u8, u64), Vec<usize>>,
}

impl Ops {
    fn step(&mut self, b: &ProfileBuilder, i: usize, diagnostics: &mut Diagnostics) {
        let links = &b.links;
        let (ts, name, category) = (links.ts[i], links.name[i], links.category[i]);
        let process = b.tracks[links.track[i]].process;
        let open = self.open.entry((category, b.link_ids.tag[i], b.link_ids.id[i])).or_default();
        let done = &mut self.done;
        let inside = open.iter().rev().find(|&&at| done[at].process == process).map(|&at| done[at].tree);
        let mut new = Op {
            name,
            category,
            args: links.args[i],
            start: ts,
            end: ts,
            flags: SliceFlags::default(),
            process,
            tree: inside.unwrap_or(self.trees.len()),
            is_open: false,
        };
        let mut begin_tree = || {
            if inside.is_none() {
                self.trees.push(Tree { process, name, start: ts, end: ts });
            }
        };
        match links.phase[i] {
            b'b' | b'S' => {
                begin_tree();
                new.is_open = true;
                open.push(done.len());
                done.push(new);
            }
            b'e' | b'F' => {
                let same = |own: bool| {
                    open.iter().rposition(|&at| done[at].name == name && (!own || done[at].process == process))
                };
                let Some(at) = same(true).or_else(|| same(false)) else {
                    diagnostics.add("async_end_without_begin", None, || {
                        format!("\"{}\" ends at {ts} ns, but nothing of its name and id was open", b.text(name))
                    });
                    return;
                };
                let begun = &mut done[open.remove(at)];
                (begun.end, begun.is_open) = (ts, false);
                let tree = &mut self.trees[begun.tree];
                tree.end = tree.end.max(ts);
            }
            _ => {
                begin_tree();
                new.flags = SliceFlags::NO_DURATION;
                done.push(new);
            }
        }
    }

    /// What never ended lasts to the end of the profile.
    fn close_open(&mut self, b: &ProfileBuilder, diagnostics: &mut Diagnostics) {
        let end = b.end_time();
        for op in self.done.iter_mut().filter(|op| op.is_open) {
            op.end = end.max(op.start);
            op.flags = SliceFlags::UNCLOSED;
            let tree = &mut self.trees[op.tree];
            tree.end = tree.end.max(op.end);
            diagnostics.add("async_begin_without_end", None, || {
                format!("\"{}\" begins at {} ns and never ends: shown to the end", b.text(op.name), op.start)
            });
        }
    }

    /// Gives every tree a track: of those of its name in its process the first that is free.
    fn place(self, b: &mut ProfileBuilder) {
        let mut order: Vec<usize> = (0..self.trees.len()).collect();
        order.sort_by_key(|&i| (self.trees[i].start, i));
        let mut lanes: FxHashMap<(ProcessId, StrId), Vec<(TrackId, i64)>> = FxHashMap::default();
        let mut track_of = vec![TrackId(0); self.trees.len()];
        for i in order {
            let tree = &self.trees[i];
            let lanes = lanes.entry((tree.process, tree.name)).or_default();
            let free = lanes.iter().position(|(_, end)| *end < tree.start || *end == tree.start && tree.end > *end);
            let at = free.unwrap_or(lanes.len()).min(MAX_LANES - 1);
            if at == lanes.len() {
                let track = b.derived_track(tree.process, TrackKind::Async, StrId::EMPTY, tree.name);
                lanes.push((track, tree.end));
            }
            lanes[at].1 = lanes[at].1.max(tree.end);
            track_of[i] = lanes[at].0;
        }
        for op in self.done {
            let (track, dur) = (track_of[op.tree], op.end.saturating_sub(op.start));
            b.slices.push(track, op.start, dur, op.name, op.category, op.args, op.flags);
        }
    }
}
