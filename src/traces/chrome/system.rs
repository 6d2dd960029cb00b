//! What the operating system recorded beside the events (`systemTraceEvents`): the log of the Linux kernel, whose rows
//! are made when all events are known, and the records of other systems, which are kept but not shown.

use super::event::RawEvent;
use crate::decimal::us_text_to_ns;
use crate::ftrace::EmbeddedLog;
use crate::json::scan::{Members, number_bytes, text_of};
use ns_base::Diagnostics;
use ns_profile::ProfileBuilder;

/// The key beside the events.
pub(super) const SYSTEM_TRACE: &str = "systemTraceEvents";

/// The most clock marks among the events that are remembered.
const MAX_SYNCS: usize = 1000;

/// The largest value that is kept without being shown.
const MAX_KEPT_BYTES: usize = 64 << 10;

/// The log as it is in the file, and what the events say about its clock.
#[derive(Default)]
pub(super) struct SystemTrace {
    value: Vec<u8>,
    offset: u64,
    /// Names of clock marks and their times.
    syncs: Vec<(String, i64)>,
}

impl SystemTrace {
    /// Takes the value. A value that is not a log is kept as a property, with a diagnostic unless it is empty.
    pub fn keep(&mut self, value: &[u8], offset: u64, builder: &mut ProfileBuilder, diagnostics: &mut Diagnostics) {
        if EmbeddedLog::of(value, offset).is_some() {
            (self.value, self.offset) = (value.to_vec(), offset);
            return;
        }
        if !matches!(value, b"\"\"" | b"[]" | b"{}" | b"null") {
            diagnostics.add("system_trace", Some(offset), || {
                format!("{SYSTEM_TRACE} beside the events is not a log of the Linux kernel: kept, but not shown")
            });
        }
        if value.len() <= MAX_KEPT_BYTES {
            builder.set_property(SYSTEM_TRACE, &String::from_utf8_lossy(value));
        }
    }

    /// Takes a clock mark among the events: its name, and the time at which it was requested, if known.
    pub fn sync(&mut self, event: &RawEvent<'_>, ts_ns: i64) {
        if self.syncs.len() >= MAX_SYNCS || !event.args.starts_with(b"{") {
            return;
        }
        let (mut name, mut at) = (None, ts_ns);
        let mut members = Members::new(event.args, 0);
        while let Ok(Some((key, value))) = members.next_member() {
            match key {
                b"sync_id" => name = Some(text_of(value).into_owned()),
                b"issue_ts" => at = us_text_to_ns(number_bytes(value)).unwrap_or(at),
                _ => {}
            }
        }
        self.syncs.extend(name.map(|name| (name, at)));
    }

    /// Adds the rows of the log, if there is one.
    pub fn read(&self, builder: &mut ProfileBuilder, diagnostics: &mut Diagnostics) {
        if let Some(log) = EmbeddedLog::of(&self.value, self.offset) {
            log.read(builder, diagnostics, &self.syncs);
        }
    }
}
