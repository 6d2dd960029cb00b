//! The options of a benchmark as flags.

use anyhow::{Result, anyhow};
use clap::builder::PossibleValue;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};

use super::kernel_file;
use ns_bench::{BenchConfig, comma_list};
use ns_session::options::{BENCH_OPTIONS, BenchOption};

/// The options that the command line names, with their texts.
#[derive(Debug)]
pub(super) struct OptionArgs(Vec<(&'static BenchOption, String)>);

/// The options that have a flag of their own.
fn with_flag() -> impl Iterator<Item = &'static BenchOption> {
    BENCH_OPTIONS.iter().filter(|option| !option.flag.name.is_empty())
}

fn arg(option: &'static BenchOption) -> Arg {
    let flag = &option.flag;
    let arg = Arg::new(flag.name).long(flag.name).value_name(flag.value).help(flag.help).allow_negative_numbers(true);
    let arg = if option.scenarios.is_empty() { arg } else { arg.requires("scenario") };
    let arg = if flag.is_list { arg.value_delimiter(',') } else { arg };
    let arg = match (option.key(), flag.values) {
        ("model", _) => arg.value_parser(kernel_file::model),
        (_, []) => arg,
        (_, values) => arg
            .value_parser(values.iter().map(|(name, help)| PossibleValue::new(*name).help(*help)).collect::<Vec<_>>()),
    };
    arg.short(flag.short).aliases(flag.aliases).default_value(flag.default).help_heading(flag.heading)
}

impl Args for OptionArgs {
    fn augment_args(command: Command) -> Command {
        with_flag().fold(command, |command, option| command.arg(arg(option)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for OptionArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let is_named = |name: &str| matches.value_source(name) == Some(ValueSource::CommandLine);
        let text = |name: &str| comma_list(&matches.get_many::<String>(name).into_iter().flatten().collect::<Vec<_>>());
        let named = with_flag().filter(|option| is_named(option.flag.name));
        Ok(Self(named.map(|option| (option, text(option.flag.name))).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl OptionArgs {
    /// The text of an option; `None` if the command line does not name it.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(option, _)| option.key() == key).map(|(_, text)| text.as_str())
    }

    /// Gives an option a text.
    pub fn put_text(&mut self, key: &str, text: String) {
        self.0.extend(BenchOption::find(key).map(|option| (option, text)));
    }

    /// The benchmark of these options; options that are not named have their defaults. A dataset may be a file, which is not read here.
    ///
    /// # Errors
    /// With the flag at fault.
    pub fn config(&self) -> Result<BenchConfig> {
        let mut config = BenchConfig::default();
        for (option, text) in self.0.iter().filter(|(option, _)| option.key() != "dataset") {
            option.put(&mut config, &format!("--{}", option.flag.name), text).map_err(|e| anyhow!(e))?;
        }
        Ok(config)
    }
}
