//! Translates nodes to instructions: looks up values by name, calls functions, makes parameters of initialisers.

use std::collections::BTreeMap;
use std::rc::Rc;

use indexmap::IndexSet;
use rustc_hash::{FxHashMap, FxHashSet};

use super::elements::element;
use super::messages::{Dim, Model, OnnxFunction, OnnxGraph, OnnxNode, ValueInfo};
use super::ops;
use super::order::{name_of, order, place_of};
use super::scope;
use super::site::{CHECK, Failure, Results, Site};
use super::tensors::short;
use super::values::{Scope, resolved};
use super::weights::OnnxWeights;
use crate::size_term::SizeTerm;
use ns_base::convert::u64_to_i64;
use ns_base::{Refusal, refuse};
use ns_program::{
    ArrayType, Builder, ElementType, ImportError, ImportOptions, InstructionId, OpenDimension, Place, ProgramParameter,
    Role, TensorInfo, Type, UnsupportedOp, WeightData,
};

/// Most nodes that are translated; nodes of functions count at each call.
const MOST_CALLS: u64 = 500_000;

/// Most levels of nested functions and subgraphs.
const MOST_DEEP: usize = 48;

/// Makes a program from a model.
pub(super) struct Importer<'m> {
    pub model: &'m Model,
    /// The program so far.
    pub builder: Builder,
    /// Operations of products so far.
    pub flops: u64,
    /// Whether something is missing.
    pub is_partial: bool,
    /// Notes for the user.
    pub notes: IndexSet<String>,
    /// Operators without a known meaning.
    pub unsupported: BTreeMap<String, UnsupportedOp>,
    /// Module paths.
    pub modules: IndexSet<String>,
    /// Dimensions whose sizes are open.
    pub open: Vec<OpenDimension>,
    /// Elements of weights and of buffers.
    pub elements: (u64, u64),
    options: &'m ImportOptions,
    functions: FxHashMap<(&'m str, &'m str, &'m str), &'m Rc<OnnxFunction>>,
    /// What the file says about its weights.
    pub weights: OnnxWeights,
    /// The first unknown operator whose result has a guessed type, and its place.
    guessed: Option<(String, Place)>,
    calls_left: u64,
    depth: usize,
}

impl<'m> Importer<'m> {
    /// An importer that has translated nothing yet.
    pub fn new(model: &'m Model, options: &'m ImportOptions) -> Self {
        let mut builder = Builder::new();
        builder.fold_constants(true);
        let weights = OnnxWeights::of(model);
        let by_name = |f: &'m Rc<OnnxFunction>| ((f.domain.as_str(), f.name.as_str(), f.overload.as_str()), f);
        Self {
            model,
            builder,
            flops: 0,
            is_partial: false,
            notes: IndexSet::new(),
            unsupported: BTreeMap::new(),
            modules: IndexSet::new(),
            open: Vec::new(),
            elements: (weights.merged, 0),
            options,
            guessed: None,
            functions: model.functions.iter().map(by_name).collect(),
            weights,
            calls_left: MOST_CALLS,
            depth: 0,
        }
    }

    /// Translates the main graph; returns its inputs and the values of its outputs.
    pub fn main(&mut self) -> Result<(Vec<TensorInfo>, Vec<InstructionId>), ImportError> {
        let graph = &self.model.graph;
        if graph.has_sparse {
            return Err(refuse!(instead = "store the weights densely", "the graph has sparse initialisers").into());
        }
        let mut scope = Scope { opsets: self.model.opsets.clone(), ..Scope::default() };
        scope.values.push(FxHashMap::default());
        scope.enter(graph);
        let mut inputs = Vec::new();
        for info in &graph.inputs {
            if scope.initializers.contains_key(&info.name) {
                continue;
            }
            let (ty, open) = self.input_type(info)?;
            let dtype = ty.element.name().to_owned();
            inputs.push(TensorInfo { name: info.name.to_string(), dtype, shape: ty.dims.clone(), open });
            let parameter =
                ProgramParameter { name: info.name.to_string(), role: Role::Input, ty, data: WeightData::Absent };
            let place = Place::Node(short(&info.name));
            let id = self.builder.parameter(parameter);
            let refusal = |e| refuse!(instead = "export the model with smaller inputs", "{e}");
            let id = id.map_err(|e| ImportError::at(place, refusal(e)))?;
            scope.define(&info.name, id);
        }
        self.nodes(&graph.nodes, &mut scope)?;
        let outputs = graph
            .outputs
            .iter()
            .map(|o| self.value(&o.name, &mut scope, "the model's result"))
            .collect::<Result<_, _>>()?;
        Ok((inputs, outputs))
    }

    /// Type of an input, with the chosen sizes for its open dimensions.
    fn input_type(&mut self, info: &ValueInfo) -> Result<(ArrayType, BTreeMap<usize, String>), ImportError> {
        let fail = |refusal: Refusal| ImportError::at(Place::Node(short(&info.name)), refusal);
        let Some(element) = element(info.element).filter(|_| !info.is_other) else {
            return Err(fail(refuse!(
                instead = "export the model with arrays as inputs",
                "this input is not an array of numbers"
            )));
        };
        let Some(dims) = &info.dims else {
            return Err(fail(refuse!(
                instead = "export it with sizes",
                "the file does not say how many dimensions this input has"
            )));
        };
        let mut sizes = Vec::new();
        let mut open = BTreeMap::new();
        for (at, dim) in dims.iter().enumerate() {
            let name = match dim {
                Dim::Size(n) => {
                    let negative = |_| {
                        let instead = "export it again";
                        fail(refuse!(instead = instead, "dimension {at} of this input has the negative size {n}"))
                    };
                    sizes.push(u64::try_from(*n).map_err(negative)?);
                    continue;
                }
                Dim::Named(name) => short(name),
                Dim::Unknown => format!("{}.{at}", short(&info.name)),
            };
            sizes.push(self.open_size(&name));
            open.insert(at, name);
        }
        let ty = ArrayType::new(element, sizes);
        if ty.elements().and_then(|n| n.checked_mul(16)).is_none() {
            return Err(fail(refuse!(
                instead = "choose smaller sizes",
                "the number of elements of {ty} is beyond 64 bits"
            )));
        }
        Ok((ty, open))
    }

    /// Size of an open dimension: the requested size, else the size that follows from other dimensions, else 1.
    pub fn open_size(&mut self, name: &str) -> u64 {
        if let Some(known) = self.open.iter().find(|o| o.name == name) {
            return known.used;
        }
        let chosen = self.options.dims.get(name).copied();
        if chosen.is_none()
            && let Some(term) = SizeTerm::in_name(name)
        {
            let size = |other| (other, u64_to_i64(self.open_size(other)));
            let sizes: BTreeMap<&str, i64> = term.symbols().into_iter().map(size).collect();
            let size = term.value(&|other| sizes.get(other).copied());
            if let Some(size) = size.ok().and_then(|n| u64::try_from(n).ok()) {
                return size;
            }
        }
        let used = chosen.unwrap_or(1);
        self.open.push(OpenDimension {
            name: name.to_owned(),
            min: None,
            max: None,
            used,
            is_chosen: chosen.is_some(),
        });
        if chosen.is_none() {
            self.is_partial = true;
            self.notes.insert(format!("The size of dimension {name} is open: choose one (1 was taken)."));
        }
        used
    }

    /// Translates nodes in an order in which operands come first.
    pub fn nodes(&mut self, nodes: &[OnnxNode], scope: &mut Scope) -> Result<(), ImportError> {
        for at in order(nodes)? {
            self.node(&nodes[at], scope)?;
        }
        Ok(())
    }

    /// Translates a subgraph; returns its results.
    pub fn subgraph(
        &mut self,
        graph: &OnnxGraph,
        inputs: &[InstructionId],
        scope: &mut Scope,
    ) -> Result<Vec<InstructionId>, ImportError> {
        self.deeper(&graph.name)?;
        scope.values.push(FxHashMap::default());
        scope.enter(graph);
        for (info, &id) in graph.inputs.iter().zip(inputs) {
            scope.define(&info.name, id);
        }
        let run = self.nodes(&graph.nodes, scope);
        let results = run.and_then(|()| {
            graph
                .outputs
                .iter()
                .map(|o| self.value(&o.name, scope, "the result of a graph"))
                .collect::<Result<Vec<_>, _>>()
        });
        scope.values.pop();
        self.depth -= 1;
        results
    }

    fn deeper(&mut self, name: &str) -> Result<(), ImportError> {
        self.depth += 1;
        if self.depth <= MOST_DEEP {
            return Ok(());
        }
        Err(ImportError::at(
            Place::Node(short(name)),
            refuse!(
                instead = "a function must not call itself: export the model again",
                "functions and graphs call each other more than {MOST_DEEP} deep"
            ),
        ))
    }

    /// Whether the program is only inspected.
    pub fn display_only(&self) -> bool {
        self.options.display_only
    }

    pub fn value(&mut self, name: &Rc<str>, scope: &mut Scope, user: &str) -> Result<InstructionId, ImportError> {
        if let Some(&id) = scope.values.iter().rev().find_map(|values| values.get(name)) {
            return Ok(id);
        }
        let Some(tensor) = scope.initializers.remove(name) else {
            let value = short(name);
            let absent =
                refuse!(instead = CHECK, "{user} needs the value {value}, which no node, input or initialiser gives");
            return Err(ImportError::at(Place::Node(value), absent));
        };
        let id = self.weight(name, &tensor, &scope.path).map_err(|e| ImportError::at(Place::Node(short(name)), e))?;
        scope.values[0].insert(Rc::clone(name), id);
        Ok(id)
    }

    /// Translates one node.
    fn node(&mut self, node: &OnnxNode, scope: &mut Scope) -> Result<(), ImportError> {
        let place = || place_of(node);
        let too_many = || {
            let what = refuse!(
                instead = "export a smaller part of it",
                "the model calls more than {MOST_CALLS} nodes when its functions and loops are written out"
            );
            ImportError::at(place(), what)
        };
        self.calls_left = self.calls_left.checked_sub(1).ok_or_else(too_many)?;
        let path = scope::of_node(node, &scope.path);
        let user = format!("{} {}", short(&node.op), short(&node.name));
        let mut inputs = Vec::with_capacity(node.inputs.len());
        for name in &node.inputs {
            inputs.push(if name.is_empty() { None } else { Some(self.value(name, scope, user.trim())?) });
        }
        let function = self.functions.get(&(node.domain.as_str(), node.op.as_str(), node.overload.as_str())).copied();
        let results = if let Some(function) = function {
            self.call(function, node, &inputs, scope)?
        } else {
            if !path.is_empty() {
                self.modules.insert(path.clone());
            }
            self.builder.set_origin(&ops::full_name(node), &path);
            self.operator(node, inputs, scope).map_err(|e| match (e, &self.guessed) {
                // What does not fit is the guess.
                (Failure::Misfit(_), Some((op, place))) => ImportError::at(place.clone(), no_type(op)),
                (Failure::Refusal(e) | Failure::Misfit(e), _) => ImportError::at(place(), e),
                (Failure::Unknown, _) => ImportError::at(place(), no_type(&node.op)),
                (Failure::Inside(e), _) => e,
            })?
        };
        for (at, name) in node.outputs.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
            let Some(&id) = results.get(at) else {
                let (given, wanted) = (results.len(), node.outputs.len());
                let op = &node.op;
                let what = refuse!(instead = CHECK, "{op} gives {given} results and the node wants {wanted}");
                return Err(ImportError::at(place(), what));
            };
            scope.define(name, id);
        }
        Ok(())
    }

    /// Calls a function: its nodes with the values of the call.
    fn call(
        &mut self,
        function: &Rc<OnnxFunction>,
        node: &OnnxNode,
        inputs: &[Option<InstructionId>],
        outer: &mut Scope,
    ) -> Result<Vec<InstructionId>, ImportError> {
        self.deeper(&function.name)?;
        let mut scope = Scope { path: scope::of_call(function, &outer.path), ..Scope::default() };
        scope.opsets = if function.opsets.is_empty() { self.model.opsets.clone() } else { function.opsets.clone() };
        scope.values.push(FxHashMap::default());
        for (name, id) in function.inputs.iter().zip(inputs) {
            if let Some(id) = id {
                scope.define(name, *id);
            }
        }
        // Operands that the call leaves out are left out of the nodes that would read them.
        let given: FxHashSet<&Rc<str>> =
            function.inputs.iter().zip(inputs).filter(|(_, id)| id.is_some()).map(|(n, _)| n).collect();
        let absent: FxHashSet<Rc<str>> = function.inputs.iter().filter(|n| !given.contains(n)).cloned().collect();
        let nodes: Vec<OnnxNode> =
            function.nodes.iter().map(|inner| resolved(inner, function, node, &absent)).collect();
        self.nodes(&nodes, &mut scope)?;
        self.depth -= 1;
        function.outputs.iter().map(|o| self.value(o, &mut scope, "the result of a function")).collect()
    }

    /// Translates an operator; an unknown one becomes an opaque value of a known type.
    fn operator(
        &mut self,
        node: &OnnxNode,
        inputs: Vec<Option<InstructionId>>,
        scope: &mut Scope,
    ) -> Result<Vec<InstructionId>, Failure> {
        let opset = scope.opsets.get(&node.domain).or_else(|| self.model.opsets.get(&node.domain)).copied();
        let opset = opset.unwrap_or(super::NEWEST_OPSET);
        if node.domain.is_empty() && matches!(node.op.as_str(), "If" | "Loop" | "Scan") {
            let mut site = Site { importer: self, node, inputs, opset };
            return super::control::run(&mut site, scope);
        }
        let operands: Vec<InstructionId> = inputs.iter().flatten().copied().collect();
        let mut site = Site { importer: self, node, inputs, opset };
        match ops::run(&mut site) {
            Err(Failure::Unknown) => self.unknown(node, &operands, scope),
            results => results,
        }
    }

    /// An unknown operator: its results have the types that the file gives, else the type of its first operand.
    fn unknown(&mut self, node: &OnnxNode, operands: &[InstructionId], scope: &Scope) -> Results {
        let name = ops::full_name(node);
        let mut types = Vec::new();
        for output in &node.outputs {
            let from_info = scope.types.get(output).cloned().and_then(|info| self.type_of_info(&info));
            let first = || operands.first().and_then(|&x| self.builder.array(x).ok()).cloned();
            let has_info = from_info.is_some();
            let Some(ty) = from_info.or_else(first) else {
                return Err(Failure::Refusal(no_type(&name)));
            };
            if !has_info {
                self.guessed.get_or_insert_with(|| (name.clone(), place_of(node)));
                self.notes.insert(format!(
                    "The file does not give the type of {name}'s result: the type of its first operand was taken."
                ));
            }
            types.push(Type::Array(ty));
        }
        self.report(&name, node);
        let config = String::new();
        if let [one] = types.as_slice() {
            return Ok(vec![self.builder.opaque(&name, &config, operands, one.clone())?]);
        }
        let all = self.builder.opaque(&name, &config, operands, Type::Tuple(types))?;
        Ok(self.builder.parts(all)?)
    }

    /// Notes an operator that is unknown here or has no counterpart on a NeuronCore.
    pub fn report(&mut self, op: &str, node: &OnnxNode) {
        self.is_partial = true;
        let entry = self.unsupported.entry(op.to_owned()).or_default();
        if entry.count == 0 {
            (entry.op, entry.first) = (op.to_owned(), short(name_of(node)));
        }
        entry.count += 1;
    }

    /// The type of a value in the file.
    pub fn type_of_info(&mut self, info: &ValueInfo) -> Option<ArrayType> {
        let element = element(info.element)?;
        let mut dims = Vec::new();
        for dim in info.dims.as_ref()? {
            dims.push(match dim {
                Dim::Size(n) => u64::try_from(*n).ok()?,
                Dim::Named(name) if self.open.iter().any(|o| o.name == *name) => self.open_size(name),
                _ => return None,
            });
        }
        Some(ArrayType::new(element, dims))
    }

    /// The element type with an ONNX number.
    pub fn element(code: i64) -> Result<ElementType, Failure> {
        let found = u64::try_from(code).ok().and_then(element);
        found.ok_or_else(|| Failure::of(refuse!("a NeuronCore does not compute with the element type {code}")))
    }
}

/// Why an unknown operator cannot be a value of a known type.
fn no_type(op: &str) -> Refusal {
    refuse!(
        instead = "run onnx.shape_inference on the model, or export it without",
        "the operator {op} is not known, and the file does not give the type of its result"
    )
}
