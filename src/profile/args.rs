//! The `args` of events: raw JSON text, kept apart from the columns and parsed only when someone looks.

use std::hash::Hasher;

use rustc_hash::FxHasher;

use crate::define_idx;

define_idx! {
    /// The arguments of an event in an [`ArgsArena`].
    pub struct ArgsId;
}

impl ArgsId {
    /// No arguments.
    pub const NONE: Self = Self(0);

    /// Whether there are none.
    #[must_use]
    pub fn is_none(self) -> bool {
        self == Self::NONE
    }
}

/// Text is kept in blocks of this size, so that growth never copies what is there (a doubling vector would need
/// three times the text for a moment, and in wasm memory that is given once is never given back).
const BLOCK_BYTES: usize = 1 << 22;
/// Slots of the look-back table that finds equal arguments again.
const RECENT_SLOTS: usize = 1 << 12;

/// Raw JSON texts. Equal texts close to one another are stored once: a full index would cost more than it saves,
/// because most arguments hold a correlation id and are unique.
#[derive(Clone, Debug)]
pub struct ArgsArena {
    blocks: Vec<Block>,
    /// End of each text inside its block; entry 0 is [`ArgsId::NONE`].
    ends: Vec<u32>,
    /// By part of the hash: the rest of it, and the last text that had it. The hash spares a look at far memory.
    recent: Vec<(u32, ArgsId)>,
}

#[derive(Clone, Debug)]
struct Block {
    first: u32,
    text: String,
}

impl Default for ArgsArena {
    fn default() -> Self {
        Self { blocks: Vec::new(), ends: vec![0], recent: vec![(0, ArgsId::NONE); RECENT_SLOTS] }
    }
}

impl ArgsArena {
    /// Stores a JSON text. The empty text and `{}` are no arguments; past `u32::MAX` texts, or for one text of
    /// 4 GiB, nothing is stored.
    pub fn add(&mut self, json: &str) -> ArgsId {
        if json.is_empty() || json == "{}" {
            return ArgsId::NONE;
        }
        let mut hasher = FxHasher::default();
        hasher.write(json.as_bytes());
        let hash = hasher.finish();
        let (slot, tag) = (hash as usize % RECENT_SLOTS, (hash >> 12) as u32);
        if let Some(&(_, id)) = self.recent.get(slot).filter(|(known, id)| *known == tag && !id.is_none())
            && self.get(id) == json
        {
            return id;
        }
        let Ok(id) = u32::try_from(self.ends.len()) else { return ArgsId::NONE };
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

    /// The JSON text; empty for [`ArgsId::NONE`] and ids of another arena.
    #[must_use]
    pub fn get(&self, id: ArgsId) -> &str {
        let i = id.0 as usize;
        let Some(&end) = self.ends.get(i) else { return "" };
        let after = self.blocks.partition_point(|b| b.first <= id.0);
        let Some(block) = after.checked_sub(1).and_then(|b| self.blocks.get(b)) else { return "" };
        let start = if block.first == id.0 { 0 } else { self.ends[i - 1] };
        block.text.get(start as usize..end as usize).unwrap_or("")
    }

    /// Number of stored texts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len() - 1
    }

    /// Whether nothing is stored.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.blocks.iter().map(|b| b.text.capacity()).sum::<usize>() + self.ends.capacity() * 4
    }

    /// Gives back what only adding needs.
    pub(crate) fn seal(&mut self) {
        self.recent = Vec::new();
        self.ends.shrink_to_fit();
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
}
