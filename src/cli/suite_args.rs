//! Flags of the suite's experiment runner that say how a run is reported and what it writes beside its records; and flags
//! that have no meaning here, each with the reason.

use anyhow::{Result, bail};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args as ClapArgs, Command, FromArgMatches, ValueEnum};

/// How much is printed on stderr.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(super) enum LogLevelArg {
    /// Only the error that ends the command
    Critical,
    /// Failures of experiments
    Error,
    /// Failures, and notes on noise
    Warning,
    /// All of that, and what was run
    Info,
    /// The same as info
    Debug,
}

/// Representations of a compiled model that are saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum IrFormatArg {
    /// HLO text
    Hlo,
    /// Not written by this program
    Stablehlo,
}

#[derive(Debug, ClapArgs)]
pub(super) struct SuiteArgs {
    /// Which messages are printed on stderr
    #[arg(long, value_enum, default_value = "info")]
    pub log_level: LogLevelArg,
    /// Show what the experiments' processes print, including those that fail
    #[arg(long)]
    pub print_subprocess: bool,
    /// Show the progress of the run, on a terminal
    #[arg(long)]
    pub progress_bar: bool,
    /// Time each iteration as matmul-bench times a product: the shortest of many calls with cleared caches; measured runs only
    #[arg(long)]
    pub pure_wall_time: bool,
    /// Write the HLO of each experiment to MODEL/hlo-CONFIGURATION/module.hlo.txt in the folder of the results
    #[arg(long)]
    pub dump_hlo: bool,
    /// Same as --dump-hlo; of the two formats, only hlo is written
    #[arg(long, value_enum)]
    pub save_ir_format: Option<IrFormatArg>,
    /// Write an XPlane profile of each simulated execution to MODEL/xplane-CONFIGURATION/ in the folder of the results
    #[arg(long)]
    pub profile_xla: bool,
    /// Accepted for compatibility: the profile of an execution is always complete
    #[arg(long, default_value_t = 5_000)]
    pub profile_xla_duration_ms: u64,
    #[command(flatten)]
    refused: FlagsWithoutEffect,
}

/// Flags that ask for what is always done, with their help.
const ALREADY_SO: [(&str, &str); 5] = [
    ("randomize-input", "inputs are always drawn at random, from --seed"),
    ("disable-tf32", "nothing computes in TF32"),
    ("filter-by-single-graph", "every model is one graph"),
    ("no-skip", "there is no list of models to leave out"),
    ("collect-full-output", "inference computes no gradients"),
];

const NO_DYNAMO: &str = "models are not traced by TorchDynamo, which has no counters here";
const NO_TORCH: &str = "nothing runs in PyTorch; --profile-xla writes a profile of a simulated execution";
const NO_GPU: &str = "there is no GPU; trace_total_time and xla_ExecuteTime_time_s tell host and device apart";
const NO_PRECISION: &str =
    "the processor computes in float32; matmul-bench and bench --auto-cast have the types of NeuronCores";
/// Flags that have no meaning here, and what to use instead. The last takes a value.
const REFUSED: [(&str, &str); 8] = [
    ("save-output", "the suite's own verification always ends in an error; --verify compares outputs"),
    ("dump-dynamo-counters", NO_DYNAMO),
    ("collect-dynamo-counters", NO_DYNAMO),
    ("dump-pytorch-profiles", NO_TORCH),
    ("dump-pytorch-xla-metrics", "the records have XLA's times and counts (xla_CompileTime_*, xla_ExecuteTime_*)"),
    ("profile-cuda-cpu", NO_GPU),
    ("profile-cuda-cpu-individual-ops", NO_GPU),
    ("matmul-precision", NO_PRECISION),
];

/// The first flag that is refused, with the reason.
#[derive(Debug)]
struct FlagsWithoutEffect(Option<&'static (&'static str, &'static str)>);

impl ClapArgs for FlagsWithoutEffect {
    fn augment_args(command: Command) -> Command {
        let switch = |name: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue);
        let switches = ALREADY_SO.map(|(name, why)| switch(name).help(format!("Accepted for compatibility: {why}")));
        let refused =
            REFUSED.map(|(name, why)| if why == NO_PRECISION { Arg::new(name).long(name) } else { switch(name) });
        command.args(switches).args(refused.map(|arg| arg.hide(true)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for FlagsWithoutEffect {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self(REFUSED.iter().find(|(name, _)| matches.value_source(name) == Some(ValueSource::CommandLine))))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl SuiteArgs {
    /// Whether HLO is written.
    pub fn wants_hlo(&self) -> bool {
        self.dump_hlo || self.save_ir_format.is_some()
    }

    /// Whether messages of this level are shown.
    pub fn says(&self, level: LogLevelArg) -> bool {
        self.log_level >= level
    }

    /// Refuses flags that cannot be honoured. An error names the first flag that has no meaning here, and what to use instead.
    pub fn check(&self) -> Result<()> {
        let format = ("save-ir-format stablehlo", "HLO text is written: --save-ir-format hlo");
        let format = (self.save_ir_format == Some(IrFormatArg::Stablehlo)).then_some(&format);
        match self.refused.0.or(format) {
            Some((flag, reason)) => bail!("--{flag} has no meaning here: {reason}"),
            None => Ok(()),
        }
    }
}
