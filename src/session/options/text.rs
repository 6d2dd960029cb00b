//! Values of options as text.

use std::fmt::Display;
use std::str::FromStr;

use ns_base::without_underscores;
use ns_bench::mlperf::MlperfSettings;
use ns_bench::{BenchConfig, parse_copies, parse_list};

/// A text for an option, and the option's name in messages.
pub(super) struct OptionText<'a> {
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
pub(super) fn some<T: ToString>(value: Option<T>) -> String {
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
