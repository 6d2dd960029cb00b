//! What a browser keeps from one visit to the next: opened files, simulated runs, results of benchmarks. The items as text, their order,
//! and which of them leave when there are too many or the store is full. What stores them is the shell's.

mod compare;
mod item;
mod room;

pub use compare::{comparison_of, results_id};
pub use item::{ItemKind, ShelfItem};
pub use room::{MOST_UNPINNED, in_order, leaving, making_room};
