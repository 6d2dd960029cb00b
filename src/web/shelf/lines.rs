//! The lines of the shelf. Each item has its own key, so two tabs that write at once do not overwrite each other's items.

use wasm_bindgen_futures::spawn_local;
use web_sys::CustomEvent;

use super::pieces::forget_pieces;
use crate::platform::machine::wall_ms;
use crate::platform::{private_files, storage};
use ns_base::convert::f64_to_u64;
use ns_session::shelf::{ItemKind, ShelfItem, in_order, leaving};

const PREFIX: &str = "neuronscope.kept.";
/// Event for both programs of this page: the shelf has changed. Other tabs get `storage` events.
pub(super) const CHANGED: &str = "neuronscope:kept";

/// Now, in milliseconds since 1970.
pub(super) fn now_ms() -> u64 {
    f64_to_u64(wall_ms())
}

fn key(item: &ShelfItem) -> String {
    format!("{PREFIX}{}", item.id())
}

/// The name of the file that holds an item's bytes.
pub(super) fn bytes_name(item: &ShelfItem) -> String {
    format!("kept-{}", item.id())
}

/// All items, in their order, including those whose bytes are still being written.
pub(super) fn all() -> Vec<ShelfItem> {
    let lines = storage::keys(PREFIX).into_iter().filter_map(|key| storage::read(&key));
    in_order(lines.filter_map(|line| ShelfItem::from_text(&line)).collect())
}

/// The kept item for the same thing, if there is one.
pub(super) fn same(item: &ShelfItem) -> Option<ShelfItem> {
    storage::read(&key(item)).and_then(|line| ShelfItem::from_text(&line))
}

/// Writes an item unchanged; returns whether the store accepted it.
pub fn change(item: &ShelfItem) -> bool {
    let kept = storage::keep(&key(item), &item.to_text());
    tell();
    kept
}

/// Notes that an item was opened now.
pub fn touch(item: &ShelfItem) {
    change(&ShelfItem { when_ms: now_ms(), ..item.clone() });
}

/// Removes the results whose rows have this name.
pub fn forget_rows(rows: &str) {
    all().iter().filter(|item| item.rows == rows).for_each(remove);
}

/// Removes an item with its bytes and its pieces.
pub fn remove(item: &ShelfItem) {
    storage::forget(&key(item));
    if !item.rows.is_empty() {
        forget_pieces(&item.rows);
    }
    if item.kind.has_bytes() {
        let name = bytes_name(item);
        spawn_local(async move { private_files::remove(&name).await });
    }
    tell();
}

/// Keeps the content of a link. A line takes almost no space. If the store refuses it, no message is shown, because the link is
/// still in the address.
pub fn keep_link(kind: ItemKind, name: &str, link: &str) {
    put(ShelfItem::of_link(kind, name, link, now_ms()));
}

/// Keeps the results of a sweep, whose rows its keeper has written.
pub fn keep_rows(kind: ItemKind, name: &str, link: &str, rows: &str) {
    let item = ShelfItem::of_link(kind, name, link, now_ms());
    // A sweep that ran again would have its rows twice.
    if let Some(before) = same(&item).filter(|before| before.rows != rows) {
        remove(&before);
        return put(ShelfItem { rows: rows.to_owned(), ..item.after(&before) });
    }
    put(ShelfItem { rows: rows.to_owned(), ..item });
}

/// The kept results that this file name refers to, if there are any.
pub fn find_results(file: &str) -> Option<ShelfItem> {
    all().into_iter().find(|item| item.is_results(file))
}

pub(super) fn put(item: ShelfItem) {
    let item = match same(&item) {
        Some(before) => item.after(&before),
        None => item,
    };
    storage::write(&key(&item), &item.to_text());
    leaving(&all()).iter().for_each(remove);
    tell();
}

fn tell() {
    if let (Some(window), Ok(event)) = (web_sys::window(), CustomEvent::new(CHANGED)) {
        let _ = window.dispatch_event(&event);
    }
}
