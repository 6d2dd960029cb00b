//! Weights and inputs: shapes first, values only when numerics are asked for.

use crate::base::{Digest, Rng};
use crate::tensor::{Shape, Tensor, TensorError};

/// How a weight gets its first values. The defaults of `torch.nn`, and those the models of the zoo ask for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Init {
    /// Uniform in `[-bound, bound)`. `torch.nn.Linear`'s default is `kaiming_uniform(a = sqrt(5))`, which comes to a bound
    /// of `1 / sqrt(in_features)` for the weight, and the same for the bias.
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
}

impl Init {
    /// `torch.nn.Linear`'s default for weight and bias.
    #[must_use]
    pub fn linear_default(in_features: u64) -> Self {
        Self::Uniform { bound: 1.0 / (in_features.max(1) as f32).sqrt() }
    }

    /// `torch.nn.init.xavier_normal_` with gain 1: standard deviation `sqrt(2 / (fan_in + fan_out))`.
    #[must_use]
    pub fn xavier_normal(fan_in: u64, fan_out: u64) -> Self {
        Self::Normal { std: (2.0 / fan_in.saturating_add(fan_out).max(1) as f32).sqrt() }
    }
}

/// A weight of a module: a shape and how to fill it. It holds no values.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Attribute name in the module, `weight`.
    pub name: &'static str,
    /// Shape.
    pub shape: Shape,
    /// First values.
    pub init: Init,
}

/// How an example input is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// Uniform in `[0, 1)`: `torch.rand`.
    Uniform,
    /// Standard normal: `torch.randn`.
    Normal,
}

/// An example input of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct InputSpec {
    /// Shape, batch first.
    pub shape: Shape,
    /// How its values are drawn.
    pub distribution: Distribution,
}

/// The values of the weight at `path`. They depend on the seed, the path, the shape and nothing else: not on which
/// weights were asked for before.
///
/// # Errors
/// When the weight is too large to hold.
pub fn weight_tensor(seed: u64, path: &str, shape: &Shape, init: Init) -> Result<Tensor, TensorError> {
    let mut rng = stream(seed, "weight", path);
    Tensor::from_fn(shape.clone(), |_| match init {
        Init::Uniform { bound } => rng.uniform_f32(-bound, bound),
        Init::Normal { std } => rng.normal_f64() as f32 * std,
        Init::Constant(v) => v,
    })
}

/// The values of the `index`-th example input.
///
/// # Errors
/// When the input is too large to hold.
pub fn input_tensor(seed: u64, index: u32, spec: &InputSpec) -> Result<Tensor, TensorError> {
    let mut rng = stream(seed, "input", &index.to_string());
    Tensor::from_fn(spec.shape.clone(), |_| match spec.distribution {
        Distribution::Uniform => rng.unit_f32(),
        Distribution::Normal => rng.normal_f64() as f32,
    })
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
