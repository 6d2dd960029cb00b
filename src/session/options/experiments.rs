//! The options of a run of experiments as one table: the page's form, links, and the printed command come from its rows.

use super::text::{OptionText, name_of, some};
use crate::studies::{FieldKind, FormField, field};
use ns_bench::comma_list;
use ns_experiment::plan::{Accelerator, Dynamo, ExpandOptions, PlanRequest, PlanRules, Test, Xla};
use ns_experiment::run::{RunSettings, Suite, Verification};
use ns_experiment::sweep::ExperimentsRequest;

/// An option of a run of experiments.
#[derive(Debug)]
pub struct PlanOption {
    /// Its field on the page, whose key is its name in links: `run_suite`.
    pub field: FormField,
    /// Whether it is beside the fields that are always visible.
    pub is_advanced: bool,
    pub flag: PlanFlag,
    get: fn(&ExperimentsRequest) -> String,
    put: fn(&mut ExperimentsRequest, &OptionText<'_>) -> Result<(), String>,
}

/// How the command line says an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanFlag {
    /// `--name value`.
    Value(&'static str),
    /// `--name value` for each entry of the list.
    Each(&'static str),
    /// `--verify` with its rules.
    Verify,
}

const SUITES: [(&str, Suite); 3] = [("torchbench", Suite::Torchbench), ("zoo", Suite::Zoo), ("dummy", Suite::Dummy)];
const VERIFICATIONS: [(&str, Option<Verification>); 3] =
    [("", None), ("mre", Some(Verification::MeanRelativeError)), ("current", Some(Verification::Current))];
/// How lists spell null.
const NULL: &str = "None";

const SUITE_LABELS: &[(&str, &str)] =
    &[("torchbench", "torchbench"), ("zoo", "zoo (all models)"), ("dummy", "dummy (one model)")];
const ACCELERATORS: &[(&str, &str)] = &[
    ("trn1", "Trn1, simulated"),
    ("inf2", "Inf2, simulated"),
    ("trn2", "Trn2, simulated"),
    ("cpu", "processor of this browser, measured"),
    ("cuda", "GPU, planned and skipped"),
    ("tpu", "TPU, planned and skipped"),
];
const XLAS: &[(&str, &str)] = &[("None", "without XLA"), ("PJRT", "PJRT")];
const DYNAMOS: &[(&str, &str)] = &[("None", "none"), ("inductor", "inductor"), ("openxla", "openxla")];
const TESTS: &[(&str, &str)] = &[("eval", "inference"), ("train", "training step")];
const VERIFIES: &[(&str, &str)] = &[
    ("", "nothing: times"),
    ("mre", "values, by the mean relative error"),
    ("current", "values, by the rules in force"),
];

/// A row without its own columns.
const fn row(is_advanced: bool) -> PlanOption {
    PlanOption {
        field: field("", "", "", "", FieldKind::Line),
        is_advanced,
        flag: PlanFlag::Verify,
        get: |_| String::new(),
        put: |_, _| Ok(()),
    }
}
const MAIN: PlanOption = row(false);
const MORE: PlanOption = row(true);

/// All options, in the order of links and of the form.
pub const PLAN_OPTIONS: &[PlanOption] = &[
    PlanOption {
        field: field("run_suite", "Suite", "", "", FieldKind::Choice(SUITE_LABELS)),
        flag: PlanFlag::Value("suite-name"),
        get: |r| r.plan.suite.name().to_owned(),
        put: |r, given| given.one_of(&SUITES, Suite::Torchbench).map(|suite| r.plan.suite = suite),
        ..MAIN
    },
    PlanOption {
        field: field(
            "run_models",
            "Models",
            "Names, separated by commas. Empty: all of the suite",
            "all of the suite",
            FieldKind::Line,
        ),
        flag: PlanFlag::Value("models"),
        get: |r| comma_list(&r.plan.models),
        put: |r, given| {
            r.plan.models = words(given.text, ',');
            Ok(())
        },
        ..MAIN
    },
    PlanOption {
        field: field(
            "run_filter",
            "Keep models",
            "Regular expressions, separated by spaces: hf_ ^resnet",
            "",
            FieldKind::Line,
        ),
        flag: PlanFlag::Each("filter"),
        get: |r| r.plan.filter.join(" "),
        put: |r, given| {
            r.plan.filter = words(given.text, ' ');
            Ok(())
        },
        ..MORE
    },
    PlanOption {
        field: field(
            "run_exclude",
            "Leave out models",
            "Regular expressions, separated by spaces",
            "",
            FieldKind::Line,
        ),
        flag: PlanFlag::Each("exclude"),
        get: |r| r.plan.exclude.join(" "),
        put: |r, given| {
            r.plan.exclude = words(given.text, ' ');
            Ok(())
        },
        ..MORE
    },
    PlanOption {
        field: field("run_accelerator", "Accelerators", "", "", FieldKind::Several(ACCELERATORS)),
        flag: PlanFlag::Each("accelerator"),
        get: |r| names(&r.plan.expand.accelerator, |a| a.name()),
        put: |r, given| parse_list(given).map(|list| r.plan.expand.accelerator = list),
        ..MAIN
    },
    PlanOption {
        field: field("run_test", "Test", "", "", FieldKind::Several(TESTS)),
        flag: PlanFlag::Each("test"),
        get: |r| names(&r.plan.expand.test, |t| t.name()),
        put: |r, given| parse_list::<Test>(given).map(|list| r.plan.expand.test = list),
        ..MAIN
    },
    PlanOption {
        field: field(
            "run_dynamo",
            "Dynamo",
            "Backend of torch.compile; combinations that cannot run are left out",
            "",
            FieldKind::Several(DYNAMOS),
        ),
        flag: PlanFlag::Each("dynamo"),
        get: |r| {
            if r.plan.expand.dynamo.is_empty() {
                all(DYNAMOS)
            } else {
                nullable_names(&r.plan.expand.dynamo, |d| d.name())
            }
        },
        put: |r, given| nullable::<Dynamo>(given, DYNAMOS).map(|list| r.plan.expand.dynamo = list),
        ..MAIN
    },
    PlanOption {
        field: field("run_xla", "XLA", "A NeuronCore is reached only through it", "", FieldKind::Several(XLAS)),
        flag: PlanFlag::Each("xla"),
        get: |r| {
            if r.plan.expand.xla.is_empty() { all(XLAS) } else { nullable_names(&r.plan.expand.xla, |x| x.name()) }
        },
        put: |r, given| nullable::<Xla>(given, XLAS).map(|list| r.plan.expand.xla = list),
        ..MAIN
    },
    PlanOption {
        field: field("run_batch", "Batch size", "Samples of one inference", "the model\u{2019}s own", FieldKind::Whole),
        flag: PlanFlag::Value("batch-size"),
        get: |r| some(r.settings.batch_size),
        put: |r, given| within(given.some_number(BATCH)?, given, 1, u32::MAX, BATCH).map(|n| r.settings.batch_size = n),
        ..MAIN
    },
    PlanOption {
        field: field("run_repeat", "Repeats", "Timed runs; reports leave the first three out", "", FieldKind::Whole),
        flag: PlanFlag::Value("repeat"),
        get: |r| r.settings.repeat.to_string(),
        put: |r, given| count(given).map(|n| r.settings.repeat = n),
        ..MAIN
    },
    PlanOption {
        field: field(
            "run_iterations",
            "Iterations of a repeat",
            "Inferences inside one timed run",
            "",
            FieldKind::Whole,
        ),
        flag: PlanFlag::Value("iterations-per-run"),
        get: |r| r.settings.iterations_per_run.to_string(),
        put: |r, given| count(given).map(|n| r.settings.iterations_per_run = n),
        ..MORE
    },
    PlanOption {
        field: field("run_verify", "Verify", "Compares outputs instead of timing", "", FieldKind::Choice(VERIFIES)),
        flag: PlanFlag::Verify,
        get: |r| name_of(&VERIFICATIONS, &r.settings.verify, &None),
        put: |r, given| given.one_of(&VERIFICATIONS, None).map(|rules| r.settings.verify = rules),
        ..MORE
    },
    PlanOption {
        field: field("run_verify_iterations", "Seeds to verify", "All must pass", "", FieldKind::Whole),
        flag: PlanFlag::Value("verify-iterations"),
        get: |r| r.settings.verify_iterations.to_string(),
        put: |r, given| {
            within(given.some_number(SEEDS)?, given, 1, 1_000, SEEDS)
                .map(|n| r.settings.verify_iterations = n.unwrap_or(1))
        },
        ..MORE
    },
    PlanOption {
        field: field("run_seed", "Seed", "For weights and inputs", "", FieldKind::Whole),
        flag: PlanFlag::Value("seed"),
        get: |r| r.settings.seed.to_string(),
        put: |r, given| given.number("a whole number from 0 to 18446744073709551615").map(|n| r.settings.seed = n),
        ..MORE
    },
    PlanOption {
        field: field(
            "run_timestamp",
            "Timestamp",
            "Of every record, seconds since 1970",
            "the time of the run",
            FieldKind::Decimal,
        ),
        flag: PlanFlag::Value("timestamp"),
        get: |r| some(r.timestamp),
        put: |r, given| {
            let wanted = "a number of seconds since 1970, such as 1700000000";
            let time: Option<f64> = given.some_number(wanted)?;
            if time.is_some_and(|t| !t.is_finite()) {
                return Err(given.wrong(wanted));
            }
            r.timestamp = time;
            Ok(())
        },
        ..MORE
    },
];

/// The request of a form that nobody has edited: three small models on a simulated Trn1, which takes seconds.
pub fn default_experiments() -> ExperimentsRequest {
    ExperimentsRequest {
        plan: PlanRequest {
            suite: Suite::Torchbench,
            models: ["alexnet", "resnet18", "resnet50"].map(str::to_owned).into(),
            filter: Vec::new(),
            exclude: Vec::new(),
            filter_tiers: Vec::new(),
            exclude_tiers: Vec::new(),
            total_partitions: 1,
            partition_id: 0,
            model_files: Vec::new(),
            expand: ExpandOptions {
                accelerator: vec![Accelerator::Trn1],
                test: vec![Test::Eval],
                xla_devices: vec!["CPU".to_owned()],
                ..ExpandOptions::default()
            },
            rules: PlanRules::Neuron,
        },
        settings: RunSettings::default(),
        timestamp: None,
    }
}

/// Whether a request measures the processor, which a link does not do by itself: the user has to want it.
pub fn measures(request: &ExperimentsRequest) -> bool {
    let accelerators = &request.plan.expand.accelerator;
    request.settings.verify.is_none() && (accelerators.is_empty() || accelerators.contains(&Accelerator::Cpu))
}

impl PlanOption {
    /// The option with a key; `None` if there is none.
    pub fn find(key: &str) -> Option<&'static Self> {
        PLAN_OPTIONS.iter().find(|option| option.field.key == key)
    }

    /// Its name in links.
    pub const fn key(&self) -> &'static str {
        self.field.key
    }

    /// The text of this option in a request.
    pub fn text(&self, request: &ExperimentsRequest) -> String {
        (self.get)(request)
    }

    /// Puts a text into a request. A text that cannot be used leaves it as it was.
    ///
    /// # Errors
    /// One sentence for the user: what is wrong and what would be right.
    pub fn set(&self, request: &mut ExperimentsRequest, text: &str) -> Result<(), String> {
        (self.put)(request, &OptionText { name: self.field.label, text: text.trim() })
    }
}

const BATCH: &str = "a number of samples from 1";
const SEEDS: &str = "a number of seeds from 1 to 1000";

fn words(text: &str, between: char) -> Vec<String> {
    text.split(between).map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

fn names<T: Copy>(values: &[T], name: impl Fn(T) -> &'static str) -> String {
    comma_list(&values.iter().map(|value| name(*value)).collect::<Vec<_>>())
}

fn nullable_names<T: Copy>(values: &[Option<T>], name: impl Fn(T) -> &'static str) -> String {
    comma_list(&values.iter().map(|value| value.map_or(NULL, &name)).collect::<Vec<_>>())
}

fn all(choices: &[(&str, &str)]) -> String {
    comma_list(&choices.iter().map(|(value, _)| *value).collect::<Vec<_>>())
}

fn parse_list<T: std::str::FromStr<Err: std::fmt::Display>>(given: &OptionText<'_>) -> Result<Vec<T>, String> {
    let list = words(given.text, ',');
    if list.is_empty() {
        return Err(format!("{}: choose at least one", given.name));
    }
    list.iter().map(|word| word.parse().map_err(|e| format!("{}: {e}", given.name))).collect()
}

/// A list whose values may be null; empty, which is the command line's default, if it has all of the choices.
fn nullable<T: std::str::FromStr<Err: std::fmt::Display>>(
    given: &OptionText<'_>,
    choices: &[(&str, &str)],
) -> Result<Vec<Option<T>>, String> {
    let list = words(given.text, ',');
    if choices.iter().all(|(value, _)| list.iter().any(|word| word == value)) {
        return Ok(Vec::new());
    }
    if list.is_empty() {
        return Err(format!("{}: choose at least one", given.name));
    }
    let value = |word: &String| if word == NULL { Ok(None) } else { word.parse().map(Some) };
    list.iter().map(|word| value(word).map_err(|e| format!("{}: {e}", given.name))).collect()
}

fn count(given: &OptionText<'_>) -> Result<u32, String> {
    let wanted = "a whole number from 1 to 100000";
    within(Some(given.number(wanted)?), given, 1, 100_000, wanted).map(|n| n.unwrap_or(1))
}

fn within(
    number: Option<u32>,
    given: &OptionText<'_>,
    least: u32,
    most: u32,
    wanted: &str,
) -> Result<Option<u32>, String> {
    if number.is_some_and(|n| n < least || n > most) { Err(given.wrong(wanted)) } else { Ok(number) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_survives_its_text() {
        let chosen = [
            ("run_suite", "zoo"),
            ("run_models", "nn,mlp"),
            ("run_filter", "^n ^m"),
            ("run_exclude", "bert"),
            ("run_accelerator", "trn1,cpu"),
            ("run_test", "eval,train"),
            ("run_dynamo", "None,openxla"),
            ("run_xla", "PJRT"),
            ("run_batch", "4"),
            ("run_repeat", "8"),
            ("run_iterations", "3"),
            ("run_verify", "current"),
            ("run_verify_iterations", "2"),
            ("run_seed", "18446744073709551615"),
            ("run_timestamp", "1000.5"),
        ];
        assert_eq!(chosen.map(|(key, _)| key).to_vec(), PLAN_OPTIONS.iter().map(PlanOption::key).collect::<Vec<_>>());
        let mut request = default_experiments();
        for (key, text) in chosen {
            let option = PlanOption::find(key).unwrap();
            option.set(&mut request, text).unwrap();
            assert_eq!(option.text(&request), text, "{key}");
        }
        for option in PLAN_OPTIONS {
            option.set(&mut request, &option.text(&default_experiments())).unwrap();
        }
        assert_eq!(request, default_experiments());
    }

    #[test]
    fn wrong_texts_are_named() {
        let message =
            |key: &str, text: &str| PlanOption::find(key).unwrap().set(&mut default_experiments(), text).unwrap_err();
        assert_eq!(message("run_repeat", "0"), "Repeats: '0' is not a whole number from 1 to 100000");
        assert!(message("run_accelerator", "gpu").contains("'gpu' is not an accelerator; choose from cpu, cuda"));
        assert_eq!(message("run_test", ""), "Test: choose at least one");
        assert!(message("run_batch", "0").ends_with("is not a number of samples from 1"));
        assert!(message("run_timestamp", "inf").contains("seconds since 1970"));
    }

    #[test]
    fn only_times_of_the_processor_are_measured() {
        let mut request = default_experiments();
        assert!(!measures(&request));
        request.plan.expand.accelerator.push(Accelerator::Cpu);
        assert!(measures(&request));
        request.settings.verify = Some(Verification::Current);
        assert!(!measures(&request));
    }
}
