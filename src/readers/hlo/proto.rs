//! `HloModuleProto`, alone or inside a `HloProto`. Field numbers are those of `hlo.proto` and `xla_data.proto` of OpenXLA.

use super::EXPORT_AGAIN;
use super::proto_literal::read_literal;
use super::proto_settings;
use super::raw::{RawComputation, RawInstruction, RawModule, Settings};
use ns_base::convert::usize_to_u32;
use ns_base::wire::{Fields, Wire};
use ns_base::{FxHashMap, Refusal, refuse};
use ns_program::{ArrayType, ElementType, ImportError, Place, Type, check_sizes};

/// Most levels of nested tuple shapes and messages.
const MOST_NESTING: u32 = 64;

/// Fields of a message; an error if they do not fill it.
pub(super) fn fields<'a>(message: &'a [u8], of: &'static str) -> Result<Fields<'a>, ImportError> {
    let mut passed = Fields::of(message);
    let count = passed.by_ref().count();
    if passed.is_done() {
        return Ok(Fields::of(message));
    }
    let place = Place::Byte(passed.offset() as u64);
    let cut_off = "the file is cut off or is not an HloModuleProto: copy the whole file";
    Err(ImportError::at(place, refuse!(instead = cut_off, "field {} of {of} runs past its end", count + 1)))
}

pub(super) fn read_module(bytes: &[u8]) -> Result<RawModule, ImportError> {
    let outer = fields(bytes, "the module")?;
    let has = |n: u32| outer.clone().any(|(field, _)| field == n);
    let module = match outer.clone().find(|(field, _)| *field == 1) {
        Some((_, Wire::Bytes(inner))) if !has(3) || std::str::from_utf8(inner).is_err() => fields(inner, "the module")?,
        _ => outer,
    };
    let (mut name, mut entry_id, mut is_scheduled, mut messages) = (String::new(), 0, false, Vec::new());
    for (field, value) in module {
        match field {
            1 => name = value.text().into_owned(),
            3 => messages.push(value.bytes()),
            6 => entry_id = value.u64(),
            7 => is_scheduled = !value.bytes().is_empty(),
            _ => {}
        }
    }
    if messages.is_empty() {
        let module = "give the HloModuleProto itself, model.hlo_module.pb of the compile cache";
        let none = refuse!(instead = module, "the file holds no computation of an HloModuleProto");
        return Err(none.into());
    }
    let mut computations = Vec::with_capacity(messages.len());
    let mut by_id: FxHashMap<u64, usize> = FxHashMap::default();
    let mut calls = Vec::new();
    for message in messages {
        let (id, computation, called) = read_computation(message)?;
        if by_id.insert(id, computations.len()).is_some() {
            return Err(at(&computation.name, refuse!("two computations have id {id}")));
        }
        calls.push(called);
        computations.push(computation);
    }
    for (computation, called) in computations.iter_mut().zip(calls) {
        link(computation, called, &by_id)?;
    }
    let Some(&entry) = by_id.get(&entry_id) else {
        let none = refuse!(instead = EXPORT_AGAIN, "the entry computation {entry_id} does not exist");
        return Err(none.into());
    };
    Ok(RawModule { name, computations, entry, is_scheduled })
}

/// An error at an instruction or a computation.
pub(super) fn at(name: &str, error: Refusal) -> ImportError {
    ImportError::at(Place::Node(name.chars().take(120).collect()), error.advise(EXPORT_AGAIN))
}

fn link(
    computation: &mut RawComputation,
    called: Vec<Vec<u64>>,
    by_id: &FxHashMap<u64, usize>,
) -> Result<(), ImportError> {
    for (instruction, ids) in computation.instructions.iter_mut().zip(called) {
        for id in ids {
            let callee = by_id.get(&id);
            let missing = || refuse!("it calls computation {id}, which does not exist");
            let callee = callee.ok_or_else(|| at(&instruction.name, missing()))?;
            instruction.called.push(*callee);
        }
        // A loop lists its body first and its condition second.
        if instruction.opcode == "while" && instruction.called.len() == 2 {
            instruction.called.swap(0, 1);
        }
    }
    Ok(())
}

/// Id, body, and the ids of the computations that each instruction calls.
type ReadComputation = (u64, RawComputation, Vec<Vec<u64>>);

fn read_computation(message: &[u8]) -> Result<ReadComputation, ImportError> {
    let (mut name, mut id, mut root_id, mut messages) = (String::new(), 0, 0, Vec::new());
    for (field, value) in fields(message, "a computation")? {
        match field {
            1 => name = value.text().into_owned(),
            2 => messages.push(value.bytes()),
            5 => id = value.u64(),
            6 => root_id = value.u64(),
            _ => {}
        }
    }
    let mut by_id: FxHashMap<u64, u32> = FxHashMap::default();
    let mut instructions = Vec::with_capacity(messages.len());
    let mut called = Vec::with_capacity(messages.len());
    for message in messages {
        let (id, operands, instruction, calls) = read_instruction(message)?;
        let mut instruction = instruction;
        for operand in operands {
            let Some(&position) = by_id.get(&operand) else {
                let missing = refuse!("it reads instruction {operand}, which does not come before it");
                return Err(at(&instruction.name, missing));
            };
            instruction.operands.push(position);
        }
        if by_id.insert(id, usize_to_u32(instructions.len())).is_some() {
            return Err(at(&instruction.name, refuse!("two instructions have id {id}")));
        }
        instructions.push(instruction);
        called.push(calls);
    }
    let Some(&root) = by_id.get(&root_id) else {
        return Err(at(&name, refuse!("its result is instruction {root_id}, which does not exist")));
    };
    Ok((id, RawComputation { name, instructions, root: root as usize }, called))
}

/// Id, ids of operands, the instruction, ids of computations.
type ReadInstruction = (u64, Vec<u64>, RawInstruction, Vec<u64>);

fn read_instruction(message: &[u8]) -> Result<ReadInstruction, ImportError> {
    let (mut name, mut opcode, mut shape, mut literal) = (String::new(), String::new(), None, None);
    let (mut id, mut operands, mut called) = (0, Vec::new(), Vec::new());
    let (mut op_type, mut op_name) = (String::new(), String::new());
    let mut settings = Settings::default();
    for (field, value) in fields(message, "an instruction")? {
        match field {
            1 => name = value.text().into_owned(),
            2 => opcode = value.text().into_owned(),
            3 => shape = Some(value.bytes()),
            7 => (op_type, op_name) = metadata(value.bytes())?,
            8 => literal = Some(value.bytes()),
            35 => id = value.u64(),
            36 => operands.extend(value.varints()),
            38 => called.extend(value.varints()),
            _ => proto_settings::apply(&mut settings, field, value)?,
        }
    }
    let (ty, is_row_major) = match shape {
        Some(shape) => read_shape(shape, &name, MOST_NESTING)?,
        None => return Err(at(&name, refuse!("it has no shape"))),
    };
    if opcode == "constant" {
        let literal = literal.map(|bytes| read_literal(bytes, &ty, &name)).transpose()?;
        settings.literal = literal.flatten().or_else(|| ty.array().cloned().map(super::raw::Literal::Elided));
    }
    // A number of 0 is not written to the file.
    if opcode == "parameter" {
        settings.parameter.get_or_insert(0);
    }
    let place = Place::Node(name.chars().take(120).collect());
    let instruction = RawInstruction {
        name,
        opcode,
        ty,
        is_row_major,
        operands: Vec::new(),
        called: Vec::new(),
        settings,
        op_type,
        op_name,
        place,
    };
    Ok((id, operands, instruction, called))
}

fn metadata(message: &[u8]) -> Result<(String, String), ImportError> {
    let (mut op_type, mut op_name) = (String::new(), String::new());
    for (field, value) in fields(message, "metadata")? {
        match field {
            1 => op_type = value.text().into_owned(),
            2 => op_name = value.text().into_owned(),
            _ => {}
        }
    }
    Ok((op_type, op_name))
}

/// A type of `ShapeProto`, and whether all arrays in it are row-major.
pub(super) fn read_shape(message: &[u8], name: &str, depth: u32) -> Result<(Type, bool), ImportError> {
    let (mut element, mut dims, mut parts, mut is_row_major) = (0, Vec::new(), Vec::new(), true);
    for (field, value) in fields(message, "a shape")? {
        match field {
            2 => element = value.u64(),
            3 => dims.extend(value.varints()),
            4 => {
                let depth = depth.checked_sub(1).ok_or_else(|| at(name, refuse!("tuples nest too deep")))?;
                let (part, straight) = read_shape(value.bytes(), name, depth)?;
                is_row_major &= straight;
                parts.push(part);
            }
            5 => is_row_major &= is_descending(value.bytes())?,
            _ => {}
        }
    }
    let ty = match element {
        13 => Type::Tuple(parts),
        14 | 17 => Type::Token,
        code => match element_type(code) {
            Some(element) => Type::Array(ArrayType::new(element, sizes(&dims, name)?)),
            None => {
                let known = "export the model with a type that XLA had in 2024 or before";
                return Err(at(name, refuse!(instead = known, "element type {code} of xla_data.proto is not known")));
            }
        },
    };
    check_sizes(&ty).map_err(|e| at(name, refuse!("{e}")))?;
    Ok((ty, is_row_major))
}

fn sizes(dims: &[u64], name: &str) -> Result<Vec<u64>, ImportError> {
    match dims.iter().find(|&&d| i64::try_from(d).is_err()) {
        Some(&d) => Err(at(name, refuse!("a dimension has {} elements", d.cast_signed()))),
        None => Ok(dims.to_vec()),
    }
}

fn is_descending(layout: &[u8]) -> Result<bool, ImportError> {
    let mut order: Vec<u64> = Vec::new();
    for (field, value) in fields(layout, "a layout")? {
        if field == 1 {
            order.extend(value.varints());
        }
    }
    Ok(order.iter().rev().enumerate().all(|(i, &d)| d == i as u64))
}

/// `PrimitiveType` of `xla_data.proto`.
fn element_type(code: u64) -> Option<ElementType> {
    use ElementType as E;
    Some(match code {
        1 => E::Pred,
        2 => E::S8,
        3 => E::S16,
        4 => E::S32,
        5 => E::S64,
        6 => E::U8,
        7 => E::U16,
        8 => E::U32,
        9 => E::U64,
        10 => E::F16,
        11 => E::F32,
        12 => E::F64,
        15 => E::C64,
        16 => E::Bf16,
        18 => E::C128,
        19 => E::F8E5M2,
        20 => E::F8E4M3Fn,
        24 => E::F8E5M2Fnuz,
        25 => E::F8E4M3Fnuz,
        21 => E::S4,
        22 => E::U4,
        28 => E::F8E4M3,
        _ => return None,
    })
}
