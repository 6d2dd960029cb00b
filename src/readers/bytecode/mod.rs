//! MLIR bytecode with a portable artifact of StableHLO (the dialect VHLO), by itself or inside a file of `jax.export`.
//!
//! The module becomes the tree that the reader of StableHLO text makes too: both forms of a module therefore become the same program. Versions 0 (JAX 0.4.30) to 6 of the container are read. The container's format is from MLIR's description
//! of its bytecode format, the numbers of attributes and types are from StableHLO's `VhloBytecode.cpp`.

mod attributes;
mod cursor;
mod file;
mod operations;
mod properties;
mod types;

use super::stablehlo;
use file::File;
use ns_base::refuse;
use ns_program::file::module_in;
use ns_program::{ImportError, ImportOptions, ImportedModel, Place};

/// What to do with a module in bytecode that cannot be read.
const SAVE_AS_TEXT: &str = "save text with: open(\"model.mlir\", \"w\").write(jax.jit(f).lower(*args).as_text()), or turn \
     the file into text with: stablehlo-translate --deserialize FILE > model.mlir";

/// Reads a portable artifact, or the one inside a file of `jax.export`. Fails when the file is truncated, when it holds another
/// dialect, or when the module's text cannot be read.
pub fn read_mlir_bytecode(bytes: &[u8], options: &ImportOptions) -> Result<ImportedModel, ImportError> {
    let (start, end) = span(bytes)?;
    let file = File::read(bytes, start, end)?;
    // There is no text, and no line of it.
    let mut imported = stablehlo::import(&operations::read_module(&file)?, "", options).map_err(|e| match e.place {
        Place::Line(..) => ImportError { place: Place::File, ..e },
        _ => e,
    })?;
    imported.inspection.format = if start == 0 { "mlirbc" } else { "jax-export" }.to_owned();
    if start > 0 {
        "jax".clone_into(&mut imported.inspection.producer);
    }
    Ok(imported)
}

/// Start and end of the bytecode.
fn span(bytes: &[u8]) -> Result<(usize, usize), ImportError> {
    let module = module_in(bytes).map_err(ns_container::unreadable)?;
    let module = module.ok_or_else(|| refuse!(instead = SAVE_AS_TEXT, "it holds no MLIR bytecode"))?;
    let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
    let (start, end) = (place(module.start), place(module.start.saturating_add(module.len)));
    if end > bytes.len() {
        let cut_off = refuse!(
            instead = "it is cut off: copy the whole file",
            "the bytecode inside ends at byte {end} and the file at byte {}",
            bytes.len()
        );
        return Err(ImportError::at(Place::Byte(module.start), cut_off));
    }
    Ok((start, end))
}

#[cfg(test)]
mod tests;
