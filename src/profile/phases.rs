//! Number of events of each phase in a file.

use indexmap::IndexMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use ns_base::Order;
use ns_base::convert::usize_to_u8;

/// Number of events by the text of their `ph`; written out with the most frequent first, then by text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PhaseCounts {
    /// One-character ASCII phases, by character; nearly all phases are of this kind.
    ascii: Vec<u64>,
    other: IndexMap<String, u64>,
}

impl PhaseCounts {
    /// Counts `n` events of a phase.
    pub fn add(&mut self, phase: &str, n: u64) {
        match phase.as_bytes() {
            [byte] if byte.is_ascii() => {
                if self.ascii.is_empty() {
                    self.ascii.resize(128, 0);
                }
                self.ascii[usize::from(*byte)] += n;
            }
            _ => *self.other.entry(phase.to_owned()).or_insert(0) += n,
        }
    }

    /// Number of events of a phase.
    pub fn get(&self, phase: &str) -> u64 {
        match phase.as_bytes() {
            [byte] if byte.is_ascii() => self.ascii.get(usize::from(*byte)).copied().unwrap_or(0),
            _ => self.other.get(phase).copied().unwrap_or(0),
        }
    }

    /// Number of events of all phases.
    pub fn total(&self) -> u64 {
        self.ascii.iter().sum::<u64>() + self.other.values().sum::<u64>()
    }

    /// Phases and counts, most frequent first, ties by text.
    pub fn sorted(&self) -> Vec<(String, u64)> {
        let ascii = self.ascii.iter().enumerate().filter(|(_, n)| **n > 0);
        let ascii = ascii.map(|(b, n)| (char::from(usize_to_u8(b)).to_string(), *n));
        let mut rows: Vec<_> = ascii.chain(self.other.iter().map(|(p, n)| (p.clone(), *n))).collect();
        rows.order_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        rows
    }
}

impl Serialize for PhaseCounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.sorted())
    }
}

impl<'de> Deserialize<'de> for PhaseCounts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let rows = std::collections::BTreeMap::<String, u64>::deserialize(deserializer)?;
        let mut counts = Self::default();
        for (phase, n) in rows {
            counts.add(&phase, n);
        }
        Ok(counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_most_frequent_first() {
        let mut counts = PhaseCounts::default();
        for phase in ["M", "X", "X", "é", "", "E", "X"] {
            counts.add(phase, 1);
        }
        assert_eq!(serde_json::to_string(&counts).unwrap(), r#"{"X":3,"":1,"E":1,"M":1,"é":1}"#);
        assert_eq!((counts.total(), counts.get("X"), counts.get("é"), counts.get("q")), (7, 3, 1, 0));
    }
}
