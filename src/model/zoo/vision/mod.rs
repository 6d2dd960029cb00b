//! Image models, with the sizes of their published configurations.

mod networks;
mod resnet;

pub(super) use networks::{RESNET18, RESNET34, RESNET50, RESNET101, RESNET152};
pub use resnet::{Block as ResNetBlock, ResNet, ResNetConfig};
