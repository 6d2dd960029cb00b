//! The tables of a file: strings, names of operations, and the place of each attribute, type and list of properties.

use super::cursor::Cursor;
use std::cell::Cell;

use super::SAVE_AS_TEXT;
use ns_base::refuse;
use ns_program::file::BYTECODE_MAGIC;
use ns_program::{ImportError, Place};

/// The newest version of the container that is read.
const NEWEST: u64 = 6;

/// Versions of the container, by the feature that came with them.
pub(super) mod version {
    /// Each dialect says whether its version follows.
    pub const DIALECT_VERSIONS: u64 = 1;
    /// Regions that do not read outer values are sections.
    pub const REGIONS_AS_SECTIONS: u64 = 2;
    /// The use-list order of values may be stored.
    pub const USE_ORDERS: u64 = 3;
    /// Arguments say whether they have a location; the number of operation names is stored.
    pub const OPTIONAL_LOCATIONS: u64 = 4;
    /// Attributes that belong to an operation are properties, in their own section.
    pub const PROPERTIES: u64 = 5;
}

/// Numbers of sections.
mod section {
    pub const STRINGS: u8 = 0;
    pub const DIALECTS: u8 = 1;
    pub const ATTRIBUTES: u8 = 2;
    pub const OFFSETS: u8 = 3;
    pub const IR: u8 = 4;
    pub const PROPERTIES: u8 = 8;
}

/// A dialect whose attributes and types are supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    Builtin,
    Vhlo,
    Other,
}

/// An attribute or a type as it lies in the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<'a> {
    pub dialect: Dialect,
    /// Whether its bytes are in the dialect's own encoding; else they are text.
    pub is_binary: bool,
    pub cursor: Cursor<'a>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct OperationName<'a> {
    pub dialect: Dialect,
    /// Without its dialect: `add_v1`.
    pub name: &'a str,
    /// Whether the writer knew the operation: then its properties are in the operation's own encoding.
    pub is_registered: bool,
}

/// A file whose tables have been read.
#[derive(Debug)]
pub(super) struct File<'a> {
    pub version: u64,
    pub strings: Vec<&'a str>,
    pub operations: Vec<OperationName<'a>>,
    pub attributes: Vec<Entry<'a>>,
    pub types: Vec<Entry<'a>>,
    pub properties: Vec<Cursor<'a>>,
    /// The operations.
    pub ir: Cursor<'a>,
    /// Attributes and types that may still be read: a few bytes of a damaged file may repeat large ones many times.
    left: Cell<usize>,
    /// Whether any size is open.
    pub is_open: Cell<bool>,
}

impl<'a> File<'a> {
    /// Reads the tables of the bytecode between two bytes of a file.
    pub fn read(bytes: &'a [u8], start: usize, end: usize) -> Result<Self, ImportError> {
        let mut cursor = Cursor::new(&bytes[start..end], start, "the file");
        if cursor.take(BYTECODE_MAGIC.len())? != BYTECODE_MAGIC {
            return Err(refuse!(instead = SAVE_AS_TEXT, "it is not MLIR bytecode").into());
        }
        let version = cursor.number()?;
        if version > NEWEST {
            return Err(refuse!(
                instead = SAVE_AS_TEXT,
                "its bytecode is of version {version}; versions up to {NEWEST} are read"
            )
            .into());
        }
        cursor.text_to_zero()?;
        let mut sections: [Option<Cursor<'a>>; 9] = [None; 9];
        while cursor.left() > 0 {
            let place = cursor;
            let (id, section) = cursor.section()?;
            match sections.get_mut(usize::from(id)) {
                Some(slot) if slot.is_none() => *slot = Some(section),
                _ => return Err(place.error(refuse!("section {id} of the bytecode is not known or there twice"))),
            }
        }
        let section = |id: u8, part: &'static str| {
            let missing = || {
                ImportError::at(Place::Byte(end as u64), refuse!(instead = SAVE_AS_TEXT, "the bytecode has no {part}"))
            };
            sections[usize::from(id)].ok_or_else(missing)
        };
        let strings = read_strings(section(section::STRINGS, "texts")?)?;
        let (dialects, operations) = read_dialects(section(section::DIALECTS, "dialects")?, version, &strings)?;
        let offsets = section(section::OFFSETS, "offsets of attributes")?;
        let (attributes, types) = read_offsets(offsets, section(section::ATTRIBUTES, "attributes")?, &dialects)?;
        let properties =
            sections[usize::from(section::PROPERTIES)].map(read_properties).transpose()?.unwrap_or_default();
        let ir = section(section::IR, "operations")?;
        Ok(Self {
            version,
            strings,
            operations,
            attributes,
            types,
            properties,
            ir,
            left: Cell::new((1 << 20) + 8 * (end - start)),
            is_open: Cell::new(false),
        })
    }

    /// Counts an attribute or a type.
    pub fn spend(&self, place: &Cursor<'a>) -> Result<(), ImportError> {
        let left = self.left.get().checked_sub(1);
        let left = left.ok_or_else(|| place.error(refuse!("the module is much longer than its bytecode can be")))?;
        self.left.set(left);
        Ok(())
    }

    /// Notes whether a size is open.
    pub fn note_open(&self, is_open: bool) {
        self.is_open.set(self.is_open.get() || is_open);
    }

    /// A string by its number.
    pub fn string(&self, cursor: &mut Cursor<'a>) -> Result<&'a str, ImportError> {
        Ok(self.strings[cursor.index(self.strings.len(), "text")?])
    }
}

/// Lengths from the last string to the first, then the strings, each ending with a zero byte.
fn read_strings<'a>(mut cursor: Cursor<'a>) -> Result<Vec<&'a str>, ImportError> {
    let count = cursor.count("text")?;
    let mut lengths = Vec::with_capacity(count);
    for _ in 0..count {
        lengths.push(usize::try_from(cursor.number()?).unwrap_or(usize::MAX));
    }
    let read = |len: usize| -> Result<&'a str, ImportError> {
        let place = cursor;
        let bytes = cursor.take(len)?;
        let text = bytes.strip_suffix(&[0]).unwrap_or(bytes);
        std::str::from_utf8(text).map_err(|_| place.error(refuse!("a text is not UTF-8")))
    };
    lengths.into_iter().rev().map(read).collect()
}

type Dialects<'a> = (Vec<Dialect>, Vec<OperationName<'a>>);

fn read_dialects<'a>(mut cursor: Cursor<'a>, version: u64, strings: &[&'a str]) -> Result<Dialects<'a>, ImportError> {
    let name_of = |cursor: &Cursor<'_>, i: usize| {
        strings.get(i).copied().ok_or_else(|| cursor.error(refuse!("there is no text {i}")))
    };
    let mut dialects = Vec::new();
    for _ in 0..cursor.count("dialect")? {
        let i = if version >= version::DIALECT_VERSIONS {
            let (i, has_version) = cursor.flagged()?;
            if has_version {
                cursor.section()?;
            }
            i
        } else {
            cursor.index(strings.len(), "text")?
        };
        dialects.push(match name_of(&cursor, i)? {
            "builtin" => Dialect::Builtin,
            "vhlo" => Dialect::Vhlo,
            name @ ("stablehlo" | "mhlo" | "chlo" | "func") => {
                return Err(refuse!(
                    instead = SAVE_AS_TEXT,
                    "it is MLIR bytecode of the dialect {name}, not a portable artifact of StableHLO"
                )
                .into());
            }
            _ => Dialect::Other,
        });
    }
    if version >= version::OPTIONAL_LOCATIONS {
        cursor.number()?;
    }
    let mut operations = Vec::new();
    while cursor.left() > 0 {
        let dialect = dialect_of(&mut cursor, &dialects)?;
        for _ in 0..cursor.count("name of an operation")? {
            let (i, is_registered) = if version >= version::PROPERTIES {
                cursor.flagged()?
            } else {
                (cursor.index(strings.len(), "text")?, true)
            };
            operations.push(OperationName { dialect, name: name_of(&cursor, i)?, is_registered });
        }
    }
    Ok((dialects, operations))
}

fn dialect_of(cursor: &mut Cursor<'_>, dialects: &[Dialect]) -> Result<Dialect, ImportError> {
    Ok(dialects[cursor.index(dialects.len(), "dialect")?])
}

type Entries<'a> = (Vec<Entry<'a>>, Vec<Entry<'a>>);

/// Sizes of attributes, then of types, in groups by dialect; the entries themselves follow one another.
fn read_offsets<'a>(
    mut cursor: Cursor<'a>,
    mut data: Cursor<'a>,
    dialects: &[Dialect],
) -> Result<Entries<'a>, ImportError> {
    let attributes = cursor.count("attribute")?;
    let types = cursor.count("type")?;
    let mut entries = Vec::with_capacity(attributes + types);
    while cursor.left() > 0 {
        let dialect = dialect_of(&mut cursor, dialects)?;
        for _ in 0..cursor.count("attribute or type")? {
            let (len, is_binary) = cursor.flagged()?;
            entries.push(Entry { dialect, is_binary, cursor: data.part(len, "an attribute or a type")? });
        }
    }
    if entries.len() != attributes + types {
        let (found, wanted) = (entries.len(), attributes + types);
        return Err(
            cursor.error(refuse!("the bytecode lists {found} attributes and types and says that it has {wanted}"))
        );
    }
    let types = entries.split_off(attributes);
    Ok((entries, types))
}

fn read_properties(mut cursor: Cursor<'_>) -> Result<Vec<Cursor<'_>>, ImportError> {
    let count = cursor.count("list of properties")?;
    let mut found = Vec::with_capacity(count);
    for _ in 0..count {
        let len = usize::try_from(cursor.number()?).unwrap_or(usize::MAX);
        found.push(cursor.part(len, "a list of properties")?);
    }
    Ok(found)
}
