//! Flags of the suite's experiment runner that say how a run is reported and what it writes beside its records; and flags
//! that have no meaning here, each with the reason.

use anyhow::{Result, bail};
use clap::{Args as ClapArgs, ValueEnum};

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
    pub given: AlreadySoArgs,
    #[command(flatten)]
    pub refused: RefusedArgs,
}

/// Flags that ask for what is always done.
#[derive(Debug, ClapArgs)]
pub(super) struct AlreadySoArgs {
    /// Accepted for compatibility: inputs are always drawn at random, from --seed
    #[arg(long)]
    pub randomize_input: bool,
    /// Accepted for compatibility: nothing computes in TF32
    #[arg(long)]
    pub disable_tf32: bool,
    /// Accepted for compatibility: every model is one graph
    #[arg(long)]
    pub filter_by_single_graph: bool,
    /// Accepted for compatibility: there is no list of models to leave out
    #[arg(long)]
    pub no_skip: bool,
    /// Accepted for compatibility: inference computes no gradients
    #[arg(long)]
    pub collect_full_output: bool,
}

/// Flags that have no meaning here.
#[derive(Debug, ClapArgs)]
pub(super) struct RefusedArgs {
    #[arg(long, hide = true)]
    save_output: bool,
    #[arg(long, hide = true)]
    dump_dynamo_counters: bool,
    #[arg(long, hide = true)]
    collect_dynamo_counters: bool,
    #[arg(long, hide = true)]
    dump_pytorch_profiles: bool,
    #[arg(long, hide = true)]
    dump_pytorch_xla_metrics: bool,
    #[arg(long, hide = true)]
    profile_cuda_cpu: bool,
    #[arg(long, hide = true)]
    profile_cuda_cpu_individual_ops: bool,
    #[arg(long, hide = true)]
    matmul_precision: Option<String>,
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
        let no_dynamo = "models are not traced by TorchDynamo, which has no counters here";
        let no_torch = "nothing runs in PyTorch; --profile-xla writes a profile of a simulated execution";
        let no_gpu = "there is no GPU; trace_total_time and xla_ExecuteTime_time_s tell host and device apart";
        let refused = &self.refused;
        let flags = [
            (
                refused.save_output,
                "--save-output",
                "the suite's own verification always ends in an error; --verify compares outputs",
            ),
            (refused.dump_dynamo_counters, "--dump-dynamo-counters", no_dynamo),
            (refused.collect_dynamo_counters, "--collect-dynamo-counters", no_dynamo),
            (refused.dump_pytorch_profiles, "--dump-pytorch-profiles", no_torch),
            (
                refused.dump_pytorch_xla_metrics,
                "--dump-pytorch-xla-metrics",
                "the records have XLA's times and counts (xla_CompileTime_*, xla_ExecuteTime_*)",
            ),
            (refused.profile_cuda_cpu, "--profile-cuda-cpu", no_gpu),
            (refused.profile_cuda_cpu_individual_ops, "--profile-cuda-cpu-individual-ops", no_gpu),
            (
                refused.matmul_precision.is_some(),
                "--matmul-precision",
                "the processor computes in float32; matmul-bench and bench --auto-cast have the types of NeuronCores",
            ),
            (
                self.save_ir_format == Some(IrFormatArg::Stablehlo),
                "--save-ir-format stablehlo",
                "HLO text is written: --save-ir-format hlo",
            ),
        ];
        match flags.into_iter().find(|(is_set, ..)| *is_set) {
            Some((_, flag, reason)) => bail!("{flag} has no meaning here: {reason}"),
            None => Ok(()),
        }
    }
}
