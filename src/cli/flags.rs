//! Flags as Python scripts write their arguments: `--n_models` is `--n-models`.

use std::ffi::OsString;

use clap::{ArgAction, Command};

/// The arguments with dashes for underscores in the names of flags; values, and everything after a bare `--`, stay as they are. The argument
/// after one of `takes_dashes` is its value, even if it begins with dashes.
pub(super) fn dashed(args: impl IntoIterator<Item = OsString>, takes_dashes: &[String]) -> Vec<OsString> {
    let (mut only_values, mut is_value) = (false, false);
    let mut one = |arg: OsString| {
        only_values |= arg == "--" && !is_value;
        let flag = arg.to_str().filter(|text| !only_values && !is_value && is_flag(text)).map(dashed_flag);
        is_value = flag.as_ref().is_some_and(|flag| takes_dashes.iter().any(|known| flag[2..] == **known));
        flag.map_or(arg, OsString::from)
    };
    args.into_iter().map(&mut one).collect()
}

/// Names of the flags of all commands whose value may begin with dashes.
pub(super) fn taking_dashes(command: &Command) -> Vec<String> {
    let own = command.get_arguments().filter(|a| a.is_allow_hyphen_values_set());
    let own = own.flat_map(|a| a.get_long_and_visible_aliases().unwrap_or_default()).map(str::to_owned);
    own.chain(command.get_subcommands().flat_map(taking_dashes)).collect()
}

/// The arguments with Python's truth values as flags take them: `--loop-dataset False` is left out, `--loop-dataset True` is the bare flag,
/// and `--multiprocess False` is `--multiprocess false`.
pub(super) fn without_python_truths(args: Vec<OsString>, command: &Command) -> Vec<OsString> {
    let Some(called) = args.get(1).and_then(|name| command.find_subcommand(name)) else { return args };
    let of_flag = |arg: &OsString, wanted: fn(&clap::Arg) -> bool| {
        let name = arg.to_str().filter(|text| is_flag(text)).and_then(name_of).map(str::to_owned);
        name.is_some_and(|name| flags_of(called).any(|flag| flag.get_long() == Some(name.as_str()) && wanted(flag)))
    };
    let mut out: Vec<OsString> = Vec::with_capacity(args.len());
    let mut rest = args.into_iter().peekable();
    while let Some(arg) = rest.next() {
        let (is_switch, is_truth) = (of_flag(&arg, is_switch), of_flag(&arg, takes_a_truth));
        let inline =
            arg.to_str().and_then(|text| text.split_once('=')).map(|(name, value)| (name.to_owned(), value.to_owned()));
        let truth = match &inline {
            Some((_, value)) => truth_of(value),
            None if is_switch || is_truth => rest.peek().and_then(|next| truth_of(next.to_str()?)),
            None => None,
        };
        let Some(truth) = truth.filter(|_| is_switch || is_truth) else {
            out.push(arg);
            continue;
        };
        let name = match inline {
            Some((name, _)) => OsString::from(name),
            None => {
                rest.next();
                arg
            }
        };
        match (is_switch, truth) {
            (true, true) => out.push(name),
            (true, false) => {}
            (false, truth) => out.extend([name, OsString::from(truth.to_string())]),
        }
    }
    out
}

/// A truth value as Python writes it.
fn truth_of(text: &str) -> Option<bool> {
    match text {
        "True" => Some(true),
        "False" => Some(false),
        _ => None,
    }
}

/// All flags of a command and of the commands below it.
fn flags_of(command: &Command) -> Box<dyn Iterator<Item = &clap::Arg> + '_> {
    Box::new(command.get_arguments().chain(command.get_subcommands().flat_map(flags_of)))
}

fn is_switch(flag: &clap::Arg) -> bool {
    matches!(flag.get_action(), ArgAction::SetTrue)
}

fn takes_a_truth(flag: &clap::Arg) -> bool {
    let values = flag.get_possible_values();
    matches!(flag.get_action(), ArgAction::Set)
        && values.len() == 2
        && values.iter().all(|v| matches!(v.get_name(), "true" | "false"))
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
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn names_lose_their_underscores_and_values_keep_them() {
        let args = ["neuronscope", "bench", "--n_models", "[1, 2]", "--model_name=my_net", "my_index.json", "-O", "1"];
        let said = dashed(args.map(OsString::from), &[]);
        assert_eq!(said[2..6], ["--n-models", "[1, 2]", "--model-name=my_net", "my_index.json"].map(OsString::from));
        assert_eq!(dashed(["--", "--a_b"].map(OsString::from), &[])[1], "--a_b");
    }

    #[test]
    fn truths_are_pythons() {
        let command = crate::args::Args::command();
        let of = |line: &str| {
            let args = without_python_truths(line.split(' ').map(OsString::from).collect(), &command);
            args.iter().map(|a| a.to_string_lossy()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(of("n bench a.json --loop-dataset False --json"), "n bench a.json --json");
        assert_eq!(of("n bench --loop-dataset True a.json"), "n bench --loop-dataset a.json");
        assert_eq!(
            of("n bench --multiprocess False --multiinterpreter=True"),
            "n bench --multiprocess false --multiinterpreter true"
        );
        assert_eq!(of("n bench --model-name True --loop-dataset=False"), "n bench --model-name True");
        assert_eq!(of("n bench --loop-dataset a.json"), "n bench --loop-dataset a.json");
    }

    #[test]
    fn a_value_that_begins_with_dashes_stays() {
        let takes_dashes = taking_dashes(&crate::args::Args::command());
        assert!(takes_dashes.iter().any(|name| name == "neuron-cc-flags"), "{takes_dashes:?}");
        let of = |args: &[&str]| dashed(args.iter().map(OsString::from), &takes_dashes);
        let flags = ["matmult", "--neuron_cc_flags", "--fast_math=a_b", "--batch_size", "1"];
        assert_eq!(of(&flags)[1..4], ["--neuron-cc-flags", "--fast_math=a_b", "--batch-size"].map(OsString::from));
        assert_eq!(of(&["bench", "--model_name", "--my_own name"])[2], "--my_own name");
        assert_eq!(
            of(&["matmult", "--neuron_cc_flags=--a_b", "--loop_count"])[1..],
            ["--neuron-cc-flags=--a_b", "--loop-count"]
        );
    }

    #[test]
    fn flags_are_distinguished_from_values() {
        assert_eq!((name_of("--n-models=4"), name_of("-O1"), name_of("-o")), (Some("n-models"), Some("O"), Some("o")));
        assert_eq!((name_of("--"), name_of("-3"), name_of("a.json"), name_of("-")), (None, None, None, None));
    }
}
