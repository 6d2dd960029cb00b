//! The profiles of an archive: each of its files is read as if it were alone, except in run directories of the Neuron
//! plugin, whose files together are one profile.

use super::interface::empty;
use super::plugin::join_runs;
use super::{ChunkedReader, ProfileReader, ReadLimits, ReadProgress};
use ns_base::{Diagnostics, Refusal};
use ns_container::zip::Unzip;
use ns_profile::Profile;

/// The most files of an archive that are read.
const MAX_FILES: usize = 1000;

/// Reads the files of a zip archive.
pub(super) struct Archive {
    unzip: Unzip,
    limits: ReadLimits,
    current: Option<File>,
    read: Vec<(String, Result<Vec<Profile>, Refusal>)>,
    diagnostics: Diagnostics,
    /// Totals of the finished files.
    text_bytes: u64,
    events: u64,
}

/// The file that is being read. After an error the rest of it is skipped.
struct File {
    name: String,
    reader: Result<Box<ProfileReader>, Refusal>,
}

impl File {
    fn push(&mut self, bytes: &[u8]) {
        if let Ok(reader) = &mut self.reader
            && let Err(error) = reader.push(bytes)
        {
            self.reader = Err(error);
        }
    }
}

impl Archive {
    pub fn new(limits: ReadLimits) -> Self {
        Self {
            unzip: Unzip::default(),
            limits,
            current: None,
            read: Vec::new(),
            diagnostics: Diagnostics::new(),
            text_bytes: 0,
            events: 0,
        }
    }

    /// Takes the next piece of the archive.
    pub fn push(&mut self, mut chunk: &[u8]) -> Result<(), Refusal> {
        loop {
            let current = &mut self.current;
            let mut sink = |bytes: &[u8]| {
                if let Some(file) = current {
                    file.push(bytes);
                }
                Ok(())
            };
            let left = self.unzip.push(chunk, &mut sink, &mut self.diagnostics)?;
            if let Some(name) = self.unzip.begun.take() {
                self.begin(name);
            }
            if left == 0 {
                return Ok(());
            }
            chunk = &chunk[chunk.len() - left..];
        }
    }

    fn begin(&mut self, name: String) {
        self.end_file();
        let reader = Box::new(ProfileReader::inner(&name, self.limits));
        self.current = (self.read.len() < MAX_FILES).then_some(File { name, reader: Ok(reader) });
    }

    fn end_file(&mut self) {
        let Some(file) = self.current.take() else { return };
        let result = file.reader.and_then(|reader| {
            let progress = reader.progress();
            self.text_bytes += progress.text_bytes;
            self.events += progress.events;
            reader.finish_all()
        });
        self.read.push((file.name, result));
    }

    /// Bytes of text and events so far.
    pub fn progress(&self) -> ReadProgress {
        let current = self.current.as_ref().and_then(|f| f.reader.as_ref().ok()).map(|r| r.progress());
        let current = current.unwrap_or_default();
        let (text_bytes, events) = (self.text_bytes + current.text_bytes, self.events + current.events);
        ReadProgress { file_bytes: 0, text_bytes, events }
    }

    /// Takes the end of the archive and returns its profiles, at least one.
    pub fn finish(mut self, title: &str) -> Result<Vec<Profile>, Refusal> {
        self.unzip.finish(&mut self.diagnostics)?;
        self.end_file();
        let read = join_runs(self.read, &mut self.diagnostics);
        let alone = read.len() == 1;
        let (mut profiles, mut first_error) = (Vec::new(), None);
        for (name, result) in read {
            match result {
                Ok(mut of_file) => {
                    let several = of_file.len() > 1;
                    // A run of the plugin has the title of its directory, or of the archive if it has no directory.
                    for profile in of_file.iter_mut().filter(|p| p.plugin_run().is_none_or(|run| run.name.is_empty())) {
                        profile.meta.title = match (alone, several) {
                            (true, false) => title.to_owned(),
                            (_, true) if profile.plugin_run().is_some() => format!("{title} {}", profile.meta.title),
                            // The titles of several profiles in one file distinguish them.
                            (true, true) => continue,
                            (false, false) => name.clone(),
                            (false, true) => format!("{name}/{}", profile.meta.title),
                        };
                    }
                    profiles.append(&mut of_file);
                }
                Err(error) => {
                    self.diagnostics.add("zip_other_file", None, || format!("in the archive, {name:?}: {error}"));
                    first_error = first_error.or(Some(error));
                }
            }
        }
        let Some(first) = profiles.first_mut() else { return Err(first_error.unwrap_or_else(empty)) };
        first.diagnostics.append(&self.diagnostics);
        Ok(profiles)
    }
}
