//! VGG and AlexNet, as torchvision builds them (`torchvision/models/vgg.py`, `alexnet.py`).

use crate::ConvArgs;
use crate::nn::{AdaptiveAvgPool2d, Block, Conv2d, Dropout, Linear, MaxPool2d, ReLU, Sequential, block, child};

/// `torchvision.models.VGG` with this many convolutions in each of the five stages: configuration A is `[1, 1, 2, 2, 2]`, D
/// `[2, 2, 3, 3, 3]`.
pub fn vgg(convolutions: [u64; 5]) -> Block {
    let mut features = Sequential::new();
    let mut channels = 3;
    for (count, width) in convolutions.into_iter().zip([64, 128, 256, 512, 512]) {
        for _ in 0..count {
            let args = ConvArgs { padding: 1, ..ConvArgs::default() };
            features = features.then(Conv2d::new(channels, width, 3, args)).then(ReLU);
            channels = width;
        }
        features = features.then(MaxPool2d::new(2, 2, 0));
    }
    let classifier = Sequential::new()
        .then(Linear::new(512 * 7 * 7, 4096))
        .then(ReLU)
        .then(Dropout)
        .then(Linear::new(4096, 4096))
        .then(ReLU)
        .then(Dropout)
        .then(Linear::new(4096, 1000));
    conv_stack("VGG", features, 7, classifier)
}

/// `torchvision.models.AlexNet`
pub fn alexnet() -> Block {
    let conv =
        |i, o, kernel, stride, padding| Conv2d::new(i, o, kernel, ConvArgs { stride, padding, ..ConvArgs::default() });
    let features = Sequential::new()
        .then(conv(3, 64, 11, 4, 2))
        .then(ReLU)
        .then(MaxPool2d::new(3, 2, 0))
        .then(conv(64, 192, 5, 1, 2))
        .then(ReLU)
        .then(MaxPool2d::new(3, 2, 0))
        .then(conv(192, 384, 3, 1, 1))
        .then(ReLU)
        .then(conv(384, 256, 3, 1, 1))
        .then(ReLU)
        .then(conv(256, 256, 3, 1, 1))
        .then(ReLU)
        .then(MaxPool2d::new(3, 2, 0));
    let classifier = Sequential::new()
        .then(Dropout)
        .then(Linear::new(256 * 6 * 6, 4096))
        .then(ReLU)
        .then(Dropout)
        .then(Linear::new(4096, 4096))
        .then(ReLU)
        .then(Linear::new(4096, 1000));
    conv_stack("AlexNet", features, 6, classifier)
}

/// Convolutions, pooling to a fixed size, linear layers.
fn conv_stack(class: &'static str, features: Sequential, size: u64, classifier: Sequential) -> Block {
    let avgpool = child("avgpool", AdaptiveAvgPool2d::new(size));
    let children = [child("features", features), avgpool, child("classifier", classifier)];
    block(class, children, |cx, [features, avgpool, classifier], [x]| {
        let x = features.call(cx, x)?;
        let x = avgpool.call(cx, &x)?;
        let x = cx.flatten(&x, 1)?;
        classifier.call(cx, &x)
    })
}
