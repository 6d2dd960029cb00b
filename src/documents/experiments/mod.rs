//! Records of PyTorch/XLA's benchmark suite, and reports of NeuronPerf, as a page shows them.
//!
//! ```text
//! file -> a job of `ns_session` -> RecordStore (a few numbers and the place of each line)
//!                                    |  ExperimentSpec (what is asked, all text)
//!                                    v
//!                                  ViewInput (records, speed-ups, choices) -> views -> view::document::Document
//! ```
//!
//! Speed-ups are those of [`ns_experiment::aggregate`], so that the page and the command line print the same numbers.

mod bundle;
mod compare;
mod coverage;
mod entry;
mod levels;
mod messages;
mod record_filter;
mod reproduce;
mod store;
mod text;
mod view_input;
mod views;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::ExportedFile;
use ns_container::exactly;
use ns_experiment::figure::{FigureSize, figure};
use ns_forms::ExperimentSpec;
use ns_forms::share::{MOST_PACKED_BYTES, pack};
use view_input::ViewInput;

pub use messages::{Choices, RecordsAsk, RecordsChoices, RecordsFile, RecordsKey, RecordsRead, RecordsResult};

pub use bundle::files_of;
pub use store::{RecordFile, RecordLine, RecordStore, ReportFile};

/// Sample records that ship with the program.
const SAMPLE: &[u8] = include_bytes!("sample.jsonl");
/// The name of the sample in links.
pub const SAMPLE_NAME: &str = "sample";

/// Files of the sample.
pub fn sample() -> Vec<(String, Vec<u8>)> {
    vec![("sample.jsonl".to_owned(), SAMPLE.to_vec())]
}

/// A set of records that a job fills while a session answers questions about it.
pub type SharedStore = Rc<RefCell<RecordStore>>;

/// The sets that a session holds.
#[derive(Default)]
pub struct RecordSets(BTreeMap<RecordsKey, SharedStore>);

impl RecordSets {
    /// Returns a set of records; an empty one if none has been read into it.
    pub fn of(&mut self, key: RecordsKey) -> SharedStore {
        Rc::clone(self.0.entry(key).or_default())
    }

    /// Makes a view of a set.
    pub fn show(&mut self, key: RecordsKey, spec: &ExperimentSpec) -> RecordsResult {
        let store = self.of(key);
        let store = store.borrow();
        view_of(&store, spec)
    }

    /// Makes a file of a view. Fails when the command line cannot print this view.
    pub fn save(&mut self, key: RecordsKey, spec: &ExperimentSpec, file: RecordsFile) -> Result<ExportedFile, String> {
        let store = self.of(key);
        let store = store.borrow();
        let input = ViewInput::of(&store, spec);
        let kind =
            views::report_of(input.view).ok_or("this view cannot be saved in this format; save its tables instead")?;
        let report = input.report(kind);
        let (end, mime, text) = match file {
            RecordsFile::Csv => {
                let table = report.table().ok_or("there is nothing to compare, so there is nothing to save")?;
                ("csv", "text/csv", table.to_csv())
            }
            RecordsFile::Svg => {
                let size = FigureSize { width_in: 9.0, height_in: 6.75 };
                ("svg", "image/svg+xml", figure(&report, input.metric, size, None).to_svg())
            }
        };
        let file_name = format!("{}.{end}", input.view.key());
        Ok(ExportedFile::new(file_name, mime, text.into_bytes()))
    }
}

fn view_of(store: &RecordStore, spec: &ExperimentSpec) -> RecordsResult {
    let input = ViewInput::of(store, spec);
    let is_report = input.record_filter.is_none() && views::report_of(input.view).is_some() && !input.times.is_empty();
    RecordsResult {
        document: views::document(&input),
        spec: input.spec(),
        choices: input.choices(),
        problems: input.problems.clone(),
        files: if is_report { vec![RecordsFile::Csv, RecordsFile::Svg] } else { Vec::new() },
    }
}

/// The present content of a set.
pub fn read(store: &RecordStore, link: Option<String>) -> RecordsRead {
    RecordsRead {
        files: store
            .files
            .iter()
            .map(|f| (f.name.clone(), f.size))
            .chain(store.reports.iter().map(|f| (f.name.clone(), f.size)))
            .collect(),
        records: store.entries.len() as u64,
        reports: store.reports.iter().map(|f| f.reports.len() as u64).sum(),
        remarks: store.notes.kinds().iter().map(|kind| kind.count).sum(),
        packed: link,
    }
}

/// All files of a set as text for a link; `None` when they are too large for one.
pub fn packed(store: &RecordStore) -> Option<String> {
    let total: u64 = store.files.iter().map(|f| f.size).sum();
    if total > MOST_PACKED_BYTES || !store.reports.is_empty() {
        return None;
    }
    if let [only] = store.files.as_slice()
        && only.is_sample
    {
        return Some(SAMPLE_NAME.to_owned());
    }
    let whole = |file: &RecordFile| Some((file.name.clone(), exactly(&*file.source, 0, file.size).ok()?));
    pack(&store.files.iter().map(whole).collect::<Option<Vec<_>>>()?)
}
