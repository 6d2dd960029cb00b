//! One question being answered, a bounded number of slices at a time.

use crate::open_profile::in_file_name;
use crate::protocol::{AnalysisRequest, Message, Reply};
use ns_documents::ExportedFile;
use ns_documents::analysis::{
    Answer, Question, Rows, Running, Sources, StepAnswer, TableOf, prepare_answer, prepare_table,
};
use ns_documents::pages::profile_page;

/// Progress is reported to the shell after this number of steps of about 10 ms each.
const STEPS_OF_PROGRESS: u32 = 24;
/// Rows of a table that are formatted in one step.
const ROWS_PER_STEP: u32 = 10_000;

/// A question and the state of its computation.
pub(crate) struct AnalysisRun {
    request: AnalysisRequest,
    state: State,
    steps: u32,
}

enum State {
    New,
    Looking(Box<dyn Running>),
    Writing(CsvText),
}

/// A table that is formatted some rows at a time.
struct CsvText {
    table: TableOf,
    text: String,
    rows: u32,
}

impl AnalysisRun {
    pub const fn new(request: AnalysisRequest) -> Self {
        Self { request, state: State::New, steps: 0 }
    }

    /// Whether its answer has what each limit costs.
    pub const fn needs_limits(&self) -> bool {
        let AnalysisRequest::Analyse(question) = &self.request else {
            return matches!(self.request, AnalysisRequest::Page(_));
        };
        matches!(question, Question::Overview | Question::Summary)
    }

    /// Reads about `limit` more slices. Returns the answer when all were read, and sometimes the progress. Fails with a message for
    /// the user when the question cannot be answered.
    pub fn step(&mut self, sources: &Sources<'_>, limit: usize) -> Result<Option<Message>, String> {
        self.steps += 1;
        match std::mem::replace(&mut self.state, State::New) {
            State::New => {
                self.state = State::Looking(prepare(sources, &self.request)?);
                Ok(None)
            }
            State::Looking(mut running) => {
                if running.advance(sources, limit) {
                    return self.answer(sources, running.finish(sources)?);
                }
                let seen = u64::from(self.steps).saturating_mul(limit as u64);
                let slices = sources.profile.slices().len() as u64;
                let (done, total) = running.progress().unwrap_or((seen.min(slices), slices));
                self.state = State::Looking(running);
                Ok(self.progress(done, total))
            }
            State::Writing(csv) => Ok(self.write(sources, csv)),
        }
    }

    fn progress(&self, done: u64, total: u64) -> Option<Message> {
        let label = "Counting".to_owned();
        let is_time = self.steps.is_multiple_of(STEPS_OF_PROGRESS);
        is_time.then_some(Message::Progress { done, total, label })
    }

    fn answer(&mut self, sources: &Sources<'_>, found: StepAnswer) -> Result<Option<Message>, String> {
        match (found, &self.request) {
            (StepAnswer::Answer(Answer::Overview(document)), AnalysisRequest::Page(base)) => {
                let file_name = format!("{}.html", in_file_name(sources.name));
                let bytes = profile_page(document, (sources.parts)(), base).into_bytes();
                Ok(Some(Message::File(ExportedFile::new(file_name, "text/html", bytes))))
            }
            (StepAnswer::Answer(answer), _) => Ok(Some(Message::Answer(Reply::Analysed(Box::new(answer))))),
            (StepAnswer::Table(table), AnalysisRequest::List(_, rows)) => {
                Ok(Some(Message::Answer(Reply::Listed(Box::new(table(sources, *rows))))))
            }
            (StepAnswer::Table(table), _) => {
                self.state = State::Writing(CsvText { table, text: String::new(), rows: 0 });
                Ok(None)
            }
        }
    }

    /// Adds rows to the text. Returns the text when it is complete.
    fn write(&mut self, sources: &Sources<'_>, mut csv: CsvText) -> Option<Message> {
        let listed = (csv.table)(sources, Rows { skip: csv.rows, limit: ROWS_PER_STEP });
        let text = listed.table.to_csv();
        // The header is written once.
        let head = if csv.rows == 0 { 0 } else { text.find('\n').map_or(text.len(), |end| end + 1) };
        csv.text.push_str(&text[head..]);
        csv.rows = csv.rows.saturating_add(ROWS_PER_STEP);
        if u64::from(csv.rows) < listed.total {
            let done = u64::from(csv.rows);
            self.state = State::Writing(csv);
            return self.progress(done, listed.total);
        }
        let file_name = match &self.request {
            AnalysisRequest::ListCsv(_, name) => name.clone(),
            AnalysisRequest::List(..) | AnalysisRequest::Analyse(_) | AnalysisRequest::Page(_) => String::new(),
        };
        Some(Message::File(ExportedFile::new(file_name, "text/csv", csv.text.into_bytes())))
    }
}

fn prepare(sources: &Sources<'_>, request: &AnalysisRequest) -> Result<Box<dyn Running>, String> {
    match request {
        AnalysisRequest::List(what, rows) => prepare_table(sources, what, *rows),
        AnalysisRequest::ListCsv(what, _) => prepare_table(sources, what, Rows::ALL),
        AnalysisRequest::Analyse(question) => prepare_answer(sources, question),
        AnalysisRequest::Page(_) => prepare_answer(sources, &Question::Overview),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_analysis::Instances;
    use ns_analysis::members::MemberOrder;
    use ns_analysis::work::Works;
    use ns_base::Diagnostics;
    use ns_documents::analysis::{GroupsOf, Listing, MembersOf, QueryOf};
    use ns_documents::pages::ProfileParts;
    use ns_documents::timeline::ViewTracks;
    use ns_forms::{ProfileOrigin, ProfileSpec};
    use ns_profile::flows::FlowIndex;
    use ns_profile::{Profile, ProfileBuilder, Unit};

    fn profile() -> Profile {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", "python");
        let t = b.thread(p, "1", "main");
        for i in 0..400 {
            b.slice(t, i * 10, 7, if i % 2 == 0 { "mm" } else { "add" }, "", None);
        }
        b.finish(Diagnostics::new())
    }

    /// The last event of a question answered `limit` slices at a time, and the progress before it.
    fn answered(profile: &Profile, request: AnalysisRequest, limit: usize) -> (Message, Vec<(u64, u64)>) {
        let (tracks, flows) = (ViewTracks::of(profile), FlowIndex::new(profile));
        let works = Works::of(profile);
        let (name, tracks, insights) = ("test", &tracks, None);
        let parts = || ProfileParts {
            origin: ProfileOrigin::Simulated(ProfileSpec::default()),
            facts: Vec::new(),
            remarks: Vec::new(),
            operators: Vec::new(),
            unit: Unit::Ns,
        };
        let (flows, works) = (|| &flows, || &works);
        let sources = Sources {
            profile,
            name,
            tracks,
            insights,
            published: &[],
            mark: None,
            flows: &flows,
            works: &works,
            parts: &parts,
        };
        let mut run = AnalysisRun::new(request);
        let mut message = Vec::new();
        for _ in 0..100_000 {
            match run.step(&sources, limit).unwrap() {
                Some(Message::Progress { done, total, .. }) => message.push((done, total)),
                Some(event) => return (event, message),
                None => {}
            }
        }
        panic!("it never ends");
    }

    #[test]
    fn stepped_answers_equal_whole_ones_and_report_progress() {
        let profile = profile();
        let rows = Rows { skip: 10, limit: 40 };
        for request in [
            AnalysisRequest::List(Listing::Idle(None), rows),
            AnalysisRequest::List(Listing::CriticalPath(None, Instances::Each), rows),
            AnalysisRequest::ListCsv(Listing::PathParts(None), "parts.csv".to_owned()),
            AnalysisRequest::Analyse(Question::Path { range: None, limit: 50 }),
            AnalysisRequest::Analyse(Question::Sentences),
            AnalysisRequest::Analyse(Question::Overview),
            AnalysisRequest::Page("https://example.org/".to_owned()),
        ] {
            let (whole, _) = answered(&profile, request.clone(), usize::MAX);
            let (stepped, progress) = answered(&profile, request, 3);
            assert_eq!(stepped, whole);
            assert!(progress.len() > 2 && progress.iter().all(|(done, total)| done <= total), "{progress:?}");
        }
    }

    fn table(profile: &Profile, what: Listing, rows: Rows) -> ns_documents::analysis::LinkedTable {
        let (Message::Answer(Reply::Listed(listed)), _) = answered(profile, AnalysisRequest::List(what, rows), 64)
        else {
            panic!("no table")
        };
        *listed
    }

    #[test]
    fn pages_and_the_file_hold_the_whole_table() {
        let profile = profile();
        let members = MembersOf { name: "mm".to_owned(), order: MemberOrder::Time, ..MembersOf::default() };
        let listings = [
            (Listing::Idle(None), 399),
            // 400 slices of 7 ns with gaps of 3 ns between them, by two names and the idle time.
            (Listing::PathParts(None), 799),
            (Listing::CriticalPath(None, Instances::Each), 3),
            (Listing::Members(members), 200),
            (Listing::Groups(GroupsOf::default()), 2),
            (Listing::Query(QueryOf { text: "where dur > 1ns".to_owned(), level: None }), 400),
        ];
        for (what, count) in listings {
            let whole = table(&profile, what.clone(), Rows::ALL);
            assert_eq!((whole.total, whole.table.rows.len(), whole.skip), (count, count as usize, 0), "{what:?}");
            let mut paged = Vec::new();
            for skip in (0..count as u32).step_by(150) {
                let page = table(&profile, what.clone(), Rows { skip, limit: 150 });
                assert_eq!((page.total, page.skip), (count, u64::from(skip)));
                assert!(page.table.rows.len() <= 150);
                paged.extend(page.table.rows);
            }
            assert_eq!(paged, whole.table.rows, "{what:?}");
            let request = AnalysisRequest::ListCsv(what.clone(), "all.csv".to_owned());
            let (Message::File(ExportedFile { file_name, bytes, .. }), _) = answered(&profile, request, 64) else {
                panic!("no file")
            };
            assert_eq!(
                (file_name.as_str(), bytes.as_slice()),
                ("all.csv", whole.table.to_csv().as_bytes()),
                "{what:?}"
            );
        }
    }

    #[test]
    fn operators_match_by_part_of_their_name_even_with_quotes() {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", "python");
        let t = b.thread(p, "1", "main");
        for (i, name) in ["it's mm", "add", "bmm", "it's mm"].into_iter().enumerate() {
            b.slice(t, i as i64 * 10, 7, name, "", None);
        }
        let profile = b.finish(Diagnostics::new());
        let named = |text: &str| {
            let what = Listing::Query(QueryOf::operators_named(text, None));
            table(&profile, what, Rows::ALL).table.rows.iter().map(|row| row[0].raw()).collect::<Vec<_>>()
        };
        assert_eq!(named("MM"), ["it's mm", "bmm"]);
        assert_eq!(named("it's"), ["it's mm"]);
        assert!(named("conv").is_empty());
    }

    #[test]
    fn a_file_of_more_rows_than_one_step_writes_has_one_head() {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", "python");
        let t = b.thread(p, "1", "main");
        let count = i64::from(ROWS_PER_STEP) * 2 + 1;
        for i in 0..count {
            b.slice(t, i * 10, 7, "mm", "cpu_op", None);
        }
        let profile = b.finish(Diagnostics::new());
        let request = AnalysisRequest::ListCsv(
            Listing::Query(QueryOf { text: "select start".to_owned(), level: None }),
            String::new(),
        );
        let (Message::File(ExportedFile { bytes, .. }), _) = answered(&profile, request, 1 << 12) else {
            panic!("no file")
        };
        let text = String::from_utf8(bytes).unwrap();
        let starts = text.lines().skip(1).map(|line| line.parse::<i64>().unwrap());
        assert!(starts.eq((0..count).map(|i| i * 10)));
    }

    #[test]
    fn a_path_says_its_length_and_how_long_nothing_ran() {
        let profile = profile();
        let request = AnalysisRequest::Analyse(Question::Path { range: None, limit: 10 });
        let (Message::Answer(Reply::Analysed(answer)), _) = answered(&profile, request, 64) else {
            panic!("no answer")
        };
        let Answer::Path(path) = *answer else { panic!("no path") };
        assert_eq!((path.length_ns, path.total, path.is_thinned, path.idle_ns), (3_997, 799, true, 1_197));
        let spans: Vec<_> = path.steps.iter().map(|s| (s.start_ns, s.end_ns)).collect();
        assert!(spans.windows(2).all(|w| w[0].1 == w[1].0) && spans.len() <= 10, "{spans:?}");
        assert_eq!((spans[0].0, spans[spans.len() - 1].1), (0, 3_997));
        assert!(path.steps.iter().all(|s| s.slice.is_some()));
        let request = AnalysisRequest::Analyse(Question::Path { range: None, limit: 800 });
        let (Message::Answer(Reply::Analysed(answer)), _) = answered(&profile, request, 64) else {
            panic!("no answer")
        };
        let Answer::Path(path) = *answer else { panic!("no path") };
        assert_eq!((path.is_thinned, path.steps.len()), (false, 799));
    }
}
