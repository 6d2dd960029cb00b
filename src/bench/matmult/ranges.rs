//! The range of values along a chain without a bias, from the numerics of the device.

use serde::{Deserialize, Serialize};

use ns_neuron::numerics::{NumericsSpec, product_ranges};

use super::config::MatmultCase;

/// Size and length of the chain whose values are computed. The factor of a product hardly depends on the size,
/// because the layer's weights are drawn within 1 / sqrt(n).
const RANGE_DIM: u32 = 64;
const RANGE_LOOPS: u32 = 400;

/// The range of values along the products, computed at a small size to save time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RangeSummary {
    /// Size of the matrices in the computation.
    pub matrix_dim: u32,
    /// Number of products in the computation.
    pub loop_count: u32,
    /// The factor by which a product multiplies the largest magnitude.
    pub factor: Option<f64>,
    /// The first product, from 1, whose values are all below the smallest normal number.
    pub first_subnormal: Option<u64>,
    /// The first product whose values are all zero.
    pub first_zero: Option<u64>,
    /// The first product with an infinity.
    pub first_inf: Option<u64>,
    /// The first product with a NaN.
    pub first_nan: Option<u64>,
}

/// The range of a case's values, when they are a chain without a bias. `None` also when its device computes no values.
pub(super) fn ranges(case: &MatmultCase) -> Option<RangeSummary> {
    if case.model.is_some() || case.run.add_bias || !case.run.chained {
        return None;
    }
    let (n, loops) = (case.matrix_dim.min(RANGE_DIM), case.loop_count.min(RANGE_LOOPS));
    let spec = NumericsSpec {
        model: format!("matmult:n={n},loop_count={loops},add_bias=false"),
        batch_size: Some(1),
        instance: case.instance.clone(),
        options: case.options,
        seed: case.run.seed,
        ..NumericsSpec::default()
    };
    let r = product_ranges(&spec).ok()?;
    Some(RangeSummary {
        matrix_dim: n,
        loop_count: loops,
        factor: r.factor(),
        first_subnormal: r.first_subnormal,
        first_zero: r.first_zero,
        first_inf: r.first_inf,
        first_nan: r.first_nan,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matmult::MatmultConfig;

    #[test]
    fn only_a_chain_without_a_bias_is_computed() {
        let mut case = MatmultConfig { matrix_dims: vec![16], ..MatmultConfig::default() }.cases().unwrap().remove(0);
        assert_eq!(ranges(&case), None);
        case.run.add_bias = false;
        let r = ranges(&case).unwrap();
        assert_eq!((r.matrix_dim, r.loop_count, r.first_nan), (16, RANGE_LOOPS, None));
        assert!(r.first_zero > r.first_subnormal && r.first_subnormal > Some(50), "{r:?}");
        case.run.chained = false;
        assert_eq!(ranges(&case), None);
    }
}
