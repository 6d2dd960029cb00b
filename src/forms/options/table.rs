//! The options of a benchmark.

use super::option::{Flag, Opt, OptionGroup, Options, Put, opt};
use super::text::{OptionText, name_of, of_scenario, put_in_scenario, some, unless};
use crate::studies::{AUTO_CAST_TYPES, AUTO_CASTS, FieldKind, FormField, OPT_LEVELS, field};
use ns_bench::mlperf::MlperfSettings;
use ns_bench::{
    Accounting, BenchConfig, Dataset, DeviceType, HostStep, Processes, SdkGeneration, comma_list, copies_text,
    option_text, parse_inputs, parse_levels,
};
use ns_compiler::Workflow;

const PROCESSES: [(&str, Processes); 3] =
    [("per_model", Processes::PerModel), ("shared", Processes::Shared), ("fresh", Processes::Fresh)];
const ACCOUNTINGS: [(&str, Accounting); 2] = [("window", Accounting::Window), ("original", Accounting::Original)];
const GENERATIONS: [(&str, SdkGeneration); 2] =
    [(SdkGeneration::Pt1.name(), SdkGeneration::Pt1), (SdkGeneration::Pt2.name(), SdkGeneration::Pt2)];
const WORKFLOWS: [(&str, Workflow); 2] =
    [(Workflow::Trace.name(), Workflow::Trace), (Workflow::MarkStep.name(), Workflow::MarkStep)];
const SCENARIOS: &[(&str, &str)] = &[
    ("", "none"),
    ("SingleStream", "SingleStream"),
    ("MultiStream", "MultiStream"),
    ("Server", "Server"),
    ("Offline", "Offline"),
];
const ANY_SCENARIO: &[&str] = &["SingleStream", "MultiStream", "Server", "Offline"];

/// Headings of flags.
const RUNS: &str = "How it runs";
const MLPERF: &str = "MLPerf";

/// An option of a benchmark.
pub type BenchOption = Opt<BenchConfig>;

impl Options for BenchConfig {
    const OPTIONS: &'static [&'static [BenchOption]] = &[BENCH_OPTIONS];
    const IS_USAGE: bool = false;

    fn problem(&self, name: &str) -> Option<String> {
        self.problems().iter().find(|p| p.field == name).map(|problem| problem.refusal.to_string())
    }
}

const fn row(field: FormField, flag: Flag, get: fn(&BenchConfig) -> String, put: Put<BenchConfig>) -> BenchOption {
    opt(field, flag, get, put)
}

/// All options in the order of links, of the parts of the form and of the help. A scenario comes before its settings.
#[rustfmt::skip]
pub const BENCH_OPTIONS: &[BenchOption] = &[
    row(field("model", "Model", "", "", FieldKind::Model),
        Flag::new("model", "MODEL", "Model, with parameters after a colon: nn, matmult:n=1024,loop_count=1000,add_bias=true, mlp:kernel=FILE.cpp; or a model file: resnet50.onnx; or fixed, with --device-ms and the other times [default: nn]").aliases(&["model-class-name"]),
        |c| c.model.clone(), |c, given| { given.text.clone_into(&mut c.model); Ok(()) }),
    row(field("instance", "Instance types", "", "", FieldKind::Instance),
        Flag::new("instance", "TYPES", "Instance types, such as inf2.xlarge,trn1.2xlarge; they determine the number of NeuronCores [default: the index's type, or trn1.2xlarge]").list().aliases(&["instance-type", "compiler-target"]),
        |c| c.instance_type.clone(), |c, given| { given.text.clone_into(&mut c.instance_type); Ok(()) }).named("instance_type"),
    row(field("batch_sizes", "Batch sizes", "Samples of one inference: 1 or 1,8,64", "1", FieldKind::Line),
        Flag::new("batch-sizes", "LIST", "Samples of one inference [default: 1; for a model file its own]").list().aliases(&["batch-size"]),
        |c| comma_list(&c.batch_sizes), |c, given| given.counts().map(|list| c.batch_sizes = list)),
    row(field("n_models", "Models", "Copies that run side by side: 1,2, or max. Empty: one, and as many as fit", "1 and all that fit", FieldKind::Line),
        Flag::new("n-models", "LIST", "Model copies: 1, 1,2, 1-10 or [1, 2]; all lists are written so; max: as many as fit [default: 1,max]").list(),
        |c| c.n_models.as_deref().map(copies_text).unwrap_or_default(), |c, given| given.some_copies().map(|list| c.n_models = list)),
    row(field("workers_per_model", "Workers per model", "Threads that feed one copy. Empty: 1 and 2", "1,2", FieldKind::Line),
        Flag::new("workers-per-model", "LIST", "Threads feeding each copy [default: 1 and 2; for a pipeline, the number that a trial finds]").list(),
        |c| c.workers_per_model.as_deref().map(comma_list).unwrap_or_default(), |c, given| given.some_counts().map(|list| c.workers_per_model = list)),
    row(field("pipeline_sizes", "Pipeline sizes", "NeuronCores of one copy: 1 or 1,2", "1", FieldKind::Line),
        Flag::new("pipeline-sizes", "LIST", "NeuronCores of one model copy [default: 1]").list().aliases(&["pipeline-size"]),
        |c| comma_list(&c.pipeline_sizes), |c, given| given.counts().map(|list| c.pipeline_sizes = list)).at(OptionGroup::Compile),
    row(field("duration", "Duration (s)", "Simulated seconds of each configuration", "60", FieldKind::Decimal),
        Flag::new("duration", "SECONDS", "Seconds measured in each configuration; with a dataset, 0 measures one whole pass").aliases(&["duration-s"]).default("60"),
        |c| c.duration_s.to_string(), |c, given| given.number("a number of seconds, such as 60").map(|s| c.duration_s = s)).named("duration_s"),
    row(field("max_inferences", "Inferences are enough", "A configuration ends after about so many. Empty: only its duration ends it", "", FieldKind::Whole),
        Flag::new("max-inferences", "COUNT", "End a simulated configuration after about so many inferences, or after its duration if that is sooner; each worker makes 20 at least"),
        |c| some(c.options.max_inferences), |c, given| given.some_number("a whole number, such as 10000").map(|n| c.options.max_inferences = n)).at(OptionGroup::Time),
    row(field("seed", "Seed", "The same seed gives the same numbers", "0", FieldKind::Whole),
        Flag::new("seed", "NUMBER", "Seed of all randomness").default("0"),
        |c| c.seed.to_string(), |c, given| given.number("a whole number from 0 to 18446744073709551615").map(|n| c.seed = n)),
    row(field("warmup", "Warm-up inferences", "Before the measured window", "1", FieldKind::Whole),
        Flag::new("warmup-inferences", "COUNT", "Inferences of each copy before the measured window").default("1"),
        |c| c.warmup_inferences.to_string(),
        |c, given| given.number("a whole number from 0 to 10000").map(|n| c.warmup_inferences = n)).at(OptionGroup::Time).named("warmup_inferences"),
    row(field("jitter", "Jitter", "Largest random deviation of a stage: 0.01 is 1 %", "0.01", FieldKind::Decimal),
        Flag::new("jitter", "FRACTION", "Largest random deviation of a stage's time, as a fraction of that time").default("0.01"),
        |c| c.jitter.to_string(), |c, given| given.number("a fraction from 0 to 0.5, such as 0.01").map(|part| c.jitter = part)).at(OptionGroup::Time),
    row(field("shared_overhead", "Shared overhead", "Where copies share the path to the devices: 0.5/60 holds one call in 60 for 0.5 ms", "none", FieldKind::Line),
        Flag::new("shared-overhead", "MS/CALLS", "Stalls of the path that all copies share, which are not simulated: 0.5/60 holds one call in 60 for 0.5 ms [default: none]"),
        |c| some(c.options.shared_overhead),
        |c, given| given.some_number("a stall in ms and the calls of which one meets it, such as 0.5/60").map(|overhead| c.options.shared_overhead = overhead)).at(OptionGroup::Time),
    row(field("performance_level", "Performance levels", "0 (most accurate) to 3 (fastest): 3 or 0-3", "3", FieldKind::Whole),
        Flag::new("performance-levels", "LIST", "0 (most accurate) to 3 (fastest) [default: 3]").list().aliases(&["performance-level"]),
        |c| comma_list(&c.performance_levels),
        |c, given| { c.performance_levels = parse_levels(given.name, given.text).map_err(|e| e.to_string())?; Ok(()) }).at(OptionGroup::Compile).named("performance_levels"),
    row(field("inputs", "Inputs", "Shapes of one call, a tuple for each batch size: 1x128 or (1x128,1x128);(8x128,8x128)", "the model\u{2019}s own", FieldKind::Line),
        Flag::new("inputs", "SHAPES", "Shapes of the inputs, one entry for each batch size, separated by ; such as 1x3x224x224 for images and (6x128,6x128) for text (neuronscope models shows the shapes of each model). Open sizes of the model follow from the shapes, and so does the batch size"),
        |c| c.inputs.iter().map(ToString::to_string).collect::<Vec<_>>().join(";"),
        |c, given| { c.inputs = if given.text.is_empty() { Vec::new() } else { parse_inputs(given.text).map_err(|e| e.to_string())? }; Ok(()) }).at(OptionGroup::Compile),
    row(field("auto_cast", "Auto-cast", "What is cast to the faster type", "", FieldKind::Several(AUTO_CASTS)),
        Flag::new("auto-cast", "WHICH", "Which operations are cast: none, matmult (the default up to SDK 2.26, and in the published tables), all, or several: none,matmult [default: matmult]").list(),
        |c| option_text(&c.compile.auto_casts, c.options.compile.auto_cast),
        |c, given| c.compile.set_auto_casts(&mut c.options.compile, given.text).map_err(|e| e.to_string())).at(OptionGroup::Compile),
    row(field("auto_cast_type", "Cast type", "", "", FieldKind::Several(AUTO_CAST_TYPES)),
        Flag::new("auto-cast-type", "TYPE", "Type they are cast to: bf16, fp16, tf32, fp8_e4m3, or several [default: bf16]").list(),
        |c| option_text(&c.compile.auto_cast_types, c.options.compile.auto_cast_type),
        |c, given| c.compile.set_auto_cast_types(&mut c.options.compile, given.text).map_err(|e| e.to_string())).at(OptionGroup::Compile),
    row(field("optlevel", "Optimisation level", "", "", FieldKind::Several(OPT_LEVELS)),
        Flag::new("optlevel", "LEVEL", "Optimisation level: 1 (no fusion), 2, 3, or several [default: 2]").list().short('O'),
        |c| option_text(&c.compile.opt_levels, c.options.compile.opt_level),
        |c, given| c.compile.set_opt_levels(&mut c.options.compile, given.text).map_err(|e| e.to_string())).at(OptionGroup::Compile),
    row(field("lnc", "Cores per logical core", "1 or 2. Empty: the instance\u{2019}s", "", FieldKind::Line),
        Flag::new("lnc", "CORES", "Physical NeuronCores in one logical core, where there is a choice (Trn2: 1 or 2) [default: the device's]").aliases(&["logical-nc-config"]),
        |c| some(c.options.compile.lnc), |c, given| given.some_number("a number of cores, 1 or 2").map(|n| c.options.compile.lnc = n)).at(OptionGroup::Compile),
    row(field("device_type", "Device", "The processor is this machine\u{2019}s, measured with its clock", "", FieldKind::Choice(&[("", "simulated NeuronCores"), ("cpu", "processor of this machine")])),
        Flag::new("device-type", "DEVICE", "neuron: simulated; cpu: this machine, measured").default("neuron").heading(RUNS),
        |c| unless(&c.options.device_type, &DeviceType::default(), |device| device.name().into()),
        |c, given| { let wrong = || wrong_device(given.name, given.text); c.options.device_type = match given.text { "" => DeviceType::default(), text => DeviceType::from_name(text).ok_or_else(wrong)? }; Ok(()) }).at(OptionGroup::Host),
    row(field("sdk_generation", "SDK generation", "Published rows of PyTorch 1 are slower for the same model", "", FieldKind::Choice(&[("", "PyTorch 2"), ("pt1", "PyTorch 1")])),
        Flag::new("sdk-generation", "GENERATION", "Generation of the SDK, named by its PyTorch version: published results with PyTorch 1 are slower for the same model").default("pt2").values(&[("pt1", "The compiler and runtime of PyTorch 1"), ("pt2", "The compiler and runtime of PyTorch 2")]).heading(RUNS),
        |c| name_of(&GENERATIONS, &c.options.sdk_generation, &SdkGeneration::Pt2),
        |c, given| given.one_of(&GENERATIONS, SdkGeneration::Pt2).map(|g| c.options.sdk_generation = g)).at(OptionGroup::Compile),
    row(field("workflow", "Workflow", "mark_step: lazy tensors record their ops in each call", "", FieldKind::Choice(&[("", "trace"), ("mark_step", "mark_step")])),
        Flag::new("workflow", "WORKFLOW", "How a model reaches its NeuronCore: trace, compiled ahead as NeuronPerf does, or mark_step, whose operations are recorded and whose inputs are transferred in each call").default("trace").values(&[("mark_step", "Lazily executed graph: inputs are transferred in the step"), ("trace", "Ahead-of-time compiled model")]).heading(RUNS),
        |c| name_of(&WORKFLOWS, &c.options.workflow, &Workflow::Trace),
        |c, given| given.one_of(&WORKFLOWS, Workflow::Trace).map(|w| c.options.workflow = w)).at(OptionGroup::Compile),
    row(field("name", "Label", "Name of the model in reports. Empty: the model\u{2019}s own name", "", FieldKind::Line),
        Flag::new("model-name", "NAME", "Label in reports"),
        |c| some(c.model_name.as_ref()),
        |c, given| { c.model_name = (!given.text.is_empty()).then(|| given.text.to_owned()); Ok(()) }).at(OptionGroup::Compile).named("model_name"),
    row(field("processes", "Processes", "", "", FieldKind::Choice(&[("", "one for each model copy"), ("shared", "one for all copies"), ("fresh", "a fresh one each time")])),
        Flag::NONE,
        |c| name_of(&PROCESSES, &c.options.processes, &Processes::PerModel),
        |c, given| given.one_of(&PROCESSES, Processes::PerModel).map(|p| c.options.processes = p)).at(OptionGroup::Host),
    row(field("preprocess", "Preprocess", "none, normalize, argmax, topk, softmax, or a time: 0.25ms", "none", FieldKind::Line),
        Flag::new("preprocess", "STEP", "Work before the call: none, normalize, argmax, topk, softmax, a time such as 0.25ms, or an expression over the inputs: x / 255, \"x / 255, y / 255\", x.argmax()").aliases(&["preprocess-fn"]).default("none").heading(RUNS),
        |c| unless(&c.options.preprocess, &HostStep::default(), ToString::to_string), |c, given| given.parsed().map(|step| c.options.preprocess = step)).at(OptionGroup::Host),
    row(field("postprocess", "Postprocess", "As above, after the call", "none", FieldKind::Line),
        Flag::new("postprocess", "STEP", "Work after the call, as above").aliases(&["postprocess-fn"]).default("none").heading(RUNS),
        |c| unless(&c.options.postprocess, &HostStep::default(), ToString::to_string), |c, given| given.parsed().map(|step| c.options.postprocess = step)).at(OptionGroup::Host),
    row(field("env_setup_ms", "Environment set-up (ms)", "Of each copy, before its load", "0", FieldKind::Line),
        Flag::new("env-setup-ms", "MS", "Work of each copy before it loads, milliseconds").default("0").heading(RUNS),
        |c| unless(&c.options.env_setup_ms, &0.0, f64::to_string), |c, given| given.ms().map(|ms| c.options.env_setup_ms = ms)).at(OptionGroup::Host),
    row(field("setup_ms", "Set-up (ms)", "Of each copy, after its load", "0", FieldKind::Line),
        Flag::new("setup-ms", "MS", "Work of each copy after it has loaded, milliseconds").default("0").heading(RUNS),
        |c| unless(&c.options.setup_ms, &0.0, f64::to_string), |c, given| given.ms().map(|ms| c.options.setup_ms = ms)).at(OptionGroup::Host),
    row(field("dataset", "Dataset", "Records in one pass: 500, or 500,loop to repeat it", "inputs that repeat", FieldKind::Line),
        Flag::new("dataset", "LENGTH|FILE", "Number of records in a dataset, of which an inference takes a batch, or a file of records (.npy,.npz:NAME of numpy, IDX as MNIST has,.csv); each model copy runs through it once, whatever the duration").heading(RUNS),
        |c| dataset_text(c.options.dataset), |c, given| dataset(given).map(|records| c.options.dataset = records)).at(OptionGroup::Host),
    row(field("accounting", "Duration counts", "", "", FieldKind::Choice(&[("", "when all copies are warm"), ("original", "from the start, as in NeuronPerf")])),
        Flag::new("duration-accounting", "START", "When the duration starts: when the models are warm, or before they are loaded, as in NeuronPerf").default("window").values(&[("window", "The whole duration is measured"), ("original", "Loading and warm-up count towards the duration")]).heading(RUNS),
        |c| name_of(&ACCOUNTINGS, &c.options.accounting, &Accounting::Window),
        |c, given| given.one_of(&ACCOUNTINGS, Accounting::Window).map(|a| c.options.accounting = a)).at(OptionGroup::Time),
    row(field("cost_per_hour", "Cost per hour (US$)", "Empty: the instance\u{2019}s published price, if there is one", "", FieldKind::Decimal),
        Flag::new("cost-per-hour", "DOLLARS", "US dollars per hour, for the cost per million inferences [default: the published price, if there is one]"),
        |c| some(c.cost_per_hour), |c, given| given.some_number("a number of US dollars, such as 1.34").map(|usd| c.cost_per_hour = usd)).at(OptionGroup::Time),
    row(field("scenario", "Scenario", "LoadGen\u{2019}s rules in place of NeuronPerf\u{2019}s closed loop", "", FieldKind::Choice(SCENARIOS)),
        Flag::new("scenario", "SCENARIO", "SingleStream, MultiStream, Server or Offline").heading(MLPERF),
        |c| c.mlperf.as_ref().map(|m| m.scenario.name().to_owned()).unwrap_or_default(),
        |c, given| { let rules = |given: &OptionText<'_>| given.text.parse().map(MlperfSettings::official).map_err(|e| format!("{}: {e}", given.name)); c.mlperf = if given.text.is_empty() { None } else { Some(rules(given)?) }; Ok(()) }).at(OptionGroup::Scenario),
    row(field("min_duration", "Minimum duration (s)", "Simulated; the rules say 600", "600", FieldKind::Decimal),
        Flag::new("min-duration", "SECONDS", "Shortest duration of a run, seconds [default: 600]").heading(MLPERF),
        |c| of_scenario(c, |m| m.min_duration_s),
        |c, given| put_in_scenario(c, |m, rules| given.number_or(rules.min_duration_s, "a number of seconds, such as 60").map(|s| m.min_duration_s = s))).at(OptionGroup::Scenario).named("min_duration_s").of(ANY_SCENARIO),
    row(field("min_queries", "Minimum queries", "Samples in the Offline scenario", "100", FieldKind::Line),
        Flag::new("min-queries", "COUNT", "Fewest queries of a run [default: 100; Offline: 24576 samples]").heading(MLPERF),
        |c| of_scenario(c, |m| m.min_queries),
        |c, given| put_in_scenario(c, |m, rules| given.number_or(rules.min_queries, "a whole number").map(|n| m.min_queries = n))).at(OptionGroup::Scenario).of(ANY_SCENARIO),
    row(field("latency_bound_ms", "Latency bound (ms)", "99 % of the answers must keep to it", "15", FieldKind::Decimal),
        Flag::new("latency-bound-ms", "MS", "Latency bound of Server: 99 % of the answers must keep it").heading(MLPERF),
        |c| some(c.mlperf.as_ref().and_then(|m| m.latency_bound_ms)),
        |c, given| put_in_scenario(c, |m, _| given.some_number("a number, such as 15").map(|ms| m.latency_bound_ms = ms))).at(OptionGroup::Scenario).of(&["Server"]),
    row(field("target_qps", "Queries per second", "Empty: searches for the highest rate within the bound", "searched", FieldKind::Decimal),
        Flag::new("target-qps", "RATE", "Queries per second of a Server [default: the highest that holds the bound is searched]").heading(MLPERF),
        |c| some(c.mlperf.as_ref().and_then(|m| m.target_qps)),
        |c, given| put_in_scenario(c, |m, _| given.some_number("a number, such as 15").map(|rate| m.target_qps = rate))).at(OptionGroup::Scenario).of(&["Server"]),
    row(field("samples_per_query", "Samples per query", "", "8", FieldKind::Line),
        Flag::new("samples-per-query", "COUNT", "Samples of one MultiStream query").default("8").heading(MLPERF),
        |c| of_scenario(c, |m| m.samples_per_query),
        |c, given| put_in_scenario(c, |m, rules| given.number_or(rules.samples_per_query, "a whole number").map(|n| m.samples_per_query = n))).at(OptionGroup::Scenario).of(&["MultiStream"]),
];

fn wrong_device(name: &str, device: &str) -> String {
    let is_gpu = ["gpu", "cuda"].iter().any(|gpu| device.trim().eq_ignore_ascii_case(gpu));
    let instead = if is_gpu {
        "a script that calls npf.torch.benchmark(..., device_type=\"gpu\") is measured by python -m neuronscope SCRIPT.py where torch finds one (docs/python.md). Here use neuron or cpu"
    } else {
        "use neuron or cpu"
    };
    format!("{name}: '{device}' cannot be run here; {instead}")
}

fn dataset_text(dataset: Option<Dataset>) -> String {
    dataset.map_or_else(String::new, |d| format!("{}{}", d.length, if d.looped { ",loop" } else { "" }))
}

fn dataset(given: &OptionText<'_>) -> Result<Option<Dataset>, String> {
    if given.text.is_empty() {
        return Ok(None);
    }
    let (length, looped) = given.text.strip_suffix(",loop").map_or((given.text, false), |length| (length, true));
    let wrong = |_| given.wrong("a dataset; write its length, such as 500, or 500,loop to repeat it");
    Ok(Some(Dataset { length: length.trim().parse().map_err(wrong)?, looped }))
}
