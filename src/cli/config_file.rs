//! `bench --config FILE.json`: flags from a file with the arguments of a NeuronPerf script.
//!
//! A key is a flag's name with underscores, or NeuronPerf's name for it; its value is what the script passes. The
//! keys become flags after those of the command line, which win. So each flag has one definition of its values.

use std::ffi::OsString;
use std::path::Path;

use anyhow::{Context, Result, bail};
use clap::{Arg, ArgAction, Command, CommandFactory, Parser};
use serde_json::Value;

use super::args::Args;
use super::bench_args::BenchArgs;
use super::config_entries::{Entry, entries, text_of_inputs, text_of_list};
use super::file;
use super::flags::{dashed_flag, name_of};
use super::shell::Shell;
use super::usage_error::same_meaning;
use ns_base::nearest_text;
use ns_bench::BenchConfig;

/// Arguments of NeuronPerf that a file cannot hold or that have no meaning here, and what to write instead.
const NOT_HERE: &[(&str, &str)] = &[
    ("load_fn", "models are loaded automatically; leave it out"),
    ("compile_fn", "models are compiled automatically; leave it out"),
    ("env_setup_fn", "a function cannot be run here; give its time as env_setup_ms"),
    ("setup_fn", "a function cannot be run here; give its time as setup_ms"),
    ("dataset_loader_fn", "name the file of the dataset as dataset"),
    ("dataset_inputs", "name the file of the dataset as dataset"),
    ("dataloader_kwargs", "give batch_sizes; the dataset is read in its order"),
    ("model_class_file", "name a model that neuronscope models lists as model"),
];

/// What to write in place of an argument of NeuronPerf that has no meaning here.
pub(super) fn not_here(key: &str) -> Option<&'static str> {
    NOT_HERE.iter().find(|(name, _)| *name == key).map(|(_, instead)| *instead)
}

/// Compiler flags inside `compiler_args` that NeuronPerf overrides itself.
const OVERRIDDEN: [&str; 2] = ["neuroncore-pipeline-cores", "fast-math"];

/// The flags of `bench` alone, for parsing a set of them.
#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct BenchFlags {
    #[command(flatten)]
    bench: BenchArgs,
}

/// The arguments of the process, followed by those of the file that `bench --config` names. Fails when the file cannot be read, has
/// a key that is not an argument, or has a value that its flag does not take. The message names the file, the line and the key.
pub(super) fn expand(shell: &Shell, args: Vec<OsString>) -> Result<Vec<OsString>> {
    let Some(path) = args.get(1).filter(|a| *a == "bench").and_then(|_| config_path(&args[2..])) else {
        return Ok(args);
    };
    let place = path.to_string_lossy().into_owned();
    let text = file::read_text(shell, Path::new(&path)).context("--config")?;
    let file = ConfigFile { place, given: args[2..].to_vec() };
    let tokens = file.tokens(&text)?;
    file.check(shell, &tokens)?;
    // Positional arguments come first, so that a flag whose value may be left out does not take one.
    let (positional, flags): (Vec<_>, Vec<_>) =
        tokens.into_iter().flat_map(|t| t.tokens).partition(|t| !t.to_string_lossy().starts_with('-'));
    let (program, given) = args.split_at(2);
    Ok([program, &positional, given, &flags].concat())
}

/// The file that `bench` is given without a flag.
pub(super) fn positional_of_bench(given: &[OsString]) -> Option<std::path::PathBuf> {
    BenchFlags::try_parse_from(given).ok()?.bench.model_filename
}

/// The value of `--config` among the arguments.
fn config_path(args: &[OsString]) -> Option<OsString> {
    let at = args.iter().position(|a| a == "--config" || a.to_string_lossy().starts_with("--config="))?;
    match args[at].to_string_lossy().strip_prefix("--config=") {
        Some(path) => Some(path.into()),
        None => args.get(at + 1).cloned(),
    }
}

/// The tokens that one key is translated to.
struct KeyTokens {
    key: String,
    line: usize,
    tokens: Vec<OsString>,
}

/// A file and the arguments given with it.
struct ConfigFile {
    place: String,
    given: Vec<OsString>,
}

impl ConfigFile {
    fn tokens(&self, text: &str) -> Result<Vec<KeyTokens>> {
        let command = bench_command();
        let given: Vec<&Arg> = self.given.iter().filter_map(|a| argument(&command, name_of(a.to_str()?)?)).collect();
        let has_positional = positional_of_bench(&self.given).is_some();
        let mut all = Vec::new();
        for entry in entries(text).map_err(|e| anyhow::anyhow!("--config: {}: {e}", self.place))? {
            let line = entry.line;
            let found = (|| -> Result<Vec<OsString>> {
                if entry.value.is_null() {
                    return Ok(Vec::new());
                }
                match entry.key.as_str() {
                    "model_filename" if has_positional => Ok(Vec::new()),
                    "model_filename" => model_filename(&entry.value),
                    "config" => bail!("a configuration file cannot name another one; copy its keys into this file"),
                    "compiler_args" => compiler_args(&command, &given, &entry.value),
                    key => {
                        let arg = find(&command, key)?;
                        if given.iter().any(|g| overrides(&command, g, arg)) {
                            return Ok(Vec::new());
                        }
                        flag(arg, &entry)
                    }
                }
            })();
            let tokens = found.with_context(|| format!("--config: {}: line {line}, {}", self.place, entry.key))?;
            all.push(KeyTokens { key: entry.key, line, tokens });
        }
        Ok(all)
    }

    /// Whether the flags together make a benchmark; if not, the key at fault.
    fn check(&self, shell: &Shell, all: &[KeyTokens]) -> Result<()> {
        let with = |keys: &[&KeyTokens]| -> Result<(), String> {
            let mut tokens = self.given.clone();
            tokens.extend(keys.iter().flat_map(|k| k.tokens.clone()));
            let flags = BenchFlags::try_parse_from(tokens).map_err(|e| first_paragraph(&e.to_string()))?;
            let mut config = flags.bench.config(shell).map_err(|e| format!("{e:#}"))?;
            // An index names its models itself; it is read when it runs.
            if flags.bench.model_filename.is_some() && config.model.is_empty() {
                config.model = BenchConfig::default().model;
            }
            config.validate().map_err(|e| e.to_string())
        };
        // Errors of the command line alone are reported by its own parser.
        if with(&all.iter().collect::<Vec<_>>()).is_ok() || with(&[]).is_err() {
            return Ok(());
        }
        // A key may need another key further down, so the keys are tried until no further one fits.
        let (mut kept, mut left): (Vec<&KeyTokens>, Vec<&KeyTokens>) = (Vec::new(), all.iter().collect());
        loop {
            let before = left.len();
            left.retain(|key| {
                kept.push(key);
                let fits = with(&kept).is_ok();
                if !fits {
                    kept.pop();
                }
                !fits
            });
            let Some(first) = left.first() else { return Ok(()) };
            if left.len() == before {
                kept.push(first);
                let problem = with(&kept).err().unwrap_or_default();
                bail!("--config: {}: line {}, {}: {problem}", self.place, first.line, first.key);
            }
        }
    }
}

fn bench_command() -> Command {
    Args::command().find_subcommand("bench").cloned().unwrap_or_else(BenchFlags::command)
}

/// The argument with a name: with dashes or underscores, long or short.
fn argument<'a>(command: &'a Command, name: &str) -> Option<&'a Arg> {
    let name = name.replace('_', "-");
    command.get_arguments().find(|arg| {
        arg.get_long() == Some(name.as_str())
            || arg.get_all_aliases().is_some_and(|all| all.contains(&name.as_str()))
            || arg.get_short().is_some_and(|s| name.len() == 1 && name.starts_with(s))
    })
}

/// The argument of a key.
fn find<'a>(command: &'a Command, key: &str) -> Result<&'a Arg> {
    if let Some(instead) = not_here(key) {
        bail!("{instead}");
    }
    if let Some(arg) = argument(command, key).filter(|a| a.get_id() != "help") {
        return Ok(arg);
    }
    let known: Vec<String> = command.get_arguments().filter_map(Arg::get_long).map(|l| l.replace('-', "_")).collect();
    let same = same_meaning(key, &command.get_arguments().filter_map(Arg::get_long).collect::<Vec<_>>());
    if !same.is_empty() {
        bail!("bench has no such argument; {} means the same", same.join(" or ").replace('-', "_"));
    }
    let known = known.iter().map(String::as_str).chain(["model_filename", "compiler_args"]);
    bail!("bench has no such argument; the nearest are {}", nearest_text(key, known))
}

/// Whether an argument of the command line overrides one of the file.
fn overrides(command: &Command, given: &Arg, of_file: &Arg) -> bool {
    given.get_id() == of_file.get_id()
        || command.get_arg_conflicts_with(given).iter().any(|c| c.get_id() == of_file.get_id())
        || command.get_arg_conflicts_with(of_file).iter().any(|c| c.get_id() == given.get_id())
}

fn model_filename(value: &Value) -> Result<Vec<OsString>> {
    match value {
        Value::String(path) if !path.is_empty() && !path.starts_with('-') => Ok(vec![path.into()]),
        _ => bail!("{value} is not the path of a model index; write the path as a string"),
    }
}

/// The flag of a key with its value.
fn flag(arg: &Arg, entry: &Entry) -> Result<Vec<OsString>> {
    let name = arg.get_long().unwrap_or_default();
    let with = |text: String| vec![OsString::from(format!("--{name}={text}"))];
    let is_switch = matches!(arg.get_action(), ArgAction::SetTrue);
    let may_be_bare = arg.get_num_args().is_some_and(|n| n.min_values() == 0);
    match &entry.value {
        Value::Bool(false) if is_switch || may_be_bare => Ok(Vec::new()),
        Value::Bool(true) if is_switch || may_be_bare => Ok(vec![format!("--{name}").into()]),
        other if is_switch => bail!("{other} is not true or false"),
        Value::String(text) => Ok(with(text.clone())),
        Value::Array(list) if name == "inputs" => Ok(with(text_of_inputs(list)?)),
        Value::Array(list) => Ok(with(text_of_list(list)?)),
        Value::Object(_) => bail!("the value cannot be an object; write a string, a number or a list"),
        other => Ok(with(other.to_string())),
    }
}

/// `{"--auto-cast": "none"}`: compiler flags by their names.
fn compiler_args(command: &Command, given: &[&Arg], value: &Value) -> Result<Vec<OsString>> {
    let Value::Object(map) = value else {
        bail!("{value} is not an object of flags, such as {{\"--auto-cast\": \"none\"}}")
    };
    let mut tokens = Vec::new();
    for (key, value) in map {
        let name = dashed_flag(key.trim_start_matches('-'));
        if OVERRIDDEN.contains(&name.as_str()) {
            continue;
        }
        let Some(arg) = argument(command, &name).filter(|a| COMPILER.contains(&a.get_long().unwrap_or_default()))
        else {
            bail!("'{key}' is not a flag of this compiler; it has --{}", COMPILER.join(", --"))
        };
        if !given.iter().any(|g| g.get_id() == arg.get_id()) {
            tokens.extend(flag(arg, &Entry { key: key.clone(), line: 0, value: value.clone() })?);
        }
    }
    Ok(tokens)
}

/// Long names of the compiler flags.
const COMPILER: [&str; 4] = ["auto-cast", "auto-cast-type", "optlevel", "lnc"];

/// The message of clap, without its pointer to `--help`.
fn first_paragraph(message: &str) -> String {
    let text = message.trim_start_matches("error: ");
    text.split("\n\n").next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(text: &str, given: &[&str]) -> Result<Vec<String>, String> {
        let file = ConfigFile { place: "run.json".into(), given: given.iter().map(OsString::from).collect() };
        let tokens = file
            .tokens(text)
            .and_then(|t| file.check(&Shell::default(), &t).map(|()| t))
            .map_err(|e| format!("{e:#}"))?;
        Ok(tokens.into_iter().flat_map(|t| t.tokens).map(|t| t.to_string_lossy().into_owned()).collect())
    }

    #[test]
    fn arguments_of_a_script_become_flags() {
        let text = r#"{"model_filename": "resnet50.json", "inputs": [[1, 3, 224, 224]], "batch_sizes": [1],
            "n_models": [1, 16], "workers_per_model": 2, "duration": 7.5, "multiprocess": false, "cost_per_hour": null,
            "return_timers": false, "csv_file": true, "verbosity": 2, "preprocess_fn": "x / 255", "env_setup_ms": 3,
            "compiler_args": {"--auto-cast": "none", "--fast-math": "all"}, "auto_cast_type": ["bf16", "fp16"]}"#;
        let expected = [
            "resnet50.json",
            "--inputs=1x3x224x224",
            "--batch-sizes=1",
            "--n-models=1,16",
            "--workers-per-model=2",
            "--duration=7.5",
            "--multiprocess=false",
            "--csv-file",
            "--verbosity=2",
            "--preprocess=x / 255",
            "--env-setup-ms=3",
            "--auto-cast=none",
            "--auto-cast-type=bf16,fp16",
        ];
        assert_eq!(expanded(text, &[]).unwrap(), expected);
    }

    #[test]
    fn a_flag_of_the_command_line_wins_over_the_file() {
        let text = r#"{"n_models": 4, "duration": 5, "json": true, "optlevel": 1, "model_filename": "a.json"}"#;
        let given = ["--config", "run.json", "--n-models", "2", "--csv", "-O2", "b.json"];
        assert_eq!(expanded(text, &given).unwrap(), ["--duration=5"]);
        assert_eq!(expanded(r#"{"instance_type": "inf1.xlarge"}"#, &["--instance=inf2.xlarge"]).unwrap(), [""; 0]);
    }

    #[test]
    fn mistakes_name_the_line_and_the_key_with_advice() {
        let said = |text: &str| expanded(text, &[]).unwrap_err();
        let unknown = said("{\n  \"duration\": 5,\n  \"worker_per_model\": 1\n}");
        let expected = "--config: run.json: line 3, worker_per_model: bench has no such argument; the nearest are workers_per_model,";
        assert!(unknown.starts_with(expected), "{unknown}");
        let two = said("{\n  \"duration\": 5,\n  \"n_models\": [1, \"two\"]\n}");
        assert!(
            two.starts_with("--config: run.json: line 3, n_models: ") && two.contains("'two' is not a whole number"),
            "{two}"
        );
        assert!(
            said("{\"verbosity\": 7}")
                .contains("line 1, verbosity: invalid value '7' for '--verbosity <VERBOSITY>': '7' is not a verbosity")
        );
        assert!(said("{\"duration\": -1}").contains("line 1, duration: duration_s: -1 is not allowed"));
        assert!(said("{\"setup_fn\": \"f\"}").contains("give its time as setup_ms"));
        assert!(said("{\"json\": 1}").contains("1 is not true or false"));
        assert!(said("{\"loop_dataset\": true}").contains("line 1, loop_dataset: "));
        assert!(said("{\"compiler_args\": {\"--speed\": 1}}").contains("'--speed' is not a flag of this compiler"));
        // A key may need another key further down.
        assert!(
            expanded("{\"loop_dataset\": true, \"dataset\": 100, \"device_ms\": 1, \"model\": \"fixed\"}", &[]).is_ok()
        );
        // Of two wrong keys the first is named.
        assert!(said("{\"n_models\": 0,\n\"duration\": 0}").contains("line 1, n_models"));
    }
}
