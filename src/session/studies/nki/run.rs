//! The cases one after another: each is recorded, then simulated.

use std::collections::VecDeque;
use std::rc::Rc;

use super::document::document;
use super::spec::{MOST_CASES, NkiStudy};
use crate::recorder::Recorder;
use crate::studies::run::{StudyFile, StudyResult, StudyRun, StudyStep};
use ns_base::Refusal;
use ns_capture::{Recorder as Spans, build_profile};
use ns_compiler::Workflow;
use ns_formats::WriteFormat;
use ns_neuron::sim::simulate;
use ns_nki::{Answer, List, Ranked, Ranking, Settings, Setup, WITH_LIMITS, answer, executable_of};
use ns_profile::Profile;

struct NkiStudyRun {
    study: NkiStudy,
    setup: Setup,
    recorder: Option<Rc<dyn Recorder>>,
    waiting: VecDeque<Settings>,
    current: Option<Settings>,
    finished: Vec<Ranked>,
    /// The list of the fastest case so far, or of the first.
    best: Option<(f64, List)>,
}

impl NkiStudy {
    /// Begins the study. Fails when the settings cannot be read, or the instance runs no kernels.
    pub(in crate::studies) fn start(self, recorder: Option<Rc<dyn Recorder>>) -> Result<Box<dyn StudyRun>, String> {
        let waiting: VecDeque<Settings> = self.cases(MOST_CASES).map_err(|e| format!("set: {e}"))?.into();
        let setup = Setup { with_limits: waiting.len() <= WITH_LIMITS, ..self.setup()? };
        Ok(Box::new(NkiStudyRun {
            study: self,
            setup,
            recorder,
            waiting,
            current: None,
            finished: Vec::new(),
            best: None,
        }))
    }
}

impl StudyRun for NkiStudyRun {
    fn step(&mut self, _budget_events: u32) -> Result<StudyStep, String> {
        let no_python = "this shell runs no Python; use neuronscope nki FILE.py on the command line";
        let recorder = self.recorder.clone().ok_or(no_python)?;
        let Some(settings) = self.current.take() else {
            let Some(next) = self.waiting.pop_front() else { return Ok(StudyStep::Done(Box::new(self.result(true)?))) };
            recorder.begin(&self.study.call(&next)?);
            self.current = Some(next);
            return Ok(self.more(None));
        };
        let Some(list) = recorder.take() else {
            self.current = Some(settings);
            return Ok(self.more(None));
        };
        let found = list.and_then(|text| self.answer(&text));
        let (answer, error) = match found {
            Ok(answer) => (Some(answer), None),
            // One case says all that can be said.
            Err(error) if self.waiting.is_empty() && self.finished.is_empty() => return Err(error),
            Err(error) => (None, Some(error)),
        };
        self.finished.push(Ranked { kernel: self.study.target(), settings, answer, error });
        if self.waiting.is_empty() {
            return Ok(StudyStep::Done(Box::new(self.result(true)?)));
        }
        let shown = self.result(false)?;
        Ok(self.more(Some(Box::new(shown))))
    }
}

impl NkiStudyRun {
    fn answer(&mut self, text: &str) -> Result<Answer, String> {
        let list = List::read(text).map_err(|e| e.to_string())?;
        let found = answer(&list, &self.setup).map_err(|e| e.to_string())?;
        let time = found.total_us.unwrap_or(f64::INFINITY);
        if self.best.as_ref().is_none_or(|(best, _)| time < *best) {
            self.best = Some((time, list));
        }
        Ok(found)
    }

    fn more(&self, shown: Option<Box<StudyResult>>) -> StudyStep {
        let done = self.finished.len() as u64;
        let total = done + self.waiting.len() as u64 + u64::from(self.current.is_some());
        let label = match &self.current {
            Some(settings) if !settings.is_empty() => settings.join(" "),
            _ => "Python runs the file".to_owned(),
        };
        StudyStep::More { done, total, label, shown }
    }

    fn result(&self, is_over: bool) -> Result<StudyResult, String> {
        let ranking = Ranking::of(self.finished.clone());
        let document = document(&self.study, &ranking, self.best.as_ref().map_or(&[], |(_, list)| &list.files));
        let files = if is_over { self.files(&ranking)? } else { Vec::new() };
        Ok(StudyResult { document, files, ..StudyResult::default() })
    }

    /// The command line's output of `--json`, and the timeline of the fastest case.
    fn files(&self, ranking: &Ranking) -> Result<Vec<StudyFile>, String> {
        let json = match ranking.ranked.as_slice() {
            [Ranked { answer: Some(answer), .. }] => serde_json::to_string_pretty(answer),
            _ => serde_json::to_string_pretty(ranking),
        };
        let mut files = vec![StudyFile::json("nki.json", json.map_err(|e| e.to_string())? + "\n")];
        if let Some((_, list)) = self.best.as_ref().filter(|(time, _)| time.is_finite()) {
            let profile = kernel_profile(list, &self.setup, &self.study.instance).map_err(|e| e.to_string())?;
            let text = String::from_utf8(WriteFormat::Chrome.write(&profile)).map_err(|e| e.to_string())?;
            files.push(StudyFile::trace("nki-trace.json", text));
        }
        Ok(files)
    }
}

/// The timeline of a kernel. Fails when its program cannot be simulated.
pub fn kernel_profile(list: &List, setup: &Setup, instance: &str) -> Result<Profile, Refusal> {
    let executable = executable_of(list, setup);
    let mut spans = Spans::default();
    simulate(&executable, &setup.costs, &mut spans)?;
    let title = format!("{} on {instance}", list.function());
    Ok(build_profile(&executable, &spans, &setup.costs, Workflow::Trace, title.as_str().into()).profile)
}
