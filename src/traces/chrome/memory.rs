//! Memory events of PyTorch: instants `[memory]`, one for each allocation and release, become counters of each device.

use std::collections::BTreeMap;

use super::event::RawEvent;
use crate::json::scan::{Members, number_bytes, unescape};
use ns_base::Order;
use ns_base::StrId;
use ns_base::convert::i64_to_f64;
use ns_profile::memory::{ALLOCATED, ALLOCATED_SINCE, RESERVED, counter_name, device_name, device_of_counter};
use ns_profile::{ProfileBuilder, TrackId};

/// An allocation, or a release with negative bytes, and when and where it was.
#[derive(Clone, Copy)]
struct Change {
    ts: i64,
    track: TrackId,
    bytes: i64,
    /// What the allocator holds after it, where the profiler says so.
    allocated: Option<i64>,
    reserved: Option<i64>,
}

/// Changes of memory, by the process and the type and number of the device.
#[derive(Default)]
pub(super) struct MemoryEvents {
    of_device: BTreeMap<(u32, i64, i64), Vec<Change>>,
    /// Whether the file has the counters already, because this product wrote it.
    has_counters: bool,
}

impl MemoryEvents {
    /// Notes an instant, if it is one of the memory.
    pub fn note(&mut self, builder: &ProfileBuilder, event: &RawEvent<'_>, track: TrackId, ts: i64) {
        if event.name != b"\"[memory]\"" || !event.args.starts_with(b"{") {
            return;
        }
        let (mut totals, mut device, mut bytes) = ((None, None), (0, -1), None);
        let mut members = Members::new(event.args, 0);
        while let Ok(Some((key, value))) = members.next_member() {
            let number = std::str::from_utf8(number_bytes(value)).ok().and_then(|text| text.parse::<i64>().ok());
            let Some(number) = number else { continue };
            match &*unescape(key) {
                "Bytes" => bytes = Some(number),
                "Total Allocated" => totals.0 = Some(number),
                "Total Reserved" => totals.1 = Some(number),
                "Device Type" => device.0 = number,
                "Device Id" => device.1 = number,
                _ => {}
            }
        }
        if bytes.or(totals.0).or(totals.1).is_some() {
            let process = builder.place_of(track).0;
            let (allocated, reserved) = totals;
            let change = Change { ts, track, bytes: bytes.unwrap_or(0), allocated, reserved };
            self.of_device.entry((process.0, device.0, device.1)).or_default().push(change);
        }
    }

    /// Notes that the file has a counter.
    pub fn note_counter(&mut self, event: &RawEvent<'_>) {
        let name = event.name.strip_prefix(b"\"").and_then(|name| name.strip_suffix(b"\""));
        let text = name.and_then(|name| std::str::from_utf8(name).ok());
        self.has_counters |= text.and_then(device_of_counter).is_some();
    }

    /// Adds the counters.
    pub fn resolve(self, builder: &mut ProfileBuilder) {
        if self.has_counters {
            return;
        }
        for ((_, kind, number), mut changes) in self.of_device {
            // Stable: changes of one time stay in the order of the file.
            changes.order_by_key(|change| change.ts);
            let name = builder.intern(&counter_name(&device_name(kind, number)));
            let [allocated, reserved, since] = [ALLOCATED, RESERVED, ALLOCATED_SINCE].map(|key| builder.intern(key));
            // Profilers before 2022 wrote no totals: then only what changed since the start is known.
            let has_totals = changes.iter().any(|change| change.allocated.is_some());
            let mut sum: i64 = 0;
            for change in changes {
                sum = sum.saturating_add(change.bytes);
                let mut values: Vec<(StrId, f64)> = Vec::new();
                values.extend(change.allocated.map(|n| (allocated, i64_to_f64(n))));
                // A processor reserves nothing: the profiler writes zero.
                values.extend(change.reserved.filter(|n| *n > 0).map(|n| (reserved, i64_to_f64(n))));
                if !has_totals {
                    values.push((since, i64_to_f64(sum)));
                }
                builder.derived_counter(change.track, change.ts, name, StrId::EMPTY, &values);
            }
        }
    }
}
