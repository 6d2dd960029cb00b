//! The form of the study of values.

use crate::studies::form::{
    AUTO_CAST_TYPES, AUTO_CASTS, FieldGroup, FieldKind, FormField, GroupLook, OPT_LEVELS, StudyExample, StudyForm,
    field,
};

pub const FORM: StudyForm = StudyForm {
    path: "numerics",
    title: "Numerics",
    lead: "What a NeuronCore computes, beside the reference that the processor computes from the same weights and inputs. The \
           NeuronCore\u{2019}s values are rounded by the chosen cast. The result says whether they are good enough, and which \
           operation made a NaN or an infinity.",
    begin: "Press Run, choose an example, or drop a model file. Models of up to 8,000 MFLOP are computed twice in this browser; a smaller \
            size of the same model shows the same effects.",
    groups: &[
        FieldGroup { title: "", look: GroupLook::Open, fields: MAIN },
        FieldGroup { title: "Compiler", look: GroupLook::Compiler, fields: COMPILER },
    ],
    examples: &[
        StudyExample {
            name: "Goes NaN without a bias",
            fields: &[("model", "matmult:n=32,loop_count=200,add_bias=false,normalize=true")],
        },
        StudyExample {
            name: "The same with a bias",
            fields: &[("model", "matmult:n=32,loop_count=200,normalize=true")],
        },
        StudyExample { name: "The two-layer network of the tutorial", fields: &[("model", "nn")] },
    ],
    files: &["JSON"],
};

const MAIN: &[FormField] = &[
    field("model", "Model", "", "", FieldKind::Model),
    field("instance", "Instance type", "", "", FieldKind::Instance),
    field("batch_size", "Batch size", "Samples of one call", "the model\u{2019}s own", FieldKind::Line),
    field(
        "rounding",
        "Rounding",
        "",
        "",
        FieldKind::Choice(&[("rne", "to the nearest, ties to even"), ("stochastic", "stochastic")]),
    ),
    field("tolerance", "Tolerance", "Largest mean relative error that passes: 0.02 is 2 %", "0.02", FieldKind::Line),
    field("seed", "Seed", "For weights, inputs and stochastic rounding", "0", FieldKind::Line),
];

const COMPILER: &[FormField] = &[
    field("auto_cast", "Auto-cast", "", "", FieldKind::Choice(AUTO_CASTS)),
    field("auto_cast_type", "Cast type", "", "", FieldKind::Choice(AUTO_CAST_TYPES)),
    field("optlevel", "Optimisation level", "", "", FieldKind::Choice(OPT_LEVELS)),
    field(
        "lnc",
        "Cores per logical core",
        "",
        "",
        FieldKind::Choice(&[("", "the instance\u{2019}s"), ("1", "1"), ("2", "2")]),
    ),
];
