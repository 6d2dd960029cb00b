//! Dates in UTC.

/// Year, month, day, hour, minute and second of a moment in the Gregorian calendar, from seconds since 1970.
pub const fn moment_utc(seconds: i64) -> [i64; 6] {
    let rest = seconds.rem_euclid(86_400);
    // Years are counted from March, so that the leap day is the last of its year, in cycles of 400 years; 719,468 days from
    // 0000-03-01 to 1970-01-01.
    let days = seconds.div_euclid(86_400) + 719_468;
    let (cycle, day_of_cycle) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let leap_days = day_of_cycle / 1_460 - day_of_cycle / 36_524 + day_of_cycle / 146_096;
    let year_of_cycle = (day_of_cycle - leap_days) / 365;
    let day_of_year = day_of_cycle - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100);
    // Five months of 153 days each repeat from March on.
    let from_march = (5 * day_of_year + 2) / 153;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = cycle * 400 + year_of_cycle + if month <= 2 { 1 } else { 0 };
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    [year, month, day, rest / 3_600, rest % 3_600 / 60, rest % 60]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_follows_the_one_before() {
        let date_of = |day: i64| {
            let [year, month, day, ..] = moment_utc(day * 86_400);
            (year, month, day)
        };
        let mut before = date_of(-200_000);
        for day in -199_999..200_000 {
            let date = date_of(day);
            let next = (before.0, before.1, before.2 + 1);
            let next_month = (before.0, before.1 + 1, 1);
            let next_year = (before.0 + 1, 1, 1);
            assert!(date == next || date == next_month || date == next_year, "{before:?} then {date:?}");
            assert!(date.2 <= 31 && (date.2 <= 28 || date.1 != 2 || (date.2 == 29 && date.0 % 4 == 0)));
            before = date;
        }
        assert_eq!(moment_utc(1_665_775_336), [2022, 10, 14, 19, 22, 16]);
        assert_eq!(moment_utc(-1), [1969, 12, 31, 23, 59, 59]);
    }
}
