//! Element types.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Element type of a tensor, named as HLO text names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DType {
    /// IEEE single precision.
    F32,
    /// bfloat16: 8 exponent bits, 7 mantissa bits.
    Bf16,
    /// IEEE half precision.
    F16,
    /// 32-bit signed integer.
    S32,
    /// Boolean, one byte.
    Pred,
}

impl DType {
    /// Bytes of one element.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        match self {
            Self::F32 | Self::S32 => 4,
            Self::Bf16 | Self::F16 => 2,
            Self::Pred => 1,
        }
    }

    /// The name in HLO text: `f32`, `bf16`, `f16`, `s32`, `pred`.
    #[must_use]
    pub const fn hlo_name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::Bf16 => "bf16",
            Self::F16 => "f16",
            Self::S32 => "s32",
            Self::Pred => "pred",
        }
    }

    /// The type with this HLO name.
    #[must_use]
    pub fn from_hlo_name(name: &str) -> Option<Self> {
        [Self::F32, Self::Bf16, Self::F16, Self::S32, Self::Pred].into_iter().find(|d| d.hlo_name() == name)
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.hlo_name())
    }
}
