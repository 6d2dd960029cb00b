//! Times of a model by batch size. Most models have one or two, and there may be hundreds of thousands of these lists: a plain
//! list takes a third of the memory of a map and is searched as fast.

use super::measure::Measure;
use crate::record::python_number;

/// A batch size as a key: records may also have null, or any other value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BatchKey {
    Number(u64),
    Other(Box<str>),
}

impl BatchKey {
    /// A batch size as a record writes it.
    pub fn of(text: &str) -> Self {
        python_number(text).map_or_else(|| Self::Other(text.into()), |n| Self::Number(n.to_bits()))
    }

    /// Sort key: numbers by size, then all other values.
    pub fn order(&self) -> f64 {
        match self {
            Self::Number(bits) => f64::from_bits(*bits),
            Self::Other(_) => f64::INFINITY,
        }
    }
}

impl std::fmt::Display for BatchKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(bits) => write!(f, "{}", f64::from_bits(*bits)),
            Self::Other(text) => f.write_str(text),
        }
    }
}

/// Times by batch size, in order of first appearance.
#[derive(Clone, Debug, Default)]
pub(super) struct Batches(Vec<(BatchKey, Measure)>);

impl Batches {
    /// The time of a batch size.
    pub fn get(&self, batch: &BatchKey) -> Option<Measure> {
        self.0.iter().find(|(key, _)| key == batch).map(|(_, measure)| *measure)
    }

    /// Stores a time, replacing an earlier one for the same batch size; returns whether it replaced one.
    pub fn replace(&mut self, batch: BatchKey, measure: Measure) -> bool {
        match self.0.iter_mut().find(|(key, _)| *key == batch) {
            Some((_, kept)) => {
                *kept = measure;
                true
            }
            None => {
                self.0.reserve_exact(1);
                self.0.push((batch, measure));
                false
            }
        }
    }

    /// Stores a time unless the batch size already has one.
    pub fn keep_first(&mut self, batch: &BatchKey, measure: Measure) {
        if self.get(batch).is_none() {
            self.replace(batch.clone(), measure);
        }
    }

    /// All batch sizes with their times.
    pub fn iter(&self) -> impl Iterator<Item = (&BatchKey, Measure)> {
        self.0.iter().map(|(batch, measure)| (batch, *measure))
    }
}
