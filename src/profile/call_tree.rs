//! Slices merged into trees: by call stack, by module, around one name, or in order of time.

use serde::{Deserialize, Serialize};

use super::opstats::self_times;
use super::scope::Scopes;
use super::{Profile, SliceFlags, SliceId, TrackId};
use crate::base::{FxHashMap, Interval, TraceNs};

/// How slices become nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TreeShape {
    /// Slices with the same stack of names are one node.
    #[default]
    Stacks,
    /// Each slice is a node, in order of time; for one track.
    TimeOrder,
    /// Modules of the model, with the names of the slices in them at the end.
    Modules,
    /// What the slices of a name were called from: its callers below it.
    Callers(String),
    /// What the slices of a name called.
    Callees(String),
}

/// A node. Nodes come after their parents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeNode {
    /// Its name.
    pub name: String,
    /// Position of its parent; absent for a root.
    pub parent: Option<u32>,
    /// Where it begins, in order of time; 0 otherwise.
    pub start_ns: i64,
    /// Duration of its slices.
    pub total_ns: i64,
    /// Part that is not in children.
    pub self_ns: i64,
    /// Number of slices.
    pub count: u64,
    /// The longest of its slices.
    pub longest: Option<SliceId>,
}

/// Nodes with less than this share of all time are left out: no screen shows them.
const LEAST_SHARE: i64 = 5_000;
/// Deeper nesting is not followed.
const MOST_DEPTH: usize = 400;

/// The tree of the slices of some tracks (all if absent) that touch a span (all if absent), and how many nodes were too
/// small to be in it.
#[must_use]
pub fn call_tree(
    profile: &Profile,
    shape: &TreeShape,
    tracks: Option<&[TrackId]>,
    within: Option<Interval<TraceNs>>,
) -> (Vec<TreeNode>, u64) {
    let all: Vec<TrackId> = profile.tracks().ids().collect();
    let mut tree = Builder::new(profile, within);
    for &track in tracks.unwrap_or(&all) {
        match shape {
            TreeShape::Stacks => tree.add_stacks(track, None),
            TreeShape::TimeOrder => tree.add_in_time(track),
            TreeShape::Modules => tree.add_modules(track),
            TreeShape::Callees(name) => tree.add_stacks(track, Some(name)),
            TreeShape::Callers(name) => tree.add_callers(track, name),
        }
    }
    prune(tree.nodes)
}

struct Builder<'a> {
    profile: &'a Profile,
    within: Option<Interval<TraceNs>>,
    own: Vec<i64>,
    nodes: Vec<TreeNode>,
    children: FxHashMap<(Option<u32>, String), u32>,
    of_slice: FxHashMap<SliceId, Option<u32>>,
}

impl<'a> Builder<'a> {
    fn new(profile: &'a Profile, within: Option<Interval<TraceNs>>) -> Self {
        Self {
            profile,
            within,
            own: self_times(profile),
            nodes: Vec::new(),
            children: FxHashMap::default(),
            of_slice: FxHashMap::default(),
        }
    }

    fn slices_of(&self, track: TrackId) -> Vec<SliceId> {
        let slices = self.profile.slices();
        let touches = |id: &SliceId| {
            self.within.is_none_or(|w| slices.start(*id) < w.end && w.start <= slices.end(*id))
                && !slices.flags(*id).has(SliceFlags::UNCLOSED)
        };
        slices.of_track(track).filter(touches).collect()
    }

    fn name(&self, id: SliceId) -> &'a str {
        self.profile.str(self.profile.slices().name(id))
    }

    fn child(&mut self, parent: Option<u32>, name: &str) -> u32 {
        if let Some(known) = self.children.get(&(parent, name.to_owned())) {
            return *known;
        }
        let new = self.push(parent, name, 0);
        self.children.insert((parent, name.to_owned()), new);
        new
    }

    fn push(&mut self, parent: Option<u32>, name: &str, start_ns: i64) -> u32 {
        let name = name.to_owned();
        self.nodes.push(TreeNode { name, parent, start_ns, total_ns: 0, self_ns: 0, count: 0, longest: None });
        self.nodes.len() as u32 - 1
    }

    fn count(&mut self, node: u32, id: SliceId, total_ns: i64, self_ns: i64) {
        let slices = self.profile.slices();
        let node = &mut self.nodes[node as usize];
        node.count += 1;
        node.total_ns = node.total_ns.saturating_add(total_ns);
        node.self_ns = node.self_ns.saturating_add(self_ns);
        if node.longest.is_none_or(|longest| slices.dur_ns(longest) < slices.dur_ns(id)) {
            node.longest = Some(id);
        }
    }

    /// Merged stacks; below the outermost slices of a name only, where one is given.
    fn add_stacks(&mut self, track: TrackId, root: Option<&str>) {
        for id in self.slices_of(track) {
            let parent = self.profile.slices().enclosing(id);
            let parent_node = parent.and_then(|p| self.of_slice.get(&p).copied().flatten());
            let is_root = root.is_none_or(|name| self.name(id) == name);
            if parent_node.is_none() && !is_root {
                continue;
            }
            let node = self.child(parent_node, self.name(id));
            self.of_slice.insert(id, Some(node));
            self.count(node, id, self.profile.slices().dur_ns(id), self.own[id.0 as usize]);
        }
    }

    fn add_in_time(&mut self, track: TrackId) {
        let span = self.profile.span_ns();
        for id in self.slices_of(track) {
            let dur = self.profile.slices().dur_ns(id);
            if dur.saturating_mul(LEAST_SHARE) < self.within.map_or(span, |w| w.end.0 - w.start.0) {
                continue;
            }
            let parent = self.profile.slices().enclosing(id).and_then(|p| self.of_slice.get(&p).copied().flatten());
            let node = self.push(parent, self.name(id), self.profile.slices().start(id).0);
            self.of_slice.insert(id, Some(node));
            self.count(node, id, dur, self.own[id.0 as usize]);
        }
    }

    /// Self times, so that modules that contain each other are not counted twice.
    fn add_modules(&mut self, track: TrackId) {
        let mut scopes = Scopes::new(self.profile);
        for id in self.slices_of(track) {
            let own = self.own[id.0 as usize];
            let Some(path) = scopes.of(id) else { continue };
            let mut at = None;
            for part in path.split('/').chain([self.name(id)]).take(MOST_DEPTH) {
                let node = self.child(at, part);
                self.count(node, id, own, 0);
                at = Some(node);
            }
            if let Some(leaf) = at {
                self.nodes[leaf as usize].self_ns += own;
            }
        }
    }

    /// The name at the root, what called it below: each slice with all of its time, recursion only once.
    fn add_callers(&mut self, track: TrackId, name: &str) {
        let slices = self.profile.slices();
        for id in self.slices_of(track) {
            if self.name(id) != name {
                continue;
            }
            let up = || std::iter::successors(slices.enclosing(id), |p| slices.enclosing(*p));
            if up().any(|p| self.name(p) == name) {
                continue;
            }
            let dur = slices.dur_ns(id);
            let mut at = self.child(None, name);
            self.count(at, id, dur, self.own[id.0 as usize]);
            for caller in up().take(MOST_DEPTH) {
                at = self.child(Some(at), self.name(caller));
                self.count(at, caller, dur, 0);
            }
        }
    }
}

/// Without what no screen shows.
fn prune(nodes: Vec<TreeNode>) -> (Vec<TreeNode>, u64) {
    let all: i64 = nodes.iter().filter(|n| n.parent.is_none()).map(|n| n.total_ns).sum();
    let mut place: Vec<Option<u32>> = vec![None; nodes.len()];
    let mut kept: Vec<TreeNode> = Vec::new();
    let mut left_out = 0;
    for (i, node) in nodes.into_iter().enumerate() {
        let parent = node.parent.map(|p| place[p as usize]);
        if node.total_ns.saturating_mul(LEAST_SHARE) < all || parent == Some(None) {
            left_out += 1;
            continue;
        }
        place[i] = Some(kept.len() as u32);
        kept.push(TreeNode { parent: parent.flatten(), ..node });
    }
    (kept, left_out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Diagnostics;
    use crate::profile::ProfileBuilder;

    fn sample() -> Profile {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", "");
        let t = b.thread(p, "1", "");
        for (start, dur, name) in [(0, 100, "main"), (10, 40, "f"), (20, 10, "g"), (60, 30, "g"), (65, 10, "f")] {
            b.slice(t, start, dur, name, "", None);
        }
        b.slice(t, 200, 10, "dot", "", Some(r#"{"path":"Net/layer/dot"}"#));
        b.slice(t, 220, 30, "add", "", Some(r#"{"path":"Net/add"}"#));
        b.finish(Diagnostics::new())
    }

    fn lines(shape: &TreeShape) -> Vec<String> {
        let (nodes, _) = call_tree(&sample(), shape, None, None);
        let path = |node: &TreeNode| {
            let up = std::iter::successors(Some(node), |n| n.parent.map(|p| &nodes[p as usize]));
            let mut names: Vec<&str> = up.map(|n| n.name.as_str()).collect();
            names.reverse();
            names.join(">")
        };
        nodes.iter().map(|n| format!("{} {} {} {}", path(n), n.total_ns, n.self_ns, n.count)).collect()
    }

    #[test]
    fn stacks_are_merged_and_self_times_add_up() {
        let expected = ["main 100 30 1", "main>f 40 30 1", "main>f>g 10 10 1", "main>g 30 20 1", "main>g>f 10 10 1"];
        assert_eq!(lines(&TreeShape::Stacks)[..5], expected);
        assert_eq!(lines(&TreeShape::TimeOrder).len(), 7);
    }

    #[test]
    fn callers_and_callees_of_a_name() {
        assert_eq!(lines(&TreeShape::Callees("f".into())), ["f 50 40 2", "f>g 10 10 1"]);
        assert_eq!(
            lines(&TreeShape::Callers("f".into())),
            ["f 50 40 2", "f>main 40 0 1", "f>g 10 0 1", "f>g>main 10 0 1"]
        );
    }

    #[test]
    fn modules_hold_what_ran_in_them() {
        assert_eq!(
            lines(&TreeShape::Modules),
            ["Net 40 0 2", "Net>layer 10 0 1", "Net>layer>dot 10 10 1", "Net>add 30 30 1"]
        );
    }

    #[test]
    fn what_no_screen_shows_is_counted() {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", "");
        let t = b.thread(p, "1", "");
        b.slice(t, 0, 1_000_000, "main", "", None);
        b.slice(t, 5, 100, "tiny", "", None);
        let (nodes, left_out) = call_tree(&b.finish(Diagnostics::new()), &TreeShape::Stacks, None, None);
        assert_eq!((nodes.len(), left_out), (1, 1));
    }
}
