//! Translates a single aten operation of a file that has neither types of values nor a graph to walk: TorchScript.

use std::borrow::Cow;

use super::super::argument::{Argument, Text};
use super::super::flops;
use super::super::meta::{Symbols, described};
use super::super::schema::{Graph, NamedArgument, Node};
use super::call::Call;
use super::operators::known;
use super::run::{Translator, complex_argument};
use super::views::ViewId;
use ns_base::{Refusal, refuse};
use ns_program::{ArrayType, InstructionId, Type, UnsupportedOp};

/// A call of an aten operation.
#[derive(Debug)]
pub struct AloneCall<'c> {
    /// The operator's name as it is written: `add_`.
    pub op: &'c str,
    /// Which of its overloads it is: `Tensor`, `other`; empty where that does not matter.
    pub overload: &'c str,
    /// Its arguments in their order, by their names in the operator's schema.
    pub arguments: Vec<NamedArgument<'static>>,
    /// Its place in the source, for messages.
    pub place: &'c str,
}

#[derive(Debug, Default)]
pub struct CallResult {
    /// Its values; `None` if they are unknown.
    pub values: Vec<Option<ViewId>>,
    /// Operations of its products, two for each multiply-add.
    pub flops: u64,
}

impl Translator {
    /// A translation of a file without types of values.
    pub fn untyped(display_only: bool) -> Self {
        let mut t = Self::new(Symbols::default());
        (t.has_types, t.display_only) = (false, display_only);
        t
    }

    /// A value as an argument of a call.
    pub fn tensor_argument(&mut self, view: ViewId) -> Text<'static> {
        let name = view.to_string();
        self.bind(&name, view);
        Text(Cow::Owned(name))
    }

    /// The type of a value. Fails when the program becomes too large.
    pub fn type_of_view(&mut self, view: ViewId) -> Result<ArrayType, Refusal> {
        let value = self.views.get(&mut self.b, view)?;
        self.b.array(value).cloned()
    }

    /// Translates one call. A call without a known meaning becomes opaque and is listed; its result gets the type of its first
    /// operand. Fails when a call without a known meaning has no operand, or when the program becomes too large.
    pub fn apply(&mut self, call: AloneCall<'_>) -> Result<CallResult, Refusal> {
        let AloneCall { op, overload, arguments, place } = call;
        let is_in_place = op.ends_with('_') && !op.ends_with("__");
        let plain = if is_in_place { &op[..op.len() - 1] } else { op };
        let target = Text(Cow::Owned(format!("torch.ops.aten.{plain}.default")));
        let mut node = Node { target, inputs: arguments, outputs: Vec::new(), metadata: Default::default() };
        let mut graph = Graph::default();
        let before = self.described_inputs(&node)?;
        let mut call = Call { t: self, node: &node, graph: &graph, op: plain, overload };
        let made = known(&mut call);
        let values = match call.finish_untyped(made, is_in_place) {
            Ok(values) => values,
            Err(why) => self.opaque_alone(&node, (op, place), why, is_in_place)?,
        };
        for (name, ty) in before {
            graph.tensor_values.insert(name, described(&ty));
        }
        if let Some(first) = values.first().copied().flatten() {
            let ty = self.type_of_view(first)?;
            graph.tensor_values.insert(Text(Cow::Borrowed("result")), described(&ty));
            node.outputs.push(Argument::Tensor(Text(Cow::Borrowed("result"))));
        }
        let flops = flops::of_node(&node, &graph, &self.symbols).unwrap_or(0);
        Ok(CallResult { values, flops })
    }

    /// Names and types of a call's tensors.
    fn described_inputs(&mut self, node: &Node<'static>) -> Result<Vec<(Text<'static>, ArrayType)>, Refusal> {
        let mut found = Vec::new();
        for input in &node.inputs {
            let names = match &input.arg {
                Argument::Tensor(name) => std::slice::from_ref(name),
                Argument::Tensors(names) => names.as_slice(),
                _ => &[],
            };
            for name in names {
                let view = self.view_named(name.get())?;
                found.push((name.clone(), self.type_of_view(view)?));
            }
        }
        Ok(found)
    }

    /// Types of the factors of a matrix, when a call gives them.
    fn factors_of(&mut self, node: &Node<'static>, op: &str) -> Option<Vec<ArrayType>> {
        let graph = Graph::default();
        super::infer::factor_types(&mut Call { t: self, node, graph: &graph, op, overload: "" }).ok().flatten()
    }

    /// A call without a known meaning: opaque, and listed.
    fn opaque_alone(
        &mut self,
        node: &Node<'static>,
        (op, place): (&str, &str),
        why: Option<Refusal>,
        is_in_place: bool,
    ) -> Result<Vec<Option<ViewId>>, Refusal> {
        let mut views = Vec::new();
        for (name, _) in self.described_inputs(node)? {
            views.push(self.view_named(name.get())?);
        }
        let Some(&first) = views.first() else {
            return Err(refuse!(
                "{op}, or this use of it, is not known here{}",
                why.map_or_else(String::new, |why| format!(": {why}"))
            ));
        };
        let factors = self.factors_of(node, op);
        let why = complex_argument(node).or(why).map_or_else(String::new, String::from);
        let reason = if why.is_empty() { String::new() } else { format!(": {why}") };
        let name = if op.contains("::") { op.to_owned() } else { format!("aten::{op}") };
        let assumed = "; its result is taken to have the type of its first operand";
        let assumed = if factors.is_some() { "" } else { assumed };
        self.note(format!("{place}: {name}, or this use of it, is not known here{reason}{assumed}"));
        self.list_unsupported(UnsupportedOp { op: name.clone(), count: 1, first: place.to_owned(), why });
        let mut operands: Vec<InstructionId> = Vec::new();
        for view in views {
            operands.push(self.views.get(&mut self.b, view)?);
        }
        let mut types = factors.unwrap_or_default();
        if types.len() > 1 {
            let count = types.len();
            let all = self.b.opaque(&name, "", &operands, Type::Tuple(types.into_iter().map(Type::Array).collect()))?;
            let each = (0..count).map(|at| Ok(Some(self.b.get(all, at).map(|value| self.views.fresh(value))?)));
            return each.collect();
        }
        let ty = match types.pop() {
            Some(ty) => ty,
            None => self.type_of_view(first)?,
        };
        let value = self.b.opaque(&name, "", &operands, Type::Array(ty))?;
        if is_in_place {
            self.views.set(&mut self.b, first, value)?;
            return Ok(vec![Some(first)]);
        }
        Ok(vec![Some(self.views.fresh(value))])
    }
}
