//! Memory timelines of PyTorch's profiler: `export_memory_timeline` to `.raw.json.gz` (a row for each change, in
//! nanoseconds) and to `.json` (times in microseconds, before PyTorch 2.2 in nanoseconds, and the bytes of each category at
//! each).

use super::decimal::TimeUnit;
use super::document::TextContent;
use super::json::{Doc, Value};
use crate::interface::not_a_profile;
use ns_base::Refusal;
use ns_base::convert::i64_to_f64;
use ns_base::{Diagnostics, StrId};
use ns_profile::{ProfileBuilder, TrackId};

/// Categories by number, in the order of `_CATEGORY_TO_COLORS` in `torch/profiler/_memory_profiler.py`.
const CATEGORIES: [&str; 8] =
    ["Parameter", "Optimizer state", "Input", "Temporary", "Activation", "Gradient", "Autograd detail", "Unknown"];
/// Actions by number minus one, as `Action` in the same file.
const ACTIONS: [&str; 4] = ["preexisting", "create", "increment version", "destroy"];

/// Smaller times since 1970 are microseconds (until the year 5138); PyTorch wrote nanoseconds before 2.2.
const LATEST_US: i64 = 100_000_000_000_000_000;

/// Reads a whole file.
pub(super) fn read_memory_timeline(text: &[u8]) -> Result<TextContent, Refusal> {
    let doc = Doc::new(text);
    let mut reader = Reader::new();
    let first = doc.root().items().next().and_then(|row| row.items().next());
    let is_table = doc.root().items().nth(1).and_then(|sizes| sizes.items().next()).is_some_and(Value::is_array);
    match first {
        Some(_) if is_table => reader.table(doc.root()),
        Some(value) if !value.is_array() && !value.is_object() && !value.is_string() => reader.changes(doc.root()),
        _ => {}
    }
    if reader.builder.events() == 0 {
        let what = "a JSON array of something other than events (none has a \"ph\")".to_owned();
        return Err(not_a_profile(&what));
    }
    doc.report_damage(&mut reader.diagnostics);
    Ok(TextContent::of(reader.builder, reader.diagnostics))
}

struct Reader {
    builder: ProfileBuilder,
    diagnostics: Diagnostics,
    track: TrackId,
    chart: StrId,
    keys: [StrId; 8],
}

impl Reader {
    fn new() -> Self {
        let mut builder = ProfileBuilder::new("memory-timeline");
        let process = builder.process("", "PyTorch memory");
        let track = builder.thread(process, "", "Memory");
        let (chart, keys) = (builder.intern("Memory (bytes)"), CATEGORIES.map(|name| builder.intern(name)));
        Self { builder, diagnostics: Diagnostics::new(), track, chart, keys }
    }

    /// Rows of time, action, change in bytes, category. Memory that was allocated before has the time -1.
    fn changes(&mut self, rows: Value<'_>) {
        let mut live = [0i64; 8];
        let mut before = Vec::new();
        let mut actions = [0u64; 4];
        for row in rows.items() {
            let mut values = row.items();
            let mut next = || values.next();
            let (t, action, bytes, category) = (next(), next(), next(), next());
            let category = category.and_then(Value::index).filter(|&c| c < CATEGORIES.len());
            let numbers = (t.and_then(|v| v.ns(TimeUnit::Ns)), bytes.and_then(Value::i64), category);
            let (Some(t), Some(bytes), Some(category)) = numbers else {
                if row.raw().is_empty() {
                    break;
                }
                self.builder.count_event(None);
                self.diagnostics
                    .add("bad_sample", Some(row.offset()), || "a row is not a change of memory: skipped".to_owned());
                continue;
            };
            let action = action.and_then(Value::index).and_then(|a| a.checked_sub(1)).filter(|&a| a < ACTIONS.len());
            if let Some(action) = action {
                actions[action] += 1;
            }
            live[category] = live[category].saturating_add(bytes);
            if t < 0 {
                before.push((category, live[category]));
                continue;
            }
            for (category, bytes) in before.drain(..) {
                self.sample(t, category, i64_to_f64(bytes));
            }
            self.sample(t, category, i64_to_f64(live[category]));
        }
        for (category, bytes) in before {
            self.sample(0, category, i64_to_f64(bytes));
        }
        let actions: Vec<_> = ACTIONS.iter().zip(actions).map(|(name, n)| format!("\"{name}\":{n}")).collect();
        self.builder.set_property("actions", &format!("{{{}}}", actions.join(",")));
    }

    /// A list of times, and for each time a list of held bytes, whose first item is always 0.
    fn table(&mut self, root: Value<'_>) {
        let mut parts = root.items();
        let (times, sizes) = (parts.next(), parts.next());
        let whole = |t: Value<'_>| t.ns(TimeUnit::Ns);
        let latest = times.into_iter().flat_map(Value::items).filter_map(whole).max();
        let unit = if latest.is_some_and(|t| t >= LATEST_US) { TimeUnit::Ns } else { TimeUnit::Us };
        let times: Vec<_> = times.into_iter().flat_map(Value::items).map(|t| t.ns(unit)).collect();
        let first = times.iter().flatten().find(|t| **t >= 0).copied().unwrap_or(0);
        for (t, row) in times.into_iter().zip(sizes.into_iter().flat_map(Value::items)) {
            let Some(t) = t.map(|t| if t < 0 { first } else { t }) else {
                self.builder.count_event(None);
                self.diagnostics
                    .add("bad_sample", Some(row.offset()), || "a row's time is not a number: skipped".to_owned());
                continue;
            };
            let values: Vec<_> = row.items().skip(1).map(|v| v.f64().unwrap_or(0.0)).collect();
            let values: Vec<_> = self.keys.iter().copied().zip(values).collect();
            self.builder.counter(self.track, t, self.chart, StrId::EMPTY, &values);
        }
    }

    fn sample(&mut self, t: i64, category: usize, bytes: f64) {
        self.builder.counter(self.track, t, self.chart, StrId::EMPTY, &[(self.keys[category], bytes)]);
    }
}
