//! JSON that is read in place: where values begin and end ([`scan`]), and a document whose tree is never
//! built ([`Doc`]).

mod doc;
pub(crate) mod keys;
pub(crate) mod nested;
pub(crate) mod scan;
mod write;

pub(crate) use doc::{BYTE_ORDER_MARK, Doc, Items, Value};
pub(crate) use write::{ObjectText, push_json_str};
