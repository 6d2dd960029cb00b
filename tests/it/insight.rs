//! Findings about real executions: the tutorial's conclusions, the published rates, and no finding where nothing is wrong.

use neuronscope::base::SimTime;
use neuronscope::capture::{Recorder, build_profile, run_of};
use neuronscope::compiler::{AutoCast, CastType, CompileOptions, OptLevel, Workflow, codegen, lower, passes};
use neuronscope::device::Device;
use neuronscope::insight::{Effect, Finding, Insights, Resource, Rule};
use neuronscope::machine::Executable;
use neuronscope::machine::arch::{INSTANCES, core_data, features};
use neuronscope::machine::cost::{CostTable, Gains, Limit};
use neuronscope::model::ModelSpec;
use neuronscope::neuron::sim::simulate;
use neuronscope::profile::Profile;
use neuronscope::session::{
    AnalysisRequest, Answer, Ask, Control, Event, ExportKind, JobId, JobRequest, Message, ProfileKey, ProfileQuestion,
    ProfileSpec, Question, Reply, Request, Session, StepResult,
};

const MODELS: [&str; 5] = [
    "nn",
    "mlp:hidden1=256,hidden2=128",
    "matmult:n=256,loop_count=3,add_bias=true",
    "matmult:n=1536,loop_count=2",
    "mlp",
];

fn compile(model: &str, workflow: Workflow) -> Executable {
    let spec: ModelSpec = model.parse().unwrap();
    let graph = spec.trace(spec.info().default_batch_size).unwrap();
    let (module, _) = passes::optimize(lower(&graph, workflow).unwrap()).unwrap();
    codegen::generate(&module, &CostTable::neuroncore_v2()).unwrap()
}

fn analyse(model: &str, workflow: Workflow) -> (Insights, Profile, u64) {
    let executable = compile(model, workflow);
    let costs = CostTable::neuroncore_v2();
    let mut recorder = Recorder::default();
    simulate(&executable, &costs, &mut recorder).unwrap();
    let insights = Insights::of(&run_of(&executable, &recorder, &costs, workflow), &costs.core);
    let captured = build_profile(&executable, &recorder, &costs, workflow, model.into());
    (insights, captured.profile, captured.device_window_ns)
}

fn insights(model: &str, workflow: Workflow) -> Insights {
    analyse(model, workflow).0
}

fn rules(insights: &Insights) -> Vec<Rule> {
    insights.findings.iter().map(|f| f.rule).collect()
}

fn finding(insights: &Insights, rule: Rule) -> &Finding {
    insights.findings.iter().find(|f| f.rule == rule).unwrap_or_else(|| panic!("no {rule:?}: {:?}", rules(insights)))
}

fn limit(insights: &Insights) -> Option<Resource> {
    insights.limiter.dominant().map(|r| r.resource)
}

fn within(percent: f64, predicted: f64, published: f64) {
    let off = (predicted / published - 1.0) * 100.0;
    assert!(off.abs() <= percent, "{predicted} is {off:.1} % off the published {published}");
}

#[test]
fn the_tutorials_conclusions_hold_for_its_model() {
    let lazy = insights("nn", Workflow::MarkStep);
    let traced = insights("nn", Workflow::Trace);
    for i in [&lazy, &traced] {
        assert_eq!(i.findings[0].rule, Rule::LimitingUnit);
        assert_eq!(limit(i), Some(Resource::Dma), "the majority of the time is data transfer");
        let zeros = finding(i, Rule::ConstantsSetEarly);
        assert!(zeros.title.contains("NN[model]/ReLU[nl1]/Tensor_1/aten__relu_maximum"), "{}", zeros.title);
        assert_eq!(finding(i, Rule::OverlapSavesTime).effect, Effect::Saving);
    }
    let tanh = "NN[model]/Tanh[nl2]/aten__tanh_tanh";
    let inputs = finding(&lazy, Rule::InputsInStep);
    assert!(inputs.slices.iter().all(|s| s.path == "NN[model]/input"), "{:?}", inputs.slices);
    assert!(finding(&lazy, Rule::TableLoadedLate).title.contains(tanh));
    assert!(!rules(&lazy).contains(&Rule::TablePreloaded));
    let preloaded = finding(&traced, Rule::TablePreloaded);
    let beside = format!("{tanh} is loaded beside the weights of NN[model]/Linear[layer1]");
    assert!(preloaded.title.contains(&beside), "{}", preloaded.title);
    for absent in [Rule::InputsInStep, Rule::TableLoadedLate] {
        assert!(!rules(&traced).contains(&absent), "{absent:?}");
    }
    for i in [&lazy, &traced] {
        for absent in [Rule::Spills, Rule::Transposes, Rule::UnfusedElementwise] {
            assert!(!rules(i).contains(&absent), "{absent:?}");
        }
    }
}

#[test]
fn the_element_wise_custom_relu_is_the_first_finding() {
    let mut mlp = insights("mlp", Workflow::Trace);
    let total = SimTime::from_ns((mlp.summary.total_time * 1e9) as u64);
    let without = |limit| Ok::<_, ()>(if limit == Limit::GpSimd { SimTime::ZERO } else { total });
    mlp.set_limits(Gains::of(total, without).unwrap());
    let first = &mlp.findings[0];
    assert_eq!((first.rule, limit(&mlp)), (Rule::LimitingUnit, Some(Resource::GpSimd)));
    assert!(first.detail.contains("TCM"), "{}", first.detail);
    assert!(
        first.evidence.iter().any(|e| e.unit.symbol() == "%" && e.text().starts_with("99.")),
        "{:?}",
        first.evidence
    );
    assert!(first.slices.iter().all(|s| s.row == "GpSimd"));
    // The engines that have nothing to do are not named as idle.
    assert!(!rules(&mlp).contains(&Rule::EngineWaits));
}

#[test]
fn the_chained_microbenchmark_has_its_published_rate_and_no_finding_about_data() {
    let m = insights("matmult:n=1024,loop_count=1000,add_bias=true", Workflow::Trace);
    within(5.0, m.summary.tflops.unwrap(), 77.6);
    within(5.0, m.summary.ns_per_layer.unwrap(), 27_700.0);
    assert_eq!(m.summary.dot_count, 1_000);
    assert_eq!(m.summary.model_flops, Some(2 * 1024 * 1024 * 1024 * 1000));
    assert!(m.summary.mfu_estimated_percent.unwrap() > 80.0);
    assert_eq!(limit(&m), Some(Resource::Tensor));
    for absent in [Rule::SmallTransfers, Rule::Transposes, Rule::EngineWaits, Rule::Spills] {
        assert!(!rules(&m).contains(&absent), "{absent:?}: {:?}", rules(&m));
    }
}

/// The device table and arithmetic by hand, independent of the product's code.
#[test]
fn every_instance_is_measured_against_its_published_peaks() {
    let (n, layers) = (256.0, 4.0);
    for instance in INSTANCES {
        let Ok(device) = Device::of_instance(instance.name) else { continue };
        let executable = device.compile("matmult:n=256,loop_count=4", None, Workflow::Trace).unwrap();
        let mut recorder = Recorder::default();
        simulate(&executable, &device.costs, &mut recorder).unwrap();
        let i = Insights::of(&run_of(&executable, &recorder, &device.costs, Workflow::Trace), &device.costs.core);

        let data = core_data(instance.core_version).unwrap();
        let figure = |name: &str| data.figure(name).and_then(|f| f.value).unwrap();
        let logical = f64::from(features(instance.core_version).unwrap().default_lnc);
        let flops_peak = logical * 128.0 * 128.0 * 2.0 * figure("tensor_mhz") * 1e6;
        let bytes_peak = logical * figure("hbm_bytes_per_us") * 1e6;
        let near = |what: &str, is: f64, expected: f64| {
            assert!((is / expected - 1.0).abs() < 1e-9, "{}: {what} is {is}, not {expected}", instance.name);
        };
        let s = &i.summary;
        near("peak", i.roofline.peak_flops_per_s, flops_peak);
        near("peak bandwidth", i.roofline.peak_bytes_per_s, bytes_peak);
        near("ridge", s.peak_flops_bandwidth_ratio, flops_peak / bytes_peak);
        let model_flops = 2.0 * n * n * n * layers;
        let reached = i.roofline.points[0].flops_per_s / i.roofline.peak_flops_per_s * 100.0;
        near("roofline", s.mfu_inst_estimated_percent, reached);
        near("MFU", s.mfu_estimated_percent.unwrap(), model_flops / (flops_peak * s.total_time) * 100.0);
        near("HFU", s.hfu_estimated_percent, s.hardware_flops as f64 / (flops_peak * s.total_time) * 100.0);
        let bytes = (s.hbm_read_bytes + s.hbm_write_bytes) as f64;
        near("MBU", s.mbu_estimated_percent, bytes / (bytes_peak * s.total_time) * 100.0);
        near(
            "ideal time of the products",
            i.bounds.seconds("compute_bound_ideal_flops").unwrap(),
            s.hardware_flops as f64 / flops_peak,
        );
        // The documents round a core's peak to whole TFLOPS.
        let published = logical * figure("bf16_tflops") * 1e12;
        assert!((flops_peak / published - 1.0).abs() < 0.01, "{}: {flops_peak} is not {published}", instance.name);
    }
}

#[test]
fn metrics_and_bounds_are_consistent_for_any_model() {
    for model in MODELS {
        for workflow in Workflow::ALL {
            let (i, _, window_ns) = analyse(model, workflow);
            let s = &i.summary;
            assert_eq!(s.total_exec_time, window_ns as f64 / 1e9, "{model}");
            assert!(s.total_active_time <= s.total_exec_time && s.total_exec_time < s.total_time, "{model}");
            for m in s.metrics().iter().filter(|m| m.name.ends_with("_percent")) {
                let neuronscope::insight::MetricValue::Real(x) = m.value else { panic!("{}", m.name) };
                assert!((0.0..=100.0).contains(&x), "{model}: {} is {x}", m.name);
            }
            // The array runs the model's products, tile by tile, and transposes.
            assert!(s.hardware_flops - s.transpose_flops >= s.model_flops.unwrap(), "{model}");
            let seconds = |name: &str| i.bounds.seconds(name).unwrap();
            let chain = ["memory_bound", "memory_bound_ideal", "memory_bound_ideal_no_reloads"];
            assert!(chain.windows(2).all(|w| seconds(w[0]) >= seconds(w[1])), "{model}: {:?}", i.bounds);
            let chain = ["compute_bound", "compute_bound_ideal_flops", "compute_bound_ideal_useful_flops"];
            assert!(chain.windows(2).all(|w| seconds(w[0]) >= seconds(w[1])), "{model}: {:?}", i.bounds);
            assert!(seconds("perfect_pipeline") <= s.total_exec_time, "{model}");
            for p in &i.roofline.points {
                assert!(p.flops_per_s <= p.attainable_flops_per_s, "{model}: {p:?} is above the roof");
            }
            for row in &i.utilisation.rows {
                assert!(row.busy_percent.iter().all(|b| (0.0..=100.0).contains(b)), "{model}: {row:?}");
            }
        }
    }
}

#[test]
fn every_slice_of_a_finding_is_on_the_timeline() {
    for model in MODELS {
        let (i, profile, _) = analyse(model, Workflow::MarkStep);
        let slices = profile.slices();
        for f in &i.findings {
            assert!(!f.slices.is_empty() && !f.evidence.is_empty(), "{model}: {f:?}");
            for s in &f.slices {
                let found = slices.ids().any(|id| {
                    profile.str(profile.tracks()[slices.track(id)].name) == s.row
                        && (slices.start(id).0, slices.start(id).0 + slices.dur_ns(id)) == (s.start_ns, s.end_ns)
                        && profile.args().get(slices.args(id)).contains(&s.path)
                });
                assert!(found, "{model}: {:?} names {s:?}, which is not on the timeline", f.rule);
            }
        }
    }
}

#[test]
fn an_analysis_survives_the_way_to_the_page() {
    let mut insights = insights("nn", Workflow::MarkStep);
    // Slices of units stay with the worker, which chooses those of a finding.
    insights.limiter.resources.iter_mut().for_each(|unit| unit.longest.clear());
    let bytes = postcard::to_allocvec(&insights).unwrap();
    assert_eq!(postcard::from_bytes::<Insights>(&bytes).unwrap(), insights);
}

/// Everything that a session answers to one request.
fn ask(session: &mut Session, request: Request, file: Option<&str>) -> Vec<Event> {
    let source = file.map(|text| Box::new(Vec::from(text)) as Box<dyn neuronscope::session::ByteSource>);
    session.handle(request, source);
    let mut events = Vec::new();
    while session.step(100_000, &mut |e| events.push(e)) == StepResult::More {}
    events
}

fn summary(profile: ProfileKey) -> Ask {
    AnalysisRequest::Analyse(Question::Summary).of(profile)
}

fn progress_label(event: &Event) -> Option<&str> {
    match event {
        Event::Message(_, Message::Progress { label, .. }) => Some(label),
        _ => None,
    }
}

#[test]
fn a_session_answers_for_executions_and_says_so_for_files() {
    let mut session = Session::new();
    let (job, profile) = (JobId(1), ProfileKey(0));
    let spec = ProfileSpec { workflow: Workflow::Trace, ..ProfileSpec::default() };
    ask(&mut session, Request::new(job, JobRequest::Profile(spec)), None);
    let mut answer = ask(&mut session, Request::new(job, summary(profile)), None);
    let labels: Vec<&str> = answer.iter().filter_map(progress_label).collect();
    assert_eq!(labels[0], "Simulates without: tensor engine, 1 of 11");
    assert!(labels.contains(&"Simulates without: DMA issue, 6 of 11"), "{labels:?}");
    let Some(Event::Message(_, Message::Answer(Reply::Analysed(found)))) = answer.pop() else { panic!("no summary") };
    let Answer::Summary(Some(found)) = *found else { panic!("no summary") };
    assert!(
        found.limits.as_ref().is_some_and(|limits| limits.bound.as_deref() == Some("launch")),
        "{:?}",
        found.limits
    );
    let mut same = insights("nn", Workflow::Trace);
    same.set_limits(found.limits.clone().unwrap());
    assert_eq!(*found, same);

    let trace = r#"[{"name": "a", "ph": "X", "ts": 0, "dur": 1, "pid": 1, "tid": 1}]"#;
    ask(
        &mut session,
        Request::new(job, JobRequest::Open { name: "t.json".to_owned(), size: trace.len() as u64 }),
        Some(trace),
    );
    let profile = ProfileKey(1);
    let answer = ask(&mut session, Request::new(job, summary(profile)), None);
    assert_eq!(answer, [Event::Message(job, Message::Answer(Reply::Analysed(Box::new(Answer::Summary(None)))))]);
    let refused = ask(
        &mut session,
        Request::new(job, ProfileQuestion::Export { kind: ExportKind::SummaryJson, marks: Vec::new() }.of(profile)),
        None,
    );
    let [Event::Message(_, Message::Failed(message))] = &refused[..] else { panic!("{refused:?}") };
    assert!(message.starts_with("t.json: ") && message.contains("simulated"), "{message}");
}

/// What limits cost is computed behind the first view, in steps that end when nobody waits for them, and go on when somebody asks again.
#[test]
fn the_first_view_does_not_wait_for_the_costs_of_limits() {
    let mut session = Session::new();
    let spec = ProfileSpec { model: "resnet50".to_owned(), ..ProfileSpec::default() };
    ask(&mut session, Request::new(JobId(1), JobRequest::Profile(spec)), None);
    let overview = |job, question| Request::new(JobId(job), AnalysisRequest::Analyse(question).of(ProfileKey(0)));
    let is_open = |message: &Message| format!("{message:?}").contains("being computed");
    session.handle(overview(2, Question::FirstOverview), None);
    session.handle(overview(3, Question::Overview), None);
    let mut events = Vec::new();
    while !events.iter().any(|event| matches!(event, Event::Message(JobId(3), Message::Progress { done: 2, .. }))) {
        session.step(1_000, &mut |event| events.push(event));
    }
    let first =
        events.iter().position(|event| matches!(event, Event::Message(JobId(2), m) if m.is_last() && is_open(m)));
    assert!(first.is_some_and(|at| events[..at].iter().all(|event| matches!(event, Event::Message(JobId(2), _)))));
    session.handle(Request::Control(Control::Cancel(JobId(3))), None);
    let mut events = Vec::new();
    while session.step(1_000, &mut |event| events.push(event)) == StepResult::More {}
    assert_eq!(events, [Event::Message(JobId(3), Message::Cancelled)]);
    let events = ask(&mut session, overview(4, Question::Overview), None);
    let [Event::Message(_, Message::Progress { done, total, .. }), .., Event::Message(_, last)] = &events[..] else {
        panic!("{events:?}")
    };
    assert!((2..=3).contains(done) && *total == Limit::ALL.len() as u64, "{done} of {total}");
    assert!(last.is_last() && !is_open(last));
    let again = ask(&mut session, overview(5, Question::FirstOverview), None);
    assert!(again.iter().all(|event| matches!(event, Event::Message(_, message) if !is_open(message))));
}

/// A summary of a profile of the command line: the values that no configuration may break.
#[test]
fn shares_of_a_peak_stay_below_it_and_the_parts_add_up() {
    let models = ["nn", "mlp", "matmult:n=512,loop_count=2", "matmult:n=1024,loop_count=1", "resnet18:image=64"];
    let mut rng = neuronscope::base::Rng::new(7, 0);
    let mut choose = |n: usize| (rng.next_u32() as usize) % n;
    for _ in 0..120 {
        let instance = ["inf2.xlarge", "trn1.2xlarge", "trn2.48xlarge", "trn3-ultraserver-gen1"][choose(4)];
        let options = CompileOptions {
            auto_cast: AutoCast::ALL[choose(3)],
            auto_cast_type: CastType::ALL[choose(4)],
            opt_level: OptLevel::ALL[choose(3)],
            lnc: None,
        };
        let workflow = [Workflow::Trace, Workflow::MarkStep][choose(2)];
        let (model, batch) = (models[choose(models.len())], [None, Some(4)][choose(2)]);
        let device = Device::new(instance, options).unwrap();
        let Ok(executable) = device.compile(model, batch, workflow) else { continue };
        let mut recorder = Recorder::default();
        simulate(&executable, &device.costs, &mut recorder).unwrap();
        let run = run_of(&executable, &recorder, &device.costs, workflow);
        let insights = Insights::of(&run, &device.costs.core);
        let (s, at) = (&insights.summary, format!("{model} {batch:?} on {instance}, {options}, {workflow}"));
        let below = |share: f64, what: &str| assert!(share <= 100.0 + 1e-9, "{at}: {what} {share}");
        below(s.mfu_estimated_percent.unwrap(), "MFU");
        below(s.hfu_estimated_percent, "HFU");
        below(s.mbu_estimated_percent, "MBU");
        assert!(s.mbu_min_read_util_percent.unwrap() <= s.mbu_estimated_percent, "{at}");
        for point in &insights.roofline.points[..1] {
            assert!(point.flops_per_s <= point.attainable_flops_per_s * (1.0 + 1e-9), "{at}: {point:?}");
        }
        let ideal = insights.bounds.seconds("compute_bound_ideal_flops").unwrap();
        assert!(ideal <= s.total_time, "{at}: {ideal} {}", s.total_time);
        let queues = s.input_queue_bytes + s.output_queue_bytes + s.weight_queue_bytes;
        assert_eq!(
            queues + s.custom_queue_bytes + s.spill_save_bytes + s.spill_reload_bytes,
            s.dma_transfer_total_bytes,
            "{at}"
        );
    }
}
