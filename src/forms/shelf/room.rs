//! The order of kept items, and which ones are removed to make room. Pinned items are never removed automatically.

use super::ShelfItem;
use ns_base::Order;

/// The greatest number of unpinned items; the one that was opened longest ago is removed first.
pub const MOST_UNPINNED: usize = 24;

/// The order of the list: pinned items first, then the most recently opened.
pub fn in_order(mut items: Vec<ShelfItem>) -> Vec<ShelfItem> {
    items.order_by(|a, b| (b.is_pinned, b.when_ms).cmp(&(a.is_pinned, a.when_ms)).then_with(|| a.id().cmp(&b.id())));
    items
}

/// The unpinned items, the one that was opened longest ago first.
fn oldest_first(items: &[ShelfItem]) -> Vec<ShelfItem> {
    let unpinned = items.iter().filter(|item| !item.is_pinned).cloned().collect();
    in_order(unpinned).into_iter().rev().collect()
}

/// The items to remove if there are too many.
pub fn leaving(items: &[ShelfItem]) -> Vec<ShelfItem> {
    let oldest = oldest_first(items);
    let over = oldest.len().saturating_sub(MOST_UNPINNED);
    oldest.into_iter().take(over).collect()
}

/// The files to remove so that `wanted` bytes fit when `free` are free, the oldest first; `None` when all removable files are not
/// enough.
pub fn making_room(items: &[ShelfItem], wanted: u64, free: u64) -> Option<Vec<ShelfItem>> {
    let (mut room, mut gone) = (free, Vec::new());
    for item in oldest_first(items).into_iter().filter(|item| item.bytes > 0) {
        if room >= wanted {
            break;
        }
        room = room.saturating_add(item.bytes);
        gone.push(item);
    }
    (room >= wanted).then_some(gone)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shelf::ItemKind;

    fn file(name: &str, bytes: u64, when_ms: u64, is_pinned: bool) -> ShelfItem {
        let item = ShelfItem::of_file(ItemKind::Profile, name, "#/profile", bytes, when_ms);
        ShelfItem { is_pinned, is_whole: true, ..item }
    }

    fn names(items: &[ShelfItem]) -> Vec<&str> {
        items.iter().map(|item| item.name.as_str()).collect()
    }

    #[test]
    fn pinned_things_come_first_then_the_latest() {
        let items = vec![file("old", 1, 1, false), file("new", 1, 9, false), file("pinned", 1, 0, true)];
        assert_eq!(names(&in_order(items)), ["pinned", "new", "old"]);
    }

    #[test]
    fn the_oldest_are_removed_and_pinned_ones_stay() {
        let count = MOST_UNPINNED as u64 + 2;
        let mut items: Vec<ShelfItem> = (0..count).map(|i| file(&format!("f{i}"), 1, i, false)).collect();
        items.push(file("pinned", 1, 0, true));
        assert_eq!(names(&leaving(&items)), ["f0", "f1"]);
        assert_eq!(leaving(&items[2..]), []);
    }

    #[test]
    fn room_is_made_by_the_oldest_files_that_are_enough() {
        let run = ShelfItem::of_link(ItemKind::Run, "run", "#/profile", 0);
        let items = [file("a", 100, 1, false), file("p", 900, 2, true), file("b", 50, 3, false), run];
        let room = |wanted, free| making_room(&items, wanted, free).map(|gone| names(&gone).join(" "));
        assert_eq!(room(10, 10).as_deref(), Some(""));
        assert_eq!(room(100, 10).as_deref(), Some("a"));
        assert_eq!(room(120, 10).as_deref(), Some("a b"));
        assert_eq!(room(161, 10), None);
    }
}
