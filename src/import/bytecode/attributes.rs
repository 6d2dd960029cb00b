//! Attributes, decoded one level deep: they refer to other attributes and types by number.

use super::cursor::Cursor;
use super::file::{Dialect, File};
use super::types::bits;
use crate::ImportError;
use ns_base::refuse;

/// An attribute.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Attribute<'a> {
    Text(&'a str),
    Whole(i64),
    Real(f64),
    Bool(bool),
    /// A keyword of an enumeration.
    Word(&'static str),
    /// A list of attributes, by number.
    List(Vec<usize>),
    /// A dictionary: names and attributes, both by number.
    Dictionary(Vec<(usize, usize)>),
    /// An array: its type as text, and its numbers, or a single one if all are equal.
    Tensor(String, &'a [u8]),
    /// The name of a location.
    Named(&'a str),
    /// A known attribute that programs do not use.
    Other,
}

const DIRECTIONS: [&str; 6] = ["EQ", "NE", "GE", "GT", "LE", "LT"];
const COMPARISONS: [&str; 5] = ["NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"];
const TRANSFORMS: [&str; 4] = ["FFT", "IFFT", "RFFT", "IRFFT"];
const ALGORITHMS: [&str; 3] = ["DEFAULT", "THREE_FRY", "PHILOX"];
const DISTRIBUTIONS: [&str; 3] = ["", "UNIFORM", "NORMAL"];
const TRANSPOSES: [&str; 4] = ["TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"];

impl<'a> File<'a> {
    /// An attribute by its number.
    pub fn attribute(&self, place: &Cursor<'a>, i: usize) -> Result<Attribute<'a>, ImportError> {
        let entry = self.attributes.get(i).ok_or_else(|| place.error(refuse!("there is no attribute {i}")))?;
        let cursor = entry.cursor;
        match (entry.dialect, entry.is_binary) {
            (Dialect::Builtin, true) => self.builtin(cursor),
            (Dialect::Vhlo, true) => self.vhlo(cursor),
            // Text of a dialect that no operation of a program uses: shardings, layouts.
            _ => Ok(Attribute::Other),
        }
    }

    /// The number of the next attribute.
    pub fn attribute_index(&self, cursor: &mut Cursor<'a>) -> Result<usize, ImportError> {
        cursor.index(self.attributes.len(), "attribute")
    }

    fn list(&self, cursor: &mut Cursor<'a>) -> Result<Vec<usize>, ImportError> {
        let count = cursor.count("attribute")?;
        (0..count).map(|_| self.attribute_index(cursor)).collect()
    }

    fn pairs(&self, cursor: &mut Cursor<'a>) -> Result<Vec<(usize, usize)>, ImportError> {
        let count = cursor.count("attribute")?;
        (0..count).map(|_| Ok((self.attribute_index(cursor)?, self.attribute_index(cursor)?))).collect()
    }

    /// Attributes of MLIR itself: of modules, of operations up to version 4 of the container, and locations.
    fn builtin(&self, mut cursor: Cursor<'a>) -> Result<Attribute<'a>, ImportError> {
        Ok(match cursor.number()? {
            0 => Attribute::List(self.list(&mut cursor)?),
            1 => Attribute::Dictionary(self.pairs(&mut cursor)?),
            2 | 3 => Attribute::Text(self.string(&mut cursor)?),
            // The name of a location is a string, by its number; the rest of the location is not needed.
            14 => {
                let i = self.attribute_index(&mut cursor)?;
                let mut name = self.attributes[i].cursor;
                if name.number()? == 2 { Attribute::Named(self.string(&mut name)?) } else { Attribute::Other }
            }
            _ => Attribute::Other,
        })
    }

    fn vhlo(&self, mut cursor: Cursor<'a>) -> Result<Attribute<'a>, ImportError> {
        let code = cursor.number()?;
        Ok(match code {
            1 => Attribute::List(self.list(&mut cursor)?),
            2 => Attribute::Bool(cursor.number()? != 0),
            3 => word(&mut cursor, &DIRECTIONS)?,
            4 => word(&mut cursor, &COMPARISONS)?,
            6 => Attribute::Dictionary(self.pairs(&mut cursor)?),
            7 => word(&mut cursor, &TRANSFORMS)?,
            8 => self.real(&mut cursor)?,
            9 => self.whole(&mut cursor)?,
            12 => word(&mut cursor, &ALGORITHMS)?,
            13 => word(&mut cursor, &DISTRIBUTIONS)?,
            14 => Attribute::Text(self.string(&mut cursor)?),
            15 => {
                let ty = self.type_text(&mut cursor)?;
                let len = cursor.count("byte")?;
                Attribute::Tensor(ty, cursor.take(len)?)
            }
            16 => word(&mut cursor, &TRANSPOSES)?,
            // Versions of calls, aliases of buffers, precisions, types, bounds, accuracies: skipped.
            5 | 10 | 11 | 17..=20 => Attribute::Other,
            _ => return Err(cursor.unknown(refuse!("attribute {code} of VHLO is not known"))),
        })
    }

    /// An integer: one byte for up to eight bits, a signed number for more.
    fn whole(&self, cursor: &mut Cursor<'a>) -> Result<Attribute<'a>, ImportError> {
        let ty = self.type_text(cursor)?;
        Ok(Attribute::Whole(match bits(&ty) {
            Some(..=8) => i64::from(cursor.byte()?.cast_signed()),
            Some(..=64) => cursor.signed()?,
            _ => return Err(cursor.unknown(refuse!("a whole number of type {ty} is not known"))),
        }))
    }

    /// The bits of a floating point number, as an integer.
    fn real(&self, cursor: &mut Cursor<'a>) -> Result<Attribute<'a>, ImportError> {
        let ty = self.type_text(cursor)?;
        let bits = match bits(&ty) {
            Some(..=8) => u64::from(cursor.byte()?),
            Some(width @ ..=64) => cursor.signed()?.cast_unsigned() & (u64::MAX >> (64 - width)),
            _ => return Err(cursor.unknown(refuse!("a real number of type {ty} is not known"))),
        };
        let element = crate::stablehlo::element(&ty).filter(|e| e.is_float());
        let element = element.ok_or_else(|| cursor.unknown(refuse!("a real number of type {ty} is not known")))?;
        Ok(Attribute::Real(element.real_of_bits(bits)))
    }
}

fn word<'a>(cursor: &mut Cursor<'a>, words: &[&'static str]) -> Result<Attribute<'a>, ImportError> {
    Ok(Attribute::Word(words[cursor.index(words.len(), "word")?]))
}
