//! Interned text: each distinct string is stored once, in one arena.

use std::hash::Hasher;

use rustc_hash::{FxHashMap, FxHasher};

use super::convert::usize_to_u32;
use crate::define_idx;

define_idx! {
    /// A string of one [`StringTable`].
    pub struct StrId;
}

impl StrId {
    /// The empty string, present in every table.
    pub const EMPTY: Self = Self(0);
}

/// Strings stored once and named by [`StrId`]. Ids are given in order of first use, so they are deterministic.
#[derive(Clone, Debug)]
pub struct StringTable {
    arena: String,
    ends: Vec<u32>,
    /// Hash of the text to the ids that have it; almost always one.
    by_hash: FxHashMap<u64, SmallIds>,
}

#[derive(Clone, Debug)]
enum SmallIds {
    One(StrId),
    Many(Vec<StrId>),
}

impl Default for StringTable {
    fn default() -> Self {
        let mut table = Self { arena: String::new(), ends: Vec::new(), by_hash: FxHashMap::default() };
        table.intern("");
        table
    }
}

impl StringTable {
    /// A table that holds only the empty string.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The id of `text`, stored now if it is new. When the total text exceeds 4 GiB, new text becomes the empty
    /// string.
    pub fn intern(&mut self, text: &str) -> StrId {
        let hash = hash_of(text);
        if let Some(id) = self.find(hash, text) {
            return id;
        }
        let Ok(end) = u32::try_from(self.arena.len() + text.len()) else { return StrId::EMPTY };
        let id = StrId(usize_to_u32(self.ends.len()));
        self.arena.push_str(text);
        self.ends.push(end);
        match self.by_hash.get_mut(&hash) {
            None => {
                self.by_hash.insert(hash, SmallIds::One(id));
            }
            Some(SmallIds::Many(ids)) => ids.push(id),
            Some(one) => {
                if let SmallIds::One(first) = *one {
                    *one = SmallIds::Many(vec![first, id]);
                }
            }
        }
        id
    }

    /// The id of `text`, if it is stored.
    pub fn lookup(&self, text: &str) -> Option<StrId> {
        self.find(hash_of(text), text)
    }

    /// The text of an id; an id of another table returns the empty string.
    pub fn get(&self, id: StrId) -> &str {
        let i = id.0 as usize;
        let Some(&end) = self.ends.get(i) else { return "" };
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.arena[start as usize..end as usize]
    }

    /// Number of distinct strings, the empty one included.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Always false: the empty string is in every table.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Bytes held by the text and its offsets (without the look-up table).
    pub fn bytes(&self) -> usize {
        self.arena.capacity() + self.ends.capacity() * 4
    }

    fn find(&self, hash: u64, text: &str) -> Option<StrId> {
        match self.by_hash.get(&hash)? {
            SmallIds::One(id) => (self.get(*id) == text).then_some(*id),
            SmallIds::Many(ids) => ids.iter().copied().find(|id| self.get(*id) == text),
        }
    }
}

fn hash_of(text: &str) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(text.as_bytes());
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_text_has_one_id_and_order_of_first_use() {
        let mut t = StringTable::new();
        let (a, b, a2) = (t.intern("dot"), t.intern("tanh"), t.intern("dot"));
        assert_eq!((a, b, a2), (StrId(1), StrId(2), StrId(1)));
        assert_eq!((t.get(a), t.get(b), t.get(StrId::EMPTY), t.get(StrId(99))), ("dot", "tanh", "", ""));
        assert_eq!(t.lookup("nope"), None);
    }
}
