//! Numbers of an array: constants, weights, inputs and results of an evaluation.

use serde::{Deserialize, Serialize};

use super::{ArrayType, ElementType};

/// Numbers in row-major order.
///
/// Every floating point type is stored in double precision and rounded to its own precision after each operation: products, sums, quotients
/// and roots of single precision then have the same bits as if computed in single precision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Numbers {
    /// Floating point numbers.
    Real(Vec<f64>),
    /// Integers and booleans (0 and 1), as two's complement; unsigned 64-bit numbers are stored as their bits.
    Whole(Vec<i64>),
    /// Complex numbers: real and imaginary parts.
    Complex(Vec<[f64; 2]>),
}

impl Numbers {
    /// Number of elements.
    pub fn len(&self) -> usize {
        match self {
            Self::Real(v) => v.len(),
            Self::Whole(v) => v.len(),
            Self::Complex(v) => v.len(),
        }
    }

    /// Whether the array has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// An array with its numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Value {
    /// Element type and sizes.
    pub ty: ArrayType,
    /// Its numbers: as many as the type has elements, of the kind of its element type.
    pub numbers: Numbers,
}

impl Value {
    /// One floating point number.
    pub fn real(element: ElementType, value: f64) -> Self {
        Self { ty: ArrayType::new(element, []), numbers: Numbers::Real(vec![value]) }
    }

    /// One integer or boolean.
    pub fn whole(element: ElementType, value: i64) -> Self {
        Self { ty: ArrayType::new(element, []), numbers: Numbers::Whole(vec![value]) }
    }
}
