//! What the cast of a compilation means for code: bytes that move, and passes through the array.

use crate::compiler::CompileOptions;

/// Sizes and passes that follow from the formats of a compilation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Precision {
    /// Bytes of an element that only products read, weights among them.
    pub operand_bytes: u64,
    /// Bytes of an element that other operations read.
    pub value_bytes: u64,
    /// Passes of a product through the array.
    pub passes: u32,
}

impl Precision {
    pub fn of(options: &CompileOptions) -> Self {
        let (products, values) = (options.matmul_format(), options.value_format());
        Self { operand_bytes: products.bytes(), value_bytes: values.bytes(), passes: products.matmul_passes() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::{AutoCast, CastType};

    #[test]
    fn casts_decide_bytes_and_passes() {
        let of = |auto_cast, auto_cast_type| {
            let p = Precision::of(&CompileOptions { auto_cast, auto_cast_type, ..CompileOptions::default() });
            (p.operand_bytes, p.value_bytes, p.passes)
        };
        assert_eq!(of(AutoCast::None, CastType::Bf16), (4, 4, 4));
        assert_eq!(of(AutoCast::Matmult, CastType::Bf16), (2, 4, 1));
        assert_eq!(of(AutoCast::Matmult, CastType::Tf32), (4, 4, 1));
        assert_eq!(of(AutoCast::All, CastType::Fp16), (2, 2, 1));
        assert_eq!(of(AutoCast::All, CastType::Fp8E4m3), (1, 1, 1));
    }
}
