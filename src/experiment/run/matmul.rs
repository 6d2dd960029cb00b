//! Square matrix products, measured and simulated.

use super::error::RunError;
use super::network::Network;
use super::operation::ProgramOperation;
use super::suite::SuiteModel;
use crate::micro::{BenchPlan, MatmulCase, MatmulDType, do_bench};
use crate::plan::Accelerator;
use ns_base::Clock;
use ns_compiler::{AutoCast, CastType, CompileOptions, Workflow};
use ns_device::Device;

/// Seed of the matrices.
const SEED: u64 = 1_337;

/// The shortest time of a product, milliseconds: measured on the processor, or the time of a simulated core from start to end.
/// Fails when the accelerator is not supported, or does not have the type.
pub fn matmul_ms(
    case: MatmulCase,
    accelerator: Accelerator,
    plan: BenchPlan,
    clock: &dyn Clock,
) -> Result<f64, RunError> {
    let refused = |what, instead| Err(RunError::NotHere { what, instead });
    match accelerator {
        Accelerator::Cuda | Accelerator::Tpu => refused("this accelerator", "use cpu, trn1, inf2 or trn2"),
        Accelerator::Cpu if case.dtype != MatmulDType::Float32 => {
            refused("a 16-bit product on the processor", "it computes only in float32")
        }
        Accelerator::Cpu => measured_ms(case, plan, clock),
        Accelerator::Trn1 | Accelerator::Inf2 | Accelerator::Trn2 => {
            simulated_ms(case, accelerator.instance().unwrap_or_default())
        }
    }
}

fn model(case: MatmulCase) -> SuiteModel {
    let specification = format!("matmult:n={},loop_count=1,add_bias=false", case.n);
    SuiteModel { name: case.name(), specification, batch_size: Some(1) }
}

fn measured_ms(case: MatmulCase, plan: BenchPlan, clock: &dyn Clock) -> Result<f64, RunError> {
    let network = Network::new(&model(case), None, SEED)?;
    let program = network.bind(network.compile(true)?)?;
    let times = do_bench(&mut ProgramOperation::new(&program), plan, clock)?;
    Ok(times.min_ms().unwrap_or(0.0))
}

fn simulated_ms(case: MatmulCase, instance: &'static str) -> Result<f64, RunError> {
    let on_device = |reason: String| RunError::Device { instance, reason };
    let (auto_cast, auto_cast_type) = match case.dtype {
        MatmulDType::Float32 => (AutoCast::None, CastType::Bf16),
        MatmulDType::Float16 => (AutoCast::All, CastType::Fp16),
        MatmulDType::Bfloat16 => (AutoCast::All, CastType::Bf16),
    };
    let options = CompileOptions { auto_cast, auto_cast_type, ..CompileOptions::default() };
    let device = Device::new(instance, options).map_err(|e| on_device(e.to_string()))?;
    let (specification, workflow) = (model(case).specification, Workflow::Trace);
    let step = device.compilation(&specification, Some(1), workflow).and_then(|c| device.step(&c, workflow));
    Ok(step.map_err(|e| on_device(e.to_string()))?.device().to_ms_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_base::ManualClock;

    #[test]
    fn fewer_bits_are_faster_on_a_core_and_larger_products_slower() {
        let ms = |dtype, n| {
            matmul_ms(MatmulCase { dtype, n }, Accelerator::Trn1, BenchPlan::default(), &ManualClock::default())
        };
        let [f32, bf16] = [MatmulDType::Float32, MatmulDType::Bfloat16].map(|d| ms(d, 1_024).unwrap());
        assert!(bf16 < f32 && ms(MatmulDType::Float32, 512).unwrap() < f32);
        let half = MatmulCase { dtype: MatmulDType::Float16, n: 8 };
        assert!(matmul_ms(half, Accelerator::Cpu, BenchPlan::default(), &ManualClock::default()).is_err());
    }
}
