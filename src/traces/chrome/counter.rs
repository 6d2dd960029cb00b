//! Counter events: every member of `args` that is a number is a sample of a series.

use super::event::RawEvent;
use super::reader::shorten;
use crate::json::scan::{Members, number_bytes, text_of, unescape};
use ns_base::{Diagnostics, StrId};
use ns_profile::{ProfileBuilder, TrackId};

/// Adds one counter event; `series` is room that is used again.
pub(super) fn add(
    builder: &mut ProfileBuilder,
    diagnostics: &mut Diagnostics,
    series: &mut Vec<(StrId, f64)>,
    event: &RawEvent<'_>,
    track: TrackId,
    ts: i64,
    offset: u64,
) {
    series.clear();
    let mut strange = !event.args.starts_with(b"{");
    if !strange {
        let mut members = Members::new(event.args, 0);
        while let Ok(Some((key, value))) = members.next_member() {
            let number = std::str::from_utf8(number_bytes(value)).ok().and_then(|text| text.parse::<f64>().ok());
            match number.filter(|n| n.is_finite()) {
                Some(number) => series.push((builder.intern(&unescape(key)), number)),
                None => strange = true,
            }
        }
    }
    if strange || series.is_empty() {
        diagnostics.add("counter_without_number", Some(offset), || {
            format!("counter \"{}\" has a value that is not a finite number: skipped", shorten(&text_of(event.name)))
        });
    }
    let (name, id) = (builder.intern(&text_of(event.name)), builder.intern(&text_of(event.id)));
    builder.counter(track, ts, name, id, series);
}
