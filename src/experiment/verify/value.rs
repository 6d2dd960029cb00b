//! The output of a model, as the verifier sees it.

use std::collections::BTreeMap;

use super::element::ElementType;

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The run raised an exception.
    Raised,
    /// The run returned this output.
    Returned(Output),
}

/// An output: a tensor, a plain value, or a container of outputs.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    Tensor(TensorValue),
    /// A tuple or a list.
    Sequence(Vec<Output>),
    /// A dictionary; keys are compared in order.
    Dict(BTreeMap<String, Output>),
    /// A value that is not a tensor.
    Scalar(Scalar),
}

/// A value that is not a tensor.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar {
    /// `None`.
    None,
    Bool(bool),
    Number(f64),
    Text(String),
}

/// A tensor's elements in row-major order, as doubles that its type can hold.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorValue {
    pub element: ElementType,
    /// Sizes, outermost first.
    pub shape: Vec<usize>,
    /// The elements; their number is the product of the sizes.
    pub values: Vec<f64>,
}

impl TensorValue {
    /// How many elements it has.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Whether any element is NaN.
    pub fn has_nan(&self) -> bool {
        self.values.iter().any(|v| v.is_nan())
    }

    /// The two tensors element by element after broadcasting, as in torch: sizes are aligned at the innermost dimension, and
    /// a size of one repeats. `None` when the shapes do not fit.
    pub fn broadcast(&self, other: &Self) -> Option<Vec<(f64, f64)>> {
        if self.shape == other.shape {
            return Some(self.values.iter().copied().zip(other.values.iter().copied()).collect());
        }
        let rank = self.shape.len().max(other.shape.len());
        let padded = |shape: &[usize]| [vec![1; rank - shape.len()], shape.to_vec()].concat();
        let (a, b) = (padded(&self.shape), padded(&other.shape));
        let mut shape = Vec::with_capacity(rank);
        for (&x, &y) in a.iter().zip(&b) {
            shape.push(match (x, y) {
                (x, y) if x == y => x,
                (1, y) => y,
                (x, 1) => x,
                _ => return None,
            });
        }
        let total: usize = shape.iter().product();
        let at = |sizes: &[usize], mut i: usize| {
            let (mut index, mut stride) = (0, 1);
            for (full, own) in shape.iter().zip(sizes).rev() {
                index += (i % full) % own * stride;
                stride *= own;
                i /= full;
            }
            index
        };
        Some((0..total).map(|i| (self.values[at(&a, i)], other.values[at(&b, i)])).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(shape: &[usize], values: &[f64]) -> TensorValue {
        TensorValue { element: ElementType::F32, shape: shape.to_vec(), values: values.to_vec() }
    }

    #[test]
    fn shapes_broadcast_as_torch_does() {
        let row = tensor(&[2], &[1.0, 2.0]);
        let column = tensor(&[2, 1], &[10.0, 20.0]);
        let pairs = column.broadcast(&row).unwrap();
        assert_eq!(pairs, [(10.0, 1.0), (10.0, 2.0), (20.0, 1.0), (20.0, 2.0)]);
        assert_eq!(tensor(&[1], &[5.0]).broadcast(&row).unwrap(), [(5.0, 1.0), (5.0, 2.0)]);
        assert_eq!(tensor(&[3], &[1.0; 3]).broadcast(&row), None);
        assert_eq!(tensor(&[], &[7.0]).broadcast(&row).unwrap(), [(7.0, 1.0), (7.0, 2.0)]);
        assert_eq!(tensor(&[0], &[]).broadcast(&tensor(&[1], &[1.0])).unwrap(), []);
    }
}
