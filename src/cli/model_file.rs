//! Model files on disk.

use std::path::Path;
use std::rc::Rc;

use anyhow::{Context, Result};

use super::file::FileSource;
use super::shell::Shell;
use ns_readers::{read_model, refuse_undecided};
use ns_session::{
    ImportError, ImportOptions, ImportedModel, Inspection, ModelFileRef, ModelFileSettings, ModelLibrary, ModelSpec,
    without_model_ending,
};

/// The model in a file, for a batch size if one is given. The settings decide what the file leaves to the user; otherwise the file is
/// refused.
pub(super) fn read_at_batch(
    shell: &Shell,
    path: &str,
    settings: &ModelFileSettings,
    batch: Option<u32>,
) -> Result<(Rc<ImportedModel>, FileSource)> {
    let bytes = FileSource::open(shell, Path::new(path))?;
    let options = ImportOptions { dims: settings.dims.clone(), display_only: false };
    let name = Path::new(path).file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let imported = read_model(&name, &bytes, &options).with_context(|| path.to_owned())?;
    check_decided(&imported.inspection, settings).with_context(|| path.to_owned())?;
    let Some(batch) = batch else { return Ok((Rc::new(imported), bytes)) };
    let library = ModelLibrary::new(read_model);
    library.keep(path, Rc::new(FileSource::open(shell, Path::new(path))?))?;
    let file = ModelFileRef { digest: None, ..ModelFileRef::new(path, "", settings.clone()) };
    Ok((library.instantiate(&file, Some(batch.into()))?.imported, bytes))
}

/// Refuses a file with a decision for the user that the settings do not make.
pub(super) fn check_decided(inspection: &Inspection, settings: &ModelFileSettings) -> Result<(), ImportError> {
    refuse_undecided(inspection, |op| settings.assumed.contains_key(op))
}

/// Whether a text names a model file and not a model of the zoo: a path that is there, or a name with the ending of a model file.
pub(super) fn names_a_file(text: &str) -> bool {
    has_model_ending(text) || (Path::new(text).symlink_metadata().is_ok() && text.parse::<ModelSpec>().is_err())
}

/// Whether a text names a model, and no index: the name of a model file, or a model of the zoo that is no file.
pub(super) fn is_model(text: &str) -> bool {
    has_model_ending(text) || (text.parse::<ModelSpec>().is_ok() && Path::new(text).symlink_metadata().is_err())
}

/// Whether a name has the ending of a model file.
fn has_model_ending(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    !lower.contains("kernel=") && without_model_ending(&lower).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_of_the_zoo_is_no_file() {
        for file in ["a.pt2", "dir/resnet50.onnx", "C:\\models\\a.ONNX.gz", "module.hlo.txt", "jax.mlir"] {
            assert!(names_a_file(file), "{file}");
        }
        for model in ["nn", "matmult:n=64", "google/vit-base-patch16-224", "mlp:kernel=relu.cpp", "index.json"] {
            assert!(!names_a_file(model), "{model}");
        }
        assert!(names_a_file(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")), "a file that is there");
    }
}
