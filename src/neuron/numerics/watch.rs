//! Finds where NaNs, infinities and vanished values come from.

use std::rc::Rc;

use super::Origin;
use ns_compiler::hlo::{HloInstruction, Opcode, Watch};
use ns_tensor::Tensor;

/// Records the first operation that made a NaN, an infinity, or only zeros, from operands without them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exceptions {
    pub nan: Option<Origin>,
    pub inf: Option<Origin>,
    /// The first product whose values are all zero.
    pub underflow: Option<Origin>,
    operations: u64,
}

impl Watch for Exceptions {
    fn produced(&mut self, instruction: &HloInstruction, operands: &[Rc<Tensor>], value: &Tensor) {
        let operation = self.operations;
        self.operations += 1;
        let origin = |elements: u64| Origin {
            path: instruction.metadata.op_name.clone(),
            hlo: instruction.name.clone(),
            opcode: instruction.opcode.name().to_owned(),
            operation,
            elements,
            of: value.data().len() as u64,
        };
        let found = |slot: &mut Option<Origin>, is: fn(&f32) -> bool| {
            if slot.is_none() && value.data().iter().any(is) && !operands.iter().any(|o| o.data().iter().any(is)) {
                *slot = Some(origin(value.data().iter().filter(|v| is(v)).count() as u64));
            }
        };
        found(&mut self.nan, |v| v.is_nan());
        found(&mut self.inf, |v| v.is_infinite());
        if self.underflow.is_none() && multiplies(&instruction.opcode) && vanished(value) {
            let from_something = !operands.is_empty() && !operands.iter().any(|o| vanished(o));
            if from_something {
                self.underflow = Some(origin(value.data().len() as u64));
            }
        }
    }
}

const fn multiplies(opcode: &Opcode) -> bool {
    matches!(opcode, Opcode::Dot(_) | Opcode::Convolution { .. } | Opcode::Multiply)
}

fn vanished(value: &Tensor) -> bool {
    !value.data().is_empty() && value.data().iter().all(|v| *v == 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hlo_text::parse;
    use ns_compiler::hlo::{Evaluation, Reference};
    use ns_tensor::Shape;

    fn exceptions(lines: &str, x: f32) -> Exceptions {
        let text = format!("HloModule m\nENTRY {{\n%p0 = f32[2] parameter(0), input=0\n{lines}\n}}");
        let module = parse(&text).unwrap();
        let x = Rc::new(Tensor::splat(Shape::f32([2]), x).unwrap());
        let mut seen = Exceptions::default();
        Evaluation::new(&module, vec![x]).step(u64::MAX, &mut Reference, &mut seen).unwrap();
        seen
    }

    #[test]
    fn the_first_operation_is_named_and_not_its_readers() {
        let seen = exceptions(
            "%big = f32[2] exponential(%p0)\n%nan = f32[2] subtract(%big, %big)\nROOT %r = f32[2] add(%nan, %big)",
            100.0,
        );
        let names = |o: &Option<Origin>| o.as_ref().map(|o| (o.hlo.clone(), o.operation, o.elements));
        assert_eq!(names(&seen.inf), Some(("big".to_owned(), 0, 2)));
        assert_eq!(names(&seen.nan), Some(("nan".to_owned(), 1, 2)));
        assert_eq!(seen.underflow, None);
    }

    #[test]
    fn an_underflow_is_a_zero_product_of_nonzero_factors() {
        let lines = "%a = f32[2] multiply(%p0, %p0)\n%b = f32[2] multiply(%a, %p0)\nROOT %r = f32[2] multiply(%b, %b)";
        assert_eq!(exceptions(lines, 1e-20).underflow.map(|o| o.hlo), Some("b".to_owned()));
        assert_eq!(exceptions(lines, 0.0).underflow, None);
        assert_eq!(exceptions(lines, 1.0), Exceptions { operations: 3, ..Exceptions::default() });
    }
}
