//! Slices merged by their stack: the flame graph.
//!
//! The parent of a slice is the innermost slice that contains it wholly. Slices of one stack are one node; its total is
//! the sum of their durations, and its self time is the sum of their self times. Where slices do not nest, children of a
//! node may overlap one another, and the sum of their totals may exceed the node's total.

use super::opcode::opcode;
use super::{Names, Selection, SliceCursor};
use ns_base::convert::usize_to_u32;
use ns_base::{FxHashMap, Interval, Order, StrId, TraceNs};
use ns_profile::{Occurrences, Profile, SliceId, TrackId};

/// The kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Frame {
    /// Everything.
    Root,
    /// The slices of a thread.
    Track(TrackId),
    /// Slices of a name.
    Name(StrId),
    /// Slices of the operation of a name.
    Operation(StrId),
}

impl Frame {
    /// The label that the user sees.
    pub fn label(self, profile: &Profile) -> String {
        match self {
            Self::Root => String::new(),
            Self::Track(track) => super::grouping::thread_text(profile, track),
            Self::Name(name) => profile.str(name).to_owned(),
            Self::Operation(name) => opcode(profile.str(name)).into_owned(),
        }
    }

    /// The frame of slices of a name.
    fn of_name(name: StrId, names: &Names) -> Self {
        if names.is_merged() { Self::Operation(names.first(name)) } else { Self::Name(name) }
    }
}

/// Slices of one stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallNode {
    /// The frame of the node.
    pub frame: Frame,
    /// Position of the parent node; its own position for the first node.
    pub parent: u32,
    /// How often they ran ([`Occurrences`]).
    pub count: u64,
    /// Sum of their durations, in ns; for the outermost nodes and threads the sum of the nodes below.
    pub total_ns: i64,
    /// Sum of their self times, in ns.
    pub self_ns: i64,
}

/// Nodes, parents before children; the first is the root around all stacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallTree {
    nodes: Vec<CallNode>,
    child: FxHashMap<(u32, Frame), u32>,
}

impl CallTree {
    /// A tree with only a root.
    #[must_use]
    pub fn new(root: Frame) -> Self {
        let root = CallNode { frame: root, parent: 0, count: 0, total_ns: 0, self_ns: 0 };
        Self { nodes: vec![root], child: FxHashMap::default() }
    }

    /// The nodes, parents before children.
    pub fn nodes(&self) -> &[CallNode] {
        &self.nodes
    }

    /// The node of a frame below another node, created if it is new.
    pub fn below(&mut self, parent: u32, frame: Frame) -> u32 {
        let next = usize_to_u32(self.nodes.len());
        let at = *self.child.entry((parent, frame)).or_insert(next);
        if at == next {
            self.nodes.push(CallNode { frame, parent, count: 0, total_ns: 0, self_ns: 0 });
        }
        at
    }

    /// Counts slices at a node.
    pub fn add(&mut self, node: u32, count: u64, total_ns: i64, self_ns: i64) {
        if let Some(node) = self.nodes.get_mut(node as usize) {
            node.count += count;
            node.total_ns = node.total_ns.saturating_add(total_ns);
            node.self_ns = node.self_ns.saturating_add(self_ns);
        }
    }

    /// The children of each node, greatest total first; equal totals stay in order of appearance.
    pub fn children(&self) -> Vec<Vec<u32>> {
        let mut children = vec![Vec::new(); self.nodes.len()];
        for (i, node) in self.nodes.iter().enumerate().skip(1) {
            children[node.parent as usize].push(usize_to_u32(i));
        }
        for of_node in &mut children {
            of_node.order_by_key(|&i| std::cmp::Reverse(self.nodes[i as usize].total_ns));
        }
        children
    }

    /// The same slices with the innermost first: below each name are its callers, with the self time that it has under them.
    #[must_use]
    pub fn inverted(&self) -> Self {
        let mut tree = Self::new(self.nodes[0].frame);
        for (i, node) in self.nodes.iter().enumerate().skip(1).filter(|(_, node)| node.self_ns != 0) {
            tree.add(0, node.count, node.self_ns, 0);
            let (mut at, mut from) = (0, i);
            while from != 0 {
                at = tree.below(at, self.nodes[from].frame);
                tree.add(at, node.count, node.self_ns, 0);
                from = self.nodes[from].parent as usize;
            }
            tree.add(at, 0, 0, node.self_ns);
        }
        tree
    }

    /// Follows frames from the root by their labels. `None` if this stack does not exist.
    pub fn find(&self, profile: &Profile, path: &[String]) -> Option<u32> {
        let children = self.children();
        path.iter().try_fold(0u32, |at, label| {
            let mut below = children[at as usize].iter().copied();
            below.find(|&i| self.nodes[i as usize].frame.label(profile) == *label)
        })
    }
}

/// Marks a slice that is not selected, and so has no node.
const NO_NODE: u32 = u32::MAX;

/// The nodes of the slices around the current one. Slices come by track and start, outer ones first.
#[derive(Debug, Default)]
struct Around {
    track: Option<TrackId>,
    /// End and node, the innermost last; none ends before one after it.
    open: Vec<(TraceNs, u32)>,
}

impl Around {
    /// The node of the innermost slice that contains a slice wholly. Those that end before it contain none that it does not contain.
    fn node(&mut self, track: TrackId, slice: Interval<TraceNs>) -> u32 {
        if self.track.replace(track) != Some(track) {
            self.open.clear();
        }
        while self.open.last().is_some_and(|(end, _)| *end <= slice.start || *end < slice.end) {
            self.open.pop();
        }
        self.open.last().map_or(NO_NODE, |(_, node)| *node)
    }
}

/// Merges slices by stack, a part at a time.
#[derive(Debug)]
pub struct CallTreePass {
    selection: Selection,
    by_thread: bool,
    own: Vec<i64>,
    cursor: SliceCursor,
    occurrences: Occurrences,
    names: Names,
    around: Around,
    tree: CallTree,
}

impl CallTreePass {
    /// Prepares the pass. `by_thread`: threads are the outermost nodes; otherwise stacks of all threads are merged.
    #[must_use]
    pub fn new(profile: &Profile, selection: Selection, by_thread: bool, names: Names) -> Self {
        Self {
            own: selection.self_times(profile),
            cursor: selection.cursor(profile),
            occurrences: Occurrences::of(profile),
            around: Around::default(),
            tree: CallTree::new(Frame::Root),
            names,
            selection,
            by_thread,
        }
    }

    /// Looks at about `limit` slices more. Returns whether it has seen all.
    pub fn advance(&mut self, profile: &Profile, limit: usize) -> bool {
        let Self { selection, by_thread, own, cursor, occurrences, names, around, tree } = self;
        let slices = profile.slices();
        cursor.advance(limit, |track, id| {
            let Some(dur) = selection.counted_ns(profile, id) else { return };
            let outer = around.node(track, slices.interval(id));
            let parent = match outer {
                NO_NODE => {
                    let thread = if *by_thread { tree.below(0, Frame::Track(track)) } else { 0 };
                    if *by_thread {
                        tree.add(thread, 0, dur, 0);
                    }
                    tree.add(0, 0, dur, 0);
                    thread
                }
                outer => outer,
            };
            let node = tree.below(parent, Frame::of_name(slices.name(id), names));
            tree.add(node, occurrences.count(profile, id), dur, own[id.0 as usize]);
            around.open.push((slices.end(id), node));
        })
    }

    /// The tree of the slices seen so far.
    pub fn finish(self) -> CallTree {
        self.tree
    }
}

/// All slices of a selection merged by stack, each name by itself.
pub fn call_tree(profile: &Profile, selection: &Selection, by_thread: bool) -> CallTree {
    let mut pass = CallTreePass::new(profile, selection.clone(), by_thread, Names::default());
    while !pass.advance(profile, usize::MAX) {}
    pass.finish()
}

/// The callers and the callees of slices of a name.
#[derive(Debug)]
pub struct Sandwich {
    /// Number of slices of the name, including those inside one another.
    pub count: u64,
    /// Sum of the self times of all of them, in ns.
    pub self_ns: i64,
    /// From the name outwards: each node's total is the time of the name within that stack of callers.
    pub callers: CallTree,
    /// The callees, from the name inwards.
    pub callees: CallTree,
}

/// Computes a [`Sandwich`] a part at a time. A slice inside another slice of the name counts once, with the outer one.
#[derive(Debug)]
pub struct SandwichPass {
    name: StrId,
    names: Names,
    selection: Selection,
    own: Vec<i64>,
    cursor: SliceCursor,
    occurrences: Occurrences,
    around: Around,
    found: Sandwich,
}

impl SandwichPass {
    /// Prepares the pass around the operation whose first name is `name` ([`Names::find`] gives it).
    #[must_use]
    pub fn new(profile: &Profile, selection: Selection, name: StrId, names: Names) -> Self {
        let tree = || CallTree::new(Frame::of_name(name, &names));
        Self {
            own: selection.self_times(profile),
            cursor: selection.cursor(profile),
            occurrences: Occurrences::of(profile),
            around: Around::default(),
            found: Sandwich { count: 0, self_ns: 0, callers: tree(), callees: tree() },
            selection,
            name,
            names,
        }
    }

    /// Looks at about `limit` slices more. Returns whether it has seen all.
    pub fn advance(&mut self, profile: &Profile, limit: usize) -> bool {
        let Self { name, names, selection, own, cursor, occurrences, around, found } = self;
        let slices = profile.slices();
        cursor.advance(limit, |track, id| {
            let Some(dur) = selection.counted_ns(profile, id) else { return };
            let count = occurrences.count(profile, id);
            let (named, own) = (names.first(slices.name(id)) == *name, own[id.0 as usize]);
            if named {
                found.count += count;
                found.self_ns += own;
            }
            let outer = around.node(track, slices.interval(id));
            let node = match outer {
                NO_NODE if named => {
                    add_callers(&mut found.callers, profile, (selection, names), (id, count, dur));
                    0
                }
                NO_NODE => return,
                outer => found.callees.below(outer, Frame::of_name(slices.name(id), names)),
            };
            found.callees.add(node, count, dur, own);
            around.open.push((slices.end(id), node));
        })
    }

    /// The answer for the slices seen so far.
    pub fn finish(self) -> Sandwich {
        self.found
    }
}

/// Adds a slice of the name, with its occurrences and its time, to the selected slices around it.
fn add_callers(
    callers: &mut CallTree,
    profile: &Profile,
    (selection, names): (&Selection, &Names),
    (id, count, dur): (SliceId, u64, i64),
) {
    let slices = profile.slices();
    callers.add(0, count, dur, 0);
    let around = std::iter::successors(slices.enclosing(id), |outer| slices.enclosing(*outer));
    let mut at = 0;
    for caller in around.filter(|outer| selection.counted_part(profile, *outer).is_some()) {
        at = callers.below(at, Frame::of_name(slices.name(caller), names));
        callers.add(at, count, dur, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Instances;
    use super::super::selection::tests::nested;
    use super::*;
    use ns_base::Diagnostics;
    use ns_profile::ProfileBuilder;
    use proptest::prelude::*;

    fn rows(profile: &Profile, tree: &CallTree) -> Vec<(String, u32, u64, i64, i64)> {
        let row = |n: &CallNode| (n.frame.label(profile), n.parent, n.count, n.total_ns, n.self_ns);
        tree.nodes().iter().map(row).collect()
    }

    fn sample() -> Profile {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", "host");
        let (t, u) = (b.thread(p, "1", "main"), b.thread(p, "2", "helper"));
        for start in [0, 100] {
            b.slice(t, start, 80, "step", "", None);
            b.slice(t, start + 10, 30, "mm", "", None);
            b.slice(t, start + 15, 5, "launch", "", None);
        }
        b.slice(t, 60, 10, "mm", "", None);
        b.slice(u, 0, 20, "step", "", None);
        b.slice(u, 5, 10, "mm", "", None);
        b.slice(u, 6, 4, "mm", "", None);
        b.finish(Diagnostics::new())
    }

    #[test]
    fn one_node_for_each_stack_of_all_threads_or_of_each() {
        let profile = sample();
        let merged = rows(&profile, &call_tree(&profile, &Selection::default(), false));
        let expected = [
            ("", 0, 0, 180, 0),
            ("step", 0, 3, 180, 100),
            ("mm", 1, 4, 80, 66),
            ("launch", 2, 2, 10, 10),
            ("mm", 2, 1, 4, 4),
        ];
        assert_eq!(merged, expected.map(|(n, p, c, t, s)| (n.to_owned(), p, c, t, s)));
        let tree = call_tree(&profile, &Selection::default(), true);
        let threads: Vec<_> = tree.nodes().iter().filter(|n| n.parent == 0).skip(1).map(|n| n.total_ns).collect();
        assert_eq!(threads, [160, 20]);
        let path = ["host / helper", "step", "mm"].map(str::to_owned);
        assert_eq!(tree.find(&profile, &path).map(|i| tree.nodes()[i as usize].total_ns), Some(10));
        assert_eq!(tree.find(&profile, &path[1..]), None);
    }

    #[test]
    fn a_sandwich_counts_recursion_once() {
        let profile = sample();
        let mut pass = SandwichPass::new(
            &profile,
            Selection::default(),
            profile.strings().lookup("mm").unwrap(),
            Names::default(),
        );
        while !pass.advance(&profile, 2) {}
        let found = pass.finish();
        assert_eq!((found.count, found.self_ns), (5, 70));
        assert_eq!(rows(&profile, &found.callers), [("mm".into(), 0, 4, 80, 0), ("step".into(), 0, 4, 80, 0)]);
        let expected = [("mm", 0, 4, 80, 66), ("launch", 0, 2, 10, 10), ("mm", 0, 1, 4, 4)];
        assert_eq!(rows(&profile, &found.callees), expected.map(|(n, p, c, t, s)| (n.to_owned(), p, c, t, s)));
    }

    #[test]
    fn instances_of_an_operation_are_one_frame() {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", "host");
        let t = b.thread(p, "1", "main");
        for step in 0..2_i64 {
            b.slice(t, step * 100, 80, &format!("ProfilerStep#{step}"), "", None);
            b.slice(t, step * 100 + 10, 30, &format!("void n::f<{step}>(int)"), "", None);
        }
        let profile = b.finish(Diagnostics::new());
        let names = Names::of(&profile, Instances::Merged);
        let mut pass = CallTreePass::new(&profile, Selection::default(), false, names.clone());
        while !pass.advance(&profile, 1) {}
        let expected = [("", 0, 0, 160, 0), ("ProfilerStep", 0, 2, 160, 100), ("f", 1, 2, 60, 60)];
        assert_eq!(rows(&profile, &pass.finish()), expected.map(|(n, p, c, t, s)| (n.to_owned(), p, c, t, s)));
        let name = names.find(&profile, "f").unwrap();
        let mut pass = SandwichPass::new(&profile, Selection::default(), name, names);
        while !pass.advance(&profile, 1) {}
        let callers = rows(&profile, &pass.finish().callers);
        assert_eq!(callers, [("f".into(), 0, 2, 60, 0), ("ProfilerStep".into(), 0, 2, 60, 0)]);
    }

    proptest! {
        #[test]
        fn a_total_is_the_sum_of_children_and_self_time(steps in prop::collection::vec(any::<(u8, u8)>(), 1..200)) {
            let profile = nested(&steps);
            let tree = call_tree(&profile, &Selection::default(), false);
            for (node, children) in tree.nodes().iter().zip(tree.children()) {
                let below: i64 = children.iter().map(|&c| tree.nodes()[c as usize].total_ns).sum();
                prop_assert_eq!(node.total_ns, below + node.self_ns);
            }
            let slices = profile.slices();
            prop_assert_eq!(tree.nodes().iter().map(|n| n.count).sum::<u64>(), slices.len() as u64);
            let durations: i64 = slices.ids().map(|id| slices.dur_ns(id)).sum();
            prop_assert_eq!(tree.nodes()[1..].iter().map(|n| n.total_ns).sum::<i64>(), durations);
        }
    }
}
