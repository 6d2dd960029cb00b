//! The form and the options of custom operators.

use super::spec::{CustomopStudy, OWN, list, source, source_of};
use crate::options::{Flag, Opt, Options, fields, flag, opt};
use crate::studies::form::{FieldGroup, FieldKind, GroupLook, StudyExample, StudyForm, field};
use ns_bench::comma_list;
use ns_kernel::{Fill, built_in, is_source_name};
use ns_neuron::gpsimd::Workload;

pub const FORM: StudyForm = StudyForm {
    title: "Kernels",
    lead: "Write a kernel for the GPSIMD processors in the C++ of the custom operator tutorial. It is checked, run for its values, and \
           timed line by line, alone and inside a network.",
    begin: "Press Run, or take an example. The kernel can be edited; errors are shown at their lines.",
    groups: &[
        FieldGroup { title: "", look: GroupLook::Open, fields: &fields::<_, { KERNEL.len() }>(KERNEL) },
        FieldGroup { title: "Network", look: GroupLook::Open, fields: &fields::<_, { NETWORK.len() }>(NETWORK) },
        FieldGroup {
            title: "A separate input, and the reference",
            look: GroupLook::Folded,
            fields: &fields::<_, { MORE.len() }>(MORE),
        },
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

type Row = Opt<CustomopStudy>;

impl Options for CustomopStudy {
    const OPTIONS: &'static [&'static [Row]] = &[KERNEL, NETWORK, MORE];

    fn problem(&self, key: &str) -> Option<String> {
        self.check(key).err()
    }
}

const WORKLOADS: [(&str, Workload); 2] = [("inference", Workload::Inference), ("training", Workload::Training)];
const FILLS: [(&str, Fill); 2] = [("normal", Fill::Normal), ("ramp", Fill::Ramp)];

#[rustfmt::skip]
const KERNEL: &[Row] = &[
    opt(field("kernel", "Kernel", "A starting point; choosing one replaces the source below", "", FieldKind::Choice(&[("relu-element", "relu-element \u{2013} element by element"), ("relu-tcm", "relu-tcm \u{2013} blocks in local memory"), ("relu-multicore", "relu-multicore \u{2013} all processors, divided as the tutorial does"), ("relu-multicore-fixed", "relu-multicore-fixed \u{2013} the same, correct for any size"), ("relu-any-type", "relu-any-type \u{2013} blocks, for tensors of any numeric type"), ("own", "own \u{2013} a start for your own kernel")])),
        Flag::elsewhere("kernel"),
        |s| s.kernel.clone(),
        |s, given| { let found = built_in(given.text); if found.is_none() && given.text != OWN && !is_source_name(given.text) { return Err(format!("{}: there is no kernel '{}'; use one from the list, own, or the name of a .cpp file with its source", given.name, given.text)); } given.text.clone_into(&mut s.kernel); source_of(given.text).clone_into(&mut s.source); s.multicore = found.is_some_and(|k| k.multicore); Ok(()) }),
    opt(field("cores", "Processors", "Of the engine, 1 to 8; a list is compared", "8", FieldKind::Numbers),
        flag("LIST", "Number of processors that work, 1 to 8; several numbers are compared").list(),
        |s| comma_list(&s.cores), |s, given| list(given, given.text).map(|cores| s.cores = cores)),
    opt(field("dtype", "Element types", "Of the tensors; a list is compared: float32,int32,int16. A type that the kernel does not take is reported", "float32", FieldKind::Line),
        flag("TYPES", "Element type of the tensors that the kernel takes and returns; several are compared: float32,int32,int16").list(),
        |s| comma_list(&s.dtypes),
        |s, given| { given.text.split(',').map(|part| part.trim().parse()).collect::<Result<_, ns_base::Refusal>>().map(|types| s.dtypes = types).map_err(|e| format!("{}: {e}", given.name)) }),
    opt(field("constant", "Values of a constant", "NAME=VALUES of a static constexpr of the kernel, compared: buffer_size=128,512,2048", "", FieldKind::Line),
        Flag::new("set", "NAME=VALUES", "Give a static constexpr of the kernel other values and compare: buffer_size=128,512,1024,2048"),
        |s| s.constant.clone(), |s, given| { given.text.clone_into(&mut s.constant); Ok(()) }),
    opt(field("source", "Source", "C++ as in the custom operator tutorial; unsupported code is reported when it runs", "", FieldKind::Source),
        Flag::NONE,
        |s| s.source.clone(), |s, given| source(given).map(|source| s.source = source)),
    opt(field("multicore", "Run on all processors", "Like a library built with multicore=True", "", FieldKind::Flag),
        Flag::elsewhere("multicore"),
        |s| s.multicore.to_string(), |s, given| given.flag().map(|is| s.multicore = is)),
    opt(field("steps", "Compare with the tutorial\u{2019}s steps", "Also runs the element-wise, the TCM and the multicore kernel, with the gain of each and its reason", "", FieldKind::Flag),
        Flag::NONE,
        |s| s.steps.to_string(), |s, given| given.flag().map(|is| s.steps = is)),
];

#[rustfmt::skip]
const NETWORK: &[Row] = &[
    opt(field("layers", "Widths of the layers", "Input, hidden layers, output; the operator follows each but the last. Networks separated by ; are compared", "784,4096,2048,10", FieldKind::Line),
        flag("LIST", "Widths of the network: input, hidden layers, output; networks separated by ; are compared").list(),
        |s| s.layers.iter().map(|widths| comma_list(widths)).collect::<Vec<_>>().join("; "),
        |s, given| { given.text.split(';').map(|part| list(given, part)).collect::<Result<_, _>>().map(|layers| s.layers = layers) }),
    opt(field("batch", "Batch size", "Samples in a step", "32", FieldKind::Numbers),
        flag("COUNT", "Samples of a step").aliases(&["batch-size"]),
        |s| s.batch.to_string(), |s, given| given.whole().map(|n| s.batch = n)),
    opt(field("workload", "A step is", "Training adds the backward kernel and the update", "", FieldKind::Choice(&[("inference", "inference"), ("training", "training")])),
        flag("WORKLOAD", "What a step does").values(&[("inference", "The forward pass"), ("training", "Forward, backward and update")]),
        |s| if s.workload == Workload::Training { "training" } else { "inference" }.to_owned(),
        |s, given| given.one_of(&WORKLOADS, Workload::Inference).map(|workload| s.workload = workload)),
];

#[rustfmt::skip]
const MORE: &[Row] = &[
    opt(field("input", "Input shape", "Also runs the kernel on an input of this shape, and shows that run: 1000,3", "", FieldKind::Line),
        flag("SHAPE", "Also run the kernel on an input of this shape, and report that run: 1000,3").list(),
        |s| s.input.as_deref().map(comma_list).unwrap_or_default(), |s, given| given.some_text().map(|text| list(given, &text)).transpose().map(|input| s.input = input)),
    opt(field("fill", "Inputs hold", "Element i of a ramp of n is (i \u{2212} n/2) / 8", "", FieldKind::Choice(&[("normal", "normal numbers"), ("ramp", "a ramp")])),
        flag("FILL", "Values of the inputs: element i of a ramp is (i - n/2) / 8").values(&[("ramp", "Negative to positive in even steps"), ("normal", "Normally distributed numbers, mean 0, standard deviation 1")]),
        |s| if s.fill == Fill::Ramp { "ramp" } else { "normal" }.to_owned(), |s, given| given.one_of(&FILLS, Fill::Normal).map(|fill| s.fill = fill)),
    opt(field("seed", "Seed", "Of the random numbers", "0", FieldKind::Numbers),
        flag("NUMBER", "Seed of normally distributed inputs"),
        |s| s.seed.to_string(), |s, given| given.whole().map(|n| s.seed = n)),
    opt(field("reference", "Reference", "What the kernel should compute, an expression of x (and y): x > 0 ? x : 0. A kernel with relu in its name has one", "", FieldKind::Line),
        flag("EXPRESSION", "What the kernel should compute, an expression of x (and y): 'x > 0 ? x : 0'"),
        |s| s.reference.clone(), |s, given| { given.text.clone_into(&mut s.reference); Ok(()) }),
];
