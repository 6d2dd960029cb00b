//! Types of VHLO.

use super::cursor::Cursor;
use super::file::{Dialect, File};
use crate::stablehlo::syntax::OpenType;
use crate::stablehlo::{self, array};
use ns_base::refuse;
use ns_program::{ArrayType, ElementType, ImportError, Type};

/// Most levels of nested tuples.
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
    /// The type whose number comes next.
    pub fn next_type(&self, cursor: &mut Cursor<'a>) -> Result<OpenType, ImportError> {
        let place = *cursor;
        let i = cursor.index(self.types.len(), "type")?;
        self.type_at(&place, i)
    }

    /// A type by its number.
    pub fn type_at(&self, place: &Cursor<'a>, i: usize) -> Result<OpenType, ImportError> {
        self.nested_type(place, i, MOST_NESTING)
    }

    /// The bytes of a type, from its code on.
    fn type_bytes(&self, place: &Cursor<'a>, i: usize) -> Result<Cursor<'a>, ImportError> {
        self.spend(place)?;
        let entry = self.types.get(i).ok_or_else(|| place.error(refuse!("there is no type {i}")))?;
        if entry.dialect != Dialect::Vhlo || !entry.is_binary {
            return Err(entry.cursor.unknown(refuse!("a type of another dialect is not known")));
        }
        Ok(entry.cursor)
    }

    fn nested_type(&self, place: &Cursor<'a>, i: usize, depth: u32) -> Result<OpenType, ImportError> {
        let mut cursor = self.type_bytes(place, i)?;
        let Some(depth) = depth.checked_sub(1) else { return Err(cursor.error(refuse!("types nest too deep"))) };
        match cursor.number()? {
            code::TOKEN => Ok(OpenType { ty: Type::Token, open: Vec::new() }),
            code @ (code::TENSOR | code::TENSOR_WITH_ENCODING | code::BUFFER) => {
                if code == code::TENSOR_WITH_ENCODING {
                    cursor.number()?;
                }
                let sizes = cursor.signed_list()?;
                let open: Vec<usize> = (0..sizes.len()).filter(|&d| sizes[d] == OPEN).collect();
                let mut dims = Vec::with_capacity(sizes.len());
                for size in sizes {
                    let size = if size == OPEN { Ok(1) } else { u64::try_from(size) };
                    dims.push(size.map_err(|_| cursor.error(refuse!("a size is negative")))?);
                }
                let element = self.next_element(&mut cursor)?;
                self.note_open(!open.is_empty());
                array(element, dims, open).map_err(|e| cursor.error(e))
            }
            code::TUPLE => {
                let count = cursor.count("type")?;
                let mut parts = Vec::with_capacity(count);
                for _ in 0..count {
                    let i = cursor.index(self.types.len(), "type")?;
                    parts.push(self.nested_type(&cursor, i, depth)?.ty);
                }
                Ok(OpenType { ty: Type::Tuple(parts), open: Vec::new() })
            }
            _ => {
                let element = self.element(place, i)?;
                Ok(OpenType { ty: Type::Array(ArrayType::new(element, [])), open: Vec::new() })
            }
        }
    }

    /// The element type whose number comes next.
    fn next_element(&self, cursor: &mut Cursor<'a>) -> Result<ElementType, ImportError> {
        let place = *cursor;
        let i = cursor.index(self.types.len(), "type")?;
        self.element(&place, i)
    }

    fn element(&self, place: &Cursor<'a>, i: usize) -> Result<ElementType, ImportError> {
        let mut cursor = self.type_bytes(place, i)?;
        match cursor.number()? {
            code::COMPLEX => match self.next_element(&mut cursor)? {
                ElementType::F32 => Ok(ElementType::C64),
                ElementType::F64 => Ok(ElementType::C128),
                part => Err(cursor.unknown(refuse!("complex<{part}> is an element type that is not known"))),
            },
            code => {
                let name = element_name(code).ok_or_else(|| cursor.unknown(unknown_type(code)))?;
                let wrong = || refuse!("{name} is an element type that is not known");
                stablehlo::element(name).ok_or_else(|| cursor.unknown(wrong()))
            }
        }
    }

    /// The name of the type of a single number, and its bits.
    pub fn next_scalar(&self, cursor: &mut Cursor<'a>) -> Result<(&'static str, Option<u32>), ImportError> {
        let place = *cursor;
        let i = cursor.index(self.types.len(), "type")?;
        let mut inner = self.type_bytes(&place, i)?;
        let code = inner.number()?;
        let name = element_name(code).ok_or_else(|| inner.unknown(unknown_type(code)))?;
        Ok((name, bits(name)))
    }
}

fn unknown_type(code: u64) -> ns_base::Refusal {
    refuse!("type {code} of VHLO is not known")
}

/// The name of an element type by its number.
fn element_name(code: u64) -> Option<&'static str> {
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
fn bits(element: &str) -> Option<u32> {
    let digits = element.trim_start_matches(|c: char| !c.is_ascii_digit());
    let digits = digits.split(|c: char| !c.is_ascii_digit()).next()?;
    match element {
        "index" => Some(64),
        "i1" => Some(8),
        _ => digits.parse().ok(),
    }
}
