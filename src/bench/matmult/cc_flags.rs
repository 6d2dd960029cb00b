//! Flags of the compiler in one text, as `--neuron_cc_flags` takes them.

use ns_base::{Refusal, refuse};
use ns_compiler::CompileOptions;

/// The options in a text of compiler flags.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CcFlags {
    /// The name of the flag or the variable that holds the text.
    pub holder: &'static str,
    /// The flags that have an effect, by their long name without dashes, with their values.
    pub used: Vec<(&'static str, String)>,
    /// Casts and optimisation level; defaults for options that the text does not set.
    pub options: CompileOptions,
    /// Whether the text sets what is cast, or to which type.
    pub names_casts: bool,
    /// Flags that have no effect here.
    pub ignored: Vec<String>,
}

impl CcFlags {
    /// The flags of `--neuron_cc_flags`. Fails as [`Self::parse_of`].
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        Self::parse_of("--neuron_cc_flags", text)
    }

    /// Reads flags separated by spaces: `--auto-cast none`, `--auto-cast=all`, `--auto-cast-type fp16`, `-O1`,
    /// `--optlevel 1`, `--lnc 2`. Others are real flags of `neuronx-cc` which the simulated compiler does not have: they
    /// are listed in [`Self::ignored`]. Messages name the holder of the text. Fails when a known flag has no value or one that does
    /// not exist.
    pub fn parse_of(holder: &'static str, text: &str) -> Result<Self, Refusal> {
        let mut flags = Self { holder, ..Self::default() };
        let words = words_of_shell(text);
        let mut words = words.iter().map(String::as_str).peekable();
        while let Some(word) = words.next() {
            let (name, inline) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
            if let Some(level) = name.strip_prefix("-O").filter(|level| !level.is_empty()) {
                flags.set("-O", level)?;
                continue;
            }
            if !KNOWN.contains(&name) {
                // A word behind it that is no flag is its value.
                let value = if inline.is_none() { words.next_if(|next| !next.starts_with('-')) } else { None };
                flags.ignored.push([word].into_iter().chain(value).collect::<Vec<_>>().join(" "));
                continue;
            }
            let missing = || refuse!("{holder}: {name}: it has no value");
            let value = inline.or_else(|| words.next()).ok_or_else(missing)?;
            flags.set(name, value)?;
        }
        Ok(flags)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), Refusal> {
        let holder = self.holder;
        let wrong = |problem: String| refuse!("{holder}: {name}: {problem}");
        let options = &mut self.options;
        match name {
            "--auto-cast" => options.auto_cast = value.parse().map_err(|e| wrong(format!("{e}")))?,
            // A shell that writes flags with dashes may have changed the underscore of fp8_e4m3 too.
            "--auto-cast-type" => {
                options.auto_cast_type = value.replace('-', "_").parse().map_err(|e| wrong(format!("{e}")))?;
            }
            "--lnc" | "--logical-nc-config" => {
                let problem = || wrong(format!("'{value}' is not a possible number of cores; use 1 or 2"));
                options.lnc = Some(value.parse().map_err(|_| problem())?);
            }
            _ => options.opt_level = value.parse().map_err(|e| wrong(format!("{e}")))?,
        }
        self.names_casts |= name.starts_with("--auto-cast");
        let long = match name {
            "--auto-cast" => "auto-cast",
            "--auto-cast-type" => "auto-cast-type",
            "--lnc" | "--logical-nc-config" => "lnc",
            _ => "optlevel",
        };
        self.used.push((long, value.to_owned()));
        Ok(())
    }

    /// A sentence for each flag that has no effect.
    pub fn notes(&self) -> Vec<String> {
        let note = |flag: &String| format!("{}: {flag} is not simulated and has no effect", self.holder);
        self.ignored.iter().map(note).collect()
    }
}

const KNOWN: [&str; 6] = ["--auto-cast", "--auto-cast-type", "--optlevel", "-O", "--lnc", "--logical-nc-config"];

/// The words of a text as a shell splits it: quotes hold one together and are no part of it.
fn words_of_shell(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for letter in text.chars() {
        match (quote, letter) {
            (Some(open), letter) if letter == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, letter) if letter.is_whitespace() => words.extend(word.take()),
            (_, letter) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_compiler::{AutoCast, CastType, OptLevel};

    #[test]
    fn quotes_hold_a_word_together() {
        let words = words_of_shell("--cache_dir=\"./my cache\" -O1  '' --x='a b'c");
        assert_eq!(words, ["--cache_dir=./my cache", "-O1", "", "--x=a bc"]);
    }

    #[test]
    fn flags_are_read_in_both_ways_of_writing() {
        let flags = CcFlags::parse("--auto-cast=all --auto-cast-type fp16 -O1 --model-type=transformer").unwrap();
        let o = flags.options;
        assert_eq!((o.auto_cast, o.auto_cast_type, o.opt_level), (AutoCast::All, CastType::Fp16, OptLevel::O1));
        assert!(flags.names_casts);
        assert_eq!(flags.notes(), ["--neuron_cc_flags: --model-type=transformer is not simulated and has no effect"]);
        let notes = CcFlags::parse("--verbose 3 --retry --x=1 -O2").unwrap().notes();
        let named = ["--verbose 3", "--retry", "--x=1"];
        assert_eq!(notes, named.map(|flag| format!("--neuron_cc_flags: {flag} is not simulated and has no effect")));
        assert_eq!(CcFlags::parse_of("", "").unwrap(), CcFlags::default());
        let used: Vec<String> = flags.used.iter().map(|(name, value)| format!("{name} {value}")).collect();
        assert_eq!(used, ["auto-cast all", "auto-cast-type fp16", "optlevel 1"]);
        let problem = |text: &str| CcFlags::parse(text).unwrap_err().to_string();
        assert!(problem("--auto-cast").contains("--auto-cast: it has no value"));
        assert!(problem("--auto-cast half").contains("'half' is not possible"));
        assert!(problem("--lnc x").contains("'x' is not a possible number of cores"));
    }
}
