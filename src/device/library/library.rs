//! All model files that are open.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::batch::BatchRule;
use super::brought_model::{BroughtModel, Instantiated};
use super::brought_spec::{BroughtSettings, BroughtSpec};
use super::digest::content_name;
use super::error::LibraryError;
use ns_base::nearest_text;
use ns_import::{CarryError, ImportError, ImportOptions, Imported, Inspection, ModelBytes, ReadModel};
use ns_model::zoo::{MODELS, ModelSpec, SpecError};

/// All model files that are open, by their content. Clones share them.
#[derive(Clone, Debug)]
pub struct ModelLibrary {
    open: Rc<RefCell<BTreeMap<String, Rc<BroughtModel>>>>,
    read: ReadModel,
    /// Whether models are only displayed.
    looks_only: bool,
}

impl Default for ModelLibrary {
    /// A library without a reader: models of the zoo are available, but no file can be opened.
    fn default() -> Self {
        Self::new(no_reader)
    }
}

/// The answer of a library without a reader.
fn no_reader(_: &str, _: &dyn ModelBytes, _: &ImportOptions) -> Result<Imported, ImportError> {
    Err(ImportError::of_file(CarryError::NoReader))
}

/// A model file that was opened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenedModel {
    /// Its id in configurations and requests: the text of a [`BroughtSpec`].
    pub id: String,
    /// How it takes samples.
    pub batch: BatchRule,
    /// The contents of the file.
    pub inspection: Inspection,
}

impl ModelLibrary {
    /// An empty library whose files are read by `read`: [`read_model`](ns_import::read_model), or a function that asks
    /// another program to read them.
    #[must_use]
    pub fn new(read: ReadModel) -> Self {
        Self { open: Rc::default(), read, looks_only: false }
    }

    /// The same files for displaying their programs only: these may contain operations that no NeuronCore supports.
    #[must_use]
    pub fn to_look(&self) -> Self {
        Self { looks_only: true, ..self.clone() }
    }

    /// Opens a file: reads its graph once, and keeps a reference to its bytes.
    ///
    /// # Errors
    /// When the file is not a supported model file: the error says why and what to do.
    pub fn open(
        &self,
        name: &str,
        bytes: Rc<dyn ModelBytes>,
        settings: BroughtSettings,
    ) -> Result<OpenedModel, LibraryError> {
        let model = self.named(name, bytes)?;
        let Instantiated { imported, .. } = model.instantiate(&settings, None, self.looks_only)?;
        let inspection = imported.inspection;
        let opened =
            OpenedModel { id: model.spec(settings).to_string(), batch: BatchRule::of(&inspection), inspection };
        self.put(model);
        Ok(opened)
    }

    /// Adds a file that was opened elsewhere, without reading its graph: that happens when a model of it is
    /// requested.
    ///
    /// # Errors
    /// When its bytes cannot be read.
    pub fn keep(&self, name: &str, bytes: Rc<dyn ModelBytes>) -> Result<(), LibraryError> {
        self.put(self.named(name, bytes)?);
        Ok(())
    }

    fn named(&self, name: &str, bytes: Rc<dyn ModelBytes>) -> Result<BroughtModel, LibraryError> {
        let digest = content_name(name, &*bytes)?;
        Ok(BroughtModel { name: name.to_owned(), digest, bytes, read: self.read })
    }

    fn put(&self, model: BroughtModel) {
        self.open.borrow_mut().insert(model.digest.clone(), Rc::new(model));
    }

    /// The file that a specification names.
    ///
    /// # Errors
    /// When it is not open; the error names the open files.
    pub fn find(&self, spec: &BroughtSpec) -> Result<Rc<BroughtModel>, LibraryError> {
        let open = self.open.borrow();
        if let Some(digest) = &spec.digest {
            return open.get(digest).cloned().ok_or_else(|| not_open(&open, spec));
        }
        let mut named = open.values().filter(|m| m.spec(BroughtSettings::default()).name == spec.name);
        match (named.next(), named.next()) {
            (Some(model), None) => Ok(Rc::clone(model)),
            (Some(a), Some(b)) => {
                let (first, second) = (a.digest.clone(), b.digest.clone());
                Err(LibraryError::SeveralOpen { name: spec.name.clone(), first, second })
            }
            _ => Err(not_open(&open, spec)),
        }
    }

    /// The model that a text names, read for a batch size or its own.
    ///
    /// # Errors
    /// When the text is not a specification, the file is not open, or it does not have that batch size.
    pub fn instantiate(
        &self,
        model: &str,
        batch_size: Option<u64>,
    ) -> Result<(BroughtSpec, Instantiated), LibraryError> {
        let spec: BroughtSpec = model.parse()?;
        let found = self.find(&spec)?.instantiate(&spec.settings, batch_size, self.looks_only)?;
        Ok((spec, found))
    }

    /// A model of the zoo by its text. The error for an unknown name lists the nearest names in the zoo and among the open
    /// files.
    ///
    /// # Errors
    /// The errors of the zoo.
    pub fn of_zoo(&self, model: &str) -> Result<ModelSpec, LibraryError> {
        model.parse().map_err(|e| {
            let open = self.open.borrow();
            match e {
                SpecError::UnknownModel { name, .. } if !open.is_empty() => {
                    let open: Vec<String> =
                        open.values().map(|m| m.spec(BroughtSettings::default()).to_string()).collect();
                    let names = MODELS.iter().map(|m| m.id).chain(open.iter().map(String::as_str));
                    let nearest = nearest_text(&name, names);
                    LibraryError::Unknown { name, nearest }
                }
                e => e.into(),
            }
        })
    }

    /// Shapes of the inputs of a model, whether of the zoo or brought.
    ///
    /// # Errors
    /// When the model is not known, or does not have that batch size.
    pub fn input_shapes(&self, model: &str, batch_size: u64) -> Result<Vec<Vec<u64>>, LibraryError> {
        if BroughtSpec::is_meant(model) {
            let (_, found) = self.instantiate(model, Some(batch_size))?;
            return Ok(found.imported.inspection.inputs.into_iter().map(|input| input.shape).collect());
        }
        let inputs = self.of_zoo(model)?.inputs(batch_size)?;
        Ok(inputs.iter().map(|input| input.shape.dims.to_vec()).collect())
    }
}

fn not_open(open: &BTreeMap<String, Rc<BroughtModel>>, spec: &BroughtSpec) -> LibraryError {
    let names: Vec<&str> = open.values().map(|m| m.name.as_str()).collect();
    let nearest = (!names.is_empty()).then(|| nearest_text(&spec.name, names));
    LibraryError::NotOpen { label: spec.label(), digest: spec.digest.clone(), nearest }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_import::read_model;

    const HLO: &str = "HloModule two, entry_computation_layout={(f32[2,4]{1,0})->f32[2,4]{1,0}}\n\nENTRY main {\n  p = f32[2,4]{1,0} parameter(0)\n  ROOT t = f32[2,4]{1,0} tanh(p)\n}\n";

    fn open(name: &str, text: &str, library: &ModelLibrary) -> OpenedModel {
        library.open(name, Rc::new(text.as_bytes().to_vec()), BroughtSettings::default()).unwrap()
    }

    #[test]
    fn a_file_is_found_by_name_and_by_content() {
        let library = ModelLibrary::new(read_model);
        let opened = open("dir/two.hlo", HLO, &library);
        assert!(opened.id.starts_with("file:two.hlo@"), "{}", opened.id);
        assert_eq!(
            (opened.inspection.format.as_str(), opened.batch.clone()),
            ("hlo-text", BatchRule::Fixed { size: 2 })
        );
        assert!(library.instantiate(&opened.id, None).is_ok() && library.instantiate("file:two.hlo", Some(2)).is_ok());
        let error = library.instantiate(&opened.id, Some(4)).unwrap_err().to_string();
        assert!(error.contains("exported for a batch size of 2, not 4; use batch size 2"), "{error}");
        // The same name with another content is another model.
        let other = open("two.hlo", &HLO.replace("tanh", "negate"), &library);
        assert_ne!(other.id, opened.id);
        let error = library.instantiate("file:two.hlo", None).unwrap_err().to_string();
        assert!(error.contains("several open files"), "{error}");
        assert_eq!(library.input_shapes(&other.id, 2).unwrap(), [[2, 4]]);
        assert_eq!(library.input_shapes("nn", 2).unwrap(), [[8, 4]]);
    }

    #[test]
    fn a_file_that_is_kept_is_read_when_it_is_wanted() {
        let bytes = |text: &str| -> Rc<dyn ModelBytes> { Rc::new(text.as_bytes().to_vec()) };
        let (opened, library) = (open("two.hlo", HLO, &ModelLibrary::new(read_model)), ModelLibrary::new(read_model));
        library.keep("two.hlo", bytes(HLO)).unwrap();
        let (_, found) = library.instantiate(&opened.id, None).unwrap();
        assert_eq!(found.imported.inspection, opened.inspection);
        // A file that is not a model is detected then.
        library.keep("x.onnx", bytes("not a model")).unwrap();
        assert!(matches!(library.instantiate("file:x.onnx", None), Err(LibraryError::NotAModel { .. })));
    }

    #[test]
    fn without_a_reader_no_file_is_opened_and_the_zoo_is_there() {
        let library = ModelLibrary::default();
        let bytes = Rc::new(HLO.as_bytes().to_vec());
        let error = library.open("two.hlo", bytes, BroughtSettings::default()).unwrap_err().to_string();
        assert_eq!(
            error,
            "two.hlo: model files are not read here; open it on the page, or name it on the command line with --model FILE"
        );
        assert_eq!(library.input_shapes("nn", 2).unwrap(), [[8, 4]]);
    }

    #[test]
    fn what_is_not_open_is_answered_with_what_is() {
        let library = ModelLibrary::new(read_model);
        let error = library.instantiate("file:two.hlo@abcdefgh", None).unwrap_err().to_string();
        assert!(error.contains("content abcdefgh) that is not open") && error.contains("--model FILE"), "{error}");
        open("two.hlo", HLO, &library);
        let error = library.instantiate("file:tow.hlo", None).unwrap_err().to_string();
        assert!(error.contains("the nearest that are open: two.hlo"), "{error}");
        let error = library.of_zoo("two.hlo").unwrap_err().to_string();
        assert!(error.contains("file:two.hlo@") && error.contains("neuronscope models"), "{error}");
        assert!(ModelLibrary::default().of_zoo("two.hlo").unwrap_err().to_string().contains("lists all"));
        let bytes = Rc::new(b"not a model".to_vec());
        let error = library.open("x.onnx", bytes, BroughtSettings::default()).unwrap_err().to_string();
        assert!(error.starts_with("x.onnx: "), "{error}");
    }
}
