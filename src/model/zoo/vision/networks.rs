//! Models with a single input: images of 224 by 224.

use crate::zoo::{ModelInfo, Settings};
use crate::{Distribution, InputSpec, Module};
use ns_tensor::Shape;

use super::{ResNetConfig, ViTConfig, alexnet, resnet, unet, vgg, vit};

/// Colour images of 224 by 224.
pub(in crate::zoo) fn images(batch: u64) -> Vec<InputSpec> {
    vec![InputSpec { shape: Shape::f32([batch, 3, 224, 224]), distribution: Distribution::Normal }]
}

pub(in crate::zoo) const BATCH_HELP: &str = "batch size b gives b images: [b, 3, 224, 224]";

/// A classifier or another model with images as its single input.
pub(in crate::zoo) const fn network(
    id: &'static str,
    description: &'static str,
    build: fn(&Settings) -> Box<dyn Module>,
) -> ModelInfo {
    ModelInfo {
        id,
        description,
        default_batch_size: 1,
        batch_help: BATCH_HELP,
        parameters: &[],
        build,
        inputs: |_, batch| images(batch),
    }
}

pub(in crate::zoo) static RESNET18: ModelInfo =
    network("resnet18", "ResNet-18: 8 blocks of two 3x3 convolutions", |_| {
        Box::new(resnet(&ResNetConfig::imagenet([2, 2, 2, 2], false)))
    });

pub(in crate::zoo) static RESNET34: ModelInfo =
    network("resnet34", "ResNet-34: 16 blocks of two 3x3 convolutions", |_| {
        Box::new(resnet(&ResNetConfig::imagenet([3, 4, 6, 3], false)))
    });

pub(in crate::zoo) static RESNET50: ModelInfo = network("resnet50", "ResNet-50: 16 bottleneck blocks", |_| {
    Box::new(resnet(&ResNetConfig::imagenet([3, 4, 6, 3], true)))
});

pub(in crate::zoo) static RESNET101: ModelInfo = network("resnet101", "ResNet-101: 33 bottleneck blocks", |_| {
    Box::new(resnet(&ResNetConfig::imagenet([3, 4, 23, 3], true)))
});

pub(in crate::zoo) static RESNET152: ModelInfo = network("resnet152", "ResNet-152: 50 bottleneck blocks", |_| {
    Box::new(resnet(&ResNetConfig::imagenet([3, 8, 36, 3], true)))
});

pub(in crate::zoo) static VGG11: ModelInfo =
    network("vgg11", "VGG-11: 8 convolutions, 3 linear layers", |_| Box::new(vgg([1, 1, 2, 2, 2])));

pub(in crate::zoo) static VGG16: ModelInfo =
    network("vgg16", "VGG-16: 13 convolutions, 3 linear layers", |_| Box::new(vgg([2, 2, 3, 3, 3])));

pub(in crate::zoo) static ALEXNET: ModelInfo =
    network("alexnet", "AlexNet: 5 convolutions, 3 linear layers", |_| Box::new(alexnet()));

pub(in crate::zoo) static VIT_BASE: ModelInfo =
    network("google/vit-base-patch16-224", "Vision transformer, base: 12 layers on patches of 16 by 16", |_| {
        Box::new(vit(&ViTConfig {
            image: 224,
            patch: 16,
            hidden: 768,
            layers: 12,
            heads: 12,
            intermediate: 3072,
            classes: 1000,
        }))
    });

pub(in crate::zoo) static UNET: ModelInfo =
    network("UNet", "U-Net of milesial's unet_carvana: 64 to 1024 channels, 2 classes", |_| Box::new(unet(3, 2, 64)));
