//! The output of `perf script` for a recording of Linux perf: a line for each sample, its stack below, innermost first.
//!
//! ```text
//! python3  2193/2194 [001] 711001.223456:     250000 cpu-clock:
//!             7f3ae1c2 main+0x12 (/usr/bin/python3.8)
//! ```
//!
//! A recording without call chains has the place on the line of the sample itself; each of its samples is one slice.
//!
//! A sample is assumed to last until the next of its thread; the last sample lasts as long as the one before it.

use super::frames::{WeightUnit, check_slices};
use crate::decimal::{TimeUnit, text_to_ns};
use crate::stacks::{MAX_STACK, StackFrame, StackTrack, frame};
use crate::{ChunkedReader, ReadLimits, ReadProgress};
use ns_base::Refusal;
use ns_base::{Diagnostics, FxHashMap};
use ns_profile::{Profile, ProfileBuilder, TrackId};

/// The most bytes of one line that are read.
const MAX_LINE_BYTES: usize = 1 << 16;

/// Whether the start of a text is output of `perf script`: the first line that is not a comment is a sample with a time
/// and an event, and a line of a stack or another sample follows.
pub(crate) fn looks_perf_script(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    let mut lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    let first = lines.next().and_then(Header::parse);
    let follows = lines.next().is_none_or(|line| parse_frame(line).is_some() || Header::parse(line).is_some());
    first.is_some_and(|header| header.ts_ns.is_some() && !header.event.is_empty()) && follows
}

/// The first line of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Header<'a> {
    comm: &'a str,
    /// The process, if the line has it.
    pid: Option<&'a str>,
    tid: &'a str,
    ts_ns: Option<i64>,
    event: &'a str,
    /// The text after the event: the place of a sample without a stack.
    place: &'a str,
}

impl<'a> Header<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        // A name may have spaces: it ends before the first word that is a number. Only a sample with a time is aligned to the right.
        let mut words = words(line);
        let (from, first) = words.next()?;
        let (at, ids) = words.find(|(_, word)| is_ids(word))?;
        let comm = line.get(from..at).map_or(first, str::trim_end);
        let (pid, tid) = ids.split_once('/').map_or((None, ids), |(pid, tid)| (Some(pid), tid));
        let (mut ts_ns, mut event, mut place) = (None, "", "");
        for (at, written) in words {
            let Some(word) = written.strip_suffix(':') else { continue };
            let is_time = word.contains('.') && word.bytes().all(|b| b.is_ascii_digit() || b == b'.');
            if is_time && ts_ns.is_none() {
                ts_ns = Some(text_to_ns(word.as_bytes(), TimeUnit::S).ok()?);
            } else {
                (event, place) = (word, line.get(at + written.len()..).unwrap_or_default());
                break;
            }
        }
        (from == 0 || ts_ns.is_some()).then_some(Self { comm, pid, tid, ts_ns, event, place })
    }
}

/// The words of a line with their places.
fn words(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let start = line.as_ptr() as usize;
    line.split_whitespace().map(move |word| (word.as_ptr() as usize - start, word))
}

/// `12` or `12/34`.
fn is_ids(word: &str) -> bool {
    let is_number = |n: &str| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit());
    match word.split_once('/') {
        Some((pid, tid)) => is_number(pid) && is_number(tid),
        None => is_number(word),
    }
}

/// Name and file of a line of a stack: an address, a symbol with an offset, and the file in parentheses.
fn parse_frame(line: &str) -> Option<(&str, &str)> {
    let rest = line.trim();
    let (address, rest) = rest.split_once(char::is_whitespace)?;
    let is_address = line.starts_with([' ', '\t']) && address.bytes().all(|b| b.is_ascii_hexdigit());
    let (symbol, file) = rest.trim().strip_suffix(')').and_then(|r| r.rsplit_once(" ("))?;
    let symbol = match symbol.rsplit_once("+0x") {
        Some((name, offset)) if offset.bytes().all(|b| b.is_ascii_hexdigit()) => name,
        _ => symbol,
    };
    is_address.then_some((symbol.trim(), file))
}

/// A thread and its stack.
struct Thread {
    track: TrackId,
    stack: StackTrack,
    now: i64,
    /// How long the sample before the last one lasted.
    step: i64,
}

/// Reads the output of `perf script`.
pub(crate) struct PerfScriptReader {
    builder: ProfileBuilder,
    diagnostics: Diagnostics,
    threads: Vec<Thread>,
    thread_of: FxHashMap<(String, String), usize>,
    known: FxHashMap<String, StackFrame>,
    /// The thread and time of the sample whose stack is being read, and its frames.
    open: Option<(usize, i64)>,
    frames: Vec<StackFrame>,
    /// Whether the sample that is being read has its place on its own line.
    is_flat: bool,
    /// The shortest time between two samples of a thread without stacks.
    flat_step: Option<i64>,
    line: Vec<u8>,
    bytes: u64,
    limits: ReadLimits,
}

impl PerfScriptReader {
    pub fn new(limits: ReadLimits) -> Self {
        Self {
            builder: ProfileBuilder::new("perf-script"),
            diagnostics: Diagnostics::new(),
            threads: Vec::new(),
            thread_of: FxHashMap::default(),
            known: FxHashMap::default(),
            open: None,
            frames: Vec::new(),
            is_flat: false,
            flat_step: None,
            line: Vec::new(),
            bytes: 0,
            limits,
        }
    }

    fn line(&mut self, line: &str, offset: u64) {
        let line = line.trim_end();
        if line.is_empty() {
            return self.end_sample();
        }
        if line.starts_with('#') {
            return;
        }
        if let Some((name, file)) = parse_frame(line).filter(|_| self.open.is_some()) {
            let frame = self.frame(line, name, file);
            if self.frames.len() < MAX_STACK {
                self.frames.push(frame);
            }
            return;
        }
        self.end_sample();
        match Header::parse(line) {
            Some(header) => self.begin_sample(&header),
            None => {
                self.builder.count_event(None);
                let what = || "a line is neither a sample nor a frame of its stack: skipped".to_owned();
                self.diagnostics.add("bad_sample", Some(offset), what);
            }
        }
    }

    fn begin_sample(&mut self, header: &Header<'_>) {
        let key = (header.pid.unwrap_or_default().to_owned(), header.tid.to_owned());
        let place = match self.thread_of.get(&key) {
            Some(&place) => place,
            None => self.add_thread(header, key),
        };
        let thread = &mut self.threads[place];
        let at = match header.ts_ns {
            Some(ts) if ts >= thread.now => ts,
            Some(_) => {
                self.diagnostics.add("time_backwards", None, || {
                    "a sample is before the one in front of it: taken as at the same time".to_owned()
                });
                thread.now
            }
            None => {
                WeightUnit::Count.note("samples", &mut self.builder, &mut self.diagnostics);
                thread.now.saturating_add(1)
            }
        };
        self.builder.count_event(Some("P"));
        self.builder.note_track(thread.track);
        self.builder.note_time(at);
        self.frames.clear();
        self.open = Some((place, at));
        self.is_flat = false;
        if let Some((name, file)) = parse_frame(header.place) {
            let frame = self.frame(header.place, name, file);
            (self.is_flat, self.frames) = (true, vec![frame]);
        }
    }

    fn add_thread(&mut self, header: &Header<'_>, key: (String, String)) -> usize {
        let pid = header.pid.unwrap_or(header.tid);
        let process = self.builder.process(pid, &format!("{} {pid}", header.comm));
        let track = self.builder.thread(process, header.tid, &format!("{} {}", header.comm, header.tid));
        let now = header.ts_ns.unwrap_or(0);
        self.threads.push(Thread { track, stack: StackTrack::new(track), now, step: 0 });
        let place = self.threads.len() - 1;
        self.thread_of.insert(key, place);
        place
    }

    fn frame(&mut self, line: &str, name: &str, file: &str) -> StackFrame {
        // The text after the address identifies the frame, except for the offset into the symbol.
        let key = line.find(name).and_then(|at| line.get(at..)).unwrap_or(line);
        if let Some(&known) = self.known.get(key) {
            return known;
        }
        let made = frame(&mut self.builder, name, file, None, None);
        self.known.insert(key.to_owned(), made);
        made
    }

    fn end_sample(&mut self) {
        let Some((place, at)) = self.open.take() else { return };
        let Some(thread) = self.threads.get_mut(place) else { return };
        self.frames.reverse();
        thread.step = at.saturating_sub(thread.now);
        thread.now = at;
        if self.is_flat {
            let shortest = Some(thread.step).into_iter().chain(self.flat_step).filter(|ns| *ns > 0).min();
            self.flat_step = shortest.or(self.flat_step);
            // Two samples in one function are not one call of it.
            thread.stack.set(&mut self.builder, at, &[]);
        }
        thread.stack.set(&mut self.builder, at, &self.frames);
    }

    fn flush(&mut self) {
        let line = std::mem::take(&mut self.line);
        let offset = self.bytes.saturating_sub(line.len() as u64);
        self.line(&String::from_utf8_lossy(&line), offset);
        self.line = line;
        self.line.clear();
    }
}

impl ChunkedReader for PerfScriptReader {
    fn push(&mut self, chunk: &[u8]) -> Result<(), Refusal> {
        for piece in chunk.split_inclusive(|&b| b == b'\n') {
            self.bytes += piece.len() as u64;
            let room = MAX_LINE_BYTES.saturating_sub(self.line.len());
            self.line.extend_from_slice(&piece[..piece.len().min(room)]);
            if piece.ends_with(b"\n") {
                self.flush();
            }
        }
        check_slices(&self.builder, usize::try_from(self.bytes).unwrap_or(usize::MAX))?;
        self.limits.check(&self.builder)
    }

    fn finish(mut self: Box<Self>) -> Result<Profile, Refusal> {
        self.flush();
        self.end_sample();
        for thread in &mut self.threads {
            let step = self.flat_step.filter(|_| thread.step == 0).unwrap_or(thread.step);
            thread.stack.finish(&mut self.builder, thread.now.saturating_add(step));
        }
        Ok(self.builder.finish(self.diagnostics))
    }

    fn progress(&self) -> ReadProgress {
        ReadProgress { file_bytes: self.bytes, text_bytes: self.bytes, events: self.builder.events() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_lines_of_samples() {
        let line = "V8 WorkerThread 25607/25608 [001] 4794564.109216:   250000 cycles:ppp: ";
        let header = Header::parse(line).unwrap();
        assert_eq!((header.comm, header.pid, header.tid), ("V8 WorkerThread", Some("25607"), "25608"));
        assert_eq!((header.ts_ns, header.event), (Some(4_794_564_109_216_000), "cycles:ppp"));
        let header = Header::parse("sleep 12 1.5: sched:sched_switch: prev_comm=a: b").unwrap();
        assert_eq!((header.comm, header.pid, header.tid, header.event), ("sleep", None, "12", "sched:sched_switch"));
        let flat = Header::parse("  a  7 [000]   1.5:  250000   cycles:P:   55d0 f+0x1 (/b c)").unwrap();
        assert_eq!((flat.comm, parse_frame(flat.place)), ("a", Some(("f", "/b c"))));
        for other in ["", "word", "\t 643 main (/bin/a)", "a b c"] {
            assert_eq!(Header::parse(other), None, "{other}");
        }
    }

    #[test]
    fn lines_of_stacks() {
        assert_eq!(parse_frame("\t  643 _Z4betav (/bin/a)"), Some(("_Z4betav", "/bin/a")));
        assert_eq!(parse_frame(" ff operator()(int) const+0x1f ([k])"), Some(("operator()(int) const", "[k]")));
        assert_eq!(parse_frame("643 main (/bin/a)"), None);
        assert_eq!(parse_frame("\tmain (/bin/a)"), None);
    }

    #[test]
    fn texts_of_other_tools_are_not_recognised() {
        assert!(looks_perf_script(b"# x\n#\na 10 1.5:    1001001 cpu-clock:\n\t 643 f (/a)\n"));
        for other in
            ["a;b 10\n", "name 10 1.5: x\nplain\n", "In 2024 12.5: results:\nmore text\n", " a-1 [000] 1.5: 0: B|1|x\n"]
        {
            assert!(!looks_perf_script(other.as_bytes()), "{other}");
        }
    }
}
