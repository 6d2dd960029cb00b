//! Records of a dataset from a file: an array of numpy (`.npy`) or a table (`.csv`). How many there are decides how long a
//! run is; their values are what evaluation metrics are computed of.

mod npy;
mod records;
mod table;

pub use records::{DatasetError, Records, read_records};
