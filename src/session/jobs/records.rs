//! Reading records of experiments, and reports of NeuronPerf, into a set.

use std::collections::VecDeque;

use memchr::memchr_iter;

use super::{Job, JobState};
use crate::protocol::{JobResult, Message};
use ns_base::convert::u64_to_f64;
use ns_base::units::{format_bytes, format_count};
use ns_bench::import::read_reports;
use ns_container::ByteSource;
use ns_container::zip::is_zip;
use ns_documents::experiments::{RecordFile, RecordLine, RecordStore, ReportFile, SharedStore, files_of, packed, read};

/// Bytes read between two checks of the messages.
const CHUNK_BYTES: usize = 1 << 20;
/// A longer line is not a record.
const MOST_LINE_BYTES: usize = 64 << 20;
/// Reports are read as a whole; a larger file is not a file of reports.
const MOST_REPORT_BYTES: u64 = 64 << 20;

/// A file that waits to be read.
pub(crate) struct Waiting {
    pub name: String,
    pub source: Box<dyn ByteSource>,
    /// Whether it is the sample that ships.
    pub is_sample: bool,
    /// Whether it is one of several files, which are read even if this one holds no records.
    pub is_part: bool,
}

/// Reads files one after another.
pub(crate) struct RecordsJob {
    store: SharedStore,
    waiting: VecDeque<Waiting>,
    open: Option<Open>,
}

/// The file that is read.
struct Open {
    file: Waiting,
    offset: u64,
    /// The beginning of a line whose end was not read yet.
    begun: Vec<u8>,
    /// Offset of that line.
    line_start: u64,
    lines: u64,
}

impl RecordsJob {
    pub fn new(store: SharedStore, files: impl IntoIterator<Item = Waiting>) -> Self {
        Self { store, waiting: files.into_iter().collect(), open: None }
    }

    /// Opens the next file. A folder becomes its files.
    fn open_next(&mut self) -> Result<bool, String> {
        let Some(file) = self.waiting.pop_front() else { return Ok(false) };
        let head = file.source.slice(0, CHUNK_BYTES).map_err(|e| format!("{}: {e}", file.name))?;
        if is_zip(&head) {
            self.open_folder(file)?;
            return Ok(true);
        }
        let is_records = file.name.to_ascii_lowercase().ends_with(".jsonl") || holds_records(&file.name, &head);
        if !is_records {
            self.read_report(file)?;
            return Ok(true);
        }
        self.open = Some(Open { file, offset: 0, begun: Vec::new(), line_start: 0, lines: 0 });
        Ok(true)
    }

    fn open_folder(&mut self, folder: Waiting) -> Result<(), String> {
        let name = folder.name.clone();
        let files = files_of(folder.source).map_err(|e| format!("{name}: {e}"))?;
        let mut store = self.store.borrow_mut();
        let mut found = 0;
        for (path, source) in files {
            let last = path.rsplit('/').next().unwrap_or(&path);
            let lower = last.to_ascii_lowercase();
            let may_hold = [".jsonl", ".json", ".csv"].iter().any(|end| lower.ends_with(end));
            // The analyzer writes these files beside the records.
            if may_hold && !lower.starts_with("metric_report.") {
                self.waiting.push_back(Waiting { name: path, source, is_sample: false, is_part: true });
                found += 1;
            } else {
                store.notes.add("files of folders are not records and are left out", || path);
            }
        }
        if found == 0 {
            store.notes.add("folders have no file of records or reports", || name);
        }
        Ok(())
    }

    /// Reads a file that is not a list of records as a report.
    fn read_report(&mut self, file: Waiting) -> Result<(), String> {
        let (name, size) = (file.name, file.source.size());
        if size > MOST_REPORT_BYTES {
            return Err(format!("{name}: has {} and holds no records of experiments", format_bytes(u64_to_f64(size))));
        }
        let bytes = file.source.slice(0, usize::try_from(size).unwrap_or(0)).map_err(|e| format!("{name}: {e}"))?;
        let mut store = self.store.borrow_mut();
        let imported = match read_reports(&name, &bytes) {
            Ok(imported) => imported,
            Err(error) if file.is_part => {
                store.notes.add("files hold neither records nor reports", || error.to_string());
                return Ok(());
            }
            Err(error) => return Err(error.to_string()),
        };
        for odd in imported.diagnostics.items() {
            store.notes.add("reports have problems", || format!("{name}: {odd}"));
        }
        store.reports.push(ReportFile { name, size, reports: imported.reports });
        Ok(())
    }

    fn read_chunk(&mut self, sink: &mut dyn FnMut(Message)) -> Result<(), String> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let mut chunk = vec![0; CHUNK_BYTES];
        let n = open.file.source.read(open.offset, &mut chunk).map_err(|e| {
            format!(
                "{}: cannot be read at byte {}: {e}. Check that the file still exists and open it again",
                open.file.name, open.offset
            )
        })?;
        chunk.truncate(n);
        let mut store = self.store.borrow_mut();
        open.take(&chunk, &mut store);
        sink(Message::Progress {
            done: open.offset,
            total: open.file.source.size(),
            label: format!("Reading {}: {} records", open.file.name, format_count(store.entries.len() as u64)),
        });
        if n < CHUNK_BYTES {
            open.end(&mut store);
            if let Some(Open { file, lines, .. }) = self.open.take() {
                let size = file.source.size();
                let source = file.source;
                store.end_file(RecordFile { name: file.name, size, is_sample: file.is_sample, source }, lines);
            }
        }
        Ok(())
    }
}

/// Whether the first line of a file is a record.
fn holds_records(name: &str, head: &[u8]) -> bool {
    let first = head.split(|b| *b == b'\n').find(|line| !line.trim_ascii().is_empty()).unwrap_or_default();
    RecordStore::default().push_line(name, RecordLine { bytes: first, number: 1, offset: 0 })
}

impl Open {
    /// Takes the lines that end in a chunk.
    fn take(&mut self, chunk: &[u8], store: &mut RecordStore) {
        let mut from = 0;
        for end in memchr_iter(b'\n', chunk) {
            let rest = &chunk[from..=end];
            if self.begun.is_empty() {
                self.line(rest, store);
            } else {
                let mut line = std::mem::take(&mut self.begun);
                line.extend_from_slice(rest);
                self.line(&line, store);
            }
            from = end + 1;
        }
        self.begun.extend_from_slice(&chunk[from..]);
        // The rest of a line this long is dropped; its beginning shows what it is.
        self.begun.truncate(MOST_LINE_BYTES);
        self.offset += chunk.len() as u64;
    }

    fn line(&mut self, bytes: &[u8], store: &mut RecordStore) {
        self.lines += 1;
        store.push_line(&self.file.name, RecordLine { bytes, number: self.lines, offset: self.line_start });
        self.line_start += bytes.len() as u64;
    }

    /// The last line may lack a line break.
    fn end(&mut self, store: &mut RecordStore) {
        if !self.begun.is_empty() {
            let line = std::mem::take(&mut self.begun);
            self.line(&line, store);
        }
    }
}

impl Job for RecordsJob {
    fn step(&mut self, _budget_events: u32, sink: &mut dyn FnMut(Message)) -> Result<JobState, String> {
        let result = if self.open.is_some() { self.read_chunk(sink).map(|()| true) } else { self.open_next() };
        match result {
            Ok(true) => Ok(JobState::More),
            Ok(false) => {
                let store = self.store.borrow();
                sink(Message::Done(JobResult::Records(read(&store, packed(&store)))));
                Ok(JobState::Done)
            }
            Err(message) => {
                self.store.borrow_mut().forget_unfinished();
                Err(message)
            }
        }
    }

    fn stop(self: Box<Self>, _sink: &mut dyn FnMut(Message)) {
        self.store.borrow_mut().forget_unfinished();
    }
}
