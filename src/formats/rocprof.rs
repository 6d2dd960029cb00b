//! JSON of `rocprofv3` (ROCprofiler-SDK): records of kernels, copies and calls of the API, which name kinds,
//! operations, kernels and agents by number. Times are nanoseconds.

use super::decimal::TimeUnit;
use super::document::TextContent;
use super::json::{Doc, Value};
use ns_base::Refusal;
use ns_base::{Diagnostics, FxHashMap, FxHashSet, StrId};
use ns_profile::{ArgsId, LinkEvent, LinkValue, ProfileBuilder, TrackId};

/// Reads a whole file.
pub(super) fn read_rocprof(text: &[u8]) -> Result<TextContent, Refusal> {
    let doc = Doc::new(text);
    let (mut builder, mut diagnostics) = (ProfileBuilder::new("rocprof"), Diagnostics::new());
    let tool = doc.root().get("rocprofiler-sdk-tool");
    let parts: Vec<_> =
        tool.into_iter().flat_map(|t| if t.is_array() { t.items().collect() } else { vec![t] }).collect();
    for part in parts {
        let names = Names::of(part);
        let [metadata, records] = part.fields(["metadata", "buffer_records"]);
        let pid = metadata.and_then(|m| m.get("pid")).and_then(Value::scalar).unwrap_or_default().into_owned();
        let mut reader =
            Reader { builder: &mut builder, diagnostics: &mut diagnostics, names, pid, launched: FxHashSet::default() };
        let records: Vec<_> = records.into_iter().flat_map(Value::members).collect();
        for (_, list) in records.iter().filter(|(kind, _)| is_device(kind)) {
            reader.note_launched(*list);
        }
        for (kind, list) in records {
            for record in list.items() {
                reader.record(kind, record);
            }
        }
    }
    doc.report_damage(&mut diagnostics);
    Ok(TextContent::of(builder, diagnostics))
}

fn is_device(kind: &[u8]) -> bool {
    matches!(kind, b"kernel_dispatch" | b"memory_copy")
}

/// Names by number.
struct Names {
    /// Operations of each kind of record.
    operations: Vec<Vec<String>>,
    kernels: FxHashMap<i64, String>,
    agents: FxHashMap<i64, String>,
    markers: FxHashMap<i64, String>,
}

impl Names {
    fn of(part: Value<'_>) -> Self {
        let [strings, kernels, agents] = part.fields(["strings", "kernel_symbols", "agents"]);
        let text = |v: Option<Value<'_>>| v.and_then(Value::scalar).unwrap_or_default().into_owned();
        let kinds = strings.and_then(|s| s.get("buffer_records"));
        let operations = kinds
            .into_iter()
            .flat_map(Value::items)
            .map(|kind| kind.get("operations").into_iter().flat_map(Value::items).map(|o| text(Some(o))).collect());
        let mut names = Self {
            operations: operations.collect(),
            kernels: FxHashMap::default(),
            agents: FxHashMap::default(),
            markers: FxHashMap::default(),
        };
        for kernel in kernels.into_iter().flat_map(Value::items) {
            let [id, formatted, demangled, name] =
                kernel.fields(["kernel_id", "formatted_kernel_name", "demangled_kernel_name", "kernel_name"]);
            if let Some(id) = id.and_then(Value::i64) {
                names.kernels.insert(id, text(formatted.or(demangled).or(name)));
            }
        }
        for agent in agents.into_iter().flat_map(Value::items) {
            let [id, product, name, node] = agent.fields(["id", "product_name", "name", "logical_node_id"]);
            if let Some(id) = handle(id) {
                let product = text(product.or(name));
                names.agents.insert(id, format!("{product} (node {})", text(node)));
            }
        }
        for marker in strings.and_then(|s| s.get("marker_api")).into_iter().flat_map(Value::items) {
            let [key, value] = marker.fields(["key", "value"]);
            if let Some(key) = key.and_then(Value::i64) {
                names.markers.insert(key, text(value));
            }
        }
        names
    }
}

/// The number in `{"handle": n}`, or the number itself.
fn handle(value: Option<Value<'_>>) -> Option<i64> {
    let value = value?;
    value.get("handle").or(Some(value)).and_then(Value::i64)
}

struct Reader<'b> {
    builder: &'b mut ProfileBuilder,
    diagnostics: &'b mut Diagnostics,
    names: Names,
    pid: String,
    /// Correlation ids of device work.
    launched: FxHashSet<i64>,
}

impl Reader<'_> {
    fn note_launched(&mut self, list: Value<'_>) {
        self.launched.extend(list.items().filter_map(correlation));
    }

    fn record(&mut self, kind: &[u8], record: Value<'_>) {
        let [start, end, kind_number, operation, thread] =
            record.fields(["start_timestamp", "end_timestamp", "kind", "operation", "thread_id"]);
        let ns = |v: Option<Value<'_>>| v.and_then(|v| v.ns(TimeUnit::Ns));
        let Some(start) = ns(start) else {
            if !record.raw().is_empty() {
                self.builder.count_event(None);
                self.diagnostics.add("no_time", Some(record.offset()), || "a record has no start: skipped".to_owned());
            }
            return;
        };
        let correlated = correlation(record);
        let operations = kind_number.and_then(Value::index).and_then(|k| self.names.operations.get(k));
        let operation = operation.and_then(Value::index).and_then(|o| operations.and_then(|list| list.get(o)));
        let kind = String::from_utf8_lossy(kind);
        let operation = operation.cloned().unwrap_or_else(|| kind.clone().into_owned());
        let (track, name) = if is_device(kind.as_bytes()) {
            self.on_device(record, &kind, &operation)
        } else {
            let process = self.builder.process(&self.pid.clone(), &format!("Host process {}", self.pid));
            let tid = thread.and_then(Value::scalar).unwrap_or_default();
            let track = self.builder.thread(process, &tid, "");
            let marker = correlated.filter(|_| kind == "marker_api").and_then(|id| self.names.markers.get(&id));
            (track, marker.cloned().unwrap_or(operation))
        };
        let (name, category, args) =
            (self.builder.intern(&name), self.builder.intern(&kind), record.args(self.builder));
        let dur = ns(end).map(|end| end.saturating_sub(start));
        self.builder.slice_of(track, start, dur, name, category, args);
        if let Some(id) = correlated.filter(|id| self.launched.contains(id)) {
            let phase = if is_device(kind.as_bytes()) { b'f' } else { b's' };
            self.flow(track, start, phase, id);
        }
    }

    fn on_device(&mut self, record: Value<'_>, kind: &str, operation: &str) -> (TrackId, String) {
        let [info, dst, src] = record.fields(["dispatch_info", "dst_agent_id", "src_agent_id"]);
        let [agent, queue, kernel] = info.map_or([None; 3], |i| i.fields(["agent_id", "queue_id", "kernel_id"]));
        let agent = handle(agent).or(handle(dst)).or(handle(src)).unwrap_or(0);
        let label = self.names.agents.get(&agent).cloned().unwrap_or_else(|| format!("Agent {agent}"));
        let process = self.builder.process(&format!("agent {agent}"), &label);
        let (tid, thread_name) = match handle(queue) {
            Some(queue) => (format!("queue {queue}"), format!("Queue {queue}")),
            None => (kind.to_owned(), "Memory copies".to_owned()),
        };
        let name = kernel.and_then(Value::i64).and_then(|id| self.names.kernels.get(&id)).cloned();
        (self.builder.thread(process, &tid, &thread_name), name.unwrap_or_else(|| operation.to_owned()))
    }

    fn flow(&mut self, track: TrackId, ts_ns: i64, phase: u8, id: i64) {
        let (name, category) = (self.builder.intern("correlation"), StrId::EMPTY);
        let id = LinkValue::Number(id.cast_unsigned());
        let event = LinkEvent { track, ts_ns, phase, name, category, id, binds_enclosing: true, args: ArgsId::NONE };
        self.builder.derived_link(event);
    }
}

fn correlation(record: Value<'_>) -> Option<i64> {
    let id = record.get("correlation_id")?;
    id.get("internal").or(Some(id)).and_then(Value::i64).filter(|&id| id != 0)
}
