//! Readers of traces of millions of events: Chrome's format, Perfetto, XPlane and the kernel's ftrace; and what readers of every format are
//! made of: the interface ([`ChunkedReader`]), JSON that is read in place ([`json`]), decimal times, sampled stacks.
//!
//! A reader gets bytes in pieces of any size, gives the same profile for all of them, and reads a file that is cut off or partly damaged up to
//! there, with a diagnostic for what it left out.
//!
//! This crate is compiled for speed. `ns_formats` chooses the reader of a file and holds those of smaller files; it is compiled for size.

#![cfg_attr(test, allow(clippy::pedantic, reason = "tests may tell a longer story, with small numbers"))]

pub mod chrome;
pub mod decimal;
pub mod document;
pub mod ftrace;
pub mod interface;
pub mod json;
pub mod nodes;
pub mod perfetto;
mod pieces;
pub mod stacks;
pub mod xplane;

pub use interface::{ChunkedReader, ReadLimits, ReadProgress};
