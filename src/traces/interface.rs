//! The interface between files and profiles: bytes are pushed in as they come, a profile comes out at the end.

use ns_base::{Refusal, refuse};
use ns_profile::{Profile, ProfileBuilder};

/// How far a reader has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadProgress {
    /// Bytes of the file.
    pub file_bytes: u64,
    /// Bytes of text they unpacked to.
    pub text_bytes: u64,
    /// Events found.
    pub events: u64,
}

/// The memory that a reader may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadLimits {
    /// Memory for the collected events, in bytes. Finishing needs up to half as much again for a moment.
    pub store_bytes: u64,
    /// Limit for the text of a format that has to be in memory as a whole, in bytes.
    pub document_bytes: u64,
}

impl ReadLimits {
    /// Checks that the collected events fit.
    pub fn check(self, builder: &ProfileBuilder) -> Result<(), Refusal> {
        let (bytes, events) = (builder.bytes() as u64, builder.events().max(builder.slice_count()));
        if bytes > self.store_bytes || events >= u64::from(u32::MAX) - 1 {
            return Err(profile_too_large(events, bytes));
        }
        Ok(())
    }
}

impl Default for ReadLimits {
    /// The memory that fits into a wasm memory of 4 GiB next to everything else; no limit where pointers are wider.
    fn default() -> Self {
        if usize::BITS == 32 {
            Self { store_bytes: 2 << 30, document_bytes: 1 << 30 }
        } else {
            Self { store_bytes: u64::MAX, document_bytes: u64::MAX }
        }
    }
}

/// Reads a file that comes in pieces.
pub trait ChunkedReader {
    /// Takes the next piece, of any size. Fails when the file gives no profile; damage of single events is counted and is never an
    /// error.
    fn push(&mut self, chunk: &[u8]) -> Result<(), Refusal>;

    /// Takes the end of the file and gives the profile. Fails when the file does not give a profile.
    fn finish(self: Box<Self>) -> Result<Profile, Refusal>;

    /// Takes the end of the file and returns its profiles: several if they have no common axis. Each has its own title;
    /// the first is the one to show. Fails when the file does not give a profile.
    fn finish_each(self: Box<Self>) -> Result<Vec<Profile>, Refusal> {
        self.finish().map(|profile| vec![profile])
    }

    /// How far it has come.
    fn progress(&self) -> ReadProgress;
}

/// The file has no bytes, or white space only.
pub fn empty() -> Refusal {
    refuse!("the file is empty: there is nothing to open")
}

/// The file is something else; `what` is the kind of file that it looks like.
pub fn not_a_profile(what: &str) -> Refusal {
    refuse!(
        "this is {what}, not a profile that can be opened; expected a trace (Chrome JSON, XPlane, Perfetto, ...) or a \
         profile (speedscope, pprof, Firefox, ...), plain, .gz or .zip"
    )
}

/// The format has to be in memory as a whole, and the file has more than `limit` bytes.
pub fn document_too_large(limit: u64) -> Refusal {
    refuse!("the file is too large for its format, which can only be read as a whole: more than {limit} bytes of text")
}

/// The profile needs more memory than is available.
pub fn profile_too_large(events: u64, bytes: u64) -> Refusal {
    refuse!("the profile is too large: {bytes} bytes of memory after {events} events; cut the trace to a shorter time")
}
