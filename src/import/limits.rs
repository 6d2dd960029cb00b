//! What a NeuronCore cannot run with any compiler: programs that need it are refused, with the place.

use super::program::{Instruction, Op, Program, TripCounts, Type};
use super::{ImportError, Place};

/// An error at the first instruction that a NeuronCore cannot run.
pub(super) fn refuse_impossible(program: &Program) -> Result<(), ImportError> {
    let trips = TripCounts::of(program);
    for (id, computation) in program.computations.iter_enumerated() {
        for instruction in computation.instructions.iter() {
            let refused = match &instruction.op {
                Op::While if trips.count(id, instruction).is_none() => Some((
                    "a while loop whose number of turns depends on data",
                    "NeuronCores run loops of a fixed length: use a for loop or a scan with a constant length",
                )),
                Op::Conditional => Some((
                    "a branch that is chosen by data",
                    "NeuronCores have no branches: compute both sides and select between them",
                )),
                Op::Fft { .. } => Some((
                    "a Fourier transform (fft)",
                    "NeuronCores have none: write it as a product with a matrix, or keep it on the host",
                )),
                _ if is_complex(&instruction.ty) => {
                    Some(("complex numbers", "NeuronCores have none: keep real and imaginary parts apart"))
                }
                _ => None,
            };
            if let Some((what, instead)) = refused {
                return Err(error(instruction, what, instead));
            }
        }
    }
    Ok(())
}

fn error(instruction: &Instruction, what: &str, instead: &str) -> ImportError {
    ImportError::at(Place::Node(instruction.name.chars().take(120).collect()), what, instead)
}

fn is_complex(ty: &Type) -> bool {
    match ty {
        Type::Array(array) => array.element.is_complex(),
        Type::Tuple(parts) => parts.iter().any(is_complex),
        Type::Token => false,
    }
}
