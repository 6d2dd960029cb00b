//! All model files that are open.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::batch::BatchRule;
use super::digest::content_name;
use super::fixed::FixedModel;
use super::model_file::{FileModelProgram, ModelFile};
use super::model_file_ref::{ModelFileRef, ModelFileSettings};
use super::model_ref::{ModelKind, ModelRef};
use ns_base::{Refusal, nearest_text, refuse};
use ns_container::ByteSource;
use ns_model::zoo::{MODELS, named_model};
use ns_program::{ImportError, ImportOptions, ImportedModel, Inspection, ReadModel};

/// All model files that are open, by their content. Clones share them.
#[derive(Clone, Debug)]
pub struct ModelLibrary {
    open: Rc<RefCell<BTreeMap<String, Rc<ModelFile>>>>,
    read: ReadModel,
    /// Whether models are only displayed.
    display_only: bool,
}

impl Default for ModelLibrary {
    /// A library without a reader: models of the zoo are available, but no file can be opened.
    fn default() -> Self {
        Self::new(no_reader)
    }
}

/// The answer of a library without a reader.
fn no_reader(_: &str, _: &dyn ByteSource, _: &ImportOptions) -> Result<ImportedModel, ImportError> {
    Err(refuse!(
        instead = "open it on the page, or name it on the command line with --model FILE",
        "model files are not read here"
    )
    .into())
}

/// A model file that was opened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenedModel {
    /// Its id in configurations and requests: the text of a [`ModelFileRef`].
    pub id: String,
    /// How it takes samples.
    pub batch: BatchRule,
    /// The contents of the file.
    pub inspection: Inspection,
}

impl ModelLibrary {
    /// An empty library whose files are read by `read`: `read_model` of `ns_readers`, or a function that asks
    /// another program to read them.
    pub fn new(read: ReadModel) -> Self {
        Self { open: Rc::default(), read, display_only: false }
    }

    /// The same files for displaying their programs only: these may contain operations that no NeuronCore supports.
    pub fn for_display(&self) -> Self {
        Self { display_only: true, ..self.clone() }
    }

    /// Opens a file: reads its graph once, and keeps a reference to its bytes. Fails when the file is not a supported model file:
    /// the error says why and what to do.
    pub fn open(
        &self,
        name: &str,
        bytes: Rc<dyn ByteSource>,
        settings: ModelFileSettings,
    ) -> Result<OpenedModel, Refusal> {
        self.open_as(name, &content_name(name, &*bytes)?, bytes, settings)
    }

    /// Opens a file whose content is known by this name, from [`content_name`], also where not all of its bytes can be read. Fails
    /// as [`Self::open`].
    pub fn open_as(
        &self,
        name: &str,
        digest: &str,
        bytes: Rc<dyn ByteSource>,
        settings: ModelFileSettings,
    ) -> Result<OpenedModel, Refusal> {
        let model = ModelFile::new(name, digest.to_owned(), bytes, self.read);
        let FileModelProgram { imported, .. } = model.instantiate(&settings, None, self.display_only)?;
        let opened = OpenedModel {
            id: model.spec(settings).to_string(),
            batch: BatchRule::of(&imported),
            inspection: imported.inspection.clone(),
        };
        self.put(model);
        Ok(opened)
    }

    /// Adds a file that was opened elsewhere, without reading its graph: that happens when a model of it is
    /// requested. Fails when its bytes cannot be read.
    pub fn keep(&self, name: &str, bytes: Rc<dyn ByteSource>) -> Result<(), Refusal> {
        self.put(self.model_file(name, bytes)?);
        Ok(())
    }

    fn model_file(&self, name: &str, bytes: Rc<dyn ByteSource>) -> Result<ModelFile, Refusal> {
        let digest = content_name(name, &*bytes)?;
        Ok(ModelFile::new(name, digest, bytes, self.read))
    }

    fn put(&self, model: ModelFile) {
        self.open.borrow_mut().insert(model.digest.clone(), Rc::new(model));
    }

    /// The file that a specification names. Fails when it is not open; the error names the open files.
    pub fn find(&self, spec: &ModelFileRef) -> Result<Rc<ModelFile>, Refusal> {
        let open = self.open.borrow();
        if let Some(digest) = &spec.digest {
            return open.get(digest).cloned().ok_or_else(|| not_open(&open, spec));
        }
        let mut named = open.values().filter(|m| m.spec(ModelFileSettings::default()).name == spec.name);
        match (named.next(), named.next()) {
            (Some(model), None) => Ok(Rc::clone(model)),
            (Some(a), Some(b)) => {
                let (first, second) = (a.digest.clone(), b.digest.clone());
                Err(refuse!(
                    "{name}: several open files have this name; say which, as in file:{name}@{first} or file:{name}@{second}",
                    name = spec.name
                ))
            }
            _ => Err(not_open(&open, spec)),
        }
    }

    /// A model file, read for a batch size or its own. Fails when the file is not open, or does not have that batch size.
    pub fn instantiate(&self, file: &ModelFileRef, batch_size: Option<u64>) -> Result<FileModelProgram, Refusal> {
        self.find(file)?.instantiate(&file.settings, batch_size, self.display_only)
    }

    /// The model that a text names. The error for an unknown name lists the nearest names in the zoo and among the open files.
    /// Fails when the text names no model.
    pub fn resolve(&self, model: &str) -> Result<ModelRef, Refusal> {
        let open = self.open.borrow();
        if open.is_empty() || ModelKind::of(model) != ModelKind::Zoo || named_model(model).is_some() {
            return model.parse();
        }
        let name = model.split(':').next().unwrap_or_default().trim();
        let open: Vec<String> = open.values().map(|m| m.spec(ModelFileSettings::default()).to_string()).collect();
        let nearest = nearest_text(name, MODELS.iter().map(|m| m.id).chain(open.iter().map(String::as_str)));
        Err(refuse!("unknown model {name:?}: the nearest are {nearest}; neuronscope models lists those of the zoo"))
    }

    /// Shapes of the inputs of a model of the zoo or of a file. Fails when the model is not known, or does not have that batch
    /// size.
    pub fn input_shapes(&self, model: &str, batch_size: u64) -> Result<Vec<Vec<u64>>, Refusal> {
        match self.resolve(model)? {
            ModelRef::Zoo(spec) => {
                let inputs = spec.inputs(batch_size)?;
                Ok(inputs.iter().map(|input| input.shape.dims.to_vec()).collect())
            }
            ModelRef::File(file) => {
                let found = self.instantiate(&file, Some(batch_size))?;
                Ok(found.imported.inspection.inputs.iter().map(|input| input.shape.clone()).collect())
            }
            ModelRef::Fixed(_) => Err(FixedModel::no_program()),
        }
    }
}

fn not_open(open: &BTreeMap<String, Rc<ModelFile>>, spec: &ModelFileRef) -> Refusal {
    let content = spec.digest.as_ref().map_or_else(String::new, |digest| format!(" (content {digest})"));
    let again = if spec.digest.is_some() { "open the file again" } else { "open it first" };
    let instead = if open.is_empty() {
        format!("{again}, on the command line with --model FILE")
    } else {
        let nearest = nearest_text(&spec.name, open.values().map(|m| m.name.as_str()));
        format!("{again}; the nearest that are open: {nearest}")
    };
    refuse!("model {} is a file{content} that is not open; {instead}", spec.label())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_readers::read_model;

    const HLO: &str = "HloModule two, entry_computation_layout={(f32[2,4]{1,0})->f32[2,4]{1,0}}\n\nENTRY main {\n  p = f32[2,4]{1,0} parameter(0)\n  ROOT t = f32[2,4]{1,0} tanh(p)\n}\n";

    fn open(name: &str, text: &str, library: &ModelLibrary) -> OpenedModel {
        library.open(name, Rc::new(text.as_bytes().to_vec()), ModelFileSettings::default()).unwrap()
    }

    fn read(library: &ModelLibrary, model: &str, batch_size: Option<u64>) -> Result<FileModelProgram, Refusal> {
        library.instantiate(&model.parse().unwrap(), batch_size)
    }

    #[test]
    fn a_file_is_found_by_name_and_by_content() {
        let library = ModelLibrary::new(read_model);
        let opened = open("dir/two.hlo", HLO, &library);
        assert!(opened.id.starts_with("file:two.hlo@"), "{}", opened.id);
        assert_eq!(
            (opened.inspection.format.as_str(), opened.batch.clone()),
            ("hlo-text", BatchRule::Derived { exported: 2 })
        );
        assert!(read(&library, &opened.id, None).is_ok() && read(&library, "file:two.hlo", Some(2)).is_ok());
        assert_eq!(read(&library, &opened.id, Some(4)).unwrap().imported.inspection.inputs[0].shape, [4, 4]);
        let mixed = open("mixed.hlo", &HLO.replace("tanh(p)", "reverse(p), dimensions={0}"), &library);
        let error = read(&library, &mixed.id, Some(4)).unwrap_err().to_string();
        assert!(
            error.contains("exported for a batch size of 2, not 4") && error.contains("use batch size 2"),
            "{error}"
        );
        // The same name with another content is another model.
        let other = open("two.hlo", &HLO.replace("tanh", "negate"), &library);
        assert_ne!(other.id, opened.id);
        let error = read(&library, "file:two.hlo", None).unwrap_err().to_string();
        assert!(error.contains("several open files"), "{error}");
        assert_eq!(library.input_shapes(&other.id, 2).unwrap(), [[2, 4]]);
        assert_eq!(library.input_shapes("nn", 2).unwrap(), [[8, 4]]);
    }

    #[test]
    fn a_file_is_read_at_its_first_use() {
        let bytes = |text: &str| -> Rc<dyn ByteSource> { Rc::new(text.as_bytes().to_vec()) };
        let (opened, library) = (open("two.hlo", HLO, &ModelLibrary::new(read_model)), ModelLibrary::new(read_model));
        library.keep("two.hlo", bytes(HLO)).unwrap();
        let found = read(&library, &opened.id, None).unwrap();
        assert_eq!(found.imported.inspection, opened.inspection);
        // A file that is not a model is detected then.
        library.keep("x.onnx", bytes("not a model")).unwrap();
        assert!(read(&library, "file:x.onnx", None).unwrap_err().what().starts_with("x.onnx: "));
    }

    #[test]
    fn without_a_reader_no_file_is_opened_and_the_zoo_is_there() {
        let library = ModelLibrary::default();
        let bytes = Rc::new(HLO.as_bytes().to_vec());
        let error = library.open("two.hlo", bytes, ModelFileSettings::default()).unwrap_err().to_string();
        assert_eq!(
            error,
            "two.hlo: model files are not read here; open it on the page, or name it on the command line with --model FILE"
        );
        assert_eq!(library.input_shapes("nn", 2).unwrap(), [[8, 4]]);
    }

    #[test]
    fn an_unknown_file_error_lists_the_open_files() {
        let library = ModelLibrary::new(read_model);
        let error = read(&library, "file:two.hlo@abcdefgh", None).unwrap_err().to_string();
        assert!(error.contains("content abcdefgh) that is not open") && error.contains("--model FILE"), "{error}");
        open("two.hlo", HLO, &library);
        let error = read(&library, "file:tow.hlo", None).unwrap_err().to_string();
        assert!(error.contains("the nearest that are open: two.hlo"), "{error}");
        let error = library.resolve("two.hlo").unwrap_err().to_string();
        assert!(error.contains("file:two.hlo@") && error.contains("neuronscope models"), "{error}");
        assert!(ModelLibrary::default().resolve("two.hlo").unwrap_err().to_string().contains("lists all"));
        let bytes = Rc::new(b"not a model".to_vec());
        let error = library.open("x.onnx", bytes, ModelFileSettings::default()).unwrap_err().to_string();
        assert!(error.starts_with("x.onnx: "), "{error}");
    }
}
