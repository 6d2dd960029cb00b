//! Records of a dataset from a file: an array of numpy (`.npy`) or a table (`.csv`). Their number decides how long a
//! run is; evaluation metrics are computed from their values.

mod npy;
mod records;
mod table;

pub use records::{Records, read_records};
