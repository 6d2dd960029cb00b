//! Types of values: arrays, tuples of them, tokens.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::ElementType;

/// Element type and sizes of an array. Sizes are always known: a reader puts the sizes of open dimensions in.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ArrayType {
    /// Of each element.
    pub element: ElementType,
    /// Sizes, outermost first; none for one number.
    pub dims: Vec<u64>,
}

impl ArrayType {
    /// An array.
    #[must_use]
    pub fn new(element: ElementType, dims: impl Into<Vec<u64>>) -> Self {
        Self { element, dims: dims.into() }
    }

    /// Number of elements; none when it is beyond 64 bits.
    #[must_use]
    pub fn elements(&self) -> Option<u64> {
        self.dims.iter().try_fold(1u64, |n, &d| n.checked_mul(d))
    }

    /// Bytes, each array rounded up to a whole one; saturates.
    #[must_use]
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
    /// An array.
    Array(ArrayType),
    /// Several values.
    Tuple(Vec<Type>),
    /// An order between effects, without a value.
    Token,
}

impl Type {
    /// The array, when it is one.
    #[must_use]
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
