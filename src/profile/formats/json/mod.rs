//! JSON that is looked at in place: where values begin and end ([`scan`]), and a document as a tree that is never
//! built ([`Doc`]).

mod doc;
pub(in crate::profile::formats) mod keys;
pub(in crate::profile::formats) mod nested;
pub(in crate::profile::formats) mod scan;
mod write;

pub(in crate::profile::formats) use doc::{BYTE_ORDER_MARK, Doc, Items, Value};
pub(in crate::profile::formats) use write::{ObjectText, push_json_str};
