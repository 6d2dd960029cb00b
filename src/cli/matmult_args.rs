//! Flags of `neuronscope matmult`, with the names of `matmult_linear.py`, and the microbenchmark they describe.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;

use super::model_args::{ModelFileArg, ModelFileFlags};
use super::option_args::{Choice, OptionArgs, one_of};
use super::page_args::PageArgs;
use ns_base::convert::f64_to_u64;
use ns_bench::matmult::{CcFlags, MatmultConfig};
use ns_session::Workflow;
use ns_session::studies::MatmultStudy;

/// Workflows as the command line takes them.
const WORKFLOWS: &[Choice<Workflow>] = &[
    ("mark_step", "Lazily executed graph: inputs are transferred in the step", Workflow::MarkStep),
    ("trace", "Ahead-of-time compiled model", Workflow::Trace),
];

/// Flags of the script, each also accepted with underscores, and flags of the sweep.
#[derive(Debug, Args)]
pub(super) struct MatmultArgs {
    #[command(flatten)]
    pub options: OptionArgs<MatmultStudy>,
    /// Flags of the compiler: "--auto-cast none -O1"; those that are not simulated are named in a note
    #[arg(long, value_name = "FLAGS", default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    pub neuron_cc_flags: String,
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
    /// How the model reaches the core
    #[arg(long, value_parser = one_of(WORKFLOWS), default_value = "trace")]
    pub workflow: Workflow,
    /// Pitfall: tick of the clock that times the calls, milliseconds; 15.625 is a common timer [default: no ticks]
    #[arg(long, value_name = "MS", value_parser = tick_ns)]
    pub clock_tick: Option<u64>,
    /// Log the parts of a call and the spread of the calls
    #[arg(short, long)]
    pub verbose: bool,
    /// Print the results as JSON
    #[arg(long, conflicts_with = "csv")]
    pub json: bool,
    /// Print the results as CSV
    #[arg(long)]
    pub csv: bool,
    #[command(flatten)]
    pub page: PageArgs,
    #[command(flatten)]
    pub file: ModelFileArg,
    #[command(flatten)]
    pub file_flags: ModelFileFlags,
}

impl MatmultArgs {
    /// The microbenchmark, and notes for the user. Fails with the flag that cannot be used.
    pub fn config(&self) -> Result<(MatmultConfig, Vec<String>)> {
        let flags = CcFlags::parse(&self.neuron_cc_flags)?;
        let dtype = self.options.text("dtype");
        if flags.names_casts && dtype.is_some() {
            bail!("--dtype and the casts of --neuron_cc_flags set the same thing; give only one of them");
        }
        if let Some(size) = self.file.model_file.as_deref().filter(|name| name.parse::<u32>().is_ok()) {
            bail!("{size}: is not a model; --matrix_dim {size} gives matrices of this size");
        }
        let mut study = MatmultStudy::default();
        study.config.options = vec![flags.options];
        self.options.put_into(&mut study, &[])?;
        let mut config = study.measured();
        config.model = self.file.model_file.clone().or(config.model);
        let run = &mut config.run;
        run.workflow = self.workflow;
        run.clock_tick_ns = self.clock_tick.unwrap_or(0);
        run.add_bias = self.add_bias.unwrap_or(run.add_bias && !self.is_scripts());
        if self.skip_verification {
            run.verification_iterations = 0;
        }
        let mut notes = flags.notes();
        notes.extend(self.notes(&config));
        Ok((config, notes))
    }

    /// Whether these are the flags of `matmult_linear.py`, whose defaults are then meant.
    fn is_scripts(&self) -> bool {
        ["batch_size", "loop_count"].iter().all(|key| self.options.text(key).is_some())
    }

    /// What differs from the script for whoever pastes its flags.
    fn notes(&self, config: &MatmultConfig) -> Vec<String> {
        let mut notes = Vec::new();
        if config.is_layer() && self.is_scripts() && self.add_bias.is_none() && self.options.text("no_bias").is_none() {
            notes.push(
                "no bias is added: --batch_size and --loop_count are flags of matmult_linear.py, which adds one only with --add_bias; the guide recommends it".to_owned(),
            );
        }
        if config.run.skip_compilation && self.compiler_workdir.is_none() {
            notes.push(
                "--skip_compilation: nothing shows that the model was compiled before; with --compiler_workdir FOLDER a run keeps its artifact there, and --skip_compilation looks for it".to_owned(),
            );
        }
        notes
    }
}

/// Milliseconds as whole nanoseconds.
fn tick_ns(text: &str) -> Result<u64, String> {
    let ms = text.parse().ok().filter(|ms| (0.0..=60_000.0).contains(ms));
    ms.map(|ms: f64| f64_to_u64((ms * 1e6).round()))
        .ok_or_else(|| "a number of milliseconds from 0 to 60000".to_owned())
}
