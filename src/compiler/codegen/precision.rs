//! Effect of the compilation's cast on the code: bytes that move, and passes through the array.

use crate::CompileOptions;
use ns_machine::arch::CoreSpec;
use ns_tensor::FloatFormat;

/// Sizes and passes that follow from the formats of a compilation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Precision {
    /// Bytes of an element that only products read, weights among them.
    pub operand_bytes: u64,
    /// Bytes of an element that other operations read.
    pub value_bytes: u64,
    /// Passes of a product through the array.
    pub passes: u32,
    /// Rows that one pass contracts: the rows of the array, or two per partition where the array has a mode for
    /// 8-bit products.
    pub contracted: u32,
}

impl Precision {
    pub fn of(options: &CompileOptions, core: &CoreSpec) -> Self {
        let (products, values) = (options.matmul_format(), options.value_format());
        let rows = if products == FloatFormat::Fp8E4m3 { core.fp8_rows_per_partition.max(1) } else { 1 };
        Self {
            operand_bytes: products.bytes(),
            value_bytes: values.bytes(),
            passes: products.matmul_passes(),
            contracted: core.partitions * rows,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AutoCast, CastType};
    use ns_machine::arch::{NEURONCORE_V2, core_spec};

    #[test]
    fn casts_decide_bytes_and_passes() {
        let of = |auto_cast, auto_cast_type| {
            let options = CompileOptions { auto_cast, auto_cast_type, ..CompileOptions::default() };
            let p = Precision::of(&options, &NEURONCORE_V2);
            (p.operand_bytes, p.value_bytes, p.passes)
        };
        assert_eq!(of(AutoCast::None, CastType::Bf16), (4, 4, 4));
        assert_eq!(of(AutoCast::Matmult, CastType::Bf16), (2, 4, 1));
        assert_eq!(of(AutoCast::Matmult, CastType::Tf32), (4, 4, 1));
        assert_eq!(of(AutoCast::All, CastType::Fp16), (2, 2, 1));
        assert_eq!(of(AutoCast::All, CastType::Fp8E4m3), (1, 1, 1));
    }

    #[test]
    fn only_a_double_row_mode_contracts_two_rows_a_partition() {
        let contracted = |auto_cast_type, version| {
            let options = CompileOptions { auto_cast_type, ..CompileOptions::default() };
            Precision::of(&options, &core_spec(version).unwrap()).contracted
        };
        assert_eq!([2, 3, 4].map(|v| contracted(CastType::Fp8E4m3, v)), [128, 256, 128]);
        assert_eq!([2, 3, 4].map(|v| contracted(CastType::Bf16, v)), [128; 3]);
    }
}
