//! Flags of the commands about language models, from the options of their study.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use clap::Args as ClapArgs;

use super::args::write_format;
use super::file::FileSource;
use super::option_args::OptionArgs;
use super::page_args::PageArgs;
use super::shell::Shell;
use ns_session::ByteSource as _;
use ns_session::WriteFormat;
use ns_session::options::Options as _;
use ns_session::studies::{LlmStudy, MAX_CONFIG_BYTES};

const CONFIG: &str = "config.json";

#[derive(Debug, ClapArgs)]
pub(super) struct LlmArgs {
    #[command(flatten)]
    options: OptionArgs<LlmStudy>,
    /// The model of --model
    #[arg(value_name = "MODEL", conflicts_with_all = ["model", "model_config"])]
    name: Option<String>,
    /// The config.json of a decoder instead, its folder, or a GGUF file
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
        self.model_config.is_some() || self.named().is_some()
    }

    fn named(&self) -> Option<&str> {
        self.options.text("model").or(self.name.as_deref())
    }

    /// The study of these options; others have their defaults. The file of a model is read, also where it is given as the model. Fails with
    /// the flag at fault, or when the file cannot be read.
    pub fn study(&self, shell: &Shell) -> Result<LlmStudy> {
        let mut study = LlmStudy::default();
        let in_folder = |path: &Path| if path.is_dir() { path.join(CONFIG) } else { path.to_owned() };
        let file = self.named().map(|name| in_folder(Path::new(name))).filter(|path| path.is_file());
        self.options.put_into(&mut study, &["model"])?;
        if let (Some(name), None, Some(option)) = (self.named(), &file, LlmStudy::option("model")) {
            option.put(&mut study, "--model", name).map_err(|e| anyhow!(e))?;
        }
        if let Some(path) = file.or(self.model_config.as_deref().map(in_folder)) {
            // A GGUF file has its sizes at its start and gigabytes behind them.
            study.set_file(
                &path.display().to_string(),
                &FileSource::open(shell, &path)?.slice(0, MAX_CONFIG_BYTES + 1)?,
            )?;
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
