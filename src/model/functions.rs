//! Functions of `torch` and `torch.nn.functional` that layers use, except the functions of linear networks.

use ns_base::convert::usize_to_u32;
use ns_base::{Refusal, refuse};
use ns_tensor::kernels::{BinaryOp, UnaryOp, WindowDim};
use ns_tensor::{DType, Shape};

use super::infer::dims;
use super::{AtenOp, Ctx, Value};

/// The parameters of a convolution: the arguments of `torch.nn.Conv2d`, the same for height and width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConvArgs {
    /// Steps between windows.
    pub stride: u64,
    /// Zeros on each side.
    pub padding: u64,
    /// Distance between two kernel elements.
    pub dilation: u64,
    /// Groups of channels.
    pub groups: u64,
}

impl Default for ConvArgs {
    fn default() -> Self {
        Self { stride: 1, padding: 0, dilation: 1, groups: 1 }
    }
}

/// Products, convolutions and pooling.
impl Ctx {
    /// `torch.matmul` of operands with the same number of dimensions: matrices, or batches of them. Fails when shapes do not fit.
    pub fn matmul(&mut self, a: &Value, b: &Value) -> Result<Value, Refusal> {
        let op = if a.dims().len() == 2 && b.dims().len() == 2 { AtenOp::Mm } else { AtenOp::Matmul };
        self.apply(op, &[a, b], None)
    }

    /// `torch.nn.functional.conv2d` of `[n, ci, h, w]` with `[co, ci / groups, kh, kw]`. Fails when shapes do not fit.
    pub fn conv2d(
        &mut self,
        x: &Value,
        weight: &Value,
        bias: Option<&Value>,
        args: ConvArgs,
    ) -> Result<Value, Refusal> {
        let dim =
            |size: u64| WindowDim { window_dilation: args.dilation, ..WindowDim::new(size, args.stride, args.padding) };
        let window = kernel(weight).map(dim);
        let op = AtenOp::Convolution { window, groups: args.groups, transposed: false };
        let operands: Vec<&Value> = [x, weight].into_iter().chain(bias).collect();
        self.apply(op, &operands, None)
    }

    /// `torch.nn.functional.conv_transpose2d` of `[n, ci, h, w]` with `[ci, co, kh, kw]`. Fails when shapes do not fit, or the
    /// padding is not smaller than the kernel.
    pub fn conv_transpose2d(
        &mut self,
        x: &Value,
        weight: &Value,
        bias: Option<&Value>,
        stride: u64,
        padding: u64,
    ) -> Result<Value, Refusal> {
        let dim = |size| WindowDim::transposed(size, stride, padding);
        let [height, width] = kernel(weight);
        let (Some(height), Some(width)) = (dim(height), dim(width)) else {
            return Err(refuse!(
                "aten::convolution in {}: weight {} is not possible: a padding of {padding} needs a larger kernel",
                self.scope(),
                dims(weight.shape())
            ));
        };
        let op = AtenOp::Convolution { window: [height, width], groups: 1, transposed: true };
        let operands: Vec<&Value> = [x, weight].into_iter().chain(bias).collect();
        self.apply(op, &operands, None)
    }

    /// `torch.nn.functional.max_pool2d`. Fails when the window does not fit.
    pub fn max_pool2d(&mut self, x: &Value, size: u64, stride: u64, padding: u64) -> Result<Value, Refusal> {
        self.apply(AtenOp::MaxPool2d { window: [WindowDim::new(size, stride, padding); 2] }, &[x], None)
    }

    /// `torch.nn.functional.avg_pool2d`; padding counts as zeros. Fails when the window does not fit.
    pub fn avg_pool2d(&mut self, x: &Value, size: u64, stride: u64, padding: u64) -> Result<Value, Refusal> {
        self.apply(AtenOp::AvgPool2d { window: [WindowDim::new(size, stride, padding); 2] }, &[x], None)
    }

    /// `torch.nn.functional.adaptive_avg_pool2d` to a square of `size`, which must divide the operand's height and width.
    /// Pooling to one element is a mean; pooling to the operand's own size returns the operand. Fails when the operand does not
    /// have four dimensions, or its sides are not multiples of `size`.
    pub fn adaptive_avg_pool2d(&mut self, x: &Value, size: u64) -> Result<Value, Refusal> {
        match x.dims() {
            [_, _, h, w] if *h == size && *w == size => Ok(x.clone()),
            [_, _, _, _] if size == 1 => self.mean_dims(x, &[2, 3], true),
            &[_, _, h, w] if size > 0 && h % size == 0 && w % size == 0 => {
                let dim = |extent: u64| WindowDim::new(extent / size, extent / size, 0);
                self.apply(AtenOp::AvgPool2d { window: [dim(h), dim(w)] }, &[x], None)
            }
            _ => Err(refuse!(
                "aten::adaptive_avg_pool2d in {}: input {} is not possible: expected an image whose sides are multiples of {size}",
                self.scope(),
                dims(x.shape())
            )),
        }
    }
}

/// Normalisations and activations.
impl Ctx {
    /// `torch.nn.functional.batch_norm` at inference; `statistics` are weight, bias, running mean and running variance. Fails when
    /// the statistics do not have one number per channel.
    pub fn batch_norm(&mut self, x: &Value, statistics: [&Value; 4], eps: f32) -> Result<Value, Refusal> {
        let [weight, bias, mean, variance] = statistics;
        self.apply(AtenOp::BatchNorm { eps }, &[x, weight, bias, mean, variance], None)
    }

    /// `torch.nn.functional.layer_norm` over the last dimension. Fails when the weights do not fit the last dimension.
    pub fn layer_norm(&mut self, x: &Value, weight: &Value, bias: &Value, eps: f32) -> Result<Value, Refusal> {
        self.apply(AtenOp::LayerNorm { eps }, &[x, weight, bias], None)
    }

    /// Root mean square normalisation over the last dimension, op by op as Llama's code writes it. Fails when the weight does not
    /// fit the last dimension.
    pub fn rms_norm(&mut self, x: &Value, weight: &Value, eps: f32) -> Result<Value, Refusal> {
        let last = usize_to_u32(x.dims().len()).saturating_sub(1);
        let square = self.mul(x, x)?;
        let variance = self.mean_dims(&square, &[last], true)?;
        let variance = self.scalar(BinaryOp::Add, &variance, eps)?;
        let scale = self.unary(UnaryOp::Rsqrt, &variance)?;
        let normal = self.mul(x, &scale)?;
        self.mul(weight, &normal)
    }

    /// `torch.softmax` along a dimension. Fails when the dimension does not exist.
    pub fn softmax(&mut self, x: &Value, dim: u32) -> Result<Value, Refusal> {
        self.apply(AtenOp::Softmax { dim }, &[x], None)
    }

    /// `torch.nn.functional.gelu`, with the error function. Fails when memory runs out in an eager run.
    pub fn gelu(&mut self, x: &Value) -> Result<Value, Refusal> {
        self.unary(UnaryOp::Gelu, x)
    }

    /// `torch.sigmoid`. Fails when memory runs out in an eager run.
    pub fn sigmoid(&mut self, x: &Value) -> Result<Value, Refusal> {
        self.unary(UnaryOp::Logistic, x)
    }

    /// `torch.nn.functional.silu`. Fails when memory runs out in an eager run.
    pub fn silu(&mut self, x: &Value) -> Result<Value, Refusal> {
        self.apply(AtenOp::Silu, &[x], None)
    }

    /// `Tensor.mean(dims, keepdim)`; `dims` ascending. Fails when a dimension does not exist or is empty.
    pub fn mean_dims(&mut self, x: &Value, dims: &[u32], keepdim: bool) -> Result<Value, Refusal> {
        self.apply(AtenOp::MeanDims { dims: dims.to_vec(), keepdim }, &[x], None)
    }

    /// `a + b`, broadcasting. Fails when the shapes cannot be broadcast together.
    pub fn add(&mut self, a: &Value, b: &Value) -> Result<Value, Refusal> {
        self.binary(BinaryOp::Add, a, b)
    }

    /// `a * b`, broadcasting. Fails when the shapes cannot be broadcast together.
    pub fn mul(&mut self, a: &Value, b: &Value) -> Result<Value, Refusal> {
        self.binary(BinaryOp::Mul, a, b)
    }

    /// An elementwise function of a tensor and a number: `x / 8`. Fails when memory runs out in an eager run.
    pub fn scalar(&mut self, op: BinaryOp, x: &Value, value: f32) -> Result<Value, Refusal> {
        self.apply(AtenOp::Scalar { op, value, reversed: false }, &[x], None)
    }

    /// `value - x`: `torch.rsub`. Fails when memory runs out in an eager run.
    pub fn rsub(&mut self, value: f32, x: &Value) -> Result<Value, Refusal> {
        self.apply(AtenOp::Scalar { op: BinaryOp::Sub, value, reversed: true }, &[x], None)
    }
}

/// Moving and picking elements.
impl Ctx {
    /// `torch.nn.functional.embedding`: rows of a table `[v, ..]`. Fails when the indices are not integers.
    pub fn embedding(&mut self, table: &Value, indices: &Value) -> Result<Value, Refusal> {
        self.apply(AtenOp::Embedding, &[table, indices], None)
    }

    /// `torch.cat` along a dimension. Fails when there are no operands, or their other dimensions differ.
    pub fn cat(&mut self, operands: &[&Value], dim: u32) -> Result<Value, Refusal> {
        self.apply(AtenOp::Cat { dim }, operands, None)
    }

    /// `x[.., start:end, ..]` in dimension `dim`. Fails when the range is not within the dimension.
    pub fn slice(&mut self, x: &Value, dim: u32, start: u64, end: u64) -> Result<Value, Refusal> {
        if start == 0 && x.dims().get(dim as usize) == Some(&end) {
            return Ok(x.clone());
        }
        self.apply(AtenOp::Slice { dim, start, end }, &[x], None)
    }

    /// `torch.select`: element `index` of a dimension, which disappears. Fails when the dimension does not have the element.
    pub fn select(&mut self, x: &Value, dim: u32, index: u64) -> Result<Value, Refusal> {
        let one = self.apply(AtenOp::Slice { dim, start: index, end: index.saturating_add(1) }, &[x], None)?;
        let mut dims = one.dims().to_vec();
        dims.remove(dim as usize);
        self.view(&one, &dims)
    }

    /// `torch.transpose`: exchanges two dimensions. Fails when one of them does not exist.
    pub fn transpose(&mut self, x: &Value, a: u32, b: u32) -> Result<Value, Refusal> {
        let mut dims: Vec<u32> = (0..usize_to_u32(x.dims().len())).collect();
        // `permute` reports a dimension that does not exist.
        if let Ok([x, y]) = dims.get_disjoint_mut([a as usize, b as usize]) {
            std::mem::swap(x, y);
        } else {
            dims.push(a.max(b));
        }
        self.permute(x, &dims)
    }

    /// `Tensor.flatten(start)`: all dimensions from `start` on become one. Fails when the tensor does not have dimension `start`.
    pub fn flatten(&mut self, x: &Value, start: u32) -> Result<Value, Refusal> {
        let (kept, rest) = x.dims().split_at((start as usize).min(x.dims().len()));
        let mut dims = kept.to_vec();
        dims.push(rest.iter().fold(1, |n, d| d.saturating_mul(n)));
        self.view(x, &dims)
    }

    /// `Tensor.expand`: repeats dimensions of size one. Fails when another dimension would change.
    pub fn expand(&mut self, x: &Value, dims: &[u64]) -> Result<Value, Refusal> {
        if x.dims() == dims {
            return Ok(x.clone());
        }
        self.apply(AtenOp::Expand, &[x], Some(&Shape::new(x.shape().dtype, dims)))
    }

    /// `Tensor.to`: the same values in another element type. Fails when memory runs out in an eager run.
    pub fn to(&mut self, x: &Value, dtype: DType) -> Result<Value, Refusal> {
        if x.shape().dtype == dtype {
            return Ok(x.clone());
        }
        self.apply(AtenOp::To(dtype), &[x], None)
    }

    /// `Tensor.index_copy`: a cache with `update` at `position` of dimension `dim`. The device updates it in place. Fails when the
    /// update does not fit or the position is not a single integer.
    pub fn index_copy(&mut self, cache: &Value, dim: u32, position: &Value, update: &Value) -> Result<Value, Refusal> {
        self.apply(AtenOp::IndexCopy { dim }, &[cache, update, position], None)
    }

    /// Several results of a model; profiles and shapes show the first.
    /// Never fails under the tracer.
    pub fn tuple(&mut self, results: &[&Value]) -> Result<Value, Refusal> {
        self.apply(AtenOp::Tuple, results, None)
    }

    /// Attention from its primitives: `softmax(q @ k^T * scale + mask) @ v` over the last two dimensions. Fails when shapes do not
    /// fit.
    pub fn attention(
        &mut self,
        [q, k, v]: [&Value; 3],
        scale: Option<(BinaryOp, f32)>,
        mask: Option<&Value>,
    ) -> Result<Value, Refusal> {
        let rank = usize_to_u32(k.dims().len());
        let turned = self.transpose(k, rank.saturating_sub(2), rank.saturating_sub(1))?;
        let mut scores = self.matmul(q, &turned)?;
        if let Some((op, value)) = scale {
            scores = self.scalar(op, &scores, value)?;
        }
        if let Some(mask) = mask {
            scores = self.add(&scores, mask)?;
        }
        let weights = self.softmax(&scores, rank.saturating_sub(1))?;
        self.matmul(&weights, v)
    }
}

/// Height and width of convolution weights; zero when the weights do not have four dimensions, so that no window
/// fits.
fn kernel(weight: &Value) -> [u64; 2] {
    match weight.dims() {
        [_, _, height, width] => [*height, *width],
        _ => [0, 0],
    }
}
