//! The records of an array as `numpy.save` writes it.

use ns_base::{Refusal, refuse};
use ns_container::npy;

use super::records::Records;
use ns_base::convert::{i64_to_f64, low16, low32, u64_to_f64, u64_to_usize, usize_to_u32};

/// One value of an array.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ElementKind {
    Bool,
    Signed,
    Unsigned,
    Float,
}

pub(super) fn read(file: &str, bytes: &[u8]) -> Result<Records, Refusal> {
    let wrong = |(at, problem): (usize, String)| refuse!("{file}: byte {at}: {problem}");
    let header = npy::header(bytes).map_err(|(at, what)| wrong((at, what.to_string())))?;
    if header.is_column_major {
        let problem = "the array is in Fortran order; save numpy.ascontiguousarray of it";
        return Err(wrong((header.begins, problem.to_owned())));
    }
    let (kind, size) = kind_of(header.element()).ok_or_else(|| {
        let descr = &header.descr;
        let problem =
            format!("values of type {descr} are not supported; convert them to floats or integers with astype");
        wrong((header.begins, problem))
    })?;
    records_of(file, &header.shape, (kind, size), header.is_big_endian(), bytes, header.values_at)
}

/// The records of an array whose values stand in `bytes` from `values_at` on.
pub(super) fn records_of(
    file: &str,
    shape: &[u64],
    (kind, size): (ElementKind, usize),
    is_big_endian: bool,
    bytes: &[u8],
    values_at: usize,
) -> Result<Records, Refusal> {
    let wrong = |(at, problem): (usize, String)| refuse!("{file}: byte {at}: {problem}");
    let Some((count, dims)) = shape.split_first() else {
        return Err(wrong((
            10,
            "the array is a single number; save an array whose first size counts the records".to_owned(),
        )));
    };
    let elements = dims.iter().try_fold(1u64, |n, d| n.checked_mul(*d)).filter(|n| *n > 0);
    let per_record = elements.and_then(|n| usize::try_from(n).ok()).and_then(|n| n.checked_mul(size));
    let Some(per_record) = per_record.filter(|_| *count > 0) else {
        return Err(wrong((10, format!("the array has the sizes {shape:?} and holds no values"))));
    };
    let data = bytes.get(values_at..).unwrap_or_default();
    // A truncated file gives its complete records.
    let whole = (data.len() / per_record) as u64;
    let mut records = Records { count: whole.min(*count), dims: dims.to_vec(), ..Records::default() };
    if records.count < *count {
        let (has, wanted) = (records.count, *count);
        records
            .diagnostics
            .add("truncated", None, || format!("the file is cut off: {has} of {wanted} records are complete and used"));
    }
    if records.count == 0 {
        return Err(wrong((values_at, "the file is cut off before the end of its first record".to_owned())));
    }
    let used = data.get(..u64_to_usize(records.count) * per_record).unwrap_or_default();
    records.values = used.chunks_exact(size).map(|raw| value(kind, is_big_endian, raw)).collect();
    Ok(records)
}

/// `f4`, `u1`, `i8`: kind and bytes.
fn kind_of(element: &str) -> Option<(ElementKind, usize)> {
    let size: usize = element.get(1..)?.parse().ok()?;
    let kind = match (element.chars().next()?, size) {
        ('b', 1) => ElementKind::Bool,
        ('i', 1 | 2 | 4 | 8) => ElementKind::Signed,
        ('u', 1 | 2 | 4 | 8) => ElementKind::Unsigned,
        ('f', 2 | 4 | 8) => ElementKind::Float,
        _ => return None,
    };
    Some((kind, size))
}

fn value(kind: ElementKind, is_big_endian: bool, raw: &[u8]) -> f64 {
    let mut wide = [0u8; 8];
    for (i, byte) in raw.iter().take(8).enumerate() {
        let at = if is_big_endian { raw.len() - 1 - i } else { i };
        wide[at.min(7)] = *byte;
    }
    let bits = u64::from_le_bytes(wide);
    let unused = 64 - 8 * usize_to_u32(raw.len());
    match (kind, raw.len()) {
        (ElementKind::Bool, _) => f64::from(u8::from(bits != 0)),
        (ElementKind::Unsigned, _) => u64_to_f64(bits),
        // Shifting up and down again extends the sign.
        (ElementKind::Signed, _) => i64_to_f64((bits << unused).cast_signed() >> unused),
        (ElementKind::Float, 2) => half::f16::from_bits(low16(bits)).to_f64(),
        (ElementKind::Float, 4) => f64::from(f32::from_bits(low32(bits))),
        (ElementKind::Float, _) => f64::from_bits(bits),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(descr: &str, shape: &str, values: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
        let mut bytes = npy::MAGIC.to_vec();
        bytes.extend([1, 0]);
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(values);
        bytes
    }

    #[test]
    fn values_of_every_type() {
        let read = |descr: &str, values: &[u8]| read("a.npy", &array(descr, "(2,)", values)).unwrap().values;
        assert_eq!(read("<f4", &[0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0]), [1.0, -2.0]);
        assert_eq!(read(">f4", &[0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0]), [1.0, -2.0]);
        assert_eq!(read("<f2", &[0, 0x3c, 0, 0xc0]), [1.0, -2.0]);
        assert_eq!((read("|u1", &[0, 255]), read("|i1", &[1, 255])), (vec![0.0, 255.0], vec![1.0, -1.0]));
        assert_eq!((read("<i2", &[0xfe, 0xff, 2, 1]), read("|b1", &[1, 0])), (vec![-2.0, 258.0], vec![1.0, 0.0]));
        assert_eq!(read("<i8", &[[0xff; 8], [1, 0, 0, 0, 0, 0, 0, 0]].concat()), [-1.0, 1.0]);
    }

    #[test]
    fn the_first_size_counts_the_records() {
        let records = read("a.npy", &array("|u1", "(3, 2, 2)", &[7; 12])).unwrap();
        assert_eq!((records.count, records.shape().as_str(), records.iter().count()), (3, "2x2", 3));
        let cut = read("a.npy", &array("|u1", "(3, 2, 2)", &[7; 11])).unwrap();
        assert_eq!((cut.count, cut.diagnostics.count("truncated")), (2, 1));
    }

    #[test]
    fn what_is_wrong_has_its_byte() {
        let said = |bytes: &[u8]| read("a.npy", bytes).unwrap_err().to_string();
        let good = array("<f4", "(2,)", &[0; 8]);
        assert!(said(&good[..20]).contains("byte 20: the file is cut off inside its header"));
        assert!(said(&array("<f4", "()", &[0; 4])).contains("a single number"));
        assert!(said(&array("<f4", "(2, 0)", &[])).contains("holds no values"));
        assert!(said(&array("<U8", "(2,)", &[])).contains("type <U8 are not supported"));
        assert!(said(&array("<f4", "(two,)", &[])).contains("not a tuple of sizes"));
        assert!(said(&array("<f4", "(9,)", &[])).contains("before the end of its first record"));
        assert!(said(&array("<f8", "(99999999999, 99999999999)", &[0; 8])).contains("byte"));
        let text = String::from_utf8_lossy(&good).replace("False", "True ");
        assert!(
            said(&[npy::MAGIC, &good[6..10], &text.as_bytes()[text.find('{').unwrap()..]].concat()).contains("Fortran")
        );
        let mut version = good;
        version[6] = 9;
        assert!(said(&version).contains("byte 6: version 9"));
    }
}
