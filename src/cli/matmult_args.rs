//! Flags of `neuronscope matmult`, with the names of `matmult_linear.py`, and the microbenchmark they describe.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;

use super::args::WorkflowArg;
use super::compile_args::list_or;
use super::model_args::{ModelFileArg, ModelFileFlags};
use ns_base::convert::f64_to_u64;
use ns_bench::matmult::{CcFlags, MatmultConfig, MatmultRun, cast_of_dtype, instance_of, words_of};
use ns_bench::{comma_list, parse_list};

/// Flags of the script, each also accepted with underscores, and flags of the sweep.
#[derive(Debug, Args)]
pub(super) struct MatmultArgs {
    /// First dimension of the input [B, N, N]; lists and ranges are swept: 1,2,8 [default: 1; for a model file its own]
    #[arg(short, long, value_name = "B", value_delimiter = ',')]
    pub batch_size: Vec<String>,
    /// Rows and columns of the matrices; lists and ranges are swept: 256,1024
    #[arg(short = 'n', long, value_name = "N", value_delimiter = ',', default_value = "1024")]
    pub matrix_dim: Vec<String>,
    /// Products in one call, each the input of the next; lists and ranges are swept [default: 1000]
    #[arg(short, long, value_name = "L", value_delimiter = ',', conflicts_with = "no_loop")]
    pub loop_count: Vec<String>,
    /// Calls before the clock starts [default: 8]
    #[arg(short = 'w', long, value_name = "W", conflicts_with = "no_warmup")]
    pub num_warmup_iterations: Option<u32>,
    /// Calls that are timed, all together by one clock
    #[arg(short = 'i', long, value_name = "I", default_value_t = 1)]
    pub num_timed_iterations: u32,
    /// Repetitions of the timed calls with the next seeds, to see how well the result repeats
    #[arg(long, value_name = "V", default_value_t = 2)]
    pub num_verification_iterations: u32,
    #[command(flatten)]
    pub file: ModelFileArg,
    #[command(flatten)]
    pub file_flags: ModelFileFlags,
    /// Another model of the zoo instead of the layer, `bert-base-uncased` or `mlp`, or a model file: its products and convolutions
    /// are counted
    #[arg(long, value_name = "MODEL", conflicts_with_all = ["matrix_dim", "loop_count", "no_loop", "unchained", "no_bias"])]
    pub model: Option<String>,
    /// A single operator instead of the layer: matmul, linear, conv2d:padding=1, softmax, layer_norm, gelu, add, attention;
    /// several are swept, and loop_count=N applies the operator N times to its own result
    #[arg(long, value_name = "NAME[:KEY=VALUE]", conflicts_with_all = ["model", "matrix_dim", "loop_count", "no_loop", "unchained", "no_bias"])]
    pub op: Vec<String>,
    /// Shapes of the operands of --op, separated by commas: 1024x1024,1024x1024; several are swept [default: the operator's own]
    #[arg(long, visible_alias = "shapes", value_name = "SHAPES", requires = "op")]
    pub shape: Vec<String>,
    /// Flags of the compiler: "--auto-cast none -O1"; those that are not simulated are named in a note
    #[arg(long, value_name = "FLAGS", default_value = "", allow_hyphen_values = true)]
    pub neuron_cc_flags: String,
    /// Wait for each result before the next call; the script reads no result while its clock runs, so that the host is one call
    /// ahead of the device
    #[arg(long)]
    pub sync: bool,
    /// Assume that the model is already compiled: its compile time is not counted; with --compiler-workdir, look for its artifact
    #[arg(long)]
    pub skip_compilation: bool,
    /// Write the artifact of each compiled case into this folder, where --skip-compilation finds it
    #[arg(long, value_name = "FOLDER")]
    pub compiler_workdir: Option<PathBuf>,
    /// Leave out the repetitions
    #[arg(long)]
    pub skip_verification: bool,
    /// Add a bias after each product, as the guide recommends [default: true; without one beside both --batch_size and --loop_count, as in
    /// the script]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", conflicts_with = "no_bias")]
    pub add_bias: Option<bool>,
    /// Log the parts of a call and the spread of the calls
    #[arg(short, long)]
    pub verbose: bool,
    /// Format of the products: fp32, bf16, fp16, tf32, fp8_e4m3, or several: bf16,fp32 [default: bf16]
    #[arg(long, value_name = "FORMAT", value_delimiter = ',')]
    pub dtype: Vec<String>,
    /// Instance types or families, separated by commas: trn1.2xlarge,inf2,trn2
    #[arg(
        long,
        visible_alias = "device",
        alias = "instance-type",
        value_name = "TYPE",
        value_delimiter = ',',
        default_value = "trn1.2xlarge"
    )]
    pub instance: Vec<String>,
    /// How the model reaches the core: trace, or mark_step for a lazily executed graph
    #[arg(long, value_enum, default_value = "trace")]
    pub workflow: WorkflowArg,
    /// Pitfall: one product in a call, so that overheads dominate
    #[arg(long)]
    pub no_loop: bool,
    /// Pitfall: every product reads the same input, so that the compiler removes all but the last
    #[arg(long)]
    pub unchained: bool,
    /// Pitfall: the first call is timed
    #[arg(long)]
    pub no_warmup: bool,
    /// Pitfall: no bias, so that values leave the range of their format
    #[arg(long)]
    pub no_bias: bool,
    /// Seed of the jitter, and of weights and inputs where values are computed
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Largest random deviation of a stage of a call, as a fraction of its time
    #[arg(long, default_value_t = 0.01, allow_negative_numbers = true)]
    pub jitter: f64,
    /// Pitfall: tick of the clock that times the calls, milliseconds; 15.625 is a common timer [default: no ticks]
    #[arg(long, value_name = "MS", value_parser = tick_ns)]
    pub clock_tick: Option<u64>,
    /// Print the results as JSON
    #[arg(long, conflicts_with = "csv")]
    pub json: bool,
    /// Print the results as CSV
    #[arg(long)]
    pub csv: bool,
}

impl MatmultArgs {
    /// The microbenchmark, and notes for the user.
    ///
    /// # Errors
    /// Names the flag that cannot be used.
    pub fn config(&self) -> Result<(MatmultConfig, Vec<String>)> {
        let flags = CcFlags::parse(&self.neuron_cc_flags)?;
        if flags.names_casts && !self.dtype.is_empty() {
            bail!("--dtype and the casts of --neuron_cc_flags set the same thing; give only one of them");
        }
        let formats = self.dtype.iter().map(|d| cast_of_dtype(d, flags.options)).collect::<Result<Vec<_>, _>>()?;
        let config = MatmultConfig {
            batch_sizes: parse_list("--batch_size", &list_or(&self.batch_size, "1"))?,
            matrix_dims: parse_list("--matrix_dim", &comma_list(&self.matrix_dim))?,
            loop_counts: parse_list(
                "--loop_count",
                &list_or(&self.loop_count, if self.no_loop { "1" } else { "1000" }),
            )?,
            options: if formats.is_empty() { vec![flags.options] } else { formats },
            instances: self.instance.iter().map(|i| instance_of(i)).collect::<Result<_, _>>()?,
            model: self.file.model_file.clone().or_else(|| self.model.clone()),
            operators: split_words(&self.op),
            shapes: split_words(&self.shape),
            run: MatmultRun {
                warmup_iterations: if self.no_warmup { 0 } else { self.num_warmup_iterations.unwrap_or(8) },
                timed_iterations: self.num_timed_iterations,
                verification_iterations: if self.skip_verification { 0 } else { self.num_verification_iterations },
                add_bias: self.add_bias.unwrap_or(!self.no_bias && !self.is_scripts()),
                chained: !self.unchained,
                workflow: self.workflow.into(),
                sync: self.sync,
                skip_compilation: self.skip_compilation,
                seed: self.seed,
                jitter: self.jitter,
                clock_tick_ns: self.clock_tick.unwrap_or(0),
            },
        };
        let mut notes = flags.notes();
        notes.extend(self.notes(config.is_layer()));
        Ok((config, notes))
    }
}

impl MatmultArgs {
    /// Whether these are the flags of `matmult_linear.py`, whose defaults are then meant.
    fn is_scripts(&self) -> bool {
        !self.batch_size.is_empty() && !self.loop_count.is_empty()
    }

    /// What differs from the script for whoever pastes its flags.
    fn notes(&self, is_layer: bool) -> Vec<String> {
        let mut notes = Vec::new();
        if is_layer && self.is_scripts() && self.add_bias.is_none() && !self.no_bias {
            notes.push(
                "no bias is added: --batch_size and --loop_count are flags of matmult_linear.py, which adds one only with --add_bias; the guide recommends it".to_owned(),
            );
        }
        if self.skip_compilation && self.compiler_workdir.is_none() {
            notes.push(
                "--skip_compilation: nothing shows that the model was compiled before; with --compiler_workdir FOLDER a run keeps its artifact there, and --skip_compilation looks for it".to_owned(),
            );
        }
        notes
    }
}

/// The words of a flag given several times; each value may hold several words, separated by spaces or semicolons.
fn split_words(flags: &[String]) -> Vec<String> {
    flags.iter().flat_map(|flag| words_of(flag)).collect()
}

/// Milliseconds as whole nanoseconds.
fn tick_ns(text: &str) -> Result<u64, String> {
    let ms = text.parse().ok().filter(|ms| (0.0..=60_000.0).contains(ms));
    ms.map(|ms: f64| f64_to_u64((ms * 1e6).round()))
        .ok_or_else(|| "a number of milliseconds from 0 to 60000".to_owned())
}
