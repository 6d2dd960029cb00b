//! Checks that a program is valid: operands come before their users, called computations exist, and types follow from their operands.

use thiserror::Error;

use super::infer::{Inference, Signature};
use super::{ArrayType, Computation, Instruction, Op, Program, Type};
use crate::{ImportError, Place};
use ns_base::Idx;
use ns_base::Refusal;

/// Why a program does not hold together, in words that follow the name of an instruction or a computation.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// A number of its entry that no computation has.
    #[error("the program has no entry computation")]
    NoEntry,
    /// A parameter of another type than its entry takes.
    #[error("parameter {number} of the program is {listed} and its entry takes {taken}")]
    ParameterType {
        /// The parameter's number.
        number: usize,
        /// The type that the program lists.
        listed: ArrayType,
        /// The type that the entry takes.
        taken: Type,
    },
    /// Another number of parameters than its entry takes.
    #[error("the program lists {listed} parameters and its entry takes {taken}")]
    ParameterCount {
        /// How many the program lists.
        listed: usize,
        /// How many the entry takes.
        taken: usize,
    },
    /// An operand behind its user, by its name if there is one.
    #[error("it reads {}, which comes after it", .0.as_deref().unwrap_or("an instruction that does not exist"))]
    ReadsLater(Option<String>),
    /// A computation that is called before it is defined.
    #[error("it calls a computation that is not defined before its own")]
    CallsLater,
    /// A computation whose result is none of its instructions.
    #[error("the computation has no result")]
    NoResult,
    /// A computation that leaves a number of a parameter out.
    #[error("the computation has no parameter {0}")]
    NoParameter(usize),
    /// A computation that has a number of a parameter twice.
    #[error("the computation has parameter {0} twice")]
    ParameterTwice(usize),
    /// A number of a parameter beyond all instructions.
    #[error("it is parameter {number} of a computation of {most} instructions")]
    ParameterNumber {
        /// The parameter's number.
        number: usize,
        /// Instructions of the computation.
        most: usize,
    },
    /// A constant of another number of elements than its type.
    #[error("a constant of {ty} holds {numbers} numbers")]
    Constant {
        /// Its type.
        ty: ArrayType,
        /// Its numbers.
        numbers: usize,
    },
    /// Another type than the operands give.
    #[error("its operands give {given} and the file declares {declared}")]
    Declared {
        /// What the operands give.
        given: Type,
        /// What the file says.
        declared: Type,
    },
    /// An array whose elements 64 bits do not count.
    #[error(transparent)]
    Size(#[from] TooManyElements),
    /// Operands that give no result.
    #[error(transparent)]
    Infer(#[from] Refusal),
}

/// Checks a program.
///
/// # Errors
/// At the first instruction that reads a later instruction, calls a later computation, or declares a type that differs from what its
/// operands give.
pub fn verify(program: &Program) -> Result<(), ImportError> {
    let mut signatures: Vec<Signature> = Vec::with_capacity(program.computations.len());
    for computation in program.computations.iter() {
        let signature = verify_computation(computation, &signatures)?;
        signatures.push(signature);
    }
    let Some(entry) = signatures.get(program.entry.index()) else {
        return Err(ImportError::of_file(VerifyError::NoEntry));
    };
    for (i, (declared, parameter)) in program.parameters.iter().zip(&entry.parameters).enumerate() {
        if Type::Array(declared.ty.clone()) != *parameter {
            let (listed, taken) = (declared.ty.clone(), parameter.clone());
            return Err(at(&declared.name, VerifyError::ParameterType { number: i, listed, taken }));
        }
    }
    if program.parameters.len() != entry.parameters.len() {
        let (listed, taken) = (program.parameters.len(), entry.parameters.len());
        return Err(ImportError::of_file(VerifyError::ParameterCount { listed, taken }));
    }
    Ok(())
}

fn at(name: &str, error: impl Into<VerifyError>) -> ImportError {
    ImportError::at(Place::Node(shown(name)), error.into())
}

/// A name, shortened if it is very long.
fn shown(name: &str) -> String {
    const MOST: usize = 120;
    match name.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", &name[..end]),
        None => name.to_owned(),
    }
}

fn verify_computation(computation: &Computation, before: &[Signature]) -> Result<Signature, ImportError> {
    let mut parameters: Vec<Option<Type>> = Vec::new();
    for (id, instruction) in computation.instructions.iter_enumerated() {
        if let Some(late) = instruction.operands.iter().find(|o| o.index() >= id.index()) {
            let name = computation.instructions.get(*late).map(|i| shown(&i.name));
            return Err(at(&instruction.name, VerifyError::ReadsLater(name)));
        }
        if let Op::Parameter(number) = instruction.op {
            place_parameter(&mut parameters, number, instruction, computation.instructions.len())?;
        }
        verify_instruction(instruction, computation, before)?;
    }
    let Some(root) = computation.instructions.get(computation.root) else {
        return Err(at(&computation.name, VerifyError::NoResult));
    };
    let mut taken = Vec::with_capacity(parameters.len());
    for (i, parameter) in parameters.into_iter().enumerate() {
        taken.push(parameter.ok_or_else(|| at(&computation.name, VerifyError::NoParameter(i)))?);
    }
    Ok(Signature { parameters: taken, result: root.ty.clone() })
}

fn place_parameter(
    parameters: &mut Vec<Option<Type>>,
    number: u32,
    instruction: &Instruction,
    most: usize,
) -> Result<(), ImportError> {
    let number = number as usize;
    if number >= most {
        return Err(at(&instruction.name, VerifyError::ParameterNumber { number, most }));
    }
    if parameters.len() <= number {
        parameters.resize(number + 1, None);
    }
    if parameters[number].replace(instruction.ty.clone()).is_some() {
        return Err(at(&instruction.name, VerifyError::ParameterTwice(number)));
    }
    Ok(())
}

fn verify_instruction(
    instruction: &Instruction,
    computation: &Computation,
    before: &[Signature],
) -> Result<(), ImportError> {
    check_sizes(&instruction.ty).map_err(|e| at(&instruction.name, e))?;
    if let Op::Constant(value) = &instruction.op
        && value.ty.elements() != Some(value.numbers.len() as u64)
    {
        let (ty, numbers) = (value.ty.clone(), value.numbers.len());
        return Err(at(&instruction.name, VerifyError::Constant { ty, numbers }));
    }
    let operands: Vec<&Type> = instruction.operands.iter().map(|&o| &computation.instructions[o].ty).collect();
    let mut called = Vec::with_capacity(instruction.called.len());
    for id in &instruction.called {
        let callee = before.get(id.index());
        called.push(callee.ok_or_else(|| at(&instruction.name, VerifyError::CallsLater))?);
    }
    let inference = Inference { op: &instruction.op, operands: &operands, called: &called, declared: &instruction.ty };
    let result = inference.result().map_err(|e| at(&instruction.name, e))?;
    if result != instruction.ty {
        let declared = instruction.ty.clone();
        return Err(at(&instruction.name, VerifyError::Declared { given: result, declared }));
    }
    Ok(())
}

/// An error for an array with more elements than 64 bits count.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0} has more elements than 64 bits count")]
pub struct TooManyElements(ArrayType);

/// Checks that 64 bits count the elements of an array.
pub(crate) fn check_sizes(ty: &Type) -> Result<(), TooManyElements> {
    match ty {
        Type::Token => Ok(()),
        Type::Tuple(parts) => parts.iter().try_for_each(check_sizes),
        Type::Array(array) => match array.elements().and_then(|n| n.checked_mul(array.element.bits())) {
            Some(_) => Ok(()),
            None => Err(TooManyElements(array.clone())),
        },
    }
}
