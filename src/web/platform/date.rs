//! The date, for names of runs and for lists.

use ns_base::convert::u64_to_f64;

/// Now in local time as `year_month_day_hour_minute_second_millisecond`, as the Neuron plugin names runs.
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

/// A moment in local time, for people: `2026-11-22 18:05`. In milliseconds since 1970.
pub fn moment(ms: u64) -> String {
    let then = js_sys::Date::new(&wasm_bindgen::JsValue::from_f64(u64_to_f64(ms)));
    format!(
        "{}-{:02}-{:02} {:02}:{:02}",
        then.get_full_year(),
        then.get_month() + 1,
        then.get_date(),
        then.get_hours(),
        then.get_minutes()
    )
}
