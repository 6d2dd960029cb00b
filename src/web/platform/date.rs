//! The date, for names of runs.

/// Now in local time as `year_month_day_hour_minute_second_millisecond`, as the Neuron plugin names runs.
#[must_use]
pub fn run_name() -> String {
    let now = js_sys::Date::new_0();
    format!(
        "{}_{:02}_{:02}_{:02}_{:02}_{:02}_{:03}",
        now.get_full_year(),
        now.get_month() + 1,
        now.get_date(),
        now.get_hours(),
        now.get_minutes(),
        now.get_seconds(),
        now.get_milliseconds()
    )
}
