//! The form and the options of NKI kernels.

use super::spec::{BuiltInKernel, CHOICES, NkiStudy, OWN, is_file_name};
use crate::options::{Flag, Opt, Options, fields, flag, opt};
use crate::studies::customop::source;
use crate::studies::form::{FieldGroup, FieldKind, GroupLook, StudyExample, StudyForm, field};
use ns_bench::comma_list;

pub const FORM: StudyForm = StudyForm {
    title: "Kernels",
    lead: "Paste or drop a kernel of the Neuron Kernel Interface. Python runs it in this browser, and a simulated NeuronCore says how long it \
           takes, what bounds it, whether it builds, and what each line costs. Nothing is uploaded.",
    begin: "Press Run, or take an example. The first run fetches Python (6 MB), which this browser then keeps.",
    groups: &[
        FieldGroup { title: "", look: GroupLook::Open, fields: &fields::<_, { KERNEL.len() }>(KERNEL) },
        FieldGroup { title: "Call", look: GroupLook::Open, fields: &fields::<_, { CALL.len() }>(CALL) },
        FieldGroup {
            title: "Launch and compiler",
            look: GroupLook::Folded,
            fields: &fields::<_, { MORE.len() }>(MORE),
        },
    ],
    examples: &[
        StudyExample { name: "A product in tiles", fields: &[("kernel", "matmul")] },
        StudyExample { name: "The same with fewer loads", fields: &[("kernel", "matmul-blocks")] },
        StudyExample { name: "Which block is best", fields: &[("kernel", "matmul-blocks"), ("set", "ROWS=1,2,4,8")] },
        StudyExample { name: "Are its values right", fields: &[("kernel", "matmul"), ("check", "lhs_t.T @ rhs")] },
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

type Row = Opt<NkiStudy>;

impl Options for NkiStudy {
    const OPTIONS: &'static [&'static [Row]] = &[KERNEL, CALL, MORE];
    const IS_USAGE: bool = false;

    fn problem(&self, name: &str) -> Option<String> {
        let settings = || self.cases(Self::MOST_SETTINGS).map(|_| ());
        self.setup().map(|_| ()).and_then(|()| settings()).err().map(|e| format!("{name}: {e}"))
    }
}

const FLAGS: FieldKind = FieldKind::Choice(&[
    ("", "as it is"),
    ("disable-dge", "disable-dge \u{2013} descriptors are written before the run"),
]);

#[rustfmt::skip]
const KERNEL: &[Row] = &[
    opt(field("kernel", "Kernel", "A starting point; choosing one replaces the source below", "", FieldKind::Choice(&CHOICES)),
        Flag::NONE,
        |s| s.kernel.clone(), |s, given| { if BuiltInKernel::named(given.text).is_none() && given.text != OWN && !is_file_name(given.text) { return Err(format!("{}: there is no kernel '{}'; use one from the list, own, or the name of a .py file with its source", given.name, given.text)); } s.take(given.text); Ok(()) }),
    opt(field("source", "Source", "Python with nki or neuronxcc.nki; errors are shown at their lines", "", FieldKind::Source),
        Flag::NONE,
        |s| s.source.clone(), |s, given| source(given).map(|source| s.source = source)),
];

#[rustfmt::skip]
const CALL: &[Row] = &[
    opt(field("function", "Function", "The kernel, if the file has several", "the only one", FieldKind::Line),
        Flag::NONE,
        |s| s.function.clone(), |s, given| { given.text.clone_into(&mut s.function); Ok(()) }),
    opt(field("shapes", "Shapes", "Of the tensors: a=4096x2048:bf16,b=2048x512; without names in the order of the arguments", "the file\u{2019}s own call", FieldKind::Line),
        flag("SHAPES", "Tensors of the call: \"a=4096x2048:f32,b=128x512\"; without names in the order of the arguments [default: the file's own call]").default(""),
        |s| s.shapes.clone(), |s, given| { given.text.clone_into(&mut s.shapes); Ok(()) }),
    opt(field("instance", "Instance type", "", "of the kernel\u{2019}s platform_target, or trn2.48xlarge", FieldKind::Instance),
        flag("INSTANCE", "Instance size [default: of the kernel's platform_target, or trn2.48xlarge]").default("").aliases(&["instance-type"]),
        |s| s.instance.clone(), |s, given| { s.instance = given.some_size().unwrap_or_default(); Ok(()) }),
    opt(field("set", "Settings to compare", "Values of constants of the file or arguments of the function: TILES_IN_BLOCK_M=1,2,4; WIDTH=512,1024", "", FieldKind::Line),
        flag("NAME=VALUES", "Give a constant of the file or an argument of the function other values, and rank them: TILES_IN_BLOCK_M=1,2,4,8").each("; "),
        |s| s.set.clone(), |s, given| { given.text.clone_into(&mut s.set); Ok(()) }),
    opt(field("check", "Check the values", "NumPy of the arguments by name: lhs_t.T @ rhs; a tuple for several results", "not compared", FieldKind::Line),
        flag("EXPRESSION|FILE.npz", "Compare the values with a NumPy expression of the arguments (\"a.T @ b\"; a tuple for several results), or with arrays of a file that NumPy wrote: those named as arguments are given, the others wanted"),
        |s| s.check.clone(), |s, given| { given.text.clone_into(&mut s.check); Ok(()) }),
    opt(field("flag", "Compiler", "", "", FLAGS),
        flag("FLAG", "Flag of the compiler: disable-dge"),
        |s| s.flag.clone(), |s, given| { given.text.trim_start_matches('-').clone_into(&mut s.flag); Ok(()) }),
];

#[rustfmt::skip]
const MORE: &[Row] = &[
    opt(field("dtype", "Element type", "Of the tensors whose shape names none", "float32", FieldKind::Line),
        flag("DTYPE", "Type of the tensors whose shape names none"),
        |s| s.dtype.clone(), |s, given| given.name().map(|dtype| s.dtype = dtype)),
    opt(field("lnc", "Cores per logical core", "", "", FieldKind::Choice(&[("1", "1"), ("2", "2")])),
        flag("LNC", "Physical cores of a logical core: 1 or 2"),
        |s| s.lnc.to_string(), |s, given| given.whole().map(|n| s.lnc = n)),
    opt(field("grid", "Grid", "Programs of the launch: 2, or 4x8", "as the file says", FieldKind::Line),
        flag("GRID", "Programs of the launch: 2, or 4x8"),
        |s| s.grid.clone(), |s, given| { given.text.clone_into(&mut s.grid); Ok(()) }),
    opt(field("without", "Decisions left out", "Of the compiler, to see what each is worth: hoist, join-drains, widen, spread, window, sbuf, psum, own-partitions", "none", FieldKind::Line),
        flag("DECISION", "Leave out a decision of the compiler, to see what it is worth: hoist, join-drains, widen, spread, window, sbuf, psum, own-partitions").list(),
        |s| comma_list(&s.without), |s, given| given.each_text(|name| Ok(name.text.to_owned())).map(|all| s.without = all)),
];
