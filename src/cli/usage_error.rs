//! Usage errors in words. An unknown flag is answered with the flag of the command that means the same, also where it is spelled quite
//! differently; a value that is no number, with what it has to be.

use std::ffi::OsString;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command};
use ns_base::likely_name;

/// Names of one thing each, as other tools and people write them; those that a command has are offered in this order.
const CONCEPTS: &[&str] = &[
    "batch-sizes batch-size batch batchsize bs max-batch-size samples",
    "auto-cast-type dtype weights auto-cast precision data-type torch-dtype cast-mode cast-modes",
    "instance accelerator instances instance-type hardware device devices target machine platform chip",
    "n-models tp cores num-cores n-cores neuroncores num-neuroncores neuron-cores copies replicas num-models",
    "workers-per-model workers num-workers n-workers threads num-threads concurrency clients",
    "duration seconds time timeout benchmark-time",
    "max-inferences num-timed-iterations repeat requests iterations iters num-iterations steps runs",
    "warmup-inferences num-warmup-iterations warmup warmup-iterations warmup-steps",
    "output output-dirname models-dir o out output-file output-dir out-dir outdir logdir log-dir save save-to filename",
    "model models model-id model-path model-file model-name-or-path network checkpoint onnx file path",
    "input inputs shapes shape input-shape input-shapes input-tokens prompt-tokens prompt-length context context-length",
    "output-tokens output generate tokens num-tokens new-tokens",
    "seed random-seed rng-seed",
    "latency-bound-ms max-tpot-ms slo slo-ms max-latency max-latency-ms latency-limit",
    "matrix-dim size dim-size m k matrix-size",
    "optlevel opt-level optimization-level performance-levels",
    "top nodes n limit max-rows rows num-rows head",
    "pipeline-sizes pipeline-size pipeline cores-per-model pipeline-cores neuroncore-pipeline-cores",
    "report-verbosity verbosity verbose quiet log-level debug",
];

/// What is no flag here: the flag that a command has beside it, what people call it, and what to write instead.
const NO_FLAGS: &[(&str, &str, &str)] = &[
    (
        "model",
        "seq seq-len seq-length seqlen sequence-length max-length max-seq-len max-seq-length",
        "the tokens of a sequence are a parameter of the model: --model bert-base-uncased:seq=128",
    ),
    (
        "by",
        "sort sort-by order order-by sort-order",
        "rows come by their self time; neuronscope query FILE \"group by name order by count desc\" takes any order",
    ),
    ("csv", "format output-format fmt", "tables are text; --csv and --json print the other formats"),
    ("json", "format output-format fmt", "results are text; --json prints JSON"),
    ("json", "csv csv-file", "--json prints the result; --html writes a page"),
    ("profile-type", "top limit n", "neuronscope operators sim:MODEL --top 3 lists the first rows"),
    ("level", "framework framework-op framework-ops hlo hlo-op hlo-ops modules", A_LEVEL),
];

/// What is no command here: what people call it, and the command to write instead.
const NO_COMMANDS: &[(&str, &str)] = &[
    (
        "neuronperf perf run-benchmark neuron-perf",
        "the functions of NeuronPerf are commands: bench, compile, index, report",
    ),
    (
        "trace timeline simulate sim execute neuron-profile profiler capture",
        "profile simulates a call and its timeline; compile writes an artifact",
    ),
    (
        "view show load import convert export summary stats info",
        "open FILE shows a profile (--summary) and writes other formats (--output, --export)",
    ),
    ("tensorboard", "profile --export tensorboard --output logs writes what TensorBoard opens; serve opens the page"),
    ("ops op operator hlo", "operators FILE lists the operators of a profile"),
    ("diff", "compare A B compares two profiles"),
    ("accuracy precision values check", "numerics compares the values of a model with fp32"),
    ("kernel kernels", "nki runs NKI kernels, customop custom operators in C++"),
    ("llm decode chat token tokens", "generate times a language model, fit says where one fits"),
    ("instances instance hardware chips", "devices lists the instance sizes"),
    ("ubench microbenchmark micro matmul gemm", "matmult is the microbenchmark of products"),
    (
        "results history regressions changes",
        "records FILE shows records of experiments, report FILE results of benchmarks",
    ),
    ("ui gui web page start", "serve opens the page"),
    ("list ls print", "show lists the entries of an index; models and devices list what there is"),
];

/// Values that are none, of a flag: what people write, and what to write instead.
const NO_VALUES: &[(&str, &str, &str)] = &[
    ("--by", "framework framework-op framework-ops hlo hlo-op hlo-ops layer kernel", A_LEVEL),
    ("--view", "graph picture", "--graph FILE draws the picture"),
    ("--workflow", "lazy xla torch-xla lazy-tensor eager pjrt", "the lazy workflow of torch_xla is mark_step"),
    (
        "--workflow",
        "traced torch-neuronx jit aot compile compiled inference",
        "what torch_neuronx.trace makes is trace",
    ),
];

const A_LEVEL: &str = "operators of one kind are a level: --level \"HLO ops\", --level \"framework ops\"";

/// Those of the known names that mean what `name` means.
pub(super) fn same_meaning<'a>(name: &str, known: &[&'a str]) -> Vec<&'a str> {
    let name = name.to_ascii_lowercase().replace('_', "-");
    let groups = CONCEPTS.iter().filter(|group| group.split(' ').any(|word| word == name));
    let mut found: Vec<&str> = Vec::new();
    for word in groups.flat_map(|group| group.split(' ')) {
        found.extend(known.iter().copied().filter(|known| *known == word));
    }
    found
}

/// The error of clap for these words, with better advice: an unknown flag gets the flags of the same meaning, a wrong number a sentence.
pub(super) fn explain(mut error: clap::Error, words: &[OsString], root: &Command) -> clap::Error {
    let command = called(words, root);
    if let Some(plain) = of_number(&error, command) {
        return plain;
    }
    with_value_tip(&mut error);
    with_command_tip(&mut error);
    let (ErrorKind::UnknownArgument, Some(ContextValue::String(given))) =
        (error.kind(), error.get(ContextKind::InvalidArg))
    else {
        return error;
    };
    let name = given.trim_start_matches('-').to_owned();
    let known: Vec<&str> = command.get_arguments().filter_map(Arg::get_long).collect();
    let mut same = same_meaning(&name, &known);
    if same.is_empty() {
        same.extend(likely_name(&name, known.iter().copied()));
    }
    if same.is_empty() {
        same = with_its_words(&name, &known);
    }
    // clap's own tips are of names that are less alike, and of values that begin with dashes.
    error.remove(ContextKind::Suggested);
    error.remove(ContextKind::SuggestedArg);
    let plain = name.to_ascii_lowercase().replace('_', "-");
    let is_meant = |(beside, words, _): &&(&str, &str, &str)| known.contains(beside) && has_word(words, &plain);
    if let Some((_, _, tip)) = NO_FLAGS.iter().find(is_meant).filter(|_| same.is_empty()) {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(*tip)]));
    }
    if command.get_name() == "fit" && root.find_subcommand("generate").is_some_and(|of| has_flag(of, &name)) {
        let tip = format!("fit tries every instance and degree; neuronscope generate has --{name}");
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
    }
    match &*same {
        [] => {}
        [one] => drop(error.insert(ContextKind::SuggestedArg, ContextValue::String(format!("--{one}")))),
        several => {
            let flags = several.iter().map(|name| format!("--{name}")).collect();
            error.insert(ContextKind::SuggestedArg, ContextValue::Strings(flags));
        }
    }
    error
}

/// The flags that have a word for each word of a name: `timed-iters` is of `num-timed-iterations`. None where many have.
fn with_its_words<'a>(name: &str, known: &[&'a str]) -> Vec<&'a str> {
    const MOST: usize = 3;
    let name = name.to_ascii_lowercase().replace('_', "-");
    let words: Vec<&str> = name.split('-').map(|word| word.trim_end_matches('s')).collect();
    let has = |flag: &str, word: &str| word.len() > 2 && flag.split('-').any(|other| other.starts_with(word));
    let flags: Vec<&str> = known.iter().copied().filter(|flag| words.iter().all(|word| has(flag, word))).collect();
    if flags.len() > MOST { Vec::new() } else { flags }
}

/// What a value that is no number of its kind should be, by what Rust's parsers say of it.
const NUMBERS: &[(&str, &str)] = &[
    ("invalid digit found in string", "is not a whole number"),
    ("cannot parse integer from empty string", "is empty: it has to be a whole number"),
    ("number too large to fit in target type", "is too large"),
    ("number too small to fit in target type", "is too small"),
    ("invalid float literal", "is not a number"),
    ("cannot parse float from empty string", "is empty: it has to be a number"),
];

/// A sentence in place of clap's error, where a value is no number.
fn of_number(error: &clap::Error, command: &Command) -> Option<clap::Error> {
    let text = std::error::Error::source(error)?.to_string();
    let (_, what) = NUMBERS.iter().find(|(of_parser, _)| text == *of_parser)?;
    let word = |kind| error.get(kind).map(ToString::to_string).unwrap_or_default();
    let (flag, value) = (word(ContextKind::InvalidArg), word(ContextKind::InvalidValue));
    Some(command.clone().error(ErrorKind::ValueValidation, format!("{flag}: '{value}' {what}")))
}

fn has_word(words: &str, word: &str) -> bool {
    words.split(' ').any(|other| other == word)
}

/// Adds the command to write in the place of a word that is none.
fn with_command_tip(error: &mut clap::Error) {
    let word = error.get(ContextKind::InvalidSubcommand).map(ToString::to_string).unwrap_or_default();
    let word = word.to_ascii_lowercase().replace('_', "-");
    if let Some((_, tip)) = NO_COMMANDS.iter().find(|(words, _)| has_word(words, &word)) {
        error.remove(ContextKind::SuggestedSubcommand);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(*tip)]));
    }
}

/// Adds what to write in the place of a value that is none.
fn with_value_tip(error: &mut clap::Error) {
    let word = |kind| error.get(kind).map(ToString::to_string).unwrap_or_default();
    let (flag, value) = (word(ContextKind::InvalidArg), word(ContextKind::InvalidValue));
    let value = value.to_ascii_lowercase().replace(['_', ' '], "-");
    let is_meant =
        |(of, words, _): &&(&str, &str, &str)| flag.split_whitespace().next() == Some(of) && has_word(words, &value);
    if let Some((_, _, tip)) = NO_VALUES.iter().find(is_meant) {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(*tip)]));
    }
}

fn has_flag(command: &Command, name: &str) -> bool {
    command.get_arguments().any(|arg| arg.get_long() == Some(name))
}

/// The command that words call; the first of them is the program's name.
fn called<'a>(words: &[OsString], root: &'a Command) -> &'a Command {
    words
        .iter()
        .skip(1)
        .try_fold(root, |command, word| command.find_subcommand(word).ok_or(command))
        .unwrap_or_else(|last| last)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::args::Args;

    fn said(line: &str) -> String {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let error = Args::command().try_get_matches_from(&words).unwrap_err();
        explain(error, &words, &Args::command()).to_string()
    }

    #[test]
    fn an_unknown_flag_is_answered_with_the_one_that_means_the_same() {
        assert!(said("n bench --cast-mode fp32").contains("'--auto-cast'"));
        assert!(said("n bench --dtype bf16").contains("arguments exist: '--auto-cast-type', '--auto-cast'"));
        assert!(said("n bench --cores 2").contains("argument exists: '--n-models'"));
        assert!(said("n generate --cores 2").contains("argument exists: '--tp'"));
        assert!(said("n matmult --iters 2").contains("argument exists: '--num-timed-iterations'"));
        assert!(said("n matmult --timed_iters 2").contains("argument exists: '--num-timed-iterations'"));
        assert!(said("n fit --instance inf2").contains("tip: fit tries every instance"));
        assert!(said("n bench --seq-len 64").contains("--model bert-base-uncased:seq=128"));
        assert!(said("n profile --logdir logs").contains("argument exists: '--output'"));
        assert!(said("n operators --sort time a").contains("group by name order by count desc"));
        assert!(said("n operators --hlo a").contains("--level \"HLO ops\""));
        assert!(said("n operators --by hlo_op a").contains("--level \"HLO ops\""));
        assert!(said("n profile nn --workflow lazy").contains("is mark_step"));
        assert!(said("n bench --max-infers 64").contains("argument exists: '--max-inferences'"));
        assert!(said("n flame -o f.svg a.json").lines().all(|line| !line.contains("tip:")));
        assert!(said("n compile -o f").contains("'--models-dir'"));
        assert!(!said("n bench --compare trn1").contains("tip:"));
        assert!(!said("n bench --zzz 1").contains("tip:"));
        assert!(!said("n query --zzz 1").contains("as a value"));
        assert!(said("n operators --top five a").starts_with("error: --top <TOP>: 'five' is not a whole number\n"));
    }

    #[test]
    fn an_unknown_command_is_answered_with_the_one_that_does_it() {
        assert!(said("n trace --model nn").contains("profile simulates a call"));
        assert!(said("n index list a.json").contains("show lists the entries"));
        let root = Args::command();
        for word in NO_COMMANDS.iter().flat_map(|(words, _)| words.split(' ')) {
            assert!(root.find_subcommand(word).is_none(), "{word} is a command");
        }
    }

    #[test]
    fn every_concept_is_of_a_flag_that_exists() {
        let root = Args::command();
        let flags: Vec<&str> =
            root.get_subcommands().flat_map(|sub| sub.get_arguments().filter_map(Arg::get_long)).collect();
        for group in CONCEPTS {
            assert!(group.split(' ').any(|word| flags.contains(&word)), "{group:?}");
        }
    }
}
