//! What a file that holds one text is packed in: gzip, or nothing.

use super::ReadError;
use super::gzip::Gunzip;
use super::inflate::Sink;
use super::sniff::FileKind;
use crate::base::Diagnostics;

/// Unpacks a file in pieces.
pub(super) enum Unpacker {
    /// It is not packed.
    Plain,
    Gzip(Gunzip),
}

impl Unpacker {
    pub(super) fn for_kind(kind: FileKind) -> Self {
        match kind {
            FileKind::Gzip => Self::Gzip(Gunzip::new()),
            _ => Self::Plain,
        }
    }

    /// Takes the next piece of the file and gives what it unpacks to.
    pub(super) fn push(
        &mut self,
        input: &[u8],
        sink: Sink<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Result<(), ReadError> {
        match self {
            Self::Plain => sink(input),
            Self::Gzip(gzip) => gzip.push(input, sink, diagnostics),
        }
    }

    /// Takes the end of the file.
    pub(super) fn finish(&mut self, diagnostics: &mut Diagnostics) -> Result<(), ReadError> {
        match self {
            Self::Plain => Ok(()),
            Self::Gzip(gzip) => gzip.finish(diagnostics),
        }
    }
}
