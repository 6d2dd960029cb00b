//! Turns the lines of a log into the rows of a profile.

use super::line::Line;
use crate::json::ObjectText;
use ns_base::convert::usize_to_i64;
use ns_base::{Diagnostics, FxHashMap, StrId};
use ns_profile::{ArgsId, LinkEvent, LinkValue, ProcessId, ProfileBuilder, TrackId};

/// Threads and processors of a log, and the range of its times.
#[derive(Default)]
pub(super) struct Log {
    thread_of: FxHashMap<String, TrackId>,
    cpus: Vec<Option<Cpu>>,
    place: LogPlacement,
}

/// Where the rows of a log belong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LogPlacement {
    /// Added to every time, in nanoseconds.
    pub shift_ns: i64,
    /// Whether threads have events of another source, which keep their tracks and names.
    pub beside_events: bool,
}

/// A processor, and the task that runs on it.
struct Cpu {
    track: TrackId,
    running: Option<(StrId, ArgsId, i64)>,
}

impl Log {
    /// A log whose rows belong to `place`.
    pub fn at(place: LogPlacement) -> Self {
        Self { place, ..Self::default() }
    }

    /// Takes one line of text, which begins at this byte of the file.
    pub fn line(&mut self, builder: &mut ProfileBuilder, diagnostics: &mut Diagnostics, text: &str, offset: u64) {
        if let Some(mut line) = Line::parse(text) {
            line.ts_ns = line.ts_ns.saturating_add(self.place.shift_ns);
            return self.event(builder, &line, offset);
        }
        let content = text.trim();
        if !content.is_empty() && !content.starts_with('#') && content != "TRACE:" {
            diagnostics.add("not_an_event", Some(offset), || {
                format!("the line {:?} is not an event: skipped", content.chars().take(80).collect::<String>())
            });
        }
    }

    /// Ends everything that still runs.
    pub fn finish(&mut self, builder: &mut ProfileBuilder) {
        let end = builder.end_time();
        for slot in 0..self.cpus.len() {
            self.change(builder, slot, end, None);
        }
    }

    fn event(&mut self, builder: &mut ProfileBuilder, line: &Line<'_>, offset: u64) {
        // Clock marks of a tracer are at the time 0 of another clock.
        if line.is_mark() && line.text.starts_with("trace_event_clock_sync") {
            return builder.count_event(Some("clock_sync"));
        }
        if line.is_mark() && self.mark(builder, line, offset) {
            return;
        }
        match line.function {
            "sched_switch" => self.switch(builder, line),
            "cpu_frequency" => frequency(builder, line),
            _ => {
                let track = self.cpu(builder, line.cpu);
                let (name, args) = (builder.intern(line.function), text_args(builder, line));
                builder.instant(track, line.ts_ns, b'i', b't', name, StrId::EMPTY, args);
            }
        }
    }

    /// The track of the thread that wrote a line. `pid`: its process, if the line names it.
    fn thread(&mut self, builder: &mut ProfileBuilder, line: &Line<'_>, pid: Option<&str>) -> TrackId {
        if let Some(&track) = self.thread_of.get(line.tid) {
            return track;
        }
        let pid = pid.or(line.tgid).unwrap_or(line.tid);
        let process = builder.process(pid, "");
        if pid == line.tid && builder.process_name(process).is_empty() {
            builder.process(pid, line.comm);
        }
        let track = if self.place.beside_events {
            builder.thread(process, &format!("{} kernel log", line.tid), &format!("{} (kernel log)", line.comm))
        } else {
            builder.thread(process, line.tid, line.comm)
        };
        self.thread_of.insert(line.tid.to_owned(), track);
        track
    }

    /// Takes a mark; false when its text is unknown.
    fn mark(&mut self, builder: &mut ProfileBuilder, line: &Line<'_>, offset: u64) -> bool {
        let mut parts = line.text.splitn(3, '|');
        let (letter, pid, rest) = (parts.next().unwrap_or(""), parts.next(), parts.next().unwrap_or(""));
        let (ts, pid) = (line.ts_ns, pid.filter(|p| !p.is_empty()));
        match (letter, pid) {
            ("B", Some(_)) => {
                let (track, name) = (self.thread(builder, line, pid), builder.intern(rest));
                builder.begin(track, ts, name, StrId::EMPTY, ArgsId::NONE, offset);
            }
            ("E", _) => {
                let track = self.thread(builder, line, pid);
                builder.end(track, ts, StrId::EMPTY, ArgsId::NONE, offset);
            }
            ("C", Some(_)) => {
                let Some((name, value)) = rest.rsplit_once('|') else { return false };
                let Ok(value) = value.trim().parse::<f64>() else { return false };
                let track = self.thread(builder, line, pid);
                let (name, key) = (builder.intern(name), builder.intern("value"));
                builder.counter(track, ts, name, StrId::EMPTY, &[(key, value)]);
            }
            ("S" | "F", Some(_)) => {
                let Some((name, cookie)) = rest.rsplit_once('|') else { return false };
                let track = self.thread(builder, line, pid);
                let (name, id) = (builder.intern(name), LinkValue::Text(builder.intern(cookie.trim())));
                let (phase, category) = (if letter == "S" { b'S' } else { b'F' }, builder.intern("atrace"));
                let (args, binds_enclosing) = (ArgsId::NONE, false);
                builder.link(LinkEvent { track, ts_ns: ts, phase, name, category, id, binds_enclosing, args });
            }
            ("I" | "N", Some(_)) => {
                let (track, name) = (self.thread(builder, line, pid), builder.intern(rest));
                builder.instant(track, ts, b'i', b't', name, StrId::EMPTY, ArgsId::NONE);
            }
            _ => return false,
        }
        true
    }

    fn cpu(&mut self, builder: &mut ProfileBuilder, number: u32) -> TrackId {
        let slot = number.min(4095) as usize;
        if self.cpus.len() <= slot {
            self.cpus.resize_with(slot + 1, || None);
        }
        if let Some(cpu) = &self.cpus[slot] {
            return cpu.track;
        }
        let process = cpu_process(builder);
        let track = builder.thread(process, &slot.to_string(), &format!("CPU {slot}"));
        builder.set_track_sort_index(track, usize_to_i64(slot));
        self.cpus[slot] = Some(Cpu { track, running: None });
        track
    }

    fn switch(&mut self, builder: &mut ProfileBuilder, line: &Line<'_>) {
        let track = self.cpu(builder, line.cpu);
        builder.count_event(Some("sched_switch"));
        builder.note_track(track);
        builder.note_time(line.ts_ns);
        let (next, pid) = (line.field_until("next_comm", "next_pid="), line.field("next_pid"));
        let mut args = ObjectText::default();
        args.text("pid", pid.unwrap_or_default());
        args.text("prio", line.field("next_prio").unwrap_or_default());
        let (name, args) = (builder.intern(next.unwrap_or_default()), builder.add_args(&args.take()));
        // Process 0 is the idle task.
        let next = pid.filter(|pid| *pid != "0").map(|_| (name, args, line.ts_ns));
        self.change(builder, line.cpu.min(4095) as usize, line.ts_ns, next);
    }

    /// Ends the task that runs on a processor and begins the next one.
    fn change(&mut self, builder: &mut ProfileBuilder, slot: usize, ts: i64, next: Option<(StrId, ArgsId, i64)>) {
        let Some(Some(cpu)) = self.cpus.get_mut(slot) else { return };
        let before = std::mem::replace(&mut cpu.running, next);
        if let Some((name, args, start)) = before {
            builder.derived_slice(cpu.track, start, ts, name, StrId::EMPTY, args);
        }
    }
}

fn text_args(builder: &mut ProfileBuilder, line: &Line<'_>) -> ArgsId {
    let mut args = ObjectText::default();
    args.text("task", &format!("{}-{}", line.comm, line.tid));
    args.text("text", line.text);
    builder.add_args(&args.take())
}

fn cpu_process(builder: &mut ProfileBuilder) -> ProcessId {
    builder.process("CPU", "CPU")
}

fn frequency(builder: &mut ProfileBuilder, line: &Line<'_>) {
    let (state, cpu) = (line.field("state").and_then(|s| s.parse::<f64>().ok()), line.field("cpu_id"));
    let process = cpu_process(builder);
    let track = builder.thread(process, "frequency", "");
    let name = builder.intern(&format!("CPU {} frequency (kHz)", cpu.unwrap_or("?")));
    let key = builder.intern("value");
    builder.counter(track, line.ts_ns, name, StrId::EMPTY, &[(key, state.unwrap_or(0.0))]);
}
