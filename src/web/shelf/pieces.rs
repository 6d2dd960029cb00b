//! Rows and results: the pieces that belong to items, in the browser's local storage.

use super::lines::{all, remove};
use crate::platform::storage;

/// Prefix of the keys of all pieces.
pub const PREFIX: &str = "neuronscope.sweep.";

/// The key of a piece of the item whose pieces have this name.
pub fn piece_key(pieces: &str, part: &str) -> String {
    format!("{PREFIX}{pieces}.{part}")
}

/// Forgets all pieces of this name.
pub fn forget_pieces(pieces: &str) {
    storage::keys(&piece_key(pieces, "")).iter().for_each(|key| storage::forget(key));
}

/// Keeps a piece, and makes room for it by removing the oldest items with pieces but without a pin; returns whether the store accepted it.
pub fn keep_piece(pieces: &str, part: &str, text: &str) -> bool {
    let key = piece_key(pieces, part);
    loop {
        if storage::keep(&key, text) {
            return true;
        }
        if !forget_oldest(pieces) {
            return false;
        }
    }
}

/// Removes the oldest item with pieces but without a pin, except the one with these pieces; returns whether there was one.
fn forget_oldest(pieces: &str) -> bool {
    let items = all();
    let oldest = items.iter().rev().find(|item| !item.is_pinned && !item.rows.is_empty() && item.rows != pieces);
    oldest.inspect(|item| remove(item)).is_some()
}
