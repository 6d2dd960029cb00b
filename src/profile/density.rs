//! How busy a profile is over time, for a picture of the whole profile that is a few pixels high.

use super::{Profile, SliceFlags};
use ns_base::convert::{i64_to_f64, usize_to_f64};

/// For each of `buckets` equal parts of the span, the mean number of tracks with a slice there.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positions of buckets, clamped")]
pub fn density(profile: &Profile, buckets: u32) -> Vec<f64> {
    let span = profile.span();
    let length = i64_to_f64(span.end.0.saturating_sub(span.start.0));
    let n = buckets.max(1) as usize;
    let mut parts = vec![0.0; n];
    // How many more tracks are busy from this bucket on, so that slices that cover many buckets cost no more than others.
    let mut steps = vec![0.0; n + 1];
    let slices = profile.slices();
    if length <= 0.0 {
        return parts;
    }
    let place =
        |ns: i64| (i64_to_f64(ns.saturating_sub(span.start.0)) / length * usize_to_f64(n)).clamp(0.0, usize_to_f64(n));
    for id in slices.ids() {
        if slices.depth(id) != 0 || slices.flags(id).has(SliceFlags::UNCLOSED) {
            continue;
        }
        let (from, to) = (place(slices.start(id).0), place(slices.end(id).0));
        let (first, last) = ((from as usize).min(n - 1), (to as usize).min(n - 1));
        if first == last {
            parts[first] += to - from;
            continue;
        }
        parts[first] += usize_to_f64(first + 1) - from;
        parts[last] += to - usize_to_f64(last);
        steps[first + 1] += 1.0;
        steps[last] -= 1.0;
    }
    let mut busy = 0.0;
    for (part, step) in parts.iter_mut().zip(&steps) {
        busy += step;
        *part += busy;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ProfileBuilder;
    use ns_base::Diagnostics;

    #[test]
    fn buckets_count_busy_tracks() {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", "");
        let (t, u) = (b.thread(p, "1", ""), b.thread(p, "2", ""));
        b.slice(t, 0, 100, "a", "", None);
        b.slice(t, 10, 50, "nested", "", None);
        b.slice(u, 25, 25, "b", "", None);
        let profile = b.finish(Diagnostics::new());
        assert_eq!(density(&profile, 4), [1.0, 2.0, 1.0, 1.0]);
        assert_eq!(density(&profile, 1), [1.25]);
        assert_eq!(density(&Profile::default(), 3), [0.0, 0.0, 0.0]);
    }
}
