//! From a list of operations to a tree of modules with sums, which pictures and tables show.

use std::collections::BTreeMap;

use super::operation::{Operation, short};
use super::times::ExecutionTimes;
use ns_base::convert::usize_to_u32;
use ns_base::units::{format_ns, format_plural};
use ns_base::{Order, digest64};
use ns_insight::SourceTime;
use ns_view::graph::{GraphNode, Look, ModuleGraph};

/// Most nested modules that are kept separate; names in files may be deeper.
const MOST_DEPTH: usize = 32;
/// A module with more children is shown in parts, so that a file without modules can be shown too.
const MOST_CHILDREN: usize = 60;
/// From this number on, blocks that are alike are folded.
const LEAST_REPEATS: usize = 3;
/// Approximate number of children of a part.
const PART: usize = 40;

/// The figures of a node; for a module the sums over its children.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct NodeFacts {
    /// Its operation, when it is one.
    pub operation: Option<usize>,
    /// Operators in it: operations of the framework if the model has them, else instructions.
    pub operators: u64,
    pub time: SourceTime,
    pub parameters: u64,
    pub weight_bytes: u64,
    pub flops: u64,
    pub bytes: u64,
    /// Number of operations whose cost is an estimate.
    pub estimates: u64,
    /// Number of operations whose cost is not known: its time is the least that is possible.
    pub unknown: u64,
}

impl NodeFacts {
    /// Its part of a call, in nanoseconds: work of engines, and transfers that no work covers. The parts of a model add up to the time in
    /// which its core is busy.
    pub fn call_ns(&self) -> f64 {
        self.time.executing_ns + self.time.exposed_ns
    }

    /// Its part of a call, marked if the cost of an operation is not known.
    pub fn call_text(&self) -> String {
        let before = if self.unknown > 0 { "at least " } else { "" };
        format!("{before}{}", format_ns(self.call_ns()))
    }
}

impl ModelTree {
    /// The share of a node in a call of the model, in percent.
    pub fn share_percent(&self, node: u32) -> f64 {
        self.graph.nodes().get(node as usize).map_or(0.0, |node| node.heat * 100.0)
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct ModelTree {
    pub graph: ModuleGraph,
    /// Parallel to the nodes of the graph.
    pub facts: Vec<NodeFacts>,
}

/// A node while the tree grows.
#[derive(Default)]
struct Draft {
    id: String,
    title: String,
    look: Look,
    operation: Option<usize>,
    children: Vec<usize>,
    /// Counts repeated names among its children.
    names: BTreeMap<String, u32>,
}

/// Grows a tree from operations in the order of the program.
struct Growing<'a> {
    operations: &'a [Operation],
    drafts: Vec<Draft>,
    modules: BTreeMap<(usize, &'a str), usize>,
    /// Leading module names that all operations share: the root stands for them.
    shared: usize,
}

/// The tree of a program. `results` are the operations that give the model's results.
pub(super) fn tree_of(
    title: &str,
    operations: &[Operation],
    results: &[usize],
    times: Option<&ExecutionTimes>,
) -> ModelTree {
    let shared = shared_scope(operations);
    let root = operations.first().filter(|_| shared > 0).and_then(|o| o.scope.first());
    let title = root.map_or_else(|| title.to_owned(), Clone::clone);
    let draft = Draft { title, ..Draft::default() };
    let mut growing = Growing { operations, drafts: vec![draft], modules: BTreeMap::new(), shared };
    growing.grow();
    let outputs: Vec<usize> =
        (0..results.len()).map(|n| growing.add(0, &format!("output {n}"), Look::Value, None)).collect();
    growing.emit(results, &outputs, times)
}

/// How many leading module names all operations have in common: one or none.
fn shared_scope(operations: &[Operation]) -> usize {
    let mut of = operations.iter().filter(|o| !o.is_input).map(|o| o.scope.first());
    let Some(Some(first)) = of.next() else { return 0 };
    usize::from(of.all(|other| other == Some(first)))
}

/// The reading order of a program: operations on weights alone come right before the first operation on values of a call that
/// reads their result; those of the same operator come last.
fn order(operations: &[Operation]) -> Vec<usize> {
    let mut of_a_call = vec![false; operations.len()];
    for (i, operation) in operations.iter().enumerate() {
        of_a_call[i] = operation.is_input || operation.from.iter().any(|&f| of_a_call[f]);
    }
    let mut place: Vec<usize> = of_a_call.iter().enumerate().map(|(i, is)| if *is { i } else { usize::MAX }).collect();
    for (i, operation) in operations.iter().enumerate().rev() {
        for &from in operation.from.iter().filter(|&&f| !of_a_call[f]) {
            place[from] = place[from].min(place[i]);
        }
    }
    let mut order: Vec<usize> = (0..operations.len()).collect();
    order.order_by_key(|&i| {
        let reader = operations.get(place[i]);
        let own = &operations[i];
        let belongs = reader.is_some_and(|r| r.scope == own.scope && r.framework == own.framework);
        (place[i], belongs, i)
    });
    order
}

impl<'a> Growing<'a> {
    fn grow(&mut self) {
        // The place of the previous operation: its module, its operator and the operator's node.
        let mut before: Option<(usize, &str, usize)> = None;
        let mut inputs = 0;
        for i in order(self.operations) {
            let operation = &self.operations[i];
            if operation.is_input {
                self.add(0, &format!("input {inputs}"), Look::Value, Some(i));
                inputs += 1;
                continue;
            }
            let module = self.module_of(operation);
            let look = match operation {
                Operation { refused: Some(_), .. } => Look::Refused,
                Operation { is_estimate: true, .. } => Look::Estimate,
                _ => Look::Operator,
            };
            let Some(framework) = operation.framework.as_deref() else {
                self.add(module, &operation.name, look, Some(i));
                before = None;
                continue;
            };
            // Instructions of one operator are adjacent in the program.
            let operator = match before {
                Some((m, f, operator)) if m == module && f == framework => operator,
                _ => self.add(module, framework, look, None),
            };
            before = Some((module, framework, operator));
            if look == Look::Refused || (look == Look::Estimate && self.drafts[operator].look == Look::Operator) {
                self.drafts[operator].look = look;
            }
            self.add(operator, &operation.name, look, Some(i));
        }
    }

    /// The module of an operation; it is created if needed.
    fn module_of(&mut self, operation: &'a Operation) -> usize {
        let mut at = 0;
        for name in operation.scope.iter().skip(self.shared).take(MOST_DEPTH) {
            at = match self.modules.get(&(at, name.as_str())) {
                Some(&known) => known,
                None => {
                    let made = self.add(at, name, Look::Module, None);
                    self.modules.insert((at, name), made);
                    made
                }
            };
        }
        at
    }

    /// Adds a node. A node with a name that is taken gets a number after its path.
    fn add(&mut self, parent: usize, name: &str, look: Look, operation: Option<usize>) -> usize {
        let place = self.drafts.len();
        let name = short(name);
        let holder = &mut self.drafts[parent];
        holder.children.push(place);
        let count = holder.names.entry(name.to_owned()).or_insert(0);
        *count += 1;
        let number = if *count > 1 { format!("#{count}") } else { String::new() };
        let id = if parent == 0 { format!("{name}{number}") } else { format!("{}/{name}{number}", holder.id) };
        self.drafts.push(Draft { id, title: name.to_owned(), look, operation, ..Draft::default() });
        place
    }

    /// What each draft is made of, as a number that is equal for modules that are alike: their names without numbers, and their content.
    fn forms(&self) -> Vec<u64> {
        let mut forms = vec![0; self.drafts.len()];
        // Children come after their module.
        for (i, draft) in self.drafts.iter().enumerate().rev() {
            let mut text = block_name(&draft.title);
            draft.children.iter().for_each(|child| text.push_str(&format!(" {:x}", forms[*child])));
            forms[i] = digest64(&text);
        }
        forms
    }

    /// Children in order: modules that are alike and stand beside each other are one run, everything else is alone.
    fn runs<'c>(&self, forms: &[u64], children: &'c [usize]) -> Vec<&'c [usize]> {
        let is_block =
            |child: usize| self.drafts[child].look == Look::Module && !self.drafts[child].children.is_empty();
        let mut runs = Vec::new();
        for alike in children.chunk_by(|a, b| is_block(*a) && is_block(*b) && forms[*a] == forms[*b]) {
            if alike.len() >= LEAST_REPEATS { runs.push(alike) } else { runs.extend(alike.chunks(1)) }
        }
        runs
    }

    /// The finished tree: operators with one instruction become that instruction, long lists are cut into parts.
    fn emit(self, results: &[usize], outputs: &[usize], times: Option<&ExecutionTimes>) -> ModelTree {
        let root = GraphNode { title: self.drafts[0].title.clone(), ..GraphNode::default() };
        let mut tree = ModelTree { graph: ModuleGraph::new(root), facts: vec![NodeFacts::default()] };
        let mut node_of: Vec<Option<u32>> = vec![None; self.operations.len()];
        let mut output_nodes: Vec<Option<u32>> = vec![None; outputs.len()];
        let forms = self.forms();
        // A module, its children, and whether they are blocks that are already folded.
        let mut stack: Vec<(u32, Vec<usize>, bool)> = vec![(0, self.drafts[0].children.clone(), false)];
        while let Some((parent, children, is_folded)) = stack.pop() {
            let runs = if is_folded {
                children.iter().map(std::slice::from_ref).collect()
            } else {
                self.runs(&forms, &children)
            };
            if runs.len() > MOST_CHILDREN {
                stack.extend(tree.parts(parent, &children).into_iter().rev().map(|(node, part)| (node, part, false)));
                continue;
            }
            let mut deeper = Vec::new();
            for run in runs {
                let [child] = run else {
                    let name = block_name(&self.drafts[run[0]].title);
                    deeper.push((tree.fold(parent, name, run), run.to_vec(), true));
                    continue;
                };
                let child = *child;
                let draft = &self.drafts[child];
                let only = match draft.children.as_slice() {
                    [one] if draft.look != Look::Module => self.drafts[*one].operation,
                    _ => None,
                };
                let operation = draft.operation.or(only);
                let node = tree.push(parent, draft, operation, self.operations, times);
                if let Some(operation) = operation {
                    node_of[operation] = Some(node);
                } else if !draft.children.is_empty() {
                    deeper.push((node, draft.children.clone(), false));
                }
                if let Some(n) = outputs.iter().position(|&o| o == child) {
                    output_nodes[n] = Some(node);
                }
            }
            stack.extend(deeper.into_iter().rev());
        }
        for (operation, node) in self.operations.iter().zip(&node_of) {
            for (from, to) in operation.from.iter().filter_map(|&f| Some((node_of[f]?, (*node)?))) {
                tree.graph.connect(from, to);
            }
        }
        for (result, output) in results.iter().zip(output_nodes) {
            if let (Some(from), Some(to)) = (node_of.get(*result).copied().flatten(), output) {
                tree.graph.connect(from, to);
            }
        }
        tree.sum_up(times);
        tree
    }
}

/// The name of a block without what tells it from its neighbours: `BertLayer[layer.3]` is a `BertLayer`.
fn block_name(title: &str) -> String {
    let name = title.split('[').next().unwrap_or(title);
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '_' | '#'));
    (if name.is_empty() { "block" } else { name }).to_owned()
}

impl ModelTree {
    /// A node that stands for blocks that are alike.
    fn fold(&mut self, parent: u32, name: String, blocks: &[usize]) -> u32 {
        let title = format!("{} \u{d7} {name}", blocks.len());
        let path = &self.graph.nodes()[parent as usize].id;
        let id = if path.is_empty() { title.clone() } else { format!("{path}/{title}") };
        // Another run of the same blocks in the same module.
        let number = self.graph.nodes().iter().filter(|n| n.parent == Some(parent) && n.title == title).count();
        let id = if number > 0 { format!("{id}#{}", number + 1) } else { id };
        self.facts.push(NodeFacts::default());
        self.graph.push(parent, GraphNode { id, title, is_folded: true, ..GraphNode::default() })
    }

    fn push(
        &mut self,
        parent: u32,
        draft: &Draft,
        operation: Option<usize>,
        operations: &[Operation],
        times: Option<&ExecutionTimes>,
    ) -> u32 {
        let own = operation.and_then(|o| operations.get(o));
        let note = own.map_or_else(String::new, |o| match &o.refused {
            Some(_) => format!("refused, {}", o.shape),
            None => o.shape.to_string(),
        });
        let (id, title, look) = (draft.id.clone(), draft.title.clone(), draft.look);
        let node = self.graph.push(parent, GraphNode { id, title, note, look, ..GraphNode::default() });
        let time = operation.and_then(|o| times?.of.get(o).cloned()).unwrap_or_default();
        let is_operator = look != Look::Module && look != Look::Value;
        self.facts.push(NodeFacts {
            operation,
            operators: u64::from(is_operator),
            time,
            parameters: own.map_or(0, |o| o.parameters),
            weight_bytes: own.map_or(0, |o| o.weight_bytes),
            flops: own.map_or(0, |o| o.flops),
            bytes: own.map_or(0, |o| o.bytes),
            estimates: u64::from(own.is_some_and(|o| o.is_estimate && o.refused.is_none())),
            unknown: u64::from(own.is_some_and(|o| o.is_unknown && o.refused.is_none())),
        });
        node
    }

    /// Replaces a long list by parts of about the same length.
    fn parts(&mut self, parent: u32, children: &[usize]) -> Vec<(u32, Vec<usize>)> {
        let parts = children.len().div_ceil(PART).min(MOST_CHILDREN);
        let each = children.len().div_ceil(parts);
        let path = self.graph.nodes()[parent as usize].id.clone();
        let mut made = Vec::new();
        for (i, part) in children.chunks(each).enumerate() {
            let title = format!("part {} of {}", i + 1, children.len().div_ceil(each));
            let id = if path.is_empty() { title.clone() } else { format!("{path}/{title}") };
            let node = self.graph.push(parent, GraphNode { id, title, ..GraphNode::default() });
            self.facts.push(NodeFacts::default());
            made.push((node, part.to_vec()));
        }
        made
    }

    /// Sums from the leaves to the root, and the values derived from them.
    fn sum_up(&mut self, times: Option<&ExecutionTimes>) {
        if let (Some(root), Some(times)) = (self.facts.first_mut(), times) {
            root.time.add_part(&times.rest, 1.0);
        }
        let parents: Vec<(Option<u32>, Look)> = self.graph.nodes().iter().map(|n| (n.parent, n.look)).collect();
        for (i, (parent, _)) in parents.iter().enumerate().rev() {
            let Some(parent) = parent else { continue };
            let own = self.facts[i].clone();
            let is_counted = parents[*parent as usize].1 == Look::Module;
            let sum = &mut self.facts[*parent as usize];
            // The instructions of an operator count as one operator.
            sum.operators += if is_counted { own.operators } else { 0 };
            sum.time.add_part(&own.time, 1.0);
            sum.parameters = sum.parameters.saturating_add(own.parameters);
            sum.weight_bytes = sum.weight_bytes.saturating_add(own.weight_bytes);
            sum.flops = sum.flops.saturating_add(own.flops);
            sum.bytes = sum.bytes.saturating_add(own.bytes);
            sum.estimates += own.estimates;
            sum.unknown += own.unknown;
        }
        let total = self.facts.first().map_or(0.0, NodeFacts::call_ns);
        for (i, facts) in self.facts.iter().enumerate() {
            let Some(node) = self.graph.node_mut(usize_to_u32(i)) else { continue };
            node.heat = if total > 0.0 { facts.call_ns() / total } else { 0.0 };
            if node.note.is_empty() && node.look != Look::Value {
                let time = if total > 0.0 { format!(", {}", facts.call_text()) } else { String::new() };
                node.note = match node.look {
                    Look::Module => format!("{}{time}", format_plural(facts.operators, "operator")),
                    _ => format!("{} instructions{time}", node.children.len()),
                };
            }
        }
    }
}
