//! What to measure: lists of sizes, formats and devices, and the cases they make.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::base::nearest_text;
use crate::bench::config::MAX_JITTER;
use crate::compiler::{AutoCast, CastType, CompileOptions, UnknownOption, Workflow};
use crate::machine::arch::INSTANCES;

/// Most iterations of one phase.
pub const MAX_ITERATIONS: u32 = 1_000_000;
/// Most repetitions of the timed phase for the check of repeatability.
pub const MAX_VERIFICATIONS: u32 = 100;
/// Most cases of a sweep.
pub const MAX_CASES: usize = 1_000;

/// The microbenchmark as a person asks for it. The default is the guide's example but for the iterations, which are those
/// of `matmult_linear.py`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MatmultConfig {
    /// First dimension of the input, each.
    pub batch_sizes: Vec<u32>,
    /// Rows and columns of the matrices, each.
    pub matrix_dims: Vec<u32>,
    /// Products in one call, each.
    pub loop_counts: Vec<u32>,
    /// How the layer is compiled, each: the format of the products is among it.
    pub options: Vec<CompileOptions>,
    /// EC2 sizes, each.
    pub instances: Vec<String>,
    /// Another model of the zoo in place of the layer; sizes and loop counts then mean nothing. One that does not exist is
    /// a case that failed: who fills in a form need not know the zoo.
    pub model: Option<String>,
    /// What all cases have.
    pub run: MatmultRun,
}

/// What all cases of a sweep have in common.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MatmultRun {
    /// Calls before the clock starts.
    pub warmup_iterations: u32,
    /// Calls that are timed.
    pub timed_iterations: u32,
    /// Repetitions of the timed calls, with other seeds.
    pub verification_iterations: u32,
    /// Add a bias after each product.
    pub add_bias: bool,
    /// Feed each product to the next.
    pub chained: bool,
    /// How the model reaches the core.
    pub workflow: Workflow,
    /// Wait for each result before the next call. The script does not: it reads no result while the clock runs.
    pub sync: bool,
    /// Take the model as compiled before: its compile time is not counted.
    pub skip_compilation: bool,
    /// Seed of the jitter, and of weights and inputs where values are computed.
    pub seed: u64,
    /// How much a stage of a call varies at most, a fraction.
    pub jitter: f64,
    /// Nanoseconds from one tick of the clock that times the calls to the next; 0 for a clock without ticks.
    pub clock_tick_ns: u64,
}

/// One case: a row of the sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MatmultCase {
    /// First dimension of the input.
    pub batch_size: u32,
    /// Rows and columns of the matrices; 0 where another model is measured.
    pub matrix_dim: u32,
    /// Products in one call; 0 where another model is measured.
    pub loop_count: u32,
    /// How the layer is compiled.
    pub options: CompileOptions,
    /// EC2 size.
    pub instance: String,
    /// Another model of the zoo in place of the layer.
    pub model: Option<String>,
    /// The rest.
    pub run: MatmultRun,
}

/// A microbenchmark that can not be run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MatmultError {
    /// A number out of its range.
    #[error("--{flag}: {value} is not possible; use {allowed}")]
    Range {
        /// The flag.
        flag: &'static str,
        /// What was given.
        value: String,
        /// The range.
        allowed: String,
    },
    /// A format that does not exist.
    #[error("--dtype: '{text}' is not a format of the array; use fp32, bf16, fp16, tf32 or fp8_e4m3")]
    Dtype {
        /// What was given.
        text: String,
    },
    /// A device that does not exist.
    #[error("--instance: '{text}' is not an instance type or family; the nearest are {nearest}")]
    Instance {
        /// What was given.
        text: String,
        /// Names like it.
        nearest: String,
    },
    /// A compiler flag with a wrong value.
    #[error("--neuron_cc_flags: {flag}: {problem}")]
    CcFlag {
        /// The flag.
        flag: String,
        /// What is wrong with it.
        problem: String,
    },
    /// Too large a sweep.
    #[error("the lists make {cases} cases; at most {MAX_CASES} can be run at once: shorten a list")]
    TooManyCases {
        /// How many they make.
        cases: usize,
    },
}

impl Default for MatmultConfig {
    fn default() -> Self {
        Self {
            batch_sizes: vec![1],
            matrix_dims: vec![1_024],
            loop_counts: vec![1_000],
            options: vec![CompileOptions::default()],
            instances: vec!["trn1.2xlarge".to_owned()],
            model: None,
            run: MatmultRun::default(),
        }
    }
}

impl Default for MatmultRun {
    fn default() -> Self {
        Self {
            warmup_iterations: 8,
            timed_iterations: 1,
            verification_iterations: 2,
            add_bias: true,
            chained: true,
            workflow: Workflow::Trace,
            sync: false,
            skip_compilation: false,
            seed: 0,
            jitter: 0.01,
            clock_tick_ns: 0,
        }
    }
}

impl MatmultConfig {
    /// Every combination: devices, then formats, then sizes, batch sizes and loop counts.
    ///
    /// # Errors
    /// When a number is out of its range or the lists make too many cases.
    pub fn cases(&self) -> Result<Vec<MatmultCase>, MatmultError> {
        self.check()?;
        let (none, is_layer) = (vec![0], self.model.is_none());
        let matrix_dims = if is_layer { &self.matrix_dims } else { &none };
        let loop_counts = if is_layer { &self.loop_counts } else { &none };
        let mut cases = Vec::new();
        for instance in &self.instances {
            for options in &self.options {
                for &matrix_dim in matrix_dims {
                    for &batch_size in &self.batch_sizes {
                        cases.extend(loop_counts.iter().map(|&loop_count| MatmultCase {
                            batch_size,
                            matrix_dim,
                            loop_count,
                            options: *options,
                            instance: instance.clone(),
                            model: self.model.clone(),
                            run: self.run.clone(),
                        }));
                    }
                }
            }
        }
        Ok(cases)
    }

    fn check(&self) -> Result<(), MatmultError> {
        let lengths = [self.instances.len(), self.options.len(), self.matrix_dims.len(), self.batch_sizes.len()];
        let cases = lengths.iter().fold(self.loop_counts.len(), |n, len| n.saturating_mul(*len));
        if cases > MAX_CASES {
            return Err(MatmultError::TooManyCases { cases });
        }
        // The ranges of the model `matmult`, and of a request's batch.
        for (flag, values, max) in [
            ("batch_size", &self.batch_sizes, 65_536),
            ("matrix_dim", &self.matrix_dims, 16_384),
            ("loop_count", &self.loop_counts, 10_000),
        ] {
            values.iter().try_for_each(|v| within(flag, *v, 1, max))?;
        }
        let run = &self.run;
        within("num_warmup_iterations", run.warmup_iterations, 0, MAX_ITERATIONS)?;
        within("num_timed_iterations", run.timed_iterations, 1, MAX_ITERATIONS)?;
        within("num_verification_iterations", run.verification_iterations, 0, MAX_VERIFICATIONS)?;
        if !(0.0..=MAX_JITTER).contains(&run.jitter) {
            let (value, allowed) = (run.jitter.to_string(), format!("a fraction from 0 to {MAX_JITTER}"));
            return Err(MatmultError::Range { flag: "jitter", value, allowed });
        }
        Ok(())
    }
}

fn within(flag: &'static str, value: u32, min: u32, max: u32) -> Result<(), MatmultError> {
    if (min..=max).contains(&value) {
        return Ok(());
    }
    let allowed = format!("a whole number from {min} to {max}");
    Err(MatmultError::Range { flag, value: value.to_string(), allowed })
}

impl MatmultCase {
    /// The layer, or the model in its place, as a specification of the zoo.
    #[must_use]
    pub fn specification(&self) -> String {
        if let Some(model) = &self.model {
            return model.clone();
        }
        let (n, loops, run) = (self.matrix_dim, self.loop_count, &self.run);
        format!("matmult:n={n},loop_count={loops},add_bias={},chained={}", run.add_bias, run.chained)
    }

    /// The format of the products: `bf16`, or `fp32` where nothing is cast.
    #[must_use]
    pub const fn dtype(&self) -> &'static str {
        dtype_of(&self.options)
    }

    /// Operations of all products of one call, by the guide's formula: `2 * B * N^3 * L`. The bias and the mean are not
    /// counted. `None` for another model, whose formula this is not.
    #[must_use]
    pub fn operations(&self) -> Option<f64> {
        if self.model.is_some() {
            return None;
        }
        let n = f64::from(self.matrix_dim);
        Some(2.0 * f64::from(self.batch_size) * n * n * n * f64::from(self.loop_count))
    }

    /// The case in a few words: `n 1024, batch 1, loop 1000, bf16, trn1.2xlarge`.
    #[must_use]
    pub fn label(&self) -> String {
        let (n, b, l) = (self.matrix_dim, self.batch_size, self.loop_count);
        if let Some(model) = &self.model {
            return format!("{model}, batch {b}, {}, {}", self.dtype(), self.instance);
        }
        format!("n {n}, batch {b}, loop {l}, {}, {}", self.dtype(), self.instance)
    }
}

/// The format of the products that options give: `bf16`, or `fp32` where nothing is cast.
#[must_use]
pub const fn dtype_of(options: &CompileOptions) -> &'static str {
    match options.auto_cast {
        AutoCast::None => "fp32",
        AutoCast::Matmult | AutoCast::All => options.auto_cast_type.name(),
    }
}

/// Compiler options whose products are in a format: `fp32`, `bf16`, `fp16`, `tf32`, `fp8_e4m3`, or PyTorch's names.
///
/// # Errors
/// When there is no such format.
pub fn cast_of_dtype(text: &str, base: CompileOptions) -> Result<CompileOptions, MatmultError> {
    let name = text.trim().to_ascii_lowercase();
    let name = name.strip_prefix("torch.").unwrap_or(&name);
    let short = match name {
        "fp32" | "float32" | "float" => return Ok(CompileOptions { auto_cast: AutoCast::None, ..base }),
        "bfloat16" => "bf16",
        "float16" | "half" => "fp16",
        "fp8" | "float8_e4m3" => "fp8_e4m3",
        other => other,
    };
    let auto_cast_type: CastType =
        short.parse().map_err(|_: UnknownOption| MatmultError::Dtype { text: text.trim().to_owned() })?;
    Ok(CompileOptions { auto_cast: AutoCast::Matmult, auto_cast_type, ..base })
}

/// An instance by its name or its family: `trn1` is its smallest size.
///
/// # Errors
/// When there is neither.
pub fn instance_of(text: &str) -> Result<String, MatmultError> {
    let name = text.trim().to_ascii_lowercase();
    let of_family = |i: &&str| i.split_once('.').is_some_and(|(family, _)| family == name);
    let names = || INSTANCES.iter().map(|i| i.name);
    let found = names().find(|i| *i == name).or_else(|| names().find(of_family));
    found
        .map(str::to_owned)
        .ok_or_else(|| MatmultError::Instance { text: text.trim().to_owned(), nearest: nearest_text(&name, names()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_make_every_combination_in_order() {
        let config = MatmultConfig {
            matrix_dims: vec![128, 256],
            loop_counts: vec![1, 10],
            options: ["bf16", "float32"].map(|d| cast_of_dtype(d, CompileOptions::default()).unwrap()).to_vec(),
            ..MatmultConfig::default()
        };
        let cases = config.cases().unwrap();
        let labels: Vec<String> = cases.iter().map(MatmultCase::label).collect();
        assert_eq!(labels.len(), 8);
        assert_eq!(labels[1], "n 128, batch 1, loop 10, bf16, trn1.2xlarge");
        assert_eq!(labels[6], "n 256, batch 1, loop 1, fp32, trn1.2xlarge");
        assert_eq!(cases[1].operations(), Some(2.0 * 128.0 * 128.0 * 128.0 * 10.0));
        assert_eq!(cases[1].specification(), "matmult:n=128,loop_count=10,add_bias=true,chained=true");
    }

    #[test]
    fn what_is_out_of_range_names_its_flag() {
        let with = |change: fn(&mut MatmultConfig)| {
            let mut config = MatmultConfig::default();
            change(&mut config);
            config.cases().unwrap_err().to_string()
        };
        assert_eq!(
            with(|c| c.matrix_dims = vec![16_385]),
            "--matrix_dim: 16385 is not possible; use a whole number from 1 to 16384"
        );
        assert!(with(|c| c.run.timed_iterations = 0).starts_with("--num_timed_iterations: 0 is not possible"));
        assert!(with(|c| c.run.jitter = f64::NAN).starts_with("--jitter: NaN is not possible"));
        assert!(with(|c| c.batch_sizes = (1..=1_001).collect()).starts_with("the lists make 1001 cases"));
        let error = cast_of_dtype("int4", CompileOptions::default()).unwrap_err().to_string();
        assert!(error.starts_with("--dtype: 'int4' is not a format"), "{error}");
        assert_eq!(instance_of("TRN1"), Ok("trn1.2xlarge".to_owned()));
        assert!(instance_of("trn9").unwrap_err().to_string().contains("the nearest are trn"));
    }
}
