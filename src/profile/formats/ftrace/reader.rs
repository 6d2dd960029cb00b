//! From lines to rows.

use super::FORMAT;
use super::line::Line;
use crate::base::{Diagnostics, FxHashMap, StrId};
use crate::profile::formats::json::ObjectText;
use crate::profile::formats::{ChunkedReader, ReadError, ReadLimits, ReadProgress};
use crate::profile::{ArgsId, LinkEvent, LinkValue, ProcessId, Profile, ProfileBuilder, TrackId};

/// Bytes of one line that are kept.
const MAX_LINE_BYTES: usize = 1 << 20;

/// Reads the log.
pub(in crate::profile::formats) struct FtraceReader {
    builder: ProfileBuilder,
    diagnostics: Diagnostics,
    thread_of: FxHashMap<String, TrackId>,
    cpus: Vec<Option<Cpu>>,
    line: Vec<u8>,
    bytes: u64,
    limits: ReadLimits,
}

/// A processor, and what runs on it.
struct Cpu {
    track: TrackId,
    running: Option<(StrId, ArgsId, i64)>,
}

impl FtraceReader {
    pub fn new(limits: ReadLimits) -> Self {
        Self {
            builder: ProfileBuilder::new(FORMAT),
            diagnostics: Diagnostics::new(),
            thread_of: FxHashMap::default(),
            cpus: Vec::new(),
            line: Vec::new(),
            bytes: 0,
            limits,
        }
    }

    fn flush(&mut self) {
        let bytes = std::mem::take(&mut self.line);
        let text = String::from_utf8_lossy(&bytes);
        let offset = self.bytes.saturating_sub(bytes.len() as u64);
        match Line::parse(&text) {
            Some(line) => self.event(&line, offset),
            None => {
                let shown = text.trim();
                if !shown.is_empty() && !shown.starts_with('#') && shown != "TRACE:" {
                    self.diagnostics.add("not_an_event", Some(offset), || {
                        format!("the line {:?} is no event: skipped", shown.chars().take(80).collect::<String>())
                    });
                }
            }
        }
        self.line = bytes;
        self.line.clear();
    }

    fn event(&mut self, line: &Line<'_>, offset: u64) {
        // What a tracer says about clocks is at the time 0 of another clock.
        if line.is_mark() && line.text.starts_with("trace_event_clock_sync") {
            return self.builder.count_event(Some("clock_sync"));
        }
        if line.is_mark() && self.mark(line, offset) {
            return;
        }
        match line.function {
            "sched_switch" => self.switch(line),
            "cpu_frequency" => self.frequency(line),
            _ => {
                let track = self.cpu(line.cpu);
                let (name, args) = (self.builder.intern(line.function), self.text_args(line));
                self.builder.instant(track, line.ts_ns, b'i', b't', name, StrId::EMPTY, args);
            }
        }
    }

    fn text_args(&mut self, line: &Line<'_>) -> ArgsId {
        let mut args = ObjectText::default();
        args.text("task", &format!("{}-{}", line.comm, line.tid));
        args.text("text", line.text);
        self.builder.add_args(&args.take())
    }

    /// The track of the thread that wrote a line. `pid`: its process, where the line says it.
    fn thread(&mut self, line: &Line<'_>, pid: Option<&str>) -> TrackId {
        if let Some(&track) = self.thread_of.get(line.tid) {
            return track;
        }
        let pid = pid.or(line.tgid).unwrap_or(line.tid);
        let name = if pid == line.tid { line.comm } else { "" };
        let process = self.builder.process(pid, name);
        let track = self.builder.thread(process, line.tid, line.comm);
        self.thread_of.insert(line.tid.to_owned(), track);
        track
    }

    /// Takes a mark; false when its text is none that is known.
    fn mark(&mut self, line: &Line<'_>, offset: u64) -> bool {
        let mut parts = line.text.splitn(3, '|');
        let (letter, pid, rest) = (parts.next().unwrap_or(""), parts.next(), parts.next().unwrap_or(""));
        let (ts, pid) = (line.ts_ns, pid.filter(|p| !p.is_empty()));
        match (letter, pid) {
            ("B", Some(_)) => {
                let (track, name) = (self.thread(line, pid), self.builder.intern(rest));
                self.builder.begin(track, ts, name, StrId::EMPTY, ArgsId::NONE, offset);
            }
            ("E", _) => {
                let track = self.thread(line, pid);
                self.builder.end(track, ts, StrId::EMPTY, ArgsId::NONE, offset);
            }
            ("C", Some(_)) => {
                let Some((name, value)) = rest.rsplit_once('|') else { return false };
                let Ok(value) = value.trim().parse::<f64>() else { return false };
                let track = self.thread(line, pid);
                let (name, key) = (self.builder.intern(name), self.builder.intern("value"));
                self.builder.counter(track, ts, name, StrId::EMPTY, &[(key, value)]);
            }
            ("S" | "F", Some(_)) => {
                let Some((name, cookie)) = rest.rsplit_once('|') else { return false };
                let track = self.thread(line, pid);
                let (name, id) = (self.builder.intern(name), LinkValue::Text(self.builder.intern(cookie.trim())));
                let (phase, category) = (if letter == "S" { b'S' } else { b'F' }, self.builder.intern("atrace"));
                let (args, binds_enclosing) = (ArgsId::NONE, false);
                self.builder.link(LinkEvent { track, ts_ns: ts, phase, name, category, id, binds_enclosing, args });
            }
            ("I" | "N", Some(_)) => {
                let (track, name) = (self.thread(line, pid), self.builder.intern(rest));
                self.builder.instant(track, ts, b'i', b't', name, StrId::EMPTY, ArgsId::NONE);
            }
            _ => return false,
        }
        true
    }

    fn cpu_process(&mut self) -> ProcessId {
        self.builder.process("CPU", "CPU")
    }

    fn cpu(&mut self, number: u32) -> TrackId {
        let slot = number.min(4095) as usize;
        if self.cpus.len() <= slot {
            self.cpus.resize_with(slot + 1, || None);
        }
        if let Some(cpu) = &self.cpus[slot] {
            return cpu.track;
        }
        let process = self.cpu_process();
        let track = self.builder.thread(process, &slot.to_string(), &format!("CPU {slot}"));
        self.builder.set_track_sort_index(track, slot as i64);
        self.cpus[slot] = Some(Cpu { track, running: None });
        track
    }

    fn switch(&mut self, line: &Line<'_>) {
        let track = self.cpu(line.cpu);
        self.builder.count_event(Some("sched_switch"));
        self.builder.note_track(track);
        self.builder.note_time(line.ts_ns);
        let (next, pid) = (line.field_until("next_comm", "next_pid="), line.field("next_pid"));
        let mut args = ObjectText::default();
        args.text("pid", pid.unwrap_or_default());
        args.text("prio", line.field("next_prio").unwrap_or_default());
        let (name, args) = (self.builder.intern(next.unwrap_or_default()), self.builder.add_args(&args.take()));
        // Process 0 is the idle task.
        let next = pid.filter(|pid| *pid != "0").map(|_| (name, args, line.ts_ns));
        self.change(line.cpu.min(4095) as usize, line.ts_ns, next);
    }

    /// Ends what runs on a processor and begins what is next.
    fn change(&mut self, slot: usize, ts: i64, next: Option<(StrId, ArgsId, i64)>) {
        let Some(Some(cpu)) = self.cpus.get_mut(slot) else { return };
        let before = std::mem::replace(&mut cpu.running, next);
        if let Some((name, args, start)) = before {
            self.builder.derived_slice(cpu.track, start, ts, name, StrId::EMPTY, args);
        }
    }

    fn frequency(&mut self, line: &Line<'_>) {
        let (state, cpu) = (line.field("state").and_then(|s| s.parse::<f64>().ok()), line.field("cpu_id"));
        let process = self.cpu_process();
        let track = self.builder.thread(process, "frequency", "");
        let name = self.builder.intern(&format!("CPU {} frequency (kHz)", cpu.unwrap_or("?")));
        let key = self.builder.intern("value");
        self.builder.counter(track, line.ts_ns, name, StrId::EMPTY, &[(key, state.unwrap_or(0.0))]);
    }
}

impl ChunkedReader for FtraceReader {
    fn push(&mut self, chunk: &[u8]) -> Result<(), ReadError> {
        for piece in chunk.split_inclusive(|&b| b == b'\n') {
            self.bytes += piece.len() as u64;
            self.line.extend_from_slice(&piece[..piece.len().min(MAX_LINE_BYTES.saturating_sub(self.line.len()))]);
            if piece.ends_with(b"\n") {
                self.flush();
            }
        }
        self.limits.check(&self.builder)
    }

    fn finish(mut self: Box<Self>) -> Result<Profile, ReadError> {
        if !self.line.is_empty() {
            self.flush();
        }
        let end = self.builder.end_time();
        for slot in 0..self.cpus.len() {
            self.change(slot, end, None);
        }
        if self.builder.events() == 0 {
            self.diagnostics.add("no_events", None, || "the log has no events".to_owned());
        }
        Ok(self.builder.finish(self.diagnostics))
    }

    fn progress(&self) -> ReadProgress {
        ReadProgress { file_bytes: self.bytes, text_bytes: self.bytes, events: self.builder.events() }
    }
}
