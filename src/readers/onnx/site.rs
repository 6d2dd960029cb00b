//! An operator's view of its node: operands, attributes, the builder.

use std::rc::Rc;

use super::importer::Importer;
use super::messages::{AttributeValue, OnnxGraph, OnnxNode, Tensor, TensorData};
use ns_base::convert::{i64_to_f64, usize_to_i64};
use ns_base::{Refusal, refuse};
use ns_program::{ArrayType, Builder, Built, ElementType, ImportError, InstructionId, Numbers, Op, Value};

/// What to do with a node that breaks the rules of its operator.
pub(super) const CHECK: &str = "check the model with onnx.checker and export it again";

/// What to do with a model whose sizes or control flow depend on data.
pub(super) const FIXED: &str =
    "a NeuronCore runs programs of fixed sizes: export the model with fixed sizes, or without this part";

/// Why an operator fails.
pub(super) enum Failure {
    /// Nobody knows the operator, or this use of it: its work can only be estimated.
    Unknown,
    /// The operator refuses its node.
    Refusal(Refusal),
    /// The builder refuses the operands. The cause may be the guessed type of an unknown operator's result.
    Misfit(Refusal),
    /// A node in a subgraph cannot be translated.
    Inside(ImportError),
}

impl Failure {
    /// A refusal of the node, which the user should check unless the refusal has other advice.
    pub fn of(refusal: Refusal) -> Self {
        Self::Refusal(refusal.advise(CHECK))
    }
}

/// Errors of the builder. All other errors become a failure by name.
impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Misfit(refuse!(instead = CHECK, "{error}"))
    }
}

/// Results of an operator: one value for each, in order; trailing ones may be left out.
pub(super) type Results = Result<Vec<InstructionId>, Failure>;

/// A node as its operator sees it.
pub(super) struct Site<'s, 'm> {
    pub importer: &'s mut Importer<'m>,
    /// The node, with attributes of functions resolved.
    pub node: &'s OnnxNode,
    /// Operands; `None` for those that are left out.
    pub inputs: Vec<Option<InstructionId>>,
    /// Version of the operator's domain.
    pub opset: u64,
}

impl Site<'_, '_> {
    pub const fn b(&mut self) -> &mut Builder {
        &mut self.importer.builder
    }

    /// The failure of this node, from words that follow its operator's name: `needs a shape`.
    pub fn fault(&self, fault: Refusal) -> Failure {
        Failure::of(fault.within(|what| format!("{} {what}", self.node.op)))
    }

    pub fn option(&self, at: usize) -> Option<InstructionId> {
        self.inputs.get(at).copied().flatten()
    }

    pub fn x(&self, at: usize) -> Result<InstructionId, Failure> {
        self.option(at).ok_or_else(|| {
            let count = self.inputs.iter().flatten().count();
            self.fault(refuse!("needs operand {at} and the node has {count}"))
        })
    }

    /// Type of a value.
    pub fn ty(&self, x: InstructionId) -> Result<ArrayType, Failure> {
        Ok(self.importer.builder.array(x)?.clone())
    }

    /// Sizes of a value.
    pub fn dims(&self, x: InstructionId) -> Vec<u64> {
        self.importer.builder.dims(x)
    }

    /// Element type of a value.
    pub fn element(&self, x: InstructionId) -> ElementType {
        self.importer.builder.element(x)
    }

    /// Numbers of a value, if they follow from the file alone.
    pub fn known(&self, x: InstructionId) -> Option<&Value> {
        match &self.importer.builder.instruction(x)?.op {
            Op::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// Integers of an operand that has to be known.
    pub fn known_ints(&self, at: usize) -> Result<Vec<i64>, Failure> {
        let x = self.x(at)?;
        match self.known(x).map(|v| &v.numbers) {
            Some(Numbers::Whole(v)) => Ok(v.clone()),
            Some(_) => Err(Failure::of(refuse!("operand {at} of {} has to be whole numbers", self.node.op))),
            None => Err(self.unknown(at)),
        }
    }

    /// Numbers of an operand that has to be known.
    pub fn known_reals(&self, at: usize) -> Result<Vec<f64>, Failure> {
        let x = self.x(at)?;
        match self.known(x).map(|v| &v.numbers) {
            Some(Numbers::Real(v)) => Ok(v.clone()),
            Some(Numbers::Whole(v)) => Ok(v.iter().map(|&n| i64_to_f64(n)).collect()),
            Some(Numbers::Complex(_)) => Err(Failure::of(refuse!("operand {at} of {} is complex", self.node.op))),
            None => Err(self.unknown(at)),
        }
    }

    fn unknown(&self, at: usize) -> Failure {
        let op = &self.node.op;
        Failure::of(refuse!(
            instead = FIXED,
            "operand {at} of {op} depends on numbers that are known only when the model runs"
        ))
    }

    /// Integers of an operand or, in early versions, of an attribute; `None` if neither is given.
    pub fn ints_of(&self, at: usize, attribute: &str) -> Result<Option<Vec<i64>>, Failure> {
        match self.option(at) {
            Some(_) => self.known_ints(at).map(Some),
            None => self.ints(attribute),
        }
    }

    fn value(&self, name: &str) -> Option<&AttributeValue> {
        self.node.attributes.iter().find(|a| a.name == name).map(|a| &a.value)
    }

    fn attribute(&self, name: &str, what: &str) -> Failure {
        Failure::of(refuse!("attribute {name} of {} {what}", self.node.op))
    }

    pub fn int(&self, name: &str, default: i64) -> Result<i64, Failure> {
        Ok(self.optional_int(name)?.unwrap_or(default))
    }

    pub fn optional_int(&self, name: &str) -> Result<Option<i64>, Failure> {
        match self.value(name) {
            None => Ok(None),
            Some(AttributeValue::Int(n)) => Ok(Some(*n)),
            Some(_) => Err(self.attribute(name, "has to be a whole number")),
        }
    }

    pub fn float(&self, name: &str, default: f64) -> Result<f64, Failure> {
        match self.value(name) {
            None => Ok(default),
            Some(AttributeValue::Float(n)) => Ok(*n),
            Some(AttributeValue::Int(n)) => Ok(i64_to_f64(*n)),
            Some(_) => Err(self.attribute(name, "has to be a number")),
        }
    }

    /// Integers; `None` if the attribute is left out.
    pub fn ints(&self, name: &str) -> Result<Option<Vec<i64>>, Failure> {
        match self.value(name) {
            None => Ok(None),
            Some(AttributeValue::Ints(v)) => Ok(Some(v.clone())),
            Some(AttributeValue::Int(n)) => Ok(Some(vec![*n])),
            Some(AttributeValue::Floats(v)) if v.is_empty() => Ok(Some(Vec::new())),
            Some(_) => Err(self.attribute(name, "has to be whole numbers")),
        }
    }

    /// Numbers; `None` if the attribute is left out.
    pub fn floats(&self, name: &str) -> Result<Option<Vec<f64>>, Failure> {
        match self.value(name) {
            None => Ok(None),
            Some(AttributeValue::Floats(v)) => Ok(Some(v.clone())),
            Some(AttributeValue::Float(n)) => Ok(Some(vec![*n])),
            Some(_) => Err(self.attribute(name, "has to be numbers")),
        }
    }

    pub fn text(&self, name: &str, default: &str) -> Result<String, Failure> {
        match self.value(name) {
            None => Ok(default.to_owned()),
            Some(AttributeValue::Text(text)) => Ok(text.clone()),
            Some(_) => Err(self.attribute(name, "has to be text")),
        }
    }

    /// Strings; `None` if the attribute is left out.
    pub fn texts(&self, name: &str) -> Result<Option<Vec<String>>, Failure> {
        match self.value(name) {
            None => Ok(None),
            Some(AttributeValue::Texts(texts)) => Ok(Some(texts.clone())),
            Some(_) => Err(self.attribute(name, "has to be texts")),
        }
    }

    pub fn graph(&self, name: &str) -> Result<Rc<OnnxGraph>, Failure> {
        match self.value(name) {
            Some(AttributeValue::Graph(graph)) => Ok(Rc::clone(graph)),
            _ => Err(self.attribute(name, "has to be a graph")),
        }
    }

    /// An array; `None` if the attribute is left out.
    pub fn tensor(&self, name: &str) -> Result<Option<Rc<Tensor>>, Failure> {
        match self.value(name) {
            None => Ok(None),
            Some(AttributeValue::Tensor(tensor)) => Ok(Some(Rc::clone(tensor))),
            Some(_) => Err(self.attribute(name, "has to be an array")),
        }
    }

    /// The single number in an array attribute.
    pub fn scalar_of(&self, tensor: &Tensor) -> Result<Value, Failure> {
        match &tensor.data {
            TensorData::Inline(value) if value.numbers.len() == 1 => {
                Ok(Value { ty: ArrayType::new(value.ty.element, []), numbers: value.numbers.clone() })
            }
            _ => Err(self.fault(refuse!("needs one number and has {}", tensor.ty))),
        }
    }

    /// A dimension of an array of `rank` dimensions, counted from the end when it is negative.
    pub fn axis(&self, axis: i64, rank: usize) -> Result<usize, Failure> {
        let from_front = if axis < 0 { axis + usize_to_i64(rank) } else { axis };
        usize::try_from(from_front)
            .ok()
            .filter(|&a| a < rank)
            .ok_or_else(|| self.fault(refuse!("has axis {axis} and its operand {rank} dimensions")))
    }

    /// Dimensions of an array, counted from the end when they are negative.
    pub fn axes(&self, axes: &[i64], rank: usize) -> Result<Vec<usize>, Failure> {
        axes.iter().map(|&a| self.axis(a, rank)).collect()
    }

    /// The dimension of an operand that the attribute `axis` names.
    pub fn axis_of(&self, x: InstructionId, default: i64) -> Result<usize, Failure> {
        self.axis(self.int("axis", default)?, self.dims(x).len())
    }

    /// The sum of a value and an optional operand.
    pub fn plus(&mut self, x: InstructionId, at: usize) -> Built {
        match self.option(at) {
            Some(summand) => self.b().add(x, summand),
            None => Ok(x),
        }
    }

    /// Counts operations of products: two for each multiply-add.
    pub fn count(&mut self, multiply_adds: impl IntoIterator<Item = u64>) {
        let product = multiply_adds.into_iter().fold(2u64, u64::saturating_mul);
        self.importer.flops = self.importer.flops.saturating_add(product);
    }
}
