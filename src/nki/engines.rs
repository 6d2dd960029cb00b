//! Which engine runs what two of them can.

use ns_base::SimTime;
use ns_base::convert::{f64_to_u64, u64_to_f64};
use ns_machine::cost::{CostTable, KernelWork, instruction_cost, kernel_cycles};
use ns_machine::isa::{Engine, KernelOpcode, Op};

use crate::kernel::{Action, Choice, Kernel};

/// The time for which an instruction would hold an engine.
fn time_on(costs: &CostTable, action: &Action, engine: Engine) -> SimTime {
    let Action::Compute { opcode, free, is_narrow, in_psum, has_gaps, .. } = *action else { return SimTime::ZERO };
    let cycles = kernel_cycles(costs, &KernelWork { engine, opcode, free, is_narrow, in_psum, has_gaps });
    instruction_cost(costs, engine, &Op::Kernel { opcode, free, cycles }).interval
}

/// Chooses an engine for every instruction. Copies and products with scalars stay on the vector engine while the tensor engine has more to
/// do, at its rate for 16 bits; else so many go to the scalar engine that both have as much to do.
pub(crate) fn choose(kernel: &mut Kernel, costs: &CostTable, spread: bool) {
    let (mut vector, mut scalar, mut tensor) = (SimTime::ZERO, SimTime::ZERO, SimTime::ZERO);
    let (mut open_vector, mut open_scalar) = (SimTime::ZERO, SimTime::ZERO);
    for item in &kernel.items {
        let Action::Compute { choice, free, opcode, .. } = item.action else { continue };
        match choice {
            Choice::Only(Engine::Vector) => vector += time_on(costs, &item.action, Engine::Vector),
            Choice::Only(Engine::Scalar) => scalar += time_on(costs, &item.action, Engine::Scalar),
            Choice::Only(Engine::Tensor) => {
                let op = Op::Kernel { opcode: KernelOpcode::Matmul, free, cycles: free.max(64) };
                let _ = opcode;
                tensor += instruction_cost(costs, Engine::Tensor, &op).interval;
            }
            Choice::Only(Engine::GpSimd) => {}
            Choice::VectorOrScalar => {
                open_vector += time_on(costs, &item.action, Engine::Vector);
                open_scalar += time_on(costs, &item.action, Engine::Scalar);
            }
        }
    }
    let ns = |time: SimTime| u64_to_f64(time.0);
    let to_scalar = match spread && vector + open_vector > tensor {
        true => (ns(vector) + ns(open_vector) - ns(scalar)) / (ns(open_vector) + ns(open_scalar)).max(1.0),
        false => 0.0,
    };
    // Of each thousand, as evenly as it goes.
    let share = f64_to_u64(to_scalar.clamp(0.0, 1.0) * 1_000.0);
    let mut rest = 0;
    for item in &mut kernel.items {
        if let Action::Compute { choice: choice @ Choice::VectorOrScalar, .. } = &mut item.action {
            rest += share;
            let is_scalar = rest >= 1_000;
            rest -= if is_scalar { 1_000 } else { 0 };
            *choice = Choice::Only(if is_scalar { Engine::Scalar } else { Engine::Vector });
        }
    }
}
