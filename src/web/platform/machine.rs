//! The machine the browser runs on.

/// Workers that can run side by side, as the browser says.
#[must_use]
pub fn hardware_threads() -> usize {
    let threads = web_sys::window().map_or(1.0, |w| w.navigator().hardware_concurrency());
    // A cast of a float saturates, and a browser that hides the number says 1 or NaN.
    (threads as usize).max(1)
}

/// Milliseconds since 1970.
#[must_use]
pub fn wall_ms() -> f64 {
    js_sys::Date::now()
}
