//! The machine the browser runs on.

use ns_base::convert::{f64_to_u64, f64_to_usize};

/// Number of workers that can run side by side, according to the browser.
pub fn hardware_threads() -> usize {
    let threads = web_sys::window().map_or(1.0, |w| w.navigator().hardware_concurrency());
    // A cast of a float saturates; a browser that hides the number returns 1 or NaN.
    f64_to_usize(threads).max(1)
}

/// Milliseconds since 1970.
pub fn wall_ms() -> f64 {
    js_sys::Date::now()
}

/// Whole seconds since 1970.
pub fn unix_s() -> u64 {
    f64_to_u64(wall_ms() / 1e3)
}

/// The machine in a few words: browsers only tell a page the number of threads.
pub fn name() -> String {
    format!("browser, {} threads", hardware_threads())
}

/// The machine in words, for measured results: its threads and the browser's user agent.
pub fn description() -> String {
    let agent = web_sys::window().and_then(|w| w.navigator().user_agent().ok()).unwrap_or_default();
    format!("{} hardware threads, {agent}", hardware_threads())
}
