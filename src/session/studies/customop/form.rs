//! The form of custom operators.

use crate::studies::form::{FieldGroup, FieldKind, FormField, GroupLook, StudyExample, StudyForm, field};

pub const FORM: StudyForm = StudyForm {
    path: "customop",
    title: "Custom operators",
    lead: "Write a kernel for the GPSIMD processors in the C++ of the custom operator tutorial. It is checked, run for its values, and \
           timed line by line, alone and inside a network.",
    begin: "Press Run, or take an example. The kernel can be edited; errors are shown at their lines.",
    groups: &[
        FieldGroup { title: "", look: GroupLook::Open, fields: KERNEL },
        FieldGroup { title: "Network", look: GroupLook::Open, fields: NETWORK },
        FieldGroup { title: "A separate input, and the reference", look: GroupLook::Folded, fields: MORE },
    ],
    examples: &[
        StudyExample {
            name: "The tutorial\u{2019}s three steps",
            fields: &[("kernel", "relu-multicore"), ("steps", "true")],
        },
        StudyExample {
            name: "Block sizes",
            fields: &[("kernel", "relu-tcm"), ("constant", "buffer_size=128,256,512,1024,2048")],
        },
        StudyExample {
            name: "Numbers of processors",
            fields: &[("kernel", "relu-multicore-fixed"), ("cores", "1,2,4,8")],
        },
        StudyExample {
            name: "Element types",
            fields: &[("kernel", "relu-any-type"), ("dtype", "int64,float32,int32,int16,uint8,bfloat16")],
        },
        StudyExample {
            name: "Layer sizes",
            fields: &[
                ("kernel", "relu-tcm"),
                ("layers", "784,512,256,10; 784,1024,512,10; 784,2048,1024,10; 784,4096,2048,10"),
            ],
        },
        StudyExample {
            name: "Elements that do not divide",
            fields: &[("kernel", "relu-multicore"), ("layers", "784,64,10"), ("input", "1003"), ("fill", "ramp")],
        },
    ],
    files: &[],
};

/// Fields that take new texts when another is edited: choosing a kernel sets its source.
pub const fn followers(key: &str) -> &'static [&'static str] {
    match key.as_bytes() {
        b"kernel" => &["source", "multicore"],
        _ => &[],
    }
}

const KERNEL: &[FormField] = &[
    field(
        "kernel",
        "Kernel",
        "A starting point; choosing one replaces the source below",
        "",
        FieldKind::Choice(&[
            ("relu-element", "relu-element \u{2013} element by element"),
            ("relu-tcm", "relu-tcm \u{2013} blocks in local memory"),
            ("relu-multicore", "relu-multicore \u{2013} all processors, divided as the tutorial does"),
            ("relu-multicore-fixed", "relu-multicore-fixed \u{2013} the same, correct for any size"),
            ("relu-any-type", "relu-any-type \u{2013} blocks, for tensors of any numeric type"),
            ("own", "own \u{2013} a start for your own kernel"),
        ]),
    ),
    field("cores", "Processors", "Of the engine, 1 to 8; a list is compared", "8", FieldKind::Numbers),
    field(
        "dtype",
        "Element types",
        "Of the tensors; a list is compared: float32,int32,int16. A type that the kernel does not take is reported",
        "float32",
        FieldKind::Line,
    ),
    field(
        "constant",
        "Values of a constant",
        "NAME=VALUES of a static constexpr of the kernel, compared: buffer_size=128,512,2048",
        "",
        FieldKind::Line,
    ),
    field(
        "source",
        "Source",
        "C++ as in the custom operator tutorial; unsupported code is reported when it runs",
        "",
        FieldKind::Source,
    ),
    field("multicore", "Run on all processors", "Like a library built with multicore=True", "", FieldKind::Flag),
    field(
        "steps",
        "Compare with the tutorial\u{2019}s steps",
        "Also runs the element-wise, the TCM and the multicore kernel, with the gain of each and its reason",
        "",
        FieldKind::Flag,
    ),
];

const NETWORK: &[FormField] = &[
    field(
        "layers",
        "Widths of the layers",
        "Input, hidden layers, output; the operator follows each but the last. Networks separated by ; are compared",
        "784,4096,2048,10",
        FieldKind::Line,
    ),
    field("batch", "Batch size", "Samples in a step", "32", FieldKind::Numbers),
    field(
        "workload",
        "A step is",
        "Training adds the backward kernel and the update",
        "",
        FieldKind::Choice(&[("inference", "inference"), ("training", "training")]),
    ),
];

const MORE: &[FormField] = &[
    field(
        "input",
        "Input shape",
        "Also runs the kernel on an input of this shape, and shows that run: 1000,3",
        "",
        FieldKind::Line,
    ),
    field(
        "fill",
        "Inputs hold",
        "Element i of a ramp of n is (i \u{2212} n/2) / 8",
        "",
        FieldKind::Choice(&[("normal", "normal numbers"), ("ramp", "a ramp")]),
    ),
    field("seed", "Seed", "Of the random numbers", "0", FieldKind::Numbers),
    field(
        "reference",
        "Reference",
        "What the kernel should compute, an expression of x (and y): x > 0 ? x : 0. A kernel with relu in its name has one",
        "",
        FieldKind::Line,
    ),
];
