//! Removes what a program does not need: factors of one, checks for infinities that cannot occur, branches of a known condition,
//! repeated computations.
//!
//! PyTorch's attention tests whether each row of scores is all minus infinity, and multiplies by an `alpha` of one in every sum. No
//! score is infinite unless a mask has infinities, so the test is answered here.

use super::flatten::{Combine, Flat, FlatId, FlatNode};
use ns_base::FxHashMap;
use ns_base::convert::i64_to_f64;
use ns_program::{Binary, Comparison, Numbers, Op, Unary, Value};

/// Known facts about a value.
#[derive(Clone, Copy, Debug, Default)]
struct Fact {
    /// The number that every element has.
    splat: Option<f64>,
    /// Whether it may contain an infinity of the program. Inputs and weights contain none.
    may_be_infinite: bool,
}

/// Lets operations read past operations that change nothing, and marks values of one number.
pub(super) fn simplify(flat: &mut Flat) {
    let mut same: Vec<FlatId> = Vec::with_capacity(flat.nodes.len());
    let mut facts: Vec<Fact> = Vec::with_capacity(flat.nodes.len());
    let mut first = FirstOf::default();
    for id in 0..flat.nodes.len() {
        for operand in &mut flat.nodes[id].operands {
            *operand = same[*operand];
        }
        let node = &flat.nodes[id];
        let operands: Vec<Fact> = node.operands.iter().map(|&o| facts[o]).collect();
        let behind = unchanged(flat, node, &operands).or_else(|| first.before(flat, id));
        let fact = match behind {
            Some(other) => facts[other],
            None => fact_of(node, &operands),
        };
        same.push(behind.unwrap_or(id));
        flat.nodes[id].splat = fact.splat;
        facts.push(fact);
    }
    for result in &mut flat.results {
        *result = same[*result];
    }
}

/// Operations by their operands, to find duplicates: the masks of a decoder's layers become one mask.
#[derive(Default)]
struct FirstOf(FxHashMap<Vec<FlatId>, Vec<FlatId>>);

impl FirstOf {
    /// The earlier operation with the same value.
    fn before(&mut self, flat: &Flat, id: FlatId) -> Option<FlatId> {
        let node = &flat.nodes[id];
        let may_differ = matches!(
            node.op,
            Op::Parameter(_)
                | Op::Constant(_)
                | Op::ElidedConstant
                | Op::Rng { .. }
                | Op::RngBitGenerator { .. }
                | Op::Sort { .. }
                | Op::Scatter(_)
                | Op::Map
                | Op::CustomCall(_)
                | Op::Opaque(_)
                | Op::Collective(_)
        );
        if may_differ || node.combine == Some(Combine::Other) {
            return None;
        }
        let others = self.0.entry(node.operands.clone()).or_default();
        let is_same = |other: &&FlatId| {
            let other = &flat.nodes[**other];
            other.op == node.op && other.ty == node.ty && other.part == node.part && other.combine == node.combine
        };
        // Operations without operands come in few kinds; a long list is not searched to its end.
        let found = others.iter().take(MOST_ALIKE).find(is_same).copied();
        if found.is_none() {
            others.push(id);
        }
        found
    }
}

/// Most operations with the same operands that an operation is compared with.
const MOST_ALIKE: usize = 64;

/// The operand that an operation returns unchanged.
fn unchanged(flat: &Flat, node: &FlatNode, facts: &[Fact]) -> Option<FlatId> {
    let splat = |n: usize| facts.get(n).and_then(|f| f.splat);
    let operand = |n: usize| node.operands.get(n).copied();
    let is_alike = |id: FlatId| flat.nodes[id].ty == node.ty;
    let chosen = match &node.op {
        Op::Binary(Binary::Mul) if splat(1) == Some(1.0) => operand(0),
        Op::Binary(Binary::Mul) if splat(0) == Some(1.0) => operand(1),
        Op::Binary(Binary::Add) if splat(1) == Some(0.0) => operand(0),
        Op::Binary(Binary::Add) if splat(0) == Some(0.0) => operand(1),
        Op::Binary(Binary::Sub) if splat(1) == Some(0.0) => operand(0),
        Op::Binary(Binary::Div | Binary::Pow) if splat(1) == Some(1.0) => operand(0),
        Op::Binary(Binary::Max) if splat(1) == Some(f64::NEG_INFINITY) => operand(0),
        Op::Binary(Binary::Max) if splat(0) == Some(f64::NEG_INFINITY) => operand(1),
        Op::Binary(Binary::Min) if splat(1) == Some(f64::INFINITY) => operand(0),
        Op::Binary(Binary::Min) if splat(0) == Some(f64::INFINITY) => operand(1),
        Op::Select if splat(0) == Some(0.0) => operand(2),
        Op::Select if splat(0).is_some() => operand(1),
        Op::Convert | Op::Reshape | Op::Broadcast { .. } if operand(0).is_some_and(is_alike) => operand(0),
        _ => None,
    };
    chosen.filter(|&id| is_alike(id))
}

fn fact_of(node: &FlatNode, facts: &[Fact]) -> Fact {
    let splat = |n: usize| facts.get(n).and_then(|f| f.splat);
    let may_be_infinite = |n: usize| facts.get(n).is_some_and(|f| f.may_be_infinite);
    let any_infinite = facts.iter().any(|f| f.may_be_infinite);
    let of_splat = |value: Option<f64>| Fact { splat: value, may_be_infinite: value.is_some_and(f64::is_infinite) };
    match &node.op {
        Op::Parameter(_) | Op::ElidedConstant | Op::Iota { .. } => Fact::default(),
        Op::Constant(value) => {
            let may_be_infinite = match &value.numbers {
                Numbers::Real(v) => v.iter().any(|x| x.is_infinite()),
                _ => false,
            };
            Fact { splat: of_constant(value), may_be_infinite }
        }
        Op::Broadcast { .. } | Op::Reshape | Op::Transpose { .. } | Op::Slice { .. } | Op::Convert => {
            Fact { splat: splat(0), may_be_infinite: may_be_infinite(0) }
        }
        Op::Compare(comparison) => of_splat(compared(*comparison, facts)),
        Op::Unary(Unary::Not) => of_splat(splat(0).map(|v| f64::from(v == 0.0))),
        Op::Unary(Unary::IsInf) if !may_be_infinite(0) => of_splat(Some(0.0)),
        Op::Binary(Binary::And) if splat(0) == Some(0.0) || splat(1) == Some(0.0) => of_splat(Some(0.0)),
        Op::Binary(Binary::Or) => match (splat(0), splat(1)) {
            (Some(a), Some(b)) => of_splat(Some(f64::from(a != 0.0 || b != 0.0))),
            _ => Fact::default(),
        },
        // All and any of one value are that value; so are its maximum and minimum when the initial value is neutral.
        Op::Reduce { .. } => match (node.combine, splat(0), splat(1)) {
            (Some(Combine::Max), Some(v), Some(start)) => of_splat(Some(v.max(start))),
            (Some(Combine::Min), Some(v), Some(start)) => of_splat(Some(v.min(start))),
            _ => Fact { splat: None, may_be_infinite: may_be_infinite(0) },
        },
        // Products of finite numbers are finite; exponentials of minus infinity are zero.
        Op::Dot(_) | Op::Convolution { .. } => Fact { splat: None, may_be_infinite: any_infinite },
        Op::Unary(Unary::Exp | Unary::Tanh | Unary::Logistic) => Fact::default(),
        _ => Fact { splat: node.value.as_ref().and_then(of_constant), may_be_infinite: any_infinite },
    }
}

/// A comparison of one number with another, or of a value without infinities with an infinity.
fn compared(comparison: Comparison, facts: &[Fact]) -> Option<f64> {
    let [a, b] = facts else { return None };
    let holds = match (a.splat, b.splat) {
        (Some(a), Some(b)) => comparison.holds(&a, &b),
        (None, Some(v)) if v.is_infinite() && !a.may_be_infinite => finite_against(comparison, v),
        _ => return None,
    };
    Some(f64::from(holds))
}

/// The result of this comparison of every finite number with an infinity.
fn finite_against(comparison: Comparison, infinity: f64) -> bool {
    match comparison {
        Comparison::Eq => false,
        Comparison::Ne => true,
        Comparison::Ge | Comparison::Gt => infinity < 0.0,
        Comparison::Le | Comparison::Lt => infinity > 0.0,
    }
}

/// The number that every element of a constant has.
pub(super) fn of_constant(value: &Value) -> Option<f64> {
    match &value.numbers {
        Numbers::Real(v) => v.first().copied().filter(|f| v.iter().all(|x| x.to_bits() == f.to_bits())),
        Numbers::Whole(v) => v.first().copied().filter(|f| v.iter().all(|x| x == f)).map(i64_to_f64),
        Numbers::Complex(_) => None,
    }
}
