//! How a NeuronCore computes.

use std::rc::Rc;

use ns_base::{FxHashMap, FxHashSet, Rng};
use ns_compiler::CompileOptions;
use ns_compiler::hlo::{Arithmetic, HloInstruction, HloModule, InstrId, Opcode, Place};
use ns_tensor::kernels::Accumulation;
use ns_tensor::{DType, FloatFormat, Rounder, Rounding, Tensor};

/// Products read their operands in the cast type and add in single precision: 128 products in the array, then pass by
/// pass in PSUM. Everything else is computed in single precision. Under `--auto-cast all`, values are stored in the cast
/// type between operations. Inputs and outputs of the model are in single precision. The compiler casts weights, and
/// values computed from weights alone, to the nearest number.
pub struct DeviceArithmetic {
    products: FloatFormat,
    values: FloatFormat,
    array_rows: u32,
    rounder: Rounder,
    at_load: Rounder,
    known_at_load: FxHashSet<InstrId>,
    /// Operands in the products' format: a value is cast once, when it is written for the array.
    casts: FxHashMap<InstrId, Rc<Tensor>>,
}

impl DeviceArithmetic {
    /// The arithmetic of a core whose array has `array_rows` rows, for one evaluation of `module`.
    pub fn new(module: &HloModule, options: &CompileOptions, array_rows: u32, rounding: Rounding, seed: u64) -> Self {
        let known = module.known_at_load();
        Self {
            products: options.matmul_format(),
            values: options.value_format(),
            array_rows,
            rounder: Rounder::new(rounding, Rng::new(seed, 0x726f_756e_6469_6e67)),
            at_load: Rounder::new(Rounding::Rne, Rng::from_seed(0)),
            known_at_load: known.iter_enumerated().filter(|(_, known)| **known).map(|(id, _)| id).collect(),
            casts: FxHashMap::default(),
        }
    }

    fn cast(&mut self, format: FloatFormat, at_load: bool, value: &Rc<Tensor>) -> Rc<Tensor> {
        if format == FloatFormat::Fp32 || value.shape().dtype != DType::F32 {
            return Rc::clone(value);
        }
        let rounder = if at_load { &mut self.at_load } else { &mut self.rounder };
        let mut cast = Rc::clone(value);
        // Copies the values only where another owner needs them uncast.
        Rc::make_mut(&mut cast).round_values(format, rounder);
        cast
    }
}

impl Arithmetic for DeviceArithmetic {
    fn accumulation(&self) -> Accumulation {
        Accumulation::Tiled(self.array_rows)
    }

    fn product_operand(&mut self, id: InstrId, value: &Rc<Tensor>) -> Rc<Tensor> {
        if let Some(cast) = self.casts.get(&id) {
            return Rc::clone(cast);
        }
        let cast = self.cast(self.products, self.known_at_load.contains(&id), value);
        if !Rc::ptr_eq(&cast, value) {
            self.casts.insert(id, Rc::clone(&cast));
        }
        cast
    }

    fn store(&mut self, place: Place, instruction: &HloInstruction, value: Rc<Tensor>) -> Rc<Tensor> {
        if place.is_result || !makes_values(&instruction.opcode) {
            return value;
        }
        let mut value = value;
        let at_load = place.known_at_load || matches!(instruction.opcode, Opcode::Constant(_));
        if self.values != FloatFormat::Fp32 {
            value = self.cast(self.values, at_load, &value);
        }
        value
    }

    fn forget(&mut self, id: InstrId) {
        self.casts.remove(&id);
    }
}

/// Whether an instruction gives values that its operands do not contain already.
const fn makes_values(opcode: &Opcode) -> bool {
    !matches!(
        opcode,
        Opcode::Transpose { .. }
            | Opcode::Broadcast { .. }
            | Opcode::Reshape
            | Opcode::Slice { .. }
            | Opcode::Concatenate { .. }
            | Opcode::Gather
            | Opcode::DynamicUpdateSlice
            | Opcode::Tuple
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hlo_text::parse;
    use ns_compiler::hlo::{Evaluation, NoWatch};
    use ns_compiler::{AutoCast, CastType};
    use ns_tensor::Shape;

    const PRODUCT: &str = "HloModule m\nENTRY {\n%p0 = f32[1,2] parameter(0), input=0\n\
        %p1 = f32[2,1] parameter(1), weight=w\n%d = f32[1,1] dot(%p0, %p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n\
        ROOT %r = f32[1,1] multiply(%d, %d)\n}";

    fn run(options: &CompileOptions, rounding: Rounding, seed: u64) -> f32 {
        let module = parse(PRODUCT).unwrap();
        let x = Tensor::new(Shape::f32([1, 2]), vec![1.0 + 1.0 / 256.0 + 1.0 / 4096.0, 0.0]).unwrap();
        let w = Tensor::splat(Shape::f32([2, 1]), 1.0).unwrap();
        let mut device = DeviceArithmetic::new(&module, options, 128, rounding, seed);
        let mut evaluation = Evaluation::new(&module, vec![Rc::new(x), Rc::new(w)]);
        evaluation.step(u64::MAX, &mut device, &mut NoWatch).unwrap().unwrap()[0].data()[0]
    }

    fn options(auto_cast: AutoCast, auto_cast_type: CastType) -> CompileOptions {
        CompileOptions { auto_cast, auto_cast_type, ..CompileOptions::default() }
    }

    #[test]
    fn matmult_casts_operands_and_keeps_results() {
        let exact = 1.0f32 + 1.0 / 256.0 + 1.0 / 4096.0;
        let rne = |auto, to| run(&options(auto, to), Rounding::Rne, 0);
        assert_eq!(rne(AutoCast::None, CastType::Bf16), exact * exact);
        let in_bf16 = 1.0 + 1.0 / 128.0;
        assert_eq!(rne(AutoCast::Matmult, CastType::Bf16), in_bf16 * in_bf16);
        let in_fp16 = 1.0 + 1.0 / 256.0;
        assert_eq!(rne(AutoCast::Matmult, CastType::Fp16), in_fp16 * in_fp16);
        assert_eq!(rne(AutoCast::Matmult, CastType::Fp8E4m3), 1.0);
        // The product is stored in the cast type, the result of the model is not.
        assert_eq!(rne(AutoCast::All, CastType::Bf16), in_bf16 * in_bf16);
    }

    #[test]
    fn stochastic_rounding_takes_either_neighbour_and_repeats_for_a_seed() {
        let sr = |seed| run(&options(AutoCast::Matmult, CastType::Bf16), Rounding::Stochastic, seed);
        let results: Vec<f32> = (0..64).map(sr).collect();
        let up = 1.0 + 1.0 / 128.0;
        assert!(results.iter().all(|r| *r == 1.0 || *r == up * up), "{results:?}");
        assert!(results.contains(&1.0) && results.contains(&(up * up)));
        assert_eq!(results[5], sr(5));
    }
}
