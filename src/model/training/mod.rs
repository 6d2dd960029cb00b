//! A training step of a traced model as one graph: forward, loss, backward, update.
//!
//! [`training_step`] replays the forward graph with norms as they are computed in training, appends a loss that fits the
//! model's result, walks back over the ops with a rule for each, and updates every parameter with an optimizer. The result
//! is a graph of aten ops like any other, so the compiler and the simulator treat it as they treat inference. Its ops are in the
//! scopes `Training[step]/NN[forward]`, `Training[step]/NN[backward]` and `Training[step]/AdamW[update]`.

mod accumulation;
mod backward;
mod call;
mod convolutions;
mod forward;
mod loss;
mod norms;
mod optimizer;
mod pointwise;
mod products;
mod rules;
mod step;
mod tape;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod torch;

pub use call::{MAX_MICRO_BATCHES, TrainingCall};
pub use loss::Loss;
pub use optimizer::Optimizer;
pub use step::{TrainingStep, training_step};
