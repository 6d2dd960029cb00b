//! Flags of the commands about language models, from the options of their study.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args as ClapArgs;

use super::args::write_format;
use super::file;
use super::option_args::OptionArgs;
use super::page_args::PageArgs;
use ns_formats::WriteFormat;
use ns_session::studies::LlmStudy;

#[derive(Debug, ClapArgs)]
pub(super) struct LlmArgs {
    #[command(flatten)]
    options: OptionArgs<LlmStudy>,
    /// The config.json of a decoder instead
    #[arg(long, value_name = "FILE", conflicts_with = "model")]
    model_config: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub page: PageArgs,
}

impl LlmArgs {
    /// Whether a model is named, or a file of one.
    pub fn has_model(&self) -> bool {
        self.model_config.is_some() || self.options.text("model").is_some()
    }

    /// The study of these options; others have their defaults. The file of a model is read. Fails with the flag at fault, or when the
    /// file cannot be read.
    pub fn study(&self) -> Result<LlmStudy> {
        let mut study = LlmStudy::default();
        self.options.put_into(&mut study, &[])?;
        if let Some(path) = &self.model_config {
            study.set_file(&path.display().to_string(), &String::from_utf8_lossy(&file::read(path)?))?;
        }
        Ok(study)
    }
}

#[derive(Debug, ClapArgs)]
pub(super) struct GenerateArgs {
    #[command(flatten)]
    pub llm: LlmArgs,
    /// Write the median token as a timeline: layers, collectives, and the engines and DMA queues of one layer
    #[arg(long, value_name = "FILE", conflicts_with = "request_rate")]
    pub trace: Option<PathBuf>,
    /// Format to write: chrome, perfetto, speedscope, csv, xplane, neuron-plugin, tensorboard
    #[arg(long, value_parser = write_format, default_value = "chrome", requires = "trace")]
    pub trace_export: WriteFormat,
}
