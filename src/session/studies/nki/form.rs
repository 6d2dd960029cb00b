//! The form of NKI kernels.

use crate::studies::form::{FieldGroup, FieldKind, FormField, GroupLook, StudyExample, StudyForm, field};

pub const FORM: StudyForm = StudyForm {
    path: "nki",
    title: "NKI",
    lead: "Paste or drop a kernel of the Neuron Kernel Interface. Python runs it in this browser, and a simulated NeuronCore says how long it \
           takes, what bounds it, whether it builds, and what each line costs. Nothing is uploaded.",
    begin: "Press Run, or take an example. The first run fetches Python (6 MB), which this browser then keeps.",
    groups: &[
        FieldGroup { title: "", look: GroupLook::Open, fields: KERNEL },
        FieldGroup { title: "Call", look: GroupLook::Open, fields: CALL },
    ],
    examples: &[
        StudyExample { name: "A product in tiles", fields: &[("kernel", "matmul")] },
        StudyExample { name: "The same with fewer loads", fields: &[("kernel", "matmul-blocks")] },
        StudyExample { name: "Which block is best", fields: &[("kernel", "matmul-blocks"), ("set", "ROWS=1,2,4,8")] },
        StudyExample {
            name: "How wide a piece",
            fields: &[("kernel", "silu"), ("set", "WIDTH=128,256,512,1024,2048,4096")],
        },
        StudyExample {
            name: "A piece that SBUF cannot hold",
            fields: &[("kernel", "silu"), ("shapes", "x=1024x65536:f32"), ("set", "WIDTH=65536")],
        },
    ],
    files: &[],
};

/// Fields that take new texts when another is edited: choosing a kernel sets its source and its call.
pub const fn followers(key: &str) -> &'static [&'static str] {
    match key.as_bytes() {
        b"kernel" => &["source", "function", "shapes"],
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
            ("matmul", "matmul \u{2013} a product in tiles"),
            ("matmul-blocks", "matmul-blocks \u{2013} the same with fewer loads"),
            ("silu", "silu \u{2013} an activation, in the first dialect"),
            ("own", "own \u{2013} your file"),
        ]),
    ),
    field(
        "source",
        "Source",
        "Python with nki or neuronxcc.nki; errors are shown at their lines",
        "",
        FieldKind::Source,
    ),
];

const CALL: &[FormField] = &[
    field("function", "Function", "The kernel, if the file has several", "the only one", FieldKind::Line),
    field(
        "shapes",
        "Shapes",
        "Of the tensors: a=4096x2048:bf16,b=2048x512; without names in the order of the arguments",
        "the file\u{2019}s own call",
        FieldKind::Line,
    ),
    field("instance", "Instance type", "", "", FieldKind::Instance),
    field(
        "set",
        "Settings to compare",
        "Values of constants of the file or arguments of the function: TILES_IN_BLOCK_M=1,2,4; WIDTH=512,1024",
        "",
        FieldKind::Line,
    ),
    field(
        "flag",
        "Compiler",
        "",
        "",
        FieldKind::Choice(&[
            ("", "as it is"),
            ("disable-dge", "disable-dge \u{2013} descriptors are written before the run"),
        ]),
    ),
];
