//! The form and the options of the study of values.

use super::NumericsStudy;
use crate::options::{Flag, Opt, OptionText, Options, compiler_rows, fields, flag, opt, some};
use crate::studies::customop::source;
use crate::studies::form::{FieldGroup, FieldKind, GroupLook, StudyExample, StudyForm, field};
use ns_bench::comma_list;
use ns_bench::dataset::read_records;
use ns_bench::evaluate::find_metric;
use ns_machine::arch::size_name;
use ns_tensor::Rounding;

pub const FORM: StudyForm = StudyForm {
    title: "Numerics",
    lead: "What a NeuronCore computes, beside the reference that the processor computes from the same weights and inputs. The \
           NeuronCore\u{2019}s values are rounded by the chosen cast. The result says whether they are good enough, and which \
           operation made a NaN or an infinity.",
    begin: "Press Run, choose an example, or drop a model file. Models of up to 8,000 MFLOP are computed twice in this browser; a smaller \
            size of the same model shows the same effects.",
    groups: &[
        FieldGroup { title: "", look: GroupLook::Open, fields: &fields::<_, { MAIN.len() }>(MAIN) },
        FieldGroup { title: "Own records", look: GroupLook::Folded, fields: &fields::<_, { RECORDS.len() }>(RECORDS) },
        FieldGroup { title: "Compiler", look: GroupLook::Compiler, fields: &fields::<_, { COMPILER.len() }>(COMPILER) },
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

type Row = Opt<NumericsStudy>;

impl Options for NumericsStudy {
    const OPTIONS: &'static [&'static [Row]] = &[MAIN, RECORDS, COMPILER];
}

const ROUNDINGS: &[(&str, &str)] = &[("rne", "to the nearest, ties to even"), ("stochastic", "stochastic")];

#[rustfmt::skip]
const MAIN: &[Row] = &[
    opt(field("model", "Model", "", "", FieldKind::Model),
        flag("MODEL", "Model, with parameters after a colon: nn, matmult:n=64,loop_count=400,add_bias=false, mlp:kernel=FILE.cpp; or a model file, with random inputs, or with --inputs and --expect"),
        |s| s.compared.model.clone(), |s, given| given.name().map(|model| s.compared.model = model)),
    opt(field("instance", "Instance type", "", "", FieldKind::Instance),
        flag("TYPE", "Instance type, or a family for its smallest size").aliases(&["instance-type"]),
        |s| s.compared.instance.clone(), |s, given| given.name().map(|name| s.compared.instance = size_name(&name).to_owned())),
    opt(field("batch_size", "Batch size", "Samples of one call", "the model\u{2019}s own", FieldKind::Line),
        flag("COUNT", "Samples of one inference [default: the model's own]"),
        |s| some(s.compared.batch_size), |s, given| given.some_count().map(|n| s.compared.batch_size = n)),
    opt(field("rounding", "Rounding", "", "", FieldKind::Choice(ROUNDINGS)),
        flag("MODE", "How values are rounded to the cast type").values(&[("rne", "To the nearest, ties to even"), ("stochastic", "Up or down at random")]),
        |s| s.compared.rounding.name().to_owned(), |s, given| { Rounding::from_name(given.text).ok_or_else(|| given.wrong("rne or stochastic")).map(|r| s.compared.rounding = r) }),
    opt(field("tolerance", "Tolerance", "Largest mean relative error that passes: 0.02 is 2 %", "0.02", FieldKind::Line),
        flag("ERROR", "Mean relative error below which an output passes [default: 0.02]; for a model file with --expect, the largest difference of a result divided by the largest expected number [default: 0.0001, 0.02 with --auto-cast]"),
        |s| s.compared.tolerance.to_string(),
        |s, given| { let wanted = "a number above 0, such as 0.02 for 2 %"; let tolerance = given.number(wanted)?; if !(f64::MIN_POSITIVE..=f64::MAX).contains(&tolerance) { return Err(given.wrong(wanted)); } s.compared.tolerance = tolerance; Ok(()) }),
    opt(field("seed", "Seed", "For weights, inputs and stochastic rounding", "0", FieldKind::Line),
        flag("NUMBER", "Seed of weights, inputs and stochastic rounding"),
        |s| s.compared.seed.to_string(), |s, given| given.number("a whole number from 0 to 18446744073709551615").map(|n| s.compared.seed = n)),
];

#[rustfmt::skip]
const RECORDS: &[Row] = &[
    opt(field("dataset", "Data set", "CSV with a line of numbers for each record: what the model reads, and with metrics the right answer. A dropped .csv is put here", "", FieldKind::Source),
        Flag::elsewhere("dataset"),
        |s| s.dataset.clone(), |s, given| dataset(given).map(|text| s.dataset = text)),
    opt(field("eval_metrics", "Metrics", "How good the answers are, on the processor and on the core", "Accuracy, topk_3", FieldKind::Line),
        flag("LIST", "Metrics of the answers to the records: Accuracy,topk_3 (neuronscope evaluate lists them)").list().needs("dataset"),
        |s| comma_list(&s.metrics),
        |s, given| given.each_text(metric).map(|names| s.metrics = names)),
    opt(field("eval_target_col", "Target column", "Name of the column with the right answers", "the last column", FieldKind::Line),
        flag("NAME", "Column with the right answers [default: the last one]").needs("eval_metrics"),
        |s| s.target.clone(), |s, given| { s.target = given.text.to_owned(); Ok(()) }),
    opt(field("answers", "The records are answers", "The outputs of a model that ran elsewhere, with the right answers: metrics judge them, and nothing is computed", "", FieldKind::Flag),
        flag("", "The records are the outputs of a model that ran elsewhere: metrics judge them, as evaluate does, and nothing is computed").needs("eval_metrics"),
        |s| s.is_answered.to_string(), |s, given| given.flag().map(|is_answered| s.is_answered = is_answered)),
];

fn metric(given: OptionText<'_>) -> Result<String, String> {
    find_metric(given.text).map(|_| given.text.to_owned()).map_err(|e| given.called(&e))
}

fn dataset(given: &OptionText<'_>) -> Result<String, String> {
    let text = source(given)?;
    if !text.is_empty() {
        read_records(given.name, text.as_bytes()).map_err(|e| e.to_string())?;
    }
    Ok(text)
}

const COMPILER: &[Row] = &compiler_rows!(|s| s.compared.options);

#[cfg(test)]
mod tests {
    use crate::share::Link;
    use crate::studies::{NumericsStudy, StudySpec};
    use ns_compiler::{AutoCast, CastType, CompileOptions, OptLevel};
    use ns_neuron::numerics::NumericsSpec;
    use ns_tensor::Rounding;

    #[test]
    fn a_comparison_survives_a_link() {
        let spec = NumericsSpec {
            model: "matmult:n=32,loop_count=200,add_bias=false".into(),
            batch_size: Some(4),
            instance: "inf2.xlarge".into(),
            options: CompileOptions {
                auto_cast: AutoCast::All,
                auto_cast_type: CastType::Fp16,
                opt_level: OptLevel::O1,
                lnc: Some(1),
            },
            rounding: Rounding::Stochastic,
            seed: u64::MAX,
            tolerance: 1e-5,
        };
        let study = NumericsStudy {
            compared: spec,
            dataset: "a,b\n1,2\n3,4".into(),
            metrics: vec!["Accuracy".into(), "topk_3".into()],
            target: "b".into(),
            is_answered: true,
        };
        let link = Link::Study(Box::new(StudySpec::Numerics(study)));
        assert_eq!(Link::parse(&link.print()), (link, vec![]));
    }

    #[test]
    fn wrong_values_are_reported_with_their_replacement() {
        let (link, notices) = Link::parse("#/numerics?batch_size=0&rounding=up&tolerance=0&auto_cast=x&seed=7");
        let fields: Vec<_> = notices.iter().map(|n| n.field.as_str()).collect();
        assert_eq!(fields, ["batch_size", "rounding", "tolerance", "auto_cast"]);
        assert!(notices[2].message.ends_with("0.02 is used."), "{notices:?}");
        let compared = NumericsSpec { seed: 7, ..NumericsSpec::default() };
        let study = NumericsStudy { compared, ..NumericsStudy::default() };
        assert_eq!(link, Link::Study(Box::new(StudySpec::Numerics(study))));
    }
}
