//! The graph to draw: a tree of modules with operators as its leaves, and edges between leaves.

use std::collections::BTreeSet;

use ns_base::convert::usize_to_u32;

/// The kind of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Look {
    /// A module of the model: it opens by itself if there is room.
    #[default]
    Module,
    /// An operator. An operator made of several instructions opens when the user asks for it.
    Operator,
    /// An operator whose cost is an estimate.
    Estimate,
    /// An operator that cannot run on a core.
    Refused,
    /// An input or a result of the model.
    Value,
}

/// A module or an operator.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GraphNode {
    /// Its path, unique in the graph, by which links and clicks name it.
    pub id: String,
    pub title: String,
    /// Text below the title.
    pub note: String,
    pub look: Look,
    /// Its share of the time, 0 to 1, which decides how strong its colour is.
    pub heat: f64,
    /// Whether it stays closed until the user opens it: it stands for blocks that are alike.
    pub is_folded: bool,
    /// The module that holds it; `None` for the root.
    pub parent: Option<u32>,
    /// Its children, in the order of the program.
    pub children: Vec<u32>,
}

/// A tree of modules with edges between its leaves. Node 0 is the root; a module comes before its content.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModuleGraph {
    nodes: Vec<GraphNode>,
    /// Edges from the leaf that gives a value to the leaf that reads it.
    edges: Vec<(u32, u32)>,
}

impl ModuleGraph {
    /// A graph with only a root.
    pub fn new(root: GraphNode) -> Self {
        Self { nodes: vec![GraphNode { parent: None, children: Vec::new(), ..root }], edges: Vec::new() }
    }

    /// Puts a node into a module and returns its position. A parent that does not exist is taken to be the root.
    pub fn push(&mut self, parent: u32, node: GraphNode) -> u32 {
        let parent = if (parent as usize) < self.nodes.len() { parent } else { 0 };
        let place = usize_to_u32(self.nodes.len());
        self.nodes.push(GraphNode { parent: Some(parent), children: Vec::new(), ..node });
        self.nodes[parent as usize].children.push(place);
        place
    }

    /// Adds an edge between two leaves. An edge from a node to itself, or with a position that does not exist, is left out.
    pub fn connect(&mut self, from: u32, to: u32) {
        let n = usize_to_u32(self.nodes.len());
        if from != to && from < n && to < n {
            self.edges.push((from, to));
        }
    }

    /// All nodes, the root first.
    pub fn nodes(&self) -> &[GraphNode] {
        &self.nodes
    }

    /// A node, to change its content.
    pub fn node_mut(&mut self, place: u32) -> Option<&mut GraphNode> {
        self.nodes.get_mut(place as usize)
    }

    /// Edges between leaves.
    pub fn edges(&self) -> &[(u32, u32)] {
        &self.edges
    }

    /// The position of the node with a path.
    pub fn find(&self, id: &str) -> Option<u32> {
        self.nodes.iter().position(|n| n.id == id).map(usize_to_u32)
    }

    /// A node and the modules around it, the root first.
    pub fn path(&self, place: u32) -> Vec<u32> {
        let mut path = vec![place];
        let mut at = self.nodes.get(place as usize).and_then(|n| n.parent);
        while let Some(parent) = at {
            path.push(parent);
            at = self.nodes[parent as usize].parent;
        }
        path.reverse();
        path
    }

    /// Modules that are open at first: whole levels from the outside in, while at most `most` nodes are visible. If the next level
    /// has no room and few nodes are visible yet, the first modules of that level that fit are open.
    pub fn opening(&self, most: usize) -> BTreeSet<u32> {
        let mut open = BTreeSet::from([0]);
        let mut seen = self.nodes.first().map_or(0, |root| root.children.len());
        let mut level = self.modules_in(&[0]);
        while !level.is_empty() {
            let grown: usize = level.iter().map(|&m| self.grows_by(m)).sum();
            if seen + grown > most {
                break;
            }
            seen += grown;
            open.extend(&level);
            level = self.modules_in(&level);
        }
        for module in level {
            // A picture with only a few closed modules says little.
            if seen < most / 4 && seen + self.grows_by(module) <= most {
                seen += self.grows_by(module);
                open.insert(module);
            }
        }
        open
    }

    /// How many more nodes are visible when a module is open: its frame replaces its node.
    fn grows_by(&self, module: u32) -> usize {
        self.nodes[module as usize].children.len().saturating_sub(1)
    }

    /// The modules directly inside these.
    fn modules_in(&self, parents: &[u32]) -> Vec<u32> {
        let children = parents.iter().flat_map(|&p| self.nodes[p as usize].children.iter().copied());
        let is_module = |c: &u32| {
            let node = &self.nodes[*c as usize];
            node.look == Look::Module && !node.children.is_empty() && !node.is_folded
        };
        children.filter(is_module).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(id: &str) -> GraphNode {
        GraphNode { id: id.to_owned(), ..GraphNode::default() }
    }

    #[test]
    fn a_graph_opens_whole_levels_while_there_is_room() {
        let mut graph = ModuleGraph::new(node("model"));
        for layer in 0..4 {
            let module = graph.push(0, node(&format!("layer{layer}")));
            for op in 0..10 {
                graph.push(module, GraphNode { look: Look::Operator, ..node(&format!("layer{layer}/op{op}")) });
            }
        }
        assert_eq!(graph.opening(60).len(), 5, "4 frames with 40 operators");
        assert_eq!(
            graph.opening(15),
            BTreeSet::from([0]),
            "a part of a level stays closed when several nodes are seen"
        );
        assert_eq!(graph.opening(39), BTreeSet::from([0, 1]), "of fewer than a quarter, the first that fits is open");
        assert_eq!(graph.path(3), [0, 1, 3]);
    }

    #[test]
    fn operators_do_not_open_by_themselves() {
        let mut graph = ModuleGraph::new(node("model"));
        let op = graph.push(0, GraphNode { look: Look::Operator, ..node("op") });
        graph.push(op, GraphNode { look: Look::Operator, ..node("op/dot") });
        assert_eq!(graph.opening(60), BTreeSet::from([0]));
    }
}
