//! The values that a model file computes: with the weights of its file or with drawn ones, exactly or with the casts
//! of a core.

use super::kernels::OperatorKernels;
use super::library::{ModelFileRef, ModelLibrary};
use ns_base::convert::{f64_to_f32, i64_to_f64, u64_to_f64, u64_to_i64, u64_to_usize};
use ns_base::{Digest, Rng};
use ns_base::{Refusal, refuse};
use ns_compiler::CompileOptions;
use ns_container::ByteSource;
use ns_program::eval::{Arithmetic, Casts, check_calls, evaluate_with};
use ns_program::{ArrayType, Numbers, Program, Role, Value};
use ns_program::{ImportedModel, load_parameter};
use ns_tensor::{Shape, Tensor};

/// Limit on the operations of a model's products, in millions: some seconds.
pub const MAX_VALUE_MFLOP: u64 = 8_000;

/// Limit on the elements computed.
const BUDGET: u64 = 1 << 35;

/// Limit on the elements of a weight that is drawn.
const MOST_DRAWN: u64 = 128 << 20;

/// A model file with values for all of its parameters.
#[derive(Clone, Debug)]
pub struct ModelFileValues {
    program: Program,
    parameters: Vec<Value>,
    drawn: u64,
    flops: u64,
    kernels: OperatorKernels,
    output_names: Vec<String>,
}

impl ModelFileValues {
    /// The model that a text names, for a batch size or its own. Fails when it is not open, is too large, or has a parameter that
    /// cannot be drawn.
    pub fn of(models: &ModelLibrary, model: &str, batch_size: Option<u64>, seed: u64) -> Result<Self, Refusal> {
        let spec: ModelFileRef = model.parse()?;
        let found = models.instantiate(&spec, batch_size)?;
        let file = models.find(&spec)?;
        Ok(Self::of_imported(&found.imported, file.bytes(), seed)?
            .with_kernels(OperatorKernels::of(&spec.settings.assumed)?))
    }

    /// A model that was read. Its inputs, and weights that its file does not contain, are drawn. Floating-point arrays of several
    /// dimensions come from a normal distribution (for weights narrow enough that values keep their magnitude). Floating-point rows are
    /// between a half and one and a half, so that a variance is above zero. Whole numbers are 0 or 1, which are valid indices of every
    /// table. Fails when it is too large, weights run past the end of the file, or an array cannot be drawn.
    pub fn of_imported(imported: &ImportedModel, bytes: &dyn ByteSource, seed: u64) -> Result<Self, Refusal> {
        let flops = imported.inspection.flops;
        if flops / 1_000_000 > MAX_VALUE_MFLOP {
            return Err(refuse!(
                "it takes {} MFLOP; values of a model file are computed here one operation after another, up to {MAX_VALUE_MFLOP} MFLOP: use a smaller batch or smaller sizes (--dim)",
                flops / 1_000_000
            ));
        }
        let (mut parameters, mut drawn) = (Vec::new(), 0);
        for parameter in &imported.program.parameters {
            let from_input = if parameter.role == Role::Input {
                None
            } else {
                load_parameter(bytes, parameter).map_err(|e| Refusal::new(e.to_string()))?
            };
            drawn += u64::from(from_input.is_none() && parameter.role != Role::Input);
            let value =
                from_input.or_else(|| draw(seed, &parameter.name, &parameter.ty, parameter.role == Role::Input));
            let not_drawn = || {
                refuse!(
                    "{name} is {ty}: arrays of this type are not drawn; give --inputs X.npz",
                    name = parameter.name,
                    ty = parameter.ty
                )
            };
            parameters.push(value.ok_or_else(not_drawn)?);
        }
        let output_names = imported.inspection.outputs.iter().map(|output| output.name.clone()).collect();
        let kernels = OperatorKernels::default();
        Ok(Self { program: imported.program.clone(), parameters, drawn, flops, kernels, output_names })
    }

    /// The same, with kernels for operators that have no known meaning.
    pub fn with_kernels(self, kernels: OperatorKernels) -> Self {
        Self { kernels, ..self }
    }

    /// Weights and buffers that are drawn, because the file does not contain them.
    pub const fn drawn_weights(&self) -> u64 {
        self.drawn
    }

    /// Floating point operations of its products.
    pub const fn flops(&self) -> u64 {
        self.flops
    }

    /// Names of its results, in order, as far as its file has them.
    pub fn output_names(&self) -> &[String] {
        &self.output_names
    }

    /// Sizes of its inputs, in order.
    pub fn input_dims(&self) -> Vec<Vec<u64>> {
        self.input_places().map(|n| self.parameters[n].ty.dims.clone()).collect()
    }

    /// Its inputs, in order. Fails when an input is not real.
    pub fn inputs(&self) -> Result<Vec<Tensor>, Refusal> {
        (0..).zip(self.input_places()).map(|(index, n)| tensor(index, &self.parameters[n])).collect()
    }

    fn input_places(&self) -> impl Iterator<Item = usize> + '_ {
        let inputs = self.program.parameters.iter().enumerate().filter(|(_, p)| p.role == Role::Input);
        inputs.map(|(n, _)| n)
    }

    /// The same with these numbers as its first inputs; whole numbers are rounded down.
    pub fn with_inputs(&self, data: &[Vec<f32>]) -> Self {
        let mut with = self.clone();
        let places: Vec<usize> = self.input_places().collect();
        for (n, numbers) in places.into_iter().zip(data) {
            let value = &mut with.parameters[n];
            match &mut value.numbers {
                Numbers::Real(own) => *own = numbers.iter().map(|v| f64::from(*v)).collect(),
                Numbers::Whole(own) => {
                    *own = numbers.iter().map(|v| ns_base::convert::f64_to_i64(libm::floor((*v).into()))).collect();
                }
                Numbers::Complex(_) => {}
            }
        }
        with
    }

    /// Its results, with the casts of a core or exactly. Fails with the operation that is not computed, or the result that is not
    /// real.
    pub fn compute(&self, options: Option<&CompileOptions>) -> Result<Vec<Tensor>, Refusal> {
        let casts = options.map_or(Casts::NONE, casts_of);
        let outside = self.kernels.outside();
        let arithmetic = Arithmetic { casts, outside: Some(&outside) };
        // Before the advice that times are there, which they are not for such a program.
        check_calls(&self.program)?;
        let outputs = evaluate_with(&self.program, self.parameters.clone(), BUDGET, arithmetic)
            .map_err(|e| e.within(|what| format!("{what}; its times are there all the same (bench, profile)")))?
            .outputs;
        outputs.iter().enumerate().map(|(index, value)| tensor(index, value)).collect()
    }
}

/// The casts of a compiler with these options.
pub fn casts_of(options: &CompileOptions) -> Casts {
    Casts { products: options.matmul_format(), values: options.value_format() }
}

fn tensor(index: usize, value: &Value) -> Result<Tensor, Refusal> {
    let data = match &value.numbers {
        Numbers::Real(all) => all.iter().map(|n| f64_to_f32(*n)).collect(),
        Numbers::Whole(all) => all.iter().map(|n| f64_to_f32(i64_to_f64(*n))).collect(),
        Numbers::Complex(_) => {
            return Err(refuse!(
                "value {index} is {}: complex numbers are not compared; give real and imaginary parts as two results",
                value.ty
            ));
        }
    };
    Tensor::new(Shape::f32(value.ty.dims.clone()), data).map_err(|e| Refusal::new(e.to_string()))
}

/// Values for a parameter; `None` for a type or a size that is not drawn.
fn draw(seed: u64, name: &str, ty: &ArrayType, is_input: bool) -> Option<Value> {
    let count = u64_to_usize(ty.elements().filter(|&n| n <= MOST_DRAWN)?);
    let mut rng = Rng::new(seed, Digest::default().number(seed).text("brought").text(name).finish());
    let numbers = if ty.element.is_complex() {
        return None;
    } else if ty.element.is_float() {
        let fan =
            ty.dims.iter().fold(1u64, |n, &d| n.saturating_mul(d)) / ty.dims.iter().copied().min().unwrap_or(1).max(1);
        let width = if is_input { 1.0 } else { 1.0 / libm::sqrt(u64_to_f64(fan.max(1))) };
        let one =
            |rng: &mut Rng| if is_input || ty.dims.len() > 1 { rng.normal_f64() * width } else { 0.5 + rng.unit_f64() };
        Numbers::Real((0..count).map(|_| f64::from(f64_to_f32(one(&mut rng)))).collect())
    } else {
        Numbers::Whole((0..count).map(|_| u64_to_i64(u64::from(rng.next_u32() & 1))).collect())
    };
    Some(Value { ty: ty.clone(), numbers })
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::ModelFileSettings;
    use ns_compiler::{AutoCast, CastType};
    use ns_readers::read_model;

    const PRODUCT: &str = "HloModule m\n\nENTRY main {\n  x = f32[2,8]{1,0} parameter(0)\n  w = f32[8,3]{1,0} parameter(1)\n  \
        ROOT d = f32[2,3]{1,0} dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n";

    fn values(seed: u64) -> ModelFileValues {
        let library = ModelLibrary::new(read_model);
        let bytes = Rc::new(PRODUCT.as_bytes().to_vec());
        let id = library.open("m.hlo", bytes, ModelFileSettings::default()).unwrap().id;
        ModelFileValues::of(&library, &id, None, seed).unwrap()
    }

    #[test]
    fn a_cast_changes_values_a_little_and_a_seed_all_of_them() {
        let values = |seed| self::values(seed);
        let (one, other) = (values(1), values(2));
        assert_eq!((one.drawn_weights(), one.input_dims(), one.flops()), (1, vec![vec![2, 8]], 2 * 2 * 8 * 3));
        let exact = one.compute(None).unwrap().remove(0);
        assert!(exact.same_bits(&values(1).compute(None).unwrap()[0]));
        assert!(!exact.same_bits(&other.compute(None).unwrap()[0]));
        let options =
            |auto_cast, auto_cast_type| CompileOptions { auto_cast, auto_cast_type, ..CompileOptions::default() };
        let far = |to| {
            let cast = one.compute(Some(&options(AutoCast::Matmult, to))).unwrap().remove(0);
            exact.max_abs_difference(&cast).unwrap()
        };
        let none = one.compute(Some(&options(AutoCast::None, CastType::Bf16))).unwrap().remove(0);
        assert!(exact.same_bits(&none));
        assert!(0.0 < far(CastType::Fp16) && far(CastType::Fp16) < far(CastType::Bf16), "{}", far(CastType::Fp16));
        assert!(far(CastType::Bf16) < far(CastType::Fp8E4m3) && far(CastType::Fp8E4m3) < 0.5);
    }

    #[test]
    fn given_inputs_replace_drawn_ones() {
        let values = values(1);
        let zeros = values.with_inputs(&[vec![0.0; 16]]);
        assert!(zeros.compute(None).unwrap()[0].data().iter().all(|v| *v == 0.0));
        assert!(values.compute(None).unwrap()[0].data().iter().any(|v| *v != 0.0));
    }
}
