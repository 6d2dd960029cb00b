//! Rows of a table of options as flags.

use anyhow::{Result, anyhow};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

use super::kernel_file;
use ns_session::options::{Opt, Options, Takes};
use ns_session::studies::FieldKind;

/// The options of a subject that the command line names, with their texts.
#[derive(Debug)]
pub(super) struct OptionArgs<C: 'static>(Vec<(&'static Opt<C>, String)>);

/// The options whose flags are made of their rows.
fn with_flag<C: Options>() -> impl Iterator<Item = &'static Opt<C>> {
    C::options().filter(|option| !option.flag.is_elsewhere && !option.flag_name().is_empty())
}

/// Its name for clap, as that of a derived flag: with underscores.
fn id<C: Options>(option: &Opt<C>) -> String {
    option.flag_name().replace('-', "_")
}

fn arg<C: Options>(option: &'static Opt<C>) -> Arg {
    let flag = &option.flag;
    let arg = Arg::new(id(option)).long(option.flag_name()).help(option.flag_help()).short(flag.short);
    let arg = arg.aliases(flag.aliases).visible_aliases(flag.visible_aliases).help_heading(flag.heading);
    let arg = arg.conflicts_with_all(flag.conflicts);
    let arg = if option.scenarios.is_empty() { arg } else { arg.requires("scenario") };
    let arg = flag.needs.into_iter().fold(arg, |arg, key| arg.requires(key));
    if option.is_switch() {
        return arg.action(ArgAction::SetTrue);
    }
    let arg = arg.value_name(flag.value).allow_negative_numbers(true);
    let arg = arg.default_values(option.flag_default());
    let arg = match flag.takes {
        Takes::One => arg,
        Takes::List => arg.value_delimiter(',').action(ArgAction::Append),
        Takes::Each(_) => arg.action(ArgAction::Append),
    };
    let values = flag.values.iter().map(|(name, help)| PossibleValue::new(*name).help(*help));
    match (option.field.kind, flag.values) {
        (FieldKind::Model, _) => arg.value_parser(kernel_file::model),
        (_, []) if C::IS_USAGE && flag.takes == Takes::One => arg.value_parser(move |text: &str| check(option, text)),
        (_, []) => arg,
        _ => arg.value_parser(values.collect::<Vec<_>>()),
    }
}

/// The text, if it can be read. A range that depends on other options is checked later.
fn check<C: Options>(option: &Opt<C>, text: &str) -> Result<String, String> {
    let said = |e: String| e.split_once(": ").map_or(e.clone(), |(_, said)| said.to_owned());
    option.put(&mut C::default(), option.key(), text).map(|()| text.to_owned()).map_err(said)
}

impl<C: Options> Args for OptionArgs<C> {
    fn augment_args(command: Command) -> Command {
        let name = command.get_name().to_owned();
        let own = with_flag::<C>().filter(|option| option.is_of_command(&name));
        own.fold(command, |command, option| command.arg(arg(option)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<C: Options> FromArgMatches for OptionArgs<C> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        // A command has some of them.
        let is_own = |option: &&Opt<C>| matches.try_contains_id(&id(option)).is_ok();
        let is_named = |option: &&Opt<C>| matches.value_source(&id(option)) == Some(ValueSource::CommandLine);
        let named = with_flag::<C>().filter(is_own).filter(is_named);
        let text = |option: &Opt<C>| {
            if option.is_switch() {
                return "true".to_owned();
            }
            let texts: Vec<&str> =
                matches.get_many::<String>(&id(option)).into_iter().flatten().map(String::as_str).collect();
            texts.join(if let Takes::Each(between) = option.flag.takes { between } else { "," })
        };
        Ok(Self(named.map(|option| (option, text(option))).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// How messages call the flag of an option.
fn name_in_messages<C: Options>(option: &Opt<C>) -> String {
    format!("--{}", option.flag_name().replace('-', &C::BETWEEN_WORDS.to_string()))
}

/// A message that begins with the key of an option, as one that begins with its flag.
pub(super) fn said_of_flag<C: Options>(message: &impl std::fmt::Display) -> anyhow::Error {
    let message = message.to_string();
    let option = message.split_once(':').and_then(|(key, _)| C::option(key)).filter(|o| !o.flag_name().is_empty());
    option.map_or_else(|| anyhow!("{message}"), |o| anyhow!("{}{}", name_in_messages(o), &message[o.key().len()..]))
}

impl<C: Options> OptionArgs<C> {
    /// The text of an option; `None` if the command line does not name it.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(option, _)| option.key() == key).map(|(_, text)| text.as_str())
    }

    /// Gives an option a text.
    pub fn put_text(&mut self, key: &str, text: String) {
        self.0.extend(C::option(key).map(|option| (option, text)));
    }

    /// Puts the options that are named into a subject, but those of some keys. Fails with the flag at fault.
    pub fn put_into(&self, of: &mut C, but: &[&str]) -> Result<()> {
        for (option, text) in self.0.iter().filter(|(option, _)| !but.contains(&option.key())) {
            option.put(of, &name_in_messages(option), text).map_err(|e| anyhow!(e))?;
        }
        Ok(())
    }
}

/// A value with its name, and what the help says of it.
pub(super) type Choice<T> = (&'static str, &'static str, T);

/// The value with a name.
pub(super) fn one_of<T: Clone + Send + Sync>(choices: &'static [Choice<T>]) -> impl TypedValueParser<Value = T> {
    let names = choices.iter().map(|(name, help, _)| PossibleValue::new(*name).help(*help));
    PossibleValuesParser::new(names.collect::<Vec<_>>()).try_map(|name| {
        let choice = choices.iter().find(|(known, ..)| *known == name);
        choice.map(|(.., value)| value.clone()).ok_or("there is no such value")
    })
}
