//! The records: the choices of their views, and where they are.

use std::rc::Rc;

use super::PlanState;
use crate::{RunState, Shared};
use ns_base::convert::u64_to_f64;
use ns_base::units::format_bytes;
use ns_experiment::sweep::ExperimentsRequest;
use ns_session::options::measures;
use ns_session::share::{ExperimentLink, PageLink as _};
use ns_session::shelf::results_id;
use ns_session::{ExperimentField, ExperimentSpec, RecordsRead, RecordsResult};

/// Name of the sample in links, in place of a file.
pub const SAMPLE: &str = "sample";
/// Name of the file that stands for the records of the page's own run.
pub const RUN_FILE: &str = "results of this page.jsonl";

/// The page of experiments; `Worker` is the shell's handle of the worker that holds records.
#[derive(Clone, Debug, PartialEq)]
pub struct ExperimentsState<Worker> {
    /// The choices that were made; the others are left open.
    pub spec: ExperimentSpec,
    /// Progress of the reading.
    pub run: RunState,
    /// The worker that holds the records.
    pub engine: Option<Worker>,
    /// A summary of the records that were read.
    pub read: Option<RecordsRead>,
    pub result: Option<Shared<RecordsResult>>,
    /// Files of a link that have not been read yet.
    pub data: Option<Rc<str>>,
    /// Names of files that a link does not hold.
    pub linked_files: Vec<String>,
    /// Whether the user put all records away: then no sample is shown in their place.
    pub is_cleared: bool,
    /// Whether the sample is being read.
    pub is_reading_sample: bool,
}

/// Actions on the page.
pub enum ExperimentsAction<Worker> {
    /// A choice was made.
    Choose(ExperimentField, String),
    /// A link was opened.
    Load(Box<ExperimentLink>),
    /// Back or Forward led to another view of this visit, of whatever records are open.
    Look(Box<ExperimentSpec>),
    /// Reading began, in this worker; whether of the sample.
    Start(Worker, String, bool),
    /// Other records take the place of these: the choices of the view stay.
    Replace,
    /// This worker holds the records from now on.
    Hold(Worker),
    /// Reading made progress, or ended without a result.
    Run(RunState),
    /// Files were read.
    Read(RecordsRead),
    /// A view has arrived.
    Answer(Box<RecordsResult>),
    /// All records are closed.
    Clear,
}

impl<Worker> Default for ExperimentsState<Worker> {
    fn default() -> Self {
        Self {
            spec: ExperimentSpec::default(),
            run: RunState::Idle,
            engine: None,
            read: None,
            result: None,
            data: None,
            linked_files: Vec::new(),
            is_cleared: false,
            is_reading_sample: false,
        }
    }
}

impl<Worker: Clone> ExperimentsState<Worker> {
    /// The hash of the link that shows this view.
    ///
    /// It holds the plan of a run instead of its records, which are the same wherever it runs, unless they were measured.
    pub fn hash(&self, plan: Option<Box<ExperimentsRequest>>) -> String {
        let read = self.read.as_ref();
        if plan.as_ref().is_some_and(|plan| !measures(plan)) && (self.is_own_run() || self.is_empty()) {
            return ExperimentLink { spec: self.spec.clone(), plan, ..ExperimentLink::default() }.hash();
        }
        let data = read.map_or_else(|| self.data.as_ref().map(ToString::to_string), |read| read.packed.clone());
        let names =
            || read.map_or_else(|| self.linked_files.clone(), |read| read.files.iter().map(|f| f.0.clone()).collect());
        let files = if data.is_some() { Vec::new() } else { names() };
        ExperimentLink { spec: self.spec.clone(), data, files, plan }.hash()
    }

    /// Whether the records are those of the page's own run alone.
    pub fn is_own_run(&self) -> bool {
        self.read.as_ref().is_some_and(|read| matches!(read.files.as_slice(), [(name, _)] if name == RUN_FILE))
    }

    /// Whether the sample is shown, which other records replace.
    pub fn is_sample(&self) -> bool {
        self.read.as_ref().is_some_and(|read| read.packed.as_deref() == Some(SAMPLE))
    }

    /// Whether the page shows the sample as it opens.
    pub fn is_example(&self) -> bool {
        self.is_sample() && self.spec == ExperimentSpec::default()
    }

    /// Whether the page has no records, reads none, and has no link to some.
    pub fn is_empty(&self) -> bool {
        self.read.is_none() && self.data.is_none() && self.linked_files.is_empty() && !self.run.is_running()
    }

    /// Whether the page shows the sample by itself, because it has nothing else to show.
    pub fn wants_sample(&self, plan: &PlanState) -> bool {
        let has_run = plan.wants_run || plan.run != RunState::Idle || !plan.lines.is_empty();
        self.is_empty() && self.run == RunState::Idle && !self.is_cleared && !has_run
    }

    /// Whether the suite's choices (accelerator, backends, models and others) change the view: reports of NeuronPerf do not have
    /// these choices.
    pub fn has_suite_choices(&self) -> bool {
        let is_of_reports = self.result.as_ref().is_some_and(|result| {
            matches!(result.spec.get(ExperimentField::View), "reports")
                && result.spec.get(ExperimentField::Open).is_empty()
        });
        self.read.as_ref().is_some_and(|read| read.records > 0 || read.reports == 0) && !is_of_reports
    }

    /// Files that stand for results which this browser keeps: they do not exist as files until they are downloaded.
    pub fn kept_results(&self) -> Vec<String> {
        let files = self.read.iter().filter(|read| read.packed.is_none()).flat_map(|read| &read.files);
        files.map(|(name, _)| name.clone()).filter(|name| results_id(name).is_some()).collect()
    }

    /// A sentence that says what a link holds.
    pub fn link_holds(&self, plan: Option<&ExperimentsRequest>) -> String {
        let Some(read) = &self.read else { return String::new() };
        if self.is_own_run() && plan.is_some_and(|plan| !measures(plan)) {
            return "It runs the same experiments, which gives the same records.".to_owned();
        }
        let size = format_bytes(u64_to_f64(read.files.iter().map(|(_, size)| size).sum()));
        let kept = self.kept_results().len();
        match &read.packed {
            Some(packed) if packed == SAMPLE => "It opens the sample.".to_owned(),
            Some(packed) => format!("It holds the records too ({size}, as {} letters).", packed.len()),
            None if kept > 0 => "It opens this view in this browser, which keeps the results. For anyone else, download the results and send them along: they are opened with the link."
                .to_owned(),
            None => format!("It holds this view, not the records ({size}): send the files along."),
        }
    }

    fn load(&mut self, link: ExperimentLink) {
        self.spec = link.spec;
        let has = self.read.as_ref().and_then(|read| read.packed.as_deref());
        if link.data.is_some() && link.data.as_deref() != has {
            (self.engine, self.read, self.result) = (None, None, None);
            self.data = link.data.map(Rc::from);
        }
        self.linked_files = link.files;
    }

    /// The page after an action.
    pub fn after(&self, action: ExperimentsAction<Worker>) -> Self {
        let mut next = self.clone();
        match action {
            ExperimentsAction::Choose(field, text) => {
                // New records may not contain what is open now.
                if field != ExperimentField::Open {
                    next.spec.set(ExperimentField::Open, "");
                }
                next.spec.set(field, &text);
            }
            ExperimentsAction::Load(link) => next.load(*link),
            ExperimentsAction::Look(spec) => next.spec = *spec,
            ExperimentsAction::Replace => {
                (next.engine, next.read, next.result, next.data) = (None, None, None, None);
                (next.run, next.is_reading_sample) = (RunState::Idle, false);
            }
            ExperimentsAction::Start(engine, label, is_sample) => {
                (next.engine, next.data, next.is_reading_sample) = (Some(engine), None, is_sample);
                next.run = RunState::started(&label);
            }
            ExperimentsAction::Hold(engine) => next.engine = Some(engine),
            ExperimentsAction::Run(run) => next.run = run,
            ExperimentsAction::Read(read) => {
                (next.read, next.run, next.is_reading_sample) = (Some(read), RunState::Done, false);
                next.linked_files.clear();
            }
            ExperimentsAction::Answer(result) => next.result = Some(Shared::new(*result)),
            ExperimentsAction::Clear => next = Self { is_cleared: true, ..Self::default() },
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::PlanAction;
    use ns_experiment::plan::Accelerator;
    use ns_session::RecordsChoices;
    use ns_session::options::default_experiments;
    use ns_view::document::Document;

    type State = ExperimentsState<u32>;

    fn link(data: Option<&str>, files: &[&str]) -> ExperimentsAction<u32> {
        ExperimentsAction::Load(Box::new(ExperimentLink {
            data: data.map(str::to_owned),
            files: files.iter().map(|f| (*f).to_owned()).collect(),
            ..ExperimentLink::default()
        }))
    }

    fn read(packed: Option<&str>) -> RecordsRead {
        RecordsRead {
            files: vec![("a.jsonl".to_owned(), 1)],
            packed: packed.map(str::to_owned),
            ..RecordsRead::default()
        }
    }

    #[test]
    fn another_choice_closes_the_open_records() {
        let open = State::default().after(ExperimentsAction::Choose(ExperimentField::Open, "resnet18".to_owned()));
        assert_eq!(open.spec.get(ExperimentField::Open), "resnet18");
        let other = open.after(ExperimentsAction::Choose(ExperimentField::View, "changes".to_owned()));
        assert_eq!((other.spec.get(ExperimentField::View), other.spec.get(ExperimentField::Open)), ("changes", ""));
    }

    #[test]
    fn records_are_read_displayed_and_closed() {
        let reading = State::default().after(ExperimentsAction::Start(2, "Reading".to_owned(), false));
        assert_eq!((reading.engine, &reading.run), (Some(2), &RunState::started("Reading")));
        assert_eq!(reading.after(ExperimentsAction::Run(RunState::Cancelled)).run, RunState::Cancelled);
        let read_state = reading.after(ExperimentsAction::Read(read(None)));
        assert_eq!((&read_state.run, read_state.linked_files.len()), (&RunState::Done, 0));
        let result = RecordsResult {
            document: Document::default(),
            spec: ExperimentSpec::default(),
            choices: RecordsChoices::default(),
            problems: vec![],
            files: vec![],
        };
        let seen = read_state.after(ExperimentsAction::Answer(Box::new(result)));
        assert!(seen.result.is_some());
        assert_eq!(seen.after(ExperimentsAction::Clear), State { is_cleared: true, ..State::default() });
    }

    #[test]
    fn other_records_take_the_place_of_the_sample() {
        let plan = PlanState::default();
        assert!(
            State::default().wants_sample(&plan) && !State::default().wants_sample(&plan.after(PlanAction::WantRun))
        );
        let sample = State::default()
            .after(ExperimentsAction::Choose(ExperimentField::View, "latest".to_owned()))
            .after(ExperimentsAction::Start(1, "Reading".to_owned(), true));
        assert!(sample.is_reading_sample && !sample.is_empty());
        let sample = sample.after(ExperimentsAction::Read(read(Some(SAMPLE))));
        assert!(sample.is_sample() && !sample.is_reading_sample);
        let replaced = sample.after(ExperimentsAction::Replace);
        assert!(replaced.engine.is_none() && replaced.read.is_none() && !replaced.is_cleared);
        assert_eq!(replaced.spec.get(ExperimentField::View), "latest");
        assert!(!sample.wants_sample(&plan));
        assert!(!sample.after(ExperimentsAction::Clear).wants_sample(&plan), "it was put away");
    }

    #[test]
    fn a_link_with_other_records_closes_these() {
        let read_state = State::default()
            .after(ExperimentsAction::Start(2, "Reading".to_owned(), false))
            .after(ExperimentsAction::Read(read(Some("abc"))));
        let same = read_state.after(link(Some("abc"), &[]));
        assert!(same.read.is_some() && same.data.is_none());
        let other = read_state.after(link(Some("xyz"), &[]));
        assert_eq!((other.engine, &other.read, other.data.as_deref()), (None, &None, Some("xyz")));
        // A link that only names its files keeps the records that are open, and says which files it wants.
        let named = read_state.after(link(None, &["b.jsonl"]));
        assert_eq!((named.read.is_some(), named.linked_files), (true, vec!["b.jsonl".to_owned()]));
    }

    #[test]
    fn the_hash_of_a_simulated_run_holds_its_plan_and_of_a_measured_one_its_records() {
        let mut own = read(Some("abc"));
        own.files[0].0 = RUN_FILE.to_owned();
        let state = State::default().after(ExperimentsAction::Hold(1)).after(ExperimentsAction::Read(own));
        let mut plan = default_experiments();
        let hash = state.hash(Some(Box::new(plan.clone())));
        assert!(hash.contains("run_suite=torchbench") && !hash.contains("data="), "{hash}");
        assert_eq!(state.link_holds(Some(&plan)), "It runs the same experiments, which gives the same records.");
        plan.plan.expand.accelerator = vec![Accelerator::Cpu];
        let hash = state.hash(Some(Box::new(plan.clone())));
        assert!(hash.contains("run_accelerator=cpu") && hash.contains("data=abc"), "{hash}");
        assert!(state.link_holds(Some(&plan)).contains("holds the records"));
        assert!(!state.hash(None).contains("run_suite"));
    }

    fn read_of(files: &[&str], records: u64, reports: u64) -> RecordsRead {
        let files = files.iter().map(|name| ((*name).to_owned(), 2_000)).collect();
        RecordsRead { files, records, reports, ..RecordsRead::default() }
    }

    fn showing(view: &str, read: RecordsRead) -> State {
        let mut spec = ExperimentSpec::default();
        spec.set(ExperimentField::View, view);
        let (document, choices) = (Document::default(), RecordsChoices::default());
        let result = RecordsResult { document, spec, choices, problems: vec![], files: vec![] };
        State::default().after(ExperimentsAction::Read(read)).after(ExperimentsAction::Answer(Box::new(result)))
    }

    #[test]
    fn suite_choices_are_offered_where_they_change_the_view() {
        let rows = [
            ("overview", 3, 0, true),
            ("overview", 3, 5, true),
            ("reports", 3, 5, false),
            ("reports", 0, 5, false),
            ("speedup", 0, 5, false),
            // Files without a record may be followed by others.
            ("lines", 0, 0, true),
        ];
        for (view, records, reports, expected) in rows {
            let state = showing(view, read_of(&["a.jsonl"], records, reports));
            assert_eq!(state.has_suite_choices(), expected, "{view} of {records} records, {reports} reports");
        }
        assert!(!State::default().has_suite_choices());
    }

    #[test]
    fn kept_results_are_downloaded_before_they_are_sent() {
        let kept = "nn on trn1 [0123456789abcdef].json";
        let state = showing("reports", read_of(&[kept, "theirs.csv"], 0, 8));
        assert_eq!(state.kept_results(), [kept]);
        assert!(state.link_holds(None).contains("download the results"), "{}", state.link_holds(None));
        let files = showing("reports", read_of(&["mine.json", "theirs.csv"], 0, 8));
        assert_eq!(files.kept_results(), Vec::<String>::new());
        assert!(files.link_holds(None).ends_with("send the files along."), "{}", files.link_holds(None));
        let sample = State::default().after(ExperimentsAction::Read(read(Some(SAMPLE))));
        assert_eq!(sample.link_holds(None), "It opens the sample.");
    }

    #[test]
    fn the_hash_holds_small_records_and_names_others() {
        let hash = |packed| State::default().after(ExperimentsAction::Read(read(packed))).hash(None);
        assert!(hash(Some("abc")).contains("data=abc") && !hash(Some("abc")).contains("a.jsonl"));
        assert!(hash(None).contains("a.jsonl") && !hash(None).contains("data="));
        assert!(State::default().after(link(None, &["b.jsonl"])).hash(None).contains("b.jsonl"));
        assert!(State::default().after(link(Some("abc"), &["b.jsonl"])).hash(None).contains("data=abc"));
    }
}
