//! The magnitudes of the values of a chain of products, product by product, as the device computes them.

use std::rc::Rc;

use super::{DeviceArithmetic, NumericsSpec};
use ns_base::convert::usize_to_f64;
use ns_base::{Refusal, refuse};
use ns_compiler::hlo::{Evaluation, HloInstruction, Opcode, Watch};
use ns_compiler::{Pipeline, Workflow, parameter_values};
use ns_machine::arch::NEURONCORE_V2;
use ns_model::{ModelSpec, input_tensors};
use ns_tensor::Tensor;

/// Operations of one step of the evaluation. The caller waits for the end, so this is only an upper bound.
const STEP: u64 = 1 << 40;

/// The range of values along the products of a program. Products are counted from 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProductRanges {
    /// Largest magnitude after each product; NaNs are left out.
    pub largest: Vec<f32>,
    /// The first product with an infinity.
    pub first_inf: Option<u64>,
    /// The first product with a NaN.
    pub first_nan: Option<u64>,
    /// The first product whose values are all smaller than the smallest normal number of single precision, which is
    /// also the smallest normal number of bf16.
    pub first_subnormal: Option<u64>,
    /// The first product whose values are all zero.
    pub first_zero: Option<u64>,
}

impl ProductRanges {
    /// The factor by which a product multiplies the largest magnitude: the geometric mean over the products whose
    /// values are normal numbers. `None` with fewer than two such products.
    pub fn factor(&self) -> Option<f64> {
        let normal: Vec<f32> = self.largest.iter().copied().take_while(|v| v.is_normal()).collect();
        let (first, last) = (normal.first()?, normal.last()?);
        let steps = usize_to_f64(normal.len()) - 1.0;
        (steps > 0.0).then(|| libm::pow(f64::from(*last) / f64::from(*first), 1.0 / steps))
    }
}

impl Watch for ProductRanges {
    fn produced(&mut self, instruction: &HloInstruction, _operands: &[Rc<Tensor>], value: &Tensor) {
        if !matches!(instruction.opcode, Opcode::Dot(_)) {
            return;
        }
        let largest = value.data().iter().fold(0.0f32, |most, v| most.max(v.abs()));
        let any_nan = value.data().iter().any(|v| v.is_nan());
        self.largest.push(largest);
        let product = self.largest.len() as u64;
        let mut first = |slot: fn(&mut Self) -> &mut Option<u64>, is: bool| {
            if is {
                slot(self).get_or_insert(product);
            }
        };
        first(|r| &mut r.first_inf, largest.is_infinite());
        first(|r| &mut r.first_nan, any_nan);
        first(|r| &mut r.first_subnormal, !any_nan && largest < f32::MIN_POSITIVE);
        first(|r| &mut r.first_zero, !any_nan && largest == 0.0);
    }
}

/// Computes a model as the device does and records the range of each product. The tolerance of the specification is
/// not used. Fails when the model is not known, cannot be compiled or is too large.
pub fn product_ranges(spec: &NumericsSpec) -> Result<ProductRanges, Refusal> {
    let named = |e: &dyn std::fmt::Display| refuse!("{}: {e}", spec.model);
    let evaluate = |e: Refusal| named(&e);
    let model: ModelSpec = spec.model.parse()?;
    let batch = spec.batch_size.map_or(model.info().default_batch_size, u64::from);
    let graph = Rc::new(model.trace(batch)?);
    let pipeline = Pipeline::of_graph(Rc::clone(&graph), Workflow::Trace, spec.options);
    let optimised = pipeline.optimised();
    let module = &optimised.map_err(|e| named(&e))?.module;
    let inputs = input_tensors(spec.seed, &model.inputs(batch)?).map_err(|e| named(&e))?;
    let parameters = parameter_values(module, &graph, &inputs, spec.seed).map_err(evaluate)?;
    let mut arithmetic =
        DeviceArithmetic::new(module, &spec.options, NEURONCORE_V2.partitions, spec.rounding, spec.seed);
    let mut ranges = ProductRanges::default();
    let mut evaluation = Evaluation::new(Rc::clone(module), parameters);
    while evaluation.step(STEP, &mut arithmetic, &mut ranges).map_err(evaluate)?.is_none() {}
    Ok(ranges)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(model: &str) -> ProductRanges {
        product_ranges(&NumericsSpec { model: model.to_owned(), ..NumericsSpec::default() }).unwrap()
    }

    #[test]
    fn without_a_bias_a_chain_vanishes_and_with_one_it_does_not() {
        let bare = ranges("matmult:n=16,loop_count=300,add_bias=false");
        assert_eq!(bare.largest.len(), 300);
        // torch.nn.Linear's weights are uniform within 1 / sqrt(n): a product multiplies by about 1 / sqrt(3).
        let factor = bare.factor().unwrap();
        assert!((0.45..0.75).contains(&factor), "{factor}");
        let (small, zero) = (bare.first_subnormal.unwrap(), bare.first_zero.unwrap());
        assert!(100 < small && small < zero && zero <= 300, "{small} {zero}");
        assert_eq!((bare.first_nan, bare.first_inf), (None, None));
        let biased = ranges("matmult:n=16,loop_count=300");
        assert_eq!((biased.first_subnormal, biased.first_zero), (None, None));
    }

    #[test]
    fn an_overflow_and_its_consequences_are_located_at_their_products() {
        let mut ranges = ProductRanges::default();
        let text = "HloModule m\nENTRY {\n%p0 = f32[1,1] parameter(0), input=0\nROOT %d = f32[1,1] dot(%p0, %p0), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}";
        let module = crate::hlo_text::parse(text).unwrap();
        let dot = &module.instructions[module.root];
        for value in [2.0, 8.0, f32::INFINITY, f32::NAN, 0.0] {
            let value = Tensor::splat(ns_tensor::Shape::f32([1, 1]), value).unwrap();
            ranges.produced(dot, &[], &value);
        }
        assert_eq!((ranges.first_inf, ranges.first_nan, ranges.first_zero), (Some(3), Some(4), Some(5)));
        assert_eq!(ranges.factor(), Some(4.0));
    }
}
