//! The form of the microbenchmark.

use crate::studies::form::{FieldGroup, FieldKind, FormField, GroupLook, StudyExample, StudyForm, field};

pub const FORM: StudyForm = StudyForm {
    path: "matmult",
    title: "Microbenchmark",
    lead: "How fast can a core multiply matrices? One linear layer is applied over and over, as in the microbenchmark guide, and its \
           phases are timed apart. Switch a pitfall on to see what it costs.",
    begin: "Press Run, or take an example. Lists such as 256,512,1024 in a field are swept.",
    groups: &[
        FieldGroup { title: "", look: GroupLook::Open, fields: MAIN },
        FieldGroup { title: "Pitfalls", look: GroupLook::Open, fields: PITFALLS },
        FieldGroup { title: "More settings", look: GroupLook::Folded, fields: MORE },
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

const MAIN: &[FormField] = &[
    field("matrix_dim", "Matrix size N", "Rows and columns; a list is swept", "1024", FieldKind::Numbers),
    field(
        "batch_size",
        "Batch size",
        "First dimension of the input [B, N, N]; a list is swept",
        "1",
        FieldKind::Numbers,
    ),
    field(
        "loop_count",
        "Products in a call",
        "Each is the input of the next; a list is swept",
        "1000",
        FieldKind::Numbers,
    ),
    field(
        "dtype",
        "Formats",
        "Of the products: fp32, bf16, fp16, tf32, fp8_e4m3; a list is swept",
        "bf16",
        FieldKind::Line,
    ),
    field("instance", "Instance types", "Sizes or families: trn1.2xlarge,inf2,trn2", "trn1.2xlarge", FieldKind::Line),
    field("num_timed_iterations", "Timed calls", "Timed all together by one clock", "1", FieldKind::Numbers),
];

const PITFALLS: &[FormField] = &[
    field("no_loop", "No loop", "One product in a call: overheads dominate", "", FieldKind::Flag),
    field(
        "unchained",
        "Products not chained",
        "Every product reads the same input: the compiler removes all but the last",
        "",
        FieldKind::Flag,
    ),
    field("no_warmup", "No warm-up", "The first call is timed", "", FieldKind::Flag),
    field("no_bias", "No bias", "Values leave the range of their format", "", FieldKind::Flag),
    field("coarse_clock", "Coarse clock", "One that ticks every 15.625 ms", "", FieldKind::Flag),
    field("small", "Small matrices", "64 x 64: they do not fill the array", "", FieldKind::Flag),
    field("lazy", "Lazy execution", "A graph recorded in each step instead of a traced model", "", FieldKind::Flag),
];

const MORE: &[FormField] = &[
    field(
        "model",
        "Another model",
        "Instead of the layer: bert-base-uncased, mlp; sizes and loop then have no effect",
        "the layer",
        FieldKind::Line,
    ),
    field(
        "op",
        "Operator",
        "In place of the layer: matmul, linear, conv2d:padding=1, attention, softmax, layer_norm, gelu, add; a list with spaces is \
         swept, and loop_count=N applies one N times to its own result",
        "the layer",
        FieldKind::Line,
    ),
    field(
        "shape",
        "Shapes of its operands",
        "Operands separated by commas: 1024x1024,1024x1024; a list with spaces is swept",
        "the operator\u{2019}s own",
        FieldKind::Line,
    ),
    field("cpu", "Compare with this processor", "The same products, measured in this browser", "", FieldKind::Flag),
    field("num_warmup_iterations", "Warm-up calls", "Before the clock starts", "8", FieldKind::Numbers),
    field(
        "num_verification_iterations",
        "Repetitions",
        "Of the timed calls, with the next seeds",
        "2",
        FieldKind::Numbers,
    ),
    field(
        "optlevel",
        "Optimisation level",
        "How hard the compiler tries",
        "",
        FieldKind::Choice(&[("1", "1"), ("2", "2"), ("3", "3")]),
    ),
    field("seed", "Seed", "Of the jitter, and of values where they are computed", "0", FieldKind::Numbers),
    field("jitter", "Jitter", "Largest random deviation of a stage of a call: 0.01 is 1 %", "0.01", FieldKind::Numbers),
    field("sync", "Wait for each result", "Before the next call; the script does not", "", FieldKind::Flag),
    field("skip_compilation", "Already compiled", "The compile time is not counted", "", FieldKind::Flag),
];
