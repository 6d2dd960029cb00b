//! The module hierarchy of a profile with the time spent in each module.

use serde::{Deserialize, Serialize};

use super::{GroupBy, Grouping, Selection, SliceCursor};
use ns_base::FxHashMap;
use ns_base::Order;
use ns_base::convert::usize_to_u32;
use ns_profile::fused::Part;
use ns_profile::neuron::{EXECUTION_PROCESS, FRAMEWORK_TRACK};
use ns_profile::{Profile, TrackId};

/// A module with its submodules.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModuleNode {
    /// Its name within its parent: `Linear[layer1]`; empty for the first, which stands for the whole.
    pub name: String,
    /// Position of the parent module; 0 for the first.
    pub parent: u32,
    /// Depth below the first node, which has 0.
    pub depth: u16,
    /// Number of slices in it and in its submodules; a fused operation is one in the module of each of its members.
    pub count: u64,
    /// Sum of their self times, in ns.
    pub total_ns: i64,
    /// The part of that time outside its submodules, in ns.
    pub self_ns: i64,
}

/// Modules, parents before children, siblings by time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModuleTree {
    /// The modules; empty when the profile has none.
    pub nodes: Vec<ModuleNode>,
    /// Time of selected slices that are in no module, in ns.
    pub outside_ns: i64,
    /// Number of modules that are left out.
    pub omitted: u64,
}

/// Computes a [`ModuleTree`] a part at a time.
///
/// Every slice adds its self time to its module and to the modules around it, so nothing counts twice; a fused operation
/// adds the part of each member to the member's. If no tracks are
/// selected and a profile has rows of framework operators in Process Execution, only these are counted: the other rows
/// show the same work again.
#[derive(Debug)]
pub struct ModulePass {
    selection: Selection,
    modules: Grouping,
    own: Vec<i64>,
    cursor: SliceCursor,
    /// Count and time of each scope.
    time: Vec<(u64, i64)>,
}

impl ModulePass {
    /// Prepares the pass; reads every slice's arguments.
    #[must_use]
    pub fn new(profile: &Profile, mut selection: Selection) -> Self {
        if selection.tracks.is_none() {
            selection.tracks = framework_tracks(profile);
        }
        let modules = Grouping::new(profile, GroupBy::Module);
        Self {
            own: selection.self_times(profile),
            cursor: selection.cursor(profile),
            time: vec![(0, 0); modules.len(profile)],
            modules,
            selection,
        }
    }

    /// Looks at about `limit` slices more. Returns whether it has seen all.
    pub fn advance(&mut self, profile: &Profile, limit: usize) -> bool {
        let Self { selection, modules, own, cursor, time } = self;
        cursor.advance(limit, |track, id| {
            if selection.counted_ns(profile, id).is_none() {
                return;
            }
            modules.each_group(profile, track, id, |module, parts| {
                if let Some(at) = time.get_mut(module as usize) {
                    at.0 += 1;
                    at.1 += Part::sum_ns(parts, own[id.0 as usize]);
                }
            });
        })
    }

    /// The tree of the slices seen so far, cut to the `limit` modules with the most time.
    pub fn finish(self, profile: &Profile, limit: usize) -> ModuleTree {
        let mut tree = Builder::default();
        for (i, &(count, ns)) in self.time.iter().enumerate().skip(1).filter(|(_, (count, _))| *count > 0) {
            tree.add(module_parts(self.modules.label(profile, usize_to_u32(i))), count, ns);
        }
        tree.finish(self.time.first().map_or(0, |t| t.1), limit.max(1))
    }
}

/// The modules of a path, outermost first.
pub(super) fn module_parts(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|part| !part.is_empty())
}

/// The rows of framework operators, if there are any.
pub(super) fn framework_tracks(profile: &Profile) -> Option<Vec<TrackId>> {
    let is_one = |t: &TrackId| {
        let track = &profile.tracks()[*t];
        let process = &profile.processes()[track.process];
        profile.str(track.name) == FRAMEWORK_TRACK
            && profile.str(process.name) == EXECUTION_PROCESS
            && !profile.slices().range_of(*t).is_empty()
    };
    let found: Vec<_> = profile.tracks().ids().filter(is_one).collect();
    (!found.is_empty()).then_some(found)
}

/// A tree of modules that grows by paths.
#[derive(Default)]
pub(super) struct Builder {
    nodes: Vec<ModuleNode>,
    child: FxHashMap<(u32, String), u32>,
}

impl Builder {
    pub fn add<'a>(&mut self, path: impl Iterator<Item = &'a str>, count: u64, ns: i64) {
        if self.nodes.is_empty() {
            self.nodes.push(ModuleNode::default());
        }
        let mut at = 0;
        self.count(at, count, ns);
        for part in path {
            at = self.below(at, part);
            self.count(at, count, ns);
        }
        self.nodes[at as usize].self_ns += ns;
    }

    fn count(&mut self, at: u32, count: u64, ns: i64) {
        let node = &mut self.nodes[at as usize];
        node.count += count;
        node.total_ns += ns;
    }

    fn below(&mut self, parent: u32, name: &str) -> u32 {
        if let Some(&at) = self.child.get(&(parent, name.to_owned())) {
            return at;
        }
        let at = usize_to_u32(self.nodes.len());
        let depth = self.nodes[parent as usize].depth.saturating_add(1);
        self.nodes.push(ModuleNode { name: name.to_owned(), parent, depth, ..ModuleNode::default() });
        self.child.insert((parent, name.to_owned()), at);
        at
    }

    pub fn finish(self, outside_ns: i64, limit: usize) -> ModuleTree {
        let mut order: Vec<u32> = (0..usize_to_u32(self.nodes.len())).collect();
        // A module has at least the time of its submodules, so cutting by time never removes the parent of a kept module.
        order.order_by_key(|&i| (std::cmp::Reverse(self.nodes[i as usize].total_ns), i));
        order.truncate(limit);
        let mut children = vec![Vec::new(); self.nodes.len()];
        for &i in order.iter().filter(|i| **i != 0) {
            children[self.nodes[i as usize].parent as usize].push(i);
        }
        let mut tree =
            ModuleTree { outside_ns, omitted: (self.nodes.len() - order.len()) as u64, ..ModuleTree::default() };
        let mut stack: Vec<(u32, u32)> = if self.nodes.is_empty() { Vec::new() } else { vec![(0, 0)] };
        while let Some((at, parent)) = stack.pop() {
            let place = usize_to_u32(tree.nodes.len());
            tree.nodes.push(ModuleNode { parent, ..self.nodes[at as usize].clone() });
            stack.extend(children[at as usize].iter().rev().map(|&i| (i, place)));
        }
        tree
    }
}

/// The module hierarchy of the selected slices.
pub fn module_tree(profile: &Profile, selection: &Selection, limit: usize) -> ModuleTree {
    let mut pass = ModulePass::new(profile, selection.clone());
    while !pass.advance(profile, usize::MAX) {}
    pass.finish(profile, limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_base::Diagnostics;
    use ns_profile::ProfileBuilder;

    fn profile(process: &str, track: &str) -> Profile {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", process);
        let (t, other) = (b.thread(p, "1", track), b.thread(p, "2", "HLO Ops"));
        for (start, dur, path) in [(0, 10, "M/A/x"), (10, 30, "M/B/y"), (40, 5, "M/B/C/z"), (50, 7, "M/w")] {
            let args = format!(r#"{{"path":"{path}"}}"#);
            b.slice(t, start, dur, "op", "", Some(&args));
            b.slice(other, start, dur, "op", "", Some(&args));
        }
        b.slice(t, 90, 3, "outside", "", None);
        b.finish(Diagnostics::new())
    }

    fn brief(tree: &ModuleTree) -> Vec<(&str, u16, u64, i64, i64)> {
        tree.nodes.iter().map(|n| (n.name.as_str(), n.depth, n.count, n.total_ns, n.self_ns)).collect()
    }

    #[test]
    fn time_goes_to_a_module_and_those_around_it_once() {
        let tree = module_tree(&profile(EXECUTION_PROCESS, FRAMEWORK_TRACK), &Selection::default(), 100);
        let expected =
            [("", 0, 4, 52, 0), ("M", 1, 4, 52, 7), ("B", 2, 2, 35, 30), ("C", 3, 1, 5, 5), ("A", 2, 1, 10, 10)];
        assert_eq!((brief(&tree), tree.outside_ns, tree.omitted), (expected.to_vec(), 3, 0));
        let cut = module_tree(&profile(EXECUTION_PROCESS, FRAMEWORK_TRACK), &Selection::default(), 3);
        assert_eq!((brief(&cut), cut.omitted), (expected[..3].to_vec(), 2));
        // In a trace without these rows every row counts.
        assert_eq!(module_tree(&profile("python", "main"), &Selection::default(), 100).nodes[0].total_ns, 104);
        assert!(module_tree(&Profile::default(), &Selection::default(), 100).nodes.is_empty());
    }
}
