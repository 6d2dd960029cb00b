//! Profiles of the Firefox Profiler in two forms: the one that Gecko records (tables with a schema), and the one that the
//! profiler saves and samply writes (tables by column, since version 56 shared between threads). Either may be inside a
//! recording of the old developer tools. Times are milliseconds.
//!
//! Formats: <https://github.com/firefox-devtools/profiler/tree/main/docs-developer>.

use super::frames::{bad_sample, check_slices};
use crate::decimal::TimeUnit;
use crate::document::TextContent;
use crate::json::{Doc, Value};
use crate::stacks::{StackFrame, StackTable, StackTrack, frame};
use ns_base::Refusal;
use ns_base::{Diagnostics, FxHashMap, StrId};
use ns_profile::{ArgsId, ProcessId, ProfileBuilder, TrackId};

mod counters;
mod frame_lists;
mod markers;
mod table;
mod weights;

use table::rows;
use weights::Weights;

/// The deepest nesting of processes inside processes that is read.
const MAX_PROCESS_DEPTH: u32 = 4;

/// Reads a whole file.
pub(crate) fn read_firefox(text: &[u8]) -> Result<TextContent, Refusal> {
    let doc = Doc::new(text);
    let root = doc.root();
    let [inner, ancient] = root.fields(["profile", "profileJSON"]);
    let profile = inner.or(ancient).filter(|p| p.is_object()).unwrap_or(root);
    let is_recording = root.get("fileType").is_some();
    let builder = ProfileBuilder::new("firefox-profile");
    let symbols = frame_lists::symbols(root.get("symbolicationTable"));
    let mut reader = Reader {
        builder,
        diagnostics: Diagnostics::new(),
        is_recording,
        processes: 0,
        symbols,
        weights: Weights::None,
    };
    if is_recording {
        reader.diagnostics.add("markers_on_another_clock", None, || {
            "markers of such a recording count from another time than its samples: not shown".to_owned()
        });
    }
    let start_ns = reader.start_ns(profile);
    reader.note_weights(profile);
    if let Some(samples) = ancient.filter(|a| a.is_array()) {
        // Before threads there was one list of samples.
        frame_lists::read_only(&mut reader, samples, root);
    }
    reader.profile(profile, start_ns, text.len(), MAX_PROCESS_DEPTH)?;
    doc.report_damage(&mut reader.diagnostics);
    Ok(TextContent::of(reader.builder, reader.diagnostics))
}

struct Reader {
    builder: ProfileBuilder,
    diagnostics: Diagnostics,
    is_recording: bool,
    /// Number of profiles of processes so far, including the outermost.
    processes: u32,
    /// Names for frames that are numbers.
    symbols: FxHashMap<String, String>,
    weights: Weights,
}

/// Names that a thread's tables refer to by position.
struct Names<'a> {
    strings: Vec<Value<'a>>,
    categories: Vec<StrId>,
}

impl Names<'_> {
    fn text(&self, position: Option<Value<'_>>) -> String {
        let value = position.and_then(Value::index).and_then(|i| self.strings.get(i));
        value.and_then(|v| v.str()).unwrap_or_default().into_owned()
    }

    fn category(&self, position: Option<Value<'_>>) -> StrId {
        position.and_then(Value::index).and_then(|i| self.categories.get(i)).copied().unwrap_or(StrId::EMPTY)
    }
}

impl Reader {
    fn start_ns(&self, profile: Value<'_>) -> i64 {
        let start = profile.get("meta").and_then(|m| m.get("startTime"));
        start.and_then(|v| v.ns(TimeUnit::Ms)).unwrap_or(0)
    }

    fn note_weights(&mut self, profile: Value<'_>) {
        let interval = profile.get("meta").and_then(|m| m.get("interval")).and_then(|v| v.ns(TimeUnit::Ms));
        let all = std::iter::once(profile).chain(profile.get("processes").into_iter().flat_map(Value::items));
        let threads = all.filter_map(|p| p.get("threads")).flat_map(Value::items).filter(|t| t.is_object());
        let threads: Vec<_> = threads.collect();
        self.weights = Weights::of(threads.into_iter(), interval.unwrap_or(0).max(0));
        if let Weights::Counts(unit, name) = self.weights {
            unit.note(name, &mut self.builder, &mut self.diagnostics);
            self.diagnostics.add("times_left_out", None, || {
                format!("the samples have weights in {name}, which their lengths are: times, markers and counters are not shown")
            });
        }
    }

    fn profile(&mut self, profile: Value<'_>, root_ns: i64, bytes: usize, depth: u32) -> Result<(), Refusal> {
        let [meta, threads, shared, processes, counters] =
            profile.fields(["meta", "threads", "shared", "processes", "counters"]);
        let [product, interval, categories] =
            meta.map_or([None; 3], |m| m.fields(["product", "interval", "categories"]));
        let product = product.and_then(Value::str).unwrap_or_default().into_owned();
        if !product.is_empty() && depth == MAX_PROCESS_DEPTH {
            self.builder.set_property("product", &serde_json::Value::from(product.clone()).to_string());
        }
        let interval_ns = interval.and_then(|v| v.ns(TimeUnit::Ms)).unwrap_or(0).max(0);
        let names = categories.into_iter().flat_map(Value::items).map(|c| c.get("name").and_then(Value::str));
        let categories: Vec<_> = names.map(|n| self.builder.intern(&n.unwrap_or_default())).collect();
        let shift_ns = self.start_ns(profile).saturating_sub(root_ns);
        // Processes without an id are told apart by the profile that they are in.
        let pid = if self.processes == 0 { String::new() } else { format!("process {}", self.processes) };
        self.processes = self.processes.saturating_add(1);
        let listed = threads.into_iter().flat_map(Value::items);
        for thread in listed.chain(threads.into_iter().flat_map(Value::members).map(|(_, thread)| thread)) {
            if thread.is_object() {
                let is_recording = self.is_recording;
                let context = Context { shared, shift_ns, interval_ns, product: &product, pid: &pid, is_recording };
                self.thread(thread, &context, &categories)?;
                check_slices(&self.builder, bytes)?;
            } else if let Some(text) = thread.str().filter(|_| depth > 0) {
                // Until version 4 Gecko wrote the profile of another process as JSON inside a string.
                let doc = Doc::new(text.as_bytes());
                self.profile(doc.root(), root_ns, bytes, depth - 1)?;
                doc.report_damage(&mut self.diagnostics);
            }
        }
        let has_times = self.has_times();
        for counter in counters.into_iter().flat_map(Value::items).filter(|_| has_times) {
            counters::read(self, counter, shift_ns);
        }
        for process in processes.into_iter().flat_map(Value::items).filter(|_| depth > 0) {
            self.profile(process, root_ns, bytes, depth - 1)?;
        }
        Ok(())
    }

    fn thread(&mut self, thread: Value<'_>, context: &Context<'_>, categories: &[StrId]) -> Result<(), Refusal> {
        let [name, process_name, pid, tid] = thread.fields(["name", "processName", "pid", "tid"]);
        let pid = pid.and_then(Value::scalar).unwrap_or(context.pid.into());
        let process_name = process_name.and_then(Value::str).unwrap_or(context.product.into());
        let process = self.builder.process(&pid, &process_name);
        let tid = tid.and_then(Value::scalar).unwrap_or_default();
        let name = name.and_then(Value::str).unwrap_or_default();
        let mut strings = Vec::new();
        for holder in [Some(thread), context.shared].into_iter().flatten() {
            let [array, table] = holder.fields(["stringArray", "stringTable"]);
            // An early processed format has { "_array": [...] }.
            let list = array.or_else(|| table.map(|t| t.get("_array").unwrap_or(t)));
            if strings.is_empty() {
                strings = list.into_iter().flat_map(Value::items).collect();
            }
        }
        let names = Names { strings, categories: categories.to_vec() };
        let mut stacks = self.stacks(thread, context, &names);
        let samples = thread.get("samples");
        let track = self.free_track(process, &tid, &name);
        if let Some(samples) = samples.filter(|s| s.is_array()) {
            frame_lists::read(self, samples, track, context);
        } else if let Some(samples) = samples {
            self.samples(samples, track, &mut stacks, context);
        }
        if let Some(markers) = thread.get("markers").filter(|_| !context.is_recording && self.has_times()) {
            markers::read(self, markers, &names, track, &name, context.shift_ns);
        }
        Ok(())
    }

    const fn has_times(&self) -> bool {
        !matches!(self.weights, Weights::Counts(..))
    }

    /// The track of a thread; another track if the file has the tid twice in a process.
    fn free_track(&mut self, process: ProcessId, tid: &str, name: &str) -> TrackId {
        let mut text = tid.to_owned();
        for again in 2..1000 {
            let track = self.builder.thread(process, &text, "");
            if !self.builder.is_used(track) {
                return self.builder.thread(process, &text, name);
            }
            text = format!("{tid} ({again})");
        }
        self.builder.thread(process, tid, name)
    }

    fn stacks(&mut self, thread: Value<'_>, context: &Context<'_>, names: &Names<'_>) -> StackTable {
        let [funcs, frames, stacks, resources, libs] =
            ["funcTable", "frameTable", "stackTable", "resourceTable", "sources"].map(|key| context.table(thread, key));
        let mut files = Vec::new();
        rows(resources, ["name"], |_, [name]| files.push(names.text(name)));
        let mut sources = Vec::new();
        rows(libs, ["filename"], |_, [name]| sources.push(names.text(name)));
        let mut functions = Vec::new();
        let keys = ["name", "fileName", "lineNumber", "columnNumber", "resource", "source"];
        rows(funcs, keys, |_, [name, file, line, col, resource, source]| {
            let place = |v: Option<Value<'_>>, list: &[String]| {
                v.and_then(Value::index).and_then(|i| list.get(i)).cloned().unwrap_or_default()
            };
            let mut file = names.text(file);
            for other in [place(source, &sources), place(resource, &files)] {
                file = if file.is_empty() { other } else { file };
            }
            functions.push((names.text(name), file, line.and_then(Value::i64), col.and_then(Value::i64)));
        });
        let mut frame_rows: Vec<StackFrame> = Vec::new();
        let builder = &mut self.builder;
        rows(frames, ["func", "location", "category"], |_, [func, location, category]| {
            let made = match func.and_then(Value::index).and_then(|i| functions.get(i)) {
                Some((name, file, line, col)) => frame(builder, name, file, *line, *col),
                None => location_frame(builder, &names.text(location)),
            };
            frame_rows.push(StackFrame { category: names.category(category), ..made });
        });
        let mut table = StackTable::default();
        rows(stacks, ["frame", "prefix"], |_, [frame, prefix]| {
            let frame = frame.and_then(Value::index).and_then(|i| frame_rows.get(i)).copied();
            table.push(frame.unwrap_or(StackFrame::of_name(StrId::EMPTY)), prefix.and_then(Value::index));
        });
        table
    }

    fn samples(&mut self, samples: Value<'_>, track: TrackId, stacks: &mut StackTable, context: &Context<'_>) {
        let (root, weights) = (self.builder.intern("(root)"), self.weights);
        let mut line =
            SampleLine { stack: StackTrack::new(track), weights, clock: context.shift_ns, until: None, last: None };
        rows(Some(samples), ["stack", "time", "timeDeltas", "weight"], |_, [leaf, time, delta, weight]| {
            let at = match (time.and_then(|v| v.ns(TimeUnit::Ms)), delta.and_then(|v| v.ns(TimeUnit::Ms))) {
                _ if !self.has_times() => line.until.unwrap_or(0),
                (Some(time), _) => time.saturating_add(context.shift_ns),
                (None, Some(delta)) => line.clock.saturating_add(delta),
                (None, None) => {
                    self.builder.count_event(None);
                    return bad_sample(&mut self.diagnostics, leaf, "a sample has no time");
                }
            };
            self.builder.count_event(Some("P"));
            self.builder.note_track(track);
            if line.last.is_some_and(|last| at < last) {
                self.diagnostics.add("time_backwards", None, || {
                    "a sample is before the one in front of it: taken as at the same time".to_owned()
                });
            }
            line.clock = at;
            let length = weights.ns(weight);
            if length.is_some_and(|ns| ns < 0) {
                bad_sample(&mut self.diagnostics, weight, "a sample has a weight below zero");
            }
            let frames = match stacks.path(leaf.and_then(Value::index)) {
                [first, rest @ ..] if first.name == root => rest,
                all => all,
            };
            line.add(&mut self.builder, at, length.map(|ns| ns.max(0)), frames);
        });
        let end = line.until.or(line.last.map(|last| last.saturating_add(context.interval_ns)));
        line.stack.finish(&mut self.builder, end.unwrap_or(context.shift_ns));
    }
}

/// The samples of a thread, as they follow each other.
struct SampleLine {
    stack: StackTrack,
    weights: Weights,
    /// The time of the last sample as the file has it, to which the next difference is added.
    clock: i64,
    /// The end of a sample that has a length.
    until: Option<i64>,
    /// The time at which the last sample is shown.
    last: Option<i64>,
}

impl SampleLine {
    fn add(&mut self, builder: &mut ProfileBuilder, at: i64, length: Option<i64>, frames: &[StackFrame]) {
        let at = at.max(self.last.unwrap_or(i64::MIN)).max(self.until.unwrap_or(i64::MIN));
        if let Some(until) = self.until.filter(|until| *until < at) {
            self.stack.set(builder, until, &[]);
        }
        builder.note_time(at);
        self.stack.set(builder, at, frames);
        self.last = Some(at);
        self.until = match length {
            Some(ns) => Some(at.saturating_add(ns)),
            None if self.weights == Weights::Ms => Some(at),
            None => None,
        };
    }
}

/// Data that the threads of a process share.
struct Context<'a> {
    shared: Option<Value<'a>>,
    shift_ns: i64,
    interval_ns: i64,
    product: &'a str,
    /// The process of threads that do not name theirs.
    pid: &'a str,
    /// A recording of the old developer tools: its samples count from its start, but its markers do not.
    is_recording: bool,
}

impl<'a> Context<'a> {
    fn table(&self, thread: Value<'a>, key: &str) -> Option<Value<'a>> {
        thread.get(key).or_else(|| self.shared.and_then(|s| s.get(key)))
    }
}

/// A frame of Gecko's text: `name (file:line:column)`, a name, or an address.
fn location_frame(builder: &mut ProfileBuilder, location: &str) -> StackFrame {
    let split = location.strip_suffix(')').and_then(|l| l.split_once(" ("));
    let Some((name, place)) = split else { return frame(builder, location, "", None, None) };
    // In "a -> b" the last part is the location of the function.
    let place = place.rsplit(" -> ").next().unwrap_or(place);
    let number = |text: &str| text.parse::<i64>().ok().filter(|_| text.bytes().all(|b| b.is_ascii_digit()));
    let (head, last) = place.rsplit_once(':').map_or((place, None), |(h, n)| (h, number(n)));
    let before = head.rsplit_once(':').and_then(|(h, n)| number(n).map(|n| (h, n)));
    match (last, before) {
        (Some(col), Some((file, line))) => frame(builder, name, file, Some(line), Some(col)),
        (Some(line), None) => frame(builder, name, head, Some(line), None),
        _ => frame(builder, name, place, None, None),
    }
}

/// No arguments, or a JSON object that is data of a marker.
fn object_args(builder: &mut ProfileBuilder, data: Option<Value<'_>>) -> ArgsId {
    match data.filter(|d| d.is_object()) {
        Some(data) => builder.add_args(&data.raw_text()),
        None => ArgsId::NONE,
    }
}
