//! Attributes. They refer to other attributes and types by number.

use super::cursor::Cursor;
use super::file::{Dialect, File};
use crate::stablehlo::syntax::{Attribute, Elements};
use crate::stablehlo::{LONGEST_LIST, numbers_in, whole_numbers};
use ns_base::convert::f64_to_f32;
use ns_base::refuse;
use ns_program::{ArrayType, ImportError};

/// An attribute whose parts are still numbers of others.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum FlatAttribute<'a> {
    /// One that holds no others.
    One(Attribute<'a>),
    /// A list of attributes, by number.
    List(Vec<usize>),
    /// A dictionary: names and attributes, both by number.
    Dictionary(Vec<(usize, usize)>),
    /// The name of a location.
    Named(&'a str),
    /// A known attribute that programs do not use.
    Unused,
}

/// Most levels of nested lists and dictionaries.
const MOST_NESTING: u32 = 16;

const DIRECTIONS: [&str; 6] = ["EQ", "NE", "GE", "GT", "LE", "LT"];
const COMPARISONS: [&str; 5] = ["NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"];
const TRANSFORMS: [&str; 4] = ["FFT", "IFFT", "RFFT", "IRFFT"];
const ALGORITHMS: [&str; 3] = ["DEFAULT", "THREE_FRY", "PHILOX"];
const DISTRIBUTIONS: [&str; 3] = ["", "UNIFORM", "NORMAL"];
const TRANSPOSES: [&str; 4] = ["TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"];

impl<'a> File<'a> {
    /// An attribute by its number, without those that it holds.
    pub fn flat_attribute(&self, place: &Cursor<'a>, i: usize) -> Result<FlatAttribute<'a>, ImportError> {
        let entry = self.attributes.get(i).ok_or_else(|| place.error(refuse!("there is no attribute {i}")))?;
        let cursor = entry.cursor;
        match (entry.dialect, entry.is_binary) {
            (Dialect::Builtin, true) => self.builtin(cursor),
            (Dialect::Vhlo, true) => self.vhlo(cursor),
            // Text of a dialect that no operation of a program uses: shardings, layouts.
            _ => Ok(FlatAttribute::Unused),
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
    fn builtin(&self, mut cursor: Cursor<'a>) -> Result<FlatAttribute<'a>, ImportError> {
        Ok(match cursor.number()? {
            0 => FlatAttribute::List(self.list(&mut cursor)?),
            1 => FlatAttribute::Dictionary(self.pairs(&mut cursor)?),
            2 | 3 => FlatAttribute::One(Attribute::Text(self.string(&mut cursor)?)),
            // The name of a location is a string, by its number; the rest of the location is not needed.
            14 => {
                let i = self.attribute_index(&mut cursor)?;
                let mut name = self.attributes[i].cursor;
                if name.number()? == 2 { FlatAttribute::Named(self.string(&mut name)?) } else { FlatAttribute::Unused }
            }
            _ => FlatAttribute::Unused,
        })
    }

    fn vhlo(&self, mut cursor: Cursor<'a>) -> Result<FlatAttribute<'a>, ImportError> {
        let code = cursor.number()?;
        Ok(match code {
            1 => FlatAttribute::List(self.list(&mut cursor)?),
            2 => FlatAttribute::One(Attribute::Whole(i64::from(cursor.number()? != 0))),
            3 => word(&mut cursor, &DIRECTIONS)?,
            4 => word(&mut cursor, &COMPARISONS)?,
            6 => FlatAttribute::Dictionary(self.pairs(&mut cursor)?),
            7 => word(&mut cursor, &TRANSFORMS)?,
            8 => self.real(&mut cursor)?,
            9 => self.whole(&mut cursor)?,
            12 => word(&mut cursor, &ALGORITHMS)?,
            13 => word(&mut cursor, &DISTRIBUTIONS)?,
            14 => FlatAttribute::One(Attribute::Text(self.string(&mut cursor)?)),
            15 => {
                let ty = self.next_type(&mut cursor)?.ty;
                let len = cursor.count("byte")?;
                let raw = cursor.take(len)?;
                let array = ty.array().filter(|array| has_bytes(array, raw));
                let array = array.ok_or_else(|| cursor.error(refuse!("a constant of {ty} has {len} bytes")))?;
                FlatAttribute::One(Attribute::Array(Elements::Bytes(raw), Some(array.clone())))
            }
            16 => word(&mut cursor, &TRANSPOSES)?,
            // Versions of calls, aliases of buffers, precisions, types, bounds, accuracies: skipped.
            5 | 10 | 11 | 17..=20 => FlatAttribute::Unused,
            _ => return Err(cursor.unknown(refuse!("attribute {code} of VHLO is not known"))),
        })
    }

    /// An integer: one byte for up to eight bits, a signed number for more.
    fn whole(&self, cursor: &mut Cursor<'a>) -> Result<FlatAttribute<'a>, ImportError> {
        let (ty, bits) = self.next_scalar(cursor)?;
        Ok(FlatAttribute::One(Attribute::Whole(match bits {
            Some(..=8) => i64::from(cursor.byte()?.cast_signed()),
            Some(..=64) => cursor.signed()?,
            _ => return Err(cursor.unknown(refuse!("a whole number of type {ty} is not known"))),
        })))
    }

    /// The bits of a floating point number, as an integer.
    fn real(&self, cursor: &mut Cursor<'a>) -> Result<FlatAttribute<'a>, ImportError> {
        let (ty, width) = self.next_scalar(cursor)?;
        let wrong = || refuse!("a real number of type {ty} is not known");
        let bits = match width {
            Some(..=8) => u64::from(cursor.byte()?),
            Some(width @ ..=64) => cursor.signed()?.cast_unsigned() & (u64::MAX >> (64 - width)),
            _ => return Err(cursor.unknown(wrong())),
        };
        let element = crate::stablehlo::element(ty).filter(|e| e.is_float());
        let element = element.ok_or_else(|| cursor.unknown(wrong()))?;
        Ok(FlatAttribute::One(Attribute::Real(f64_to_f32(element.real_of_bits(bits)))))
    }

    /// An attribute by its number, with those that it holds; `None` for one that programs do not use.
    pub fn attribute(&self, place: &Cursor<'a>, i: usize) -> Result<Option<Attribute<'a>>, ImportError> {
        self.nested(place, i, MOST_NESTING)
    }

    fn nested(&self, place: &Cursor<'a>, i: usize, depth: u32) -> Result<Option<Attribute<'a>>, ImportError> {
        let Some(depth) = depth.checked_sub(1) else { return Err(place.error(refuse!("attributes nest too deep"))) };
        self.spend(place)?;
        Ok(Some(match self.flat_attribute(place, i)? {
            FlatAttribute::One(attribute) => attribute,
            FlatAttribute::Named(name) => Attribute::Text(name),
            FlatAttribute::Unused => return Ok(None),
            FlatAttribute::List(list) => {
                let parts = list.iter().map(|&i| self.nested(place, i, depth));
                let parts = parts.map(|part| Ok(part?.unwrap_or(Attribute::Word("unit"))));
                Attribute::List(parts.collect::<Result<_, ImportError>>()?)
            }
            FlatAttribute::Dictionary(pairs) => {
                let mut named = Vec::with_capacity(pairs.len());
                for (name, value) in pairs {
                    if let FlatAttribute::One(Attribute::Text(name)) = self.flat_attribute(place, name)? {
                        named.push((name, self.nested(place, value, depth)?.unwrap_or(Attribute::Word("unit"))));
                    }
                }
                Attribute::Dictionary(named)
            }
        }))
    }
}

fn word<'a>(cursor: &mut Cursor<'a>, words: &[&'static str]) -> Result<FlatAttribute<'a>, ImportError> {
    Ok(FlatAttribute::One(Attribute::Word(words[cursor.index(words.len(), "word")?])))
}

/// Whether bytes can be the numbers of an array. Those of a long one are looked at when it becomes a constant.
fn has_bytes(array: &ArrayType, raw: &[u8]) -> bool {
    let is_long = array.elements().is_none_or(|n| n > LONGEST_LIST);
    is_long || whole_numbers(array, raw).is_some() || numbers_in(array, raw).is_some()
}
