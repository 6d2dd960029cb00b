//! ResNet, as torchvision builds it (`torchvision/models/resnet.py`, v1.5: the stride is in the 3x3 convolution).

use crate::nn::{
    AdaptiveAvgPool2d, BatchNorm2d, Block, Conv2d, Function, Linear, MaxPool2d, ReLU, Sequential, block, child,
};
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
    pub const fn imagenet(blocks: [u64; 4], bottleneck: bool) -> Self {
        Self { blocks, width: 64, bottleneck, classes: 1000 }
    }

    const fn expansion(&self) -> u64 {
        if self.bottleneck { 4 } else { 1 }
    }
}

/// `torchvision.models.ResNet`
pub fn resnet(config: &ResNetConfig) -> Block {
    let mut channels = config.width;
    let [layer1, layer2, layer3, layer4] = [0, 1, 2, 3].map(|stage| {
        let width = config.width << stage;
        let mut layer = Sequential::new();
        for block in 0..config.blocks[stage] {
            let stride = if stage > 0 && block == 0 { 2 } else { 1 };
            layer = layer.then(ResNetBlock::new(channels, width, stride, config));
            channels = width * config.expansion();
        }
        child(format!("layer{}", stage + 1), layer)
    });
    let stem = ConvArgs { stride: 2, padding: 3, ..ConvArgs::default() };
    let children = [
        child("conv1", Conv2d::new(3, config.width, 7, stem).without_bias()),
        child("bn1", BatchNorm2d::new(config.width)),
        child("relu", ReLU),
        child("maxpool", MaxPool2d::new(3, 2, 1)),
        layer1,
        layer2,
        layer3,
        layer4,
        child("avgpool", AdaptiveAvgPool2d::new(1)),
        child("fc", Linear::new(channels, config.classes)),
    ];
    block("ResNet", children, |cx, [features @ .., fc], [x]| {
        let mut x = x.clone();
        for layer in features {
            x = layer.call(cx, &x)?;
        }
        let x = cx.flatten(&x, 1)?;
        fc.call(cx, &x)
    })
}

/// `BasicBlock` or `Bottleneck`: convolutions beside a short cut.
struct ResNetBlock {
    class: &'static str,
    /// Convolution and normalisation of each step; a ReLU follows each step, after the last one with the short cut
    /// added.
    steps: Vec<(Child<Conv2d>, Child<BatchNorm2d>)>,
    relu: Child<Function>,
    downsample: Option<Child<Sequential>>,
}

impl ResNetBlock {
    /// A block of `width` inner channels, whose first 3x3 convolution moves by `stride`.
    fn new(channels: u64, width: u64, stride: u64, config: &ResNetConfig) -> Self {
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
