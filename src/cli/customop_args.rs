//! Flags of `customop`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

use super::args::write_format;
use ns_formats::WriteFormat;
use ns_kernel::{Fill, KernelDtype};
use ns_neuron::gpsimd::Workload;

#[derive(Debug, ClapArgs)]
pub(super) struct CustomOpArgs {
    /// Kernels, as with --kernel
    #[arg(value_name = "KERNEL")]
    pub files: Vec<String>,
    /// Kernel: relu-element, relu-tcm, relu-multicore, relu-multicore-fixed, relu-any-type, or a C++ file, or the build.py of a library; several kernels are compared
    #[arg(long, required_unless_present_any = ["list", "files"], value_delimiter = ',')]
    pub kernel: Vec<String>,
    /// Run the kernel on all processors, like a library built with multicore=True, or with False on one [default: as the kernel is
    /// built]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub multicore: Option<bool>,
    /// File of shape functions, shape.cpp: each is run and compared with the kernel's result
    #[arg(long, value_name = "FILE.cpp")]
    pub shape: Vec<String>,
    /// Number of processors that work, 1 to 8; several numbers are compared [default: 8]
    #[arg(long, value_delimiter = ',')]
    pub cores: Option<Vec<u32>>,
    /// Give a static constexpr of the kernel other values and compare: buffer_size=128,512,1024,2048
    #[arg(long, value_name = "NAME=VALUES")]
    pub set: Option<String>,
    /// Widths of the network: input, hidden layers, output
    #[arg(long, value_delimiter = ',', default_value = "784,4096,2048,10")]
    pub layers: Vec<u64>,
    /// Samples of a step
    #[arg(long, alias = "batch-size", default_value_t = 32)]
    pub batch: u64,
    /// What a step does
    #[arg(long, value_enum, default_value = "inference")]
    pub workload: WorkloadArg,
    /// Also run the kernel on an input of this shape, and report that run: 1000,3
    #[arg(long, value_delimiter = ',')]
    pub input: Option<Vec<u64>>,
    /// Element type of the tensors that the kernel takes and returns; several are compared: float32,int32,int16
    #[arg(long, value_delimiter = ',', default_value = "float32")]
    pub dtype: Vec<KernelDtype>,
    /// Values of the inputs: element i of a ramp is (i - n/2) / 8
    #[arg(long, value_enum, default_value = "normal")]
    pub fill: FillArg,
    /// Seed of normally distributed inputs
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// What the kernel should compute, an expression of x (and y): 'x > 0 ? x : 0'
    #[arg(long)]
    pub reference: Option<String>,
    /// List the kernels that come with the program
    #[arg(long)]
    pub list: bool,
    /// Print the source of the kernel and stop
    #[arg(long)]
    pub source: bool,
    /// Write the timeline of the processors, as Chrome trace JSON or in the format of --export
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Format to write: chrome, perfetto, speedscope, csv, xplane, neuron-plugin, tensorboard
    #[arg(long, value_parser = write_format, default_value = "chrome", requires = "output")]
    pub export: WriteFormat,
    /// Print the answer as JSON; for several kernels, a list
    #[arg(long)]
    pub json: bool,
    /// What is printed
    #[arg(long, value_enum, default_value = "report", conflicts_with = "json")]
    pub print: PrintArg,
}

/// Forms of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum PrintArg {
    /// Rate, where the time goes, lines of the source, advice
    Report,
    /// The lines that the tutorial's inference.py prints
    Tutorial,
}

/// Workloads as the command line takes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum WorkloadArg {
    /// The forward pass
    Inference,
    /// Forward, backward and update
    Training,
}

impl From<WorkloadArg> for Workload {
    fn from(arg: WorkloadArg) -> Self {
        match arg {
            WorkloadArg::Inference => Self::Inference,
            WorkloadArg::Training => Self::Training,
        }
    }
}

/// Input values as the command line takes them.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum FillArg {
    /// Negative to positive in even steps
    Ramp,
    /// Normally distributed numbers, mean 0, standard deviation 1
    Normal,
}

impl From<FillArg> for Fill {
    fn from(arg: FillArg) -> Self {
        match arg {
            FillArg::Ramp => Self::Ramp,
            FillArg::Normal => Self::Normal,
        }
    }
}
