//! Types of the kernel language, and the usual arithmetic conversions of C++.

use std::fmt;

use ns_base::names;

names! {
    /// An arithmetic type. `size_t` and `int64_t` have 64 bits, `int` has 32.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Scalar {
        Bool = "bool",
        /// `int8_t`, `char`
        I8 = "int8_t",
        U8 = "uint8_t",
        I16 = "int16_t",
        U16 = "uint16_t",
        I32 = "int",
        U32 = "uint32_t",
        I64 = "int64_t",
        U64 = "size_t",
        F32 = "float",
        F64 = "double",
    }

    /// The type in C++ source.
    pub const fn name(self) -> &'static str;
}

impl Scalar {
    /// Bytes of one value.
    pub const fn bytes(self) -> u64 {
        match self {
            Self::Bool | Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    /// Whether it is `float` or `double`.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64)
    }

    /// Whether it is an integer with a sign.
    pub const fn is_signed(self) -> bool {
        matches!(self, Self::I8 | Self::I16 | Self::I32 | Self::I64)
    }

    /// The smallest and largest integer; `None` for floats.
    pub const fn range(self) -> Option<(i128, i128)> {
        Some(match self {
            Self::Bool => (0, 1),
            Self::I8 => (i8::MIN as i128, i8::MAX as i128),
            Self::U8 => (0, u8::MAX as i128),
            Self::I16 => (i16::MIN as i128, i16::MAX as i128),
            Self::U16 => (0, u16::MAX as i128),
            Self::I32 => (i32::MIN as i128, i32::MAX as i128),
            Self::U32 => (0, u32::MAX as i128),
            Self::I64 => (i64::MIN as i128, i64::MAX as i128),
            Self::U64 => (0, u64::MAX as i128),
            Self::F32 | Self::F64 => return None,
        })
    }

    /// After integral promotion: types narrower than `int` become `int`.
    #[must_use]
    pub const fn promoted(self) -> Self {
        match self {
            Self::Bool | Self::I8 | Self::U8 | Self::I16 | Self::U16 => Self::I32,
            other => other,
        }
    }

    /// The common type of two operands (the usual arithmetic conversions).
    #[must_use]
    pub const fn common(self, other: Self) -> Self {
        let (a, b) = (self.promoted(), other.promoted());
        match (a, b) {
            (Self::F64, _) | (_, Self::F64) => Self::F64,
            (Self::F32, _) | (_, Self::F32) => Self::F32,
            (Self::U64, _) | (_, Self::U64) => Self::U64,
            (Self::I64, _) | (_, Self::I64) => Self::I64,
            (Self::U32, _) | (_, Self::U32) => Self::U32,
            _ => Self::I32,
        }
    }
}

/// A type of the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// No value.
    Void,
    /// A number or a bool.
    Scalar(Scalar),
    /// A pointer to numbers.
    Pointer {
        /// The type of its target.
        to: Scalar,
        /// Whether the target is const.
        constant: bool,
    },
    /// `void*`, as `tcm_malloc` returns it.
    VoidPointer,
    /// `nullptr`
    Null,
    /// An array on the stack.
    Array { of: Scalar, len: u64 },
    /// `torch::Tensor`
    Tensor {
        /// Whether its data may only be read.
        constant: bool,
    },
    /// `torch::IntArrayRef`, the sizes of a tensor.
    Sizes,
    /// `torch::ScalarType`, such as `torch::kFloat`.
    DType,
    /// `accessor<T, N>`
    Accessor {
        /// Element type.
        of: Scalar,
        /// Dimensions that are not indexed yet.
        dims: u8,
        /// Whether it may only be read.
        constant: bool,
    },
    /// `tcm_accessor()`
    TcmAccessor {
        /// Whether it may only be read.
        constant: bool,
    },
    /// `read_stream_accessor<T>()`
    ReadStream(Scalar),
    /// `write_stream_accessor<T>()`
    WriteStream(Scalar),
    /// Text, for `printf`.
    Text,
}

impl Type {
    /// The arithmetic type, if it is one.
    pub const fn scalar(self) -> Option<Scalar> {
        match self {
            Self::Scalar(s) => Some(s),
            _ => None,
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let qualified = |constant: bool| if constant { "const " } else { "" };
        match *self {
            Self::Void => f.write_str("void"),
            Self::Scalar(s) => f.write_str(s.name()),
            Self::Pointer { to, constant } => write!(f, "{}{}*", qualified(constant), to.name()),
            Self::VoidPointer => f.write_str("void*"),
            Self::Null => f.write_str("nullptr"),
            Self::Array { of, len } => write!(f, "{}[{len}]", of.name()),
            Self::Tensor { constant } => write!(f, "{}torch::Tensor", qualified(constant)),
            Self::Sizes => f.write_str("torch::IntArrayRef"),
            Self::DType => f.write_str("torch::ScalarType"),
            Self::Accessor { of, dims, constant } => {
                write!(f, "{}TensorAccessor<{}, {dims}>", qualified(constant), of.name())
            }
            Self::TcmAccessor { constant } => write!(f, "{}TensorTcmAccessor", qualified(constant)),
            Self::ReadStream(s) => write!(f, "TensorReadStreamAccessor<{}>", s.name()),
            Self::WriteStream(s) => write!(f, "TensorWriteStreamAccessor<{}>", s.name()),
            Self::Text => f.write_str("text"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_meet_as_in_cpp() {
        assert_eq!(Scalar::I8.common(Scalar::U16), Scalar::I32);
        assert_eq!(Scalar::I32.common(Scalar::U32), Scalar::U32);
        assert_eq!(Scalar::I64.common(Scalar::U32), Scalar::I64);
        assert_eq!(Scalar::I64.common(Scalar::U64), Scalar::U64);
        assert_eq!(Scalar::U64.common(Scalar::F32), Scalar::F32);
        assert_eq!(Scalar::F32.common(Scalar::F64), Scalar::F64);
    }
}
