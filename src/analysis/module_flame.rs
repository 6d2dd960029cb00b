//! The flame graph of an execution on a NeuronCore: its modules, and in them its framework operators.
//!
//! Operators on a NeuronCore do not call one another, so their stack is the module that they belong to.

use super::flame::{FlameGraph, FlameNode};
use super::modules::{Builder, ModuleNode, framework_tracks, module_parts};
use super::scopes::Scopes;
use super::{Selection, SliceCursor};
use ns_base::convert::usize_to_u32;
use ns_base::{FxHashMap, StrId};
use ns_profile::Profile;

/// Computes the graph a part at a time. A fused operation counts for its members by their parts of its time.
#[derive(Debug)]
pub struct ModuleFlamePass {
    selection: Selection,
    scopes: Scopes,
    own: Vec<i64>,
    cursor: SliceCursor,
    /// Module, operator, count and self time, in order of appearance.
    found: Vec<(StrId, StrId, u64, i64)>,
    /// Places in `found`.
    place: FxHashMap<(StrId, StrId), usize>,
}

impl ModuleFlamePass {
    /// Prepares the pass. `None` if the selection is not about the framework operators of an execution.
    #[must_use]
    pub fn new(profile: &Profile, selection: &Selection) -> Option<Self> {
        let tracks = framework_tracks(profile).filter(|_| selection.tracks.is_none())?;
        let levels = profile.levels();
        let is_of_level = |level| {
            let mut slices = tracks.iter().flat_map(|t| profile.slices().of_track(*t).take(1).map(|id| (*t, id)));
            slices.any(|(track, id)| levels.of_slice(profile, track, id) == level)
        };
        selection.level.filter(|level| is_of_level(*level))?;
        let selection = Selection { tracks: Some(tracks), ..selection.clone() };
        Some(Self {
            own: selection.self_times(profile),
            cursor: selection.cursor(profile),
            scopes: Scopes::of(profile),
            found: Vec::new(),
            place: FxHashMap::default(),
            selection,
        })
    }

    /// Looks at about `limit` slices more. Returns whether it has seen all.
    pub fn advance(&mut self, profile: &Profile, limit: usize) -> bool {
        let Self { selection, scopes, own, cursor, found, place } = self;
        let mut add = |module: StrId, operator: StrId, ns: i64| {
            let at = *place.entry((module, operator)).or_insert_with(|| {
                found.push((module, operator, 0, 0));
                found.len() - 1
            });
            found[at].2 += 1;
            found[at].3 += ns;
        };
        cursor.advance(limit, |_, id| {
            if selection.counted_ns(profile, id).is_none() {
                return;
            }
            let (slices, own) = (profile.slices(), own[id.0 as usize]);
            let members = profile.fusions().members(slices.args(id));
            for member in members {
                add(scopes.scope_of_member(member), member.operator, member.part.of_ns(own));
            }
            if members.is_empty() {
                add(scopes.scope_of(id), slices.name(id), own);
            }
        })
    }

    /// The graph below a stack of modules, at most `limit` nodes; `None` if there is no such stack.
    pub fn finish(self, profile: &Profile, from: &[String], limit: usize) -> Option<FlameGraph> {
        let mut tree = Builder::default();
        for (module, operator, count, ns) in &self.found {
            let path = module_parts(self.scopes.names().get(*module)).chain([profile.str(*operator)]);
            tree.add(path, *count, *ns);
        }
        let tree = tree.finish(0, limit);
        let below = |at: usize, name: &String| {
            let is_it = |(i, node): &(usize, &ModuleNode)| *i > 0 && node.parent as usize == at && node.name == *name;
            tree.nodes.iter().enumerate().find(is_it).map(|(i, _)| i)
        };
        let root = from.iter().try_fold(0, below)?;
        Some(FlameGraph { around: from.to_vec(), nodes: nodes_below(&tree.nodes, root), omitted: tree.omitted })
    }
}

/// The nodes from `root` on that are below it: a tree lists them behind it.
fn nodes_below(nodes: &[ModuleNode], root: usize) -> Vec<FlameNode> {
    let Some(first) = nodes.get(root) else { return vec![FlameNode::default()] };
    let rest = nodes.iter().skip(root + 1).take_while(|node| node.depth > first.depth);
    let mut graph: Vec<FlameNode> = Vec::new();
    for node in std::iter::once(first).chain(rest) {
        let parent = if graph.is_empty() { 0 } else { node.parent - usize_to_u32(root) };
        let place = graph.len();
        if let Some(parent) = graph.get_mut(parent as usize).filter(|_| place > 0) {
            parent.omitted_ns -= node.total_ns;
        }
        graph.push(FlameNode {
            name: node.name.clone(),
            parent,
            depth: node.depth - first.depth,
            count: node.count,
            total_ns: node.total_ns,
            self_ns: node.self_ns,
            omitted_ns: node.total_ns - node.self_ns,
        });
    }
    graph
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_base::Diagnostics;
    use ns_profile::ProfileBuilder;
    use ns_profile::neuron::{EXECUTION_PROCESS, FRAMEWORK_TRACK};

    #[test]
    fn operators_stand_in_their_modules() {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", EXECUTION_PROCESS);
        let (t, hlo) = (b.thread(p, "1", FRAMEWORK_TRACK), b.thread(p, "2", "HLO Operators"));
        for (start, dur, path) in [(0, 10, "M/A/x"), (10, 30, "M/B/y"), (40, 5, "M/B/C/z"), (50, 7, "M/A/x")] {
            let args = format!(r#"{{"path":"{path}"}}"#);
            let name = &path[path.len() - 1..];
            b.slice(t, start, dur, name, "", Some(&args));
            b.slice(hlo, start, dur, "dot", "", Some(&args));
        }
        let profile = b.finish(Diagnostics::new());
        let first = profile.slices().of_track(framework_tracks(&profile).unwrap()[0]).next().unwrap();
        let level = profile.levels().of_slice(&profile, profile.slices().track(first), first);
        let graph = |from: &[&str]| {
            let mut pass = ModuleFlamePass::new(&profile, &Selection::of_level(Some(level))).unwrap();
            while !pass.advance(&profile, 1) {}
            pass.finish(&profile, &from.iter().map(ToString::to_string).collect::<Vec<_>>(), 100)
        };
        let brief = |graph: FlameGraph| {
            graph
                .nodes
                .iter()
                .map(|n| (n.name.clone(), n.parent, n.depth, n.count, n.total_ns, n.self_ns, n.omitted_ns))
                .collect::<Vec<_>>()
        };
        let node =
            |name: &str, parent, depth, count, total, own| (name.to_owned(), parent, depth, count, total, own, 0);
        assert_eq!(
            brief(graph(&[]).unwrap()),
            [
                node("", 0, 0, 4, 52, 0),
                node("M", 0, 1, 4, 52, 0),
                node("B", 1, 2, 2, 35, 0),
                node("y", 2, 3, 1, 30, 30),
                node("C", 2, 3, 1, 5, 0),
                node("z", 4, 4, 1, 5, 5),
                node("A", 1, 2, 2, 17, 0),
                node("x", 6, 3, 2, 17, 17),
            ]
        );
        assert_eq!(brief(graph(&["M", "A"]).unwrap()), [node("A", 0, 0, 2, 17, 0), node("x", 0, 1, 2, 17, 17)]);
        assert!(graph(&["M", "Z"]).is_none());
        assert!(ModuleFlamePass::new(&profile, &Selection::default()).is_none(), "all levels");
    }
}
