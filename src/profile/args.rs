//! The `args` of events: raw JSON text, kept apart from the columns and parsed only when someone looks.

use std::hash::Hasher;

use rustc_hash::FxHasher;

use super::packed::Column;
use ns_base::convert::{low32, u64_to_usize};
use ns_base::define_idx;

define_idx! {
    /// The arguments of an event in an [`ArgsArena`].
    pub struct ArgsId;
}

impl ArgsId {
    /// No arguments.
    pub const NONE: Self = Self(0);

    /// Whether the slice has no arguments.
    pub fn is_none(self) -> bool {
        self == Self::NONE
    }
}

/// Text is kept in blocks of this size, so that growth never copies existing text (a doubling vector would briefly need
/// three times the text, and wasm memory is never given back).
const BLOCK_BYTES: usize = 1 << 22;
/// Slots of the look-back table that finds equal arguments again.
const RECENT_SLOTS: usize = 1 << 12;
/// Ids from here on are parts of the kept text.
const FIRST_PART: u32 = 1 << 31;

/// Raw JSON texts. Equal texts close to one another are stored once. A full index would cost more than it saves,
/// because most arguments hold a correlation id and are unique.
#[derive(Clone, Debug)]
pub struct ArgsArena {
    blocks: Vec<Block>,
    /// End of each text inside its block; entry 0 is [`ArgsId::NONE`].
    ends: Column<u32>,
    /// By part of the hash: the rest of the hash, and the last text with it. Comparing hashes avoids reading distant memory.
    recent: Vec<(u32, ArgsId)>,
    parts: Parts,
}

/// Texts that point into the file's text, which is kept to avoid copies.
#[derive(Clone, Debug, Default)]
struct Parts {
    text: String,
    start: Column<u64>,
    bytes: Column<u32>,
}

impl Parts {
    fn get(&self, part: usize) -> &str {
        if part >= self.start.len() {
            return "";
        }
        let start = u64_to_usize(self.start.get(part));
        self.text.get(start..start + self.bytes.get(part) as usize).unwrap_or("")
    }
}

#[derive(Clone, Debug)]
struct Block {
    first: u32,
    text: String,
}

impl Default for ArgsArena {
    fn default() -> Self {
        Self {
            blocks: Vec::new(),
            ends: std::iter::once(0).collect(),
            recent: vec![(0, ArgsId::NONE); RECENT_SLOTS],
            parts: Parts::default(),
        }
    }
}

impl ArgsArena {
    /// Stores a JSON text. The empty text and `{}` are not arguments; past 2^31 texts, or for one text of 4 GiB,
    /// no text is stored.
    pub fn add(&mut self, json: &str) -> ArgsId {
        if json.is_empty() || json == "{}" {
            return ArgsId::NONE;
        }
        let mut hasher = FxHasher::default();
        hasher.write(json.as_bytes());
        let hash = hasher.finish();
        let (slot, tag) = (u64_to_usize(hash % RECENT_SLOTS as u64), low32(hash >> 12));
        if let Some(&(_, id)) = self.recent.get(slot).filter(|(known, id)| *known == tag && !id.is_none())
            && self.get(id) == json
        {
            return id;
        }
        let id = u32::try_from(self.ends.len()).unwrap_or(FIRST_PART);
        if id >= FIRST_PART {
            return ArgsId::NONE;
        }
        let fits = self.blocks.last().is_some_and(|b| b.text.len() + json.len() <= BLOCK_BYTES);
        if !fits {
            // The first block grows as it needs, so that a small profile stays small.
            let room = if self.blocks.is_empty() { 0 } else { BLOCK_BYTES.max(json.len()) };
            self.blocks.push(Block { first: id, text: String::with_capacity(room) });
        }
        let Some(block) = self.blocks.last_mut() else { return ArgsId::NONE };
        let Ok(end) = u32::try_from(block.text.len() + json.len()) else { return ArgsId::NONE };
        block.text.push_str(json);
        self.ends.push(end);
        if let Some(entry) = self.recent.get_mut(slot) {
            *entry = (tag, ArgsId(id));
        }
        ArgsId(id)
    }

    /// Stores a JSON text that is part of the text that [`Self::keep`] will be given.
    pub(crate) fn add_part(&mut self, start: u64, bytes: usize) -> ArgsId {
        let (Ok(part), Ok(bytes)) = (u32::try_from(self.parts.start.len()), u32::try_from(bytes)) else {
            return ArgsId::NONE;
        };
        if bytes <= 2 || part >= FIRST_PART {
            return ArgsId::NONE;
        }
        self.parts.start.push(start);
        self.parts.bytes.push(bytes);
        ArgsId(FIRST_PART + part)
    }

    /// Takes the text whose parts were added; bytes that are not UTF-8 become question marks, so that positions stay.
    /// If no parts were added, the text is freed.
    pub(crate) fn keep(&mut self, mut text: Vec<u8>) {
        if self.parts.start.len() == 0 {
            return;
        }
        let mut at = 0;
        while let Some(bad) = text.get(at..).and_then(|rest| std::str::from_utf8(rest).err()) {
            let from = at + bad.valid_up_to();
            let to = bad.error_len().map_or(text.len(), |n| from + n);
            text[from..to].fill(b'?');
            at = to;
        }
        self.parts.text = String::from_utf8(text).unwrap_or_default();
    }

    /// The JSON text; empty for [`ArgsId::NONE`] and ids of another arena.
    pub fn get(&self, id: ArgsId) -> &str {
        if let Some(part) = id.0.checked_sub(FIRST_PART) {
            return self.parts.get(part as usize);
        }
        let i = id.0 as usize;
        if i >= self.ends.len() {
            return "";
        }
        let end = self.ends.get(i);
        let after = self.blocks.partition_point(|b| b.first <= id.0);
        let Some(block) = after.checked_sub(1).and_then(|b| self.blocks.get(b)) else { return "" };
        let start = if block.first == id.0 { 0 } else { self.ends.get(i - 1) };
        block.text.get(start as usize..end as usize).unwrap_or("")
    }

    /// Number of stored texts.
    pub fn len(&self) -> usize {
        self.ends.len() - 1 + self.parts.start.len()
    }

    /// Whether no text is stored.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let parts = self.parts.text.capacity() + self.parts.start.bytes() + self.parts.bytes.bytes();
        self.blocks.iter().map(|b| b.text.capacity()).sum::<usize>() + self.ends.bytes() + parts
    }

    /// Frees the memory that only adding needs.
    pub(crate) fn seal(&mut self) {
        self.recent = Vec::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_neighbours_are_stored_once_and_blocks_do_not_mix() {
        let mut arena = ArgsArena::default();
        let a = arena.add(r#"{"a":1}"#);
        let big = "x".repeat(BLOCK_BYTES - 3);
        let b = arena.add(&big);
        let c = arena.add(r#"{"c":3}"#);
        assert_eq!(arena.add(r#"{"a":1}"#), a);
        assert_eq!((arena.get(a), arena.get(c)), (r#"{"a":1}"#, r#"{"c":3}"#));
        assert_eq!(arena.get(b).len(), big.len());
        assert_eq!((arena.get(ArgsId::NONE), arena.get(ArgsId(77))), ("", ""));
        assert_eq!(arena.add("{}"), ArgsId::NONE);
        assert_eq!(arena.len(), 3);
    }

    #[test]
    fn parts_of_the_kept_text_have_fixed_offsets() {
        let text = b"[{\"a\":\"\xff\xc3\"},{},{\"b\":2}\xe2";
        let mut arena = ArgsArena::default();
        let own = arena.add(r#"{"own":1}"#);
        let (a, none, b) = (arena.add_part(1, 10), arena.add_part(12, 2), arena.add_part(15, 7));
        assert_eq!((arena.get(a), none, arena.len()), ("", ArgsId::NONE, 3));
        arena.keep(text.to_vec());
        assert_eq!((arena.get(own), arena.get(a), arena.get(b)), (r#"{"own":1}"#, r#"{"a":"??"}"#, r#"{"b":2}"#));
        assert_eq!(arena.get(ArgsId(FIRST_PART + 2)), "");
    }
}
