//! JSON that is read in place: where values begin and end ([`scan`]), and a document whose tree is never
//! built ([`Doc`]).

mod doc;
pub(in crate::formats) mod keys;
pub(in crate::formats) mod nested;
pub(in crate::formats) mod scan;
mod write;

pub(in crate::formats) use doc::{BYTE_ORDER_MARK, Doc, Items, Value};
pub(in crate::formats) use write::{ObjectText, push_json_str};
