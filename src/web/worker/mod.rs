//! The bridge between page and worker, over plain messages.
//!
//! A message is an array: `[header, payload...]`, the header a `Uint8Array` with a request or an event in postcard form ([`ns_session::protocol::wire`]),
//! whose buffer is transferred, and for [`ns_session::JobRequest::Open`] the `File` (a handle: no byte is copied), for
//! [`ns_session::Message::File`] the file that was made, as a `Blob`.
//! Readers of model files are a separate program (`reader.rs`, [`super::reader`]), which a worker fetches when it reads a model file.
//!
//! There are three worker programs: `viewer` opens profiles, `worker` runs benchmarks, `studies` the rest. Each has only its parts of the messages,
//! and a visitor waits for the one that the page needs.
//!
//! Until the worker has sent [`ns_session::Event::Ready`], the page queues its requests. See docs/decisions.md for why this is
//! not yew-agent or gloo-worker.

mod client;
mod clock;
mod envelope;
mod host;
mod life;
pub(super) mod panic_message;
mod pool;
mod reader;
mod recorder;
mod source;

pub use client::{Engine, Program, ask_everything};
pub use host::{start_benchmarks, start_studies, start_viewer};
pub use pool::{KnownModel, Models, Pool};
pub use source::copy_front;
