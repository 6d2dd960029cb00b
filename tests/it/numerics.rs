//! Models computed as a NeuronCore would compute them.

use crate::folder::Folder;
use neuronscope::neuron::numerics::{NumericsReport, NumericsSpec, SizeLimits};
use neuronscope::session::protocol::wire::{Decoder, Encoder, decode_event, encode_event};
use neuronscope::session::studies::{NumericsStudy, StudyReports, StudyResult, StudySpec};
use neuronscope::session::{
    AutoCast, CastType, CompileOptions, Event, JobId, JobRequest, JobResult, Message, OptLevel, Request, Rounding,
    Session, StepResult,
};
use neuronscope::view::terminal::document;

fn options(auto_cast: AutoCast, auto_cast_type: CastType) -> CompileOptions {
    CompileOptions { auto_cast, auto_cast_type, ..CompileOptions::default() }
}

fn spec(model: &str) -> NumericsSpec {
    NumericsSpec { model: model.to_owned(), ..NumericsSpec::default() }
}

fn run(spec: NumericsSpec) -> Result<NumericsReport, String> {
    match study(spec)?.reports {
        StudyReports::Numerics(report) => Ok(*report),
        other => panic!("{other:?}"),
    }
}

fn study(spec: NumericsSpec) -> Result<StudyResult, String> {
    let study = NumericsStudy { compared: spec, ..NumericsStudy::default() };
    let mut session = Session::new();
    session
        .handle(Request::new(JobId(1), JobRequest::Study(Box::new(StudySpec::Numerics(study)), String::new())), None);
    let mut result = Err("no answer".to_owned());
    let mut answer = |event| match event {
        Event::Message(_, Message::Done(JobResult::Study(study))) => result = Ok(*study),
        Event::Message(_, Message::Failed(message)) => result = Err(message),
        Event::Message(_, Message::Progress { .. }) => {}
        other => panic!("{other:?}"),
    };
    while session.step(1_000, &mut answer) != StepResult::Idle {}
    result
}

fn error_of(spec: NumericsSpec) -> f64 {
    let report = run(spec).unwrap();
    report.outputs.iter().map(|o| o.mean_relative_error.unwrap()).fold(0.0, f64::max)
}

#[test]
fn the_tutorials_network_differs_as_the_tutorial_shows() {
    let report = run(spec("nn")).unwrap();
    let output = &report.outputs[0];
    assert_eq!((report.status.as_str(), output.shape.as_str()), ("PASS", "f32[4,2]"));
    assert_eq!((output.sample.reference.len(), output.sample.device.len()), (8, 8));
    // The tutorial's outputs differ by up to 6e-4.
    let largest = output.max_abs_error.unwrap();
    assert!((1e-5..2e-3).contains(&largest), "{largest}");
}

#[test]
fn without_a_cast_a_short_product_has_the_bits_of_the_reference() {
    // Up to 128 contracted elements are one pass of the array, whose sum is that of the reference.
    for model in ["nn", "matmult:n=96,loop_count=5"] {
        let report = run(NumericsSpec { options: options(AutoCast::None, CastType::Bf16), ..spec(model) }).unwrap();
        assert_eq!(report.outputs[0].max_abs_error, Some(0.0), "{model}");
    }
    let error = error_of(NumericsSpec { options: options(AutoCast::None, CastType::Bf16), ..spec("mlp") });
    assert!(error > 0.0 && error < 1e-4, "784 elements are seven passes: {error}");
}

#[test]
fn narrower_casts_lose_more() {
    let error = |cast, to| error_of(NumericsSpec { options: options(cast, to), ..spec("mlp:hidden1=256,hidden2=128") });
    let matmult = CastType::ALL.map(|to| error(AutoCast::Matmult, to));
    let [bf16, fp16, tf32, fp8] = matmult;
    assert!(tf32 <= fp16 && fp16 < bf16 && bf16 < fp8, "{matmult:?}");
    assert!(error(AutoCast::All, CastType::Bf16) > bf16);
    assert!(error(AutoCast::None, CastType::Bf16) < tf32);
}

#[test]
fn stochastic_rounding_is_of_its_seed_and_worse_than_the_nearest_for_one_product() {
    let with = |seed| NumericsSpec { rounding: Rounding::Stochastic, seed, ..spec("nn") };
    assert_eq!(run(with(3)).unwrap(), run(with(3)).unwrap());
    assert_ne!(run(with(3)).unwrap().outputs, run(NumericsSpec { seed: 3, ..spec("nn") }).unwrap().outputs);
    assert_eq!(run(with(3)).unwrap().status, "PASS");
}

#[test]
fn a_chain_without_a_bias_goes_nan_and_with_one_it_does_not() {
    let chain = |bias: bool| run(spec(&format!("matmult:n=32,loop_count=200,add_bias={bias},normalize=true"))).unwrap();
    let with = chain(true);
    assert_eq!((with.status.as_str(), &with.first_nan, &with.first_inf), ("PASS", &None, &None));
    let without = chain(false);
    assert_eq!(without.status, "FAIL");
    assert_eq!(without.outputs[0].nan, 1);
    let path =
        |o: &Option<neuronscope::neuron::numerics::Origin>| o.as_ref().map(|o| (o.path.clone(), o.opcode.clone()));
    let text = |a: &str, b: &str| Some((a.to_owned(), b.to_owned()));
    assert_eq!(path(&without.first_underflow), text("Matmult[model]/Linear[matmult]/aten__mm_dot", "dot"));
    assert_eq!(path(&without.first_inf), text("Matmult[model]/LlamaRMSNorm[norm]/aten__rsqrt_rsqrt", "rsqrt"));
    assert_eq!(path(&without.first_nan), text("Matmult[model]/LlamaRMSNorm[norm]/aten__mul_multiply", "multiply"));
    assert_eq!(path(&without.reference_nan), path(&without.first_nan));
    assert!(without.notes.iter().any(|n| n.contains("a bias in each layer keeps values from vanishing")));
}

#[test]
fn fusion_does_not_change_a_value() {
    let at = |opt_level| {
        let options = CompileOptions { opt_level, ..CompileOptions::default() };
        run(NumericsSpec { options, ..spec("mlp:hidden1=300,hidden2=64") }).unwrap()
    };
    let (plain, fused) = (at(OptLevel::O1), at(OptLevel::O2));
    assert_eq!(plain.outputs[0].sample, fused.outputs[0].sample);
    assert_eq!(plain.status, "PASS");
}

#[test]
fn uncomputable_comparisons_have_a_reason() {
    let message = |spec| run(spec).unwrap_err();
    let large = message(NumericsSpec { batch_size: Some(8), ..spec("bert-large-uncased") });
    assert!(large.contains("takes 63") && large.contains(&SizeLimits::NATIVE.mflop.to_string()), "{large}");
    let base = NumericsSpec::default();
    assert!(message(spec("nosuch")).contains("unknown model"));
    assert!(message(NumericsSpec { instance: "trn9".into(), ..base.clone() }).contains("'trn9'"));
    let fp8 = options(AutoCast::Matmult, CastType::Fp8E4m3);
    let on_v1 = message(NumericsSpec { instance: "inf1.xlarge".into(), options: fp8, ..base.clone() });
    assert!(on_v1.contains("NeuronCore-v1") && on_v1.contains("fp8_e4m3"), "{on_v1}");
    let stochastic = NumericsSpec { instance: "inf1.xlarge".into(), rounding: Rounding::Stochastic, ..base.clone() };
    assert!(message(stochastic).contains("--rounding stochastic"));
    for tolerance in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(message(NumericsSpec { tolerance, ..base.clone() }).contains("tolerance"));
    }
    assert!(message(NumericsSpec { batch_size: Some(0), ..base }).contains("batch size 0"));
}

#[test]
fn a_result_travels_as_bytes_and_its_report_as_json() {
    let result = study(spec("matmult:n=16,loop_count=300,add_bias=false,normalize=true")).unwrap();
    let event = Event::Message(JobId(7), Message::Done(JobResult::Study(Box::new(result.clone()))));
    let bytes = encode_event(event, Encoder::<Message>::STUDIES).unwrap();
    let Ok(Event::Message(_, Message::Done(JobResult::Study(back)))) = decode_event(&bytes, Decoder::<Message>::ALL)
    else {
        panic!("is numerics")
    };
    // NaN is no equal of itself.
    assert_eq!(document(&back.document), document(&result.document));
    assert_eq!(back.files, result.files);
    let StudyReports::Numerics(report) = result.reports else { panic!("is numerics") };
    // JSON has no NaN: such values are null.
    let json: serde_json::Value = serde_json::to_value(&report).unwrap();
    assert_eq!(json["outputs"][0]["sample"]["device"][0], serde_json::Value::Null);
    assert_eq!(json["spec"]["options"]["auto_cast"], "matmult");
    assert_eq!(json["outputs"][0]["mean_relative_error"], serde_json::Value::Null);
}

/// Records of the network of the tutorial, 16 values and a label each.
fn records() -> String {
    let line =
        |n: u32| (0..16).map(|i| (f64::from((i * 7 + n * 3) % 11) / 4.0).to_string()).collect::<Vec<_>>().join(",");
    format!("{},0\n{},1\n", line(0), line(1))
}

#[test]
fn records_are_judged_on_both_sides_as_a_benchmark_judges_them() {
    let f = Folder::new("numerics-records");
    f.write("records.csv", records());
    let of = |command: &str| -> serde_json::Value { serde_json::from_str(&f.stdout(command)).unwrap() };
    let judged = of("neuronscope numerics --dataset records.csv --eval-metrics Accuracy,topk_8 --tolerance 1 --json");
    assert_eq!(judged["outputs"][0]["shape"], "f32[2,8]");
    let bench = "neuronscope bench --n-models 1 --workers-per-model 1 --dataset records.csv --eval-metrics Accuracy,topk_8 --json";
    let bench = of(bench);
    for (at, name) in ["Accuracy", "topk_8"].into_iter().enumerate() {
        let metric = &judged["metrics"][at];
        assert_eq!((&metric["metric"], &metric["device"]), (&name.into(), &bench["eval_metrics"][name]), "{bench}");
        assert!((0.0..=1.0).contains(&metric["reference"].as_f64().unwrap()), "{metric}");
    }
    for (wrong, said) in [
        ("--eval-metrics Speed --dataset records.csv", "--eval-metrics: unknown metric 'Speed'"),
        ("--dataset records.csv", "dataset: a record has 17 values, nn takes 4x4 of batch size 1"),
        (
            "--dataset records.csv --eval-metrics Accuracy --rounding stochastic",
            "--rounding: values of a data set are always",
        ),
        ("--dataset records.csv --eval-metrics Accuracy --batch-size 2", "--batch-size: each record"),
        ("--dataset missing.csv", "missing.csv"),
    ] {
        let stderr = f.stderr(&format!("neuronscope numerics {wrong}"));
        assert!(stderr.contains(said), "{wrong}: {stderr}");
    }
}
