//! Tuples, calls, loops, sorting.

use super::super::{ArrayType, Comparison, ElementType, InstructionId, Op, Type};
use super::core::{Builder, Built};
use ns_base::convert::{u64_to_f64, usize_to_u32};
use ns_base::{Refusal, refuse};

impl Builder {
    /// Joins several values into a tuple. Fails as [`Self::push`].
    pub fn tuple(&mut self, parts: &[InstructionId]) -> Built {
        let ty = Type::Tuple(parts.iter().map(|&p| self.type_of(p).clone()).collect());
        self.push(Op::Tuple, parts.to_vec(), vec![], ty)
    }

    /// One part of a tuple. Fails when `x` is not a tuple, or does not have the part.
    pub fn get(&mut self, x: InstructionId, at: usize) -> Built {
        let part = match self.type_of(x) {
            Type::Tuple(parts) => parts.get(at).cloned(),
            _ => None,
        };
        let Some(ty) = part else {
            return Err(refuse!("{} has no part {at}", self.type_of(x)));
        };
        self.push(Op::GetTupleElement(usize_to_u32(at)), vec![x], vec![], ty)
    }

    /// All parts of a tuple. Fails as [`Self::get`].
    pub fn parts(&mut self, x: InstructionId) -> Result<Vec<InstructionId>, Refusal> {
        let count = match self.type_of(x) {
            Type::Tuple(parts) => parts.len(),
            _ => return Ok(vec![x]),
        };
        (0..count).map(|at| self.get(x, at)).collect()
    }

    /// Runs `body` `count` times over `state`: it gets the number of the turn (s32) and the state, and returns the next state.
    /// Values of the caller are not visible in the body: all values that it needs must be part of the state. Fails when the body
    /// changes the state's types.
    pub fn repeat(
        &mut self,
        count: u64,
        state: &[InstructionId],
        body: impl FnOnce(&mut Self, InstructionId, &[InstructionId]) -> Result<Vec<InstructionId>, Refusal>,
    ) -> Result<Vec<InstructionId>, Refusal> {
        let turn = self.whole(ElementType::S32, 0)?;
        let all: Vec<InstructionId> = std::iter::once(turn).chain(state.iter().copied()).collect();
        let first = self.tuple(&all)?;
        let ty = self.type_of(first).clone();
        let condition = self.computation("condition", std::slice::from_ref(&ty), |b, p| {
            let turn = b.get(p[0], 0)?;
            b.compare_number(Comparison::Lt, turn, u64_to_f64(count))
        })?;
        let step = self.computation("body", std::slice::from_ref(&ty), |b, p| {
            let parts = b.parts(p[0])?;
            let one = b.number(ElementType::S32, 1.0)?;
            let next = b.add(parts[0], one)?;
            let after = body(b, parts[0], &parts[1..])?;
            let all: Vec<InstructionId> = std::iter::once(next).chain(after).collect();
            let result = b.tuple(&all)?;
            match *b.type_of(result) == ty {
                true => Ok(result),
                false => {
                    let (one, other) = (ty.clone(), b.type_of(result).clone());
                    Err(refuse!("a loop's state {one} becomes {other}"))
                }
            }
        })?;
        let last = self.push(Op::While, vec![first], vec![condition, step], ty)?;
        Ok(self.parts(last)?.split_off(1))
    }

    /// A branch that data chooses and whose two sides are not known: it reads `operands` (including `condition` if that is a value) and gives
    /// values of these types. A program with this operation can be inspected, but neither computed nor placed. Fails as
    /// [`Self::push`].
    pub fn undecided_branch(
        &mut self,
        condition: Option<InstructionId>,
        operands: &[InstructionId],
        results: &[ArrayType],
    ) -> Result<Vec<InstructionId>, Refusal> {
        let is_flag = |b: &Self, x: InstructionId| b.dims(x).is_empty() && b.element(x) == ElementType::Pred;
        let flag = match condition {
            Some(x) if is_flag(self, x) => x,
            other => {
                let read: Vec<InstructionId> = other.into_iter().chain(operands.iter().copied()).collect();
                let ty = Type::Array(ArrayType::new(ElementType::Pred, []));
                self.opaque("condition", "", &read, ty)?
            }
        };
        let all = self.tuple(operands)?;
        let (given, ty) = (self.type_of(all).clone(), Type::Tuple(results.iter().cloned().map(Type::Array).collect()));
        let mut sides = Vec::with_capacity(2);
        for _ in 0..2 {
            let result = ty.clone();
            let side = |b: &mut Self, p: &[InstructionId]| b.opaque("branch", "", p, result);
            sides.push(self.computation("branch", std::slice::from_ref(&given), side)?);
        }
        let chosen = self.push(Op::Conditional, vec![flag, all, all], sides, ty)?;
        self.parts(chosen)
    }

    /// A loop of unknown body whose number of turns depends on data: it carries `state`. A program with this operation can be inspected,
    /// but neither computed nor placed. Fails as [`Self::push`].
    pub fn undecided_loop(&mut self, state: &[InstructionId]) -> Result<Vec<InstructionId>, Refusal> {
        let first = self.tuple(state)?;
        let ty = self.type_of(first).clone();
        let flag = Type::Array(ArrayType::new(ElementType::Pred, []));
        let condition =
            self.computation("condition", std::slice::from_ref(&ty), |b, p| b.opaque("condition", "", p, flag))?;
        let same = ty.clone();
        let body = self.computation("body", std::slice::from_ref(&ty), |b, p| b.opaque("body", "", p, same))?;
        let last = self.push(Op::While, vec![first], vec![condition, body], ty)?;
        self.parts(last)
    }

    /// `keys` sorted along a dimension, and `companions` in the same order. Equal keys keep their order. Fails when the arrays have
    /// different sizes.
    pub fn sort(
        &mut self,
        keys: InstructionId,
        companions: &[InstructionId],
        dimension: usize,
        is_descending: bool,
    ) -> Result<Vec<InstructionId>, Refusal> {
        let dims = self.dims(keys);
        self.size(keys, dimension)?;
        let all: Vec<InstructionId> = std::iter::once(keys).chain(companions.iter().copied()).collect();
        let mut parameters = Vec::new();
        for &x in &all {
            let ty = self.array(x)?;
            if ty.dims != dims {
                return Err(refuse!("{ty} is not sorted along with sizes {dims:?}"));
            }
            let one = Type::Array(ArrayType::new(ty.element, []));
            parameters.extend([one.clone(), one]);
        }
        let how = if is_descending { Comparison::Gt } else { Comparison::Lt };
        let comparator = self.computation("before", &parameters, |b, p| b.compare(how, p[0], p[1]))?;
        let types: Vec<Type> = all.iter().map(|&x| self.type_of(x).clone()).collect();
        let ty = if let [one] = types.as_slice() { one.clone() } else { Type::Tuple(types) };
        let op = Op::Sort { dimension: usize_to_u32(dimension), is_stable: true };
        let sorted = self.push(op, all, vec![comparator], ty)?;
        self.parts(sorted)
    }

    /// The `k` largest or smallest elements along the last dimension, and their positions (s32). Fails when there are fewer than
    /// `k`.
    pub fn top_k(&mut self, x: InstructionId, k: u64, is_largest: bool) -> Result<[InstructionId; 2], Refusal> {
        let ty = self.array(x)?.clone();
        let mut dims = ty.dims.clone();
        match dims.last_mut() {
            Some(last) if *last >= k => *last = k,
            _ => return Err(refuse!("{ty} does not have {k} elements in its last dimension")),
        }
        let places = Type::Array(ArrayType::new(ElementType::S32, dims.clone()));
        let result = Type::Tuple(vec![Type::Array(ArrayType::new(ty.element, dims)), places]);
        let found = self.push(Op::TopK { k, is_largest }, vec![x], vec![], result)?;
        Ok([self.get(found, 0)?, self.get(found, 1)?])
    }
}
