//! Where the reading goes on after an event that is not JSON.

use crate::json::scan::{nested_end, skip_space};

/// How far a broken event is searched for its own end.
pub(super) const RECOVERY_WINDOW: usize = 64 << 10;

/// Where to go on after the broken event at `at`: at the next text that is like an event, or after the end of the broken one if that is
/// before it. A window that is not the `whole` one gives the same answer or none, so that the chunks of a text do not matter.
pub(super) fn after_broken(window: &[u8], at: usize, whole: bool) -> Option<usize> {
    let (mut next, mut from) = (None, at + 1);
    let mut own = window;
    while let Some(start) = next_event_start(window, from) {
        let end = next_event_start(window, start + 1);
        // An object in the arguments of an event has no phase.
        if memchr::memmem::find(&window[start..end.unwrap_or(window.len())], b"\"ph\"").is_some() {
            (next, own) = (Some(start), &window[..start]);
            break;
        }
        if end.is_none() && !whole {
            own = &window[..start];
            break;
        }
        from = start + 1;
    }
    balanced_end(own, at).or(next)
}

/// The end of a broken event whose brackets and quotes are nevertheless correct.
fn balanced_end(window: &[u8], at: usize) -> Option<usize> {
    let end = nested_end(window, at).ok()?;
    let follows = window.get(skip_space(window, end))?;
    // A line break in a string means that a quote is missing: what looks like the end is not the end.
    let mut inside = false;
    let sound = window[at..end].iter().all(|&b| {
        inside ^= b == b'"';
        !(inside && b == b'\n')
    });
    (matches!(follows, b',' | b']') && sound).then_some(end)
}

/// Where an event seems to begin at or after `from`: a brace and a quote, after the close of another event or at the
/// start of a line.
fn next_event_start(buf: &[u8], from: usize) -> Option<usize> {
    for brace in memchr::memchr_iter(b'{', buf.get(from..)?).map(|i| i + from) {
        if buf.get(skip_space(buf, brace + 1)) != Some(&b'"') {
            continue;
        }
        let before = buf[..brace].trim_ascii_end();
        let on_new_line = buf[before.len()..brace].contains(&b'\n');
        let after_close = before.strip_suffix(b",").is_some_and(|head| head.trim_ascii_end().ends_with(b"}"));
        if on_new_line || after_close {
            return Some(brace);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ChunkedReader as _;
    use crate::chrome::ChromeReader;
    use ns_base::convert::u64_to_usize;

    #[test]
    fn events_begin_after_events_or_on_lines() {
        assert_eq!(next_event_start(br#"x},{"ph""#, 0), Some(3));
        assert_eq!(next_event_start(b"x,\n  { \"ph\"", 0), Some(5));
        assert_eq!(next_event_start(br#""args":{"a":{}}"#, 0), None);
    }

    /// Good events between damaged ones of each kind, read in chunks of this size.
    fn read(text: &str, chunk: usize) -> (u64, usize, Vec<(String, u64)>) {
        let mut reader = Box::new(ChromeReader::new(crate::ReadLimits::default()));
        text.as_bytes().chunks(chunk).for_each(|c| reader.push(c).unwrap());
        let profile = reader.finish().unwrap();
        let good = profile.slices().ids().filter(|id| profile.str(profile.slices().name(*id)) == "good").count();
        let said = profile.diagnostics().items().iter().map(|d| (d.code.clone(), d.count)).collect();
        (profile.meta().events, good, said)
    }

    #[test]
    fn every_good_event_is_read_however_many_are_damaged() {
        let args = r#""args":{"list":[{"a":1},{"b":2}]}"#;
        for damaged in [
            format!(r#"{{"ph":"X","name":"{{"device": "cpu"}}(12): run",{args},"pid":1,"tid":2,"ts":0}}"#),
            format!(r#"{{"ph":"X","name":"no brace","pid":1,"tid":2,"ts":0,{args}"#),
            format!(r#"{{"ph":"X","name":"no quote,"pid":1,"tid":2,"ts":0,{args}}}"#),
            format!(r#"{{"ph":"X","name":"no comma" "pid":1,"tid":2,"ts":0,{args}}}"#),
            format!(r#"{{"ph":"X","name":"brackets",{args}]],"pid":1,"tid":2,"ts":0}}"#),
        ] {
            let event = |i: u64| {
                let good = format!(r#"{{"ph":"X","name":"good","pid":1,"tid":1,"ts":{},"dur":5,{args}}}"#, i * 10);
                format!("{damaged},\n{good}")
            };
            let count = 4_000;
            let text = format!("[{}]", (0..count).map(event).collect::<Vec<_>>().join(",\n"));
            let whole = read(&text, text.len());
            assert_eq!(
                (whole.1, whole.2.as_slice()),
                (u64_to_usize(count), [("bad_json".to_owned(), count)].as_slice()),
                "{damaged}"
            );
            for chunk in [7, 1_000, 65_536] {
                assert_eq!(read(&text, chunk), whole, "{damaged} in chunks of {chunk}");
            }
        }
    }
}
