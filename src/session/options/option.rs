//! A row of the table of options.

use super::table::BENCH_OPTIONS;
use super::text::OptionText;
use crate::studies::FormField;
use ns_base::names;
use ns_bench::BenchConfig;

/// An option of a benchmark.
#[derive(Debug)]
pub struct BenchOption {
    /// Its field on the page, whose key is its name in links: `n_models`.
    pub field: FormField,
    /// Where the field is in the form.
    pub group: OptionGroup,
    /// MLPerf scenarios that have it; empty if it is not about a scenario.
    pub scenarios: &'static [&'static str],
    /// Its name in [`BenchConfig`], which messages have, if it is not the key: `duration_s`.
    pub(super) name: &'static str,
    pub flag: Flag,
    /// Its text in a configuration; empty for a default that depends on other options, or that is not worth a word.
    pub(super) get: fn(&BenchConfig) -> String,
    /// Reads a text into a configuration.
    pub(super) put: fn(&mut BenchConfig, &OptionText<'_>) -> Result<(), String>,
}

names! {
    /// A part of the form.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum OptionGroup {
        /// Always visible.
        Main = "",
        /// How a model is compiled, and its name in reports.
        Compile = "Model and compiler",
        /// The work on the host and the input data.
        Host = "Host and data",
        Scenario = "MLPerf scenario",
        /// The measured time and the price.
        Time = "Time and cost",
    }

    /// Title above its fields.
    pub const fn title(self) -> &'static str;
}

impl OptionGroup {
    /// Its options, in the order of the form.
    pub fn options(self) -> impl Iterator<Item = &'static BenchOption> {
        BENCH_OPTIONS.iter().filter(move |option| option.group == self)
    }
}

/// The flag of an option.
#[derive(Debug)]
pub struct Flag {
    /// Its name without dashes: `n-models`. Empty for an option that has no flag of its own.
    pub name: &'static str,
    /// What its value is: `LIST`.
    pub value: &'static str,
    pub help: &'static str,
    /// A letter that stands for it too.
    pub short: Option<char>,
    /// Other names for it, those of NeuronPerf's functions.
    pub aliases: &'static [&'static str],
    /// Whether its value is a list.
    pub is_list: bool,
    /// Its default, which the help shows.
    pub default: Option<&'static str>,
    /// The values that it takes, each with its help; empty if there are too many to list.
    pub values: &'static [(&'static str, &'static str)],
    /// The heading of its group in the help.
    pub heading: Option<&'static str>,
}

impl Flag {
    pub(super) const NONE: Self = Self::new("", "", "");

    pub(super) const fn new(name: &'static str, value: &'static str, help: &'static str) -> Self {
        Self { name, value, help, short: None, aliases: &[], is_list: false, default: None, values: &[], heading: None }
    }

    pub(super) const fn short(mut self, short: char) -> Self {
        self.short = Some(short);
        self
    }

    pub(super) const fn aliases(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    pub(super) const fn list(mut self) -> Self {
        self.is_list = true;
        self
    }

    pub(super) const fn default(mut self, default: &'static str) -> Self {
        self.default = Some(default);
        self
    }

    pub(super) const fn values(mut self, values: &'static [(&'static str, &'static str)]) -> Self {
        self.values = values;
        self
    }

    pub(super) const fn heading(mut self, heading: &'static str) -> Self {
        self.heading = Some(heading);
        self
    }
}

impl BenchOption {
    /// The option with a key; `None` if there is none.
    pub fn find(key: &str) -> Option<&'static Self> {
        BENCH_OPTIONS.iter().find(|option| option.field.key == key)
    }

    /// Its name in links.
    pub const fn key(&self) -> &'static str {
        self.field.key
    }

    /// The text of this option in a configuration; empty for NeuronPerf's default.
    pub fn text(&self, config: &BenchConfig) -> String {
        (self.get)(config)
    }

    /// Puts a text into a configuration. A text that cannot be used leaves it as it was. An empty text means the default
    /// if there is one that depends on other options.
    ///
    /// # Errors
    /// One sentence for the user: what is wrong and what would be right.
    pub fn set(&self, config: &mut BenchConfig, text: &str) -> Result<(), String> {
        let mut next = config.clone();
        let name = if self.name.is_empty() { self.key() } else { self.name };
        self.put(&mut next, name, text)?;
        let mine = |p: &&ns_bench::ConfigError| p.field == name;
        if let Some(problem) = next.problems().iter().find(mine) {
            return Err(problem.refusal.to_string());
        }
        *config = next;
        Ok(())
    }

    /// Puts a text into a configuration, whose ranges are not checked. Messages call the option `name`.
    ///
    /// # Errors
    /// One sentence for the user: what is wrong and what would be right.
    pub fn put(&self, config: &mut BenchConfig, name: &str, text: &str) -> Result<(), String> {
        (self.put)(config, &OptionText { name, text: text.trim() })
    }

    /// Whether it has a meaning beside a scenario; the empty text is none.
    pub fn is_of_scenario(&self, scenario: &str) -> bool {
        self.scenarios.is_empty() || self.scenarios.contains(&scenario)
    }
}
