//! What a person decides about a model that is read.

use std::collections::BTreeMap;

/// What a person decides about a model that is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportOptions {
    /// Sizes of open dimensions, by the name the file gives them: `batch` is 8.
    pub dims: BTreeMap<String, u64>,
}
