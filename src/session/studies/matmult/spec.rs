//! The specification of the microbenchmark, as in its form: the guide's numbers, and pitfalls that change them.

use serde::{Deserialize, Serialize};

use ns_bench::comma_list;
use ns_bench::matmult::{MatmultConfig, cast_of_dtype, dtype_of, instance_of, words_of};
use ns_bench::parse_list;
use ns_compiler::{CompileOptions, Workflow};
use ns_model::zoo::operator::parse_shapes;

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
    fn checked(&self) -> MatmultConfig {
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

    /// The text of a field; empty for an unknown field.
    pub(in crate::studies) fn text(&self, key: &str) -> String {
        let (c, run) = (&self.config, &self.config.run);
        let options = c.options.first().copied().unwrap_or_default();
        match key {
            "model" => c.model.clone().unwrap_or_default(),
            "op" => c.operators.join(" "),
            "shape" => c.shapes.join(" "),
            "matrix_dim" => comma_list(&c.matrix_dims),
            "batch_size" => comma_list(&c.batch_sizes),
            "loop_count" => comma_list(&c.loop_counts),
            "dtype" => c.options.iter().map(dtype_of).collect::<Vec<_>>().join(","),
            "instance" => c.instances.join(","),
            "optlevel" => options.opt_level.to_string(),
            "num_warmup_iterations" => run.warmup_iterations.to_string(),
            "num_timed_iterations" => run.timed_iterations.to_string(),
            "num_verification_iterations" => run.verification_iterations.to_string(),
            "sync" => run.sync.to_string(),
            "skip_compilation" => run.skip_compilation.to_string(),
            "seed" => run.seed.to_string(),
            "jitter" => run.jitter.to_string(),
            "no_loop" => self.no_loop.to_string(),
            "unchained" => (!run.chained).to_string(),
            "no_warmup" => self.no_warmup.to_string(),
            "no_bias" => (!run.add_bias).to_string(),
            "coarse_clock" => self.coarse_clock.to_string(),
            "small" => self.small.to_string(),
            "lazy" => (run.workflow == Workflow::MarkStep).to_string(),
            "cpu" => self.cpu.to_string(),
            _ => String::new(),
        }
    }

    /// Puts a text into a field, if the microbenchmark is possible with it.
    ///
    /// # Errors
    /// Says what is wrong and what would be right.
    pub(in crate::studies) fn set(&mut self, key: &str, text: &str) -> Result<(), String> {
        let mut next = self.clone();
        next.put(key, text)?;
        next.checked().cases().map_err(|e| without_dashes(&e))?;
        *self = next;
        Ok(())
    }

    fn put(&mut self, key: &str, text: &str) -> Result<(), String> {
        let list = || parse_list(key, text).map_err(|e| e.to_string());
        let config = &mut self.config;
        match key {
            "model" => config.model = (!text.is_empty()).then(|| text.to_owned()),
            "op" => config.operators = words_of(text),
            "shape" => {
                config.shapes = words_of(text);
                config.shapes.iter().try_for_each(|s| parse_shapes(s).map(drop).map_err(|e| format!("shape: {e}")))?;
            }
            "matrix_dim" => config.matrix_dims = list()?,
            "batch_size" => config.batch_sizes = list()?,
            "loop_count" => config.loop_counts = list()?,
            "dtype" => self.set_dtypes(text)?,
            "instance" => {
                let instances = text.split(',').map(instance_of).collect::<Result<Vec<_>, _>>();
                config.instances = instances.map_err(|e| without_dashes(&e))?;
            }
            "optlevel" => {
                let level = text.parse().map_err(|e| format!("optlevel: {e}"))?;
                config.options.iter_mut().for_each(|o| o.opt_level = level);
            }
            "num_warmup_iterations" => config.run.warmup_iterations = number(key, text)?,
            "num_timed_iterations" => config.run.timed_iterations = number(key, text)?,
            "num_verification_iterations" => config.run.verification_iterations = number(key, text)?,
            "seed" => config.run.seed = number(key, text)?,
            "jitter" => config.run.jitter = number(key, text)?,
            _ => self.put_flag(key, text)?,
        }
        Ok(())
    }

    fn put_flag(&mut self, key: &str, text: &str) -> Result<(), String> {
        let flag = || text.parse().map_err(|_| format!("{key}: '{text}' is not possible; use true or false"));
        let run = &mut self.config.run;
        match key {
            "sync" => run.sync = flag()?,
            "skip_compilation" => run.skip_compilation = flag()?,
            "no_loop" => self.no_loop = flag()?,
            "unchained" => run.chained = !flag()?,
            "no_warmup" => self.no_warmup = flag()?,
            "no_bias" => run.add_bias = !flag()?,
            "coarse_clock" => self.coarse_clock = flag()?,
            "small" => self.small = flag()?,
            "lazy" => run.workflow = if flag()? { Workflow::MarkStep } else { Workflow::Trace },
            "cpu" => self.cpu = flag()?,
            _ => return Err(format!("the microbenchmark has no field '{key}'")),
        }
        Ok(())
    }

    fn set_dtypes(&mut self, text: &str) -> Result<(), String> {
        let opt_level = self.config.options.first().copied().unwrap_or_default().opt_level;
        let base = CompileOptions { opt_level, ..CompileOptions::default() };
        let options = text.split(',').map(|name| cast_of_dtype(name, base)).collect::<Result<Vec<_>, _>>();
        self.config.options = options.map_err(|e| without_dashes(&e))?;
        Ok(())
    }
}

/// Turns a message about a flag of the command into one about the field with the same name.
fn without_dashes(error: &dyn std::fmt::Display) -> String {
    error.to_string().trim_start_matches('-').to_owned()
}

fn number<T: std::str::FromStr>(key: &str, text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{key}: '{text}' is not a number in the allowed range"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pitfalls_change_the_measurement_and_not_the_fields() {
        let mut study = MatmultStudy::default();
        for key in ["no_loop", "unchained", "no_warmup", "no_bias", "coarse_clock", "small", "lazy"] {
            assert_eq!(study.set(key, "true"), Ok(()));
        }
        let c = study.measured();
        assert_eq!((c.loop_counts, c.matrix_dims, c.run.warmup_iterations), (vec![1], vec![64], 0));
        assert_eq!((c.run.chained, c.run.add_bias, c.run.clock_tick_ns), (false, false, 15_625_000));
        assert_eq!(c.run.workflow, Workflow::MarkStep);
        assert_eq!((study.text("loop_count"), study.text("matrix_dim")), ("1000".to_owned(), "1024".to_owned()));
    }

    #[test]
    fn wrong_texts_are_explained_and_change_nothing() {
        let mut study = MatmultStudy::default();
        let mut problem = |key: &str, text: &str| study.set(key, text).unwrap_err();
        assert!(problem("matrix_dim", "16385").starts_with("matrix_dim: 16385 is not possible; use"));
        assert!(problem("dtype", "bf16,int4").starts_with("dtype: 'int4' is not a format"));
        assert!(problem("instance", "trn9").starts_with("instance: 'trn9' is not"));
        assert!(problem("num_timed_iterations", "0").contains("num_timed_iterations: 0 is not possible"));
        assert!(problem("jitter", "much").contains("'much' is not a number"));
        assert!(problem("no_bias", "1").contains("use true or false"));
        assert_eq!(study, MatmultStudy::default());
    }
}
