//! Formats whose parts refer to later parts: the text is collected, and read when it is complete.

use super::json::BYTE_ORDER_MARK;
use super::{ChunkedReader, ReadLimits, ReadProgress};
use crate::interface::{document_too_large, empty};
use ns_base::Diagnostics;
use ns_base::Refusal;
use ns_profile::{Profile, ProfileBuilder};

pub enum TextContent {
    /// Rows. The profile is made of them after the text is freed: text, rows and profile together would need the most memory.
    Rows(Box<ProfileBuilder>, Diagnostics),
    /// Rows of several profiles that do not keep parts of the text. The first is the one to show.
    Several(Vec<(ProfileBuilder, Diagnostics)>),
    Profile(Box<Profile>),
}

impl TextContent {
    /// Rows and the problems found.
    pub fn of(builder: ProfileBuilder, diagnostics: Diagnostics) -> Self {
        Self::Rows(Box::new(builder), diagnostics)
    }

    /// The profile, the first if there are several. Only the parts of the text that arguments refer to are kept.
    pub fn finish(self, text: Vec<u8>) -> Result<Profile, Refusal> {
        self.finish_each(text)?.into_iter().next().ok_or_else(empty)
    }

    /// The profiles, at least one.
    pub fn finish_each(self, mut text: Vec<u8>) -> Result<Vec<Profile>, Refusal> {
        Ok(match self {
            Self::Rows(mut builder, diagnostics) => {
                if text.starts_with(BYTE_ORDER_MARK) {
                    // Places of values do not count it.
                    text.drain(..BYTE_ORDER_MARK.len());
                }
                builder.keep_text(text);
                vec![builder.finish(diagnostics)]
            }
            Self::Several(parts) => {
                drop(text);
                parts.into_iter().map(|(builder, diagnostics)| builder.finish(diagnostics)).collect()
            }
            Self::Profile(profile) => vec![*profile],
        })
    }
}

/// Reads a whole text. Damage is a diagnostic; a text that gives no profile at all is an error.
pub type Parse = fn(&[u8]) -> Result<TextContent, Refusal>;

/// Collects the text for [`Parse`].
pub struct DocumentReader {
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
    fn push(&mut self, chunk: &[u8]) -> Result<(), Refusal> {
        collect(&mut self.text, chunk, self.limits)
    }

    fn finish(self: Box<Self>) -> Result<Profile, Refusal> {
        (self.parse)(&self.text)?.finish(self.text)
    }

    fn finish_each(self: Box<Self>) -> Result<Vec<Profile>, Refusal> {
        (self.parse)(&self.text)?.finish_each(self.text)
    }

    fn progress(&self) -> ReadProgress {
        ReadProgress { file_bytes: self.text.len() as u64, text_bytes: self.text.len() as u64, events: 0 }
    }
}

/// Appends to a text that is kept as a whole. It grows by a quarter instead of doubling, because wasm memory is never
/// given back.
pub fn collect(text: &mut Vec<u8>, chunk: &[u8], limits: ReadLimits) -> Result<(), Refusal> {
    let bytes = text.len() as u64 + chunk.len() as u64;
    if bytes > limits.document_bytes {
        return Err(document_too_large(limits.document_bytes));
    }
    if text.capacity() - text.len() < chunk.len() {
        text.reserve_exact(chunk.len().max(text.len() / 4));
    }
    text.extend_from_slice(chunk);
    Ok(())
}
