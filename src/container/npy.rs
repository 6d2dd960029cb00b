//! The header of an array as `numpy.save` writes it: a magic string, a version, and a Python dictionary. The values follow.
//! The format is documented at numpy.org, `numpy.lib.format`.

use ns_base::convert::usize_to_u16;
use ns_base::{Refusal, refuse};

/// The first bytes of a `.npy` file.
pub const MAGIC: &[u8] = b"\x93NUMPY";

/// What the header says about the values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The type of a value as NumPy writes it: `<f4`, `|u1`, `>i8`.
    pub descr: String,
    /// Whether the first dimension is the fastest.
    pub is_column_major: bool,
    pub shape: Vec<u64>,
    /// Where the dictionary begins.
    pub begins: usize,
    /// Where the values begin.
    pub values_at: usize,
}

impl Header {
    /// The type of a value without its byte order: `f4`, `u1`, `i8`.
    pub fn element(&self) -> &str {
        self.descr.trim_start_matches(['<', '>', '|', '='])
    }

    /// Whether the first byte of a value is the most significant one.
    pub fn is_big_endian(&self) -> bool {
        self.descr.starts_with('>')
    }
}

/// The header of an array, versions 1 to 3.
/// An error says what is wrong with it, and the byte.
pub fn header(bytes: &[u8]) -> Result<Header, (usize, Refusal)> {
    let cut = || (bytes.len(), refuse!("the file is cut off inside its header"));
    if !bytes.starts_with(MAGIC) {
        return Err((0, refuse!("it is not an array of NumPy")));
    }
    let (length, begins) = match *bytes.get(6).ok_or_else(cut)? {
        1 => {
            let raw: [u8; 2] = bytes.get(8..10).and_then(|b| b.try_into().ok()).ok_or_else(cut)?;
            (usize::from(u16::from_le_bytes(raw)), 10)
        }
        2 | 3 => {
            let raw: [u8; 4] = bytes.get(8..12).and_then(|b| b.try_into().ok()).ok_or_else(cut)?;
            (u32::from_le_bytes(raw) as usize, 12)
        }
        version => {
            let what =
                refuse!("version {version} of the format is not supported; save the array with numpy 1.9 or later");
            return Err((6, what));
        }
    };
    let values_at = begins + length;
    let raw = bytes.get(begins..values_at).ok_or_else(cut)?;
    let text = std::str::from_utf8(raw).map_err(|e| (begins + e.valid_up_to(), refuse!("the header is not text")))?;
    let of = |key: &str| field(text, key).ok_or_else(|| (begins, refuse!("the header has no '{key}'")));
    let descr = of("descr")?;
    let name = descr.trim_start_matches(['\'', '"']).split(['\'', '"']).next().unwrap_or_default();
    let is_column_major = of("fortran_order")?.starts_with("True");
    let inner = of("shape")?.strip_prefix('(').and_then(|s| s.split(')').next());
    let sizes = inner.map(|s| {
        s.split(',').map(str::trim).filter(|s| !s.is_empty()).map(str::parse).collect::<Result<Vec<u64>, _>>()
    });
    let Some(Ok(shape)) = sizes else { return Err((begins, refuse!("the shape is not a tuple of sizes"))) };
    Ok(Header { descr: name.to_owned(), is_column_major, shape, begins, values_at })
}

/// An array: version 1 of the format, rows first. `descr` is NumPy's name of the type, `<f4`, and `values` are its bytes.
pub fn write(descr: &str, shape: &[u64], values: &[u8]) -> Vec<u8> {
    let sizes: String = shape.iter().map(|n| format!("{n},")).collect();
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({sizes}), }}");
    // The values begin at a multiple of 64.
    let length = (text.len() + 11).next_multiple_of(64) - 10;
    text.push_str(&" ".repeat(length - text.len() - 1));
    let length = usize_to_u16(length).to_le_bytes();
    [MAGIC, &[1, 0], &length, text.as_bytes(), b"\n", values].concat()
}

/// The value of a key of the dictionary.
fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let at = text.find(&format!("'{key}'"))? + key.len() + 2;
    text.get(at..)?.trim_start().strip_prefix(':').map(str::trim_start)
}
