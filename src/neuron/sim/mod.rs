//! Discrete-event simulation of one execution on one NeuronCore, in integer picoseconds.
//!
//! Units (engines and DMA queues) run their items in order. An item starts when its unit is free and every semaphore
//! it waits for has its value; it increments its unit's semaphore when it is complete. What units share, the bandwidth of the DMA
//! engines and on some cores the port of PSUM, they get in the order of the times at which their items are due. It reads no clock and
//! does not depend on profiles: it tells an [`Observer`] what ran and when.
//!
//! Millions of items run in a second because a unit that takes nothing shared runs ahead as far as its semaphores allow, one that does
//! keeps its turn until another is due, few units are looked at for the next, and an operation is priced once.

mod agenda;
mod array;
mod core;
mod engine;
mod observer;
mod prices;
#[cfg(test)]
mod properties;
mod psum;
mod queue;
mod semaphores;
mod shares;
mod simulator;
mod throttle;

pub use observer::{NoObserver, Observer};
pub use queue::DmaEngines;
pub use shares::busy_shares;
pub use simulator::{SimOutcome, SimProgress, Simulator, simulate};
pub use throttle::TensorClock;
