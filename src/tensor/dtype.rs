//! Element types.

use std::fmt;

use serde::{Deserialize, Serialize};

use ns_base::names;

names! {
    /// Element type of a tensor, named as HLO text names it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum DType {
        /// IEEE single precision.
        F32 = "f32",
        /// bfloat16: 8 exponent bits, 7 mantissa bits.
        Bf16 = "bf16",
        /// IEEE half precision.
        F16 = "f16",
        /// 32-bit signed integer.
        S32 = "s32",
        /// Boolean, one byte.
        Pred = "pred",
    }

    /// The name in HLO text: `f32`, `bf16`, `f16`, `s32`, `pred`.
    pub const fn hlo_name(self) -> &'static str;
    /// The type with this HLO name.
    pub fn from_hlo_name(name: &str) -> Option<Self>;
}

impl DType {
    /// Bytes of one element.
    pub const fn bytes(self) -> u64 {
        match self {
            Self::F32 | Self::S32 => 4,
            Self::Bf16 | Self::F16 => 2,
            Self::Pred => 1,
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.hlo_name())
    }
}
