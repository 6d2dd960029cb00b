//! Dropped folders, and several files, as one file: an archive made of file handles, without copying a byte.

use js_sys::{Array, Promise, Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{DataTransfer, File, FileSystemDirectoryEntry, FileSystemEntry, FileSystemFileEntry};

use super::error_text;
use ns_base::convert::f64_to_u64;
use ns_session::{BundleLayout, files_to_open};

/// The most files and folders in a folder: one with more is taken to be the wrong folder.
const MOST_ENTRIES: usize = 100_000;

/// The dropped entries, if a folder is among them. Must be called while the event is handled: the browser forgets them afterwards.
pub fn dropped_entries(data: &DataTransfer) -> Option<Vec<FileSystemEntry>> {
    let entries = early_entries(data).unwrap_or_else(|| {
        let items = data.items();
        let entry = |i| items.get(i).and_then(|item| item.webkit_get_as_entry().ok().flatten());
        (0..items.length()).filter_map(entry).collect()
    });
    entries.iter().any(FileSystemEntry::is_directory).then_some(entries)
}

/// The entries of a drop that came before this program: `www/early.js` has taken them, for a drop that a script makes has none.
fn early_entries(data: &DataTransfer) -> Option<Vec<FileSystemEntry>> {
    let entries = Reflect::get(data, &"entries".into()).ok()?.dyn_into::<Array>().ok()?;
    Some(entries.iter().map(JsCast::unchecked_into).collect())
}

/// All files of the dropped folders and files, as one file with the name of the first. Fails if a folder cannot be read or has
/// nothing to open; the message says why.
pub async fn bundle_entries(entries: Vec<FileSystemEntry>) -> Result<File, String> {
    let name = entries.first().map(FileSystemEntry::name).unwrap_or_default();
    let failed = |e: JsValue| format!("{name}: the folder could not be read: {}", error_text(&e));
    let (mut waiting, mut paths, mut files) = (entries, Vec::new(), Vec::new());
    while let Some(entry) = waiting.pop() {
        if paths.len() + waiting.len() > MOST_ENTRIES {
            return Err(format!("{name}: the folder has more than {MOST_ENTRIES} files; drop the folder of the runs"));
        }
        if entry.is_directory() {
            waiting.extend(entries_of(entry.unchecked_ref()).await.map_err(failed)?);
        } else if entry.is_file() {
            paths.push(entry.full_path().trim_start_matches('/').to_owned());
            files.push(entry.unchecked_into::<FileSystemFileEntry>());
        }
    }
    let mut named = Vec::new();
    for at in files_to_open(&paths) {
        named.push((paths[at].clone(), file_of(&files[at]).await.map_err(failed)?));
    }
    if named.is_empty() {
        return Err(format!("{name}: the folder holds no file to open"));
    }
    bundle(&name, &named)
}

/// Several files as one. Fails if a file is too large; the message names it.
pub fn bundle_files(files: &[File]) -> Result<File, String> {
    bundle_as(&format!("{} files", files.len()), files)
}

/// Several files as one of this name. Fails as [`bundle_files`].
pub fn bundle_as(name: &str, files: &[File]) -> Result<File, String> {
    let named: Vec<(String, File)> = files.iter().map(|file| (file.name(), file.clone())).collect();
    bundle(name, &named)
}

fn bundle(name: &str, files: &[(String, File)]) -> Result<File, String> {
    let sized: Vec<(String, u64)> = files.iter().map(|(name, file)| (name.clone(), f64_to_u64(file.size()))).collect();
    let layout = BundleLayout::new(&sized)?;
    let parts = Array::new();
    for (header, (_, file)) in layout.headers().zip(files) {
        parts.push(&Uint8Array::from(header));
        parts.push(file);
    }
    File::new_with_blob_sequence(&parts, name).map_err(|e| format!("{name}: {}", error_text(&e)))
}

/// The entries of a folder. A browser returns them in parts, with an empty part at the end.
async fn entries_of(folder: &FileSystemDirectoryEntry) -> Result<Vec<FileSystemEntry>, JsValue> {
    let (reader, mut found) = (folder.create_reader(), Vec::new());
    loop {
        let promise = Promise::new(&mut |resolve, reject| {
            if let Err(error) = reader.read_entries_with_callback_and_callback(&resolve, &reject) {
                let _ = reject.call1(&JsValue::NULL, &error);
            }
        });
        let part: Array = JsFuture::from(promise).await?.unchecked_into();
        if part.length() == 0 || found.len() > MOST_ENTRIES {
            return Ok(found);
        }
        found.extend(part.iter().map(JsCast::unchecked_into::<FileSystemEntry>));
    }
}

async fn file_of(entry: &FileSystemFileEntry) -> Result<File, JsValue> {
    let promise = Promise::new(&mut |resolve, reject| entry.file_with_callback_and_callback(&resolve, &reject));
    JsFuture::from(promise).await.map(JsCast::unchecked_into)
}
