//! The same question gets the same answer everywhere: what limits an execution, and how much a change can save.

use std::sync::OnceLock;

use neuronscope::compiler::Workflow;
use neuronscope::insight::{Insights, Resource, Rule};
use neuronscope::session::{
    AnalysisRequest, Answer, Event, JobId, JobRequest, Message, ProfileKey, ProfileQuestion, ProfileSpec, Question,
    Reply, Request, Session, StepResult,
};
use neuronscope::view::document::{Block, Document, Ranked, Tile};

/// Models with different limits, the instances, and the batch sizes.
const MODELS: &[&str] = &["nn", "bert-base-uncased", "resnet50", "google/vit-base-patch16-224", "mlp"];
const INSTANCES: &[&str] = &["inf2.xlarge", "trn1.2xlarge"];
const BATCH_SIZES: &[u32] = &[1, 8];

/// Everything that the page and the command line say about one execution.
struct Answers {
    insights: Insights,
    overview: Document,
    sentences: Vec<String>,
}

fn reply(session: &mut Session, request: Request) -> Option<Reply> {
    session.handle(request, None);
    let mut reply = None;
    let mut take = |event| {
        if let Event::Message(_, Message::Answer(answer)) = event {
            reply = Some(answer);
        }
    };
    while session.step(1_000_000, &mut take) == StepResult::More {}
    reply
}

fn answers(model: &str, instance: &str, batch_size: u32) -> Answers {
    let mut session = Session::new();
    let (model, instance, batch_size) = (model.to_owned(), instance.to_owned(), Some(batch_size));
    let spec = ProfileSpec { model, instance, batch_size, workflow: Workflow::Trace, ..ProfileSpec::default() };
    reply(&mut session, Request::new(JobId(1), JobRequest::Profile(spec)));
    let mut ask = |question: Question| {
        let request = AnalysisRequest::Analyse(question).of(ProfileKey(0));
        match reply(&mut session, Request::new(JobId(2), request)) {
            Some(Reply::Analysed(answer)) => *answer,
            other => panic!("{other:?}"),
        }
    };
    let Answer::Overview(overview) = ask(Question::Overview) else { panic!("an overview") };
    let Answer::Sentences(sentences) = ask(Question::Sentences) else { panic!("sentences") };
    let sentences = sentences.into_iter().map(|s| s.text).collect();
    let summary = reply(&mut session, Request::new(JobId(3), ProfileQuestion::Summary.of(ProfileKey(0))));
    let Some(Reply::Summary(Some(insights))) = summary else { panic!("a simulated execution has a summary") };
    Answers { insights: *insights, overview, sentences }
}

fn tile(document: &Document, name: &str) -> Tile {
    let tiles = document.blocks.iter().filter_map(|b| if let Block::Tiles(t) = b { Some(t) } else { None }).flatten();
    tiles.into_iter().find(|t| t.name == name).unwrap_or_else(|| panic!("no tile {name}")).clone()
}

fn ranked(document: &Document) -> Vec<Ranked> {
    let ranked = document.blocks.iter().find_map(|b| if let Block::Ranked { all, .. } = b { Some(all) } else { None });
    ranked.cloned().unwrap_or_default()
}

/// Asks each combination once, and calls `check` with its name and its answers.
fn each(check: impl Fn(&str, &Answers)) {
    static ALL: OnceLock<Vec<(String, Answers)>> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        let on = |model| INSTANCES.iter().flat_map(move |i| BATCH_SIZES.iter().map(move |b| (model, *i, *b)));
        let named = |(model, instance, batch)| {
            (format!("{model} on {instance} at batch {batch}"), answers(model, instance, batch))
        };
        MODELS.iter().copied().flat_map(on).map(named).collect()
    });
    all.iter().for_each(|(name, answers)| check(name, answers));
}

#[test]
fn overview_metrics_findings_and_bounds_name_one_limiter() {
    each(|name, a| {
        let (limiter, bounds) = (&a.insights.limiter, &a.insights.bounds);
        let first = limiter.first().unwrap();
        let sentence = limiter.sentence().unwrap();
        assert_eq!(tile(&a.overview, "Limited by").value, first.resource.name(), "{name}");
        assert!(a.sentences.contains(&sentence), "{name}: {:?}", a.sentences);
        let finding = a.insights.findings.iter().find(|f| f.rule == Rule::LimitingUnit).unwrap();
        assert_eq!(finding.title, sentence, "{name}");
        // The times of the metrics are the same times, in seconds.
        let summary = &a.insights.summary;
        let metric = |resource| match resource {
            Resource::Dma => summary.dma_active_time,
            Resource::Tensor => summary.tensor_engine_active_time,
            Resource::Vector => summary.vector_engine_active_time,
            Resource::Scalar => summary.scalar_engine_active_time,
            Resource::GpSimd => summary.gpsimd_engine_active_time,
        };
        for unit in &limiter.resources {
            assert_eq!(unit.busy_ns as f64 / 1e9, metric(unit.resource), "{name}: {:?}", unit.resource);
        }
        let pipeline = bounds.bounds.iter().find(|b| b.name == "perfect_pipeline").unwrap();
        assert_eq!(
            (pipeline.seconds, pipeline.then.as_str()),
            (first.busy_ns as f64 / 1e9, first.resource.name()),
            "{name}"
        );
    });
}

#[test]
fn no_saving_is_above_what_the_other_units_allow() {
    each(|name, a| {
        let limiter = &a.insights.limiter;
        let first = limiter.first().unwrap();
        for finding in &a.insights.findings {
            assert!(
                finding.saves_ns.unwrap_or(0) <= limiter.window_ns.min(finding.time_ns),
                "{name}: {}",
                finding.title
            );
        }
        for finding in ranked(&a.overview) {
            assert!(finding.share <= 1.0, "{name}: {}", finding.title);
            // A single operator leaves the limiting unit as busy as its other operators keep it.
            let is_of_limiter = finding.title.contains("limits the execution");
            let is_of_another =
                limiter.share(first.busy_ns) > 99.0 && first.resource == Resource::Dma && !is_of_limiter;
            assert!(!is_of_another || finding.share < 0.02, "{name}: {}: {}", finding.title, finding.saving);
        }
    });
}

#[test]
fn the_parts_of_the_bar_are_the_window() {
    each(|name, a| {
        let shares =
            a.overview.blocks.iter().find_map(|b| if let Block::Shares(s) = b { Some(s) } else { None }).unwrap();
        let sum: f64 = shares.parts.iter().map(|p| p.share).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{name}: {sum}");
        assert_eq!(shares.parts[0].name, tile(&a.overview, "Limited by").value, "{name}");
    });
}
