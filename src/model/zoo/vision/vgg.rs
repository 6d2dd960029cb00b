//! VGG and AlexNet, as torchvision builds them (`torchvision/models/vgg.py`, `alexnet.py`).

use crate::nn::{AdaptiveAvgPool2d, Conv2d, Dropout, Linear, MaxPool2d, ReLU, Sequential};
use crate::{Child, ConvArgs, Ctx, Entry, Module, Value};
use ns_base::Refusal;

/// Convolutions, pooling to a fixed size, linear layers: `torchvision.models.VGG` and `AlexNet`.
pub struct ConvStack {
    class: &'static str,
    features: Child<Sequential>,
    avgpool: Child<AdaptiveAvgPool2d>,
    classifier: Child<Sequential>,
}

impl ConvStack {
    fn new(class: &'static str, features: Sequential, size: u64, classifier: Sequential) -> Self {
        Self {
            class,
            features: Child::new("features", features),
            avgpool: Child::new("avgpool", AdaptiveAvgPool2d::new(size)),
            classifier: Child::new("classifier", classifier),
        }
    }

    /// VGG with this many convolutions in each of the five stages: configuration A is `[1, 1, 2, 2, 2]`, D `[2, 2, 3, 3, 3]`.
    #[must_use]
    pub fn vgg(convolutions: [u64; 5]) -> Self {
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
        Self::new("VGG", features, 7, classifier)
    }

    #[must_use]
    pub fn alexnet() -> Self {
        let conv = |i, o, kernel, stride, padding| {
            Conv2d::new(i, o, kernel, ConvArgs { stride, padding, ..ConvArgs::default() })
        };
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
        Self::new("AlexNet", features, 6, classifier)
    }
}

impl Module for ConvStack {
    fn class(&self) -> &str {
        self.class
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = cx.one_input(inputs)?;
        let x = self.features.call(cx, x)?;
        let x = self.avgpool.call(cx, &x)?;
        let x = cx.flatten(&x, 1)?;
        self.classifier.call(cx, &x)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        vec![self.features.entry(), self.avgpool.entry(), self.classifier.entry()]
    }
}
