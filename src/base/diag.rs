//! Problems of an input that do not stop it from loading: counted by code, with the first example of each.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One kind of problem and its number of occurrences.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// Stable name of the kind, `snake_case`.
    pub code: String,
    /// How many times.
    pub count: u64,
    /// The first one, with what was wrong and what was done about it.
    pub first_example: String,
    /// Offset of the first one in the (uncompressed) input; absent when it has no single position.
    pub byte_offset: Option<u64>,
}

/// Problems by kind, in order of first appearance.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostics {
    items: Vec<Diagnostic>,
}

impl Diagnostics {
    /// An empty list.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts one problem. `example` is only called for the first of its code.
    pub fn add(&mut self, code: &str, byte_offset: Option<u64>, example: impl FnOnce() -> String) {
        self.add_many(code, 1, byte_offset, example);
    }

    /// Adds all of another list.
    pub fn append(&mut self, other: &Self) {
        for item in other.items() {
            self.add_many(&item.code, item.count, item.byte_offset, || item.first_example.clone());
        }
    }

    /// Counts `n` problems of one code at once.
    pub fn add_many(&mut self, code: &str, n: u64, byte_offset: Option<u64>, example: impl FnOnce() -> String) {
        if n == 0 {
            return;
        }
        if let Some(d) = self.items.iter_mut().find(|d| d.code == code) {
            d.count += n;
        } else {
            self.items.push(Diagnostic { code: code.to_owned(), count: n, first_example: example(), byte_offset });
        }
    }

    /// The kinds that occurred, in order of first appearance.
    pub fn items(&self) -> &[Diagnostic] {
        &self.items
    }

    /// Whether no problem was recorded.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Number of occurrences of a code.
    pub fn count(&self, code: &str) -> u64 {
        self.items.iter().find(|d| d.code == code).map_or(0, |d| d.count)
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.first_example)?;
        if self.count > 1 {
            write!(f, " ({} times; this is the first)", self.count)?;
        }
        if let Some(at) = self.byte_offset {
            write!(f, " (at byte {at})")?;
        }
        Ok(())
    }
}
