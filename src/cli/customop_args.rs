//! Flags of `customop`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

use super::args::write_format;
use super::option_args::OptionArgs;
use super::page_args::PageArgs;
use ns_session::WriteFormat;
use ns_session::studies::CustomopStudy;

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
    #[command(flatten)]
    pub options: OptionArgs<CustomopStudy>,
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
    #[command(flatten)]
    pub page: PageArgs,
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
