//! The form and the options of the microbenchmark.

use super::MatmultStudy;
use crate::options::{Flag, Opt, Options, fields, flag, opt};
use crate::studies::form::{FieldGroup, FieldKind, GroupLook, StudyExample, StudyForm, field};
use ns_bench::comma_list;
use ns_bench::matmult::{cast_of_dtype, dtype_of, instance_of, words_of};
use ns_compiler::{AutoCast, CastType, CompileOptions, Workflow};
use ns_model::zoo::operator::parse_shapes;

pub const FORM: StudyForm = StudyForm {
    title: "Microbenchmark",
    lead: "How fast can a core multiply matrices? One linear layer is applied over and over, as in the microbenchmark guide, and its \
           phases are timed apart. Switch a pitfall on to see what it costs.",
    begin: "Press Run, or take an example. Lists such as 256,512,1024 in a field are swept.",
    groups: &[
        FieldGroup { title: "", look: GroupLook::Open, fields: &fields::<_, { MAIN.len() }>(MAIN) },
        FieldGroup { title: "Pitfalls", look: GroupLook::Open, fields: &fields::<_, { PITFALLS.len() }>(PITFALLS) },
        FieldGroup { title: "More settings", look: GroupLook::Folded, fields: &fields::<_, { MORE.len() }>(MORE) },
    ],
    examples: &[
        StudyExample {
            name: "The guide\u{2019}s example",
            fields: &[("num_warmup_iterations", "2"), ("num_timed_iterations", "1000")],
        },
        StudyExample { name: "Without a loop", fields: &[("no_loop", "true")] },
        StudyExample { name: "Products that are not chained", fields: &[("unchained", "true")] },
        StudyExample { name: "Without a bias", fields: &[("no_bias", "true")] },
        StudyExample {
            name: "Size against loop",
            fields: &[("matrix_dim", "128,256,512,1024"), ("loop_count", "1,10,100,1000")],
        },
        StudyExample {
            name: "Softmax by shape",
            fields: &[("op", "softmax"), ("shape", "256x256 512x512 1024x1024 2048x2048")],
        },
        StudyExample {
            name: "Formats and devices",
            fields: &[("dtype", "fp32,bf16,fp8_e4m3"), ("instance", "trn1.2xlarge,trn2.48xlarge")],
        },
    ],
    files: &[],
};

type Row = Opt<MatmultStudy>;

impl Options for MatmultStudy {
    const OPTIONS: &'static [&'static [Row]] = &[MAIN, PITFALLS, MORE];
    const BETWEEN_WORDS: char = '_';

    fn problem(&self, _: &str) -> Option<String> {
        self.checked().cases().err().map(|e| e.to_string())
    }
}

#[rustfmt::skip]
const MAIN: &[Row] = &[
    opt(field("matrix_dim", "Matrix size N", "Rows and columns; a list is swept", "1024", FieldKind::Numbers),
        flag("N", "Rows and columns of the matrices; lists and ranges are swept: 256,1024").short('n').list().aliases(&["n", "matrix_size"]),
        |s| comma_list(&s.config.matrix_dims), |s, given| given.counts().map(|list| s.config.matrix_dims = list)),
    opt(field("batch_size", "Batch size", "First dimension of the input [B, N, N]; a list is swept", "1", FieldKind::Numbers),
        flag("B", "First dimension of the input [B, N, N]; lists and ranges are swept: 1,2,8 [default: 1; for a model file its own]").short('b').list(),
        |s| comma_list(&s.config.batch_sizes), |s, given| given.counts().map(|list| s.config.batch_sizes = list)),
    opt(field("loop_count", "Products in a call", "Each is the input of the next; a list is swept", "1000", FieldKind::Numbers),
        flag("L", "Products in one call, each the input of the next; lists and ranges are swept").short('l').list().conflicts(&["no_loop"]),
        |s| comma_list(&s.config.loop_counts), |s, given| given.counts().map(|list| s.config.loop_counts = list)),
    opt(field("dtype", "Formats", "Of the products: fp32, bf16, fp16, tf32, fp8_e4m3; a list is swept", "bf16", FieldKind::Line),
        flag("FORMAT", "Format of the products: fp32, bf16, fp16, tf32, fp8_e4m3, or several: bf16,fp32").list(),
        |s| s.config.options.iter().map(dtype_of).collect::<Vec<_>>().join(","),
        |s, given| { let base = CompileOptions { auto_cast: AutoCast::default(), auto_cast_type: CastType::default(), ..s.compile() }; given.each(|name| cast_of_dtype(name, base)).map(|all| s.config.options = all) }),
    opt(field("instance", "Instance types", "Sizes or families: trn1.2xlarge,inf2,trn2", "trn1.2xlarge", FieldKind::Line),
        flag("TYPE", "Instance types or families, separated by commas: trn1.2xlarge,inf2,trn2").list().also(&["device"]).aliases(&["instance-type"]),
        |s| s.config.instances.join(","), |s, given| given.each(instance_of).map(|all| s.config.instances = all)),
    opt(field("num_timed_iterations", "Timed calls", "Timed all together by one clock", "1", FieldKind::Numbers),
        flag("I", "Calls that are timed, all together by one clock").short('i'),
        |s| s.config.run.timed_iterations.to_string(), |s, given| given.in_range().map(|n| s.config.run.timed_iterations = n)),
];

#[rustfmt::skip]
const PITFALLS: &[Row] = &[
    opt(field("no_loop", "No loop", "One product in a call: overheads dominate", "", FieldKind::Flag),
        flag("", "Pitfall: one product in a call, so that overheads dominate"),
        |s| s.no_loop.to_string(), |s, given| given.flag().map(|is| s.no_loop = is)),
    opt(field("unchained", "Products not chained", "Every product reads the same input: the compiler removes all but the last", "", FieldKind::Flag),
        flag("", "Pitfall: every product reads the same input, so that the compiler removes all but the last"),
        |s| (!s.config.run.chained).to_string(), |s, given| given.flag().map(|is| s.config.run.chained = !is)),
    opt(field("no_warmup", "No warm-up", "The first call is timed", "", FieldKind::Flag),
        flag("", "Pitfall: the first call is timed"),
        |s| s.no_warmup.to_string(), |s, given| given.flag().map(|is| s.no_warmup = is)),
    opt(field("no_bias", "No bias", "Values leave the range of their format", "", FieldKind::Flag),
        flag("", "Pitfall: no bias, so that values leave the range of their format").aliases(&["no-add-bias"]),
        |s| (!s.config.run.add_bias).to_string(), |s, given| given.flag().map(|is| s.config.run.add_bias = !is)),
    opt(field("coarse_clock", "Coarse clock", "One that ticks every 15.625 ms", "", FieldKind::Flag),
        Flag::NONE,
        |s| s.coarse_clock.to_string(), |s, given| given.flag().map(|is| s.coarse_clock = is)),
    opt(field("small", "Small matrices", "64 x 64: they do not fill the array", "", FieldKind::Flag),
        Flag::NONE,
        |s| s.small.to_string(), |s, given| given.flag().map(|is| s.small = is)),
    opt(field("lazy", "Lazy execution", "A graph recorded in each step instead of a traced model", "", FieldKind::Flag),
        Flag::elsewhere("workflow"),
        |s| (s.config.run.workflow == Workflow::MarkStep).to_string(),
        |s, given| given.flag().map(|is| s.config.run.workflow = if is { Workflow::MarkStep } else { Workflow::Trace })),
];

#[rustfmt::skip]
const MORE: &[Row] = &[
    opt(field("model", "Another model", "Instead of the layer: bert-base-uncased, mlp; sizes and loop then have no effect", "the layer", FieldKind::Line),
        flag("MODEL", "Another model of the zoo instead of the layer, `bert-base-uncased` or `mlp`, or a model file: its products and convolutions are counted").conflicts(&["matrix_dim", "loop_count", "no_loop", "unchained", "no_bias"]),
        |s| s.config.model.clone().unwrap_or_default(), |s, given| { s.config.model = given.some_text(); Ok(()) }),
    opt(field("op", "Operator", "In place of the layer: matmul, linear, conv2d:padding=1, attention, softmax, layer_norm, gelu, add; a list with spaces is swept, and loop_count=N applies one N times to its own result", "the layer", FieldKind::Line),
        flag("NAME[:KEY=VALUE]", "A single operator instead of the layer: matmul, linear, conv2d:padding=1, softmax, layer_norm, gelu, add, attention; several are swept, and loop_count=N applies the operator N times to its own result").each(" ").conflicts(&["model", "matrix_dim", "loop_count", "no_loop", "unchained", "no_bias"]),
        |s| s.config.operators.join(" "), |s, given| { s.config.operators = words_of(given.text); Ok(()) }),
    opt(field("shape", "Shapes of its operands", "Operands separated by commas: 1024x1024,1024x1024; a list with spaces is swept", "the operator\u{2019}s own", FieldKind::Line),
        flag("SHAPES", "Shapes of the operands of --op, separated by commas: 1024x1024,1024x1024; several are swept [default: the operator's own]").each(" ").needs("op").also(&["shapes"]),
        |s| s.config.shapes.join(" "),
        |s, given| { s.config.shapes = words_of(given.text); s.config.shapes.iter().try_for_each(|shapes| parse_shapes(shapes).map(drop).map_err(|e| format!("{}: {e}", given.name))) }),
    opt(field("cpu", "Compare with this processor", "The same products, measured in this browser", "", FieldKind::Flag),
        Flag::NONE,
        |s| s.cpu.to_string(), |s, given| given.flag().map(|is| s.cpu = is)),
    opt(field("num_warmup_iterations", "Warm-up calls", "Before the clock starts", "8", FieldKind::Numbers),
        flag("W", "Calls before the clock starts").short('w').conflicts(&["no_warmup"]),
        |s| s.config.run.warmup_iterations.to_string(), |s, given| given.in_range().map(|n| s.config.run.warmup_iterations = n)),
    opt(field("num_verification_iterations", "Repetitions", "Of the timed calls, with the next seeds", "2", FieldKind::Numbers),
        flag("V", "Repetitions of the timed calls with the next seeds, to see how well the result repeats"),
        |s| s.config.run.verification_iterations.to_string(), |s, given| given.in_range().map(|n| s.config.run.verification_iterations = n)),
    opt(field("optlevel", "Optimisation level", "How hard the compiler tries", "", FieldKind::Choice(&[("1", "1"), ("2", "2"), ("3", "3")])),
        Flag::elsewhere("neuron_cc_flags"),
        |s| s.compile().opt_level.to_string(), |s, given| { let level = given.known()?; s.config.options.iter_mut().for_each(|o| o.opt_level = level); Ok(()) }),
    opt(field("seed", "Seed", "Of the jitter, and of values where they are computed", "0", FieldKind::Numbers),
        flag("NUMBER", "Seed of the jitter, and of weights and inputs where values are computed"),
        |s| s.config.run.seed.to_string(), |s, given| given.in_range().map(|n| s.config.run.seed = n)),
    opt(field("jitter", "Jitter", "Largest random deviation of a stage of a call: 0.01 is 1 %", "0.01", FieldKind::Numbers),
        flag("FRACTION", "Largest random deviation of a stage of a call, as a fraction of its time"),
        |s| s.config.run.jitter.to_string(), |s, given| given.in_range().map(|n| s.config.run.jitter = n)),
    opt(field("sync", "Wait for each result", "Before the next call; the script does not", "", FieldKind::Flag),
        flag("", "Wait for each result before the next call; the script reads no result while its clock runs, so that the host is one call ahead of the device"),
        |s| s.config.run.sync.to_string(), |s, given| given.flag().map(|is| s.config.run.sync = is)),
    opt(field("skip_compilation", "Already compiled", "The compile time is not counted", "", FieldKind::Flag),
        flag("", "Assume that the model is already compiled: its compile time is not counted; with --compiler-workdir, look for its artifact"),
        |s| s.config.run.skip_compilation.to_string(), |s, given| given.flag().map(|is| s.config.run.skip_compilation = is)),
];
