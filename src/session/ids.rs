//! Numbers that name things across the message boundary.

use serde::{Deserialize, Serialize};

/// The number a shell gives one request. Every event that answers the request carries it, so a late answer to a question
/// nobody asks any more is told from the one that is waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct JobId(pub u32);

/// Names one profile that a session holds. Keys are never used twice within a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ProfileKey(pub u32);
