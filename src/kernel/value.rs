//! Values of a running kernel.

use super::types::Scalar;

/// An address: a block of memory and an offset in it. Block 0 is null.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pointer {
    pub block: u32,
    /// Bytes from its start; may be out of bounds as long as it is not used.
    pub offset: i64,
}

/// A value. The program knows its type; integers of every type are stored in 64 bits (`size_t` as its bits).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value {
    /// Not written yet.
    Uninit,
    /// The result of a function that returns nothing.
    Void,
    /// An integer or a bool.
    Int(i64),
    /// `float`
    F32(f32),
    /// `double`
    F64(f64),
    Pointer(Pointer),
    /// A tensor, by number; also represents its sizes and its TCM accessor.
    Tensor(u32),
    /// A standard accessor with the indices applied so far.
    Accessor {
        tensor: u32,
        /// Dimensions indexed already.
        level: u8,
        /// Elements from the tensor's start.
        offset: i64,
    },
    /// A streaming accessor, by number.
    Stream(u32),
    DType(Scalar),
}

impl Value {
    pub const NULL: Self = Self::Pointer(Pointer { block: 0, offset: 0 });

    pub const fn bool(value: bool) -> Self {
        Self::Int(value as i64)
    }

    /// Whether a number or a pointer counts as true.
    pub fn is_true(self) -> bool {
        match self {
            Self::Int(i) => i != 0,
            Self::F32(x) => x != 0.0,
            Self::F64(x) => x != 0.0,
            Self::Pointer(p) => p.block != 0,
            _ => false,
        }
    }

    /// An integer's 64 bits; 0 for any other value, which the checker rules out.
    pub const fn int(self) -> i64 {
        match self {
            Self::Int(i) => i,
            _ => 0,
        }
    }

    /// A pointer; null for any other value.
    pub const fn pointer(self) -> Pointer {
        match self {
            Self::Pointer(p) => p,
            _ => Pointer { block: 0, offset: 0 },
        }
    }

    /// The number of a tensor or stream.
    pub const fn handle(self) -> u32 {
        match self {
            Self::Tensor(t) | Self::Accessor { tensor: t, .. } | Self::Stream(t) => t,
            _ => 0,
        }
    }
}
