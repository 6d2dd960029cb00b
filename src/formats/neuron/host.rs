//! JSON that Neuron's tools write for a whole system (`system_profile.json`) and as a summary (`summary-json`).

use super::text_of;
use crate::decimal::TimeUnit;
use crate::document::TextContent;
use crate::json::{Doc, Value};
use ns_base::Refusal;
use ns_base::{Diagnostics, StrId};
use ns_profile::{ArgsId, ProfileBuilder};

/// Reads `system_profile.json`: events of the runtime and the framework, memory and processor use.
pub(crate) fn read_system_json(text: &[u8]) -> Result<TextContent, Refusal> {
    let doc = Doc::new(text);
    let (mut builder, mut diagnostics) = (ProfileBuilder::new("neuron-system-profile"), Diagnostics::new());
    let [events, memory, cpu] = doc.root().fields(["trace_events", "mem_usage", "cpu_util"]);
    for row in events.into_iter().flat_map(Value::items) {
        let [at, dur, name, group, instance, pid, tid] =
            row.fields(["timestamp", "duration", "name", "group", "instance_id", "process_id", "thread_id"]);
        let text = text_of;
        let (instance, pid, group) = (text(instance), text(pid), text(group));
        let Some(at) = at.and_then(|v| v.ns(TimeUnit::Ns)) else {
            if !row.raw().is_empty() {
                builder.count_event(None);
                diagnostics.add("no_time", Some(row.offset()), || "an event has no timestamp: skipped".to_owned());
            }
            continue;
        };
        let process = builder.process(&format!("{instance} {pid}"), &format!("Process {pid} on {instance}"));
        let track = builder.thread(process, &format!("{group} {}", text(tid)), &group);
        let (name, args) = (builder.intern(&text(name)), row.args(&mut builder));
        let category = builder.intern(group.split('-').next().unwrap_or_default());
        builder.slice_of(track, at, dur.and_then(|v| v.ns(TimeUnit::Ns)), name, category, args);
    }
    for (list, value_key, id_key, label) in
        [(memory, "usage", "instance_id", "Memory (bytes)"), (cpu, "util", "cpu_id", "CPU utilisation")]
    {
        for row in list.into_iter().flat_map(Value::items) {
            let [at, value, id, instance] = row.fields(["timestamp", value_key, id_key, "instance_id"]);
            let instance = instance.and_then(Value::scalar).unwrap_or_default();
            let (at, value) = (at.and_then(|v| v.ns(TimeUnit::Ns)), value.and_then(Value::f64));
            let (Some(at), Some(value)) = (at, value) else {
                builder.count_event(None);
                continue;
            };
            let process = builder.process(&instance, &format!("Instance {instance}"));
            let track = builder.thread(process, "usage", "");
            let id = id.filter(|_| id_key != "instance_id").and_then(Value::scalar).unwrap_or_default();
            let (name, id, key) = (builder.intern(label), builder.intern(&id), builder.intern("value"));
            builder.counter(track, at, name, id, &[(key, value)]);
        }
    }
    doc.report_damage(&mut diagnostics);
    Ok(TextContent::of(builder, diagnostics))
}

/// Whether a JSON object is a summary: its first value is a flat object of metrics, with a total time.
pub(crate) fn looks_summary(text: &[u8]) -> bool {
    let doc = Doc::new(text);
    let first = doc.root().members().next();
    first.is_some_and(|(_, metrics)| {
        let percents = metrics.members().filter(|(key, _)| key.ends_with(b"_percent")).count();
        metrics.get("total_time").is_some() && (percents > 0 || metrics.members().count() > 5)
    })
}

/// Reads a summary: a slice of the total time for each profile in it, with all metrics as arguments.
pub(crate) fn read_summary(text: &[u8]) -> Result<TextContent, Refusal> {
    let doc = Doc::new(text);
    let (mut builder, mut diagnostics) = (ProfileBuilder::new("neuron-summary"), Diagnostics::new());
    let process = builder.process("", "Neuron summary");
    for (key, metrics) in doc.root().members() {
        let name = String::from_utf8_lossy(key);
        let track = builder.thread(process, &name, &name);
        let total = metrics.get("total_time").and_then(|v| v.ns(TimeUnit::S));
        let (name_id, args) = (builder.intern(&name), metrics.args(&mut builder));
        let args = if metrics.is_object() { args } else { ArgsId::NONE };
        builder.slice_of(track, 0, total, name_id, StrId::EMPTY, args);
    }
    diagnostics.add("summary_only", None, || {
        "a summary says how long it took in all, not when what ran: its metrics are the arguments of the slice"
            .to_owned()
    });
    doc.report_damage(&mut diagnostics);
    Ok(TextContent::of(builder, diagnostics))
}
