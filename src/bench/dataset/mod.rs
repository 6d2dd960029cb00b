//! Records of a dataset from a file: an array of numpy (`.npy`, `.npz`), an IDX file (MNIST) or a table (`.csv`), each also packed by gzip. Their number decides how long a
//! run is; evaluation metrics are computed from their values.

mod idx;
mod npy;
mod npz;
mod records;
mod table;

pub use npz::split_array;
pub use records::{Records, read_records};
