//! Values of options as text.

use std::fmt::Display;
use std::str::FromStr;

use ns_base::{Refusal, without_underscores};
use ns_bench::mlperf::MlperfSettings;
use ns_bench::{BenchConfig, parse_copies, parse_list};
use ns_machine::arch::size_name;

/// A text for an option, and the option's name in messages.
pub struct OptionText<'a> {
    pub name: &'a str,
    pub text: &'a str,
}

impl OptionText<'_> {
    /// The message that the text is not what is wanted.
    pub fn wrong(&self, wanted: &str) -> String {
        format!("{}: '{}' is not {wanted}", self.name, self.text)
    }

    pub fn number<T: FromStr>(&self, wanted: &str) -> Result<T, String> {
        without_underscores(self.text).parse().map_err(|_| self.wrong(wanted))
    }

    /// A number; `default` for an empty text.
    pub fn number_or<T: FromStr>(&self, default: T, wanted: &str) -> Result<T, String> {
        if self.text.is_empty() { Ok(default) } else { self.number(wanted) }
    }

    /// A number; `None` for an empty text.
    pub fn some_number<T: FromStr>(&self, wanted: &str) -> Result<Option<T>, String> {
        if self.text.is_empty() { Ok(None) } else { self.number(wanted).map(Some) }
    }

    /// A number in the range of its type.
    pub fn in_range<T: FromStr>(&self) -> Result<T, String> {
        self.number("a number in the allowed range")
    }

    pub fn whole<T: FromStr>(&self) -> Result<T, String> {
        self.number("a whole number in the allowed range")
    }

    /// `true` or `false`.
    pub fn flag(&self) -> Result<bool, String> {
        let wrong = |_| format!("{}: '{}' is not possible; use true or false", self.name, self.text);
        self.text.parse().map_err(wrong)
    }

    pub fn name(&self) -> Result<String, String> {
        self.some_text().ok_or_else(|| self.wrong("a name"))
    }

    /// A number that is right; `None` for an empty text.
    pub fn some_where<T: FromStr>(&self, wanted: &str, is_right: impl Fn(&T) -> bool) -> Result<Option<T>, String> {
        let number = self.some_number(wanted)?;
        if number.as_ref().is_none_or(is_right) { Ok(number) } else { Err(self.wrong(wanted)) }
    }

    /// A whole number above 0; `None` for an empty text.
    pub fn some_count<T: FromStr + Default + PartialOrd>(&self) -> Result<Option<T>, String> {
        self.some_where("a whole number above 0", |n| *n > T::default())
    }

    /// A number above 0; `None` for an empty text.
    pub fn above_zero(&self, wanted: &str) -> Result<Option<f64>, String> {
        self.some_where(wanted, |x| (f64::MIN_POSITIVE..=f64::MAX).contains(x))
    }

    /// A value whose own message names the option.
    pub fn known<T: FromStr<Err: Display>>(&self) -> Result<T, String> {
        self.text.parse().map_err(|e| self.called(&e))
    }

    /// The same; `None` for an empty text.
    pub fn some_known<T: FromStr<Err: Display>>(&self) -> Result<Option<T>, String> {
        if self.text.is_empty() { Ok(None) } else { self.known().map(Some) }
    }

    /// `None` for an empty text.
    pub fn some_text(&self) -> Option<String> {
        (!self.text.is_empty()).then(|| self.text.to_owned())
    }

    /// The size of an instance, by its name or its family; `None` for an empty text.
    pub fn some_size(&self) -> Option<String> {
        (!self.text.is_empty()).then(|| size_name(self.text).to_owned())
    }

    /// Each entry of a list with commas, read by a function whose message may begin with the key of the option.
    pub fn each<T>(&self, read: impl Fn(&str) -> Result<T, Refusal>) -> Result<Vec<T>, String> {
        self.text.split(',').map(|entry| read(entry.trim())).collect::<Result<_, _>>().map_err(|e| self.called(&e))
    }

    /// Each entry of a list with commas that is not empty.
    pub fn each_text<T>(&self, read: impl Fn(OptionText<'_>) -> Result<T, String>) -> Result<Vec<T>, String> {
        let entries = self.text.split(',').map(str::trim).filter(|entry| !entry.is_empty());
        entries.map(|text| read(OptionText { name: self.name, text })).collect()
    }

    /// A message that begins with a key, with the name of this option in its place.
    pub fn called(&self, message: &dyn Display) -> String {
        let message = message.to_string();
        match message.split_once(": ") {
            Some((key, said)) if !key.contains(' ') => format!("{}: {said}", self.name),
            _ => format!("{}: {message}", self.name),
        }
    }

    pub fn ms(&self) -> Result<f64, String> {
        self.number_or(0.0, "a number of milliseconds, such as 2.5")
    }

    pub fn counts(&self) -> Result<Vec<u32>, String> {
        parse_list(self.name, self.text).map_err(|e| e.to_string())
    }

    /// A list; `None` for an empty text.
    pub fn some_counts(&self) -> Result<Option<Vec<u32>>, String> {
        if self.text.is_empty() { Ok(None) } else { self.counts().map(Some) }
    }

    /// A list of copies; `None` for an empty text.
    pub fn some_copies(&self) -> Result<Option<Vec<u32>>, String> {
        if self.text.is_empty() {
            Ok(None)
        } else {
            parse_copies(self.name, self.text).map(Some).map_err(|e| e.to_string())
        }
    }

    /// What a text means whose own message does not name the option; the default for an empty text.
    pub fn parsed<T: FromStr<Err: Display> + Default>(&self) -> Result<T, String> {
        if self.text.is_empty() {
            return Ok(T::default());
        }
        self.text.parse().map_err(|e| format!("{}: {e}", self.name))
    }

    /// The value of a choice.
    pub fn choice<T: Copy>(&self, choices: &[Choice<T>]) -> Result<T, String> {
        let known = || choices.iter().map(|(name, ..)| *name).collect::<Vec<_>>().join(" or ");
        let found = choices.iter().find(|(name, ..)| *name == self.text).map(|(.., value)| *value);
        found.ok_or_else(|| self.wrong(&known()))
    }

    /// The value of one of several names; `default` for an empty text.
    pub fn one_of<T: Copy>(&self, names: &[(&str, T)], default: T) -> Result<T, String> {
        if self.text.is_empty() {
            return Ok(default);
        }
        let known = || names.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(" or ");
        let found = names.iter().find(|(name, _)| *name == self.text).map(|(_, value)| *value);
        found.ok_or_else(|| self.wrong(&known()))
    }
}

/// A value with its name, and what the help says of it.
pub type Choice<T> = (&'static str, &'static str, T);

/// The names of choices with their help.
pub const fn names<T: Copy, const N: usize>(choices: [Choice<T>; N]) -> [(&'static str, &'static str); N] {
    let (mut all, mut at) = ([("", ""); N], 0);
    while at < N {
        all[at] = (choices[at].0, choices[at].1);
        at += 1;
    }
    all
}

/// The name of a value.
pub fn name_of_choice<T: PartialEq>(choices: &[Choice<T>], value: T) -> String {
    choices.iter().filter(|(.., known)| *known == value).map(|(name, ..)| *name).collect()
}

/// The text of a value; empty for the default.
pub(super) fn unless<T: PartialEq>(value: &T, default: &T, text: impl FnOnce(&T) -> String) -> String {
    if value == default { String::new() } else { text(value) }
}

/// The name of a value; empty for the default.
pub(super) fn name_of<T: PartialEq>(names: &[(&str, T)], value: &T, default: &T) -> String {
    let name = |value: &T| names.iter().find(|(_, v)| v == value).map_or_else(String::new, |(name, _)| (*name).into());
    unless(value, default, name)
}

/// The text of a value that may be absent.
pub fn some<T: ToString>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// The text of a setting of the scenario; empty for the value of MLPerf's rules, and without a scenario.
pub(super) fn of_scenario<T: PartialEq + ToString>(config: &BenchConfig, get: fn(&MlperfSettings) -> T) -> String {
    let Some(settings) = &config.mlperf else { return String::new() };
    unless(&get(settings), &get(&MlperfSettings::official(settings.scenario)), T::to_string)
}

/// Changes a setting of the scenario, beside the values of MLPerf's rules; without a scenario it has no effect.
pub(super) fn put_in_scenario(
    config: &mut BenchConfig,
    put: impl FnOnce(&mut MlperfSettings, &MlperfSettings) -> Result<(), String>,
) -> Result<(), String> {
    let Some(settings) = &mut config.mlperf else { return Ok(()) };
    let rules = MlperfSettings::official(settings.scenario);
    put(settings, &rules)
}
