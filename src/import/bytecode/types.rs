//! Writes types of VHLO as the text of MLIR.

use super::cursor::Cursor;
use super::file::{Dialect, File};
use crate::ImportError;
use ns_base::refuse;

/// Most levels of nested tuples and complex numbers.
const MOST_NESTING: u32 = 32;

/// The smallest number stands for an open size.
const OPEN: i64 = i64::MIN;

/// Numbers of types in VHLO.
mod code {
    pub const COMPLEX: u64 = 1;
    pub const TENSOR: u64 = 20;
    pub const TENSOR_WITH_ENCODING: u64 = 21;
    pub const TOKEN: u64 = 22;
    pub const TUPLE: u64 = 23;
    pub const BUFFER: u64 = 41;
}

impl<'a> File<'a> {
    /// The text of the type whose number comes next.
    pub fn type_text(&self, cursor: &mut Cursor<'a>) -> Result<String, ImportError> {
        let place = *cursor;
        let i = cursor.index(self.types.len(), "type")?;
        self.type_at(&place, i)
    }

    /// The text of a type by its number.
    pub fn type_at(&self, place: &Cursor<'a>, i: usize) -> Result<String, ImportError> {
        self.nested(place, i, MOST_NESTING)
    }

    fn nested(&self, place: &Cursor<'a>, i: usize, depth: u32) -> Result<String, ImportError> {
        let entry = self.types.get(i).ok_or_else(|| place.error(refuse!("there is no type {i}")))?;
        let mut cursor = entry.cursor;
        let Some(depth) = depth.checked_sub(1) else { return Err(cursor.error(refuse!("types nest too deep"))) };
        if entry.dialect != Dialect::Vhlo || !entry.is_binary {
            return Err(cursor.unknown(refuse!("a type of another dialect is not known")));
        }
        let inner = |cursor: &mut Cursor<'a>| {
            let i = cursor.index(self.types.len(), "type")?;
            self.nested(cursor, i, depth)
        };
        let code = cursor.number()?;
        Ok(match code {
            code::COMPLEX => format!("complex<{}>", inner(&mut cursor)?),
            code::TOKEN => "!stablehlo.token".to_owned(),
            code::TENSOR | code::TENSOR_WITH_ENCODING | code::BUFFER => {
                if code == code::TENSOR_WITH_ENCODING {
                    cursor.number()?;
                }
                let sizes = cursor.signed_list()?;
                let sizes: String =
                    sizes.iter().map(|&n| if n == OPEN { "?x".to_owned() } else { format!("{n}x") }).collect();
                format!("tensor<{sizes}{}>", inner(&mut cursor)?)
            }
            code::TUPLE => {
                let count = cursor.count("type")?;
                let parts: Result<Vec<String>, ImportError> = (0..count).map(|_| inner(&mut cursor)).collect();
                let parts = parts?.join(", ");
                // A tuple that holds one tuple several times multiplies at each level.
                if parts.len() > 1 << 20 {
                    return Err(cursor.error(refuse!("a tuple's type is too long")));
                }
                format!("tuple<{parts}>")
            }
            _ => element(code).ok_or_else(|| cursor.unknown(refuse!("type {code} of VHLO is not known")))?.to_owned(),
        })
    }
}

/// The text of an element type by its number.
fn element(code: u64) -> Option<&'static str> {
    Some(match code {
        0 => "i1",
        2 => "bf16",
        3 => "f16",
        4 => "f32",
        5 => "f64",
        6 => "f8E4M3FN",
        7 => "f8E5M2",
        9 => "index",
        10 => "i4",
        11 => "i8",
        12 => "i16",
        13 => "i32",
        14 => "i64",
        15 => "ui4",
        16 => "ui8",
        17 => "ui16",
        18 => "ui32",
        19 => "ui64",
        27 => "f8E4M3FNUZ",
        28 => "f8E5M2FNUZ",
        29 => "f8E4M3B11FNUZ",
        31 => "i2",
        32 => "ui2",
        33 => "none",
        34 => "tf32",
        35 => "f8E4M3",
        36 => "f8E3M4",
        37 => "f4E2M1FN",
        38 => "f6E2M3FN",
        39 => "f6E3M2FN",
        40 => "f8E8M0FNU",
        _ => return None,
    })
}

/// Bits of a number of an element type.
pub(super) fn bits(element: &str) -> Option<u32> {
    let digits = element.trim_start_matches(|c: char| !c.is_ascii_digit());
    let digits = digits.split(|c: char| !c.is_ascii_digit()).next()?;
    match element {
        "index" => Some(64),
        "i1" => Some(8),
        _ => digits.parse().ok(),
    }
}
