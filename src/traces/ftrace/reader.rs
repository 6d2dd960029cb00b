//! Reads a log that is a file of its own.

use super::FORMAT;
use super::log::Log;
use crate::{ChunkedReader, ReadLimits, ReadProgress};
use ns_base::Diagnostics;
use ns_base::Refusal;
use ns_profile::{Profile, ProfileBuilder};

/// The most bytes of one line that are kept.
const MAX_LINE_BYTES: usize = 1 << 20;

/// Reads the log.
pub struct FtraceReader {
    builder: ProfileBuilder,
    diagnostics: Diagnostics,
    log: Log,
    line: Vec<u8>,
    bytes: u64,
    limits: ReadLimits,
}

impl FtraceReader {
    pub fn new(limits: ReadLimits) -> Self {
        Self {
            builder: ProfileBuilder::new(FORMAT),
            diagnostics: Diagnostics::new(),
            log: Log::default(),
            line: Vec::new(),
            bytes: 0,
            limits,
        }
    }

    fn flush(&mut self) {
        let text = String::from_utf8_lossy(&self.line);
        let offset = self.bytes.saturating_sub(self.line.len() as u64);
        self.log.line(&mut self.builder, &mut self.diagnostics, &text, offset);
        self.line.clear();
    }
}

impl ChunkedReader for FtraceReader {
    fn push(&mut self, chunk: &[u8]) -> Result<(), Refusal> {
        for piece in chunk.split_inclusive(|&b| b == b'\n') {
            self.bytes += piece.len() as u64;
            self.line.extend_from_slice(&piece[..piece.len().min(MAX_LINE_BYTES.saturating_sub(self.line.len()))]);
            if piece.ends_with(b"\n") {
                self.flush();
            }
        }
        self.limits.check(&self.builder)
    }

    fn finish(mut self: Box<Self>) -> Result<Profile, Refusal> {
        if !self.line.is_empty() {
            self.flush();
        }
        self.log.finish(&mut self.builder);
        if self.builder.events() == 0 {
            self.diagnostics.add("no_events", None, || "the log has no events".to_owned());
        }
        Ok(self.builder.finish(self.diagnostics))
    }

    fn progress(&self) -> ReadProgress {
        ReadProgress { file_bytes: self.bytes, text_bytes: self.bytes, events: self.builder.events() }
    }
}
