//! Formats whose parts refer to later ones: the text is collected, and read when it is whole.

use super::{ChunkedReader, ReadError, ReadLimits, ReadProgress};
use crate::profile::Profile;

/// Makes a profile of a whole text. Damage is a diagnostic; an error is for what gives no profile at all.
pub(super) type Parse = fn(&[u8]) -> Result<Profile, ReadError>;

/// Collects the text for [`Parse`].
pub(super) struct DocumentReader {
    text: Vec<u8>,
    limits: ReadLimits,
    parse: Parse,
}

impl DocumentReader {
    pub fn new(limits: ReadLimits, parse: Parse) -> Self {
        Self { text: Vec::new(), limits, parse }
    }
}

impl ChunkedReader for DocumentReader {
    fn push(&mut self, chunk: &[u8]) -> Result<(), ReadError> {
        collect(&mut self.text, chunk, self.limits)
    }

    fn finish(self: Box<Self>) -> Result<Profile, ReadError> {
        (self.parse)(&self.text)
    }

    fn progress(&self) -> ReadProgress {
        ReadProgress { file_bytes: self.text.len() as u64, text_bytes: self.text.len() as u64, events: 0 }
    }
}

/// Appends to a text that is kept whole. It grows by a quarter, not to its double: in wasm what was given is not
/// given back.
pub(super) fn collect(text: &mut Vec<u8>, chunk: &[u8], limits: ReadLimits) -> Result<(), ReadError> {
    let bytes = text.len() as u64 + chunk.len() as u64;
    if bytes > limits.document_bytes {
        return Err(ReadError::DocumentTooLarge { limit: limits.document_bytes });
    }
    if text.capacity() - text.len() < chunk.len() {
        text.reserve_exact(chunk.len().max(text.len() / 4));
    }
    text.extend_from_slice(chunk);
    Ok(())
}
