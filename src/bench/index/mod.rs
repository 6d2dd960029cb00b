//! The model index: a JSON file that lists compiled artifacts, made by `compile`, edited by hand, run by `bench`.
//!
//! Both formats that NeuronPerf has written are read; the newer one is written. Nothing here touches a file: a shell
//! carries out the [`FilePlan`].

mod beside;
mod entry;
mod files;
mod filter;
mod model_index;
mod read;

pub use beside::BesideIndex;
pub(crate) use entry::no_model;
pub use entry::{EntryStatus, MODELLED, ModelEntry};
pub use files::{FilePlan, FileStep};
pub use filter::{FILTER_FIELDS, IndexFilter};
pub use model_index::{CombinedIndex, ModelIndex};
pub use read::ReadIndex;
