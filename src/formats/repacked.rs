//! Gzip inside gzip, as a file gets that was packed once by hand and once by a server.

use super::gzip::Gunzip;
use super::text_reader::TextReader;
use super::{ChunkedReader, ReadError, ReadLimits, ReadProgress};
use crate::base::Diagnostics;
use crate::profile::Profile;

/// Unpacks the text of a file a second time, and not a third.
pub(super) struct RepackedReader {
    gzip: Gunzip,
    text: TextReader,
    diagnostics: Diagnostics,
}

impl RepackedReader {
    pub fn new(limits: ReadLimits) -> Self {
        Self { gzip: Gunzip::new(), text: TextReader::of_unpacked(limits), diagnostics: Diagnostics::new() }
    }
}

impl ChunkedReader for RepackedReader {
    fn push(&mut self, chunk: &[u8]) -> Result<(), ReadError> {
        let text = &mut self.text;
        self.gzip.push(chunk, &mut |bytes| text.push(bytes), &mut self.diagnostics)
    }

    fn finish(self: Box<Self>) -> Result<Profile, ReadError> {
        self.finish_each()?.into_iter().next().ok_or(ReadError::Empty)
    }

    fn finish_each(mut self: Box<Self>) -> Result<Vec<Profile>, ReadError> {
        self.gzip.finish(&mut self.diagnostics)?;
        let mut profiles = self.text.finish()?;
        for profile in &mut profiles {
            profile.diagnostics.append(&self.diagnostics);
        }
        Ok(profiles)
    }

    fn progress(&self) -> ReadProgress {
        self.text.progress()
    }
}
