//! A file of `jax.export`: a flatbuffer whose root, the table `Exported`, has the serialized module as one of its fields.
//!
//! Such a file has no identifier of its own. Its header is followed as flatbuffers define it: the offset of the root, the root's table
//! of fields, and the field of the module, which must begin as MLIR bytecode does. The bytes in front of the module grow with the number
//! of arguments, so that its place in the file says nothing. The number of the field is from JAX's `serialization.fbs`; fields of a
//! flatbuffer keep their numbers in later versions.

use ns_base::Refusal;
use ns_container::ByteSource;

/// The first bytes of MLIR bytecode.
pub const BYTECODE_MAGIC: &[u8; 4] = b"ML\xefR";

/// The number of the field `mlir_module_serialized`.
const MODULE: u64 = 13;

/// Most bytes of a table of fields: JAX 0.10.2 writes 26 fields, of two bytes each.
const MOST_FIELD_BYTES: u64 = 4 + 2 * 256;

/// Where the bytecode of a file lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Module {
    /// Its first byte.
    pub start: u64,
    /// Bytes that the file states for it.
    pub len: u64,
}

/// The bytecode in a file: the whole file, or the module in a file of `jax.export`. `None` for any other file. Fails when the
/// medium cannot be read.
pub fn module_in<B: ByteSource + ?Sized>(bytes: &B) -> Result<Option<Module>, Refusal> {
    if bytes.slice(0, BYTECODE_MAGIC.len())? == BYTECODE_MAGIC {
        return Ok(Some(Module { start: 0, len: bytes.size() }));
    }
    let Some(place) = place_of_module(bytes)? else { return Ok(None) };
    let (Some(len), first) = (word(bytes, place)?, bytes.slice(place.saturating_add(4), BYTECODE_MAGIC.len())?) else {
        return Ok(None);
    };
    Ok((first == BYTECODE_MAGIC).then_some(Module { start: place + 4, len: u64::from(len) }))
}

/// Where the list with the module's bytes begins: with their number.
fn place_of_module<B: ByteSource + ?Sized>(bytes: &B) -> Result<Option<u64>, Refusal> {
    let Some(root) = word(bytes, 0)?.map(u64::from).filter(|root| root % 4 == 0 && *root >= 8) else { return Ok(None) };
    // The root begins with the distance from its table of fields to itself, which may be negative.
    let Some(back) = word(bytes, root)?.map(|w| i64::from(w.cast_signed())) else { return Ok(None) };
    let Some(fields) = root.checked_add_signed(-back).filter(|at| at % 2 == 0 && *at >= 4) else { return Ok(None) };
    let Some([field_bytes, root_bytes]) = halves(bytes, fields)? else { return Ok(None) };
    let offset_at = 4 + 2 * MODULE;
    if field_bytes % 2 != 0 || field_bytes > MOST_FIELD_BYTES || field_bytes < offset_at + 2 {
        return Ok(None);
    }
    let Some([offset, _]) = halves(bytes, fields + offset_at)? else { return Ok(None) };
    if offset < 4 || offset + 4 > root_bytes {
        return Ok(None);
    }
    let place = root + offset;
    Ok(word(bytes, place)?.map(|distance| place + u64::from(distance)))
}

/// Four bytes as a number.
fn word<B: ByteSource + ?Sized>(bytes: &B, at: u64) -> Result<Option<u32>, Refusal> {
    Ok(<[u8; 4]>::try_from(bytes.slice(at, 4)?).ok().map(u32::from_le_bytes))
}

/// Two numbers of two bytes each.
fn halves<B: ByteSource + ?Sized>(bytes: &B, at: u64) -> Result<Option<[u64; 2]>, Refusal> {
    Ok(word(bytes, at)?.map(|w| [u64::from(w & 0xffff), u64::from(w >> 16)]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_base::convert::usize_to_u32;

    /// A flatbuffer as JAX writes it: root at byte 60, its fields before it, `filler` bytes between the root and the module.
    fn exported(filler: usize, module: &[u8]) -> Vec<u8> {
        let (fields, field_bytes, root, root_bytes) = (4u32, 4 + 2 * 26u16, 60u32, 8u16);
        let mut file = root.to_le_bytes().to_vec();
        file.extend(field_bytes.to_le_bytes());
        file.extend(root_bytes.to_le_bytes());
        for field in 0..26u64 {
            file.extend((if field == MODULE { 4u16 } else { 0 }).to_le_bytes());
        }
        file.extend((root - fields).to_le_bytes());
        let distance: u32 = usize_to_u32(4 + filler);
        file.extend(distance.to_le_bytes());
        file.extend(vec![7; filler]);
        let len: u32 = usize_to_u32(module.len());
        file.extend(len.to_le_bytes());
        file.extend(module);
        file
    }

    #[test]
    fn the_module_is_found_wherever_it_lies() {
        for filler in [0, 400, 5000, 300_000] {
            let file = exported(filler, b"ML\xefR\x0d");
            assert_eq!(module_in(&file[..]), Ok(Some(Module { start: 72 + filler as u64, len: 5 })), "{filler}");
        }
        assert_eq!(module_in(&BYTECODE_MAGIC[..]), Ok(Some(Module { start: 0, len: 4 })));
    }

    #[test]
    fn a_file_that_holds_bytecode_by_chance_is_none() {
        let mut elsewhere = exported(20, b"something else");
        elsewhere.extend(b"ML\xefR\x0d");
        assert_eq!(module_in(&elsewhere[..]), Ok(None));
        let whole = exported(20, b"ML\xefR\x0d");
        for cut in 0..whole.len() - 1 {
            assert_eq!(module_in(&whole[..cut]), Ok(None), "{cut} bytes");
        }
        assert_eq!(module_in(&b"\x08\0\0\0 a short file with ML\xefR in it"[..]), Ok(None));
    }
}
