//! The configuration of the microbenchmark: lists of sizes, formats and devices, and the cases they make.

use serde::{Deserialize, Serialize};

use crate::compile::artifact::{CompileConfig, CompileTask};
use crate::config::bench_config::MAX_JITTER;
use ns_base::{Refusal, nearest_text, refuse};
use ns_compiler::{AutoCast, CastType, CompileOptions, UnknownOption, Workflow};
use ns_device::model_label;
use ns_machine::arch::{INSTANCES, instance, size_name};
use ns_model::zoo::operator::{OPERATOR_MODEL, parse_shapes, print_shapes};
use ns_neuron::step::Waits;

/// Most iterations of one phase.
pub const MAX_ITERATIONS: u32 = 1_000_000;
/// Most repetitions of the timed phase for the check of repeatability.
pub const MAX_VERIFICATIONS: u32 = 100;
/// Most cases of a sweep.
pub const MAX_CASES: usize = 1_000;

/// The request for a microbenchmark. The default is the guide's example, except for the iterations, which are those
/// of `matmult_linear.py`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MatmultConfig {
    /// Values of the first dimension of the input.
    pub batch_sizes: Vec<u32>,
    /// Numbers of rows and columns of the matrices.
    pub matrix_dims: Vec<u32>,
    /// Numbers of products in one call.
    pub loop_counts: Vec<u32>,
    /// Compiler options for the layer; they include the format of the products.
    pub options: Vec<CompileOptions>,
    /// EC2 sizes.
    pub instances: Vec<String>,
    /// Another model of the zoo instead of the layer; sizes and loop counts then have no effect. A model that does not exist is
    /// a failed case, not an error: a user who fills in a form need not know the zoo.
    pub model: Option<String>,
    /// Single operators instead of the layer: `softmax`, `conv2d:padding=1`. They override a model.
    pub operators: Vec<String>,
    /// Shapes of the operators' operands; empty for each operator's own.
    pub shapes: Vec<String>,
    /// The settings of all cases.
    pub run: MatmultRun,
}

/// Settings that all cases of a sweep have in common.
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
    /// Assume that the model is already compiled: its compile time is not counted.
    pub skip_compilation: bool,
    /// Seed of the jitter, and of weights and inputs where values are computed.
    pub seed: u64,
    /// Largest random deviation of a stage of a call, as a fraction of its time.
    pub jitter: f64,
    /// Nanoseconds from one tick of the clock that times the calls to the next; 0 for a clock without ticks.
    pub clock_tick_ns: u64,
}

impl MatmultRun {
    /// Whether each result is waited for.
    pub const fn waits(&self) -> Waits {
        if self.sync { Waits::ForEachResult } else { Waits::Never }
    }
}

/// One case: a row of the sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MatmultCase {
    /// First dimension of the input.
    pub batch_size: u32,
    /// Rows and columns of the matrices; 0 if another model is measured.
    pub matrix_dim: u32,
    /// Products in one call; 0 if another model is measured.
    pub loop_count: u32,
    /// How the layer is compiled.
    pub options: CompileOptions,
    /// EC2 size.
    pub instance: String,
    /// Another model of the zoo instead of the layer, or an operator as a specification.
    pub model: Option<String>,
    /// The operator instead of the layer, as the user wrote it; its specification is `model`.
    pub operator: Option<String>,
    /// Shapes of its operands, `1024x1024_1024x1024`; empty for its own.
    pub shapes: String,
    pub run: MatmultRun,
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
            operators: Vec::new(),
            shapes: Vec::new(),
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
    /// Every combination: devices, then formats, then sizes (or operators and their shapes), batch sizes
    /// and loop counts. Fails when a number is out of its range, shapes cannot be read, or the lists make too many cases.
    pub fn cases(&self) -> Result<Vec<MatmultCase>, Refusal> {
        self.check()?;
        let subjects = self.subjects()?;
        let none = vec![0];
        let loop_counts = if self.is_layer() { &self.loop_counts } else { &none };
        let mut cases = Vec::new();
        for instance in &self.instances {
            for options in &self.options {
                for subject in &subjects {
                    for &batch_size in &self.batch_sizes {
                        cases.extend(loop_counts.iter().map(|&loop_count| MatmultCase {
                            batch_size,
                            loop_count,
                            options: *options,
                            instance: instance.clone(),
                            run: self.run.clone(),
                            ..subject.clone()
                        }));
                    }
                }
            }
        }
        Ok(cases)
    }

    /// Whether the guide's layer is measured.
    pub const fn is_layer(&self) -> bool {
        self.model.is_none() && self.operators.is_empty()
    }

    /// Everything that is measured, each as a case whose other fields are not used.
    fn subjects(&self) -> Result<Vec<MatmultCase>, Refusal> {
        let none = || MatmultCase {
            batch_size: 1,
            matrix_dim: 0,
            loop_count: 0,
            options: CompileOptions::default(),
            instance: String::new(),
            model: self.model.clone(),
            operator: None,
            shapes: String::new(),
            run: self.run.clone(),
        };
        if self.operators.is_empty() {
            if !self.shapes.is_empty() {
                return Err(refuse!(
                    "shape: shapes are for an operator, and none is given; add --op, or use --matrix_dim for the layer"
                ));
            }
            let dims = if self.model.is_some() { &vec![0] } else { &self.matrix_dims };
            return Ok(dims.iter().map(|&matrix_dim| MatmultCase { matrix_dim, ..none() }).collect());
        }
        let shapes: Vec<String> = self
            .shapes
            .iter()
            .map(|s| parse_shapes(s).map(|shapes| print_shapes(&shapes)))
            .collect::<Result<_, _>>()
            .map_err(|e| refuse!("shape: {e}"))?;
        let own = vec![String::new()];
        let shapes = if shapes.is_empty() { own } else { shapes };
        let each = self.operators.iter().flat_map(|o| shapes.iter().map(move |s| (o, s)));
        let case = |(operator, shapes): (&String, &String)| MatmultCase {
            model: Some(operator_specification(operator, shapes)),
            operator: Some(operator.clone()),
            shapes: shapes.clone(),
            ..none()
        };
        Ok(each.map(case).collect())
    }

    fn check(&self) -> Result<(), Refusal> {
        let (operators, shapes) = (self.operators.len().max(1), self.shapes.len().max(1));
        let subjects = [self.matrix_dims.len(), operators, shapes];
        let lengths = [self.instances.len(), self.options.len(), self.batch_sizes.len()];
        let all = lengths.iter().chain(&subjects);
        let cases = all.fold(self.loop_counts.len(), |n, len| n.saturating_mul(*len));
        if cases > MAX_CASES {
            return Err(refuse!(
                "the lists make {cases} cases; at most {MAX_CASES} can be run at once; shorten a list"
            ));
        }
        // The ranges of the model `matmult`, and of a request's batch.
        for (key, values, max) in [
            ("batch_size", &self.batch_sizes, 65_536),
            ("matrix_dim", &self.matrix_dims, 16_384),
            ("loop_count", &self.loop_counts, 10_000),
        ] {
            values.iter().try_for_each(|v| within(key, *v, 1, max))?;
        }
        let run = &self.run;
        within("num_warmup_iterations", run.warmup_iterations, 0, MAX_ITERATIONS)?;
        within("num_timed_iterations", run.timed_iterations, 1, MAX_ITERATIONS)?;
        within("num_verification_iterations", run.verification_iterations, 0, MAX_VERIFICATIONS)?;
        if !(0.0..=MAX_JITTER).contains(&run.jitter) {
            let jitter = run.jitter;
            return Err(refuse!("jitter: {jitter} is not possible; use a fraction from 0 to {MAX_JITTER}"));
        }
        Ok(())
    }
}

/// An operator as the specification of a model: `op:name=conv2d,padding=1,shapes=1x3x8x8_5x3x3x3`.
fn operator_specification(operator: &str, shapes: &str) -> String {
    let (name, parameters) = operator.split_once(':').unwrap_or((operator, ""));
    let separator = if parameters.trim().is_empty() { "" } else { "," };
    let own = if shapes.is_empty() { String::new() } else { format!(",shapes={shapes}") };
    format!("{OPERATOR_MODEL}:name={}{separator}{}{own}", name.trim(), parameters.trim())
}

fn within(key: &'static str, value: u32, min: u32, max: u32) -> Result<(), Refusal> {
    if (min..=max).contains(&value) {
        return Ok(());
    }
    Err(refuse!("{key}: {value} is not possible; use a whole number from {min} to {max}"))
}

impl MatmultCase {
    /// The layer, or the model instead of it, as a specification of the zoo.
    pub fn specification(&self) -> String {
        if let Some(model) = &self.model {
            return model.clone();
        }
        let (n, loops, run) = (self.matrix_dim, self.loop_count, &self.run);
        format!("matmult:n={n},loop_count={loops},add_bias={},chained={}", run.add_bias, run.chained)
    }

    /// The format of the products: `bf16`, or `fp32` if nothing is cast.
    pub const fn dtype(&self) -> &'static str {
        dtype_of(&self.options)
    }

    /// Operations of all products of one call, by the guide's formula: `2 * B * N^3 * L`. The bias and the mean are not
    /// counted. `None` for another model, to which the formula does not apply.
    pub fn operations(&self) -> Option<f64> {
        if self.model.is_some() {
            return None;
        }
        let n = f64::from(self.matrix_dim);
        Some(2.0 * f64::from(self.batch_size) * n * n * n * f64::from(self.loop_count))
    }

    /// The compile of the case into an artifact in a folder, as the guide's `compiler_workdir` holds one. Fails when the model
    /// cannot be named, or its graph is recorded at each call.
    pub fn compile_task(&self, folder: &str) -> Result<CompileTask, Refusal> {
        if self.run.workflow != Workflow::Trace {
            return Err(refuse!(
                "--compiler_workdir keeps a traced model, and --workflow {} records its graph at each call; leave one of them out",
                self.run.workflow
            ));
        }
        let config = CompileConfig {
            model: self.specification(),
            instance_type: self.instance.clone(),
            batch_sizes: vec![self.batch_size],
            options: self.options,
            models_dir: folder.to_owned(),
            ..CompileConfig::default()
        };
        let task = config.plan()?.tasks.into_iter().next();
        task.ok_or_else(|| refuse!("{}: there is nothing to compile", self.label()))
    }

    /// A short description of the case: `n 1024, batch 1, loop 1000, bf16, trn1.2xlarge`.
    pub fn label(&self) -> String {
        let (n, b, l) = (self.matrix_dim, self.batch_size, self.loop_count);
        if let Some(operator) = &self.operator {
            let shapes = if self.shapes.is_empty() { String::new() } else { format!(" {}", self.shapes) };
            return format!("{operator}{shapes}, batch {b}, {}, {}", self.dtype(), self.instance);
        }
        if let Some(model) = &self.model {
            return format!("{}, batch {b}, {}, {}", model_label(model), self.dtype(), self.instance);
        }
        format!("n {n}, batch {b}, loop {l}, {}, {}", self.dtype(), self.instance)
    }
}

/// The format of the products with these options: `bf16`, or `fp32` if nothing is cast.
pub const fn dtype_of(options: &CompileOptions) -> &'static str {
    match options.auto_cast {
        AutoCast::None => "fp32",
        AutoCast::Matmult | AutoCast::All => options.auto_cast_type.name(),
    }
}

/// Compiler options that compute products in a format: `fp32`, `bf16`, `fp16`, `tf32`, `fp8_e4m3`, or PyTorch's names. Fails when
/// the format is unknown.
pub fn cast_of_dtype(text: &str, base: CompileOptions) -> Result<CompileOptions, Refusal> {
    let name = text.trim().to_ascii_lowercase();
    let name = name.strip_prefix("torch.").unwrap_or(&name);
    let short = match name {
        "fp32" | "float32" | "float" => return Ok(CompileOptions { auto_cast: AutoCast::None, ..base }),
        "bfloat16" => "bf16",
        "float16" | "half" => "fp16",
        "fp8" | "float8_e4m3" => "fp8_e4m3",
        other => other,
    };
    let auto_cast_type: CastType = short.parse().map_err(|_: UnknownOption| {
        refuse!("dtype: '{}' is not a format of the array; use fp32, bf16, fp16, tf32 or fp8_e4m3", text.trim())
    })?;
    Ok(CompileOptions { auto_cast: AutoCast::Matmult, auto_cast_type, ..base })
}

/// The operators or shapes in a list: words separated by spaces or semicolons.
pub fn words_of(text: &str) -> Vec<String> {
    text.split([' ', ';', '\t']).map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// An instance by its name or its family: `trn1` means its smallest size. Fails when the instance or family is unknown.
pub fn instance_of(text: &str) -> Result<String, Refusal> {
    let names = || INSTANCES.iter().map(|i| i.name);
    instance(size_name(text)).map(|size| size.name.to_owned()).ok_or_else(|| {
        let (text, nearest) = (text.trim(), nearest_text(text, names()));
        refuse!("instance: '{text}' is not an instance type or family; the nearest are {nearest}")
    })
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
    fn operators_and_their_shapes_are_swept_in_place_of_the_layer() {
        let words = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
        let config = MatmultConfig {
            operators: words(&["gelu", "conv2d:padding=1,stride=2"]),
            shapes: words(&["8X8", "1x3x8x8,5x3x3x3"]),
            ..MatmultConfig::default()
        };
        let cases = config.cases().unwrap();
        let specifications: Vec<String> = cases.iter().map(MatmultCase::specification).collect();
        assert_eq!(specifications.len(), 4);
        assert_eq!(specifications[0], "op:name=gelu,shapes=8x8");
        assert_eq!(specifications[3], "op:name=conv2d,padding=1,stride=2,shapes=1x3x8x8_5x3x3x3");
        assert_eq!(cases[0].label(), "gelu 8x8, batch 1, bf16, trn1.2xlarge");
        let own = MatmultConfig { shapes: Vec::new(), ..config.clone() };
        assert_eq!(own.cases().unwrap()[0].specification(), "op:name=gelu");
        let alone = MatmultConfig { operators: Vec::new(), ..config.clone() };
        assert!(alone.cases().unwrap_err().to_string().starts_with("shape: shapes are for an operator"));
        let wrong = MatmultConfig { shapes: words(&["8x"]), ..config };
        assert!(wrong.cases().unwrap_err().to_string().starts_with("shape: '8x' is not a shape"));
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
            "matrix_dim: 16385 is not possible; use a whole number from 1 to 16384"
        );
        assert!(with(|c| c.run.timed_iterations = 0).starts_with("num_timed_iterations: 0 is not possible"));
        assert!(with(|c| c.run.jitter = f64::NAN).starts_with("jitter: NaN is not possible"));
        assert!(with(|c| c.batch_sizes = (1..=1_001).collect()).starts_with("the lists make 1001 cases"));
        let error = cast_of_dtype("int4", CompileOptions::default()).unwrap_err().to_string();
        assert!(error.starts_with("dtype: 'int4' is not a format"), "{error}");
        assert_eq!(instance_of("TRN1"), Ok("trn1.2xlarge".to_owned()));
        assert!(instance_of("trn9").unwrap_err().to_string().contains("the nearest are trn"));
    }
}
