//! Reading benchmark results of other tools and of our own earlier runs, and model indexes.

use super::{Job, JobState};
use crate::protocol::{JobResult, Message};
use ns_base::convert::u64_to_f64;
use ns_base::units::format_bytes;
use ns_bench::ModelIndex;
use ns_bench::import::read_reports;
use ns_container::ByteSource;

/// Bytes read between two checks of the messages.
const CHUNK_BYTES: usize = 1 << 20;

/// Results are read as a whole; a larger file is not a file of results.
const MOST_BYTES: u64 = 256 << 20;

/// Reads one file of results.
pub(crate) struct ImportJob {
    name: String,
    source: Box<dyn ByteSource>,
    bytes: Vec<u8>,
}

impl ImportJob {
    pub fn new(name: String, source: Box<dyn ByteSource>) -> Self {
        Self { name, source, bytes: Vec::new() }
    }

    fn finish(&self, sink: &mut dyn FnMut(Message)) -> Result<JobState, String> {
        if let Some(read) =
            std::str::from_utf8(&self.bytes).ok().and_then(|text| ModelIndex::read_file(text, &self.name).ok())
        {
            let (index, warnings) = (Box::new(read.index), read.warnings);
            sink(Message::Done(JobResult::Index { name: self.name.clone(), index, warnings }));
            return Ok(JobState::Done);
        }
        let imported = read_reports(&self.name, &self.bytes).map_err(|e| e.to_string())?;
        let diagnostics = imported.diagnostics.items().to_vec();
        let (name, reports) = (self.name.clone(), imported.reports);
        sink(Message::Done(JobResult::Imported { name, reports, diagnostics }));
        Ok(JobState::Done)
    }
}

impl Job for ImportJob {
    fn step(&mut self, _budget_events: u32, sink: &mut dyn FnMut(Message)) -> Result<JobState, String> {
        let total = self.source.size();
        if total > MOST_BYTES {
            let (size, most) = (format_bytes(u64_to_f64(total)), format_bytes(u64_to_f64(MOST_BYTES)));
            return Err(format!("{}: has {size}; files of benchmark results may have at most {most}", self.name));
        }
        let at = self.bytes.len();
        self.bytes.resize(at + CHUNK_BYTES, 0);
        let n = self.source.read(at as u64, &mut self.bytes[at..]).map_err(|e| format!("{}: {e}", self.name))?;
        self.bytes.truncate(at + n);
        if n < CHUNK_BYTES {
            return self.finish(sink);
        }
        let label = format!("Reading {}", self.name);
        sink(Message::Progress { done: self.bytes.len() as u64, total, label });
        Ok(JobState::More)
    }
}
