//! Patterns of expressions, matched against the graph of a module.
//!
//! A pattern is a tree of operations. A match looks into fusions, accepts both orders of a sum or a product, and ignores
//! conversions, reshapes and broadcasts of one number per row. The caller gives a pattern its meaning: code generation looks for
//! norms and softmaxes, `from_program` for activations that a model spells out.

use crate::hlo::{Elementwise, HloInstruction, HloModule, InstrId, Opcode, ReduceKind};
use ns_base::convert::usize_to_u32;
use ns_base::{FxHashMap, IndexVec};
use ns_program::Unary;

/// Named operations of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The maximum of each row.
    Max,
    /// The sum of each row.
    Sum,
    Exponential,
    /// The rows less their mean.
    Centred,
    Square,
    /// The sum of the squares of each row.
    Squares,
    /// The standard deviation, or its reciprocal.
    Deviation,
    /// The reciprocal deviation times the weight.
    Scaled,
}

impl Part {
    const COUNT: usize = 8;
}

/// A tree of operations.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pattern {
    /// The input of the idiom: any value, but the same one at each occurrence.
    X,
    Number,
    /// The constant 0.
    Zero,
    /// The constant 1.
    One,
    /// A value that depends on weights and constants alone.
    Given,
    /// A constant, to within a thousandth of it.
    Near(f32),
    /// A named operation. Each occurrence of the name is the same operation.
    Named(Part, &'static Pattern),
    /// The first alternative that matches.
    Either(&'static [Pattern]),
    /// The sum along the last dimension.
    RowSum(&'static Pattern),
    /// The maximum along the last dimension.
    RowMax(&'static Pattern),
    Add(&'static Pattern, &'static Pattern),
    Subtract(&'static Pattern, &'static Pattern),
    Multiply(&'static Pattern, &'static Pattern),
    Divide(&'static Pattern, &'static Pattern),
    Maximum(&'static Pattern, &'static Pattern),
    Exponential(&'static Pattern),
    Sqrt(&'static Pattern),
    Rsqrt(&'static Pattern),
    Negate(&'static Pattern),
    Tanh(&'static Pattern),
    Erf(&'static Pattern),
    Erfc(&'static Pattern),
}

/// The result of a match.
#[derive(Clone, Debug, Default)]
pub(crate) struct PatternMatch {
    x: Option<InstrId>,
    parts: [Option<InstrId>; Part::COUNT],
    /// Every instruction and member that is part of the match, views and constants included.
    pub nodes: Vec<InstrId>,
}

impl PatternMatch {
    /// The input of the idiom.
    pub fn x(&self) -> Option<InstrId> {
        self.x
    }

    pub fn part(&self, part: Part) -> Option<InstrId> {
        self.parts[part as usize]
    }
}

/// A module whose fusions can be looked into.
pub(crate) struct Graph<'a> {
    module: &'a HloModule,
    /// Members of fusions, each with its fusion.
    members: FxHashMap<InstrId, (&'a HloInstruction, InstrId)>,
    known: IndexVec<InstrId, bool>,
}

impl<'a> Graph<'a> {
    pub fn new(module: &'a HloModule) -> Self {
        let mut members = FxHashMap::default();
        for (owner, instruction) in module.instructions.iter_enumerated() {
            if let Opcode::Fusion(body) = &instruction.opcode {
                members.extend(body.ids.iter().zip(&body.members).map(|(id, member)| (*id, (member, owner))));
            }
        }
        Self { module, members, known: module.known_at_load() }
    }

    /// An instruction, or a member of a fusion.
    pub fn instruction(&self, id: InstrId) -> &'a HloInstruction {
        self.members.get(&id).map_or_else(|| &self.module.instructions[id], |(member, _)| *member)
    }

    /// The fusion of a member, or the instruction itself.
    pub fn owner(&self, id: InstrId) -> InstrId {
        self.members.get(&id).map_or(id, |(_, owner)| *owner)
    }

    /// The operation that computes a value: the root, if the value is a fusion's.
    pub fn producer(&self, id: InstrId) -> InstrId {
        match &self.instruction(id).opcode {
            Opcode::Fusion(body) => body.ids.last().copied().unwrap_or(id),
            _ => id,
        }
    }

    /// Whether a value depends on weights and constants alone.
    pub fn is_constant(&self, id: InstrId) -> bool {
        let owner = self.owner(id);
        if self.known[owner] {
            return true;
        }
        let instruction = self.instruction(id);
        match &instruction.opcode {
            Opcode::Constant(_) => true,
            Opcode::Broadcast { .. } | Opcode::Convert | Opcode::Reshape => {
                instruction.operands.first().is_some_and(|o| self.is_constant(*o))
            }
            _ => false,
        }
    }

    /// The match of `pattern` at an operation, if there is one.
    pub fn find(&self, pattern: &Pattern, id: InstrId) -> Option<PatternMatch> {
        let mut found = PatternMatch::default();
        self.matches(pattern, id, &mut found).then_some(found)
    }

    fn matches(&self, pattern: &Pattern, id: InstrId, found: &mut PatternMatch) -> bool {
        use Pattern as P;
        match *pattern {
            P::X => {
                let value = self.value(id, found);
                *found.x.get_or_insert(value) == value
            }
            P::Number => self.number(id).is_some(),
            P::Zero => self.number(id) == Some(0.0),
            P::One => self.number(id) == Some(1.0),
            P::Given => self.is_constant(id),
            P::Near(value) => self.number(id).is_some_and(|n| (n - value).abs() <= value.abs() * 1e-3),
            P::Either(all) => all.iter().any(|p| self.attempt(found, |s, f| s.matches(p, id, f))),
            P::Named(part, inner) => {
                let id = self.operation(id, found);
                match found.parts[part as usize] {
                    Some(named) => named == id,
                    None => {
                        found.parts[part as usize] = Some(id);
                        self.matches(inner, id, found)
                    }
                }
            }
            P::RowSum(inner) => self.row_reduction(ReduceKind::Sum, inner, id, found),
            P::RowMax(inner) => self.row_reduction(ReduceKind::Max, inner, id, found),
            P::Add(a, b) => self.either_order(&Opcode::Add, (a, b), id, found),
            P::Multiply(a, b) => self.either_order(&Opcode::Multiply, (a, b), id, found),
            P::Maximum(a, b) => self.either_order(&Opcode::Maximum, (a, b), id, found),
            P::Subtract(a, b) => self.of_two(&Opcode::Subtract, (a, b), id, found),
            P::Divide(a, b) => self.of_two(&Opcode::Divide, (a, b), id, found),
            P::Exponential(inner) => self.of_one(&Opcode::Exponential, inner, id, found),
            P::Sqrt(inner) => self.of_one(&Opcode::Sqrt, inner, id, found),
            P::Rsqrt(inner) => self.of_one(&Opcode::Rsqrt, inner, id, found),
            P::Negate(inner) => self.of_one(&Opcode::Negate, inner, id, found),
            P::Tanh(inner) => self.of_one(&Opcode::Tanh, inner, id, found),
            P::Erf(inner) => self.of_one(&Opcode::Elementwise(Elementwise::Unary(Unary::Erf)), inner, id, found),
            P::Erfc(inner) => self.of_one(&Opcode::Elementwise(Elementwise::Unary(Unary::Erfc)), inner, id, found),
        }
    }

    /// Matches, or restores `found`.
    fn attempt(&self, found: &mut PatternMatch, matches: impl FnOnce(&Self, &mut PatternMatch) -> bool) -> bool {
        let before = found.clone();
        let matched = matches(self, found);
        if !matched {
            *found = before;
        }
        matched
    }

    /// The operands of an operation of this kind.
    fn operands(&self, opcode: &Opcode, id: InstrId, found: &mut PatternMatch) -> &'a [InstrId] {
        let id = self.operation(id, found);
        let instruction = self.instruction(id);
        if instruction.opcode != *opcode {
            return &[];
        }
        found.nodes.push(id);
        &instruction.operands
    }

    fn of_one(&self, opcode: &Opcode, inner: &Pattern, id: InstrId, found: &mut PatternMatch) -> bool {
        matches!(self.operands(opcode, id, found), [of] if self.matches(inner, *of, found))
    }

    fn of_two(&self, opcode: &Opcode, (a, b): (&Pattern, &Pattern), id: InstrId, found: &mut PatternMatch) -> bool {
        matches!(self.operands(opcode, id, found), [x, y] if self.matches(a, *x, found) && self.matches(b, *y, found))
    }

    fn either_order(
        &self,
        opcode: &Opcode,
        (a, b): (&Pattern, &Pattern),
        id: InstrId,
        found: &mut PatternMatch,
    ) -> bool {
        self.attempt(found, |s, f| s.of_two(opcode, (a, b), id, f))
            || self.attempt(found, |s, f| s.of_two(opcode, (b, a), id, f))
    }

    fn row_reduction(&self, kind: ReduceKind, inner: &Pattern, id: InstrId, found: &mut PatternMatch) -> bool {
        let id = self.operation(id, found);
        let instruction = self.instruction(id);
        let ([of], Opcode::Reduce { kind: is, dimensions }) = (instruction.operands.as_slice(), &instruction.opcode)
        else {
            return false;
        };
        let rank = usize_to_u32(self.instruction(*of).shape.rank());
        if *is != kind || rank < 2 || *dimensions != [rank - 1] {
            return false;
        }
        found.nodes.push(id);
        self.matches(inner, *of, found)
    }

    /// The operation behind views that change neither values nor rows.
    fn operation(&self, id: InstrId, found: &mut PatternMatch) -> InstrId {
        let mut id = self.producer(id);
        loop {
            let instruction = self.instruction(id);
            let rank = usize_to_u32(instruction.shape.rank());
            let looks = match &instruction.opcode {
                Opcode::Convert | Opcode::Reshape => true,
                // One number for each row, along the row.
                Opcode::Broadcast { dimensions } => rank > 0 && dimensions.iter().copied().eq(0..rank - 1),
                _ => false,
            };
            let (true, Some(of)) = (looks, instruction.operands.first()) else { return id };
            found.nodes.push(id);
            id = self.producer(*of);
        }
    }

    /// The value behind conversions and reshapes that keep its rows.
    fn value(&self, id: InstrId, found: &mut PatternMatch) -> InstrId {
        let mut id = self.producer(id);
        loop {
            let instruction = self.instruction(id);
            let Some(of) = instruction.operands.first() else { return id };
            let of = self.producer(*of);
            let keeps_rows = instruction.shape.dims.last() == self.instruction(of).shape.dims.last();
            let looks = match &instruction.opcode {
                Opcode::Convert => true,
                Opcode::Reshape => keeps_rows,
                _ => false,
            };
            if !looks {
                return id;
            }
            found.nodes.push(id);
            id = of;
        }
    }

    /// The number that every element of a value has.
    fn number(&self, id: InstrId) -> Option<f32> {
        let instruction = self.instruction(self.producer(id));
        match &instruction.opcode {
            Opcode::Constant(literal) => Some(literal.0),
            Opcode::Broadcast { .. } | Opcode::Reshape | Opcode::Convert => self.number(*instruction.operands.first()?),
            _ => None,
        }
    }
}
