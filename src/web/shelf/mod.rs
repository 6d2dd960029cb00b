//! The shelf: the items that are kept from one visit to the next. Each has a line in the browser's local storage; the bytes of files are in
//! its private file system. Both programs of the page, and every tab, see the same shelf.

mod hook;
mod lines;
mod open;
mod pieces;
mod results;

pub use hook::use_shelf;
pub use lines::{change, find_results, forget_rows, keep_link, keep_rows, remove, touch};
pub use open::{bytes_of, keep_file, kept_file, kept_model};
pub use pieces::{PREFIX, forget_pieces, keep_piece, piece_key};
pub use results::{keep_study, keep_unfinished, kept_result, latest_result, unfinished};
