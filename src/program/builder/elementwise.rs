//! Elementwise operations, with numpy's rules where sizes differ.

use super::super::{Binary, Comparison, ElementType, InstructionId, Op, Unary};
use super::core::{Builder, Built};
use ns_base::{Refusal, refuse};

impl Builder {
    /// An elementwise function. Tests such as `IsNan` give booleans. Fails when the operand is not an array.
    pub fn unary(&mut self, function: Unary, x: InstructionId) -> Built {
        let ty = self.array(x)?.clone();
        let element = match function {
            Unary::IsFinite | Unary::IsInf | Unary::IsNan => ElementType::Pred,
            Unary::Abs | Unary::Real | Unary::Imag if ty.element == ElementType::C64 => ElementType::F32,
            Unary::Abs | Unary::Real | Unary::Imag if ty.element == ElementType::C128 => ElementType::F64,
            _ => ty.element,
        };
        self.push_array(Op::Unary(function), vec![x], element, ty.dims)
    }

    /// An elementwise function of two arrays of one element type; dimensions of size one repeat. Fails when element types or sizes
    /// do not fit.
    pub fn binary(&mut self, function: Binary, a: InstructionId, b: InstructionId) -> Built {
        let (a, b) = self.alike(a, b)?;
        let ty = self.array(a)?.clone();
        let element = match (function, ty.element) {
            (Binary::Complex, ElementType::F64) => ElementType::C128,
            (Binary::Complex, _) => ElementType::C64,
            (_, e) => e,
        };
        self.push_array(Op::Binary(function), vec![a, b], element, ty.dims)
    }

    /// An elementwise function of an array and a number. Fails when the operand is not an array.
    pub fn with_number(&mut self, function: Binary, x: InstructionId, number: f64) -> Built {
        let number = self.number(self.element(x), number)?;
        self.binary(function, x, number)
    }

    /// Sum of two arrays. Fails as [`Self::binary`].
    pub fn add(&mut self, a: InstructionId, b: InstructionId) -> Built {
        self.binary(Binary::Add, a, b)
    }

    /// Difference of two arrays. Fails as [`Self::binary`].
    pub fn sub(&mut self, a: InstructionId, b: InstructionId) -> Built {
        self.binary(Binary::Sub, a, b)
    }

    /// Product of two arrays, element by element. Fails as [`Self::binary`].
    pub fn mul(&mut self, a: InstructionId, b: InstructionId) -> Built {
        self.binary(Binary::Mul, a, b)
    }

    /// Quotient of two arrays, element by element. Fails as [`Self::binary`].
    pub fn div(&mut self, a: InstructionId, b: InstructionId) -> Built {
        self.binary(Binary::Div, a, b)
    }

    /// Compares two arrays of one element type; dimensions of size one repeat. Fails when element types or sizes do not fit.
    pub fn compare(&mut self, how: Comparison, a: InstructionId, b: InstructionId) -> Built {
        let (a, b) = self.alike(a, b)?;
        let dims = self.dims(a);
        self.push_array(Op::Compare(how), vec![a, b], ElementType::Pred, dims)
    }

    /// Compares an array with a number. Fails when the operand is not an array.
    pub fn compare_number(&mut self, how: Comparison, x: InstructionId, number: f64) -> Built {
        let number = self.number(self.element(x), number)?;
        self.compare(how, x, number)
    }

    /// `a` where `condition` is true, else `b`; dimensions of size one repeat. Fails when element types or sizes do not fit.
    pub fn select(&mut self, condition: InstructionId, a: InstructionId, b: InstructionId) -> Built {
        if self.element(condition) != ElementType::Pred {
            let found = self.type_of(condition);
            return Err(refuse!("a choice needs booleans, not {found}"));
        }
        let (a, b) = self.alike(a, b)?;
        let dims = broadcast_dims(&self.dims(a), &self.dims(condition))?;
        let element = self.element(a);
        let operands = [condition, a, b].map(|x| self.broadcast_to(x, &dims));
        let [condition, a, b] = operands;
        self.push_array(Op::Select, vec![condition?, a?, b?], element, dims)
    }

    /// `x` clamped to a range; an infinite end leaves that side open. Fails when the operand is not an array.
    pub fn clamp_numbers(&mut self, x: InstructionId, low: Option<f64>, high: Option<f64>) -> Built {
        let x = match low {
            Some(low) => self.with_number(Binary::Max, x, low)?,
            None => x,
        };
        match high {
            Some(high) => self.with_number(Binary::Min, x, high),
            None => Ok(x),
        }
    }

    /// Converts to another element type; pushes nothing if `x` already has it. As a boolean, a number is true unless it is 0. Fails
    /// when the operand is not an array.
    pub fn convert(&mut self, x: InstructionId, element: ElementType) -> Built {
        let ty = self.array(x)?.clone();
        match element {
            e if e == ty.element => Ok(x),
            ElementType::Pred => self.compare_number(Comparison::Ne, x, 0.0),
            _ => self.push_array(Op::Convert, vec![x], element, ty.dims),
        }
    }

    /// Two arrays of one element type, broadcast to the same sizes.
    fn alike(&mut self, a: InstructionId, b: InstructionId) -> Result<(InstructionId, InstructionId), Refusal> {
        let (left, right) = (self.array(a)?, self.array(b)?);
        if left.element != right.element {
            return Err(refuse!("{left} and {right} have different element types"));
        }
        if left.dims == right.dims {
            return Ok((a, b));
        }
        let dims = broadcast_dims(&left.dims, &right.dims)?;
        Ok((self.broadcast_to(a, &dims)?, self.broadcast_to(b, &dims)?))
    }
}

/// Sizes of a result by numpy's broadcasting: aligned at the last dimension; a size of one repeats. Fails when two sizes differ and
/// neither is one.
pub fn broadcast_dims(a: &[u64], b: &[u64]) -> Result<Vec<u64>, Refusal> {
    let rank = a.len().max(b.len());
    let size = |dims: &[u64], at: usize| (at + dims.len()).checked_sub(rank).map_or(1, |i| dims[i]);
    (0..rank)
        .map(|at| match (size(a, at), size(b, at)) {
            (x, y) if x == y => Ok(x),
            (1, y) => Ok(y),
            (x, 1) => Ok(x),
            _ => Err(refuse!("sizes {a:?} and {b:?} do not fit each other")),
        })
        .collect()
}
