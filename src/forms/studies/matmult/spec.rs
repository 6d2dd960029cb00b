//! The specification of the microbenchmark, as in its form: the guide's numbers, and pitfalls that change them.

use serde::{Deserialize, Serialize};

use ns_bench::matmult::MatmultConfig;
use ns_compiler::CompileOptions;

/// A timer that ticks 64 times a second, as many do: nanoseconds from tick to tick.
const COARSE_TICK_NS: u64 = 15_625_000;
/// Size of the pitfall of small matrices.
const SMALL_DIM: u32 = 64;

/// The specification of the microbenchmark, as in its form.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MatmultStudy {
    /// The configuration, before the pitfalls below change it.
    pub config: MatmultConfig,
    /// Pitfall: one product in a call.
    pub no_loop: bool,
    /// Pitfall: the first call is timed.
    pub no_warmup: bool,
    /// Pitfall: a clock with long ticks.
    pub coarse_clock: bool,
    /// Pitfall: matrices that do not fill the array.
    pub small: bool,
    /// Also measure the same products on this processor.
    pub cpu: bool,
}

impl MatmultStudy {
    /// The microbenchmark of the fields. Shapes have no effect without an operator.
    pub fn checked(&self) -> MatmultConfig {
        let mut config = self.config.clone();
        if config.operators.is_empty() {
            config.shapes.clear();
        }
        config
    }

    /// The configuration that is measured.
    pub fn measured(&self) -> MatmultConfig {
        let mut config = self.checked();
        if self.no_loop {
            config.loop_counts = vec![1];
        }
        if self.no_warmup {
            config.run.warmup_iterations = 0;
        }
        if self.coarse_clock {
            config.run.clock_tick_ns = COARSE_TICK_NS;
        }
        if self.small {
            config.matrix_dims = vec![SMALL_DIM];
        }
        config
    }

    /// The options of the compiler but for the formats.
    pub fn compile(&self) -> CompileOptions {
        self.config.options.first().copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options as _;
    use ns_compiler::Workflow;

    #[test]
    fn pitfalls_change_the_measurement_and_not_the_fields() {
        let mut study = MatmultStudy::default();
        for key in ["no_loop", "unchained", "no_warmup", "no_bias", "coarse_clock", "small", "lazy"] {
            assert_eq!(study.set_text(key, "true"), Ok(()));
        }
        let c = study.measured();
        assert_eq!((c.loop_counts, c.matrix_dims, c.run.warmup_iterations), (vec![1], vec![64], 0));
        assert_eq!((c.run.chained, c.run.add_bias, c.run.clock_tick_ns), (false, false, 15_625_000));
        assert_eq!(c.run.workflow, Workflow::MarkStep);
        assert_eq!((study.text_of("loop_count"), study.text_of("matrix_dim")), ("1000".to_owned(), "1024".to_owned()));
    }

    #[test]
    fn wrong_texts_are_explained_and_change_nothing() {
        let mut study = MatmultStudy::default();
        let mut problem = |key: &str, text: &str| study.set_text(key, text).unwrap_err();
        assert!(problem("matrix_dim", "16385").starts_with("matrix_dim: 16385 is not possible; use"));
        assert!(problem("dtype", "bf16,int4").starts_with("dtype: 'int4' is not a format"));
        assert!(problem("instance", "trn9").starts_with("instance: 'trn9' is not"));
        assert!(problem("num_timed_iterations", "0").contains("num_timed_iterations: 0 is not possible"));
        assert!(problem("jitter", "much").contains("'much' is not a number"));
        assert!(problem("no_bias", "1").contains("use true or false"));
        assert_eq!(study, MatmultStudy::default());
    }
}
