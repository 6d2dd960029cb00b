//! What a NeuronCore cannot run with any compiler: programs that need it are refused, with the place.

use ns_base::{Refusal, refuse};
use ns_program::{ImportError, Instruction, Op, Place, Program, TripCounts, Type};

/// An error at the first instruction that a NeuronCore cannot run.
pub(super) fn refuse_impossible(program: &Program) -> Result<(), ImportError> {
    let trips = TripCounts::of(program);
    for (id, computation) in program.computations.iter_enumerated() {
        for instruction in computation.instructions.iter() {
            let is_open = match instruction.op {
                Op::While => trips.count(id, instruction).is_none(),
                Op::Conditional => trips.branch(id, instruction).is_none(),
                _ => false,
            };
            if let Some(refused) = impossible(instruction, is_open) {
                let name = instruction.name.chars().take(120).collect();
                return Err(ImportError::at(Place::Node(name), refused));
            }
        }
    }
    Ok(())
}

/// Why an instruction cannot run; `is_open` says that data decides about its turns or its branch.
fn impossible(instruction: &Instruction, is_open: bool) -> Option<Refusal> {
    Some(match &instruction.op {
        Op::While if is_open => refuse!(
            instead = "NeuronCores run loops of a fixed length: use a for loop or a scan with a constant length",
            "a while loop whose number of turns depends on data"
        ),
        Op::Conditional if is_open => refuse!(
            instead = "NeuronCores have no branches: compute both sides and select between them",
            "a branch that is chosen by data"
        ),
        Op::Fft { .. } => refuse!(
            instead = "NeuronCores have none: write it as a product with a matrix, or keep it on the host",
            "a Fourier transform (fft)"
        ),
        _ if is_complex(&instruction.ty) => {
            refuse!(instead = "NeuronCores have none: keep real and imaginary parts apart", "complex numbers")
        }
        _ => return None,
    })
}

fn is_complex(ty: &Type) -> bool {
    match ty {
        Type::Array(array) => array.element.is_complex(),
        Type::Tuple(parts) => parts.iter().any(is_complex),
        Type::Token => false,
    }
}
