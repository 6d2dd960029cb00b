//! Arrays that NumPy saved (`np.savez`): inputs of a model and its expected results.

use ns_base::convert::{f64_to_f32, u64_to_i64};
use ns_base::{Refusal, refuse};
use ns_container::ByteSource;
use ns_container::npy::{self, Header};
use ns_container::zip::{self, Archive};

use ns_program::{ArrayType, ElementType, ImportError, Numbers, Place, Value, value_of_bytes};

/// Most bytes of one array.
const MOST_BYTES: u64 = 1 << 30;

/// The arrays of an `.npz` file by name, in its order. Fails when it is not an `.npz` archive, or an array is damaged or of an
/// unsupported type.
pub fn read_npz(bytes: &dyn ByteSource) -> Result<Vec<(String, Value)>, ImportError> {
    let archive = Archive::open(bytes)?;
    let mut arrays = Vec::new();
    for entry in archive.entries.iter().filter(|e| e.name.ends_with(".npy")) {
        let content = archive.content(entry, MOST_BYTES)?;
        let in_entry =
            |e: Refusal| ImportError::at(Place::Entry(entry.name.clone()), e.advise("save it with numpy.savez"));
        let array = array(&content).map_err(in_entry)?;
        arrays.push((entry.name.trim_end_matches(".npy").to_owned(), array));
    }
    if arrays.is_empty() {
        return Err(refuse!(instead = "save arrays with numpy.savez", "the archive holds no arrays").into());
    }
    Ok(arrays)
}

/// The bytes of an `.npz` file with these arrays. Numbers have a type that NumPy has: those of less than single precision are written in single
/// precision, whole numbers with 64 bits.
pub fn write_npz<'a>(arrays: impl IntoIterator<Item = (String, &'a Value)>) -> Vec<u8> {
    let entry = |(name, value): (String, &Value)| {
        let (descr, bytes): (&str, Vec<u8>) = match (&value.numbers, value.ty.element) {
            (Numbers::Real(v), ElementType::F64) => ("<f8", v.iter().flat_map(|n| n.to_le_bytes()).collect()),
            (Numbers::Real(v), _) => ("<f4", v.iter().flat_map(|n| f64_to_f32(*n).to_le_bytes()).collect()),
            (Numbers::Whole(v), ElementType::Pred) => ("|b1", v.iter().map(|n| u8::from(*n != 0)).collect()),
            (Numbers::Whole(v), _) => ("<i8", v.iter().flat_map(|n| n.to_le_bytes()).collect()),
            (Numbers::Complex(v), _) => ("<c16", v.iter().flatten().flat_map(|n| n.to_le_bytes()).collect()),
        };
        (format!("{name}.npy"), npy::write(descr, &value.ty.dims, &bytes))
    };
    zip::write(&arrays.into_iter().map(entry).collect::<Vec<_>>())
}

/// One array in NumPy's format.
fn array(npy: &[u8]) -> Result<Value, Refusal> {
    let Header { descr, is_column_major, shape, values_at, .. } = npy::header(npy).map_err(|(_, what)| what)?;
    let element = element(&descr).ok_or_else(|| refuse!("arrays of type {descr} are not read"))?;
    // NumPy keeps a transposed array as it is, with its first dimension as the fastest.
    let strides = if is_column_major && shape.len() > 1 { column_major(&shape) } else { Vec::new() };
    let values = npy.get(values_at..).unwrap_or_default();
    value_of_bytes(&ArrayType::new(element, shape), values, &strides)
}

/// Distances between neighbours, in elements, of an array whose first dimension is the fastest.
fn column_major(dims: &[u64]) -> Vec<i64> {
    let stride = |before: &mut u64, n: &u64| {
        let here = *before;
        *before = here.saturating_mul(*n);
        Some(u64_to_i64(here))
    };
    dims.iter().scan(1, stride).collect()
}

fn element(descr: &str) -> Option<ElementType> {
    Some(match descr.trim_start_matches(['<', '|', '=']) {
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
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let real = Value { ty: ArrayType::new(ElementType::F32, [2, 1]), numbers: Numbers::Real(vec![0.5, -3.0]) };
        let whole = Value::whole(ElementType::S64, 7);
        let file = write_npz([("out0".to_owned(), &real), ("out1".to_owned(), &whole)]);
        assert_eq!(read_npz(&file).unwrap(), [("out0".to_owned(), real), ("out1".to_owned(), whole)]);
    }

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
