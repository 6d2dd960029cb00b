//! Walks a graph and translates each node.

use indexmap::IndexMap;
use rustc_hash::FxHashMap;

use super::super::argument::Argument;
use super::super::meta::Symbols;
use super::super::schema::{ExportedProgram, Graph, NamedArgument, Node};
use super::super::weights::Weights;
use super::call::{Call, OpResult};
use super::finish::Reason;
use super::operators::known;
use super::signature::{input_kind, scope_of};
use super::views::{ViewId, Views};
use ns_base::{Refusal, refuse};
use ns_program::{
    ArrayType, Builder, ImportError, InstructionId, Place, Program, ProgramParameter, Role, Type, UnsupportedOp,
};

/// A program, and what is unknown about it.
#[derive(Debug)]
pub struct Translation {
    pub program: Program,
    /// Operators without a known meaning.
    pub unsupported: Vec<UnsupportedOp>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// A translation in progress.
pub struct Translator {
    /// The program under construction.
    pub b: Builder,
    /// Values that share memory.
    pub views: Views,
    /// Sizes with names.
    pub symbols: Symbols,
    /// Whether the file has the type of each value.
    pub has_types: bool,
    /// Whether the program is only inspected: then it may have branches and loops that data decides.
    pub display_only: bool,
    /// Values by name; values of a nested graph hide those of the graphs around it.
    names: Vec<FxHashMap<String, ViewId>>,
    unsupported: IndexMap<String, UnsupportedOp>,
    notes: Vec<String>,
}

/// Number of notes of operations that are kept.
const MAX_NOTES: usize = 20;

/// The program of an exported graph. Fails when a branch depends on data, unless the program is only inspected, or when a node
/// names missing values.
pub fn translate(
    exported: &ExportedProgram<'_>,
    symbols: &Symbols,
    weights: &Weights,
    display_only: bool,
) -> Result<Translation, ImportError> {
    let mut t = Translator { display_only, ..Translator::new(symbols.clone()) };
    let graph = &exported.graph_module.graph;
    let parameters = t.parameters(exported, weights)?;
    t.graph(graph)?;
    let outputs = t.outputs(exported, &parameters)?;
    t.into_translated(&outputs).map_err(of_file)
}

fn of_file(error: Refusal) -> ImportError {
    ImportError::from(error.advise("export a smaller model"))
}

/// A complex number among the arguments of a node: no operator takes one here.
pub(super) fn complex_argument(node: &Node<'_>) -> Option<Refusal> {
    let complex = node.inputs.iter().find(|input| matches!(input.arg, Argument::Complex));
    complex.map(|input| refuse!("its argument {} is a complex number", input.name.get()))
}

impl Translator {
    /// A translator without values or nodes.
    pub fn new(symbols: Symbols) -> Self {
        Self {
            b: Builder::new(),
            views: Views::default(),
            symbols,
            has_types: true,
            display_only: false,
            names: vec![FxHashMap::default()],
            unsupported: IndexMap::new(),
            notes: Vec::new(),
        }
    }

    /// Adds a note for the user; only the first ones are kept.
    pub fn note(&mut self, note: String) {
        if self.notes.len() < MAX_NOTES {
            self.notes.push(note);
        }
    }

    /// Lists an operation without a known meaning.
    pub fn list_unsupported(&mut self, op: UnsupportedOp) {
        match self.unsupported.get_mut(&op.op) {
            Some(known) => known.count += op.count,
            None => {
                self.unsupported.insert(op.op.clone(), op);
            }
        }
    }

    /// Finishes the program with these results; also returns its unknown operators and the notes. Fails when the program becomes
    /// too large.
    pub fn into_translated(self, outputs: &[InstructionId]) -> Result<Translation, Refusal> {
        let program = self.b.finish("model", outputs)?;
        Ok(Translation { program, unsupported: self.unsupported.into_values().collect(), notes: self.notes })
    }

    /// Parameters of the program: inputs of the graph, where weights that share their numbers appear once.
    fn parameters(
        &mut self,
        exported: &ExportedProgram<'_>,
        weights: &Weights,
    ) -> Result<Vec<(String, ViewId)>, ImportError> {
        let graph = &exported.graph_module.graph;
        let mut shared: FxHashMap<String, ViewId> = FxHashMap::default();
        let mut changeable = Vec::new();
        for spec in &exported.graph_module.signature.input_specs {
            let Some(input) = input_kind(spec) else { continue };
            let ty = self.type_named(input.value, graph).map_err(|e| at_node(input.value, e))?;
            let weight = match input.role {
                Role::Input => None,
                _ => Some(weights.get(input.path, &ty)),
            };
            if let Some(weight) = &weight
                && let Some(&known) = shared.get(&weight.key)
            {
                self.bind(input.value, known);
                continue;
            }
            let (key, data) = weight.map(|w| (Some(w.key), w.data)).unwrap_or_default();
            let parameter = ProgramParameter { name: input.path.to_owned(), role: input.role, ty, data };
            let value = self.b.parameter(parameter).map_err(|e| at_node(input.value, e))?;
            let view = self.views.fresh(value);
            self.bind(input.value, view);
            changeable.push((input.path.to_owned(), view));
            if let Some(key) = key {
                shared.insert(key, view);
            }
        }
        Ok(changeable)
    }

    /// Results of the program: the caller's results, then parameters that were changed.
    fn outputs(
        &mut self,
        exported: &ExportedProgram<'_>,
        parameters: &[(String, ViewId)],
    ) -> Result<Vec<InstructionId>, ImportError> {
        self.b.set_origin("", "");
        let (mut given, mut changed) = (Vec::new(), Vec::new());
        for spec in &exported.graph_module.signature.output_specs {
            let Some((kind, spec)) = spec.iter().next().filter(|(kind, _)| kind.get() != "token") else { continue };
            let Some(Argument::Tensor(name)) = &spec.arg else { continue };
            let view = self.view_named(name.get()).map_err(|e| at_node(name.get(), e))?;
            let value = self.views.get(&mut self.b, view).map_err(|e| at_node(name.get(), e))?;
            if kind.get() == "user_output" { given.push(value) } else { changed.push(value) }
        }
        let is_functional = !changed.is_empty();
        for (_, view) in parameters {
            if !is_functional && self.views.is_changed(*view) {
                changed.push(self.views.get(&mut self.b, *view).map_err(of_file)?);
            }
        }
        if !changed.is_empty() {
            let count = changed.len();
            self.notes.push(format!("{count} buffers or inputs are changed; their new values follow the results"));
        }
        given.extend(changed);
        Ok(given)
    }

    /// Translates the nodes of a graph.
    fn graph(&mut self, graph: &Graph<'_>) -> Result<(), ImportError> {
        graph.nodes.iter().try_for_each(|node| self.node(node, graph))
    }

    fn node<'a>(&mut self, node: &Node<'a>, graph: &Graph<'a>) -> Result<(), ImportError> {
        let target = node.target.get();
        let plain = target.strip_prefix("torch.ops.").unwrap_or(target);
        if let Some(op) = plain.strip_prefix("higher_order.") {
            return self.higher_order(op, node, graph);
        }
        if target.starts_with("_operator.") || target.starts_with("math.") || target.starts_with("torch.sym_") {
            // Symbolic sizes: the file has their values.
            return Ok(());
        }
        let mut parts = plain.splitn(3, '.');
        let space = parts.next().unwrap_or_default();
        let name = parts.next().unwrap_or_default();
        let overload = parts.next().unwrap_or_default();
        // Nodes of subgraphs get the scope of the node around them.
        let scope = scope_of(node);
        let scope = if scope.is_empty() { self.b.origin().scope.clone() } else { scope };
        self.b.set_origin(&format!("{space}::{name}"), &scope);
        let is_in_place = name.ends_with('_') && !name.ends_with("__") || is_in_place_dunder(name);
        let op = if is_in_place && !name.ends_with("__") { &name[..name.len() - 1] } else { name };
        let mut call = Call { t: self, node, graph, op, overload };
        let made = match space {
            "aten" => known(&mut call),
            // What transformers calls in an export in place of `_grouped_mm`.
            "transformers" if op == "grouped_mm_fallback" => super::grouped::product(&mut call),
            "quantized_decomposed" => super::create::quantised(&mut call),
            _ => Ok(OpResult::Unknown),
        };
        let finished = call.finish(made, is_in_place);
        match finished {
            Ok(()) => Ok(()),
            Err(Reason::Missing(missing)) => Err(at_node(&name_of(node), missing)),
            Err(Reason::Unknown(why)) => self.opaque(node, graph, &format!("{space}::{name}"), why),
        }
    }

    /// An operation without a known meaning: it becomes opaque and is listed.
    fn opaque<'a>(
        &mut self,
        node: &Node<'a>,
        graph: &Graph<'a>,
        op: &str,
        why: Option<Refusal>,
    ) -> Result<(), ImportError> {
        let first = name_of(node);
        let why = complex_argument(node).or(why).map_or_else(String::new, String::from);
        if !why.is_empty() {
            self.note(format!("{first}: this use of {op} is not known here: {why}"));
        }
        self.list_unsupported(UnsupportedOp { op: op.to_owned(), count: 1, first: first.clone(), why });
        let wrong = |e: Refusal| at_node(&first, e);
        let (mut operands, mut config) = (Vec::new(), String::new());
        let mut call = Call { t: self, node, graph, op: "", overload: "" };
        for (place, input) in node.inputs.iter().enumerate() {
            match &input.arg {
                Argument::Tensor(_) | Argument::Tensors(_) => operands.extend(call.tensors(place).map_err(wrong)?),
                other => {
                    if let Some(n) = call.number_of(other) {
                        config.push_str(&format!("{}={n} ", input.name.get().chars().take(40).collect::<String>()));
                    }
                }
            }
        }
        let types = call.results().map_err(wrong)?;
        let names: Vec<String> = call.output_names().iter().map(|n| n.get().to_owned()).collect();
        let arrays: Vec<Type> = types.into_iter().map(Type::Array).collect();
        match arrays.as_slice() {
            [] => {}
            [single] => {
                let value = self.b.opaque(op, config.trim(), &operands, single.clone()).map_err(wrong)?;
                let view = self.views.fresh(value);
                self.bind(&names[0], view);
                // An in-place operation also writes its first operand.
                if op.ends_with('_')
                    && let Some(Argument::Tensor(target)) = node.inputs.first().map(|i| &i.arg)
                {
                    let target = self.view_named(target.get()).map_err(wrong)?;
                    self.views.set(&mut self.b, target, value).map_err(wrong)?;
                }
            }
            _ => {
                let all = self.b.opaque(op, config.trim(), &operands, Type::Tuple(arrays)).map_err(wrong)?;
                for (at, name) in names.iter().enumerate() {
                    let value = self.b.get(all, at).map_err(wrong)?;
                    let view = self.views.fresh(value);
                    self.bind(name, view);
                }
            }
        }
        Ok(())
    }

    /// A higher-order operator: graphs that only set a mode are walked in place; branches and loops are refused.
    fn higher_order<'a>(&mut self, op: &str, node: &Node<'a>, graph: &Graph<'a>) -> Result<(), ImportError> {
        let place = name_of(node);
        if op == "with_effects" {
            return self.with_effects(node, graph);
        }
        if self.display_only && matches!(op, "cond" | "while_loop") {
            return self.undecided(op, node, graph).map_err(|e| at_node(&place, e));
        }
        let inner = node.inputs.iter().enumerate().find_map(|(at, i)| match &i.arg {
            Argument::Graph(inner) => Some((at, inner)),
            _ => None,
        });
        let (Some((at, inner)), true) = (inner, op.starts_with("wrap") || op.starts_with("hints_wrapper")) else {
            let refused = match op {
                "cond" => refuse!("torch.cond: a branch that depends on data"),
                "while_loop" => refuse!("torch.while_loop: a loop whose number of turns depends on data"),
                other => refuse!("the higher-order operator {other} is not known here"),
            };
            let instead =
                "a NeuronCore runs a fixed program: export one branch, or compute both and choose with torch.where";
            return Err(ImportError::at(Place::Node(place), refused.advise(instead)));
        };
        let missing = |e: Refusal| at_node(&place, e);
        let mut inside = FxHashMap::default();
        let given = node.inputs[at + 1..].iter().flat_map(|i| match &i.arg {
            Argument::Tensors(all) => all.iter().collect::<Vec<_>>(),
            Argument::Tensor(name) => vec![name],
            _ => Vec::new(),
        });
        let wanted = inner.graph.inputs.iter().filter_map(|a| match a {
            Argument::Tensor(name) => Some(name),
            _ => None,
        });
        for (outer, own) in given.zip(wanted) {
            inside.insert(own.get().to_owned(), self.view_named(outer.get()).map_err(missing)?);
        }
        self.names.push(inside);
        let walked = self.graph(&inner.graph);
        let mut results = Vec::new();
        if walked.is_ok() {
            for output in &inner.graph.outputs {
                let names = match output {
                    Argument::Tensor(name) => vec![name],
                    Argument::Tensors(all) => all.iter().collect(),
                    _ => Vec::new(),
                };
                for name in names {
                    results.push(self.view_named(name.get()).map_err(missing)?);
                }
            }
        }
        self.names.pop();
        walked?;
        let call = Call { t: self, node, graph, op: "", overload: "" };
        let names: Vec<String> = call.output_names().iter().map(|n| n.get().to_owned()).collect();
        if names.len() != results.len() {
            return Err(at_node(&place, refuse!("{} results are named and {} are given", names.len(), results.len())));
        }
        names.iter().zip(results).for_each(|(name, view)| self.bind(name, view));
        Ok(())
    }

    /// An operator with an effect beside its results, such as `_print`. It is opaque; the tokens that keep calls in order are left out.
    fn with_effects<'a>(&mut self, node: &Node<'a>, graph: &Graph<'a>) -> Result<(), ImportError> {
        let Some(Argument::Text(operator)) = node.inputs.get(1).map(|i| &i.arg) else {
            return Err(at_node(&name_of(node), refuse!("argument 1 of with_effects is missing")));
        };
        let named = |arg: &Argument<'a>| match arg {
            Argument::Tensor(name) => Some(Argument::Tensor(name.clone())),
            Argument::Tensors(all) => Some(Argument::Tensors(all.clone())),
            _ => None,
        };
        let reads = node.inputs.iter().skip(2);
        let inner = Node {
            target: operator.clone(),
            inputs: reads.filter_map(|i| Some(NamedArgument { name: i.name.clone(), arg: named(&i.arg)? })).collect(),
            outputs: node.outputs.iter().skip(1).filter_map(named).collect(),
            metadata: Default::default(),
        };
        let plain = operator.get().strip_prefix("torch.ops.").unwrap_or(operator.get());
        let name = plain.splitn(3, '.').take(2).collect::<Vec<_>>().join("::");
        self.b.set_origin(&name, &scope_of(node));
        self.opaque(&inner, graph, &name, None)
    }

    /// A branch or a loop that data decides, as one operation that cannot be placed.
    fn undecided<'a>(&mut self, op: &str, node: &Node<'a>, graph: &Graph<'a>) -> Result<(), Refusal> {
        let scope = scope_of(node);
        let scope = if scope.is_empty() { self.b.origin().scope.clone() } else { scope };
        self.b.set_origin(&format!("higher_order::{op}"), &scope);
        let mut call = Call { t: self, node, graph, op: "", overload: "" };
        let mut read = Vec::new();
        for (place, input) in node.inputs.iter().enumerate() {
            if matches!(input.arg, Argument::Tensor(_) | Argument::Tensors(_)) {
                read.extend(call.tensors(place)?);
            }
        }
        let types = call.results()?;
        let names: Vec<String> = call.output_names().iter().map(|n| n.get().to_owned()).collect();
        let values = if op == "cond" {
            let condition = matches!(node.inputs.first().map(|i| &i.arg), Some(Argument::Tensor(_)));
            self.b.undecided_branch(read.first().copied().filter(|_| condition), &read, &types)?
        } else {
            self.b.undecided_loop(&read)?
        };
        for (name, value) in names.iter().zip(values) {
            let view = self.views.fresh(value);
            self.bind(name, view);
        }
        Ok(())
    }

    /// Names a value.
    pub fn bind(&mut self, name: &str, view: ViewId) {
        if let Some(names) = self.names.last_mut() {
            names.insert(name.to_owned(), view);
        }
    }

    /// A value by its name. Fails when no earlier node defines it.
    pub fn view_named(&self, name: &str) -> Result<ViewId, Refusal> {
        let found = self.names.last().and_then(|names| names.get(name)).copied();
        found.ok_or_else(|| refuse!("no node in front gives the value {}", name.chars().take(200).collect::<String>()))
    }

    /// The type of a value by its name. Fails when the graph does not describe it.
    pub fn type_named(&self, name: &str, graph: &Graph<'_>) -> Result<ArrayType, Refusal> {
        let short = || name.chars().take(200).collect::<String>();
        let meta = graph.tensor_values.get(name);
        let meta = meta.ok_or_else(|| refuse!("the value {} has no type", short()))?;
        let ty = self.symbols.array(meta);
        ty.map_err(|fault| refuse!("the value {}: {fault}", short()))
    }
}

/// In-place names such as `__iand__`.
fn is_in_place_dunder(name: &str) -> bool {
    matches!(name, "__iand__" | "__ior__" | "__ixor__" | "__ilshift__" | "__irshift__")
}

/// The name of a node: the name of its first result, else its target.
fn name_of(node: &Node<'_>) -> String {
    let name = node.outputs.iter().find_map(|o| match o {
        Argument::Tensor(name) => Some(name.get()),
        Argument::Tensors(all) => all.first().map(super::super::argument::Text::get),
        _ => None,
    });
    name.unwrap_or(node.target.get()).chars().take(200).collect()
}

fn at_node(name: &str, error: Refusal) -> ImportError {
    let instead = "the file is damaged or of a kind that is not known here: export the model again";
    ImportError::at(Place::Node(name.chars().take(200).collect()), error.advise(instead))
}
