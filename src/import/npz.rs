//! Arrays that NumPy saved (`np.savez`): inputs of a model and what it should give.

use super::load::decode;
use super::program::{ArrayType, ElementType, Value};
use super::zip::Archive;
use super::{ImportError, ModelBytes, Place};

/// Bytes of one array at most.
const MOST_BYTES: u64 = 1 << 30;

/// The arrays of an `.npz` file by name, in its order.
///
/// # Errors
/// When it is no such archive, or an array is damaged, in column-major order or of a type that is not read.
pub fn read_npz(bytes: &dyn ModelBytes) -> Result<Vec<(String, Value)>, ImportError> {
    let archive = Archive::open(bytes)?;
    let mut arrays = Vec::new();
    for entry in archive.entries.iter().filter(|e| e.name.ends_with(".npy")) {
        let content = archive.content(entry, MOST_BYTES)?;
        let instead = "save it with numpy.savez";
        let array = array(&content).map_err(|e| ImportError::at(Place::Entry(entry.name.clone()), e, instead))?;
        arrays.push((entry.name.trim_end_matches(".npy").to_owned(), array));
    }
    if arrays.is_empty() {
        return Err(ImportError::of_file("the archive holds no arrays", "save arrays with numpy.savez"));
    }
    Ok(arrays)
}

/// One array of NumPy's format, versions 1 to 3.
fn array(npy: &[u8]) -> Result<Value, String> {
    let cut = || "the array is cut off".to_owned();
    if !npy.starts_with(b"\x93NUMPY") {
        return Err("it is not an array of NumPy".to_owned());
    }
    let (start, len): (usize, usize) = match npy.get(6).ok_or_else(cut)? {
        1 => (10, usize::from(u16::from_le_bytes([*npy.get(8).ok_or_else(cut)?, *npy.get(9).ok_or_else(cut)?]))),
        _ => {
            let len: [u8; 4] = npy.get(8..12).and_then(|b| b.try_into().ok()).ok_or_else(cut)?;
            (12, usize::try_from(u32::from_le_bytes(len)).unwrap_or(usize::MAX))
        }
    };
    let end = start.checked_add(len).ok_or_else(cut)?;
    let header = String::from_utf8_lossy(npy.get(start..end).ok_or_else(cut)?).into_owned();
    let after = |key: &str| header.split(key).nth(1).ok_or_else(|| format!("its header has no {key}"));
    let descr = after("'descr':")?.split('\'').nth(1).unwrap_or_default().to_owned();
    let sizes = after("'shape':")?.split(['(', ')']).nth(1).unwrap_or_default().to_owned();
    let dims = sizes.split(',').map(str::trim).filter(|d| !d.is_empty()).map(|d| d.parse::<u64>());
    let dims = dims.collect::<Result<Vec<u64>, _>>().map_err(|e| format!("its sizes ({sizes}): {e}"))?;
    if dims.len() > 1 && after("'fortran_order':")?.trim_start().starts_with("True") {
        return Err("it is in column-major order: save numpy.ascontiguousarray of it".to_owned());
    }
    decode(&ArrayType::new(element(&descr)?, dims), npy.get(end..).ok_or_else(cut)?, &[])
}

fn element(descr: &str) -> Result<ElementType, String> {
    Ok(match descr.trim_start_matches(['<', '|', '=']) {
        "f4" => ElementType::F32,
        "f8" => ElementType::F64,
        "f2" => ElementType::F16,
        "i8" => ElementType::S64,
        "i4" => ElementType::S32,
        "i2" => ElementType::S16,
        "i1" => ElementType::S8,
        "u8" => ElementType::U64,
        "u4" => ElementType::U32,
        "u2" => ElementType::U16,
        "u1" => ElementType::U8,
        "b1" | "?" => ElementType::Pred,
        _ => return Err(format!("arrays of type {descr} are not read")),
    })
}
