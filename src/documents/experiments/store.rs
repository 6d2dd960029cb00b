//! The records of several files, and remarks about their lines.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::entry::{Config, Entry, Outcome, RecordDraft};
use ns_bench::Report;
use ns_container::ByteSource;
use ns_experiment::aggregate::known_accelerator;
use ns_experiment::record::{LineError, LineNotes, parse_line, trimmed};

pub struct RecordFile {
    pub name: String,
    /// Its size in bytes.
    pub size: u64,
    /// Whether it is the sample that ships.
    pub is_sample: bool,
    /// The source from which lines are read again when a record is opened.
    pub source: Box<dyn ByteSource>,
}

/// Rows of a NeuronPerf report.
pub struct ReportFile {
    pub name: String,
    /// Its size in bytes.
    pub size: u64,
    pub reports: Vec<Report>,
}

/// Records and their files.
#[derive(Default)]
pub struct RecordStore {
    pub files: Vec<RecordFile>,
    pub entries: Vec<Entry>,
    pub notes: LineNotes,
    pub reports: Vec<ReportFile>,
    configs: FxHashMap<Config, Rc<Config>>,
    texts: FxHashSet<Rc<str>>,
    known: FxHashSet<(u64, Rc<Config>)>,
    products: FxHashSet<String>,
}

/// A line with its place in its file.
#[derive(Clone, Copy)]
pub struct RecordLine<'a> {
    pub bytes: &'a [u8],
    /// Its number, from 1.
    pub number: u64,
    /// Offset of its first byte.
    pub offset: u64,
}

impl RecordStore {
    /// Takes a line of the file being read, which will be the next of `files`. Returns whether it is a record.
    pub fn push_line(&mut self, name: &str, line: RecordLine<'_>) -> bool {
        let place = || format!("{name}:{}", line.number);
        match trimmed(line.bytes).and_then(|text| parse_line(text, RecordDraft::of)) {
            Ok(parsed) => {
                self.keep(parsed, line, place);
                true
            }
            Err(LineError::Blank) => {
                self.notes.add("lines are blank", place);
                false
            }
            Err(error) => {
                self.notes.add("lines cannot be used", || format!("{}: {error}", place()));
                false
            }
        }
    }

    fn keep(&mut self, parsed: RecordDraft, line: RecordLine<'_>, place: impl Fn() -> String) {
        self.notice(&parsed, &place);
        let config = match self.configs.get(&parsed.config) {
            Some(known) => Rc::clone(known),
            None => {
                let shared = Rc::new(parsed.config.clone());
                self.configs.insert(parsed.config, Rc::clone(&shared));
                shared
            }
        };
        if matches!(parsed.outcome, Outcome::Timed { .. })
            && !self.known.insert((parsed.timestamp.to_bits(), Rc::clone(&config)))
        {
            self.notes.add("records repeat an earlier one and replace it", &place);
        }
        let code = parsed.code.map(|code| self.shared(&code));
        let outcome = match parsed.outcome {
            Outcome::Failed(error) => Outcome::Failed(self.shared(&error)),
            other => other,
        };
        self.entries.push(Entry {
            config,
            timestamp: parsed.timestamp,
            outcome,
            code,
            xla_compile_s: parsed.xla_compile_s,
            file: self.files.len(),
            line: line.number,
            place: (line.offset, line.bytes.len()),
        });
    }

    fn notice(&mut self, parsed: &RecordDraft, place: impl Fn() -> String) {
        if parsed.config.kind.is_none() || parsed.code.is_none() {
            let lacks = if parsed.config.kind.is_none() { "accelerator" } else { "verification_code" };
            self.notes.add("records are of an older schema", || format!("{}: it has no {lacks}", place()));
        }
        let product = &parsed.config.product;
        if known_accelerator(product).is_none() && !self.products.contains(product) {
            self.products.insert(product.clone());
            self.notes.add("accelerators are unknown to the suite's own reports; they are used here", || {
                format!("{}: {product}", place())
            });
        }
        if let Outcome::Timed { execution: Some(t), .. } = &parsed.outcome
            && !t.measure.avg.is_finite()
        {
            self.notes.add("records have times that are NaN or infinite", &place);
        }
    }

    fn shared(&mut self, text: &str) -> Rc<str> {
        if let Some(known) = self.texts.get(text) {
            return Rc::clone(known);
        }
        let shared: Rc<str> = text.into();
        self.texts.insert(Rc::clone(&shared));
        shared
    }

    /// The file whose lines were pushed is complete.
    pub fn end_file(&mut self, file: RecordFile, lines: u64) {
        if lines == 0 {
            self.notes.add("files are empty", || file.name.clone());
        }
        self.files.push(file);
    }

    /// Forgets a file and its records, so that a newer version of it can be read. Remarks about its lines stay.
    pub fn forget_file(&mut self, name: &str) {
        let Some(gone) = self.files.iter().position(|file| file.name == name) else { return };
        self.files.remove(gone);
        self.entries.retain(|entry| entry.file != gone);
        self.entries.iter_mut().filter(|entry| entry.file > gone).for_each(|entry| entry.file -= 1);
        let timed = self.entries.iter().filter(|entry| matches!(entry.outcome, Outcome::Timed { .. }));
        self.known = timed.map(|entry| (entry.timestamp.to_bits(), Rc::clone(&entry.config))).collect();
    }

    /// Undoes the lines of a file that was not read to its end.
    pub fn forget_unfinished(&mut self) {
        let whole = self.files.len();
        self.entries.retain(|entry| entry.file < whole);
    }

    /// The line of a record, from its file. Fails when the file cannot be read any more.
    pub fn line_of(&self, entry: usize) -> Result<Vec<u8>, String> {
        let gone = || "that record is no longer available; open its file again".to_owned();
        let entry = self.entries.get(entry).ok_or_else(gone)?;
        let (offset, length) = entry.place;
        let file = self.files.get(entry.file).ok_or_else(gone)?;
        let name = &file.name;
        let again = |e: &str| format!("{name}: line {} can no longer be read: {e}. Open the file again", entry.line);
        let line = file.source.slice(offset, length).map_err(|e| again(e.what()))?;
        if line.len() < length { Err(again("the file became shorter")) } else { Ok(line) }
    }

    /// Place of a record in words: `results.jsonl:12`.
    pub fn place_of(&self, entry: &Entry) -> String {
        let name = self.files.get(entry.file).map_or("", |f| f.name.as_str());
        format!("{name}:{}", entry.line)
    }
}
