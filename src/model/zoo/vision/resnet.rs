//! ResNet, as torchvision builds it (`torchvision/models/resnet.py`, v1.5: the stride is in the 3x3 convolution).

use crate::nn::{AdaptiveAvgPool2d, BatchNorm2d, Conv2d, Linear, MaxPool2d, ReLU, Sequential};
use crate::{Child, ConvArgs, Ctx, Entry, Module, Value};
use ns_base::Refusal;

/// Sizes of a ResNet.
#[derive(Clone, Copy, Debug)]
pub struct ResNetConfig {
    /// Blocks of each of the four stages.
    pub blocks: [u64; 4],
    /// Channels of the first stage; each later stage has twice as many as the one before.
    pub width: u64,
    /// Whether blocks are bottlenecks (1x1, 3x3, 1x1) rather than pairs of 3x3.
    pub bottleneck: bool,
    /// Classes of the result.
    pub classes: u64,
}

impl ResNetConfig {
    /// A network for ImageNet.
    #[must_use]
    pub const fn imagenet(blocks: [u64; 4], bottleneck: bool) -> Self {
        Self { blocks, width: 64, bottleneck, classes: 1000 }
    }

    const fn expansion(&self) -> u64 {
        if self.bottleneck { 4 } else { 1 }
    }
}

/// `torchvision.models.ResNet`
pub struct ResNet {
    conv1: Child<Conv2d>,
    bn1: Child<BatchNorm2d>,
    relu: Child<ReLU>,
    maxpool: Child<MaxPool2d>,
    layers: Vec<Child<Sequential>>,
    avgpool: Child<AdaptiveAvgPool2d>,
    fc: Child<Linear>,
}

impl ResNet {
    /// A network of these sizes.
    #[must_use]
    pub fn new(config: &ResNetConfig) -> Self {
        let mut channels = config.width;
        let mut layers = Vec::new();
        for (stage, &blocks) in config.blocks.iter().enumerate() {
            let width = config.width << stage;
            let mut layer = Sequential::new();
            for block in 0..blocks {
                let stride = if stage > 0 && block == 0 { 2 } else { 1 };
                layer = layer.then(ResNetBlock::new(channels, width, stride, config));
                channels = width * config.expansion();
            }
            layers.push(Child::new(format!("layer{}", stage + 1), layer));
        }
        let stem = ConvArgs { stride: 2, padding: 3, ..ConvArgs::default() };
        Self {
            conv1: Child::new("conv1", Conv2d::new(3, config.width, 7, stem).without_bias()),
            bn1: Child::new("bn1", BatchNorm2d::new(config.width)),
            relu: Child::new("relu", ReLU),
            maxpool: Child::new("maxpool", MaxPool2d::new(3, 2, 1)),
            layers,
            avgpool: Child::new("avgpool", AdaptiveAvgPool2d::new(1)),
            fc: Child::new("fc", Linear::new(channels, config.classes)),
        }
    }
}

impl Module for ResNet {
    fn class(&self) -> &str {
        "ResNet"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = cx.one_input(inputs)?;
        let x = self.conv1.call(cx, x)?;
        let x = self.bn1.call(cx, &x)?;
        let x = self.relu.call(cx, &x)?;
        let mut x = self.maxpool.call(cx, &x)?;
        for layer in &self.layers {
            x = layer.call(cx, &x)?;
        }
        let x = self.avgpool.call(cx, &x)?;
        let x = cx.flatten(&x, 1)?;
        self.fc.call(cx, &x)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        let mut all = vec![self.conv1.entry(), self.bn1.entry(), self.relu.entry(), self.maxpool.entry()];
        all.extend(self.layers.iter().map(Child::entry));
        all.extend([self.avgpool.entry(), self.fc.entry()]);
        all
    }
}

/// `BasicBlock` or `Bottleneck`: convolutions beside a short cut.
pub struct ResNetBlock {
    class: &'static str,
    /// Convolution and normalisation of each step; a ReLU follows each step, after the last one with the short cut
    /// added.
    steps: Vec<(Child<Conv2d>, Child<BatchNorm2d>)>,
    relu: Child<ReLU>,
    downsample: Option<Child<Sequential>>,
}

impl ResNetBlock {
    /// A block of `width` inner channels, whose first 3x3 convolution moves by `stride`.
    #[must_use]
    pub fn new(channels: u64, width: u64, stride: u64, config: &ResNetConfig) -> Self {
        let out = width * config.expansion();
        let small = |i, o| Conv2d::new(i, o, 1, ConvArgs::default());
        let large = |i, stride| Conv2d::new(i, width, 3, ConvArgs { stride, padding: 1, ..ConvArgs::default() });
        let convolutions = if config.bottleneck {
            vec![(small(channels, width), width), (large(width, stride), width), (small(width, out), out)]
        } else {
            vec![(large(channels, stride), width), (large(width, 1), width)]
        };
        let step = |(n, (conv, out)): (usize, (Conv2d, u64))| {
            let n = n + 1;
            (Child::new(format!("conv{n}"), conv.without_bias()), Child::new(format!("bn{n}"), BatchNorm2d::new(out)))
        };
        let downsample = (stride != 1 || channels != out).then(|| {
            let conv = Conv2d::new(channels, out, 1, ConvArgs { stride, ..ConvArgs::default() }).without_bias();
            Child::new("downsample", Sequential::new().then(conv).then(BatchNorm2d::new(out)))
        });
        Self {
            class: if config.bottleneck { "Bottleneck" } else { "BasicBlock" },
            steps: convolutions.into_iter().enumerate().map(step).collect(),
            relu: Child::new("relu", ReLU),
            downsample,
        }
    }
}

impl Module for ResNetBlock {
    fn class(&self) -> &str {
        self.class
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let identity = cx.one_input(inputs)?;
        let mut x = identity.clone();
        for (n, (conv, bn)) in self.steps.iter().enumerate() {
            x = conv.call(cx, &x)?;
            x = bn.call(cx, &x)?;
            if n + 1 < self.steps.len() {
                x = self.relu.call(cx, &x)?;
            }
        }
        let short = match &self.downsample {
            Some(downsample) => downsample.call(cx, identity)?,
            None => identity.clone(),
        };
        let x = cx.add(&x, &short)?;
        self.relu.call(cx, &x)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        let steps = self.steps.iter().flat_map(|(conv, bn)| [conv.entry(), bn.entry()]);
        steps.chain([self.relu.entry()]).chain(self.downsample.as_ref().map(Child::entry)).collect()
    }
}
