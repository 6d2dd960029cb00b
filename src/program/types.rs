//! Types of values: arrays, tuples of them, tokens.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::ElementType;

/// Element type and sizes of an array. Sizes are always known: a reader fills in the sizes of open dimensions.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ArrayType {
    pub element: ElementType,
    /// Sizes, outermost first; empty for a single number.
    pub dims: Vec<u64>,
}

impl ArrayType {
    pub fn new(element: ElementType, dims: impl Into<Vec<u64>>) -> Self {
        Self { element, dims: dims.into() }
    }

    /// Number of elements; `None` if it exceeds 64 bits.
    pub fn elements(&self) -> Option<u64> {
        self.dims.iter().try_fold(1u64, |n, &d| n.checked_mul(d))
    }

    /// Size in bytes, each array rounded up to a whole byte; saturates.
    pub fn bytes(&self) -> u64 {
        self.elements().unwrap_or(u64::MAX).saturating_mul(self.element.bits()).div_ceil(8)
    }
}

impl fmt::Display for ArrayType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[", self.element)?;
        for (i, d) in self.dims.iter().enumerate() {
            write!(f, "{}{d}", if i == 0 { "" } else { "," })?;
        }
        f.write_str("]")
    }
}

/// Type of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Type {
    Array(ArrayType),
    /// A tuple of values.
    Tuple(Vec<Type>),
    /// A token: an order between effects, without a value.
    Token,
}

impl Type {
    /// The array type, if it is one.
    pub const fn array(&self) -> Option<&ArrayType> {
        match self {
            Self::Array(array) => Some(array),
            _ => None,
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Array(array) => array.fmt(f),
            Self::Token => f.write_str("token[]"),
            Self::Tuple(parts) => {
                f.write_str("(")?;
                for (i, part) in parts.iter().enumerate() {
                    write!(f, "{}{part}", if i == 0 { "" } else { ", " })?;
                }
                f.write_str(")")
            }
        }
    }
}
