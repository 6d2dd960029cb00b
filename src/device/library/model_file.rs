//! One open model file: its bytes, from which the program is read again for each batch size.

use std::fmt;
use std::rc::Rc;

use super::batch::{BatchRule, how_to_open};
use super::error::LibraryError;
use super::model_file_ref::{ModelFileRef, ModelFileSettings};
use ns_import::{ImportOptions, Imported, ModelBytes, ReadModel};

/// An open model file. Its graph and its weights stay in the file; only their location is kept.
#[derive(Clone)]
pub struct ModelFile {
    /// The name of the file, as given.
    pub name: String,
    /// Eight characters that identify its content.
    pub digest: String,
    pub(super) bytes: Rc<dyn ModelBytes>,
    pub(super) read: ReadModel,
}

/// A model file, read for one batch size.
#[derive(Clone, Debug)]
pub struct Instantiated {
    /// The contents of the file.
    pub imported: Imported,
    /// Samples of one call.
    pub batch_size: u64,
}

impl fmt::Debug for ModelFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelFile").field("name", &self.name).field("digest", &self.digest).finish_non_exhaustive()
    }
}

impl ModelFile {
    /// The file's bytes, from which its weights are read.
    #[must_use]
    pub fn bytes(&self) -> &dyn ModelBytes {
        &*self.bytes
    }

    /// Its specification with some settings.
    #[must_use]
    pub fn spec(&self, settings: ModelFileSettings) -> ModelFileRef {
        ModelFileRef::new(&self.name, &self.digest, settings)
    }

    /// Reads the model for a batch size, or its own. A model for display only (`looks_only`) may contain operations that no NeuronCore
    /// supports.
    ///
    /// # Errors
    /// When it cannot be read, when a dimension is not open, or when it has a fixed, different batch size: the error says how
    /// to export it with an open one.
    pub fn instantiate(
        &self,
        settings: &ModelFileSettings,
        batch_size: Option<u64>,
        looks_only: bool,
    ) -> Result<Instantiated, LibraryError> {
        let imported = self.read(settings.clone(), looks_only)?;
        let rule = BatchRule::of(&imported.inspection);
        let batch_size = batch_size.unwrap_or(rule.own());
        if batch_size == rule.own() {
            return Ok(Instantiated { imported, batch_size });
        }
        match rule {
            BatchRule::Open { dimension, .. } => {
                let mut settings = settings.clone();
                settings.dims.insert(dimension, batch_size);
                Ok(Instantiated { imported: self.read(settings, looks_only)?, batch_size })
            }
            BatchRule::Fixed { size } => Err(self.wrong_batch(&imported, settings, size, batch_size)),
        }
    }

    fn wrong_batch(&self, imported: &Imported, settings: &ModelFileSettings, size: u64, asked: u64) -> LibraryError {
        let name = self.name.clone();
        // If leaving out a size that the user set would open the dimension, that size is the reason.
        let first = imported.inspection.inputs.iter().find_map(|input| input.open.get(&0));
        if let Some(dimension) = first.filter(|d| settings.dims.contains_key(*d)) {
            return LibraryError::SetBatch { name, dimension: dimension.clone(), size, asked };
        }
        let how_to_open = how_to_open(&imported.inspection.format);
        LibraryError::FixedBatch { name, size, asked, how_to_open }
    }

    fn read(&self, settings: ModelFileSettings, looks_only: bool) -> Result<Imported, LibraryError> {
        let options = ImportOptions { dims: settings.dims, looks_only };
        (self.read)(&self.name, &*self.bytes, &options)
            .map_err(|e| LibraryError::NotAModel { name: self.name.clone(), error: Box::new(e) })
    }
}
