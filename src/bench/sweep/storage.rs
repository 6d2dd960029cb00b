//! How a sweep is written: a row as itself, though views share it, and a result as its stored part.

use std::rc::Rc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::state::SweepKind;

/// Rows that views of a sweep share.
pub(super) mod rows {
    use std::rc::Rc;

    use serde::{Deserialize, Deserializer, Serializer};

    use crate::sweep::state::{SweepKind, SweepRow};

    pub fn serialize<K: SweepKind, S: Serializer>(rows: &[Rc<SweepRow<K>>], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(rows.iter().map(|row| &**row))
    }

    pub fn deserialize<'de, K: SweepKind, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<Rc<SweepRow<K>>>, D::Error> {
        Ok(Vec::deserialize(deserializer)?.into_iter().map(Rc::new).collect())
    }
}

/// Writes the stored part of a result.
pub(super) fn write<K: SweepKind, S: Serializer>(result: &Rc<K::Result>, serializer: S) -> Result<S::Ok, S::Error> {
    K::stored(result).serialize(serializer)
}

/// Reads the stored part of a result and makes the result of it.
pub(super) fn read<'de, K: SweepKind, D: Deserializer<'de>>(deserializer: D) -> Result<Rc<K::Result>, D::Error> {
    Ok(Rc::new(K::of_stored(K::Stored::deserialize(deserializer)?)))
}
