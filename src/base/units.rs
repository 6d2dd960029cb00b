//! Numbers for display: three significant figures with a unit that leaves few digits, and thousands separators. Counts are
//! whole and exact. `docs/design.md` says where each format is used; files for machines have unformatted values.

use super::convert::{f64_to_u64, f64_to_usize};

/// A duration in nanoseconds with three significant figures and a unit: `140 ns`, `7.20 us`, `1.34 s`.
pub fn format_ns(ns: f64) -> String {
    let (unit, scale) = unit_of_ns(ns);
    let value = ns / scale;
    if unit == "ns" && (value - libm::round(value)).abs() < 1e-9 {
        return format!("{value:.0} ns");
    }
    format!("{} {unit}", three_figures(value))
}

/// A point in time: exact below a millisecond, to the microsecond from there on, because three figures would not tell two
/// points of a long profile apart: `840 ns`, `11.452 us`, `1,065.714 ms`.
pub fn format_place(ns: i64) -> String {
    let (unit, scale) = unit_of_place(super::convert::i64_to_f64(ns));
    format!("{} {unit}", format_in_place(super::convert::i64_to_f64(ns), scale))
}

/// A point in time in a unit of this many nanoseconds, without the unit.
pub fn format_in_place(ns: f64, scale: f64) -> String {
    format_grouped(ns / scale, if scale > 1.0 { 3 } else { 0 })
}

/// A number with these decimals, with thousands separators if possible: `1,065.714`.
#[must_use]
pub fn format_grouped(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let (whole, part) = text.split_at(text.find('.').unwrap_or(text.len()));
    let sign = if value < 0.0 { "\u{2212}" } else { "" };
    format!("{sign}{}{part}", whole.parse().map_or_else(|_| whole.to_owned(), format_count))
}

/// The unit of points in time up to this one, and its length in nanoseconds: no unit is longer than a millisecond.
pub fn unit_of_place(longest_ns: f64) -> (&'static str, f64) {
    match unit_of_ns(longest_ns) {
        ("s", _) => ("ms", 1e6),
        unit => unit,
    }
}

/// A size in bytes with binary units: `512 B`, `4.00 KiB`, `24.0 MiB`.
pub fn format_bytes(bytes: f64) -> String {
    match unit_of_bytes(bytes) {
        (unit, 1.0) => format!("{bytes:.0} {unit}"),
        (unit, scale) => format!("{} {unit}", three_figures(bytes / scale)),
    }
}

/// The binary unit that leaves few digits for the largest of some sizes, and its length in bytes.
pub fn unit_of_bytes(largest: f64) -> (&'static str, f64) {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let (mut scale, mut unit) = (1.0, 0);
    while largest.abs() / scale >= 1024.0 && unit + 1 < UNITS.len() {
        scale *= 1024.0;
        unit += 1;
    }
    (UNITS[unit], scale)
}

/// Whether the name of a counted quantity says that it is in bytes: `Memory (bytes)`.
pub fn is_in_bytes(name: &str) -> bool {
    name.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word.eq_ignore_ascii_case("bytes"))
}

/// A count with thousands separated by commas: `1,340,804`.
pub fn format_count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// A large count as people say it, with three significant figures: `109 M`, `22.3 GFLOP`; small ones are exact.
pub fn format_large(n: u64, unit: &str) -> String {
    const PREFIXES: [(&str, f64); 4] = [("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)];
    let value = super::convert::u64_to_f64(n);
    match PREFIXES.iter().find(|(_, scale)| value >= *scale && n >= 10_000) {
        Some((prefix, scale)) => format!("{} {prefix}{unit}", three_figures(value / scale)),
        None => format!("{} {unit}", format_count(n)).trim_end().to_owned(),
    }
}

/// The shortest text of a value rounded to seven significant figures, which is what single precision holds: `0.36` for
/// 0.35999999940395355, and `0.6666667`.
pub fn format_figures(value: f64) -> String {
    format!("{value:.6e}").parse::<f64>().unwrap_or(value).to_string()
}

/// A number with three significant figures and thousands separators: `28,900`, `7,220`, `99.7`, `0.139`; far from 1 with a
/// power of ten: `7.81e-6`.
pub fn format_number(value: f64) -> String {
    if !value.is_finite() {
        return value.to_string();
    }
    let rounded = three_significant(value);
    match rounded.abs() {
        0.0 => "0".to_owned(),
        a if !(1e-4..1e15).contains(&a) => format!("{rounded:.2e}"),
        a if a >= 1e3 => format!("{}{}", if value < 0.0 { "\u{2212}" } else { "" }, format_count(f64_to_u64(a))),
        a if a >= 1.0 => three_figures(value),
        a => {
            // 0.139 has three decimals, 0.0139 four.
            let zeros = -libm::floor(libm::log10(a) + 1e-12);
            format!("{rounded:.*}", f64_to_usize(zeros) + 2)
        }
    }
}

/// A value in a unit: nanoseconds in a suitable unit, records as what they are, whole things, anything else as a number.
pub fn format_in(value: f64, unit: &str) -> String {
    match unit {
        "ns" => format_ns(value),
        "records" => format_plural(f64_to_u64(value), "record"),
        _ => format!("{} {unit}", format_number(value)),
    }
}

/// How many there are of a thing: `1 record`, `2,000 records`.
pub fn format_plural(count: impl TryInto<u64>, noun: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    format!("{} {noun}{}", format_count(count), if count == 1 { "" } else { "s" })
}

/// Words with a capital, as a sentence or a heading begins.
pub fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}", first.to_ascii_uppercase(), letters.as_str()))
}

/// A share of 100: `99.7 %`, `5.49 %`, `0.06 %`.
pub fn format_percent(value: f64) -> String {
    format!("{} %", three_figures(value))
}

/// A percentage in a row of percentages, with one decimal whatever its size: `99.7 %`, `0.1 %`.
pub fn format_share(percent: f64) -> String {
    format!("{percent:.1} %")
}

/// A percentage in a column of percentages, with two decimals whatever its size: `39.08 %`.
pub fn format_cell_share(percent: f64) -> String {
    format!("{percent:.2} %")
}

/// A percentage as the TensorBoard plugin of Neuron writes it, without a space: `39.08%`.
pub fn format_plugin_share(percent: f64) -> String {
    format!("{percent:.2}%")
}

/// A change in percent, with its sign: `+12.3 %`, `-41.9 %`.
pub fn format_change(percent: f64) -> String {
    format!("{percent:+.1} %")
}

/// A percentage mentioned in a sentence, as a whole number: `37 %`.
pub fn format_whole_share(percent: f64) -> String {
    format!("{percent:.0} %")
}

/// A ratio with a number of decimals: `2.13x`.
#[must_use]
pub fn format_times(ratio: f64, decimals: usize) -> String {
    format!("{ratio:.decimals$}x")
}

/// A range in one unit; one number if both ends read alike: `0.139 ms`, `3.25 to 5.60 ms`.
pub fn format_range(low: f64, high: f64, unit: &str) -> String {
    let (low, high) = (format_number(low), format_number(high));
    if low == high { format!("{low} {unit}") } else { format!("{low} to {high} {unit}") }
}

/// The unit that leaves few digits for the longest of some times, and its length in nanoseconds.
pub fn unit_of_ns(longest_ns: f64) -> (&'static str, f64) {
    // 999.6 ns would read 1,000 ns.
    match three_significant(longest_ns.abs()) {
        a if a < 1e3 => ("ns", 1.0),
        a if a < 1e6 => ("\u{b5}s", 1e3),
        a if a < 1e9 => ("ms", 1e6),
        _ => ("s", 1e9),
    }
}

/// Three significant figures, or all digits before the point if there are more, and at most two decimals.
fn three_figures(value: f64) -> String {
    // A value that rounds up to a power of ten has one decimal less.
    match three_significant(value).abs() {
        a if a >= 100.0 => format!("{value:.0}"),
        a if a >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// The nearest value with three significant figures.
fn three_significant(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_counts_have_a_prefix() {
        assert_eq!(format_large(22_348_431_360, "FLOP"), "22.3 GFLOP");
        assert_eq!(format_large(108_891_648, ""), "109 M");
        assert_eq!([format_large(9_999, "FLOP"), format_large(0, "")], ["9,999 FLOP", "0"]);
    }

    #[test]
    fn shares_and_ratios_have_the_same_decimals_at_any_size() {
        assert_eq!([99.66, 0.06, 5.49].map(format_share), ["99.7 %", "0.1 %", "5.5 %"]);
        assert_eq!([39.084, 0.06].map(format_cell_share), ["39.08 %", "0.06 %"]);
        assert_eq!([39.084, 0.06].map(format_plugin_share), ["39.08%", "0.06%"]);
        assert_eq!([12.34, -41.92, 0.0].map(format_change), ["+12.3 %", "-41.9 %", "+0.0 %"]);
        assert_eq!([99.66, 0.06].map(format_whole_share), ["100 %", "0 %"]);
        assert_eq!((format_times(2.125_1, 2), format_times(0.5, 3)), ("2.13x".to_owned(), "0.500x".to_owned()));
    }

    #[test]
    fn numbers_have_three_figures_and_separated_thousands() {
        let texts = [28_864.712, 7_216.356, 999.7, 12.0, 1.0, 0.139_4, 0.013_94, 0.1, 0.0, -28_864.7, 7.81e-6, 3.2e17];
        let read = [
            "28,900",
            "7,220",
            "1,000",
            "12.0",
            "1.00",
            "0.139",
            "0.0139",
            "0.100",
            "0",
            "\u{2212}28,900",
            "7.81e-6",
            "3.20e17",
        ];
        assert_eq!(texts.map(format_number), read);
        assert_eq!(format_number(f64::INFINITY), "inf");
        assert_eq!(format_range(0.139_1, 0.139_4, "ms"), "0.139 ms");
        assert_eq!(format_range(3.25, 5.6, "ms"), "3.25 to 5.60 ms");
        assert_eq!(
            (format_in(2_724.0, "ns"), format_in(2_724.0, "inf/s")),
            ("2.72 \u{b5}s".into(), "2,720 inf/s".into())
        );
        assert_eq!([1.0, 2.0].map(|n| format_in(n, "records")), ["1 record", "2 records"]);
        assert_eq!((unit_of_ns(45_482_500.0), unit_of_ns(-999.6)), (("ms", 1e6), ("\u{b5}s", 1e3)));
    }

    #[test]
    fn places_keep_the_microsecond_and_sizes_their_name() {
        let places = [840, 11_452, 717_554_000, 1_065_714_321, -56_000, 0].map(format_place);
        let read = ["840 ns", "11.452 \u{b5}s", "717.554 ms", "1,065.714 ms", "\u{2212}56.000 \u{b5}s", "0 ns"];
        assert_eq!(places, read);
        assert_eq!((unit_of_bytes(2_791_636_480.0), unit_of_bytes(12.0)), (("GiB", 1_073_741_824.0), ("B", 1.0)));
        let name = "Allocator of CUDA 0 (bytes) allocated since the start";
        assert!(is_in_bytes(name) && !is_in_bytes("queue megabytes"));
    }

    #[test]
    fn people_can_read_them() {
        assert_eq!(format_ns(140.0), "140 ns");
        assert_eq!(format_ns(7_204.0), "7.20 \u{b5}s");
        assert_eq!(format_ns(1_340_803_802.0), "1.34 s");
        // Formerly shown as 45,482,500.000 ns, 2746497024 and 99.70779567025701 %.
        assert_eq!(format_ns(45_482_500.0), "45.5 ms");
        assert_eq!(format_bytes(2_746_497_024.0), "2.56 GiB");
        assert_eq!(format_percent(99.707_795_670_257_01), "99.7 %");
        assert_eq!(
            [5.494, 100.0, 99.97, 0.06, 0.0].map(format_percent),
            ["5.49 %", "100 %", "100 %", "0.06 %", "0.00 %"]
        );
        assert_eq!((format_ns(999_700.0), format_ns(9_996.0)), ("1.00 ms".to_owned(), "10.0 \u{b5}s".to_owned()));
        assert_eq!(format_bytes(512.0), "512 B");
        assert_eq!(format_bytes(25_165_824.0), "24.0 MiB");
        assert_eq!(format_count(1_340_804), "1,340,804");
        assert_eq!(format_count(12), "12");
        assert_eq!(format_figures(0.359_999_999_403_953_55), "0.36");
        assert_eq!(format_figures(2.0 / 3.0), "0.6666667");
        assert_eq!((format_figures(0.0), format_figures(1_234_567.0)), ("0".to_owned(), "1234567".to_owned()));
        assert_eq!(format_figures(f64::INFINITY), "inf");
    }
}
