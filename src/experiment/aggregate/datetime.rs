//! Dates of timestamps.

use ns_base::convert::f64_to_i64;
use ns_base::moment_utc;

/// A moment in UTC as Python's `str(datetime)` writes it: `2023-11-11 05:32:18.723407`, without a fraction if it is
/// zero. `None` outside the years 1 to 9999.
pub fn datetime_utc(seconds_since_1970: f64) -> Option<String> {
    const FIRST: f64 = -62_135_596_800.0;
    const END: f64 = 253_402_300_800.0;
    if !(FIRST..END).contains(&seconds_since_1970) {
        return None;
    }
    let mut whole = libm::floor(seconds_since_1970);
    let mut micros = libm::rint((seconds_since_1970 - whole) * 1e6);
    if micros >= 1e6 {
        (whole, micros) = (whole + 1.0, 0.0);
    }
    let [year, month, day, h, m, s] = moment_utc(f64_to_i64(whole));
    let fraction = if micros == 0.0 { String::new() } else { format!(".{micros:06}") };
    (year <= 9_999).then(|| format!("{year:04}-{month:02}-{day:02} {h:02}:{m:02}:{s:02}{fraction}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_python() {
        let at = |t| datetime_utc(t).unwrap();
        assert_eq!(at(0.0), "1970-01-01 00:00:00");
        assert_eq!(at(1_699_680_738.723_406_8), "2023-11-11 05:32:18.723407");
        assert_eq!(at(951_782_400.5), "2000-02-29 00:00:00.500000");
        assert_eq!(at(-1.0), "1969-12-31 23:59:59");
        assert_eq!(at(1_735_689_599.999_999_9), "2025-01-01 00:00:00");
        assert_eq!(at(4_102_444_800.000_001), "2100-01-01 00:00:00.000001");
        assert_eq!(datetime_utc(1e12), None);
        assert_eq!(datetime_utc(f64::NAN), None);
    }
}
