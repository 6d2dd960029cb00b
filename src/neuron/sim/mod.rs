//! Discrete-event simulation of one execution on one NeuronCore, in integer picoseconds.
//!
//! Units (engines and DMA queues) run their items in order. An item starts when its unit is free and every semaphore
//! it waits for has its value; it increments its unit's semaphore when it is complete. The simulator always runs the
//! item with the earliest start, so shared bandwidth is given out in time order. It reads no clock and does not
//! depend on profiles: it tells an [`Observer`] what ran and when.

mod observer;
#[cfg(test)]
mod properties;
mod simulator;
mod state;
mod throttle;

pub use observer::{NoObserver, Observer};
pub use simulator::{SimOutcome, SimProgress, Simulator, simulate};
