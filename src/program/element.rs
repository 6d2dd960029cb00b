//! Element types of programs: all that XLA has.

use std::fmt;

use serde::{Deserialize, Serialize};

use ns_base::names;

names! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    pub enum ElementType {
        /// True or false, one byte.
        Pred = "pred",
        /// Signed whole numbers of 4, 8, 16, 32, 64 bits.
        S4 = "s4",
        /// 8 bits.
        S8 = "s8",
        /// 16 bits.
        S16 = "s16",
        /// 32 bits.
        S32 = "s32",
        /// 64 bits.
        S64 = "s64",
        /// Whole numbers without a sign, of 4, 8, 16, 32, 64 bits.
        U4 = "u4",
        /// 8 bits.
        U8 = "u8",
        /// 16 bits.
        U16 = "u16",
        /// 32 bits.
        U32 = "u32",
        /// 64 bits.
        U64 = "u64",
        /// 8 bits with 4 bits of exponent, no infinities.
        F8E4M3Fn = "f8e4m3fn",
        /// 8 bits with 4 bits of exponent, with infinities.
        F8E4M3 = "f8e4m3",
        /// 8 bits with 5 bits of exponent.
        F8E5M2 = "f8e5m2",
        /// 8 bits with 4 bits of exponent, no infinities and no minus zero, whose pattern is NaN.
        F8E4M3Fnuz = "f8e4m3fnuz",
        /// 8 bits with 5 bits of exponent, no infinities and no minus zero, whose pattern is NaN.
        F8E5M2Fnuz = "f8e5m2fnuz",
        /// IEEE half precision.
        F16 = "f16",
        /// bfloat16.
        Bf16 = "bf16",
        /// IEEE single precision.
        F32 = "f32",
        /// IEEE double precision.
        F64 = "f64",
        /// Two single-precision numbers.
        C64 = "c64",
        /// Two double-precision numbers.
        C128 = "c128",
    }

    /// All types, in the order of their declaration.
    pub const ALL: [Self; _];
    /// The name in HLO text: `f32`, `pred`.
    pub const fn name(self) -> &'static str;
    /// The type with this name in HLO text.
    pub fn from_name(name: &str) -> Option<Self>;
}

impl ElementType {
    /// Bits of an element in memory.
    pub const fn bits(self) -> u64 {
        match self {
            Self::S4 | Self::U4 => 4,
            Self::Pred | Self::S8 | Self::U8 => 8,
            Self::F8E4M3Fn | Self::F8E4M3 | Self::F8E5M2 | Self::F8E4M3Fnuz | Self::F8E5M2Fnuz => 8,
            Self::S16 | Self::U16 | Self::F16 | Self::Bf16 => 16,
            Self::S32 | Self::U32 | Self::F32 => 32,
            Self::S64 | Self::U64 | Self::F64 | Self::C64 => 64,
            Self::C128 => 128,
        }
    }

    /// The largest number of a floating point type of 8 bits; `None` for other types.
    pub const fn largest_float8(self) -> Option<f64> {
        match self {
            Self::F8E4M3Fn => Some(448.0),
            Self::F8E4M3 | Self::F8E4M3Fnuz => Some(240.0),
            Self::F8E5M2 | Self::F8E5M2Fnuz => Some(57_344.0),
            _ => None,
        }
    }

    pub const fn has_infinities(self) -> bool {
        self.is_float() && !matches!(self, Self::F8E4M3Fn | Self::F8E4M3Fnuz | Self::F8E5M2Fnuz)
    }

    /// Whether it is a floating point number.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::Bf16 | Self::F32 | Self::F64) || self.largest_float8().is_some()
    }

    /// Whether it is a complex number.
    pub const fn is_complex(self) -> bool {
        matches!(self, Self::C64 | Self::C128)
    }

    /// Whether it is an integer type; [`Self::Pred`] is not.
    pub const fn is_integer(self) -> bool {
        self.is_signed_integer() || matches!(self, Self::U4 | Self::U8 | Self::U16 | Self::U32 | Self::U64)
    }

    pub const fn is_signed_integer(self) -> bool {
        matches!(self, Self::S4 | Self::S8 | Self::S16 | Self::S32 | Self::S64)
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
