//! A row of a table of options.

use super::text::OptionText;
use crate::commands::CommandLine;
use crate::studies::{FieldKind, FormField};
use ns_base::names;

/// What a command, a form and a link say of a subject `C`: a table of options, each of which has one text.
pub trait Options: Clone + Default + 'static {
    /// In the order of links, of the parts of the form and of the help.
    const OPTIONS: &'static [&'static [Opt<Self>]];
    /// What stands between the words of a flag in messages.
    const BETWEEN_WORDS: char = '-';
    /// Whether a value that cannot be read is wrong usage of the command.
    const IS_USAGE: bool = true;
    /// Whether messages of a form call an option by its label.
    const SAYS_LABELS: bool = false;

    /// Why an option cannot be used beside the others, once it is changed; messages call it `name`.
    fn problem(&self, name: &str) -> Option<String> {
        let _ = name;
        None
    }

    fn options() -> impl Iterator<Item = &'static Opt<Self>> {
        Self::OPTIONS.iter().copied().flatten()
    }

    /// The option with a key; `None` if there is none.
    fn option(key: &str) -> Option<&'static Opt<Self>> {
        Self::options().find(|option| option.key() == key)
    }

    /// The text of an option; empty for an unknown one.
    fn text_of(&self, key: &str) -> String {
        Self::option(key).map_or_else(String::new, |option| option.text(self))
    }

    /// Puts a text into an option. A text that cannot be used leaves it as it was. Fails with one sentence for the user: what is wrong and
    /// what would be right.
    fn set_text(&mut self, key: &str, text: &str) -> Result<(), String> {
        Self::option(key).ok_or_else(|| format!("there is no field '{key}'"))?.set(self, text)
    }
}

/// An option of a subject.
#[derive(Debug)]
pub struct Opt<C: 'static> {
    /// Its field on the page, whose key is its name in links: `n_models`.
    pub field: FormField,
    /// Where the field is in the form.
    pub group: OptionGroup,
    /// MLPerf scenarios that have it; empty if it is not about a scenario.
    pub scenarios: &'static [&'static str],
    /// Its name in the subject, which messages have, if it is not the key: `duration_s`.
    pub(super) name: &'static str,
    pub flag: Flag,
    /// Its text in a subject; empty for a default that depends on other options, or that is not worth a word.
    pub(super) get: fn(&C) -> String,
    /// Reads a text into a subject.
    pub(super) put: Put<C>,
}

/// Reads a text into a subject. Fails with one sentence for the user.
pub type Put<C> = fn(&mut C, &OptionText<'_>) -> Result<(), String>;

/// A row.
pub const fn opt<C>(field: FormField, flag: Flag, get: fn(&C) -> String, put: Put<C>) -> Opt<C> {
    Opt { field, group: OptionGroup::Main, scenarios: &[], name: "", flag, get, put }
}

impl<C> Opt<C> {
    /// At another place of the form.
    pub(super) const fn at(self, group: OptionGroup) -> Self {
        Self { group, ..self }
    }

    /// With another name in the subject.
    pub(super) const fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    /// About these scenarios.
    pub(super) const fn of(self, scenarios: &'static [&'static str]) -> Self {
        Self { scenarios, ..self }
    }
}

/// The rows of a subject's `options` of the compiler, in `neuronx-cc`'s names.
macro_rules! compiler_rows {
    (|$s:ident| $options:expr) => {{
        use crate::studies::{AUTO_CAST_TYPES, AUTO_CASTS, FieldKind, OPT_LEVELS, field};
        [
    crate::options::opt(field("auto_cast", "Auto-cast", "", "", FieldKind::Choice(AUTO_CASTS)),
        crate::options::flag("WHICH", "Which operations are cast: none, matmult (the default up to SDK 2.26, and in the published tables) or all").aliases(&["cast-mode"]),
        |$s| $options.auto_cast.to_string(), |$s, given| given.known().map(|cast| $options.auto_cast = cast)),
    crate::options::opt(field("auto_cast_type", "Cast type", "", "", FieldKind::Choice(AUTO_CAST_TYPES)),
        crate::options::flag("TYPE", "Type they are cast to: bf16, fp16, tf32 or fp8_e4m3"),
        |$s| $options.auto_cast_type.to_string(), |$s, given| given.known().map(|cast| $options.auto_cast_type = cast)),
    crate::options::opt(field("optlevel", "Optimisation level", "", "", FieldKind::Choice(OPT_LEVELS)),
        crate::options::flag("LEVEL", "Optimisation level: 1 (no fusion), 2 or 3").short('O'),
        |$s| $options.opt_level.to_string(), |$s, given| given.known().map(|level| $options.opt_level = level)),
    crate::options::opt(field("lnc", "Cores per logical core", "", "", FieldKind::Choice(&[("", "the instance\u{2019}s"), ("1", "1"), ("2", "2")])),
        crate::options::flag("CORES", "Physical NeuronCores in one logical core, where there is a choice (Trn2: 1 or 2) [default: the device's]").aliases(&["logical-nc-config"]),
        |$s| crate::options::some($options.lnc), |$s, given| given.some_count().map(|n| $options.lnc = n)),
]
    }};
}
pub(crate) use compiler_rows;

/// The fields of rows, of which there are `N`.
pub const fn fields<C, const N: usize>(rows: &[Opt<C>]) -> [FormField; N] {
    let (mut all, mut at) = ([rows[0].field; N], 0);
    while at < N {
        all[at] = rows[at].field;
        at += 1;
    }
    all
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
        /// Beside the fields that are always visible.
        Advanced = "Advanced",
    }

    /// Title above its fields.
    pub const fn title(self) -> &'static str;
}

impl OptionGroup {
    /// Its options, in the order of the form.
    pub fn options<C: Options>(self) -> impl Iterator<Item = &'static Opt<C>> {
        C::options().filter(move |option| option.group == self)
    }
}

/// How often a flag is given, and what it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    One,
    /// A list, with commas between its entries.
    List,
    /// Parts with this between them; the flag is given for each.
    Each(&'static str),
}

#[derive(Debug)]
pub struct Flag {
    /// Its name without dashes, `n-models`; `None` for that of the key. Empty for an option that has no flag of its own.
    name: Option<&'static str>,
    /// What its value is: `LIST`.
    pub value: &'static str,
    help: &'static str,
    /// A letter that stands for it too.
    pub short: Option<char>,
    /// Other names for it, those of NeuronPerf's functions.
    pub aliases: &'static [&'static str],
    /// Other names that the help shows.
    pub visible_aliases: &'static [&'static str],
    pub takes: Takes,
    /// Its default as the help shows it, if it is not the text of the default.
    pub default: Option<&'static str>,
    /// The values that it takes, each with its help; empty if there are too many to list.
    pub values: &'static [(&'static str, &'static str)],
    /// The heading of its group in the help.
    pub heading: Option<&'static str>,
    /// Commands that have it; empty for all that take the subject.
    pub commands: &'static [&'static str],
    /// Keys of options that contradict it.
    pub conflicts: &'static [&'static str],
    /// The key of an option that it needs.
    pub needs: Option<&'static str>,
    /// Whether the command declares it by itself: printed commands have it, and its values are read elsewhere.
    pub is_elsewhere: bool,
}

/// The flag with the name of the key; without help it has that of the field.
pub const fn flag(value: &'static str, help: &'static str) -> Flag {
    Flag { name: None, ..Flag::new("", value, help) }
}

impl Flag {
    pub const NONE: Self = Self::new("", "", "");

    pub const fn new(name: &'static str, value: &'static str, help: &'static str) -> Self {
        Self {
            name: Some(name),
            value,
            // Only a command line prints it; the page's programs are smaller without.
            help: if cfg!(target_family = "wasm") { "" } else { help },
            short: None,
            aliases: &[],
            visible_aliases: &[],
            takes: Takes::One,
            default: None,
            values: &[],
            heading: None,
            commands: &[],
            conflicts: &[],
            needs: None,
            is_elsewhere: false,
        }
    }

    pub const fn short(self, short: char) -> Self {
        Self { short: Some(short), ..self }
    }

    pub const fn aliases(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    /// Other names that the help shows.
    pub const fn also(self, visible_aliases: &'static [&'static str]) -> Self {
        Self { visible_aliases, ..self }
    }

    pub const fn needs(self, key: &'static str) -> Self {
        Self { needs: Some(key), ..self }
    }

    /// Of these commands alone.
    pub const fn only(self, commands: &'static [&'static str]) -> Self {
        Self { commands, ..self }
    }

    pub const fn list(self) -> Self {
        Self { takes: Takes::List, ..self }
    }

    pub const fn each(self, between: &'static str) -> Self {
        Self { takes: Takes::Each(between), ..self }
    }

    pub const fn default(self, default: &'static str) -> Self {
        Self { default: Some(default), ..self }
    }

    pub const fn values(self, values: &'static [(&'static str, &'static str)]) -> Self {
        Self { values, ..self }
    }

    pub const fn heading(self, heading: &'static str) -> Self {
        Self { heading: Some(heading), ..self }
    }

    /// One that the command declares by itself.
    pub const fn elsewhere(name: &'static str) -> Self {
        Self { is_elsewhere: true, ..Self::new(name, "", "") }
    }

    pub const fn conflicts(self, conflicts: &'static [&'static str]) -> Self {
        Self { conflicts, ..self }
    }
}

impl<C: Options> Opt<C> {
    /// The option with a key; `None` if there is none.
    pub fn find(key: &str) -> Option<&'static Self> {
        C::option(key)
    }

    /// Its name in links.
    pub const fn key(&self) -> &'static str {
        self.field.key
    }

    /// The name of its flag, `n-models`; empty without a flag.
    pub fn flag_name(&self) -> String {
        self.flag.name.map_or_else(|| self.key().replace('_', "-"), str::to_owned)
    }

    /// What the help says of the flag.
    pub const fn flag_help(&self) -> &'static str {
        if self.flag.help.is_empty() { self.field.help } else { self.flag.help }
    }

    /// The default that the help shows, where it is not said in words.
    pub fn flag_default(&self) -> Option<String> {
        let own = || self.text(&C::default());
        let text = self.flag.default.map_or_else(own, str::to_owned);
        let is_shown = !text.is_empty() && !self.is_switch() && !self.flag_help().contains("[default:");
        is_shown.then_some(text)
    }

    pub fn is_of_command(&self, command: &str) -> bool {
        self.flag.commands.is_empty() || self.flag.commands.contains(&command)
    }

    pub const fn is_switch(&self) -> bool {
        matches!(self.field.kind, FieldKind::Flag)
    }

    /// The text of this option in a subject; empty for a default.
    pub fn text(&self, of: &C) -> String {
        (self.get)(of)
    }

    /// Puts a text into a subject. A text that cannot be used leaves it as it was. An empty text means the default if there is one that
    /// depends on other options. Fails with one sentence for the user: what is wrong and what would be right.
    pub fn set(&self, of: &mut C, text: &str) -> Result<(), String> {
        let mut next = of.clone();
        let name = match self.name {
            _ if C::SAYS_LABELS => self.field.label,
            "" => self.key(),
            name => name,
        };
        self.put(&mut next, name, text)?;
        if let Some(problem) = next.problem(name) {
            return Err(problem);
        }
        *of = next;
        Ok(())
    }

    /// Puts a text into a subject, whose ranges are not checked. Messages call the option `name`. Fails as [`Self::set`].
    pub fn put(&self, of: &mut C, name: &str, text: &str) -> Result<(), String> {
        (self.put)(of, &OptionText { name, text: text.trim() })
    }

    /// A command line with this option.
    pub fn on(&self, line: CommandLine, text: &str) -> CommandLine {
        let name = self.flag_name();
        match self.flag.takes {
            _ if name.is_empty() => line,
            _ if self.is_switch() => line.flag(&name, text == "true"),
            Takes::One | Takes::List => line.option(&name, text),
            Takes::Each(between) => text.split(between).fold(line, |line, part| line.option(&name, part)),
        }
    }

    /// Whether it has a meaning beside a scenario; the empty text is none.
    pub fn is_of_scenario(&self, scenario: &str) -> bool {
        self.scenarios.is_empty() || self.scenarios.contains(&scenario)
    }
}

/// A command line with the options of a subject that differ from `default`, and those that are written `always`, each added by `add`.
pub fn command_line<C: Options>(
    command: &str,
    of: &C,
    default: &C,
    always: &[&str],
    add: impl Fn(CommandLine, &Opt<C>, &str) -> CommandLine,
) -> CommandLine {
    C::options().fold(CommandLine::new(command), |line, option| {
        let text = option.text(of);
        // A scenario has its own defaults; so has every empty text.
        let is_possible =
            option.is_of_command(command) && option.flag.needs.is_none_or(|key| !of.text_of(key).is_empty());
        let is_said =
            is_possible && !text.is_empty() && (text != option.text(default) || always.contains(&option.key()));
        if is_said { add(line, option, &text) } else { line }
    })
}
