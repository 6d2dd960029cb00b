//! JSON that Neuron's tools write: the output of `neuron-profile` and Neuron Explorer for a device (`json`), for a system
//! (`system_profile.json`) and as a summary (`summary-json`). Times are nanoseconds, except in the summary, where they
//! are seconds.

mod check;
mod device;
mod host;
mod lists;

pub(super) use device::read_device_json;
pub(super) use host::{looks_summary, read_summary, read_system_json};

use super::json::Value;

/// The text of a value that may not be there.
fn text_of(value: Option<Value<'_>>) -> std::borrow::Cow<'_, str> {
    value.and_then(Value::scalar).unwrap_or_default()
}
