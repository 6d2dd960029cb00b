//! MLIR bytecode that holds a portable artifact of StableHLO (the dialect VHLO), by itself or inside a file of `jax.export`.
//!
//! The bytecode is turned into the generic text of StableHLO, which the reader of that text takes: so both forms of one module
//! become the same program. Versions 0 (JAX 0.4.30) to 6 of the container are read. Facts of the container are from MLIR's description
//! of its bytecode format, numbers of attributes and types from StableHLO's `VhloBytecode.cpp`.

mod attributes;
mod cursor;
mod dictionary;
mod error;
mod file;
mod numbers;
mod operations;
mod properties;
mod types;

use super::{ImportError, ImportOptions, Imported, Place, read_stablehlo};
pub use error::{BytecodeError, Unknown};
use file::File;

/// What bytecode begins with.
pub(super) const MAGIC: &[u8; 4] = b"ML\xefR";

/// Bytes at the front of a file of `jax.export` among which its bytecode begins: 404 to 1072 were seen.
pub(super) const FRONT: usize = 4096;

/// Reads a portable artifact, or the one inside a file of `jax.export`.
///
/// # Errors
/// When the file is cut off, when it holds another dialect, or when the module is not one that can be read as text.
pub fn read_mlir_bytecode(bytes: &[u8], options: &ImportOptions) -> Result<Imported, ImportError> {
    let (start, end) = span(bytes)?;
    let file = File::read(bytes, start, end)?;
    let text = operations::print(&file)?;
    // The user has not seen the text, so that its line numbers do not help.
    let mut imported = read_stablehlo(&text, options).map_err(|e| match e.place {
        Place::Line(..) => ImportError { place: Place::File, ..e },
        _ => e,
    })?;
    imported.inspection.format = if start == 0 { "mlirbc" } else { "jax-export" }.to_owned();
    if start > 0 {
        "jax".clone_into(&mut imported.inspection.producer);
    }
    Ok(imported)
}

/// Where the bytecode begins and ends: a file of `jax.export` is a flatbuffer, in which its length stands before it.
fn span(bytes: &[u8]) -> Result<(usize, usize), ImportError> {
    let front = &bytes[..bytes.len().min(FRONT)];
    let start = memchr::memmem::find(front, MAGIC);
    let start = start.ok_or_else(|| ImportError::of_file(BytecodeError::Absent))?;
    let len = start.checked_sub(4).and_then(|at| bytes.get(at..start)).and_then(|b| <[u8; 4]>::try_from(b).ok());
    let Some(len) = len else { return Ok((start, bytes.len())) };
    let end = start.saturating_add(u32::from_le_bytes(len) as usize);
    if end > bytes.len() {
        let cut_off = BytecodeError::InsideEnd { end, size: bytes.len() };
        return Err(ImportError::at(Place::Byte(start as u64), cut_off));
    }
    Ok((start, end))
}

#[cfg(test)]
mod tests;
