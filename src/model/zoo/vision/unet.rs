//! The two-dimensional U-Net of milesial's Pytorch-UNet (`unet_carvana`): transposed convolutions on the way up.

use crate::ConvArgs;
use crate::nn::{BatchNorm2d, Block, Conv2d, ConvTranspose2d, MaxPool2d, ReLU, Sequential, block, child, stack};

/// `UNet(n_channels, n_classes, bilinear=False)` whose first level has `width` channels (64 in the original); each of the four
/// lower levels has twice as many as the one above. The image's sides must be multiples of 16, so that no padding is needed on the
/// way up.
pub fn unet(channels: u64, classes: u64, width: u64) -> Block {
    let level = |n: u32| width << n;
    let down = |n: u32| child(format!("down{n}"), down(level(n - 1), level(n)));
    let up = |n: u32| child(format!("up{n}"), up(level(5 - n), level(4 - n)));
    let [down1, down2, down3, down4] = [1, 2, 3, 4].map(down);
    let [up1, up2, up3, up4] = [1, 2, 3, 4].map(up);
    let inc = child("inc", double_conv(channels, width));
    let outc = stack("OutConv", [child("conv", Conv2d::new(width, classes, 1, ConvArgs::default()))]);
    let children = [inc, down1, down2, down3, down4, up1, up2, up3, up4, child("outc", outc)];
    block("UNet", children, |cx, [inc, down1, down2, down3, down4, up1, up2, up3, up4, outc], [x]| {
        let x1 = inc.call(cx, x)?;
        let x2 = down1.call(cx, &x1)?;
        let x3 = down2.call(cx, &x2)?;
        let x4 = down3.call(cx, &x3)?;
        let x5 = down4.call(cx, &x4)?;
        let x = up1.call_with(cx, &[x5, x4])?;
        let x = up2.call_with(cx, &[x, x3])?;
        let x = up3.call_with(cx, &[x, x2])?;
        let x = up4.call_with(cx, &[x, x1])?;
        outc.call(cx, &x)
    })
}

/// Twice: convolution, batch normalisation, ReLU.
fn double_conv(channels: u64, out: u64) -> Block {
    let conv = |i| Conv2d::new(i, out, 3, ConvArgs { padding: 1, ..ConvArgs::default() }).without_bias();
    let layers = Sequential::new()
        .then(conv(channels))
        .then(BatchNorm2d::new(out))
        .then(ReLU)
        .then(conv(out))
        .then(BatchNorm2d::new(out))
        .then(ReLU);
    stack("DoubleConv", [child("double_conv", layers)])
}

fn down(channels: u64, out: u64) -> Block {
    let layers = Sequential::new().then(MaxPool2d::new(2, 2, 0)).then(double_conv(channels, out));
    stack("Down", [child("maxpool_conv", layers)])
}

/// Inputs: from below, and from the same level on the way down.
fn up(channels: u64, out: u64) -> Block {
    let up = child("up", ConvTranspose2d::new(channels, channels / 2, 2, 2));
    block("Up", [up, child("conv", double_conv(channels, out))], |cx, [up, conv], [below, beside]| {
        let x = up.call(cx, below)?;
        let x = cx.cat(&[beside, &x], 1)?;
        conv.call(cx, &x)
    })
}
