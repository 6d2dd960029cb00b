//! The two-dimensional U-Net of milesial's Pytorch-UNet (`unet_carvana`): transposed convolutions on the way up.

use crate::nn::{BatchNorm2d, Conv2d, ConvTranspose2d, MaxPool2d, ReLU, Sequential};
use crate::{Child, ConvArgs, Ctx, Entry, Module, Value};
use ns_base::Refusal;

/// `UNet(n_channels, n_classes, bilinear=False)`
pub struct UNet {
    inc: Child<DoubleConv>,
    downs: Vec<Child<Down>>,
    ups: Vec<Child<Up>>,
    outc: Child<OutConv>,
}

impl UNet {
    /// A network whose first level has `width` channels (64 in the original); each of the four lower levels has twice
    /// as many as the one above.
    #[must_use]
    pub fn new(channels: u64, classes: u64, width: u64) -> Self {
        let level = |n: u32| width << n;
        let down = |n| Child::new(format!("down{n}"), Down::new(level(n - 1), level(n)));
        let up = |n: u32| Child::new(format!("up{n}"), Up::new(level(5 - n), level(4 - n)));
        Self {
            inc: Child::new("inc", DoubleConv::new(channels, width)),
            downs: (1..=4).map(down).collect(),
            ups: (1..=4).map(up).collect(),
            outc: Child::new(
                "outc",
                OutConv { conv: Child::new("conv", Conv2d::new(width, classes, 1, ConvArgs::default())) },
            ),
        }
    }
}

impl Module for UNet {
    fn class(&self) -> &str {
        "UNet"
    }

    /// The image's sides must be multiples of 16, so that no padding is needed on the way up.
    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = cx.one_input(inputs)?;
        let mut x = self.inc.call(cx, x)?;
        let mut levels = Vec::new();
        for down in &self.downs {
            let below = down.call(cx, &x)?;
            levels.push(std::mem::replace(&mut x, below));
        }
        for up in &self.ups {
            let Some(beside) = levels.pop() else { break };
            x = up.call_with(cx, &[x, beside])?;
        }
        self.outc.call(cx, &x)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        let middle = self.downs.iter().map(Child::entry).chain(self.ups.iter().map(Child::entry));
        std::iter::once(self.inc.entry()).chain(middle).chain([self.outc.entry()]).collect()
    }
}

/// Twice: convolution, batch normalisation, ReLU.
struct DoubleConv {
    double_conv: Child<Sequential>,
}

impl DoubleConv {
    fn new(channels: u64, out: u64) -> Self {
        let conv = |i| Conv2d::new(i, out, 3, ConvArgs { padding: 1, ..ConvArgs::default() }).without_bias();
        let layers = Sequential::new()
            .then(conv(channels))
            .then(BatchNorm2d::new(out))
            .then(ReLU)
            .then(conv(out))
            .then(BatchNorm2d::new(out))
            .then(ReLU);
        Self { double_conv: Child::new("double_conv", layers) }
    }
}

impl Module for DoubleConv {
    fn class(&self) -> &str {
        "DoubleConv"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = cx.one_input(inputs)?;
        self.double_conv.call(cx, x)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        vec![self.double_conv.entry()]
    }
}

struct Down {
    maxpool_conv: Child<Sequential>,
}

impl Down {
    fn new(channels: u64, out: u64) -> Self {
        let layers = Sequential::new().then(MaxPool2d::new(2, 2, 0)).then(DoubleConv::new(channels, out));
        Self { maxpool_conv: Child::new("maxpool_conv", layers) }
    }
}

impl Module for Down {
    fn class(&self) -> &str {
        "Down"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = cx.one_input(inputs)?;
        self.maxpool_conv.call(cx, x)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        vec![self.maxpool_conv.entry()]
    }
}

struct Up {
    up: Child<ConvTranspose2d>,
    conv: Child<DoubleConv>,
}

impl Up {
    fn new(channels: u64, out: u64) -> Self {
        Self {
            up: Child::new("up", ConvTranspose2d::new(channels, channels / 2, 2, 2)),
            conv: Child::new("conv", DoubleConv::new(channels, out)),
        }
    }
}

impl Module for Up {
    fn class(&self) -> &str {
        "Up"
    }

    /// Inputs: from below, and from the same level on the way down.
    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let [below, beside] = inputs else {
            return Err(cx.wrong_inputs(2, inputs.len()));
        };
        let x = self.up.call(cx, below)?;
        let x = cx.cat(&[beside, &x], 1)?;
        self.conv.call(cx, &x)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        vec![self.up.entry(), self.conv.entry()]
    }
}

struct OutConv {
    conv: Child<Conv2d>,
}

impl Module for OutConv {
    fn class(&self) -> &str {
        "OutConv"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = cx.one_input(inputs)?;
        self.conv.call(cx, x)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        vec![self.conv.entry()]
    }
}
