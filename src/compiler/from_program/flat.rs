//! A program without calls, loops and tuples: one list of operations on arrays.

use crate::import::program::{ArrayType, Op, Origin, Value};

/// Position of an operation in a [`Flat`].
pub(super) type FlatId = usize;

/// An operation on arrays.
#[derive(Clone, Debug)]
pub(super) struct FlatNode {
    pub name: String,
    pub op: Op,
    pub operands: Vec<FlatId>,
    pub ty: ArrayType,
    pub origin: Origin,
    /// Its numbers, when it is small and constants alone give it.
    pub known: Option<Value>,
    /// Of an operation with several results, which of them this is.
    pub part: u32,
    /// What the computation that a reduction calls does, and the number of operands before those it begins with.
    pub combine: Option<Combine>,
}

/// How a reduction combines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Combine {
    Sum,
    Product,
    Max,
    Min,
    /// Anything else: an arg max, a pair.
    Other,
}

/// A program without calls, loops and tuples. Operands come before their users.
#[derive(Clone, Debug, Default)]
pub(super) struct Flat {
    pub nodes: Vec<FlatNode>,
    pub results: Vec<FlatId>,
}
