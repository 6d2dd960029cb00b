//! Layers, named as in `torch.nn`.

mod activation;
mod custom;
mod linear;
mod sequential;

pub use activation::{LogSoftmax, ReLU, Tanh};
pub use custom::CustomRelu;
pub use linear::Linear;
pub use sequential::Sequential;
