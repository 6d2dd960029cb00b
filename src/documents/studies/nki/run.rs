//! The cases, some beside each other: each is recorded, then simulated.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use super::answers::KernelAnswers;
use super::document::document;
use crate::recorder::{Recorder, RecorderCall};
use crate::studies::run::{StudyFile, StudyResult, StudyRun, StudyStep, is_shown};
use ns_base::Refusal;
use ns_capture::{Recorder as Spans, build_profile};
use ns_compiler::Workflow;
use ns_formats::WriteFormat;
use ns_forms::studies::NkiStudy;
use ns_neuron::sim::simulate;
use ns_nki::{List, Ranked, Ranking, Settings, Setup, WITH_LIMITS, answer, executable_of};
use ns_profile::Profile;

/// Cases for which a further lane of the recorder is worth its start.
const CASES_OF_A_LANE: usize = 4;

struct NkiStudyRun {
    study: NkiStudy,
    setup: Setup,
    recorder: Option<Rc<dyn Recorder>>,
    cases: Vec<Settings>,
    /// Of each case, once it has run.
    finished: Vec<Option<Ranked>>,
    waiting: VecDeque<usize>,
    /// The case that runs in each lane of the recorder.
    lanes: Vec<Option<usize>>,
    /// Whether a case has run.
    has_begun: bool,
    answers: Rc<RefCell<KernelAnswers>>,
}

/// Begins the study. Fails when the settings cannot be read, or the instance runs no kernels.
pub(in crate::studies) fn start(
    study: NkiStudy,
    recorder: Option<Rc<dyn Recorder>>,
    answers: Rc<RefCell<KernelAnswers>>,
    kept: &str,
) -> Result<Box<dyn StudyRun>, String> {
    let is_list = study.is_list()?;
    let cases = study.cases(NkiStudy::MOST_CASES).map_err(|e| format!("set: {e}"))?;
    let setup = Setup { with_limits: cases.len() <= WITH_LIMITS, ..study.setup()? };
    let finished = answers.borrow_mut().begin(&study, setup.with_limits, &cases, kept);
    let waiting: VecDeque<usize> = (0..cases.len()).filter(|at| finished[*at].is_none()).collect();
    let most = recorder.as_ref().map_or(1, |recorder| recorder.lanes());
    let lanes = vec![None; waiting.len().div_ceil(CASES_OF_A_LANE).clamp(1, most.max(1))];
    let recorder = if is_list { Some(Rc::new(Recorded(study.source.clone())) as Rc<dyn Recorder>) } else { recorder };
    Ok(Box::new(NkiStudyRun { study, setup, recorder, cases, finished, waiting, lanes, has_begun: false, answers }))
}

/// A list that was recorded elsewhere, in the place of Python.
struct Recorded(String);

impl Recorder for Recorded {
    fn lanes(&self) -> usize {
        1
    }

    fn begin(&self, _lane: usize, _call: &RecorderCall) {}

    fn take(&self, _lane: usize) -> Option<Result<String, String>> {
        Some(Ok(self.0.clone()))
    }

    fn end(&self) {}
}

/// The call of the recorder with some settings. Fails when the instance has no chip that runs kernels.
fn call(study: &NkiStudy, settings: &[String]) -> Result<RecorderCall, String> {
    let mut words = study.words(&study.target(), settings)?;
    words.push("--source".to_owned());
    Ok(RecorderCall { source: study.source.clone(), words })
}

impl Drop for NkiStudyRun {
    /// A run that is cancelled leaves no Python at work.
    fn drop(&mut self) {
        if let Some(recorder) = &self.recorder {
            recorder.end();
        }
    }
}

impl StudyRun for NkiStudyRun {
    fn step(&mut self, _budget_events: u32) -> Result<StudyStep, String> {
        let no_python = "this shell runs no Python; use neuronscope nki FILE.py on the command line";
        let recorder = self.recorder.clone().ok_or(no_python)?;
        let mut has_grown = false;
        for lane in 0..self.lanes.len() {
            if let Some(case) = self.lanes[lane] {
                let Some(list) = recorder.take(lane) else { continue };
                self.lanes[lane] = None;
                self.finish(case, list)?;
                (has_grown, self.has_begun) = (true, true);
            }
            // The first answer is not held up by the start of further lanes.
            let begins = lane == 0 || self.has_begun;
            if let Some(next) = begins.then(|| self.waiting.pop_front()).flatten() {
                recorder.begin(lane, &call(&self.study, &self.cases[next])?);
                self.lanes[lane] = Some(next);
            }
        }
        if self.lanes.iter().any(Option::is_some) {
            let done = self.finished.iter().flatten().count();
            let result = (has_grown && is_shown(done, self.cases.len())).then(|| self.result(false)).transpose()?;
            return Ok(self.more(done, result.map(Box::new)));
        }
        // The fastest may be kept from a run whose list is gone.
        if let Some(best) = self.best().filter(|best| self.answers.borrow().list_of(&self.cases[*best]).is_none()) {
            self.waiting.push_back(best);
            return Ok(self.more(self.cases.len(), None));
        }
        Ok(StudyStep::Done(Box::new(self.result(true)?)))
    }
}

impl NkiStudyRun {
    /// Takes the list of a case, or why there is none. Fails if that is all that the study can say.
    fn finish(&mut self, case: usize, list: Result<String, String>) -> Result<(), String> {
        let mut ranked =
            Ranked { kernel: self.study.target(), settings: self.cases[case].clone(), ..Ranked::default() };
        let list = list.and_then(|text| List::read(&text).map_err(|e| e.to_string()));
        let timed = |list: List| {
            let (_, setup) = self.study.placed(&list, &self.setup)?;
            Ok::<_, Refusal>((answer(&list, &setup)?, list))
        };
        match list.and_then(|list| timed(list).map_err(|e| e.to_string())) {
            Ok((found, list)) => {
                ranked.answer = Some(found.clone());
                self.answers.borrow_mut().keep(&ranked, &found, list, &self.cases);
            }
            Err(error) if self.cases.len() == 1 => return Err(error),
            Err(error) => ranked.error = Some(error),
        }
        self.finished[case] = Some(ranked);
        Ok(())
    }

    /// The case with the shortest time, or the first with an answer.
    fn best(&self) -> Option<usize> {
        let answers =
            self.finished.iter().enumerate().filter(|(_, case)| case.as_ref().is_some_and(|c| c.answer.is_some()));
        let time = |case: &Option<Ranked>| case.as_ref().and_then(Ranked::total_us).unwrap_or(f64::INFINITY);
        answers.min_by(|a, b| time(a.1).total_cmp(&time(b.1))).map(|(at, _)| at)
    }

    fn more(&self, done: usize, so_far: Option<Box<StudyResult>>) -> StudyStep {
        let at_work =
            self.lanes.iter().enumerate().find_map(|(lane, case)| Some((lane, self.cases[(*case)?].join(" "))));
        let activity = |lane| self.recorder.as_ref().map_or(String::new(), |recorder| recorder.activity(lane));
        let words = at_work.map(|(lane, settings)| [settings, activity(lane)]).unwrap_or_default();
        let label = words.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(": ");
        let label = if label.is_empty() { "Python runs the file".to_owned() } else { label };
        StudyStep::More { done: done as u64, total: self.cases.len() as u64, label, so_far }
    }

    fn result(&self, is_over: bool) -> Result<StudyResult, String> {
        let ranking = Ranking::of(self.finished.iter().flatten().cloned().collect());
        let answers = self.answers.borrow();
        let list = self.best().and_then(|best| answers.list_of(&self.cases[best]));
        let left = self.cases.len() - ranking.ranked.len();
        let document = document(&self.study, &ranking, list.map_or(&[], |list| &list.files), left);
        let files = if is_over { self.files(&ranking, list)? } else { Vec::new() };
        let resume = if is_over { String::new() } else { answers.to_text() };
        Ok(StudyResult { document, files, resume, ..StudyResult::default() })
    }

    /// The command line's output of `--json`, and the timeline of the fastest case.
    fn files(&self, ranking: &Ranking, list: Option<&List>) -> Result<Vec<StudyFile>, String> {
        let json = match ranking.ranked.as_slice() {
            [Ranked { answer: Some(answer), .. }] => serde_json::to_string_pretty(answer),
            _ => serde_json::to_string_pretty(ranking),
        };
        let mut files = vec![StudyFile::json("nki.json", json.map_err(|e| e.to_string())? + "\n")];
        let builds = ranking.ranked.first().is_some_and(|best| best.total_us().is_some());
        if let Some(list) = list.filter(|_| builds) {
            let timeline = |list: &List| {
                let (instance, setup) = self.study.placed(list, &self.setup)?;
                kernel_profile(list, &setup, &instance)
            };
            let profile = timeline(list).map_err(|e| e.to_string())?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorder::RecorderCall;
    use ns_view::document::Block;
    use std::cell::Cell;
    use std::collections::BTreeMap;

    const LIST: &str = include_str!("../../../../tests/nki/lists/own_call-main.json");

    /// A recorder with two lanes, whose second answers first.
    #[derive(Default)]
    struct TwoLanes {
        running: RefCell<BTreeMap<usize, String>>,
        asked: RefCell<Vec<String>>,
        ended: RefCell<Vec<String>>,
        turns: Cell<u32>,
        ends: Cell<u32>,
    }

    impl Recorder for TwoLanes {
        fn lanes(&self) -> usize {
            2
        }

        fn begin(&self, lane: usize, call: &RecorderCall) {
            let setting = call.words.iter().find(|word| word.starts_with("N=")).cloned().unwrap_or_default();
            self.asked.borrow_mut().push(setting.clone());
            self.running.borrow_mut().insert(lane, setting);
        }

        fn take(&self, lane: usize) -> Option<Result<String, String>> {
            self.turns.set(self.turns.get() + 1);
            if lane == 0 && !self.turns.get().is_multiple_of(5) {
                return None;
            }
            let setting = self.running.borrow_mut().remove(&lane)?;
            self.ended.borrow_mut().push(setting.clone());
            Some(if setting == "N=3" { Err("three is too many".to_owned()) } else { Ok(LIST.to_owned()) })
        }

        fn activity(&self, lane: usize) -> String {
            format!("Values: {lane} of 9 instructions")
        }

        fn end(&self) {
            self.ends.set(self.ends.get() + 1);
        }
    }

    fn run(
        set: &str,
        steps: usize,
        recorder: &Rc<TwoLanes>,
        answers: &Rc<RefCell<KernelAnswers>>,
    ) -> Option<StudyResult> {
        run_kept(set, steps, recorder, answers, "")
    }

    fn run_kept(
        set: &str,
        steps: usize,
        recorder: &Rc<TwoLanes>,
        answers: &Rc<RefCell<KernelAnswers>>,
        kept: &str,
    ) -> Option<StudyResult> {
        let study = NkiStudy { set: set.to_owned(), ..NkiStudy::default() };
        let mut run = start(study, Some(Rc::clone(recorder) as Rc<dyn Recorder>), Rc::clone(answers), kept).unwrap();
        (0..steps).find_map(|_| match run.step(1).unwrap() {
            StudyStep::Done(result) => Some(*result),
            StudyStep::More { .. } => None,
        })
    }

    #[test]
    fn lanes_give_the_rows_of_one_after_another() {
        let (recorder, answers) = (Rc::new(TwoLanes::default()), Rc::default());
        let result = run("N=1,2,3,4,5,6", 1_000, &recorder, &answers).unwrap();
        // The second lane is faster, so the cases end in another order than they have.
        assert_ne!(*recorder.asked.borrow(), *recorder.ended.borrow());
        let json: Ranking = serde_json::from_str(&result.files[0].text).unwrap();
        let order: Vec<String> = json.ranked.iter().map(Ranked::label).collect();
        assert_eq!(order, ["N=1", "N=2", "N=4", "N=5", "N=6", "N=3"]);
        assert_eq!(json.ranked[5].error.as_deref(), Some("three is too many"));
        assert_eq!((result.files.len(), recorder.ends.get()), (2, 1));
        let rows = result.document.blocks.iter().find_map(|block| match block {
            Block::Rows { targets, .. } => Some(targets.as_slice()),
            _ => None,
        });
        assert_eq!(rows.unwrap()[..2], ["set=N=1", "set=N=2"]);
    }

    #[test]
    fn progress_says_what_python_does() {
        let study = NkiStudy { set: "N=1".to_owned(), ..NkiStudy::default() };
        let mut run = start(study, Some(Rc::new(TwoLanes::default())), Rc::default(), "").unwrap();
        let StudyStep::More { label, .. } = run.step(1).unwrap() else { panic!("Python has not run yet") };
        assert_eq!(label, "N=1: Values: 0 of 9 instructions");
    }

    #[test]
    fn what_has_run_does_not_run_again() {
        let (recorder, answers) = (Rc::new(TwoLanes::default()), Rc::default());
        assert!(run("N=1,2,4,5,6,7", 8, &recorder, &answers).is_none());
        assert_eq!(recorder.ends.get(), 1, "a run that is cancelled leaves no Python at work");
        let before = recorder.asked.borrow().len();
        let all = run("N=1,2,4,5,6,7", 1_000, &recorder, &answers).unwrap();
        assert!((before..before + 6).contains(&recorder.asked.borrow().len()));
        assert_eq!(all, run("N=1,2,4,5,6,7", 1_000, &Rc::default(), &Rc::default()).unwrap());
        // Another value runs alone; without the fastest, the next one is recorded for its timeline.
        let before = recorder.asked.borrow().len();
        run("N=1,2,4,5,6,7,8", 1_000, &recorder, &answers).unwrap();
        assert_eq!(recorder.asked.borrow()[before..], ["N=8"]);
        let fewer = run("N=2,4", 1_000, &recorder, &answers).unwrap();
        assert_eq!((recorder.asked.borrow()[before + 1..].to_vec(), fewer.files.len()), (vec!["N=2".to_owned()], 2));
    }

    #[test]
    fn a_later_session_takes_up_what_has_run() {
        let set = "N=1,2,4,5,6,7";
        let answers = Rc::default();
        run(set, 8, &Rc::default(), &answers);
        let kept = answers.borrow().to_text();
        let recorder = Rc::default();
        let all = run_kept(set, 1_000, &recorder, &Rc::default(), &kept).unwrap();
        assert!(recorder.asked.borrow().len() < 6, "{:?}", recorder.asked.borrow());
        assert_eq!(all, run(set, 1_000, &Rc::default(), &Rc::default()).unwrap());
        // A text that is damaged, or of another file, is as none.
        let half: String = kept.chars().take(kept.chars().count() / 2).collect();
        let other = KernelAnswers::default().to_text();
        for kept in [half, other] {
            let recorder = Rc::default();
            assert_eq!(run_kept(set, 1_000, &recorder, &Rc::default(), &kept).unwrap(), all);
            assert_eq!(recorder.asked.borrow().len(), 6);
        }
    }

    #[test]
    fn a_list_that_was_recorded_runs_without_python() {
        let study = |set: &str| NkiStudy {
            kernel: "list.json".to_owned(),
            source: LIST.trim().to_owned(),
            shapes: String::new(),
            set: set.to_owned(),
            ..NkiStudy::default()
        };
        let mut run = start(study(""), None, Rc::default(), "").unwrap();
        let result = (0..9).find_map(|_| match run.step(1).unwrap() {
            StudyStep::Done(result) => Some(*result),
            StudyStep::More { .. } => None,
        });
        let result = result.unwrap();
        assert_eq!(result.files.len(), 2);
        assert!(!result.document.blocks.iter().any(|block| matches!(block, Block::Source(_))));
        let error = start(study("N=1,2"), None, Rc::default(), "").err().unwrap();
        assert!(error.starts_with("list.json: a recorded list has its shapes and settings"), "{error}");
    }

    #[test]
    fn a_list_is_timed_on_its_own_chip_unless_another_one_is_chosen() {
        let list = List::read(&LIST.replace(r#""chip":"trn2""#, r#""chip":"trn3""#)).unwrap();
        let usual = NkiStudy::default();
        let (instance, setup) = usual.placed(&list, &usual.setup().unwrap()).unwrap();
        assert_eq!((instance.as_str(), setup.costs.core.name), ("trn3-ultraserver-gen1", "NeuronCore-v4"));
        assert!(!usual.words("k.py", &[]).unwrap().contains(&"--chip".to_owned()));
        // The usual instance is chosen too when it is named.
        let named = NkiStudy { instance: "trn2.48xlarge".to_owned(), ..NkiStudy::default() };
        assert!(named.placed(&list, &named.setup().unwrap()).is_err());
        assert_eq!(named.words("k.py", &[]).unwrap()[1..3], ["--chip", "trn2"]);
        let chosen = NkiStudy { instance: "trn1.2xlarge".to_owned(), ..usual };
        let error = chosen.placed(&list, &chosen.setup().unwrap()).unwrap_err().to_string();
        assert!(error.contains("was recorded for trn3"), "{error}");
        assert_eq!(chosen.words("k.py", &[]).unwrap()[1..3], ["--chip", "trn1"]);
        // Python reads an expression with a minus as one.
        let checked = NkiStudy { check: "-x".to_owned(), ..NkiStudy::default() };
        assert_eq!(checked.words("k.py", &[]).unwrap().last().unwrap(), "--check=-x");
    }
}
