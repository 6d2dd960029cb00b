//! A log inside a Chrome trace: `systemTraceEvents`, a string with the text of the log as it would be in a file.
//!
//! The kernel's clock usually differs from the clock of the events. Catapult's rule relates them: the tracer writes a
//! mark `trace_event_clock_sync: parent_ts=SECONDS` with the time of the other clock (0 if both are the same), or a mark
//! with a `name` that an event of the phase `c` has too.

use super::line::Line;
use super::log::{Log, LogPlacement};
use crate::decimal::{TimeUnit, text_to_ns};
use crate::json::scan::unescape;
use ns_base::Diagnostics;
use ns_profile::ProfileBuilder;

/// The mark that relates clocks.
const CLOCK_SYNC: &str = "trace_event_clock_sync:";

/// The most named marks of the log that are remembered.
const MAX_SYNCS: usize = 1000;

/// The content of the string that holds a log, with its escapes.
pub struct EmbeddedLog<'a> {
    text: &'a [u8],
    /// Offset of the content in the file.
    offset: u64,
}

/// Facts about the log's clock, from a first pass over the lines.
#[derive(Debug, Default)]
struct Clock {
    /// Earliest and latest time.
    span: Option<(i64, i64)>,
    /// The offset to add, by the first mark that has the time of the other clock.
    shift_ns: Option<i64>,
    /// Marks with a name, and their times.
    named: Vec<(String, i64)>,
}

impl<'a> EmbeddedLog<'a> {
    /// The log in a JSON value that begins at `offset` and may be cut off; `None` if the value is not a string or has no
    /// line that is an event.
    pub fn of(value: &'a [u8], offset: u64) -> Option<Self> {
        let text = value.strip_prefix(b"\"")?;
        let text = text.strip_suffix(b"\"").unwrap_or(text);
        let log = Self { text, offset: offset + 1 };
        log.lines().any(|(_, line)| Line::parse(&unescape(line)).is_some()).then_some(log)
    }

    /// Adds its rows beside the events that were read. `syncs`: names of clock marks among the events, and their times.
    pub fn read(&self, builder: &mut ProfileBuilder, diagnostics: &mut Diagnostics, syncs: &[(String, i64)]) {
        let shift_ns = self.shift(builder.bounds(), diagnostics, syncs);
        let mut log = Log::at(LogPlacement { shift_ns, beside_events: true });
        for (at, line) in self.lines() {
            log.line(builder, diagnostics, &unescape(line), self.offset + at as u64);
        }
        log.finish(builder);
    }

    /// The offset of the log's times from the events' times, which lie between `bounds`.
    fn shift(&self, bounds: Option<(i64, i64)>, diagnostics: &mut Diagnostics, syncs: &[(String, i64)]) -> i64 {
        let clock = self.clock();
        if let Some(shift) = clock.shift_ns.or_else(|| clock.shift_by_name(syncs)) {
            return shift;
        }
        let (Some((low, high)), Some((first, last))) = (bounds, clock.span) else { return 0 };
        let overlaps = first <= high && last >= low;
        diagnostics.add("clocks_not_aligned", Some(self.offset), || {
            let taken =
                if overlaps { "its times are taken as they are" } else { "it is shown from the first event on" };
            format!(
                "the kernel's log (systemTraceEvents) has no mark ({CLOCK_SYNC} parent_ts) that says how its clock \
                 relates to that of the events: {taken}, so do not compare times between the two"
            )
        });
        if overlaps { 0 } else { low.saturating_sub(first) }
    }

    fn clock(&self) -> Clock {
        let mut clock = Clock::default();
        for (_, raw) in self.lines() {
            let text = unescape(raw);
            let Some(line) = Line::parse(&text) else { continue };
            let Some(mark) = line.text.strip_prefix(CLOCK_SYNC).filter(|_| line.is_mark()) else {
                clock.span = Some(
                    clock
                        .span
                        .map_or((line.ts_ns, line.ts_ns), |(low, high)| (low.min(line.ts_ns), high.max(line.ts_ns))),
                );
                continue;
            };
            let parent = mark.trim().strip_prefix("parent_ts=").map(|s| text_to_ns(s.trim().as_bytes(), TimeUnit::S));
            if let Some(Ok(parent_ns)) = parent {
                // Zero means that both clocks are the same.
                let shift = if parent_ns == 0 { 0 } else { parent_ns.saturating_sub(line.ts_ns) };
                clock.shift_ns = clock.shift_ns.or(Some(shift));
            } else if let Some(name) = line.field("name").filter(|_| clock.named.len() < MAX_SYNCS) {
                clock.named.push((name.to_owned(), line.ts_ns));
            }
        }
        clock
    }

    /// The lines with their escapes, and the start of each. A line ends at an escaped line break.
    fn lines(&self) -> impl Iterator<Item = (usize, &'a [u8])> + use<'a> {
        let (text, mut at) = (self.text, 0);
        std::iter::from_fn(move || {
            let begin = at;
            if begin >= text.len() {
                return None;
            }
            let mut from = begin;
            while let Some(found) = text.get(from..).and_then(|rest| memchr::memchr2(b'\\', b'\n', rest)) {
                let hit = from + found;
                let escape = usize::from(text[hit] == b'\\');
                if escape == 0 || text.get(hit + 1) == Some(&b'n') {
                    at = hit + 1 + escape;
                    return Some((begin, &text[begin..hit]));
                }
                from = hit + 2;
            }
            at = text.len();
            Some((begin, &text[begin..]))
        })
    }
}

impl Clock {
    fn shift_by_name(&self, syncs: &[(String, i64)]) -> Option<i64> {
        self.named.iter().find_map(|(name, ts)| {
            let (_, other) = syncs.iter().find(|(known, _)| known == name)?;
            Some(other.saturating_sub(*ts))
        })
    }
}
