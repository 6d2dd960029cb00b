//! Settings kept between visits. If the browser does not keep them, defaults are used.

/// The value of a setting.
pub fn read(key: &str) -> Option<String> {
    web_sys::window()?.local_storage().ok()??.get_item(key).ok()?
}

/// Keeps a setting, if the browser allows it.
pub fn write(key: &str, value: &str) {
    if let Some(Ok(Some(storage))) = web_sys::window().map(|w| w.local_storage()) {
        let _ = storage.set_item(key, value);
    }
}

/// Keeps a text; returns whether the browser accepted it: private windows and full stores refuse.
pub fn keep(key: &str, value: &str) -> bool {
    matches!(web_sys::window().map(|w| w.local_storage()), Some(Ok(Some(storage))) if storage.set_item(key, value).is_ok())
}

/// Forgets a text.
pub fn forget(key: &str) {
    if let Some(Ok(Some(storage))) = web_sys::window().map(|w| w.local_storage()) {
        let _ = storage.remove_item(key);
    }
}

/// All keys with a prefix.
pub fn keys(prefix: &str) -> Vec<String> {
    let Some(Ok(Some(storage))) = web_sys::window().map(|w| w.local_storage()) else { return Vec::new() };
    let count = storage.length().unwrap_or(0);
    (0..count).filter_map(|i| storage.key(i).ok().flatten()).filter(|key| key.starts_with(prefix)).collect()
}
