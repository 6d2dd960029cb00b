//! Flags as Python scripts write their arguments: `--n_models` is `--n-models`.

use std::ffi::OsString;

/// The arguments with dashes for underscores in the names of flags; values, and everything behind a bare `--`, stay.
pub(super) fn dashed(args: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut only_values = false;
    let mut one = |arg: OsString| {
        only_values |= arg == "--";
        match arg.to_str() {
            Some(text) if !only_values && text.starts_with("--") => dashed_flag(text).into(),
            _ => arg,
        }
    };
    args.into_iter().map(&mut one).collect()
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
    use super::*;

    #[test]
    fn names_lose_their_underscores_and_values_keep_them() {
        let args = ["neuronscope", "bench", "--n_models", "[1, 2]", "--model_name=my_net", "my_index.json", "-O", "1"];
        let said = dashed(args.map(OsString::from));
        assert_eq!(said[2..6], ["--n-models", "[1, 2]", "--model-name=my_net", "my_index.json"].map(OsString::from));
        assert_eq!(dashed(["--", "--a_b"].map(OsString::from))[1], "--a_b");
    }

    #[test]
    fn flags_are_told_from_values() {
        assert_eq!((name_of("--n-models=4"), name_of("-O1"), name_of("-o")), (Some("n-models"), Some("O"), Some("o")));
        assert_eq!((name_of("--"), name_of("-3"), name_of("a.json"), name_of("-")), (None, None, None, None));
    }
}
