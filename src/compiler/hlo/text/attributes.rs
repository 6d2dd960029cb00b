//! The attributes of an instruction, and the opcode they belong to.

use std::str::FromStr;

use crate::hlo::{DotDims, FusionBody, Literal, OpMetadata, Opcode, ParameterRole, ReduceKind};

use ns_tensor::kernels::{SliceDim, WindowDim};

use super::error::{ParseError, ParseProblem};
use super::lexer::Placed;

/// The contents of the parentheses.
pub(super) enum Arguments {
    /// Values, resolved elsewhere.
    Values,
    /// A number: a parameter's index or a constant's value.
    Number(String),
}

/// Attributes after the operands; attributes that an opcode does not have are errors.
#[derive(Default)]
pub(super) struct Attributes {
    pub lists: Vec<(String, Vec<u32>)>,
    pub words: Vec<(String, String)>,
    pub body: Option<FusionBody>,
    pub window: Option<Vec<WindowDim>>,
    pub ranges: Option<Vec<SliceDim>>,
    pub metadata: OpMetadata,
}

impl Attributes {
    fn list(&mut self, name: &str) -> Option<Vec<u32>> {
        let at = self.lists.iter().position(|(n, _)| n == name)?;
        Some(self.lists.swap_remove(at).1)
    }

    fn word(&mut self, name: &str) -> Option<String> {
        let at = self.words.iter().position(|(n, _)| n == name)?;
        Some(self.words.swap_remove(at).1)
    }

    fn unused(&self) -> Option<&str> {
        let names = self.lists.iter().map(|(n, _)| n).chain(self.words.iter().map(|(n, _)| n));
        let others = [
            self.body.as_ref().map(|_| "calls"),
            self.window.as_ref().map(|_| "window"),
            self.ranges.as_ref().map(|_| "slice"),
        ];
        names.map(String::as_str).chain(others.into_iter().flatten()).next()
    }
}

/// The opcode called `name` with these attributes.
pub(super) fn opcode(at: &Placed, name: &str, arguments: &Arguments, a: &mut Attributes) -> Result<Opcode, ParseError> {
    let missing = |attribute: &'static str| missing(at, name, attribute);
    let one = |a: &mut Attributes, attribute: &'static str| match a.list(attribute).as_deref() {
        Some([n]) => Ok(*n),
        Some(_) => Err(at.error(ParseProblem::OneDimension(attribute))),
        None => Err(missing(attribute)),
    };
    let number = || match arguments {
        Arguments::Number(n) => Ok(n.as_str()),
        Arguments::Values => Err(at.error(ParseProblem::TakesNumber(name.to_owned()))),
    };
    let opcode = match name {
        "parameter" => {
            let index = number()?.parse().map_err(|_| at.error(ParseProblem::ParameterIndex))?;
            Opcode::Parameter { index, role: role(at, name, a)? }
        }
        "constant" => {
            let value = number()?;
            Opcode::Constant(Literal(value.parse().map_err(|_| at.error(ParseProblem::Constant(value.to_owned())))?))
        }
        "dot" => {
            let batch = whole_number(at, a, "batch_dims", 0)?;
            let lhs_contracting = one(a, "lhs_contracting_dims")?;
            Opcode::Dot(DotDims { batch, lhs_contracting, rhs_contracting: one(a, "rhs_contracting_dims")? })
        }
        "transpose" => Opcode::Transpose { permutation: a.list("dimensions").ok_or_else(|| missing("dimensions"))? },
        "broadcast" => Opcode::Broadcast { dimensions: a.list("dimensions").ok_or_else(|| missing("dimensions"))? },
        "convolution" => {
            let window = a.window.take().ok_or_else(|| missing("window"))?;
            let Ok(window) = window.try_into() else {
                return Err(at.error(ParseProblem::ConvolutionWindow));
            };
            Opcode::Convolution { window, feature_group_count: whole_number(at, a, "feature_group_count", 1)? }
        }
        "reduce-window" => reduce_window(at, name, a)?,
        "concatenate" => Opcode::Concatenate { dimension: one(a, "dimensions")? },
        "slice" => Opcode::Slice { ranges: a.ranges.take().ok_or_else(|| missing("slice"))? },
        "reduce" => {
            let kind = kind(a).ok_or_else(|| missing("to_apply=add or to_apply=maximum"))?;
            Opcode::Reduce { kind, dimensions: a.list("dimensions").ok_or_else(|| missing("dimensions"))? }
        }
        "custom-call" => {
            Opcode::CustomCall { target: a.word("custom_call_target").ok_or_else(|| missing("custom_call_target"))? }
        }
        "fusion" => Opcode::Fusion(a.body.take().ok_or_else(|| missing("calls"))?),
        plain => PLAIN
            .iter()
            .find(|op| op.name() == plain)
            .cloned()
            .ok_or_else(|| at.error(ParseProblem::Opcode(plain.to_owned())))?,
    };
    match a.unused() {
        Some(attribute) => {
            let (opcode, attribute) = (name.to_owned(), attribute.to_owned());
            Err(at.error(ParseProblem::NoAttribute { opcode, attribute }))
        }
        None => Ok(opcode),
    }
}

fn missing(at: &Placed, name: &str, attribute: &'static str) -> ParseError {
    at.error(ParseProblem::NeedsAttribute { opcode: name.to_owned(), attribute })
}

/// An attribute that is a whole number, or its default.
fn whole_number<N: FromStr>(
    at: &Placed,
    a: &mut Attributes,
    attribute: &'static str,
    without: N,
) -> Result<N, ParseError> {
    match a.word(attribute) {
        Some(n) => n.parse().map_err(|_| at.error(ParseProblem::WholeNumber(attribute))),
        None => Ok(without),
    }
}

fn role(at: &Placed, name: &str, a: &mut Attributes) -> Result<ParameterRole, ParseError> {
    match (a.word("input"), a.word("weight")) {
        (Some(n), None) => {
            Ok(ParameterRole::Input(n.parse().map_err(|_| at.error(ParseProblem::WholeNumber("input")))?))
        }
        (None, Some(path)) => Ok(ParameterRole::Weight(path)),
        _ => Err(missing(at, name, "input=N or weight=\"path\"")),
    }
}

fn reduce_window(at: &Placed, name: &str, a: &mut Attributes) -> Result<Opcode, ParseError> {
    let kind = kind(a).ok_or_else(|| missing(at, name, "to_apply=add or to_apply=maximum"))?;
    match a.window.take().ok_or_else(|| missing(at, name, "window"))?.as_slice() {
        [n, c, height, width] if n.is_trivial() && c.is_trivial() => {
            Ok(Opcode::ReduceWindow { kind, window: [*height, *width] })
        }
        _ => Err(at.error(ParseProblem::ReductionWindow)),
    }
}

fn kind(a: &mut Attributes) -> Option<ReduceKind> {
    match a.word("to_apply").as_deref() {
        Some("add") => Some(ReduceKind::Sum),
        Some("maximum") => Some(ReduceKind::Max),
        Some("minimum") => Some(ReduceKind::Min),
        Some("multiply") => Some(ReduceKind::Product),
        _ => None,
    }
}

/// Opcodes without attributes.
const PLAIN: [Opcode; 19] = [
    Opcode::Reshape,
    Opcode::Convert,
    Opcode::Add,
    Opcode::Subtract,
    Opcode::Multiply,
    Opcode::Divide,
    Opcode::Maximum,
    Opcode::Minimum,
    Opcode::Negate,
    Opcode::Exponential,
    Opcode::Log,
    Opcode::Tanh,
    Opcode::Sqrt,
    Opcode::Rsqrt,
    Opcode::Gelu,
    Opcode::Logistic,
    Opcode::Gather,
    Opcode::DynamicUpdateSlice,
    Opcode::Tuple,
];
