//! Commands that reproduce a record.

use super::entry::Config;
use super::view_input::ViewInput;
use ns_forms::commands::quoted;
use ns_forms::options::{Opt, Options as _};
use ns_forms::{ExperimentField, ExperimentSpec};

/// Kinds of accelerators that this program runs.
const OWN_KINDS: [&str; 4] = ["cpu", "trn1", "inf2", "trn2"];
/// Suites that PyTorch/XLA's runner knows.
const SUITES: [&str; 2] = ["torchbench", "dummy"];

/// A regular expression that matches only this name.
fn exactly(name: &str) -> String {
    let mut out = String::from("^");
    for c in name.chars() {
        if !(c.is_ascii_alphanumeric() || c == '_' || c == '-') {
            out.push('\\');
        }
        out.push(c);
    }
    out + "$"
}

/// The flags of one experiment, which both runners accept.
fn flags(config: &Config) -> Vec<String> {
    let mut flags = Vec::new();
    let mut flag = |name: &str, value: &str| flags.push(format!("--{name}={}", quoted(value)));
    flag("filter", &exactly(&config.model));
    if let Some(kind) = &config.kind {
        flag("accelerator", kind);
    }
    flag("xla", config.xla.as_deref().unwrap_or("None"));
    flag("dynamo", config.dynamo.as_deref().unwrap_or("None"));
    flag("test", &config.test);
    if let Some(value) = &config.xla_flags {
        flag("xla-flags", value);
    }
    if let Some(value) = &config.torch_xla2 {
        flag("torch-xla2", value);
    }
    if config.batch.parse::<u64>().is_ok() {
        flag("batch-size", &config.batch);
    }
    for (name, value) in [("repeat", &config.repeat), ("iterations-per-run", &config.iterations)] {
        if let Some(value) = value {
            flag(name, value);
        }
    }
    flags
}

/// The commands that run a configuration again: this program's command if it has the accelerator, and the suite's if the suite has the
/// models.
pub fn commands(config: &Config) -> Vec<String> {
    let suite = if config.suite.is_empty() { "torchbench" } else { &config.suite };
    let kind = config.kind.as_deref().unwrap_or_default();
    let command = |program: &str| {
        let words = [vec![program.to_owned(), format!("--suite-name={}", quoted(suite))], flags(config)].concat();
        words.join(" ")
    };
    let mut commands = Vec::new();
    if OWN_KINDS.contains(&kind) && config.torch_xla2.is_none() {
        commands.push(command("neuronscope experiment"));
    }
    if SUITES.contains(&suite) && !OWN_KINDS[1..].contains(&kind) {
        commands.push(command("python xla/benchmarks/experiment_runner.py"));
    }
    commands
}

/// The command that prints the view.
pub fn records(input: &ViewInput<'_>) -> String {
    let spec = input.request.clone().with(ExperimentField::View, input.view.key());
    let flag = |option: &Opt<ExperimentSpec>| {
        let text = option.text(&spec);
        (!text.is_empty()).then(|| format!("--{} {}", option.flag_name(), quoted(&text)))
    };
    let words = ["neuronscope records".to_owned()].into_iter().chain(ExperimentSpec::options().filter_map(flag));
    let store = input.store;
    let names = store.files.iter().map(|file| &file.name).chain(store.reports.iter().map(|file| &file.name));
    words.chain(names.map(|name| quoted(name))).collect::<Vec<_>>().join(" ")
}

/// The command that prints a report of these records, as the suite does.
pub fn aggregate(input: &ViewInput<'_>, report: &str) -> String {
    let spec = input.spec();
    let mut words = vec!["neuronscope aggregate --lenient".to_owned(), format!("--report {report}")];
    if let Some(name) = &input.accelerator {
        words.push(format!("--accelerator {}", quoted(name)));
    }
    for (flag, field) in
        [("test", ExperimentField::Test), ("metric", ExperimentField::Metric), ("baseline", ExperimentField::Baseline)]
    {
        words.push(format!("--{flag} {}", spec.get(field)));
    }
    for (flag, field) in [("filter", ExperimentField::Filter), ("exclude", ExperimentField::Exclude)] {
        words.extend(spec.get(field).split_whitespace().map(|pattern| format!("--{flag} {}", quoted(pattern))));
    }
    let tiers = spec.get(ExperimentField::Tier).split(',').map(str::trim).filter(|t| t.parse::<u8>().is_ok());
    words.extend(tiers.map(|tier| format!("--filter-by-tier {tier}")));
    let backends: Vec<&str> = input.backends.iter().map(|b| b.name()).collect();
    words.push(format!("--backends {}", backends.join(" ")));
    let files: Vec<String> = input.store.files.iter().map(|file| quoted(&file.name)).collect();
    format!("{} -- {}", words.join(" "), files.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_experiment::aggregate::Backend;

    fn config(kind: &str, suite: &str) -> Config {
        let some = |t: &str| Some(t.to_owned());
        Config {
            suite: suite.to_owned(),
            model: "hf_Bert.v2".to_owned(),
            kind: some(kind),
            product: String::new(),
            xla: some("PJRT"),
            xla_flags: some("--a --b"),
            dynamo: None,
            torch_xla2: None,
            test: "eval".to_owned(),
            batch: "16".to_owned(),
            repeat: some("8"),
            iterations: some("1"),
            backend: Backend::OpenxlaLazytensor,
        }
    }

    #[test]
    fn commands_are_complete_and_quoted_where_needed() {
        let suite = commands(&config("cuda", "torchbench"));
        assert_eq!(
            suite,
            [concat!(
                "python xla/benchmarks/experiment_runner.py --suite-name=torchbench --filter='^hf_Bert\\.v2$' --accelerator=cuda --xla=PJRT ",
                "--dynamo=None --test=eval --xla-flags='--a --b' --batch-size=16 --repeat=8 --iterations-per-run=1"
            )]
        );
        let own = commands(&config("trn1", "zoo"));
        assert!(own.len() == 1 && own[0].starts_with("neuronscope experiment --suite-name=zoo"), "{own:?}");
        assert_eq!(commands(&config("cpu", "dummy")).len(), 2);
    }
}
