//! The bytes of files, and the formats that pack other files or numbers: gzip, zip, npy.
//!
//! A file that comes in pieces is unpacked by [`gzip::Gunzip`] and [`zip::Unzip`], which give what a damaged file still holds. A file with
//! random access is a [`ByteSource`]; [`zip::Archive`] reads its entries one by one.

#![cfg_attr(test, allow(clippy::pedantic, reason = "tests may tell a longer story, with small numbers"))]

mod crc;
pub mod gzip;
pub mod inflate;
pub mod neuron;
pub mod npy;
mod recording;
mod source;
pub mod zip;

pub use recording::{FilePart, RecordingSource};
pub use source::{ByteSource, exactly, unreadable};
