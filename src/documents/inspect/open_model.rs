//! A model that is open: compiled, simulated once, with its tree.

use std::collections::BTreeSet;

use super::limits::limits;
use super::operation::{Operation, operations};
use super::subject::{CompiledProgram, Obstacle, Subject};
use super::times::{ExecutionTimes, path_of, times_of};
use super::tree::{ModelTree, tree_of};
use ns_base::convert::usize_to_u32;
use ns_capture::Recorder;
use ns_forms::{InspectField, InspectSpec};
use ns_view::document::Finding;
use ns_view::graph::{GraphScene, Look, Marks, lay_out};
use ns_view::text::contains_ignoring_case;

/// Approximate number of nodes that are visible at first.
const OPENING: usize = 60;

/// Most refused operations that are visible at first.
const MOST_REFUSED: usize = 12;

pub struct OpenModel {
    pub(super) spec: InspectSpec,
    pub(super) subject: Subject,
    pub(super) compiled: Result<CompiledProgram, Obstacle>,
    pub(super) operations: Vec<Operation>,
    pub(super) times: Option<ExecutionTimes>,
    pub(super) tree: ModelTree,
    pub(super) limits: Vec<Finding>,
}

impl OpenModel {
    /// Prepares an opened model. `recorder` is given when it was simulated.
    pub(super) fn new(
        spec: InspectSpec,
        subject: Subject,
        compiled: Result<CompiledProgram, Obstacle>,
        recorder: Option<&Recorder>,
    ) -> Self {
        let (mut operations, results) = operations(&subject.module, &subject.pipeline.buffers());
        if let Err(refusal) = &compiled {
            operations.iter_mut().for_each(|operation| operation.refused = refused(operation, refusal));
        }
        for operation in &mut operations {
            let cost = operation.work.as_ref().and_then(|work| subject.estimates.get(work));
            operation.is_unknown = cost.is_some_and(|cost| cost.is_unknown);
        }
        let times = match (&compiled, recorder) {
            (Ok(compiled), Some(recorder)) => {
                Some(times_of(&operations, &compiled.executable, recorder, &subject.device.costs))
            }
            _ => None,
        };
        let tree = tree_of(&subject.title, &operations, &results, times.as_ref());
        let refusal = compiled.as_ref().map_err(|refusal| refusal.reason.as_str());
        let limits = limits(&subject, refusal, &operations, times.as_ref());
        Self { spec, subject, compiled, operations, times, tree, limits }
    }

    pub(super) fn node(&self, path: &str) -> Option<u32> {
        if path.is_empty() { None } else { self.tree.graph.find(path) }
    }

    /// Modules that are open: those that open at first, changed by each toggle, and those around the selected node.
    pub(super) fn open(&self, spec: &InspectSpec) -> BTreeSet<u32> {
        let graph = &self.tree.graph;
        let mut open = graph.opening(OPENING);
        for node in spec.toggled().filter_map(|path| self.node(path)) {
            if !open.remove(&node) && !graph.nodes()[node as usize].children.is_empty() {
                open.insert(node);
            }
        }
        let is_refused = |n: &u32| graph.nodes()[*n as usize].look == Look::Refused;
        for node in (0..usize_to_u32(graph.nodes().len())).filter(is_refused).take(MOST_REFUSED) {
            open.extend(
                graph.path(node).iter().filter(|&&n| n != node && graph.nodes()[n as usize].look == Look::Module),
            );
        }
        if let Some(selected) = self.node(spec.get(InspectField::Selected)) {
            let around = graph.path(selected);
            open.extend(around.iter().filter(|&&n| n != selected));
        }
        open
    }

    /// Operators and modules whose name or path contains a text, in the order of the program.
    pub(super) fn hits(&self, text: &str) -> Vec<u32> {
        let text = text.trim();
        if text.is_empty() {
            return Vec::new();
        }
        let matches = |(i, node): (usize, &ns_view::graph::GraphNode)| {
            contains_ignoring_case(&node.title, text).then_some(usize_to_u32(i)).filter(|&i| i > 0)
        };
        self.tree.graph.nodes().iter().enumerate().filter_map(matches).collect()
    }

    /// The picture of the open modules.
    pub(super) fn scene(&self, open: &BTreeSet<u32>) -> GraphScene {
        lay_out(&self.tree.graph, open)
    }

    /// The highlighted nodes: the selection, the hits, and the closed modules that hold hits.
    pub(super) fn marks(&self, spec: &InspectSpec, open: &BTreeSet<u32>, found: &[u32]) -> Marks {
        let graph = &self.tree.graph;
        let visible = |node: &u32| {
            let path = graph.path(*node);
            let closed = path.iter().copied().find(|module| !open.contains(module));
            closed.unwrap_or(*node)
        };
        Marks { selected: self.node(spec.get(InspectField::Selected)), found: found.iter().map(visible).collect() }
    }
}

/// Why an operation cannot run on a core; `None` if it can.
fn refused(operation: &Operation, refusal: &Obstacle) -> Option<String> {
    let by_operator = operation.work.as_ref().and_then(|work| refusal.by_operator.get(work));
    let is_at = refusal.path.as_ref().is_some_and(|path| *path == path_of(operation));
    by_operator.or((is_at).then_some(&refusal.reason)).cloned()
}
