//! Element types of compared tensors.

use ns_base::convert::f64_to_f32;
use ns_tensor::{round_bf16, round_f16};

/// The type of a tensor's elements, which must agree before values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementType {
    /// Double precision.
    F64,
    /// Single precision.
    F32,
    /// Half precision.
    F16,
    /// bfloat16.
    Bf16,
    /// 64-bit integer.
    I64,
    /// 32-bit integer.
    I32,
    /// 16-bit integer.
    I16,
    /// 8-bit integer.
    I8,
    /// Unsigned 8-bit integer.
    U8,
    /// Boolean.
    Bool,
}

impl ElementType {
    /// The type by its short name (`f32`, `bf16`, `i64` ...) or torch's (`float32`, `torch.bfloat16`, `int64` ...).
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name.strip_prefix("torch.").unwrap_or(name) {
            "f64" | "float64" | "double" => Self::F64,
            "f32" | "float32" | "float" => Self::F32,
            "f16" | "float16" | "half" => Self::F16,
            "bf16" | "bfloat16" => Self::Bf16,
            "i64" | "s64" | "int64" | "long" => Self::I64,
            "i32" | "s32" | "int32" | "int" => Self::I32,
            "i16" | "s16" | "int16" | "short" => Self::I16,
            "i8" | "s8" | "int8" => Self::I8,
            "u8" | "uint8" => Self::U8,
            "bool" | "pred" => Self::Bool,
            _ => return None,
        })
    }

    /// Whether it is one of the two 16-bit floating point types.
    pub fn is_half(self) -> bool {
        matches!(self, Self::F16 | Self::Bf16)
    }

    /// Whether it has a fraction.
    pub fn is_float(self) -> bool {
        matches!(self, Self::F64 | Self::F32 | Self::F16 | Self::Bf16)
    }

    /// The nearest number that the type can hold. Integers are rounded toward zero.
    pub fn round(self, x: f64) -> f64 {
        match self {
            Self::F64 => x,
            Self::F32 => f64::from(f64_to_f32(x)),
            Self::F16 => f64::from(round_f16(f64_to_f32(x))),
            Self::Bf16 => f64::from(round_bf16(f64_to_f32(x))),
            Self::I64 | Self::I32 | Self::I16 | Self::I8 | Self::U8 => libm::trunc(x),
            Self::Bool => f64::from(u8::from(x != 0.0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_both_kinds_are_known_and_values_are_rounded() {
        assert_eq!(ElementType::from_name("bf16"), ElementType::from_name("torch.bfloat16"));
        assert_eq!(ElementType::from_name("complex64"), None);
        assert_eq!(ElementType::Bf16.round(1.001), 1.0);
        assert_eq!(ElementType::F32.round(0.1), f64::from(0.1f32));
        assert_eq!(ElementType::I8.round(-2.7), -2.0);
        assert!(ElementType::F16.is_half() && !ElementType::F32.is_half());
    }
}
