//! Items that a browser keeps between visits: opened files, models, simulated runs, results. This module has the items as text, their order,
//! and which items are removed when there are too many or the store is full. The shell stores them.

mod compare;
mod item;
mod models;
mod room;

pub use compare::{comparison_of, results_id};
pub use item::{ItemKind, ShelfItem};
pub use models::{model_file, model_link};
pub use room::{MOST_UNPINNED, in_order, leaving, making_room};
