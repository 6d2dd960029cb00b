//! The user's work around a call: known steps, a time, or an expression over the data.

pub(super) mod arithmetic;
pub(super) mod expression;
pub(super) mod step;
