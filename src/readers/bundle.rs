//! A model with the files beside it, as one archive of stored files: several files that were dropped, or a folder.

use ns_base::Refusal;
use ns_container::ByteSource;
use ns_container::zip::{StoredFile, stored_files};
use ns_program::{DataBeside, ImportError, ImportOptions, ImportedModel, WeightData};

use super::read_onnx;

/// Reads the model of an archive. Offsets of its weights are those in the archive.
pub(super) fn read_bundle(archive: &dyn ByteSource, options: &ImportOptions) -> Result<ImportedModel, ImportError> {
    let files = stored_files(archive)?;
    let model = Member { archive, files: &files, at: 0 };
    let mut imported = read_onnx(&model, options)?;
    for parameter in &mut imported.program.parameters {
        let place = match &parameter.data {
            WeightData::InFile { offset, len, .. } => Some((model.file().start + offset, *len)),
            WeightData::Beside(data) => model.place(data),
            WeightData::Absent | WeightData::Inline(_) => None,
        };
        if let Some((offset, len)) = place {
            parameter.data = WeightData::InFile { offset, len, strides: Vec::new() };
        }
    }
    Ok(imported)
}

/// A file in an archive.
struct Member<'a> {
    archive: &'a dyn ByteSource,
    files: &'a [StoredFile],
    at: usize,
}

impl Member<'_> {
    fn file(&self) -> &StoredFile {
        &self.files[self.at]
    }

    /// The file at a path from the folder of this one; of files that were dropped without their folders, the one with the name.
    fn index_of(&self, path: &str) -> Option<usize> {
        let own = &self.file().name;
        let folder = own.rfind('/').map_or("", |end| &own[..=end]);
        let find = |name: &str| self.files.iter().position(|file| file.name == name);
        let bare = || path.rsplit('/').next().filter(|_| folder.is_empty()).and_then(find);
        find(&format!("{folder}{path}")).or_else(bare)
    }

    /// Offset and size in the archive of numbers in another file, if they are all there.
    fn place(&self, data: &DataBeside) -> Option<(u64, u64)> {
        data.source(self).ok()?;
        let file = &self.files[self.index_of(&data.path()?)?];
        Some((file.start + data.offset, data.len))
    }
}

impl ByteSource for Member<'_> {
    fn size(&self) -> u64 {
        self.file().len
    }

    fn read(&self, offset: u64, buf: &mut [u8]) -> Result<usize, Refusal> {
        let left = usize::try_from(self.size().saturating_sub(offset)).unwrap_or(usize::MAX);
        let n = buf.len().min(left);
        self.archive.read(self.file().start.saturating_add(offset), &mut buf[..n])
    }

    fn beside(&self, path: &str) -> Option<Box<dyn ByteSource + '_>> {
        Some(Box::new(Member { at: self.index_of(path)?, ..*self }))
    }
}
