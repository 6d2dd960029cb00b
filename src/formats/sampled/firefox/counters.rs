//! Counters of a process: memory, power, bandwidth. Samples are changes; their running sum is shown.

use super::Reader;
use super::table::rows;
use crate::decimal::TimeUnit;
use crate::json::Value;
use ns_base::StrId;

/// Adds one counter.
pub(super) fn read(reader: &mut Reader, counter: Value<'_>, shift_ns: i64) {
    let [name, pid, samples, groups] = counter.fields(["name", "pid", "samples", "sampleGroups"]);
    let builder = &mut reader.builder;
    let process = builder.process(&pid.and_then(Value::scalar).unwrap_or_default(), "");
    let track = builder.thread(process, "counters", "");
    let name = builder.intern(&name.and_then(Value::str).unwrap_or_default());
    let key = builder.intern("value");
    // Until version 42 samples were in groups, but there was only ever one group.
    let group = groups.and_then(|g| g.items().next().or(Some(g))).and_then(|g| g.get("samples"));
    let (mut now, mut sum) = (shift_ns, 0.0);
    rows(samples.or(group), ["time", "timeDeltas", "count"], |_, [time, delta, count]| {
        let ms = |v: Option<Value<'_>>| v.and_then(|v| v.ns(TimeUnit::Ms));
        match (ms(time), ms(delta)) {
            (Some(time), _) => now = time.saturating_add(shift_ns),
            (None, Some(delta)) => now = now.saturating_add(delta),
            (None, None) => return builder.count_event(None),
        }
        sum += count.and_then(Value::f64).unwrap_or(0.0);
        builder.counter(track, now, name, StrId::EMPTY, &[(key, sum)]);
    });
}
