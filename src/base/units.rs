//! Numbers as people read them: durations, bytes, rates, counts.

/// A duration in nanoseconds with three significant figures and a unit: `140 ns`, `7.20 us`, `1.34 s`.
#[must_use]
pub fn format_ns(ns: f64) -> String {
    let (scale, unit) = match ns.abs() {
        a if a < 1e3 => (1.0, "ns"),
        a if a < 1e6 => (1e3, "\u{b5}s"),
        a if a < 1e9 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    let value = ns / scale;
    if unit == "ns" && (value - libm::round(value)).abs() < 1e-9 {
        return format!("{value:.0} ns");
    }
    format!("{} {unit}", three_figures(value))
}

/// A size in bytes with binary units: `512 B`, `4.00 KiB`, `24.0 MiB`.
#[must_use]
pub fn format_bytes(bytes: f64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes;
    let mut unit = 0;
    while value.abs() >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{value:.0} B") } else { format!("{} {}", three_figures(value), UNITS[unit]) }
}

/// A count with thousands separated by commas: `1,340,804`.
#[must_use]
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

/// The shortest text of a value rounded to seven significant figures, which is what single precision holds: `0.36` for
/// 0.35999999940395355, and `0.6666667`.
#[must_use]
pub fn format_figures(value: f64) -> String {
    format!("{value:.6e}").parse::<f64>().unwrap_or(value).to_string()
}

fn three_figures(value: f64) -> String {
    match value.abs() {
        a if a >= 100.0 => format!("{value:.0}"),
        a if a >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_can_read_them() {
        assert_eq!(format_ns(140.0), "140 ns");
        assert_eq!(format_ns(7_204.0), "7.20 \u{b5}s");
        assert_eq!(format_ns(1_340_803_802.0), "1.34 s");
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
