//! Flags of `nki`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::args::write_format;
use super::option_args::OptionArgs;
use super::page_args::PageArgs;
use ns_session::WriteFormat;
use ns_session::studies::{BuiltInKernel, NkiStudy};

/// What a kernel is named by.
fn kernel_help() -> String {
    format!(
        "File of the kernel, with its function if it has several: kernel.py::attention. Python runs it; a recorded list (.json) needs none. Or \
         a kernel of this program: {}",
        BuiltInKernel::names()
    )
}

/// A time in microseconds, with or without its unit.
fn time_us(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches("us").trim_end_matches("\u{b5}s").trim_end();
    let time = number.parse::<f64>().ok().filter(|us| us.is_finite() && *us > 0.0);
    time.ok_or_else(|| "it is no time in microseconds, such as 900".to_owned())
}

#[derive(Debug, ClapArgs)]
pub(super) struct NkiArgs {
    #[arg(value_name = "FILE.py[::FUNCTION]|NAME", required_unless_present = "rank", help = kernel_help())]
    pub kernel: Option<String>,
    #[command(flatten)]
    pub options: OptionArgs<NkiStudy>,
    /// Rank kernels that do the same: A.py B.py::FUNCTION
    #[arg(long, value_name = "FILE.py[::FUNCTION]|NAME", num_args = 1.., conflicts_with = "kernel")]
    pub rank: Vec<String>,
    /// Keep what has a time in this file, and run only what it does not have yet; the file is of one source and call
    #[arg(long, value_name = "FILE", conflicts_with_all = ["output", "list"])]
    pub resume: Option<PathBuf>,
    /// Fail unless the kernel is within this time, microseconds
    #[arg(long, value_name = "US", value_parser = time_us)]
    pub budget_us: Option<f64>,
    /// Write the timeline of the engines, as Chrome trace JSON or in the format of --export
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Format to write: chrome, perfetto, speedscope, csv, xplane, neuron-plugin, tensorboard
    #[arg(long, value_parser = write_format, default_value = "chrome", requires = "output")]
    pub export: WriteFormat,
    /// Write the recorded list of instructions, which runs without Python
    #[arg(long, value_name = "FILE.json")]
    pub list: Option<PathBuf>,
    /// Write the answer as Markdown
    #[arg(long, value_name = "FILE.md")]
    pub report: Option<PathBuf>,
    #[command(flatten)]
    pub page: PageArgs,
    /// Print the answer as JSON
    #[arg(long)]
    pub json: bool,
}
