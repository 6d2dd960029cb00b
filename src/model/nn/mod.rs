//! Layers, named as in `torch.nn`.

mod activation;
mod block;
mod conv;
mod custom;
mod embedding;
mod linear;
mod norm;
mod pool;
mod sequential;

pub use activation::{Dropout, Function, Gelu, LogSoftmax, NewGelu, QuickGelu, ReLU, SiLU, Tanh};
pub use block::{Block, Layer, block, block_with, child, stack};
pub use conv::{Conv2d, ConvTranspose2d};
pub use custom::CustomRelu;
pub use embedding::{Embedding, Positions};
pub use linear::Linear;
pub use norm::{BatchNorm2d, LayerNorm, RmsNorm};
pub use pool::{AdaptiveAvgPool2d, MaxPool2d};
pub use sequential::Sequential;
