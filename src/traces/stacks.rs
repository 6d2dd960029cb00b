//! Sampled stacks as slices: a frame is one slice over all consecutive samples that have it at the same depth under
//! the same frames.

use crate::json::ObjectText;
use ns_base::StrId;
use ns_profile::{ArgsId, ProfileBuilder, TrackId};

/// Most frames of one stack; further ones are left out. Deeper stacks only come from hostile files.
pub const MAX_STACK: usize = 4096;

/// One frame of a stack. Two frames are the same if all fields are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StackFrame {
    pub name: StrId,
    pub category: StrId,
    pub args: ArgsId,
}

impl StackFrame {
    /// A frame with only a name.
    pub fn of_name(name: StrId) -> Self {
        Self { name, category: StrId::EMPTY, args: ArgsId::NONE }
    }
}

/// A frame by its name and its place in the source; empty and absent parts are left out.
pub fn frame(builder: &mut ProfileBuilder, name: &str, file: &str, line: Option<i64>, col: Option<i64>) -> StackFrame {
    let mut args = ObjectText::default();
    args.text("file", file);
    if let Some(line) = line {
        args.number("line", line);
    }
    if let Some(col) = col {
        args.number("column", col);
    }
    let name = builder.intern(if name.is_empty() { "(anonymous)" } else { name });
    let args = args.take();
    let args = if args.is_empty() { ArgsId::NONE } else { builder.add_args(&args) };
    StackFrame { name, category: StrId::EMPTY, args }
}

/// The stack of one track as it changes.
#[derive(Debug)]
pub struct StackTrack {
    track: TrackId,
    open: Vec<(StackFrame, i64)>,
}

impl StackTrack {
    pub fn new(track: TrackId) -> Self {
        Self { track, open: Vec::new() }
    }

    /// From `ts` on this stack runs; the outermost frame is first.
    pub fn set(&mut self, builder: &mut ProfileBuilder, ts: i64, stack: &[StackFrame]) {
        let stack = &stack[..stack.len().min(MAX_STACK)];
        let same = self.open.iter().zip(stack).take_while(|((open, _), frame)| open == *frame).count();
        self.close(builder, ts, same);
        self.open.extend(stack[same..].iter().map(|&frame| (frame, ts)));
    }

    /// Puts a frame on top of the running stack from `ts` on, unless it is the top already.
    pub fn add(&mut self, ts: i64, frame: StackFrame) {
        if self.open.last().is_none_or(|(top, _)| *top != frame) && self.open.len() < MAX_STACK {
            self.open.push((frame, ts));
        }
    }

    /// Gives the open frames other times.
    pub fn map_times(&mut self, time: impl Fn(i64) -> i64) {
        self.open.iter_mut().for_each(|(_, start)| *start = time(*start));
    }

    /// Ends the open frames.
    pub fn finish(&mut self, builder: &mut ProfileBuilder, ts: i64) {
        self.close(builder, ts, 0);
    }

    /// Outermost first: of slices with the same times the first one added is outside.
    fn close(&mut self, builder: &mut ProfileBuilder, ts: i64, keep: usize) {
        for (frame, start) in self.open.drain(keep..) {
            builder.derived_slice(self.track, start, ts.max(start), frame.name, frame.category, frame.args);
        }
    }
}

/// Stacks as a tree: every stack is a frame on top of another stack.
#[derive(Debug, Default)]
pub struct StackTable {
    nodes: Vec<(StackFrame, Option<usize>)>,
    path: Vec<StackFrame>,
}

impl StackTable {
    /// Adds a stack; its index is the number of stacks before it.
    pub fn push(&mut self, frame: StackFrame, below: Option<usize>) {
        self.nodes.push((frame, below));
    }

    /// Number of stacks.
    pub fn count(&self) -> usize {
        self.nodes.len()
    }

    /// Frames of a stack, outermost first. Ends at a stack that does not exist, and at [`MAX_STACK`], which also ends cycles.
    pub fn path(&mut self, leaf: Option<usize>) -> &[StackFrame] {
        self.path.clear();
        let mut at = leaf;
        while let Some(&(frame, below)) = at.and_then(|i| self.nodes.get(i)) {
            if self.path.len() >= MAX_STACK {
                break;
            }
            self.path.push(frame);
            at = below;
        }
        self.path.reverse();
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_base::Diagnostics;

    #[test]
    fn frames_that_go_on_are_one_slice() {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", "");
        let track = b.thread(p, "1", "");
        let [main, f, g] = ["main", "f", "g"].map(|n| StackFrame::of_name(b.intern(n)));
        let mut stack = StackTrack::new(track);
        for (ts, frames) in [(0, &[main, f][..]), (10, &[main, f]), (20, &[main, g, f]), (30, &[]), (40, &[main])] {
            stack.set(&mut b, ts, frames);
        }
        stack.finish(&mut b, 50);
        let profile = b.finish(Diagnostics::new());
        let s = profile.slices();
        let rows: Vec<_> = s.ids().map(|i| (profile.str(s.name(i)), s.start(i).0, s.end(i).0, s.depth(i))).collect();
        assert_eq!(
            rows,
            [("main", 0, 30, 0), ("f", 0, 20, 1), ("g", 20, 30, 1), ("f", 20, 30, 2), ("main", 40, 50, 0)]
        );
    }

    #[test]
    fn a_ring_of_stacks_ends() {
        let mut table = StackTable::default();
        table.push(StackFrame::of_name(StrId::EMPTY), Some(1));
        table.push(StackFrame::of_name(StrId::EMPTY), Some(0));
        assert_eq!(table.path(Some(0)).len(), MAX_STACK);
        assert!(table.path(Some(9)).is_empty() && table.path(None).is_empty());
    }
}
