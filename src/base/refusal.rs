//! The error of the crates below the shells: a sentence, and what to do instead.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Why something cannot be done, in one sentence that `grep` finds in the sources, and what the user can do instead.
///
/// Made by [`refuse!`](crate::refuse). It has no place: whoever knows the line, the byte or the node adds it (`ImportError`, for example). A caller
/// that has to tell cases apart gets an enum from the function that it calls; a refusal is for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    what: Box<str>,
    instead: Cow<'static, str>,
}

impl Refusal {
    /// A refusal without advice.
    #[must_use]
    pub fn new(what: impl Into<Box<str>>) -> Self {
        Self { what: what.into(), instead: Cow::Borrowed("") }
    }

    /// What is wrong.
    pub fn what(&self) -> &str {
        &self.what
    }

    /// What to do instead; empty when nobody said.
    pub fn instead(&self) -> &str {
        &self.instead
    }

    /// Adds advice, unless it has some: whoever met the problem knows more than its callers.
    #[must_use]
    pub fn advise(mut self, instead: impl Into<Cow<'static, str>>) -> Self {
        if self.instead.is_empty() {
            self.instead = instead.into();
        }
        self
    }

    /// The same advice, for a sentence that says where: `error.within(|what| format!("node {name}: {what}"))`.
    #[must_use]
    pub fn within(mut self, sentence: impl FnOnce(&str) -> String) -> Self {
        self.what = sentence(&self.what).into();
        self
    }
}

/// What is wrong and what to do instead, as one sentence.
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        match self.instead() {
            "" => Ok(()),
            instead => write!(f, "; {instead}"),
        }
    }
}

impl std::error::Error for Refusal {}

/// For the boundary of the session, where errors are texts.
impl From<Refusal> for String {
    fn from(error: Refusal) -> Self {
        error.to_string()
    }
}

/// A [`Refusal`] from a sentence, and from advice where there is some:
/// `refuse!("{name} has {n} axes")`, `refuse!(instead = "export the model again", "{name} has {n} axes")`.
#[macro_export]
macro_rules! refuse {
    (instead = $instead:expr, $($what:tt)+) => {
        $crate::Refusal::new(::std::format!($($what)+)).advise($instead)
    };
    ($($what:tt)+) => {
        $crate::Refusal::new(::std::format!($($what)+))
    };
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_first_advice_stays_and_sentences_nest() {
        let axes = 3;
        let error = refuse!(instead = "split it", "it has {axes} axes").advise("export the model again");
        let error = error.within(|what| format!("node a: {what}"));
        assert_eq!((error.what(), error.instead()), ("node a: it has 3 axes", "split it"));
        assert_eq!(String::from(error), "node a: it has 3 axes; split it");
        assert_eq!(refuse!("it has {axes} axes").advise("export it").instead(), "export it");
    }
}
