//! The options of a run of experiments as one table: the page's form, links, and the printed command come from its rows.

use super::option::{Flag, Opt, OptionGroup, Options, Put, opt};
use super::text::{OptionText, name_of, some};
use crate::studies::{FieldKind, FormField, field};
use ns_bench::comma_list;
use ns_experiment::plan::{Accelerator, Dynamo, ExpandOptions, PlanRequest, Test, Xla};
use ns_experiment::run::{Suite, Verification};
use ns_experiment::sweep::ExperimentsRequest;

/// An option of a run of experiments.
pub type PlanOption = Opt<ExperimentsRequest>;

impl Options for ExperimentsRequest {
    const OPTIONS: &'static [&'static [PlanOption]] = &[PLAN_OPTIONS];
    const SAYS_LABELS: bool = true;
}

const SUITES: [(&str, Suite); 3] = [("torchbench", Suite::Torchbench), ("zoo", Suite::Zoo), ("dummy", Suite::Dummy)];
const VERIFICATIONS: [(&str, Option<Verification>); 3] =
    [("", None), ("mre", Some(Verification::MeanRelativeError)), ("current", Some(Verification::Current))];
/// How lists spell null.
const NULL: &str = "None";

const SUITE_LABELS: &[(&str, &str)] =
    &[("torchbench", "torchbench"), ("zoo", "zoo (all models)"), ("dummy", "dummy (one model)")];
const SUITE_HELP: &[(&str, &str)] = &[
    ("dummy", "One small product"),
    ("torchbench", "The models of this program's zoo that torchbench has too"),
    ("zoo", "All models of the zoo, under their own names"),
];
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

const fn row(
    field: FormField,
    flag: Flag,
    get: fn(&ExperimentsRequest) -> String,
    put: Put<ExperimentsRequest>,
) -> PlanOption {
    opt(field, flag, get, put)
}

/// All options, in the order of links and of the form.
#[rustfmt::skip]
pub const PLAN_OPTIONS: &[PlanOption] = &[
    row(field("run_suite", "Suite", "", "", FieldKind::Choice(SUITE_LABELS)),
        Flag::new("suite-name", "SUITE", "Suite of models").values(SUITE_HELP).aliases(&["suite"]),
        |r| r.plan.suite.name().to_owned(), |r, given| given.one_of(&SUITES, Suite::Torchbench).map(|suite| r.plan.suite = suite)),
    row(field("run_models", "Models", "Names, separated by commas. Empty: all of the suite", "all of the suite", FieldKind::Line),
        Flag::new("models", "NAME", "Take these models, separated by commas, instead of the suite's list; without --dry-run each must belong to the suite").list().aliases(&["model", "model-name"]),
        |r| comma_list(&r.plan.models), |r, given| { r.plan.models = words(given.text, ','); Ok(()) }),
    row(field("run_filter", "Keep models", "Regular expressions, separated by spaces: hf_ ^resnet", "", FieldKind::Line),
        Flag::elsewhere("filter").each(" "),
        |r| r.plan.filter.join(" "), |r, given| { r.plan.filter = words(given.text, ' '); Ok(()) }).at(OptionGroup::Advanced),
    row(field("run_exclude", "Leave out models", "Regular expressions, separated by spaces", "", FieldKind::Line),
        Flag::elsewhere("exclude").each(" "),
        |r| r.plan.exclude.join(" "), |r, given| { r.plan.exclude = words(given.text, ' '); Ok(()) }).at(OptionGroup::Advanced),
    row(field("run_accelerator", "Accelerators", "", "", FieldKind::Several(ACCELERATORS)),
        Flag::new("accelerator", "NAMES", "Where to run: cpu (measured), trn1, inf2, trn2 (simulated); cuda and tpu can only be planned [default: all]").list(),
        |r| comma_list(&r.plan.expand.accelerator.iter().map(|a| a.name()).collect::<Vec<_>>()), |r, given| parse_list(given).map(|list| r.plan.expand.accelerator = list)),
    row(field("run_test", "Test", "", "", FieldKind::Several(TESTS)),
        Flag::new("test", "NAMES", "eval or train [default: both]").list(),
        |r| comma_list(&r.plan.expand.test.iter().map(|t| t.name()).collect::<Vec<_>>()), |r, given| parse_list::<Test>(given).map(|list| r.plan.expand.test = list)),
    row(field("run_dynamo", "Dynamo", "Backend of torch.compile; combinations that cannot run are left out", "", FieldKind::Several(DYNAMOS)),
        Flag::elsewhere("dynamo").list(),
        |r| nullable_names(&r.plan.expand.dynamo, |d| d.name(), DYNAMOS), |r, given| nullable::<Dynamo>(given, DYNAMOS).map(|list| r.plan.expand.dynamo = list)),
    row(field("run_xla", "XLA", "A NeuronCore is reached only through it", "", FieldKind::Several(XLAS)),
        Flag::elsewhere("xla").list(),
        |r| nullable_names(&r.plan.expand.xla, |x| x.name(), XLAS), |r, given| nullable::<Xla>(given, XLAS).map(|list| r.plan.expand.xla = list)),
    row(field("run_batch", "Batch size", "Samples of one inference", "the model\u{2019}s own", FieldKind::Whole),
        Flag::new("batch-size", "COUNT", "Samples of one inference [default: the model's own]"),
        |r| some(r.settings.batch_size), |r, given| within(given.some_number(BATCH)?, given, u32::MAX, BATCH).map(|n| r.settings.batch_size = n)),
    row(field("run_repeat", "Repeats", "Timed runs; reports leave the first three out", "", FieldKind::Whole),
        Flag::new("repeat", "COUNT", "Timed runs of each experiment"),
        |r| r.settings.repeat.to_string(), |r, given| count(given).map(|n| r.settings.repeat = n)),
    row(field("run_iterations", "Iterations of a repeat", "Inferences inside one timed run", "", FieldKind::Whole),
        Flag::new("iterations-per-run", "COUNT", ""),
        |r| r.settings.iterations_per_run.to_string(), |r, given| count(given).map(|n| r.settings.iterations_per_run = n)).at(OptionGroup::Advanced),
    row(field("run_verify", "Verify", "Compares outputs instead of timing", "", FieldKind::Choice(VERIFIES)),
        Flag::elsewhere("verify"),
        |r| name_of(&VERIFICATIONS, &r.settings.verify, &None), |r, given| given.one_of(&VERIFICATIONS, None).map(|rules| r.settings.verify = rules)).at(OptionGroup::Advanced),
    row(field("run_verify_iterations", "Seeds to verify", "All must pass", "", FieldKind::Whole),
        Flag::new("verify-iterations", "COUNT", "Verify with this many seeds, starting at --seed; all must pass"),
        |r| r.settings.verify_iterations.to_string(),
        |r, given| within(given.some_number(SEEDS)?, given, 1_000, SEEDS).map(|n| r.settings.verify_iterations = n.unwrap_or(1))).at(OptionGroup::Advanced),
    row(field("run_seed", "Seed", "For weights and inputs", "", FieldKind::Whole),
        Flag::new("seed", "NUMBER", "Seed of weights and inputs"),
        |r| r.settings.seed.to_string(), |r, given| given.number("a whole number from 0 to 18446744073709551615").map(|n| r.settings.seed = n)).at(OptionGroup::Advanced),
    row(field("run_timestamp", "Timestamp", "Of every record, seconds since 1970", "the time of the run", FieldKind::Decimal),
        Flag::new("timestamp", "SECONDS", "Timestamp of every record, seconds since 1970 [default: now]"),
        |r| some(r.timestamp),
        |r, given| { let wanted = "a number of seconds since 1970, such as 1700000000"; let time: Option<f64> = given.some_number(wanted)?; if time.is_some_and(|t| !t.is_finite()) { return Err(given.wrong(wanted)); } r.timestamp = time; Ok(()) }).at(OptionGroup::Advanced),
];

/// The request of a form that nobody has edited: three small models on a simulated Trn1, which takes seconds.
pub fn default_experiments() -> ExperimentsRequest {
    let expand =
        ExpandOptions { accelerator: vec![Accelerator::Trn1], test: vec![Test::Eval], ..PlanRequest::default().expand };
    let models = ["alexnet", "resnet18", "resnet50"].map(str::to_owned).into();
    let plan = PlanRequest { suite: Suite::Torchbench, models, expand, ..PlanRequest::default() };
    ExperimentsRequest { plan, ..ExperimentsRequest::default() }
}

/// Whether a request measures the processor, which a link does not do by itself: the user has to want it.
pub fn measures(request: &ExperimentsRequest) -> bool {
    let accelerators = &request.plan.expand.accelerator;
    request.settings.verify.is_none() && (accelerators.is_empty() || accelerators.contains(&Accelerator::Cpu))
}

const BATCH: &str = "a number of samples from 1";
const SEEDS: &str = "a number of seeds from 1 to 1000";

fn words(text: &str, between: char) -> Vec<String> {
    text.split(between).map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// A list whose values may be null; all of the choices if it is empty.
fn nullable_names<T: Copy>(values: &[Option<T>], name: impl Fn(T) -> &'static str, choices: &[(&str, &str)]) -> String {
    if values.is_empty() {
        return comma_list(&choices.iter().map(|(value, _)| *value).collect::<Vec<_>>());
    }
    comma_list(&values.iter().map(|value| value.map_or(NULL, &name)).collect::<Vec<_>>())
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
    within(Some(given.number(wanted)?), given, 100_000, wanted).map(|n| n.unwrap_or(1))
}

/// A number from 1 to `most`.
fn within(number: Option<u32>, given: &OptionText<'_>, most: u32, wanted: &str) -> Result<Option<u32>, String> {
    if number.is_some_and(|n| n < 1 || n > most) { Err(given.wrong(wanted)) } else { Ok(number) }
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
