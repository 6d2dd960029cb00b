//! The benchmark that the page shows to someone who asked for none.

use ns_bench::BenchConfig;

/// BERT on two instances over batch sizes: AWS published rows of it, and the cheapest instance is not the fastest.
#[must_use]
pub fn example() -> BenchConfig {
    BenchConfig {
        model: "bert-base-uncased".to_owned(),
        instance_type: "inf2.xlarge,trn1.2xlarge".to_owned(),
        batch_sizes: vec![1, 2, 4, 8, 16, 32],
        n_models: Some(vec![2]),
        duration_s: 10.0,
        ..BenchConfig::default()
    }
}
