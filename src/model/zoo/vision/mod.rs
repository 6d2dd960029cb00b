//! Image models, with the sizes of their published configurations.

mod clip;
mod networks;
mod resnet;
mod unet;
mod vgg;
mod vit;

pub(super) use clip::{CLIP_BASE, CLIP_LARGE};
pub use clip::{Clip, ClipConfig, Tower};
pub(super) use networks::{ALEXNET, RESNET18, RESNET34, RESNET50, RESNET101, RESNET152, UNET, VGG11, VGG16, VIT_BASE};
pub use resnet::{ResNetConfig, resnet};
pub use unet::unet;
pub use vgg::{alexnet, vgg};
pub use vit::{ViTConfig, vit};
