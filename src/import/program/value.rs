//! Numbers of an array: constants, weights, inputs and what an evaluation gives.

use serde::{Deserialize, Serialize};

use super::{ArrayType, ElementType};

/// Numbers in row-major order.
///
/// Every floating point type is kept in double precision and rounded to its own after each operation: products, sums, quotients
/// and roots of single precision are then the same bits as those computed in single precision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Numbers {
    /// Floating point numbers.
    Real(Vec<f64>),
    /// Whole numbers and booleans (0 and 1), as two's complement; 64 bits without a sign are kept as their bits.
    Whole(Vec<i64>),
    /// Real and imaginary parts.
    Complex(Vec<[f64; 2]>),
}

impl Numbers {
    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Real(v) => v.len(),
            Self::Whole(v) => v.len(),
            Self::Complex(v) => v.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// An array with its numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Value {
    /// Element type and sizes.
    pub ty: ArrayType,
    /// As many as the type has elements, of the kind its element type has.
    pub numbers: Numbers,
}

impl Value {
    /// One floating point number.
    #[must_use]
    pub fn real(element: ElementType, value: f64) -> Self {
        Self { ty: ArrayType::new(element, []), numbers: Numbers::Real(vec![value]) }
    }

    /// One whole number or boolean.
    #[must_use]
    pub fn whole(element: ElementType, value: i64) -> Self {
        Self { ty: ArrayType::new(element, []), numbers: Numbers::Whole(vec![value]) }
    }
}
