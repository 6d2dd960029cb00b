//! Reading a file.

use super::{Job, JobState, MakeProfile};
use crate::open_profile::OpenProfile;
use crate::protocol::Message;
use ns_container::ByteSource;
use ns_formats::{ChunkedReader, ProfileReader};
use ns_forms::ProfileOrigin;
use ns_profile::Profile;

/// Bytes read between two checks of the messages: about 10 ms of parsing.
const CHUNK_BYTES: usize = 1 << 20;

/// Reads one file in chunks; the file is never in memory as a whole.
pub(crate) struct OpenJob {
    name: String,
    source: Box<dyn ByteSource>,
    reader: Option<Box<ProfileReader>>,
    offset: u64,
    chunk: Vec<u8>,
}

impl OpenJob {
    pub fn new(name: String, source: Box<dyn ByteSource>) -> Self {
        let reader = Some(Box::new(ProfileReader::new(&name)));
        Self { name, source, reader, offset: 0, chunk: vec![0; CHUNK_BYTES] }
    }

    fn read_chunk(&mut self) -> Result<usize, String> {
        let n = self.source.read(self.offset, &mut self.chunk).map_err(|e| {
            let at = self.offset;
            format!(
                "{}: cannot be read at byte {at}: {e}. Check that the file still exists and open it again",
                self.name
            )
        })?;
        self.offset += n as u64;
        Ok(n)
    }

    fn finish(&mut self) -> Result<JobState, String> {
        let Some(reader) = self.reader.take() else { return Ok(JobState::Done) };
        let profiles: Vec<Profile> = reader.finish_all().map_err(|e| format!("{}: {e}", self.name))?;
        let bytes = self.source.size();
        let made = profiles.into_iter().map(|profile| -> MakeProfile {
            // The files of an archive, and a run in it, have their own names.
            let title = &profile.meta().title;
            let name = if *title == self.name { self.name.clone() } else { format!("{}/{title}", self.name) };
            let origin = ProfileOrigin::File { name: name.clone(), bytes, format: profile.meta().format.clone() };
            Box::new(move |key| OpenProfile::new(key, name, origin, profile, None))
        });
        Ok(JobState::Profiles(made.collect()))
    }
}

impl Job for OpenJob {
    fn step(&mut self, _budget_events: u32, sink: &mut dyn FnMut(Message)) -> Result<JobState, String> {
        let n = self.read_chunk()?;
        let Some(reader) = &mut self.reader else { return Ok(JobState::Done) };
        reader.push(&self.chunk[..n]).map_err(|e| format!("{}: {e}", self.name))?;
        let events = reader.progress().events;
        sink(Message::Progress {
            done: self.offset,
            total: self.source.size(),
            label: format!("Reading {}: {} events", self.name, ns_base::units::format_count(events)),
        });
        if n < self.chunk.len() { self.finish() } else { Ok(JobState::More) }
    }
}
