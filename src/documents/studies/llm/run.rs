//! The request first, then other batch sizes in its place, then every place where the model fits.

use std::collections::VecDeque;
use std::rc::Rc;

use serde::Serialize;

use super::document::document;
use super::token::token_trace;
use super::traffic::{Served, serve_at};
use crate::studies::{StudyFile, StudyResult, StudyRun, StudyStep};
use ns_base::Refusal;
use ns_fidelity::GenerationReport;
use ns_forms::studies::LlmStudy;
use ns_llm::{KnownTimes, Request, degrees};
use ns_machine::arch::INSTANCES;

/// Batch sizes of the curve.
const BATCHES: [u64; 6] = [1, 2, 4, 8, 16, 32];

/// Batch sizes of each place.
const CURVE_BATCHES: [u64; 8] = [1, 2, 4, 8, 16, 32, 64, 128];

/// What a request is simulated for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestPurpose {
    /// The form's own request.
    Own,
    /// A point of the curve over batch sizes.
    Batch,
    /// A place of the grid.
    Place,
    /// A place with another batch size.
    Curve,
}

pub(super) struct RequestResult {
    pub purpose: RequestPurpose,
    pub request: Request,
    pub report: Result<GenerationReport, Refusal>,
}

struct LlmRun {
    study: Rc<LlmStudy>,
    own: Request,
    waiting: VecDeque<(RequestPurpose, Request)>,
    /// Whether the other batch sizes of the places are made or in line.
    has_curves: bool,
    made: Vec<RequestResult>,
    known: KnownTimes,
    /// The requests of the form's rate.
    served: Option<Served>,
}

/// Begins the study. Fails when the model or the instance is not known.
pub(in crate::studies) fn start(study: LlmStudy) -> Result<Box<dyn StudyRun>, String> {
    let request = study.request().map_err(|e| e.to_string())?;
    Ok(Box::new(LlmRun::new(Rc::new(study), request)))
}

impl LlmRun {
    fn new(study: Rc<LlmStudy>, own: Request) -> Self {
        let mut waiting = VecDeque::from([(RequestPurpose::Own, own.clone())]);
        let is_possible = |request: &Request| request.check().is_ok();
        let batches = BATCHES.into_iter().map(|batch| Request { batch, ..own.clone() });
        waiting.extend(batches.filter(is_possible).map(|request| (RequestPurpose::Batch, request)));
        for instance in INSTANCES {
            let places =
                degrees(instance, own.lnc).into_iter().map(|degree| Request { instance, degree, ..own.clone() });
            waiting.extend(places.filter(is_possible).map(|request| (RequestPurpose::Place, request)));
        }
        Self { study, own, waiting, has_curves: false, made: Vec::new(), known: KnownTimes::default(), served: None }
    }

    /// A request that was simulated already, for another purpose.
    fn same(&self, request: &Request) -> Option<Result<GenerationReport, Refusal>> {
        self.made.iter().find(|made| made.request == *request).map(|made| made.report.clone())
    }

    fn result(&self, is_over: bool) -> Result<StudyResult, String> {
        let document = document(&self.study, &self.own, &self.made, self.served.as_ref(), is_over);
        let files = if is_over { self.files()? } else { Vec::new() };
        Ok(StudyResult { document, files, ..StudyResult::default() })
    }

    /// The output of `neuronscope generate --json`, the median token as a timeline, and the output with `--request-rate`.
    fn files(&self) -> Result<Vec<StudyFile>, String> {
        let Some(RequestResult { report: Ok(report), .. }) = self.made.first() else { return Ok(Vec::new()) };
        let mut files = vec![
            StudyFile::json("generate.json", json(report)?),
            StudyFile::trace("token.json", token_trace(&self.own).map_err(|e| e.to_string())?),
        ];
        if let Some(Ok(report)) = &self.served {
            let label = "JSON of the requests".to_owned();
            files.push(StudyFile { label, ..StudyFile::json("serve.json", json(report)?) });
        }
        Ok(files)
    }
}

fn json(of: &impl Serialize) -> Result<String, String> {
    Ok(serde_json::to_string_pretty(of).map_err(|e| e.to_string())? + "\n")
}

/// The other batch sizes at each place that has a price.
fn curves(made: &[RequestResult]) -> Vec<(RequestPurpose, Request)> {
    let is_priced =
        |m: &&RequestResult| m.purpose == RequestPurpose::Place && m.request.instance.usd_per_hour.is_some();
    let places = made.iter().filter(is_priced).map(|m| &m.request);
    let all = places.flat_map(|place| CURVE_BATCHES.map(|batch| (place.batch, Request { batch, ..place.clone() })));
    let requests = all.filter(|(own, request)| request.batch != *own && request.check().is_ok());
    requests.map(|(_, request)| (RequestPurpose::Curve, request)).collect()
}

impl StudyRun for LlmRun {
    fn step(&mut self, _budget_events: u32) -> Result<StudyStep, String> {
        if self.waiting.is_empty() && !self.has_curves {
            self.has_curves = true;
            self.waiting.extend(curves(&self.made));
        }
        let Some((purpose, request)) = self.waiting.pop_front() else {
            return Ok(StudyStep::Done(Box::new(self.result(true)?)));
        };
        let report = match purpose {
            RequestPurpose::Own => GenerationReport::with_larger_batch(&request, &self.known),
            _ => self.same(&request).unwrap_or_else(|| GenerationReport::of(&request, &self.known)),
        };
        if let (RequestPurpose::Own, Some(traffic), Ok(_)) = (purpose, self.study.traffic(), &report) {
            self.served = Some(serve_at(&request, &traffic));
        }
        self.made.push(RequestResult { purpose, request, report });
        self.more()
    }
}

impl LlmRun {
    /// What is there, and what comes next.
    fn more(&self) -> Result<StudyStep, String> {
        let label = self.waiting.front().map_or_else(String::new, |(_, next)| {
            format!("{} on {} cores of {}, batch {}", next.config.name, next.degree, next.instance.name, next.batch)
        });
        let (done, waiting) = (self.made.len() as u64, self.waiting.len() as u64);
        // The answer itself comes first; charts and the grid follow below it at the end, so that nothing moves while they are made.
        // With limits the answer is one of the places, which are all simulated first.
        let is_answer = self.made.len() == 1 && self.study.limits().is_none();
        let so_far = if is_answer { Some(Box::new(self.result(false)?)) } else { None };
        Ok(StudyStep::More { done, total: done + waiting, label, so_far })
    }
}
