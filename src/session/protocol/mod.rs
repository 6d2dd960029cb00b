//! What a shell may ask and what it is told. Messages are small; everything is plain data that postcard can carry (no
//! untagged enums, no skipped fields).

mod event;
mod request;
mod version;

pub use event::{Event, SearchHits};
pub use request::{ExportKind, Request, RunRequest};
pub use version::{PROTOCOL_VERSION, build_id};
