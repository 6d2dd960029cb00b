//! Why an execution cannot be simulated: always a defect of the executable, never of the input data.

use thiserror::Error;

#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum SimError {
    /// Units wait for one another.
    #[error("deadlock at item {item} of {unit}: it waits for {awaited} to complete {count} items, which it never does")]
    Deadlock {
        /// The first unit that is stuck.
        unit: &'static str,
        /// Position of its item.
        item: usize,
        /// The unit it waits for.
        awaited: &'static str,
        /// The count it waits for.
        count: u32,
    },
}
