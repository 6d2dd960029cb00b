//! What a NeuronCore cannot run with any compiler: programs that need it are refused, with the place.

use thiserror::Error;

use super::program::{Op, Program, TripCounts, Type};
use super::{ImportError, Place};

/// What a NeuronCore cannot do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Impossible {
    /// A loop that ends when its data say so.
    #[error("a while loop whose number of turns depends on data")]
    OpenLoop,
    /// A choice between two computations.
    #[error("a branch that is chosen by data")]
    Branch,
    /// A Fourier transform.
    #[error("a Fourier transform (fft)")]
    Fourier,
    /// Numbers with an imaginary part.
    #[error("complex numbers")]
    Complex,
}

impl Impossible {
    /// What to do instead.
    #[must_use]
    pub const fn instead(&self) -> &'static str {
        match self {
            Self::OpenLoop => {
                "NeuronCores run loops of a fixed length: use a for loop or a scan with a constant length"
            }
            Self::Branch => "NeuronCores have no branches: compute both sides and select between them",
            Self::Fourier => "NeuronCores have none: write it as a product with a matrix, or keep it on the host",
            Self::Complex => "NeuronCores have none: keep real and imaginary parts apart",
        }
    }
}

/// An error at the first instruction that a NeuronCore cannot run.
pub(super) fn refuse_impossible(program: &Program) -> Result<(), ImportError> {
    let trips = TripCounts::of(program);
    for (id, computation) in program.computations.iter_enumerated() {
        for instruction in computation.instructions.iter() {
            let refused = match &instruction.op {
                Op::While if trips.count(id, instruction).is_none() => Some(Impossible::OpenLoop),
                Op::Conditional => Some(Impossible::Branch),
                Op::Fft { .. } => Some(Impossible::Fourier),
                _ if is_complex(&instruction.ty) => Some(Impossible::Complex),
                _ => None,
            };
            if let Some(refused) = refused {
                let name = instruction.name.chars().take(120).collect();
                return Err(ImportError::at(Place::Node(name), refused));
            }
        }
    }
    Ok(())
}

fn is_complex(ty: &Type) -> bool {
    match ty {
        Type::Array(array) => array.element.is_complex(),
        Type::Tuple(parts) => parts.iter().any(is_complex),
        Type::Token => false,
    }
}
