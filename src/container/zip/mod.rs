//! Zip archives (APPNOTE 4.3).
//!
//! By hand rather than with the `zip` crate: that needs a seekable source, which a file read in pieces is not, and adds about 75 KiB
//! (compressed) to the wasm for features that no trace and no model uses.

mod archive;
mod header;
mod stored;
mod stream;
mod write;

pub use archive::{Archive, Entry};
pub use header::{LocalHeader, is_zip, local_names, stored_header};
pub use stored::{StoredFile, stored_files};
pub use stream::Unzip;
pub use write::write;
