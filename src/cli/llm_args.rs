//! Flags of the commands about language models, from the options of their study.

use std::path::PathBuf;

use anyhow::{Result, anyhow};
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args as ClapArgs, Command, FromArgMatches, value_parser};

use super::args::write_format;
use super::file;
use ns_formats::WriteFormat;
use ns_session::studies::{FieldKind, LLM_OPTIONS, LlmCommand, LlmOption, LlmStudy};

/// The options that the command line names, with their texts: those of `fit` or of `generate`.
#[derive(Debug)]
pub(super) struct LlmOptions<const IS_FIT: bool>(Vec<(&'static LlmOption, String)>);

impl<const IS_FIT: bool> LlmOptions<IS_FIT> {
    fn all() -> impl Iterator<Item = &'static LlmOption> {
        let is_own = |command: &LlmCommand| (*command == LlmCommand::Fit) == IS_FIT;
        LLM_OPTIONS.iter().filter(move |option| option.commands.iter().any(is_own))
    }

    /// The text of an option; `None` if the command line does not name it.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(option, _)| option.field.key == key).map(|(_, text)| text.as_str())
    }

    /// Whether a model is named, or a file of one.
    pub fn has_model(&self) -> bool {
        self.text("model").or_else(|| self.text("config")).is_some()
    }

    /// The study of these options; others have their defaults. The file of a model is read.
    ///
    /// # Errors
    /// With the flag at fault, or when the file cannot be read.
    pub fn study(&self) -> Result<LlmStudy> {
        let mut study = LlmStudy::default();
        for (option, text) in &self.0 {
            if option.field.key == "config" {
                study.set_file(text, &String::from_utf8_lossy(&file::read(&PathBuf::from(text))?))?;
            } else {
                option.put(&mut study, &format!("--{}", option.flag.0), text).map_err(|e| anyhow!(e.to_string()))?;
            }
        }
        Ok(study)
    }
}

fn arg(option: &'static LlmOption) -> Arg {
    let (name, value) = option.flag;
    let arg = Arg::new(name).long(name).value_name(value).help(option.help).allow_negative_numbers(true);
    let arg = match option.field.kind {
        FieldKind::Whole => arg.value_parser(value_parser!(u64)),
        FieldKind::Decimal => arg.value_parser(value_parser!(f64)),
        FieldKind::Numbers => arg.value_parser(value_parser!(u64)).value_delimiter(','),
        _ => arg,
    };
    match option.field.key {
        "config" => arg.conflicts_with("model"),
        "requests" | "prefill_chunk" => arg.requires("request-rate"),
        "acceptance" => arg.requires("guesses"),
        _ if option.text(&LlmStudy::default()) == option.field.placeholder => {
            arg.default_value((!option.field.placeholder.is_empty()).then_some(option.field.placeholder))
        }
        _ => arg,
    }
}

impl<const IS_FIT: bool> ClapArgs for LlmOptions<IS_FIT> {
    fn augment_args(command: Command) -> Command {
        Self::all().fold(command, |command, option| command.arg(arg(option)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<const IS_FIT: bool> FromArgMatches for LlmOptions<IS_FIT> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let named = Self::all().filter(|option| matches.value_source(option.flag.0) == Some(ValueSource::CommandLine));
        let text = |name: &str| {
            let words = matches.get_raw(name).into_iter().flatten().map(|word| word.to_string_lossy());
            words.collect::<Vec<_>>().join(",")
        };
        Ok(Self(named.map(|option| (option, text(option.flag.0))).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[derive(Debug, ClapArgs)]
pub(super) struct GenerateArgs {
    #[command(flatten)]
    pub options: LlmOptions<false>,
    /// Write the median token as a timeline: layers, collectives, and the engines and DMA queues of one layer
    #[arg(long, value_name = "FILE", conflicts_with = "request-rate")]
    pub trace: Option<PathBuf>,
    /// Format to write: chrome, perfetto, speedscope, csv, xplane, neuron-plugin, tensorboard
    #[arg(long, value_parser = write_format, default_value = "chrome", requires = "trace")]
    pub trace_export: WriteFormat,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Without a model: every published one, and at which degree it fits on which instance
#[derive(Debug, ClapArgs)]
pub(super) struct FitArgs {
    #[command(flatten)]
    pub options: LlmOptions<true>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
