//! What a browser keeps from one visit to the next: opened files, models, simulated runs, results of benchmarks. The items as text, their order,
//! and which of them leave when there are too many or the store is full. What stores them is the shell's.

mod compare;
mod item;
mod models;
mod room;

pub use compare::{comparison_of, results_id};
pub use item::{ItemKind, ShelfItem};
pub use models::{model_file, model_link};
pub use room::{MOST_UNPINNED, in_order, leaving, making_room};
