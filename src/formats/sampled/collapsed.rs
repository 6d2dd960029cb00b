//! Collapsed stacks: a line for each stack: its frames, separated by semicolons, and how often it was seen.

use super::frames::{MILLIONTHS, WeightUnit, bad_sample, check_slices, has_fraction};
use crate::decimal::{TimeError, TimeUnit, text_to_ns};
use crate::stacks::{StackFrame, StackTrack, frame};
use crate::{ChunkedReader, ReadLimits, ReadProgress};
use ns_base::Refusal;
use ns_base::{Diagnostics, FxHashMap};
use ns_profile::{Profile, ProfileBuilder, TrackId};

/// The most bytes of one line that are read.
const MAX_LINE_BYTES: usize = 1 << 20;

/// Whether the start of a text is lines of stacks: all whole lines end in a number, and one has a semicolon or all
/// are a name and a number.
pub(crate) fn looks_collapsed(head: &[u8]) -> bool {
    let end = if head.len() < crate::SNIFF_BYTES { head.len() } else { last_line(head) };
    let lines = head[..end].split(|&b| b == b'\n').map(<[u8]>::trim_ascii);
    let mut lines = lines.filter(|l| !l.is_empty() && !l.starts_with(b"#")).peekable();
    lines.peek().is_some() && lines.all(|line| split(line).is_some())
}

/// Whether the lines of collapsed stacks have two counts each, before and after, as difffolded.pl writes them.
pub(crate) fn has_two_counts(head: &[u8]) -> bool {
    let end = if head.len() < crate::SNIFF_BYTES { head.len() } else { last_line(head) };
    let lines = head[..end].split(|&b| b == b'\n').map(<[u8]>::trim_ascii);
    let mut lines = lines.filter(|l| !l.is_empty() && !l.starts_with(b"#")).peekable();
    // A frame may end in a number, but not every stack of several frames does.
    lines.peek().is_some()
        && lines.all(|line| split(line).is_some_and(|(stack, _)| split(stack).is_some()))
        && memchr::memchr(b';', head).is_some()
}

fn last_line(head: &[u8]) -> usize {
    memchr::memrchr(b'\n', head).unwrap_or(head.len())
}

/// The stack and the number of a line.
fn split(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let space = line.iter().rposition(|b| b.is_ascii_whitespace())?;
    let number = &line[space + 1..];
    let starts_right = number.first().is_some_and(u8::is_ascii_digit);
    let is_number = text_to_ns(number, TimeUnit::Ns) != Err(TimeError::NotANumber);
    let stack = line[..space].trim_ascii();
    (starts_right && is_number && !stack.is_empty()).then_some((stack, number))
}

/// Reads collapsed stacks.
pub(crate) struct CollapsedReader {
    builder: ProfileBuilder,
    diagnostics: Diagnostics,
    track: TrackId,
    stack: StackTrack,
    known: FxHashMap<Vec<u8>, StackFrame>,
    frames: Vec<StackFrame>,
    line: Vec<u8>,
    unit: WeightUnit,
    now: i64,
    bytes: u64,
    limits: ReadLimits,
}

impl CollapsedReader {
    pub fn new(limits: ReadLimits) -> Self {
        let mut builder = ProfileBuilder::new("collapsed-stacks");
        let process = builder.process("", "Collapsed stacks");
        let track = builder.thread(process, "", "Samples");
        Self {
            stack: StackTrack::new(track),
            track,
            builder,
            diagnostics: Diagnostics::new(),
            unit: WeightUnit::Count,
            known: FxHashMap::default(),
            frames: Vec::new(),
            line: Vec::new(),
            now: 0,
            bytes: 0,
            limits,
        }
    }

    fn line(&mut self, line: &[u8], offset: u64) {
        let line = line.trim_ascii();
        if line.is_empty() || line.starts_with(b"#") {
            return;
        }
        let Some((stack, number)) = split(line) else {
            self.builder.count_event(None);
            self.diagnostics.add("bad_sample", Some(offset), || "a line does not end in a number: skipped".to_owned());
            return;
        };
        let Some(weight) = self.weight(number) else {
            self.builder.count_event(None);
            return bad_sample(&mut self.diagnostics, None, "the count of a stack is too large");
        };
        self.frames.clear();
        for name in stack.split(|&b| b == b';') {
            let builder = &mut self.builder;
            let made = match self.known.get(name) {
                Some(&known) => known,
                None => {
                    let made = frame(builder, &String::from_utf8_lossy(name), "", None, None);
                    self.known.insert(name.to_vec(), made);
                    made
                }
            };
            self.frames.push(made);
        }
        self.builder.count_event(Some("P"));
        self.builder.note_track(self.track);
        self.stack.set(&mut self.builder, self.now, &self.frames);
        self.now = self.now.saturating_add(weight);
    }

    /// The length of a count. From the first one with a fraction on, all are millionths.
    fn weight(&mut self, number: &[u8]) -> Option<i64> {
        let of = |unit| text_to_ns(number, unit).ok();
        if self.unit == WeightUnit::Count && of(MILLIONTHS).is_some_and(has_fraction) {
            self.unit = WeightUnit::Millionths;
            let scaled = |n: i64| WeightUnit::Millionths.scale(n);
            self.builder.count_in_millionths();
            self.stack.map_times(scaled);
            self.now = scaled(self.now);
        }
        of(if self.unit == WeightUnit::Millionths { MILLIONTHS } else { TimeUnit::Ns })
    }

    fn flush(&mut self) {
        let line = std::mem::take(&mut self.line);
        let offset = self.bytes.saturating_sub(line.len() as u64);
        self.line(&line, offset);
        self.line = line;
        self.line.clear();
    }
}

impl ChunkedReader for CollapsedReader {
    fn push(&mut self, chunk: &[u8]) -> Result<(), Refusal> {
        for piece in chunk.split_inclusive(|&b| b == b'\n') {
            self.bytes += piece.len() as u64;
            self.line.extend_from_slice(piece);
            if self.line.len() > MAX_LINE_BYTES {
                // A longer line is split into several: no stack is that long.
                self.line.truncate(MAX_LINE_BYTES);
            }
            if piece.ends_with(b"\n") {
                self.flush();
            }
        }
        check_slices(&self.builder, usize::try_from(self.bytes).unwrap_or(usize::MAX))?;
        self.limits.check(&self.builder)
    }

    fn finish(mut self: Box<Self>) -> Result<Profile, Refusal> {
        self.flush();
        self.stack.finish(&mut self.builder, self.now);
        self.unit.note("samples", &mut self.builder, &mut self.diagnostics);
        Ok(self.builder.finish(self.diagnostics))
    }

    fn progress(&self) -> ReadProgress {
        ReadProgress { file_bytes: self.bytes, text_bytes: self.bytes, events: self.builder.events() }
    }
}
