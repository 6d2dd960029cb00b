//! Numbers and names as texts for tables, labels and descriptions.

use ns_base::convert::usize_to_f64;
use ns_base::units::{format_bytes, format_count, is_in_bytes};

/// A whole number of nanoseconds, not rounded: `11,452 ns`.
pub fn exact_ns(ns: i64) -> String {
    let sign = if ns < 0 { "\u{2212}" } else { "" };
    format!("{sign}{} ns", format_count(ns.unsigned_abs()))
}

/// A number with at most three decimals, as NeuronPerf rounds: `31346`, `0.031`, `12.5`.
pub fn three_decimals(value: f64) -> String {
    let text = format!("{value:.3}");
    let trimmed = text.trim_end_matches('0').trim_end_matches('.');
    if trimmed == "-0" { "0".to_owned() } else { trimmed.to_owned() }
}

/// A value of the counter with this name: sizes in a binary unit, anything else with up to three decimals.
pub fn value_of_counter(name: &str, value: f64) -> String {
    if is_in_bytes(name) { format_bytes(value) } else { three_decimals(value) }
}

/// As much of `text` as fits into `width_px` if a character takes `char_px`, with an ellipsis where it was cut; nothing
/// if not even two characters and the ellipsis fit.
pub fn fit(text: &str, width_px: f64, char_px: f64) -> Option<String> {
    if char_px <= 0.0 || width_px <= 0.0 {
        return None;
    }
    let room = libm::floor(width_px / char_px);
    let len = text.chars().count();
    if usize_to_f64(len) <= room {
        return (len > 0).then(|| text.to_owned());
    }
    if room < 3.0 {
        return None;
    }
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "3 <= room < len")]
    let keep = room as usize - 1;
    Some(text.chars().take(keep).chain(std::iter::once('\u{2026}')).collect())
}

/// Whether `text` contains `needle`, ignoring case. Every text contains an empty needle.
pub fn contains_ignoring_case(text: &str, needle: &str) -> bool {
    if needle.is_empty() {
        return true;
    }
    if text.is_ascii() && needle.is_ascii() {
        let (text, needle) = (text.as_bytes(), needle.as_bytes());
        return text.windows(needle.len()).any(|w| w.eq_ignore_ascii_case(needle));
    }
    text.to_lowercase().contains(&needle.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_rounded_away_from_nanoseconds() {
        assert_eq!(exact_ns(1_712_195_495_406_752), "1,712,195,495,406,752 ns");
        assert_eq!(exact_ns(-5), "\u{2212}5 ns");
    }

    #[test]
    fn the_name_of_a_counter_says_whether_its_values_are_sizes() {
        assert_eq!(value_of_counter("Allocator of CUDA 0 (bytes) allocated", 2_791_636_480.0), "2.60 GiB");
        assert_eq!([0.5, 12.0, -0.0001].map(|value| value_of_counter("queue", value)), ["0.5", "12", "0"]);
    }

    #[test]
    fn decimals_end_where_they_say_nothing() {
        assert_eq!(three_decimals(31_346.0), "31346");
        assert_eq!(three_decimals(0.031_4), "0.031");
        assert_eq!(three_decimals(-0.000_1), "0");
    }

    #[test]
    fn labels_are_cut_only_where_they_must() {
        assert_eq!(fit("Linear", 60.0, 6.0).as_deref(), Some("Linear"));
        assert_eq!(fit("Linear[layer1]", 36.0, 6.0).as_deref(), Some("Linea\u{2026}"));
        assert_eq!(fit("Linear", 12.0, 6.0), None);
        assert_eq!(fit("", 100.0, 6.0), None);
    }

    #[test]
    fn search_ignores_letter_case_in_any_script() {
        assert!(contains_ignoring_case("SyncTensorsGraph.53", "tensors"));
        assert!(contains_ignoring_case("Größe", "GRÖSSE".to_lowercase().replace("ss", "ß").as_str()));
        assert!(!contains_ignoring_case("dot", "dots"));
    }
}
