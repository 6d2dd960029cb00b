//! One open model file: its bytes, from which the program is read for each batch size.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use super::batch::{BatchRule, how_to_open};
use super::model_file_ref::{ModelFileRef, ModelFileSettings};
use ns_base::{Refusal, refuse};
use ns_container::ByteSource;
use ns_program::{ImportOptions, ImportedModel, ReadModel, rebatch};

/// An open model file. Its weights stay in the file; only their location is kept. The program that was read last is kept, because a
/// question about a model is rarely the only one.
pub struct ModelFile {
    /// The name of the file, as given.
    pub name: String,
    /// Eight characters that identify its content.
    pub digest: String,
    bytes: Rc<dyn ByteSource>,
    read: ReadModel,
    last: RefCell<Option<(ImportOptions, Rc<ImportedModel>)>>,
    /// How it takes samples, by the sizes that the user set.
    rules: RefCell<BTreeMap<BTreeMap<String, u64>, BatchRule>>,
}

/// A model file, read for one batch size.
#[derive(Clone, Debug)]
pub struct FileModelProgram {
    /// The contents of the file.
    pub imported: Rc<ImportedModel>,
    /// Samples of one call.
    pub batch_size: u64,
}

impl fmt::Debug for ModelFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelFile").field("name", &self.name).field("digest", &self.digest).finish_non_exhaustive()
    }
}

impl ModelFile {
    pub(super) fn new(name: &str, digest: String, bytes: Rc<dyn ByteSource>, read: ReadModel) -> Self {
        Self { name: name.to_owned(), digest, bytes, read, last: RefCell::default(), rules: RefCell::default() }
    }

    /// The file's bytes, from which its weights are read.
    pub fn bytes(&self) -> &dyn ByteSource {
        &*self.bytes
    }

    /// Its specification with some settings.
    pub fn spec(&self, settings: ModelFileSettings) -> ModelFileRef {
        ModelFileRef::new(&self.name, &self.digest, settings)
    }

    /// Reads the model for a batch size, or its own. A model for display only (`display_only`) may contain operations that no NeuronCore
    /// supports. Fails when it cannot be read, when a dimension is not open, or when it has a fixed, different batch size: the
    /// error says how to export it with an open one.
    pub fn instantiate(
        &self,
        settings: &ModelFileSettings,
        batch_size: Option<u64>,
        display_only: bool,
    ) -> Result<FileModelProgram, Refusal> {
        let rule = self.rule(settings, display_only)?;
        let batch_size = batch_size.unwrap_or(rule.own());
        let mut dims = settings.dims.clone();
        match rule {
            _ if batch_size == rule.own() => {}
            BatchRule::Open { dimension, .. } => {
                dims.insert(dimension, batch_size);
            }
            BatchRule::Derived { exported } => {
                let imported = self.read(dims, display_only)?.at_batch(exported, batch_size);
                let imported = Rc::new(imported.map_err(|e| refuse!("{}: {e}", self.name))?);
                return Ok(FileModelProgram { imported, batch_size });
            }
            BatchRule::Fixed { size } => {
                let imported = self.read(dims, display_only)?;
                return Err(self.wrong_batch(&imported, settings, size, batch_size));
            }
        }
        Ok(FileModelProgram { imported: self.read(dims, display_only)?, batch_size })
    }

    fn rule(&self, settings: &ModelFileSettings, display_only: bool) -> Result<BatchRule, Refusal> {
        if let Some(rule) = self.rules.borrow().get(&settings.dims) {
            return Ok(rule.clone());
        }
        let rule = BatchRule::of(&*self.read(settings.dims.clone(), display_only)?);
        self.rules.borrow_mut().insert(settings.dims.clone(), rule.clone());
        Ok(rule)
    }

    fn wrong_batch(&self, imported: &ImportedModel, settings: &ModelFileSettings, size: u64, asked: u64) -> Refusal {
        let name = self.name.clone();
        // If leaving out a size that the user set would open the dimension, that size is the reason.
        let first = imported.inspection.inputs.iter().find_map(|input| input.open.get(&0));
        if let Some(dimension) = first.filter(|d| settings.dims.contains_key(*d)) {
            return refuse!(
                "{name}: dimension {dimension} is set to {size}, so that a batch size of {asked} is not possible; leave {dimension} out to sweep batch sizes"
            );
        }
        let how_to_open = how_to_open(&imported.inspection.format);
        let why = rebatch(&imported.program, size, asked).err().map(|e| format!(" ({e})")).unwrap_or_default();
        refuse!(
            "{name}: was exported for a batch size of {size}, not {asked}, and its graph does not say what another is{why}; use batch size {size}, or {how_to_open}"
        )
    }

    /// The file for some sizes, from memory if it was read for them last.
    fn read(&self, dims: BTreeMap<String, u64>, display_only: bool) -> Result<Rc<ImportedModel>, Refusal> {
        let options = ImportOptions { dims, display_only };
        if let Some((_, imported)) = self.last.borrow().as_ref().filter(|(read_for, _)| *read_for == options) {
            return Ok(Rc::clone(imported));
        }
        let imported = (self.read)(&self.name, &*self.bytes, &options);
        let imported = imported.map_err(|e| refuse!("{}: {e}", self.name)).map(Rc::new)?;
        *self.last.borrow_mut() = Some((options, Rc::clone(&imported)));
        Ok(imported)
    }
}
