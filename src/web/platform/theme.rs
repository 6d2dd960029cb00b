//! Light or dark theme: the system's choice until the user chooses.

use super::{page, storage};
use ns_view::palette::Theme;

const KEY: &str = "neuronscope.theme";

/// The theme to begin with.
pub fn initial() -> Theme {
    match storage::read(KEY).as_deref() {
        Some("dark") => Theme::Dark,
        Some("light") => Theme::Light,
        _ => system(),
    }
}

/// Shows a theme, and keeps it if the user chose it.
pub fn apply(theme: Theme, chosen: bool) {
    let name = match theme {
        Theme::Light => "light",
        Theme::Dark => "dark",
    };
    page::set_root_attribute("data-theme", name);
    if chosen {
        storage::write(KEY, name);
    }
}

fn system() -> Theme {
    let query = web_sys::window().and_then(|w| w.match_media("(prefers-color-scheme: dark)").ok()).flatten();
    if query.is_some_and(|q| q.matches()) { Theme::Dark } else { Theme::Light }
}
