//! Numbers that name things across the message boundary.

use serde::{Deserialize, Serialize};

/// The number that a shell gives a request. Every event that answers the request carries it, so that a shell can distinguish an
/// awaited answer from a late one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct JobId(pub u32);

/// Identifies one profile that a session holds. Keys are never used twice within a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ProfileKey(pub u32);
