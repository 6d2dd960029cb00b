//! The microbenchmark as its form has it: the guide's numbers, and pitfalls that change them.

use serde::{Deserialize, Serialize};

use crate::bench::matmult::{MatmultConfig, MatmultRun, cast_of_dtype, instance_of};
use crate::bench::parse_list;
use crate::compiler::{CompileOptions, Workflow};

/// The microbenchmark as its form has it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MatmultStudy {
    /// What to measure, before the pitfalls below change it.
    pub config: MatmultConfig,
    /// Pitfall: one product in a call.
    pub no_loop: bool,
    /// Pitfall: the first call is timed.
    pub no_warmup: bool,
}

impl MatmultStudy {
    /// What is measured.
    #[must_use]
    pub fn measured(&self) -> MatmultConfig {
        let mut config = self.config.clone();
        if self.no_loop {
            config.loop_counts = vec![1];
        }
        if self.no_warmup {
            config.run.warmup_iterations = 0;
        }
        config
    }

    /// The text of a field; empty when there is no such field.
    pub(in crate::session::studies) fn text(&self, key: &str) -> String {
        let (c, run) = (&self.config, &self.config.run);
        let options = c.options.first().copied().unwrap_or_default();
        match key {
            "matrix_dim" => joined(&c.matrix_dims),
            "batch_size" => joined(&c.batch_sizes),
            "loop_count" => joined(&c.loop_counts),
            "dtype" => c.options.iter().map(|o| dtype(*o)).collect::<Vec<_>>().join(","),
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
            "lazy" => (run.workflow == Workflow::MarkStep).to_string(),
            _ => String::new(),
        }
    }

    /// Puts a text into a field, if the microbenchmark is possible with it.
    ///
    /// # Errors
    /// With what is wrong and what would be right.
    pub(in crate::session::studies) fn set(&mut self, key: &str, text: &str) -> Result<(), String> {
        let mut next = self.clone();
        next.put(key, text)?;
        // The message names the flag of the command; the field has the same name.
        next.config.cases().map_err(|e| e.to_string().trim_start_matches('-').to_owned())?;
        *self = next;
        Ok(())
    }

    fn put(&mut self, key: &str, text: &str) -> Result<(), String> {
        let list = || parse_list(key, text).map_err(|e| e.to_string());
        let run = &mut self.config.run;
        match key {
            "matrix_dim" => self.config.matrix_dims = list()?,
            "batch_size" => self.config.batch_sizes = list()?,
            "loop_count" => self.config.loop_counts = list()?,
            "dtype" => self.set_dtypes(text)?,
            "instance" => {
                let instances = text.split(',').map(instance_of).collect::<Result<Vec<_>, _>>();
                self.config.instances = instances.map_err(|e| e.to_string().trim_start_matches('-').to_owned())?;
            }
            "optlevel" => {
                let level = text.parse().map_err(|e| format!("optlevel: {e}"))?;
                self.config.options.iter_mut().for_each(|o| o.opt_level = level);
            }
            "num_warmup_iterations" => run.warmup_iterations = number(key, text)?,
            "num_timed_iterations" => run.timed_iterations = number(key, text)?,
            "num_verification_iterations" => run.verification_iterations = number(key, text)?,
            "sync" => run.sync = flag(key, text)?,
            "skip_compilation" => run.skip_compilation = flag(key, text)?,
            "seed" => run.seed = number(key, text)?,
            "jitter" => run.jitter = number(key, text)?,
            "no_loop" => self.no_loop = flag(key, text)?,
            "unchained" => run.chained = !flag(key, text)?,
            "no_warmup" => self.no_warmup = flag(key, text)?,
            "no_bias" => run.add_bias = !flag(key, text)?,
            "lazy" => run.workflow = if flag(key, text)? { Workflow::MarkStep } else { Workflow::Trace },
            _ => return Err(format!("the microbenchmark has no field '{key}'")),
        }
        Ok(())
    }

    fn set_dtypes(&mut self, text: &str) -> Result<(), String> {
        let opt_level = self.config.options.first().copied().unwrap_or_default().opt_level;
        let base = CompileOptions { opt_level, ..CompileOptions::default() };
        let options = text.split(',').map(|name| cast_of_dtype(name, base)).collect::<Result<Vec<_>, _>>();
        self.config.options = options.map_err(|e| e.to_string().trim_start_matches('-').to_owned())?;
        Ok(())
    }
}

fn joined(list: &[u32]) -> String {
    list.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}

/// The format of the products, as a case names it.
fn dtype(options: CompileOptions) -> &'static str {
    crate::bench::matmult::MatmultCase {
        batch_size: 1,
        matrix_dim: 1,
        loop_count: 1,
        options,
        instance: String::new(),
        run: MatmultRun::default(),
    }
    .dtype()
}

fn number<T: std::str::FromStr>(key: &str, text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{key}: '{text}' is not a number that is possible here"))
}

fn flag(key: &str, text: &str) -> Result<bool, String> {
    text.parse().map_err(|_| format!("{key}: '{text}' is not possible; use true or false"))
}
