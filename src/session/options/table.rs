//! The options of a benchmark.

use super::option::{BenchOption, Flag, OptionGroup};
use super::text::{OptionText, name_of, of_scenario, put_in_scenario, some, unless};
use crate::studies::{AUTO_CAST_TYPES, AUTO_CASTS, FieldKind, OPT_LEVELS, field};
use ns_bench::mlperf::MlperfSettings;
use ns_bench::{
    Accounting, Dataset, DeviceType, HostStep, Processes, SdkGeneration, comma_list, copies_text, option_text,
    parse_inputs, parse_levels,
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

/// A row without its own columns, by its place in the form.
const fn row(group: OptionGroup) -> BenchOption {
    BenchOption {
        field: field("", "", "", "", FieldKind::Line),
        group,
        scenarios: &[],
        name: "",
        flag: Flag::NONE,
        get: |_| String::new(),
        put: |_, _| Ok(()),
    }
}
const MAIN: BenchOption = row(OptionGroup::Main);
const COMPILE: BenchOption = row(OptionGroup::Compile);
const HOST: BenchOption = row(OptionGroup::Host);
const SCENARIO: BenchOption = row(OptionGroup::Scenario);
const TIME: BenchOption = row(OptionGroup::Time);

/// All options in the order of links, of the parts of the form and of the help. A scenario comes before its settings.
pub const BENCH_OPTIONS: &[BenchOption] = &[
    BenchOption {
        field: field("model", "Model", "", "", FieldKind::Model),
        flag: Flag::new("model", "MODEL", "Model, with parameters after a colon: nn, matmult:n=1024,loop_count=1000,add_bias=true, mlp:kernel=FILE.cpp; \
             or a model file: resnet50.onnx; or fixed, with --device-ms and the other times [default: nn]").aliases(&["model-class-name"]),
        get: |c| c.model.clone(),
        put: |c, given| { given.text.clone_into(&mut c.model); Ok(()) },
        ..MAIN
    },
    BenchOption {
        field: field("instance", "Instance types", "", "", FieldKind::Instance),
        name: "instance_type",
        flag: Flag::new("instance", "TYPES", "Instance types, such as inf2.xlarge,trn1.2xlarge; they determine the number of NeuronCores [default: the index's type, or trn1.2xlarge]").list().aliases(&["instance-type", "compiler-target"]),
        get: |c| c.instance_type.clone(),
        put: |c, given| { given.text.clone_into(&mut c.instance_type); Ok(()) },
        ..MAIN
    },
    BenchOption {
        field: field("batch_sizes", "Batch sizes", "Samples of one inference: 1 or 1,8,64", "1", FieldKind::Line),
        flag: Flag::new("batch-sizes", "LIST", "Samples of one inference [default: 1; for a model file its own]").list().aliases(&["batch-size"]),
        get: |c| comma_list(&c.batch_sizes),
        put: |c, given| given.counts().map(|list| c.batch_sizes = list),
        ..MAIN
    },
    BenchOption {
        field: field("n_models", "Models", "Copies that run side by side: 1,2, or max. Empty: one, and as many as fit", "1 and all that fit", FieldKind::Line),
        flag: Flag::new("n-models", "LIST", "Model copies: 1, 1,2, 1-10 or [1, 2]; all lists are written so; max: as many as fit [default: 1,max]").list(),
        get: |c| c.n_models.as_deref().map(copies_text).unwrap_or_default(),
        put: |c, given| given.some_copies().map(|list| c.n_models = list),
        ..MAIN
    },
    BenchOption {
        field: field("workers_per_model", "Workers per model", "Threads that feed one copy. Empty: 1 and 2", "1,2", FieldKind::Line),
        flag: Flag::new("workers-per-model", "LIST", "Threads feeding each copy [default: 1 and 2; for a pipeline, the number that a trial finds]").list(),
        get: |c| c.workers_per_model.as_deref().map(comma_list).unwrap_or_default(),
        put: |c, given| given.some_counts().map(|list| c.workers_per_model = list),
        ..MAIN
    },
    BenchOption {
        field: field("pipeline_sizes", "Pipeline sizes", "NeuronCores of one copy: 1 or 1,2", "1", FieldKind::Line),
        flag: Flag::new("pipeline-sizes", "LIST", "NeuronCores of one model copy [default: 1]").list().aliases(&["pipeline-size"]),
        get: |c| comma_list(&c.pipeline_sizes),
        put: |c, given| given.counts().map(|list| c.pipeline_sizes = list),
        ..COMPILE
    },
    BenchOption {
        field: field("duration", "Duration (s)", "Simulated seconds of each configuration", "60", FieldKind::Decimal),
        name: "duration_s",
        flag: Flag::new("duration", "SECONDS", "Seconds measured in each configuration; with a dataset, 0 measures one whole pass").aliases(&["duration-s"]).default("60"),
        get: |c| c.duration_s.to_string(),
        put: |c, given| given.number("a number of seconds, such as 60").map(|s| c.duration_s = s),
        ..MAIN
    },
    BenchOption {
        field: field("max_inferences", "Inferences are enough", "A configuration ends after about so many. Empty: only its duration ends it", "", FieldKind::Whole),
        flag: Flag::new("max-inferences", "COUNT", "End a simulated configuration after about so many inferences, or after its duration if that is sooner; each worker makes 20 at least"),
        get: |c| some(c.options.max_inferences),
        put: |c, given| given.some_number("a whole number, such as 10000").map(|n| c.options.max_inferences = n),
        ..TIME
    },
    BenchOption {
        field: field("seed", "Seed", "The same seed gives the same numbers", "0", FieldKind::Whole),
        flag: Flag::new("seed", "NUMBER", "Seed of all randomness").default("0"),
        get: |c| c.seed.to_string(),
        put: |c, given| given.number("a whole number from 0 to 18446744073709551615").map(|n| c.seed = n),
        ..MAIN
    },
    BenchOption {
        field: field("warmup", "Warm-up inferences", "Before the measured window", "1", FieldKind::Whole),
        name: "warmup_inferences",
        flag: Flag::new("warmup-inferences", "COUNT", "Inferences of each copy before the measured window").default("1"),
        get: |c| c.warmup_inferences.to_string(),
        put: |c, given| given.number("a whole number from 0 to 10000").map(|n| c.warmup_inferences = n),
        ..TIME
    },
    BenchOption {
        field: field("jitter", "Jitter", "Largest random deviation of a stage: 0.01 is 1 %", "0.01", FieldKind::Decimal),
        flag: Flag::new("jitter", "FRACTION", "Largest random deviation of a stage's time, as a fraction of that time").default("0.01"),
        get: |c| c.jitter.to_string(),
        put: |c, given| given.number("a fraction from 0 to 0.5, such as 0.01").map(|part| c.jitter = part),
        ..TIME
    },
    BenchOption {
        field: field("shared_overhead", "Shared overhead", "Where copies share the path to the devices: 1.4/170 holds one call in 170 for 1.4 ms", "none", FieldKind::Line),
        flag: Flag::new("shared-overhead", "MS/CALLS", "Stalls of the path that all copies share, which are not simulated: 1.4/170 holds one call in 170 for 1.4 ms [default: none]"),
        get: |c| some(c.options.shared_overhead),
        put: |c, given| given.some_number("a stall in ms and the calls of which one meets it, such as 1.4/170").map(|overhead| c.options.shared_overhead = overhead),
        ..TIME
    },
    BenchOption {
        field: field("performance_level", "Performance levels", "0 (most accurate) to 3 (fastest): 3 or 0-3", "3", FieldKind::Whole),
        name: "performance_levels",
        flag: Flag::new("performance-levels", "LIST", "0 (most accurate) to 3 (fastest) [default: 3]").list().aliases(&["performance-level"]),
        get: |c| comma_list(&c.performance_levels),
        put: |c, given| { c.performance_levels = parse_levels(given.name, given.text).map_err(|e| e.to_string())?; Ok(()) },
        ..COMPILE
    },
    BenchOption {
        field: field("inputs", "Inputs", "Shapes of one call, a tuple for each batch size: 1x128 or (1x128,1x128);(8x128,8x128)", "the model\u{2019}s own", FieldKind::Line),
        flag: Flag::new("inputs", "SHAPES", "Shapes of the inputs, one entry for each batch size, separated by ; such as 1x3x224x224 for images and \
             (6x128,6x128) for text (neuronscope models shows the shapes of each model). Open sizes of the model follow \
             from the shapes, and so does the batch size"),
        get: |c| c.inputs.iter().map(ToString::to_string).collect::<Vec<_>>().join(";"),
        put: |c, given| { c.inputs = if given.text.is_empty() { Vec::new() } else { parse_inputs(given.text).map_err(|e| e.to_string())? }; Ok(()) },
        ..COMPILE
    },
    BenchOption {
        field: field("auto_cast", "Auto-cast", "What is cast to the faster type", "", FieldKind::Several(AUTO_CASTS)),
        flag: Flag::new("auto-cast", "WHICH", "Which operations are cast: none, matmult (the default up to SDK 2.26, and in the published tables), all, or \
             several: none,matmult [default: matmult]").list(),
        get: |c| option_text(&c.compile.auto_casts, c.options.compile.auto_cast),
        put: |c, given| c.compile.set_auto_casts(&mut c.options.compile, given.text).map_err(|e| e.to_string()),
        ..COMPILE
    },
    BenchOption {
        field: field("auto_cast_type", "Cast type", "", "", FieldKind::Several(AUTO_CAST_TYPES)),
        flag: Flag::new("auto-cast-type", "TYPE", "Type they are cast to: bf16, fp16, tf32, fp8_e4m3, or several [default: bf16]").list(),
        get: |c| option_text(&c.compile.auto_cast_types, c.options.compile.auto_cast_type),
        put: |c, given| c.compile.set_auto_cast_types(&mut c.options.compile, given.text).map_err(|e| e.to_string()),
        ..COMPILE
    },
    BenchOption {
        field: field("optlevel", "Optimisation level", "", "", FieldKind::Several(OPT_LEVELS)),
        flag: Flag::new("optlevel", "LEVEL", "Optimisation level: 1 (no fusion), 2, 3, or several [default: 2]").list().short('O'),
        get: |c| option_text(&c.compile.opt_levels, c.options.compile.opt_level),
        put: |c, given| c.compile.set_opt_levels(&mut c.options.compile, given.text).map_err(|e| e.to_string()),
        ..COMPILE
    },
    BenchOption {
        field: field("lnc", "Cores per logical core", "1 or 2. Empty: the instance\u{2019}s", "", FieldKind::Line),
        flag: Flag::new("lnc", "CORES", "Physical NeuronCores in one logical core, where there is a choice (Trn2: 1 or 2) [default: the device's]").aliases(&["logical-nc-config"]),
        get: |c| some(c.options.compile.lnc),
        put: |c, given| given.some_number("a number of cores, 1 or 2").map(|n| c.options.compile.lnc = n),
        ..COMPILE
    },
    BenchOption {
        field: field("device_type", "Device", "The processor is this machine\u{2019}s, measured with its clock", "", FieldKind::Choice(&[("", "simulated NeuronCores"), ("cpu", "processor of this machine")])),
        flag: Flag::new("device-type", "DEVICE", "neuron: simulated; cpu: this machine, measured").default("neuron").heading(RUNS),
        get: |c| unless(&c.options.device_type, &DeviceType::default(), |device| device.name().into()),
        put: |c, given| { let wrong = || wrong_device(given.name, given.text); c.options.device_type = match given.text { "" => DeviceType::default(), text => DeviceType::from_name(text).ok_or_else(wrong)? }; Ok(()) },
        ..HOST
    },
    BenchOption {
        field: field("sdk_generation", "SDK generation", "Published rows of PyTorch 1 are slower for the same model", "", FieldKind::Choice(&[("", "PyTorch 2"), ("pt1", "PyTorch 1")])),
        flag: Flag::new("sdk-generation", "GENERATION", "Generation of the SDK, named by its PyTorch version: published results with PyTorch 1 are slower for the \
             same model").default("pt2").values(&[("pt1", "The compiler and runtime of PyTorch 1"), ("pt2", "The compiler and runtime of PyTorch 2")]).heading(RUNS),
        get: |c| name_of(&GENERATIONS, &c.options.sdk_generation, &SdkGeneration::Pt2),
        put: |c, given| given.one_of(&GENERATIONS, SdkGeneration::Pt2).map(|g| c.options.sdk_generation = g),
        ..COMPILE
    },
    BenchOption {
        field: field("workflow", "Workflow", "mark_step: lazy tensors record their ops in each call", "", FieldKind::Choice(&[("", "trace"), ("mark_step", "mark_step")])),
        flag: Flag::new("workflow", "WORKFLOW", "How a model reaches its NeuronCore: trace, compiled ahead as NeuronPerf does, or mark_step, whose operations \
             are recorded and whose inputs are transferred in each call").default("trace").values(&[("mark_step", "Lazily executed graph: inputs are transferred in the step"), ("trace", "Ahead-of-time compiled model")]).heading(RUNS),
        get: |c| name_of(&WORKFLOWS, &c.options.workflow, &Workflow::Trace),
        put: |c, given| given.one_of(&WORKFLOWS, Workflow::Trace).map(|w| c.options.workflow = w),
        ..COMPILE
    },
    BenchOption {
        field: field("name", "Label", "Name of the model in reports. Empty: the model\u{2019}s own name", "", FieldKind::Line),
        name: "model_name",
        flag: Flag::new("model-name", "NAME", "Label in reports"),
        get: |c| some(c.model_name.as_ref()),
        put: |c, given| { c.model_name = (!given.text.is_empty()).then(|| given.text.to_owned()); Ok(()) },
        ..COMPILE
    },
    BenchOption {
        field: field("processes", "Processes", "", "", FieldKind::Choice(&[("", "one for each model copy"), ("shared", "one for all copies"), ("fresh", "a fresh one each time")])),
        get: |c| name_of(&PROCESSES, &c.options.processes, &Processes::PerModel),
        put: |c, given| given.one_of(&PROCESSES, Processes::PerModel).map(|p| c.options.processes = p),
        ..HOST
    },
    BenchOption {
        field: field("preprocess", "Preprocess", "none, normalize, argmax, topk, softmax, or a time: 0.25ms", "none", FieldKind::Line),
        flag: Flag::new("preprocess", "STEP", "Work before the call: none, normalize, argmax, topk, softmax, a time such as 0.25ms, or an expression over \
             the inputs: x / 255, \"x / 255, y / 255\", x.argmax()").aliases(&["preprocess-fn"]).default("none").heading(RUNS),
        get: |c| unless(&c.options.preprocess, &HostStep::default(), ToString::to_string),
        put: |c, given| given.parsed().map(|step| c.options.preprocess = step),
        ..HOST
    },
    BenchOption {
        field: field("postprocess", "Postprocess", "As above, after the call", "none", FieldKind::Line),
        flag: Flag::new("postprocess", "STEP", "Work after the call, as above").aliases(&["postprocess-fn"]).default("none").heading(RUNS),
        get: |c| unless(&c.options.postprocess, &HostStep::default(), ToString::to_string),
        put: |c, given| given.parsed().map(|step| c.options.postprocess = step),
        ..HOST
    },
    BenchOption {
        field: field("env_setup_ms", "Environment set-up (ms)", "Of each copy, before its load", "0", FieldKind::Line),
        flag: Flag::new("env-setup-ms", "MS", "Work of each copy before it loads, milliseconds").default("0").heading(RUNS),
        get: |c| unless(&c.options.env_setup_ms, &0.0, f64::to_string),
        put: |c, given| given.ms().map(|ms| c.options.env_setup_ms = ms),
        ..HOST
    },
    BenchOption {
        field: field("setup_ms", "Set-up (ms)", "Of each copy, after its load", "0", FieldKind::Line),
        flag: Flag::new("setup-ms", "MS", "Work of each copy after it has loaded, milliseconds").default("0").heading(RUNS),
        get: |c| unless(&c.options.setup_ms, &0.0, f64::to_string),
        put: |c, given| given.ms().map(|ms| c.options.setup_ms = ms),
        ..HOST
    },
    BenchOption {
        field: field("dataset", "Dataset", "Records in one pass: 500, or 500,loop to repeat it", "inputs that repeat", FieldKind::Line),
        flag: Flag::new("dataset", "LENGTH|FILE", "Number of records in a dataset, of which an inference takes a batch, or a file of records (.npy, .npz:NAME of numpy, IDX as MNIST has, \
             .csv); each model copy runs through it once, whatever the duration").heading(RUNS),
        get: |c| dataset_text(c.options.dataset),
        put: |c, given| dataset(given).map(|records| c.options.dataset = records),
        ..HOST
    },
    BenchOption {
        field: field("accounting", "Duration counts", "", "", FieldKind::Choice(&[("", "when all copies are warm"), ("original", "from the start, as in NeuronPerf")])),
        flag: Flag::new("duration-accounting", "START", "When the duration starts: when the models are warm, or before they are loaded, as in NeuronPerf").default("window").values(&[("window", "The whole duration is measured"), ("original", "Loading and warm-up count towards the duration")]).heading(RUNS),
        get: |c| name_of(&ACCOUNTINGS, &c.options.accounting, &Accounting::Window),
        put: |c, given| given.one_of(&ACCOUNTINGS, Accounting::Window).map(|a| c.options.accounting = a),
        ..TIME
    },
    BenchOption {
        field: field("cost_per_hour", "Cost per hour (US$)", "Empty: the instance\u{2019}s published price, if there is one", "", FieldKind::Decimal),
        flag: Flag::new("cost-per-hour", "DOLLARS", "US dollars per hour, for the cost per million inferences [default: the published price, if there is one]"),
        get: |c| some(c.cost_per_hour),
        put: |c, given| given.some_number("a number of US dollars, such as 1.34").map(|usd| c.cost_per_hour = usd),
        ..TIME
    },
    BenchOption {
        field: field("scenario", "Scenario", "LoadGen\u{2019}s rules in place of NeuronPerf\u{2019}s closed loop", "", FieldKind::Choice(SCENARIOS)),
        flag: Flag::new("scenario", "SCENARIO", "SingleStream, MultiStream, Server or Offline").heading(MLPERF),
        get: |c| c.mlperf.as_ref().map(|m| m.scenario.name().to_owned()).unwrap_or_default(),
        put: |c, given| { let rules = |given: &OptionText<'_>| given.text.parse().map(MlperfSettings::official).map_err(|e| format!("{}: {e}", given.name)); c.mlperf = if given.text.is_empty() { None } else { Some(rules(given)?) }; Ok(()) },
        ..SCENARIO
    },
    BenchOption {
        field: field("min_duration", "Minimum duration (s)", "Simulated; the rules say 600", "600", FieldKind::Decimal),
        scenarios: ANY_SCENARIO,
        name: "min_duration_s",
        flag: Flag::new("min-duration", "SECONDS", "Shortest duration of a run, seconds [default: 600]").heading(MLPERF),
        get: |c| of_scenario(c, |m| m.min_duration_s),
        put: |c, given| put_in_scenario(c, |m, rules| given.number_or(rules.min_duration_s, "a number of seconds, such as 60").map(|s| m.min_duration_s = s)),
        ..SCENARIO
    },
    BenchOption {
        field: field("min_queries", "Minimum queries", "Samples in the Offline scenario", "100", FieldKind::Line),
        scenarios: ANY_SCENARIO,
        flag: Flag::new("min-queries", "COUNT", "Fewest queries of a run [default: 100; Offline: 24576 samples]").heading(MLPERF),
        get: |c| of_scenario(c, |m| m.min_queries),
        put: |c, given| put_in_scenario(c, |m, rules| given.number_or(rules.min_queries, "a whole number").map(|n| m.min_queries = n)),
        ..SCENARIO
    },
    BenchOption {
        field: field("latency_bound_ms", "Latency bound (ms)", "99 % of the answers must keep to it", "15", FieldKind::Decimal),
        scenarios: &["Server"],
        flag: Flag::new("latency-bound-ms", "MS", "Latency bound of Server: 99 % of the answers must keep it").heading(MLPERF),
        get: |c| some(c.mlperf.as_ref().and_then(|m| m.latency_bound_ms)),
        put: |c, given| put_in_scenario(c, |m, _| given.some_number("a number, such as 15").map(|ms| m.latency_bound_ms = ms)),
        ..SCENARIO
    },
    BenchOption {
        field: field("target_qps", "Queries per second", "Empty: searches for the highest rate within the bound", "searched", FieldKind::Decimal),
        scenarios: &["Server"],
        flag: Flag::new("target-qps", "RATE", "Queries per second of a Server [default: the highest that holds the bound is searched]").heading(MLPERF),
        get: |c| some(c.mlperf.as_ref().and_then(|m| m.target_qps)),
        put: |c, given| put_in_scenario(c, |m, _| given.some_number("a number, such as 15").map(|rate| m.target_qps = rate)),
        ..SCENARIO
    },
    BenchOption {
        field: field("samples_per_query", "Samples per query", "", "8", FieldKind::Line),
        scenarios: &["MultiStream"],
        flag: Flag::new("samples-per-query", "COUNT", "Samples of one MultiStream query").default("8").heading(MLPERF),
        get: |c| of_scenario(c, |m| m.samples_per_query),
        put: |c, given| put_in_scenario(c, |m, rules| given.number_or(rules.samples_per_query, "a whole number").map(|n| m.samples_per_query = n)),
        ..SCENARIO
    },
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
