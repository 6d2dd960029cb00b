//! Inputs of a kernel.

use serde::{Deserialize, Serialize};

use ns_base::Rng;
use ns_base::convert::{f64_to_f32, u64_to_f64};

/// The contents of an input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fill {
    /// Element `i` of `n` is `(i - n/2) / 8`.
    Ramp,
    /// Standard normal numbers, drawn from the seed.
    #[default]
    Normal,
}

/// `elements` values. Each input of a kernel has its own random stream.
pub fn filled(fill: Fill, elements: u64, seed: u64, stream: u64) -> Vec<f32> {
    match fill {
        Fill::Ramp => {
            let half = u64_to_f64(elements) / 2.0;
            (0..elements).map(|i| f64_to_f32((u64_to_f64(i) - half) / 8.0)).collect()
        }
        Fill::Normal => {
            let mut rng = Rng::new(seed, stream);
            (0..elements).map(|_| f64_to_f32(rng.normal_f64())).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ramp_crosses_zero_in_its_middle() {
        let ramp = filled(Fill::Ramp, 16, 0, 0);
        assert_eq!((ramp[0], ramp[8], ramp[15]), (-1.0, 0.0, 0.875));
    }

    #[test]
    fn normal_values_are_of_the_seed() {
        assert_eq!(filled(Fill::Normal, 8, 3, 0), filled(Fill::Normal, 8, 3, 0));
        assert_ne!(filled(Fill::Normal, 8, 3, 0), filled(Fill::Normal, 8, 3, 1));
        assert_ne!(filled(Fill::Normal, 8, 3, 0), filled(Fill::Normal, 8, 4, 0));
    }
}
