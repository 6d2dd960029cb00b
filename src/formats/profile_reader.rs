//! The reader of a file of any known format: unpacks it, finds its format, and reads it.

use super::interface::empty;
use super::layer::Layer;
use super::plugin::settle_view;
use super::{ChunkedReader, ReadLimits, ReadProgress};
use ns_base::Refusal;
use ns_profile::Profile;

/// Reads a file of any known format: unpacks it, finds its format, and reads it.
pub struct ProfileReader {
    title: String,
    layer: Layer,
    file_bytes: u64,
}

impl ProfileReader {
    /// A reader of a file with this name, which is used only as the profile's title.
    #[must_use]
    pub fn new(title: &str) -> Self {
        Self::with_limits(title, ReadLimits::default())
    }

    /// [`Self::new`] with other limits.
    #[must_use]
    pub fn with_limits(title: &str, limits: ReadLimits) -> Self {
        Self { title: title.to_owned(), layer: Layer::of_file(limits, true), file_bytes: 0 }
    }

    /// A reader for a file inside an archive.
    pub(super) fn inner(title: &str, limits: ReadLimits) -> Self {
        Self { title: title.to_owned(), layer: Layer::of_file(limits, false), file_bytes: 0 }
    }

    /// Takes the end of the file and returns its profiles: several if it is an archive of several, or has several
    /// kinds of samples. The titles of several profiles distinguish them; a single profile has the title of the file.
    ///
    /// # Errors
    /// When the file does not give a profile.
    pub fn finish_all(mut self) -> Result<Vec<Profile>, Refusal> {
        let is_archive = self.layer.is_archive(self.file_bytes)?;
        let mut profiles = self.layer.finish(&self.title, self.file_bytes)?;
        if is_archive {
            return Ok(profiles);
        }
        let is_alone = profiles.len() == 1;
        for profile in &mut profiles {
            if profile.meta.events == 0 && profile.diagnostics.count("no_events") == 0 {
                let format = profile.meta.format.clone();
                profile
                    .diagnostics
                    .add("no_events", None, || format!("the file is of the format {format}, but holds no events"));
            }
            if is_alone {
                self.title.clone_into(&mut profile.meta.title);
                settle_view(profile, &self.title);
            }
        }
        Ok(profiles)
    }
}

impl ChunkedReader for ProfileReader {
    fn push(&mut self, chunk: &[u8]) -> Result<(), Refusal> {
        self.file_bytes += chunk.len() as u64;
        self.layer.push(chunk, self.file_bytes)
    }

    fn finish(mut self: Box<Self>) -> Result<Profile, Refusal> {
        let (title, is_archive) = (self.title.clone(), self.layer.is_archive(self.file_bytes)?);
        let mut profiles = self.finish_all()?.into_iter();
        let Some(mut first) = profiles.next() else { return Err(empty()) };
        for other in profiles {
            let kind = &other.meta.title;
            if is_archive {
                first.diagnostics.add("zip_more_files", None, || {
                    format!("the zip archive holds more profiles, such as {kind:?}: this is the first")
                });
            } else {
                first.diagnostics.add("other_values", None, || format!("samples also have {kind}: not shown"));
                title.clone_into(&mut first.meta.title);
            }
        }
        Ok(first)
    }

    fn finish_each(self: Box<Self>) -> Result<Vec<Profile>, Refusal> {
        self.finish_all()
    }

    fn progress(&self) -> ReadProgress {
        ReadProgress { file_bytes: self.file_bytes, ..self.layer.progress() }
    }
}

/// Reads a file that is in memory as a whole.
///
/// # Errors
/// When the file does not give a profile.
pub fn read_bytes(title: &str, bytes: &[u8]) -> Result<Profile, Refusal> {
    let mut reader = Box::new(ProfileReader::new(title));
    for chunk in bytes.chunks(1 << 22) {
        reader.push(chunk)?;
    }
    reader.finish()
}
