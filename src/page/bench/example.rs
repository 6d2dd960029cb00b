//! The benchmark that the page shows to someone who asked for none.

use ns_bench::BenchConfig;
use ns_session::{EXAMPLE_INSTANCE, EXAMPLE_MODEL};

/// BERT on two instances over batch sizes: AWS published rows of it, and the cheapest instance is not the fastest.
pub fn example() -> BenchConfig {
    BenchConfig {
        model: EXAMPLE_MODEL.to_owned(),
        instance_type: format!("{EXAMPLE_INSTANCE},trn1.2xlarge"),
        batch_sizes: vec![1, 2, 4, 8, 16, 32],
        n_models: Some(vec![2]),
        duration_s: 10.0,
        ..BenchConfig::default()
    }
}
