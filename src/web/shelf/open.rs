//! Files on the shelf: writes their bytes and reads them back.

use web_sys::File;

use super::lines::{all, bytes_name, change, now_ms, put, remove, same};
use crate::platform::private_files;
use ns_base::convert::{f64_to_u64, u64_to_f64};
use ns_base::units::format_bytes;
use ns_session::shelf::{ItemKind, ShelfItem, making_room, model_file};

/// Bytes of the room given by the browser that files leave to everything else.
const SPARE_BYTES: u64 = 32 << 20;

/// Keeps a file that was opened. Older files without a pin are removed if room is short. Fails with a sentence for the user if the
/// file is not kept; it has no other consequence.
pub async fn keep_file(kind: ItemKind, file: File, link: String) -> Result<(), String> {
    let name = file.name();
    let bytes = f64_to_u64(file.size());
    let item = ShelfItem::of_file(kind, &name, &link, bytes, now_ms());
    if let Some(before) = same(&item).filter(|before| before.is_whole) {
        put(ShelfItem { is_whole: true, ..item }.after(&before));
        return Ok(());
    }
    let refused = |why: String| {
        format!(
            "{name} is open, but is not kept for a later visit: {why} Everything that was kept before is still there."
        )
    };
    if let Some((used, quota)) = private_files::usage().await {
        let free = quota.saturating_sub(used).saturating_sub(SPARE_BYTES);
        let Some(gone) = making_room(&all(), bytes, free) else {
            let (size, free) = (format_bytes(u64_to_f64(bytes)), format_bytes(u64_to_f64(free)));
            return Err(refused(format!("it has {size}, but the browser has only {free} left for this page.")));
        };
        gone.iter().for_each(remove);
    }
    // A crash in the middle leaves a line marked as incomplete, which the next visit removes.
    if !change(&item) {
        return Err(refused("the browser's store is full or refuses it.".to_owned()));
    }
    if let Err(reason) = private_files::write(&bytes_name(&item), &file).await {
        remove(&item);
        return Err(refused(format!("the browser refused it ({reason}).")));
    }
    put(ShelfItem { is_whole: true, ..item });
    Ok(())
}

/// The file of this name that was opened last, if one is kept. Fails with a sentence for the user if its bytes are gone; the item
/// is removed from the shelf then.
pub async fn kept_file(kind: ItemKind, name: &str) -> Option<Result<File, String>> {
    let named = |item: &ShelfItem| item.kind == kind && item.is_whole && item.file == name;
    let item = all().into_iter().filter(named).max_by_key(|item| item.when_ms)?;
    Some(bytes_of(&item).await)
}

/// The kept file of a model, which the model's text names by digest.
pub fn kept_model(model: &str) -> Option<ShelfItem> {
    model_file(&all(), model).cloned()
}

/// The bytes of an item, under the name that its file had. Fails with a sentence for the user if they are gone; the item is removed
/// from the shelf then.
pub async fn bytes_of(item: &ShelfItem) -> Result<File, String> {
    let read = private_files::read(&bytes_name(item), &item.file).await;
    read.map_err(|reason| {
        remove(item);
        format!("{} was kept, but the browser no longer has its bytes ({reason}). Open the file again.", item.file)
    })
}
