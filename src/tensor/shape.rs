//! Shapes: an element type and dimensions.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::DType;

/// Element type and dimensions, outermost first. A scalar has no dimensions.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Shape {
    /// Element type.
    pub dtype: DType,
    /// Sizes, outermost first.
    pub dims: Vec<u64>,
}

impl Shape {
    /// A shape.
    #[must_use]
    pub fn new(dtype: DType, dims: impl Into<Vec<u64>>) -> Self {
        Self { dtype, dims: dims.into() }
    }

    /// A shape of `f32` elements.
    #[must_use]
    pub fn f32(dims: impl Into<Vec<u64>>) -> Self {
        Self::new(DType::F32, dims)
    }

    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        self.dims.len()
    }

    /// Number of elements, `None` when it does not fit 64 bits.
    pub fn checked_elements(&self) -> Option<u64> {
        self.dims.iter().try_fold(1u64, |n, d| n.checked_mul(*d))
    }

    /// Number of elements, saturating.
    pub fn elements(&self) -> u64 {
        self.checked_elements().unwrap_or(u64::MAX)
    }

    /// Size in bytes, saturating.
    pub fn bytes(&self) -> u64 {
        self.elements().saturating_mul(self.dtype.bytes())
    }
}

impl fmt::Display for Shape {
    /// As HLO text: `f32[4,2]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[", self.dtype)?;
        for (i, d) in self.dims.iter().enumerate() {
            if i > 0 {
                f.write_str(",")?;
            }
            write!(f, "{d}")?;
        }
        f.write_str("]")
    }
}
