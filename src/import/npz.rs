//! Arrays that NumPy saved (`np.savez`): inputs of a model and its expected results.

use thiserror::Error;

use super::load::{DecodeError, decode};
use super::program::{ArrayType, ElementType, Value};
use super::zip::Archive;
use super::{ImportError, ModelBytes, Place};
use ns_base::convert::signed;

/// Most bytes of one array.
const MOST_BYTES: u64 = 1 << 30;

/// The arrays of an `.npz` file by name, in its order.
///
/// # Errors
/// When it is not an `.npz` archive, or an array is damaged or of an unsupported type.
pub fn read_npz(bytes: &dyn ModelBytes) -> Result<Vec<(String, Value)>, ImportError> {
    let archive = Archive::open(bytes)?;
    let mut arrays = Vec::new();
    for entry in archive.entries.iter().filter(|e| e.name.ends_with(".npy")) {
        let content = archive.content(entry, MOST_BYTES)?;
        let array = array(&content).map_err(|e| ImportError::at(Place::Entry(entry.name.clone()), e))?;
        arrays.push((entry.name.trim_end_matches(".npy").to_owned(), array));
    }
    if arrays.is_empty() {
        return Err(ImportError::of_file(NpzError::NoArrays));
    }
    Ok(arrays)
}

/// Why arrays of NumPy cannot be read.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum NpzError {
    /// An archive of other things.
    #[error("the archive holds no arrays")]
    NoArrays,
    /// The header or the numbers are truncated.
    #[error("the array is cut off")]
    CutOff,
    /// Not an array file of NumPy.
    #[error("it is not an array of NumPy")]
    Magic,
    /// A missing key that every header has.
    #[error("its header has no {0}")]
    NoKey(&'static str),
    /// Sizes that are not numbers.
    #[error("its sizes ({sizes}): {source}")]
    Sizes {
        /// The sizes as written.
        sizes: String,
        /// What is wrong with one of them.
        source: std::num::ParseIntError,
    },
    /// An unsupported element type, as NumPy writes it.
    #[error("arrays of type {0} are not read")]
    Element(String),
    /// Numbers that do not fit the array.
    #[error(transparent)]
    Decode(#[from] DecodeError),
}

impl NpzError {
    /// What to do instead.
    #[must_use]
    pub const fn instead(&self) -> &'static str {
        match self {
            Self::NoArrays => "save arrays with numpy.savez",
            _ => "save it with numpy.savez",
        }
    }
}

/// One array in NumPy's format, versions 1 to 3.
fn array(npy: &[u8]) -> Result<Value, NpzError> {
    if !npy.starts_with(b"\x93NUMPY") {
        return Err(NpzError::Magic);
    }
    let (start, len): (usize, usize) = match npy.get(6).ok_or(NpzError::CutOff)? {
        1 => (
            10,
            usize::from(u16::from_le_bytes([
                *npy.get(8).ok_or(NpzError::CutOff)?,
                *npy.get(9).ok_or(NpzError::CutOff)?,
            ])),
        ),
        _ => {
            let len: [u8; 4] = npy.get(8..12).and_then(|b| b.try_into().ok()).ok_or(NpzError::CutOff)?;
            (12, usize::try_from(u32::from_le_bytes(len)).unwrap_or(usize::MAX))
        }
    };
    let end = start.checked_add(len).ok_or(NpzError::CutOff)?;
    let header = String::from_utf8_lossy(npy.get(start..end).ok_or(NpzError::CutOff)?).into_owned();
    let after = |key: &'static str| header.split(key).nth(1).ok_or(NpzError::NoKey(key));
    let descr = after("'descr':")?.split('\'').nth(1).unwrap_or_default().to_owned();
    let sizes = after("'shape':")?.split(['(', ')']).nth(1).unwrap_or_default().to_owned();
    let dims = sizes.split(',').map(str::trim).filter(|d| !d.is_empty()).map(|d| d.parse::<u64>());
    let dims = dims.collect::<Result<Vec<u64>, _>>().map_err(|source| NpzError::Sizes { sizes, source })?;
    // NumPy keeps a transposed array as it is, with its first dimension as the fastest.
    let is_column_major = dims.len() > 1 && after("'fortran_order':")?.trim_start().starts_with("True");
    let strides = if is_column_major { column_major(&dims) } else { Vec::new() };
    Ok(decode(&ArrayType::new(element(&descr)?, dims), npy.get(end..).ok_or(NpzError::CutOff)?, &strides)?)
}

/// Distances between neighbours, in elements, of an array whose first dimension is the fastest.
fn column_major(dims: &[u64]) -> Vec<i64> {
    let stride = |before: &mut u64, n: &u64| {
        let here = *before;
        *before = here.saturating_mul(*n);
        Some(signed(here))
    };
    dims.iter().scan(1, stride).collect()
}

fn element(descr: &str) -> Result<ElementType, NpzError> {
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
        _ => return Err(NpzError::Element(descr.to_owned())),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Numbers;

    #[test]
    fn a_transposed_array_is_read_in_its_own_order() {
        let of = |order: &str, numbers: [f32; 6]| {
            let header = format!("{{'descr': '<f4', 'fortran_order': {order}, 'shape': (2, 3), }}");
            let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
            bytes.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
            bytes.extend(header.as_bytes());
            bytes.extend(numbers.iter().flat_map(|n| n.to_le_bytes()));
            array(&bytes).unwrap()
        };
        let rows = of("False", [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(rows.numbers, Numbers::Real(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
        assert_eq!(of("True", [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]), rows);
    }
}
