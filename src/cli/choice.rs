//! A flag that takes one of several values by their names.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

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
