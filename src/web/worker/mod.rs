//! The bridge between page and worker, over plain messages.
//!
//! A message is an array: `[header, payload...]`, the header a `Uint8Array` with a request or an event in postcard form,
//! whose buffer is transferred, and for [`crate::session::Request::Open`] the `File` (a handle: no byte is copied), for
//! [`crate::session::Event::Exported`] the file that was made, as a `Blob`.
//! Before the worker has said [`crate::session::Event::Ready`] the page queues. See docs/decisions.md for why this is
//! not yew-agent or gloo-worker.

mod client;
mod clock;
mod envelope;
mod host;
mod pool;
mod source;

pub use client::Engine;
pub use host::start;
pub use pool::Pool;
