//! Checks that a program is valid: operands come before their users, called computations exist, and types follow from their operands.

use super::infer::{Inference, Signature};
use super::{Computation, Instruction, Op, Program, Type};
use crate::{ImportError, Place};
use ns_base::{Idx, Refusal, refuse};

/// What to do with a program that contradicts itself.
const DAMAGED: &str = "export the model again; the file was changed or is damaged";

/// Checks a program. Fails at the first instruction that reads a later instruction, calls a later computation, or declares a type
/// that differs from what its operands give.
pub fn verify(program: &Program) -> Result<(), ImportError> {
    let mut signatures: Vec<Signature> = Vec::with_capacity(program.computations.len());
    for computation in program.computations.iter() {
        let signature = verify_computation(computation, &signatures)?;
        signatures.push(signature);
    }
    let Some(entry) = signatures.get(program.entry.index()) else {
        return Err(refuse!(instead = DAMAGED, "the program has no entry computation").into());
    };
    for (i, (declared, parameter)) in program.parameters.iter().zip(&entry.parameters).enumerate() {
        if Type::Array(declared.ty.clone()) != *parameter {
            let (listed, taken) = (declared.ty.clone(), parameter.clone());
            return Err(at(
                &declared.name,
                refuse!("parameter {i} of the program is {listed} and its entry takes {taken}"),
            ));
        }
    }
    if program.parameters.len() != entry.parameters.len() {
        let (listed, taken) = (program.parameters.len(), entry.parameters.len());
        return Err(
            refuse!(instead = DAMAGED, "the program lists {listed} parameters and its entry takes {taken}").into()
        );
    }
    Ok(())
}

fn at(name: &str, error: Refusal) -> ImportError {
    ImportError::at(Place::Node(short_name(name)), error.advise(DAMAGED))
}

/// A name, shortened if it is very long.
fn short_name(name: &str) -> String {
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
            let name = computation.instructions.get(*late).map(|i| short_name(&i.name));
            return Err(at(
                &instruction.name,
                refuse!(
                    "it reads {}, which comes after it",
                    name.as_deref().unwrap_or("an instruction that does not exist")
                ),
            ));
        }
        if let Op::Parameter(number) = instruction.op {
            place_parameter(&mut parameters, number, instruction, computation.instructions.len())?;
        }
        verify_instruction(instruction, computation, before)?;
    }
    let Some(root) = computation.instructions.get(computation.root) else {
        return Err(at(&computation.name, refuse!("the computation has no result")));
    };
    let mut taken = Vec::with_capacity(parameters.len());
    for (i, parameter) in parameters.into_iter().enumerate() {
        taken.push(parameter.ok_or_else(|| at(&computation.name, refuse!("the computation has no parameter {i}")))?);
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
        return Err(at(&instruction.name, refuse!("it is parameter {number} of a computation of {most} instructions")));
    }
    if parameters.len() <= number {
        parameters.resize(number + 1, None);
    }
    if parameters[number].replace(instruction.ty.clone()).is_some() {
        return Err(at(&instruction.name, refuse!("the computation has parameter {number} twice")));
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
        let (ty, numbers) = (&value.ty, value.numbers.len());
        return Err(at(&instruction.name, refuse!("a constant of {ty} holds {numbers} numbers")));
    }
    let operands: Vec<&Type> = instruction.operands.iter().map(|&o| &computation.instructions[o].ty).collect();
    let mut called = Vec::with_capacity(instruction.called.len());
    for id in &instruction.called {
        let callee = before.get(id.index());
        called.push(callee.ok_or_else(|| {
            at(&instruction.name, refuse!("it calls a computation that is not defined before its own"))
        })?);
    }
    let inference = Inference { op: &instruction.op, operands: &operands, called: &called, declared: &instruction.ty };
    let result = inference.result().map_err(|e| at(&instruction.name, e))?;
    if result != instruction.ty {
        let declared = &instruction.ty;
        return Err(at(&instruction.name, refuse!("its operands give {result} and the file declares {declared}")));
    }
    Ok(())
}

/// Checks that 64 bits count the elements of an array.
pub fn check_sizes(ty: &Type) -> Result<(), Refusal> {
    match ty {
        Type::Token => Ok(()),
        Type::Tuple(parts) => parts.iter().try_for_each(check_sizes),
        Type::Array(array) => match array.elements().and_then(|n| n.checked_mul(array.element.bits())) {
            Some(_) => Ok(()),
            None => Err(refuse!("{array} has more elements than 64 bits count")),
        },
    }
}
