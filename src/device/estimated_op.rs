//! Operators whose time is an estimate.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An operator of a model file whose time is an estimate, because it has no rule of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EstimatedOp {
    /// Its name in the file's format.
    pub op: String,
    /// How often it occurs.
    pub count: u64,
    /// The name of its first node.
    pub first: String,
}

impl fmt::Display for EstimatedOp {
    /// `aten.foo (3 times, first at foo_1)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let times = if self.count == 1 { "once, at".to_owned() } else { format!("{} times, first at", self.count) };
        write!(f, "{} ({times} {})", self.op, self.first)
    }
}
