//! JSON that is read in place: where values begin and end ([`scan`]), and a document whose tree is never
//! built ([`Doc`]).

mod doc;
pub mod inner_trace;
pub mod keys;
mod known;
pub mod scan;
mod write;

pub use doc::{BYTE_ORDER_MARK, Doc, Items, Value};
pub use known::name_json_object;
pub use write::{ObjectText, push_json_str};
