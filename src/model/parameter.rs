//! Weights and inputs: shapes first, values only when they are computed.

use std::rc::Rc;

use ns_base::convert::{f64_to_f32, u32_to_f32, u64_to_f32, u64_to_usize, usize_to_f32};
use ns_base::{Digest, Rng};
use ns_tensor::{Shape, Tensor, TensorError};

/// How a weight is initialised: the defaults of `torch.nn`, and those that the models of the zoo need.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Init {
    /// Uniform in `[-bound, bound)`. The default of `torch.nn.Linear` is `kaiming_uniform(a = sqrt(5))`: a bound of
    /// `1 / sqrt(in_features)` for the weight, and the same for the bias.
    Uniform {
        /// Largest magnitude.
        bound: f32,
    },
    /// Normal with mean zero.
    Normal {
        /// Standard deviation.
        std: f32,
    },
    /// The same value everywhere.
    Constant(f32),
    /// Uniform in `[low, high)`: weights and statistics of normalisations as after training. With the ones and zeros
    /// before training, a normalisation would do nothing.
    Range {
        /// Smallest value.
        low: f32,
        /// Upper limit, exclusive.
        high: f32,
    },
    /// A matrix with zeros on and below the diagonal and the most negative number above it, added to the scores of causal
    /// attention.
    CausalMask,
    /// The number of each column: 0, 1, 2, ...
    Columns,
    /// Cosines (or sines) of rotary position embedding: row `position`, column `i` has the angle `position * theta^(-2j/d)`
    /// with `j = i mod d/2`, where `d` is the number of columns.
    Rotary {
        /// Base of the frequencies.
        theta: f32,
        /// Sines instead of cosines.
        sine: bool,
    },
}

impl Init {
    /// `torch.nn.Linear`'s default for weight and bias.
    pub fn linear_default(in_features: u64) -> Self {
        Self::Uniform { bound: 1.0 / u64_to_f32(in_features.max(1)).sqrt() }
    }

    /// `torch.nn.init.xavier_normal_` with gain 1: standard deviation `sqrt(2 / (fan_in + fan_out))`.
    pub fn xavier_normal(fan_in: u64, fan_out: u64) -> Self {
        Self::Normal { std: (2.0 / u64_to_f32(fan_in.saturating_add(fan_out).max(1))).sqrt() }
    }
}

/// A weight of a module: a shape and an initialisation. It holds no values.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Attribute name in the module, `weight`.
    pub name: &'static str,
    pub shape: Shape,
    /// First values.
    pub init: Init,
    /// Whether it is a buffer (running statistics, masks, caches): part of the model, but not counted as a parameter.
    pub buffer: bool,
}

impl Parameter {
    pub fn new(name: &'static str, dims: impl Into<Vec<u64>>, init: Init) -> Self {
        Self { name, shape: Shape::f32(dims), init, buffer: false }
    }

    pub fn buffer(name: &'static str, dims: impl Into<Vec<u64>>, init: Init) -> Self {
        Self { name, shape: Shape::f32(dims), init, buffer: true }
    }
}

/// How an example input is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// Uniform in `[0, 1)`: `torch.rand`.
    Uniform,
    /// Standard normal: `torch.randn`.
    Normal,
    /// Whole numbers below this one: token ids.
    Below(u32),
    /// This whole number everywhere: a mask of ones, a position.
    Constant(u32),
}

/// An example input of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct InputSpec {
    /// Shape, batch first.
    pub shape: Shape,
    /// How its values are drawn.
    pub distribution: Distribution,
}

/// The values of the weight at `path`. They depend only on the seed, the path and the shape, not on which weights
/// were requested before. Fails when the weight is too large to hold.
pub fn weight_tensor(seed: u64, path: &str, shape: &Shape, init: Init) -> Result<Tensor, TensorError> {
    let mut rng = stream(seed, "weight", path);
    let columns = u64_to_usize(shape.dims.last().copied().unwrap_or(1).max(1));
    Tensor::from_fn(shape.clone(), |i| match init {
        Init::Range { low, high } => rng.uniform_f32(low, high),
        Init::Columns => usize_to_f32(i % columns),
        Init::CausalMask if i % columns > i / columns => f32::MIN,
        Init::CausalMask => 0.0,
        Init::Rotary { theta, sine } => rotary(theta, sine, i / columns, i % columns, columns),
        Init::Uniform { bound } => rng.uniform_f32(-bound, bound),
        Init::Normal { std } => f64_to_f32(rng.normal_f64()) * std,
        Init::Constant(v) => v,
    })
}

/// The values of the `index`-th example input. Fails when the input is too large to hold.
pub fn input_tensor(seed: u64, index: u32, spec: &InputSpec) -> Result<Tensor, TensorError> {
    let mut rng = stream(seed, "input", &index.to_string());
    Tensor::from_fn(spec.shape.clone(), |_| match spec.distribution {
        Distribution::Uniform => rng.unit_f32(),
        Distribution::Normal => f64_to_f32(rng.normal_f64()),
        // The element type rounds down, because it is an integer type.
        Distribution::Below(n) => rng.unit_f32() * u32_to_f32(n),
        Distribution::Constant(v) => u32_to_f32(v),
    })
}

/// The values of all example inputs of a model. Fails when one is too large to hold.
pub fn input_tensors(seed: u64, specs: &[InputSpec]) -> Result<Vec<Rc<Tensor>>, TensorError> {
    (0_u32..).zip(specs).map(|(index, spec)| input_tensor(seed, index, spec).map(Rc::new)).collect()
}

/// As in the reference model: frequencies, angles and their functions in single precision.
fn rotary(theta: f32, sine: bool, position: usize, column: usize, columns: usize) -> f32 {
    let half = (columns / 2).max(1);
    let exponent = usize_to_f32(2 * (column % half)) / usize_to_f32(columns);
    let angle = usize_to_f32(position) * (1.0 / libm::powf(theta, exponent));
    if sine { libm::sinf(angle) } else { libm::cosf(angle) }
}

fn stream(seed: u64, kind: &str, name: &str) -> Rng {
    let digest = Digest::default().number(seed).text(kind).text(name).finish();
    Rng::new(seed, digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_path_has_its_own_values_within_the_bound() {
        let shape = Shape::f32([64, 16]);
        let init = Init::linear_default(16);
        let a = weight_tensor(0, "layer1.weight", &shape, init).unwrap();
        let b = weight_tensor(0, "layer2.weight", &shape, init).unwrap();
        assert!(!a.same_bits(&b));
        assert!(a.same_bits(&weight_tensor(0, "layer1.weight", &shape, init).unwrap()));
        assert!(!a.same_bits(&weight_tensor(1, "layer1.weight", &shape, init).unwrap()));
        assert!(a.data().iter().all(|v| v.abs() <= 0.25) && a.data().iter().any(|v| v.abs() > 0.2));
    }

    #[test]
    fn xavier_normal_has_its_standard_deviation() {
        let t = weight_tensor(3, "w", &Shape::f32([100, 100]), Init::xavier_normal(100, 100)).unwrap();
        let variance: f64 = t.data().iter().map(|v| f64::from(*v).powi(2)).sum::<f64>() / 1e4;
        assert!((variance - 0.01).abs() < 0.001, "{variance}");
    }
}
