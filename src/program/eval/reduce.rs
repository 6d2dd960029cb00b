//! Reductions along dimensions.

use std::rc::Rc;

use super::elementwise::{real_binary, whole_binary};
use super::evaluator::Stop;
use super::pick::{count, for_each_index, strided, strides};
use crate::{ArrayType, Binary, Computation, ElementType, Numbers, Op, Value, round};
use ns_base::convert::usize_to_u32;
use ns_base::{Refusal, refuse};

/// The form of a computation of two numbers: one operation, which is applied without a call, or any other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Combine {
    One(Binary),
    Second,
    Any,
}

type FoldFn = Box<dyn Fn(&Numbers, &Numbers, &mut dyn Iterator<Item = usize>) -> Result<Numbers, Refusal>>;

impl Combine {
    /// Finds the form of a computation.
    pub(super) fn of(computation: &Computation) -> Self {
        let root = &computation.instructions[computation.root];
        let parameter = |n: usize| {
            let operand = root.operands.get(n).map(|&o| &computation.instructions[o].op);
            match operand {
                Some(Op::Parameter(p)) => Some(*p),
                _ => None,
            }
        };
        let parameters = computation.instructions.iter().filter(|i| matches!(i.op, Op::Parameter(_))).count();
        match (&root.op, parameter(0), parameter(1)) {
            (Op::Binary(function), Some(0), Some(1)) if parameters == 2 => Self::One(*function),
            // The order does not matter for these operations.
            (
                Op::Binary(f @ (Binary::Add | Binary::Mul | Binary::Max | Binary::Min | Binary::And | Binary::Or)),
                Some(1),
                Some(0),
            ) if parameters == 2 => Self::One(*f),
            (Op::Parameter(1), ..) if parameters == 2 => Self::Second,
            _ => Self::Any,
        }
    }

    /// Combines elements at positions with an initial value, if the computation is one operation.
    pub(super) fn folder(self, element: ElementType) -> Option<FoldFn> {
        let Self::One(function) = self else { return None };
        Some(one_operation(function, element))
    }
}

/// Combines elements at positions with an initial value.
fn one_operation(function: Binary, element: ElementType) -> FoldFn {
    Box::new(move |numbers, initial, at| {
        let none = || refuse!("{function:?} has no meaning for {element}");
        let outside = || refuse!("an index lies outside");
        match (numbers, initial) {
            // Sums in double precision, rounded once: closer to the true sum than any order in single precision.
            (Numbers::Real(v), Numbers::Real(start)) => {
                let mut sum = *start.first().ok_or_else(outside)?;
                for i in at {
                    sum = real_binary(function, sum, *v.get(i).ok_or_else(outside)?).ok_or_else(none)?;
                }
                Ok(Numbers::Real(vec![round::real(element, sum)]))
            }
            (Numbers::Whole(v), Numbers::Whole(start)) => {
                let mut sum = *start.first().ok_or_else(outside)?;
                for i in at {
                    let next = whole_binary(function, element, sum, *v.get(i).ok_or_else(outside)?);
                    sum = round::whole(element, next.ok_or_else(none)?);
                }
                Ok(Numbers::Whole(vec![sum]))
            }
            _ => Err(none()),
        }
    })
}

/// One element of an array.
pub(super) fn number(value: &Value, at: usize) -> Value {
    let numbers = match &value.numbers {
        Numbers::Real(v) => Numbers::Real(v.get(at).copied().into_iter().collect()),
        Numbers::Whole(v) => Numbers::Whole(v.get(at).copied().into_iter().collect()),
        Numbers::Complex(v) => Numbers::Complex(v.get(at).copied().into_iter().collect()),
    };
    Value { ty: ArrayType::new(value.ty.element, []), numbers }
}

/// An array of numbers.
pub(super) fn joined(values: Vec<Value>, ty: &ArrayType) -> Result<Value, Refusal> {
    let mut real = Vec::new();
    let mut whole = Vec::new();
    let mut complex = Vec::new();
    let n = values.len();
    for value in values {
        match value.numbers {
            Numbers::Real(v) => real.extend(v),
            Numbers::Whole(v) => whole.extend(v),
            Numbers::Complex(v) => complex.extend(v),
        }
    }
    let numbers = if ty.element.is_float() {
        Numbers::Real(real)
    } else if ty.element.is_complex() {
        Numbers::Complex(complex)
    } else {
        Numbers::Whole(whole)
    };
    if numbers.len() != n || count(&ty.dims)? != n {
        return Err(refuse!("{n} numbers do not make {ty}"));
    }
    Ok(Value { ty: ty.clone(), numbers })
}

/// Where the elements of a reduction lie.
struct Places {
    kept_dims: Vec<u64>,
    /// Position of the first element of each result.
    starts: Vec<usize>,
    /// Distance of each element of a result from its first.
    inside: Vec<usize>,
}

impl Places {
    fn of(ty: &ArrayType, dimensions: &[u32]) -> Result<Self, Refusal> {
        let rank = ty.dims.len();
        if dimensions.iter().any(|&d| d as usize >= rank) {
            return Err(refuse!("{ty} has no dimensions {dimensions:?} to combine"));
        }
        let own = strides(&ty.dims);
        let is_reduced = |d: &usize| dimensions.contains(&usize_to_u32(*d));
        let (gone, kept): (Vec<usize>, Vec<usize>) = (0..rank).partition(is_reduced);
        let dims_of = |which: &[usize]| -> Vec<u64> { which.iter().map(|&d| ty.dims[d]).collect() };
        let steps = |which: &[usize]| -> Vec<i64> { which.iter().map(|&d| own[d]).collect() };
        let kept_dims = dims_of(&kept);
        let inside = strided(&dims_of(&gone), &steps(&gone), 0)?;
        let starts = strided(&kept_dims, &steps(&kept), 0)?;
        Ok(Self { kept_dims, starts, inside })
    }
}

/// An array whose dimensions are combined by one operation, from an initial value on. Fails when a dimension does not exist, or
/// when the operation has no meaning for the numbers.
pub(crate) fn reduce_with(function: Binary, x: &Value, initial: &Value, dimensions: &[u32]) -> Result<Value, Refusal> {
    let fold = one_operation(function, x.ty.element);
    let Places { kept_dims, starts, inside } = Places::of(&x.ty, dimensions)?;
    let fold_one = |&at: &usize| fold(&x.numbers, &initial.numbers, &mut inside.iter().map(|i| at + i));
    let parts = starts.iter().map(fold_one).collect::<Result<Vec<Numbers>, Refusal>>()?;
    let values = parts.into_iter().map(|numbers| Value { ty: initial.ty.clone(), numbers }).collect();
    joined(values, &ArrayType::new(initial.ty.element, kept_dims))
}

pub(super) fn reduce(
    operands: &[Rc<Value>],
    dimensions: &[u32],
    combine: &Combine,
    mut call: impl FnMut(Vec<Value>) -> Result<Vec<Value>, Stop>,
) -> Result<Vec<Value>, Stop> {
    let n = operands.len() / 2;
    let (arrays, initial) = operands.split_at(n);
    if let (Combine::One(function), [x], [start]) = (combine, arrays, initial) {
        return Ok(vec![reduce_with(*function, x, start, dimensions)?]);
    }
    let first = arrays.first().ok_or_else(|| refuse!("there is nothing to combine"))?;
    if arrays.iter().any(|a| a.ty.dims != first.ty.dims) {
        return Err(refuse!("the arrays to combine have no common shape").into());
    }
    let Places { kept_dims, starts, inside } = Places::of(&first.ty, dimensions)?;
    let mut results: Vec<Vec<Value>> = vec![Vec::with_capacity(starts.len()); n];
    for_each_index::<Stop>(&kept_dims, |position, _| {
        let mut state: Vec<Value> = initial.iter().map(|v| v.as_ref().clone()).collect();
        for i in &inside {
            state.extend(arrays.iter().map(|a| number(a, starts[position] + i)));
            state = call(state)?;
        }
        for (all, value) in results.iter_mut().zip(state) {
            all.push(value);
        }
        Ok(())
    })?;
    Ok(joined_results(results, initial, &kept_dims)?)
}

/// An array of each result's numbers, of the element type with which its combination started.
pub(super) fn joined_results(
    results: Vec<Vec<Value>>,
    initial: &[Rc<Value>],
    dims: &[u64],
) -> Result<Vec<Value>, Refusal> {
    let array = |(values, start): (_, &Rc<Value>)| joined(values, &ArrayType::new(start.ty.element, dims.to_vec()));
    results.into_iter().zip(initial).map(array).collect()
}
