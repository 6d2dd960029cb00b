//! Discrete-event simulation of one execution on one NeuronCore, in integer picoseconds.
//!
//! Units (engines and DMA queues) run their items in order. An item starts when its unit is free and every semaphore
//! it waits for has its value; it increments its unit's semaphore when it is complete. The simulator always runs the
//! item with the earliest start, so shared bandwidth is given out in time order. It reads no clock and does not
//! depend on profiles: it tells an [`Observer`] what ran and when.
//!
//! Millions of items run in a second because a unit keeps its turn until another one is due, few units are looked at for the
//! next, and an operation is priced once for tiles that repeat.

mod agenda;
mod core;
mod engine;
mod observer;
mod prices;
#[cfg(test)]
mod properties;
mod psum;
mod queue;
mod semaphores;
mod simulator;
mod throttle;

pub use observer::{NoObserver, Observer};
pub use simulator::{SimOutcome, SimProgress, Simulator, simulate};
