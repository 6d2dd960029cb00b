//! The arguments of a call as scripts and Python write them, in the form that clap takes: one rule for every flag of every command, from
//! clap's own declaration of it.
//!
//! - Names: `--n_models` is `--n-models`.
//! - Truths: a switch takes `true`, `True`, `1`, `yes`, `on` or `false`, `False`, `0`, `no`, `off`, `None`, behind `=` or as the next word. A
//!   flag whose value may be left out takes them too: true is the flag without its value, false is no flag.
//! - `None` is no flag, but where `None` is a value of it.
//! - Lists (flags with a delimiter): `[1, 2]`, `(1, 2)`, `range(1, 3)`, `['a', 'b']`, and several words: `--batch_sizes 1 4 8`.
//! - Numbers: `10_000`.
//! - A file behind a switch that prints, `--csv out.csv`, is one for `--csv-file`.

use std::ffi::OsString;
use std::iter::Peekable;
use std::vec::IntoIter;

use super::config_file::not_here;
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, Command};
use ns_base::{truth_of, without_underscores};
use ns_bench::plain_list;

/// The arguments of a process as clap takes them; values that are none of these, and everything after a bare `--`, stay as they
/// are. Fails with a usage error when the value of a switch says neither true nor false.
pub(super) fn plain(words: Vec<OsString>, command: &Command) -> Result<Vec<OsString>, clap::Error> {
    let mut words = words.into_iter();
    let (mut out, mut called): (Vec<OsString>, _) = (words.by_ref().take(1).collect(), command);
    let mut rest = words.peekable();
    while let Some(below) = rest.peek().and_then(|word| called.find_subcommand(word)) {
        out.extend(rest.next());
        called = below;
    }
    // The words of a script are its own.
    let has_own = called.get_positionals().any(Arg::is_trailing_var_arg_set);
    while let Some(word) = rest.next_if(|_| !has_own) {
        if word == "--" {
            out.push(word);
            break;
        }
        match word.to_str().and_then(|text| Flag::of(text, called)) {
            Some(flag) => flag.push(&mut rest, called, &mut out)?,
            None => out.push(word),
        }
    }
    out.extend(rest);
    Ok(out)
}

/// A flag as it is given.
struct Flag<'a> {
    /// `None` for one that the command does not have.
    arg: Option<&'a Arg>,
    /// Its name with dashes.
    name: String,
    /// What stands behind it in the same word.
    value: Option<String>,
}

impl<'a> Flag<'a> {
    fn of(text: &str, command: &'a Command) -> Option<Self> {
        if is_flag(text) {
            let (name, value) =
                text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value.to_owned())));
            let name = name.replace('_', "-");
            return Some(Flag { arg: long(command, &name[2..]), name, value });
        }
        let short = name_of(text)?;
        let arg = command.get_arguments().find(|arg| arg.get_short().is_some_and(|s| short.starts_with(s)))?;
        let value = text[1 + short.len()..].to_owned();
        // Letters behind a switch are more switches.
        let is_own = value.is_empty() || value.starts_with('=') || !is_switch(arg);
        let value = value.strip_prefix('=').map(str::to_owned).or(Some(value).filter(|v| !v.is_empty()));
        is_own.then(|| Flag { arg: Some(arg), name: format!("-{short}"), value })
    }

    fn push(
        self,
        rest: &mut Peekable<IntoIter<OsString>>,
        called: &Command,
        out: &mut Vec<OsString>,
    ) -> Result<(), clap::Error> {
        if let (None, "bench", Some(instead)) =
            (self.arg, called.get_name(), not_here(&self.name[2..].replace('-', "_")))
        {
            return Err(called.clone().error(ErrorKind::UnknownArgument, format!("{}: {instead}", self.name)));
        }
        let Some(arg) = self.arg.filter(|arg| takes_values(arg) || is_switch(arg)) else {
            out.push(self.with(self.value.as_deref()));
            return Ok(());
        };
        let next = |rest: &mut Peekable<IntoIter<OsString>>, wanted: &dyn Fn(&str) -> bool| {
            rest.next_if(|word| word.to_str().is_some_and(wanted)).and_then(|word| word.into_string().ok())
        };
        let is_inline = self.value.is_some();
        if let Some(file) = next(rest, &|word| !is_inline && is_file_of(arg, word, called)) {
            out.push(OsString::from(format!("{}-file={file}", self.name)));
            return Ok(());
        }
        if is_switch(arg) || takes_a_truth(arg) || may_be_bare(arg) {
            let text = self.value.clone().or_else(|| next(rest, &|word| truth_or_none(word).is_some()));
            match (text.as_deref().map(truth_or_none), takes_a_truth(arg)) {
                (None, _) | (Some(Some(Some(true))), false) => out.push(OsString::from(&self.name)),
                (Some(Some(Some(truth))), true) => out.push(self.with(Some(if truth { "true" } else { "false" }))),
                (Some(Some(_)), _) => {}
                (Some(None), false) if !is_switch(arg) => out.push(self.with(text.as_deref())),
                (Some(None), _) => {
                    let (name, said) = (&self.name, text.unwrap_or_default());
                    let wanted =
                        format!("{name} takes True or False (also 1, yes, on, 0, no, off, None), not '{said}'");
                    return Err(called.clone().error(ErrorKind::InvalidValue, wanted));
                }
            }
            return Ok(());
        }
        let is_value = |word: &str| arg.is_allow_hyphen_values_set() || !is_flag(word);
        let Some(text) = self.value.clone().or_else(|| next(rest, &is_value)) else {
            out.push(OsString::from(&self.name));
            return Ok(());
        };
        if text == "None" && !has_none(arg) {
            return Ok(());
        }
        let mut text = if is_number(arg) { without_underscores(&text).into_owned() } else { text };
        if is_list(arg) {
            text = plain_list(&text).into_owned();
            while let Some(more) = next(rest, &|word| is_further_entry(word, arg, called)) {
                text = format!("{text},{}", plain_list(&more));
            }
        }
        let text = with_known_values(arg, &text);
        if is_inline {
            out.push(self.with(Some(&text)));
        } else {
            out.extend([OsString::from(&self.name), OsString::from(text)]);
        }
        Ok(())
    }

    fn with(&self, value: Option<&str>) -> OsString {
        value.map_or_else(|| self.name.clone(), |value| format!("{}={value}", self.name)).into()
    }
}

/// Whether the word behind a switch that prints is the name of a file to write, which another flag takes. A JSON file may be an index
/// to run.
fn is_file_of(switch: &Arg, word: &str, called: &Command) -> bool {
    let kind = switch.get_long().filter(|kind| is_switch(switch) && *kind != "json");
    let is_kind = |kind: &str| word.rsplit_once('.').is_some_and(|(_, end)| end == kind);
    kind.is_some_and(|kind| is_kind(kind) && long(called, &format!("{kind}-file")).is_some())
}

/// The flag of a name, also of the beginning of one, which some commands take.
fn long<'a>(command: &'a Command, name: &str) -> Option<&'a Arg> {
    let names = |arg: &&Arg, wanted: &dyn Fn(&str) -> bool| {
        arg.get_long().is_some_and(wanted) || arg.get_all_aliases().is_some_and(|all| all.into_iter().any(wanted))
    };
    let exact = command.get_arguments().find(|arg| names(arg, &|known| known == name));
    exact.or_else(|| command.get_arguments().find(|arg| names(arg, &|known| known.starts_with(name))))
}

/// A truth, or `Some(None)` for Python's `None`, which is the default.
fn truth_or_none(text: &str) -> Option<Option<bool>> {
    truth_of(text).map(Some).or_else(|| text.eq_ignore_ascii_case("none").then_some(None))
}

fn is_switch(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::SetTrue)
}

fn takes_values(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::Set | ArgAction::Append)
}

fn takes_a_truth(arg: &Arg) -> bool {
    takes_values(arg) && arg.get_value_parser().type_id() == std::any::TypeId::of::<bool>()
}

fn may_be_bare(arg: &Arg) -> bool {
    arg.get_num_args().is_some_and(|count| count.min_values() == 0)
}

/// Whether `None` is a value like another, which the name of the value says.
fn has_none(arg: &Arg) -> bool {
    arg.get_value_names().is_some_and(|names| names.iter().any(|name| name.contains("None")))
}

fn is_number(arg: &Arg) -> bool {
    use std::any::TypeId;
    let types = [
        TypeId::of::<u8>(),
        TypeId::of::<u16>(),
        TypeId::of::<u32>(),
        TypeId::of::<u64>(),
        TypeId::of::<usize>(),
        TypeId::of::<i64>(),
        TypeId::of::<f64>(),
    ];
    types.iter().any(|known| arg.get_value_parser().type_id() == *known)
}

fn is_list(arg: &Arg) -> bool {
    arg.get_value_delimiter() == Some(',')
}

/// A value as the flag spells it, where case, hyphens and underscores alone differ: `mark-step` is `mark_step`.
fn with_known_values(arg: &Arg, text: &str) -> String {
    let known = arg.get_possible_values();
    let plain = |text: &str| text.to_ascii_lowercase().replace('-', "_");
    let spelled = |one: &str| {
        let is_known = known.iter().any(|value| value.matches(one, false));
        let alike = || known.iter().find(|value| plain(value.get_name()) == plain(one));
        if is_known { one.to_owned() } else { alike().map_or_else(|| one.to_owned(), |v| v.get_name().to_owned()) }
    };
    if is_list(arg) { text.split(',').map(spelled).collect::<Vec<_>>().join(",") } else { spelled(text) }
}

/// Whether the word behind a list is one more entry of it and no positional argument: the command has none, or the word is a number, MAX,
/// a value of the flag, or an instance.
fn is_further_entry(word: &str, arg: &Arg, called: &Command) -> bool {
    let is_count = |word: &str| {
        word.eq_ignore_ascii_case("max")
            || word.starts_with(|c: char| c.is_ascii_digit())
                && word.chars().all(|c| c.is_ascii_digit() || "_-,".contains(c))
    };
    let is_known = || arg.get_possible_values().iter().any(|value| value.matches(word, true));
    let is_instance = || ns_bench::matmult::instance_of(word).is_ok();
    !word.starts_with('-')
        && (called.get_positionals().next().is_none() || is_count(word) || is_known() || is_instance())
}

/// Whether a text is the name of a flag, possibly with its value: dashes and a word.
fn is_flag(text: &str) -> bool {
    let name = text.split('=').next().and_then(|name| name.strip_prefix("--"));
    let is_of_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    name.is_some_and(|name| !name.is_empty() && name.chars().all(is_of_word))
}

/// `--workers_per_model=1_000` as `--workers-per-model=1_000`.
pub(super) fn dashed_flag(flag: &str) -> String {
    match flag.split_once('=') {
        Some((name, value)) => format!("{}={value}", name.replace('_', "-")),
        None => flag.replace('_', "-"),
    }
}

/// The name of a flag without its dashes and its value: `--n-models=4` as `n-models`, `-O1` as `O`. `None` for a value.
pub(super) fn name_of(arg: &str) -> Option<&str> {
    if let Some(long) = arg.strip_prefix("--") {
        return long.split('=').next().filter(|name| !name.is_empty());
    }
    let short = arg.strip_prefix('-')?;
    let first = short.chars().next().filter(char::is_ascii_alphabetic)?;
    short.get(..first.len_utf8())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use clap::CommandFactory;

    use super::*;
    use crate::args::Args;

    fn of(words: &[&str]) -> Vec<String> {
        let words = words.iter().map(OsString::from).collect();
        plain(words, &Args::command()).unwrap().into_iter().map(|word| word.into_string().unwrap()).collect()
    }

    fn line(text: &str) -> String {
        of(&text.split(' ').collect::<Vec<_>>()).join(" ")
    }

    /// All commands, with the words that call each.
    fn commands(above: &Command, path: &[String]) -> Vec<(Vec<String>, Command)> {
        let below =
            above.get_subcommands().flat_map(|sub| commands(sub, &[path, &[sub.get_name().to_owned()]].concat()));
        below.chain(std::iter::once((path.to_vec(), above.clone()))).collect()
    }

    #[test]
    fn a_file_behind_a_switch_that_prints_is_written() {
        assert_eq!(line("n bench --csv out.csv --n_models 1"), "n bench --csv-file=out.csv --n-models 1");
        assert_eq!(line("n bench --csv models.json"), "n bench --csv models.json");
        assert_eq!(line("n bench --json models.json"), "n bench --json models.json");
    }

    #[test]
    fn values_differ_from_the_known_ones_in_case_and_hyphens() {
        assert_eq!(line("n matmult --workflow mark-step"), "n matmult --workflow mark_step");
        assert_eq!(line("n aggregate --test=Inference F"), "n aggregate --test=inference F");
        assert_eq!(line("n matmult --workflow fast"), "n matmult --workflow fast");
    }

    #[test]
    fn every_flag_of_every_command_takes_its_values_as_python_writes_them() {
        let mut seen = [0; 5];
        for (path, command) in commands(&Args::command(), &["n".to_owned()]) {
            for arg in command.get_arguments() {
                let Some(name) = arg.get_long().filter(|name| !matches!(*name, "help" | "version")) else { continue };
                let (dashes, scores) = (format!("--{name}"), format!("--{}", name.replace('-', "_")));
                let said = |value: &[&str]| {
                    let words: Vec<&str> = path.iter().map(String::as_str).chain(value.iter().copied()).collect();
                    of(&words)[path.len()..].to_vec()
                };
                let both = |value: &str| {
                    let (inline, apart) = (said(&[&format!("{scores}={value}")]), said(&[&scores, value]));
                    assert_eq!(
                        inline.join(" ").replacen('=', " ", 1),
                        apart.join(" ").replacen('=', " ", 1),
                        "{path:?} {name} {value}"
                    );
                    inline
                };
                let truth = |is_true: bool| match (takes_a_truth(arg), is_true) {
                    (true, _) => vec![format!("{dashes}={is_true}")],
                    (false, true) => vec![dashes.clone()],
                    (false, false) => Vec::new(),
                };
                if is_switch(arg) || takes_a_truth(arg) || may_be_bare(arg) {
                    seen[0] += 1;
                    for text in ["true", "True", "TRUE", "1", "yes", "on"] {
                        assert_eq!(both(text), truth(true), "{path:?} {name} {text}");
                    }
                    for text in ["false", "False", "FALSE", "0", "no", "off"] {
                        assert_eq!(both(text), truth(false), "{path:?} {name} {text}");
                    }
                    assert_eq!(both("None"), [""; 0], "{path:?} {name}");
                    if !may_be_bare(arg) || takes_a_truth(arg) {
                        let words = [path.clone(), vec![format!("{scores}=maybe")]].concat();
                        let error = plain(words.iter().map(OsString::from).collect(), &Args::command()).unwrap_err();
                        assert!(error.to_string().contains(&format!("{dashes} takes True or False")), "{error}");
                    }
                    continue;
                }
                if !takes_values(arg) {
                    continue;
                }
                let none = both("None");
                assert_eq!(none.is_empty(), !has_none(arg), "{path:?} {name}: {none:?}");
                if is_number(arg) {
                    seen[1] += 1;
                    assert_eq!(both("10_000"), [format!("{dashes}=10000")], "{path:?} {name}");
                }
                if is_list(arg) {
                    seen[2] += 1;
                    for text in ["[4, 8]", "(4, 8)", "[4,8]", "['4', '8']", "[\"4\", \"8\",]", "4,8"] {
                        assert_eq!(both(text), [format!("{dashes}=4,8")], "{path:?} {name} {text}");
                    }
                    assert_eq!(both("range(4, 6)"), [format!("{dashes}=4-5")], "{path:?} {name}");
                    assert_eq!(said(&[&scores, "4", "8"]), [dashes.as_str(), "4,8"], "{path:?} {name}");
                    assert_eq!(said(&[&scores, "[4]", "8,16", "--"]), [&dashes, "4,8,16", "--"], "{path:?} {name}");
                } else if has_none(arg) {
                    seen[3] += 1;
                } else {
                    seen[4] += 1;
                    assert_eq!(both("a_b"), [format!("{dashes}=a_b")], "{path:?} {name}");
                }
            }
        }
        assert!(seen[0] > 80 && seen[1] > 35 && seen[2] > 25 && seen[4] > 80, "{seen:?}");
    }

    #[test]
    fn names_lose_their_underscores_and_values_keep_them() {
        let said = of(&["n", "bench", "--n_models", "[1, 2]", "--model_name=my_net", "my_index.json", "-O", "1"]);
        assert_eq!(said[2..6], ["--n-models", "1,2", "--model-name=my_net", "my_index.json"]);
        assert_eq!(line("n bench -- --a_b"), "n bench -- --a_b");
        assert_eq!(line("n bench --no_such_flag a_b"), "n bench --no-such-flag a_b");
    }

    #[test]
    fn a_list_ends_where_the_next_argument_begins() {
        assert_eq!(line("n bench --batch_sizes 1 4 8 my.json"), "n bench --batch-sizes 1,4,8 my.json");
        assert_eq!(
            line("n bench --instance inf2.xlarge trn1.2xlarge a.json"),
            "n bench --instance inf2.xlarge,trn1.2xlarge a.json"
        );
        assert_eq!(line("n bench --n_models 1 MAX --duration 2"), "n bench --n-models 1,MAX --duration 2");
        assert_eq!(line("n matmult -n 256 512 -l 10"), "n matmult -n 256,512 -l 10");
        assert_eq!(line("n experiment --test eval train --xla None"), "n experiment --test eval,train --xla None");
        assert_eq!(line("n open --top 3 a.json"), "n open --top 3 a.json");
    }

    #[test]
    fn a_switch_leaves_the_next_argument_alone() {
        assert_eq!(line("n bench --loop-dataset a.json"), "n bench --loop-dataset a.json");
        assert_eq!(line("n bench --return_timers True"), "n bench --return-timers");
        assert_eq!(line("n bench --return_timers t.json"), "n bench --return-timers t.json");
        assert_eq!(line("n bench --csv_file out.csv --csv_file=False"), "n bench --csv-file out.csv");
        assert_eq!(line("n matmult -v False -b [1,2] -n256"), "n matmult -b 1,2 -n=256");
        assert!(!Path::new("True").exists());
    }

    #[test]
    fn a_value_that_begins_with_dashes_stays() {
        let said = of(&["n", "matmult", "--neuron_cc_flags", "--fast_math=a_b", "--batch_size", "1"]);
        assert_eq!(said[2..], ["--neuron-cc-flags", "--fast_math=a_b", "--batch-size", "1"]);
        assert_eq!(of(&["n", "bench", "--model_name", "--my_own name"])[3], "--my_own name");
        assert_eq!(
            line("n matmult --neuron_cc_flags=--a_b --loop_count 3"),
            "n matmult --neuron-cc-flags=--a_b --loop-count 3"
        );
        assert_eq!(line("n bench --jitter -0.5 --model --json"), "n bench --jitter -0.5 --model --json");
    }

    #[test]
    fn flags_are_distinguished_from_values() {
        assert_eq!((name_of("--n-models=4"), name_of("-O1"), name_of("-o")), (Some("n-models"), Some("O"), Some("o")));
        assert_eq!((name_of("--"), name_of("-3"), name_of("a.json"), name_of("-")), (None, None, None, None));
    }
}
