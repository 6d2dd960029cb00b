//! Flags of the compiler in one text, as scripts set them: `NEURON_CC_FLAGS` of the environment, and `--compiler-args` or
//! `--neuron-cc-flags` of a command. They become flags of the command, after its own, which override them.

use std::borrow::Cow;
use std::ffi::OsString;

use anyhow::{Result, bail};

use super::config_file::positional_of_bench;
use super::flags::name_of;
use super::model_file::is_model;
use super::shell::Shell;
use ns_bench::matmult::CcFlags;
use ns_bench::plain_list;

const VARIABLE: &str = "NEURON_CC_FLAGS";

/// Flags whose value is such a text, by the names of NeuronPerf and of the microbenchmark guide.
const HOLDERS: [&str; 2] = ["--compiler-args", "--neuron-cc-flags"];

/// The commands that compile, by the name of the flag that takes all flags in one text; without one, each flag is a flag of the command.
const COMPILE: [(&str, Option<&str>); 5] =
    [("bench", None), ("compile", None), ("profile", None), ("numerics", None), ("matmult", Some("neuron-cc-flags"))];

/// Commands that simulate models with the compiler's default flags.
const SIMULATE: [&str; 4] = ["experiment", "customop", "inspect", "matmul-bench"];

/// The arguments of the process, followed by the flags of the compiler in its own texts and in the environment. Fails when one of them
/// has a value that does not exist.
pub(super) fn expand(shell: &Shell, args: Vec<OsString>) -> Result<Vec<OsString>> {
    with_texts(shell, args, std::env::var(VARIABLE).unwrap_or_default())
}

fn with_texts(shell: &Shell, mut args: Vec<OsString>, variable: String) -> Result<Vec<OsString>> {
    let own = own_texts(&mut args)?;
    own.into_iter().chain([(VARIABLE, variable)]).try_fold(args, |args, (holder, text)| {
        let (args, notes) = with_flags(args, holder, &text)?;
        notes.iter().for_each(|line| shell.note(line));
        Ok(args)
    })
}

/// Takes out the texts of the flags in [`HOLDERS`]; a text may be a list of words, as Python writes one. Fails when a flag has no text.
fn own_texts(args: &mut Vec<OsString>) -> Result<Vec<(&'static str, String)>> {
    let command = args.get(1).and_then(|a| a.to_str()).unwrap_or_default();
    let Some((_, own)) = COMPILE.into_iter().find(|(name, _)| *name == command) else { return Ok(Vec::new()) };
    let holders = || HOLDERS.into_iter().filter(|holder| own != Some(&holder[2..]));
    let (mut texts, mut at) = (Vec::new(), 2);
    while at < args.len() {
        let word = args[at].to_string_lossy().into_owned();
        let (name, value) = word.split_once('=').map_or((word.as_str(), None), |(n, v)| (n, Some(v.to_owned())));
        let Some(holder) = holders().find(|holder| *holder == name) else {
            at += 1;
            continue;
        };
        args.remove(at);
        let value = value.or_else(|| (at < args.len()).then(|| args.remove(at).to_string_lossy().into_owned()));
        let Some(value) = value else { bail!("{holder}: it has no value; write {holder} \"--auto-cast all\"") };
        texts.push((
            holder,
            match plain_list(&value) {
                Cow::Owned(words) => words.replace(',', " "),
                Cow::Borrowed(text) => text.to_owned(),
            },
        ));
    }
    Ok(texts)
}

/// The arguments with the flags of a text, and a sentence about each of these flags.
fn with_flags(mut args: Vec<OsString>, holder: &'static str, text: &str) -> Result<(Vec<OsString>, Vec<String>)> {
    let command = args.get(1).and_then(|a| a.to_str()).unwrap_or_default();
    let Some((command, in_one)) = COMPILE.into_iter().find(|(name, _)| *name == command) else {
        let is_unused = SIMULATE.contains(&command) && !text.trim().is_empty();
        let note = || format!("{holder} has no effect on {command}, which compiles with the default flags");
        let notes: Vec<String> = is_unused.then(note).into_iter().collect();
        return Ok((args, notes));
    };
    let mut flags = CcFlags::parse_of(holder, text)?;
    let own_flags: Vec<&str> = args[2..].iter().filter_map(|a| name_of(a.to_str()?)).collect();
    let (mut added, mut words) = (Vec::new(), Vec::new());
    let mut notes: Vec<String> = Vec::new();
    let keeps = KEEP.contains(&command) && !["compiler-workdir", "workflow"].iter().any(|own| own_flags.contains(own));
    if let Some(at) = flags.ignored.iter().position(|flag| keeps && cache_of(flag).is_some()) {
        let flag = flags.ignored.remove(at);
        added.extend(cache_of(&flag).map(|folder| OsString::from(format!("--compiler-workdir={folder}"))));
        notes.push(format!("{holder}: {flag} is used: artifacts are kept there"));
    }
    notes.extend(ignored(&flags));
    let is_index =
        command == "bench" && positional_of_bench(&args[2..]).is_some_and(|p| !p.to_str().is_some_and(is_model));
    for (name, value) in &flags.used {
        if is_index {
            notes.push(format!("{holder}: --{name}={value} has no effect on an index, whose models are compiled"));
        } else if let Some(by) = overriding(name, in_one, &own_flags) {
            notes.push(format!("{holder}: --{name}={value} has no effect beside {by}"));
        } else {
            notes.push(format!("{holder}: --{name}={value} is used"));
            words.push(format!("--{name}={value}"));
        }
    }
    match in_one {
        Some(flag) if !words.is_empty() => added.push(OsString::from(format!("--{flag}={}", words.join(" ")))),
        Some(_) => {}
        None => added.extend(words.into_iter().map(OsString::from)),
    }
    args.extend(added);
    Ok((args, notes))
}

/// The flag of the command line that says the same.
fn overriding(name: &str, in_one: Option<&str>, own_flags: &[&str]) -> Option<String> {
    let others: &[&str] = match name {
        "optlevel" => &["O"],
        "lnc" => &["logical-nc-config"],
        _ if in_one.is_some() => &["dtype"],
        _ => &[],
    };
    let of = |flag: &&str| own_flags.contains(flag);
    [name]
        .iter()
        .chain(others)
        .chain(in_one.iter())
        .find(|flag| of(flag))
        .map(|flag| if flag.len() == 1 { format!("-{flag}") } else { format!("--{flag}") })
}

/// Commands that keep artifacts in a folder.
const KEEP: [&str; 2] = ["profile", "matmult"];

/// The folder of the compiler's cache that a flag names.
fn cache_of(flag: &str) -> Option<&str> {
    let value = flag.strip_prefix("--cache_dir").or_else(|| flag.strip_prefix("--cache-dir"))?;
    Some(value.trim_start_matches('=')).filter(|folder| !folder.is_empty())
}

/// A sentence for each flag that changes nothing here.
fn ignored(flags: &CcFlags) -> Vec<String> {
    let cache = |flag: &&String| cache_of(flag).is_some();
    let holder = flags.holder;
    let stored = flags.ignored.iter().filter(cache).map(|flag| {
        format!("{holder}: {flag}: nothing is stored there, since models are compiled in memory each time")
    });
    let rest: Vec<String> = flags.ignored.iter().filter(|flag| !cache(flag)).cloned().collect();
    stored.chain(CcFlags { ignored: rest, ..flags.clone() }.notes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(args: &str, text: &str) -> (String, String) {
        let args = args.split(' ').map(OsString::from).collect();
        let (args, notes) = with_flags(args, VARIABLE, text).unwrap();
        let args: Vec<String> = args.into_iter().map(|a| a.into_string().unwrap()).collect();
        (args.join(" "), notes.join("\n"))
    }

    #[test]
    fn flags_of_the_environment_come_after_those_of_the_command() {
        let (args, notes) = expanded("neuronscope profile --model nn", "--auto-cast=none -O1 --cache_dir=./cache");
        assert_eq!(args, "neuronscope profile --model nn --compiler-workdir=./cache --auto-cast=none --optlevel=1");
        assert!(notes.contains("NEURON_CC_FLAGS: --auto-cast=none is used"), "{notes}");
        assert!(notes.contains("--cache_dir=./cache is used: artifacts are kept there"), "{notes}");
        assert!(
            expanded("neuronscope bench -O2", "--cache_dir=c").1.contains("--cache_dir=c: nothing is stored there")
        );
        let (args, notes) = expanded("neuronscope bench -O2", "-O1 --model-type=transformer");
        assert_eq!(args, "neuronscope bench -O2");
        assert!(notes.contains("--optlevel=1 has no effect beside -O"), "{notes}");
        assert!(notes.contains("NEURON_CC_FLAGS: --model-type=transformer is not simulated"), "{notes}");
        assert_eq!(expanded("neuronscope open t.json", "-O1"), ("neuronscope open t.json".into(), String::new()));
        assert!(expanded("neuronscope experiment --dry-run", "-O1").1.contains("no effect on experiment"));
        let problem =
            with_flags(["n", "profile"].map(OsString::from).into(), VARIABLE, "--auto-cast half").unwrap_err();
        assert!(problem.to_string().contains("NEURON_CC_FLAGS: --auto-cast: "), "{problem}");
    }

    #[test]
    fn a_command_takes_them_in_one_text_too() {
        let words = |list: &[&str]| list.iter().map(OsString::from).collect::<Vec<_>>();
        let expanded = |list: &[&str]| with_texts(&Shell::default(), words(list), "-O2".to_owned()).unwrap();
        assert_eq!(
            expanded(&["n", "bench", "--compiler-args", "--auto-cast all -O1", "--model", "nn"]),
            words(&["n", "bench", "--model", "nn", "--auto-cast=all", "--optlevel=1"])
        );
        assert_eq!(
            expanded(&["n", "profile", "--neuron-cc-flags=['--auto-cast', 'none']"]),
            words(&["n", "profile", "--auto-cast=none", "--optlevel=2"])
        );
        assert_eq!(
            expanded(&["n", "matmult", "--compiler-args=-O1", "-b", "1"]),
            words(&["n", "matmult", "-b", "1", "--neuron-cc-flags=--optlevel=1"])
        );
        let own = ["n", "matmult", "--neuron-cc-flags", "-O1"];
        assert_eq!(expanded(&own), words(&own));
        // A comma within a flag is its own.
        assert_eq!(own_texts(&mut words(&["n", "bench", "--compiler-args=--a=b,c"])).unwrap()[0].1, "--a=b,c");
        let nothing = expand(&Shell::default(), words(&["n", "bench", "--compiler-args"])).unwrap_err();
        assert!(nothing.to_string().contains("--compiler-args: it has no value"), "{nothing}");
        let problem =
            expand(&Shell::default(), words(&["n", "bench", "--compiler-args", "--auto-cast half"])).unwrap_err();
        assert!(problem.to_string().contains("--compiler-args: --auto-cast: "), "{problem}");
    }

    #[test]
    fn an_index_and_the_microbenchmark_take_them_in_their_way() {
        let (args, notes) = expanded("neuronscope bench models.json --duration 2", "--auto-cast=all");
        assert_eq!(args, "neuronscope bench models.json --duration 2");
        assert!(notes.contains("no effect on an index"), "{notes}");
        let (args, _) = expanded("neuronscope bench a.onnx", "--auto-cast=all");
        assert_eq!(args, "neuronscope bench a.onnx --auto-cast=all");
        let (args, _) = expanded("neuronscope matmult -b 1", "--auto-cast=all -O1");
        assert_eq!(args, "neuronscope matmult -b 1 --neuron-cc-flags=--auto-cast=all --optlevel=1");
        let (args, notes) = expanded("neuronscope matmult --dtype fp32", "--auto-cast=all");
        assert_eq!((args.as_str(), notes.contains("beside --dtype")), ("neuronscope matmult --dtype fp32", true));
    }
}
