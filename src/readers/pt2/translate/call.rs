//! A node during translation: its arguments by name, its result types.

use super::super::argument::{Argument, Symbolic, Text};
use super::super::schema::{Graph, Node};
use super::run::Translator;
use super::views::{ViewId, Views};
use ns_base::convert::{f64_to_i64, i64_to_f64};
use ns_base::{Refusal, refuse};
use ns_program::{ArrayType, Builder, Built, ElementType, InstructionId, OperatorKind};

/// The result of an operation.
#[derive(Debug)]
pub enum OpResult {
    /// One new value.
    One(InstructionId),
    /// Several new values; `None` for unknown results.
    Many(Vec<Option<InstructionId>>),
    /// Values that share memory with others.
    Views(Vec<ViewId>),
    /// No tensors.
    Nothing,
    /// A use of the operator that is not known.
    Unknown,
}

/// The result type of a family of operations.
pub type CallOutcome = Result<OpResult, Refusal>;

/// Translates a call; fails when its arguments do not fit.
pub type Translate = fn(&mut Call<'_, '_, '_>) -> CallOutcome;

/// Names of operators, their kind of work, and the function that translates them.
pub type Row = (&'static [&'static str], OperatorKind, Translate);

/// A value as the only result.
pub fn one(value: InstructionId) -> CallOutcome {
    Ok(OpResult::One(value))
}

/// A node that is translated.
pub struct Call<'t, 'p, 'a> {
    /// The translation that it belongs to.
    pub t: &'t mut Translator,
    pub node: &'p Node<'a>,
    /// The graph that holds it.
    pub graph: &'p Graph<'a>,
    /// The operator's name without its overload and without the underscore of an in-place operation: `add`.
    pub op: &'p str,
    /// Its overload: `Tensor`.
    pub overload: &'p str,
}

impl<'p, 'a> Call<'_, 'p, 'a> {
    pub fn b(&mut self) -> &mut Builder {
        &mut self.t.b
    }

    /// The builder and the values that share memory.
    pub fn b_and_views(&mut self) -> (&mut Builder, &mut Views) {
        (&mut self.t.b, &mut self.t.views)
    }

    pub fn arg(&self, name: &str) -> Option<&'p Argument<'a>> {
        self.node.inputs.iter().find(|i| i.name.get() == name).map(|i| &i.arg)
    }

    /// The error for a call whose argument at a position has the wrong kind.
    fn kind(&self, place: usize, kind: &'static str) -> Refusal {
        refuse!("argument {place} of {} is not {kind}", self.op)
    }

    /// The error for a call without an argument.
    pub fn missing(&self, argument: &'static str) -> Refusal {
        refuse!("argument {argument} of {} is missing, or its value is not known", self.op)
    }

    /// A positive number by name.
    pub fn positive(&self, argument: &'static str) -> Result<u64, Refusal> {
        let number = self.int(argument).and_then(|n| u64::try_from(n).ok()).filter(|&n| n > 0);
        number.ok_or_else(|| refuse!("argument {argument} of {} is not a positive number", self.op))
    }

    /// An argument by position.
    pub fn at(&self, place: usize) -> Result<&'p Argument<'a>, Refusal> {
        let found = self.node.inputs.get(place).map(|i| &i.arg);
        found.ok_or_else(|| refuse!("argument {place} of {} is missing", self.op))
    }

    /// The tensor at a position.
    pub fn x(&mut self, place: usize) -> Built {
        let argument = self.at(place)?;
        match argument {
            Argument::Tensor(name) => self.value(name),
            _ => Err(self.kind(place, "a tensor")),
        }
    }

    /// The graph value of the tensor at a position.
    pub fn view(&mut self, place: usize) -> Result<ViewId, Refusal> {
        let argument = self.at(place)?;
        match argument {
            Argument::Tensor(name) => self.t.view_named(name.get()),
            _ => Err(self.kind(place, "a tensor")),
        }
    }

    /// The current value of a graph value.
    pub fn value(&mut self, name: &Text<'_>) -> Built {
        let view = self.t.view_named(name.get())?;
        self.t.views.get(&mut self.t.b, view)
    }

    /// A tensor by name, if it is given.
    pub fn tensor(&mut self, name: &str) -> Result<Option<InstructionId>, Refusal> {
        match self.arg(name) {
            Some(Argument::Tensor(name)) => self.value(name).map(Some),
            _ => Ok(None),
        }
    }

    /// Tensors at a position.
    pub fn tensors(&mut self, place: usize) -> Result<Vec<InstructionId>, Refusal> {
        let argument = self.at(place)?;
        match argument {
            Argument::Tensors(names) => names.iter().map(|n| self.value(n)).collect(),
            Argument::Tensor(name) => Ok(vec![self.value(name)?]),
            _ => Err(self.kind(place, "a list of tensors")),
        }
    }

    /// Tensors at a position, some of them absent.
    pub fn maybe_tensors(&mut self, place: usize) -> Result<Vec<Option<InstructionId>>, Refusal> {
        let argument = self.at(place)?;
        match argument {
            Argument::OptionalTensors(names) => {
                names.iter().map(|n| n.as_ref().map(|n| self.value(n)).transpose()).collect()
            }
            _ => Ok(self.tensors(place)?.into_iter().map(Some).collect()),
        }
    }

    /// An argument as an integer.
    pub fn int_of(&self, argument: &Argument<'_>) -> Option<i64> {
        match argument {
            Argument::Int(n) => Some(*n),
            Argument::Bool(v) => Some(i64::from(*v)),
            Argument::SymInt(n) => self.symbolic(n),
            Argument::Float(n) => whole_of(*n),
            _ => None,
        }
    }

    pub fn number_of(&self, argument: &Argument<'_>) -> Option<f64> {
        match argument {
            Argument::Float(n) | Argument::SymFloat(Symbolic::Known(n)) => Some(*n),
            other => self.int_of(other).map(i64_to_f64),
        }
    }

    /// An integer by name.
    pub fn int(&self, name: &str) -> Option<i64> {
        self.int_of(self.arg(name)?)
    }

    /// An integer by name, or the schema's default.
    pub fn int_or(&self, name: &str, default: i64) -> i64 {
        self.int(name).unwrap_or(default)
    }

    /// A number by name, or the schema's default.
    pub fn float_or(&self, name: &str, default: f64) -> f64 {
        self.arg(name).and_then(|a| self.number_of(a)).unwrap_or(default)
    }

    /// A number by name.
    pub fn float(&self, name: &str) -> Option<f64> {
        self.number_of(self.arg(name)?)
    }

    /// A boolean by name, or the schema's default.
    pub fn flag_or(&self, name: &str, default: bool) -> bool {
        match self.arg(name) {
            Some(Argument::Bool(v) | Argument::SymBool(Symbolic::Known(v))) => *v,
            Some(Argument::Int(n)) => *n != 0,
            _ => default,
        }
    }

    /// Integers by name; one number counts as a list.
    pub fn ints(&self, name: &str) -> Option<Vec<i64>> {
        match self.arg(name)? {
            Argument::Ints(all) => all.iter().map(|n| self.symbolic(n)).collect(),
            other => self.int_of(other).map(|n| vec![n]),
        }
    }

    pub fn text(&self, name: &str) -> Option<&'p str> {
        match self.arg(name)? {
            Argument::Text(text) => Some(text.get()),
            _ => None,
        }
    }

    /// A dimension by name, counted from the front.
    pub fn dimension(&self, name: &str, default: i64, rank: usize) -> Result<usize, Refusal> {
        ns_program::compose::dimension(rank, self.int_or(name, default))
    }

    /// Dimensions by name, counted from the front; all dimensions if the list is missing or empty.
    pub fn dimensions(&self, name: &str, rank: usize) -> Result<Vec<usize>, Refusal> {
        match self.ints(name) {
            Some(all) if !all.is_empty() => all.iter().map(|&d| ns_program::compose::dimension(rank, d)).collect(),
            _ => Ok((0..rank).collect()),
        }
    }

    /// Type of the first result.
    pub fn result(&mut self) -> Result<ArrayType, Refusal> {
        let first = self.results()?.into_iter().next();
        first.ok_or_else(|| refuse!("{} has no result", self.op))
    }

    /// Types of all results: from the file, or inferred from the operands if the file does not give them.
    pub fn results(&mut self) -> Result<Vec<ArrayType>, Refusal> {
        if !self.t.has_types {
            return super::infer::result_types(self);
        }
        let mut types = Vec::new();
        for name in self.output_names() {
            types.push(self.t.type_named(name.get(), self.graph)?);
        }
        Ok(types)
    }

    /// Names of all tensors among its results.
    pub fn output_names(&self) -> Vec<&'p Text<'a>> {
        let mut names = Vec::new();
        for output in &self.node.outputs {
            match output {
                Argument::Tensor(name) => names.push(name),
                Argument::Tensors(all) => names.extend(all),
                _ => {}
            }
        }
        names
    }

    /// The operand at a position as an array of an element type: a tensor, or a number.
    pub fn operand(&mut self, place: usize, element: ElementType) -> Built {
        let argument = self.at(place)?;
        match argument {
            Argument::Tensor(name) => {
                let x = self.value(name)?;
                self.b().convert(x, element)
            }
            Argument::Int(n) if element.is_integer() => self.t.b.whole(element, *n),
            other => match self.number_of(other) {
                Some(n) => self.t.b.number(element, n),
                None => Err(self.kind(place, "a tensor or a number")),
            },
        }
    }

    /// A literal or named number.
    fn symbolic(&self, n: &Symbolic<'_, i64>) -> Option<i64> {
        match n {
            Symbolic::Known(n) => Some(*n),
            Symbolic::Named(name) => {
                let size = self.graph.sym_int_values.get(name.get())?;
                self.t.symbols.number(size).ok()
            }
        }
    }
}

/// A float as an integer; `None` for a fraction, for an infinity, and from 2^53 on, where a float stands for several integers.
fn whole_of(n: f64) -> Option<i64> {
    (libm::trunc(n) == n && libm::fabs(n) < 9_007_199_254_740_992.0).then(|| f64_to_i64(n))
}

#[cfg(test)]
mod tests {
    use super::whole_of;

    #[test]
    fn a_float_is_a_whole_number_as_long_as_it_stands_for_one() {
        let most = 9_007_199_254_740_991;
        assert_eq!([whole_of(-3.0), whole_of(2.5), whole_of(most as f64)], [Some(-3), None, Some(most)]);
        assert_eq!(
            [1e300, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 9_007_199_254_740_992.0].map(whole_of),
            [None; 5]
        );
    }
}
