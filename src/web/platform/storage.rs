//! Settings kept between visits. Where the browser keeps nothing, defaults are used.

/// The value of a setting.
#[must_use]
pub fn read(key: &str) -> Option<String> {
    web_sys::window()?.local_storage().ok()??.get_item(key).ok()?
}

/// Keeps a setting, if the browser lets us.
pub fn write(key: &str, value: &str) {
    if let Some(Ok(Some(storage))) = web_sys::window().map(|w| w.local_storage()) {
        let _ = storage.set_item(key, value);
    }
}
