//! `LiteralProto`: numbers of constants.

use super::proto::{at, fields};
use super::raw::Literal;
use ns_base::refuse;
use ns_base::wire::{Fields, Wire};
use ns_program::{ArrayType, ElementType, ImportError, Numbers, Type, numbers_of_bytes};

/// Reads a literal of a type; `None` if the numbers of an array are missing.
pub(super) fn read_literal(message: &[u8], ty: &Type, name: &str) -> Result<Option<Literal>, ImportError> {
    let all = fields(message, "a literal")?;
    match ty {
        Type::Token => Ok(Some(Literal::Tuple(Vec::new()))),
        Type::Array(array) => read_array(all, array, name),
        Type::Tuple(parts) => {
            let messages: Vec<&[u8]> = all.filter(|(field, _)| *field == 10).map(|(_, v)| v.bytes()).collect();
            if messages.len() != parts.len() {
                return Err(at(name, refuse!("a literal of {ty} holds {} values", messages.len())));
            }
            let mut literals = Vec::new();
            for (part, message) in parts.iter().zip(messages) {
                match read_literal(message, part, name)? {
                    Some(literal) => literals.push(literal),
                    None => return Ok(None),
                }
            }
            Ok(Some(Literal::Tuple(literals)))
        }
    }
}

/// The field that holds numbers of a type.
const fn field_of(element: ElementType) -> u32 {
    match element {
        ElementType::Pred => 2,
        ElementType::U8 => 3,
        ElementType::S32 => 4,
        ElementType::S64 => 5,
        ElementType::U32 => 6,
        ElementType::U64 => 7,
        ElementType::F32 => 8,
        ElementType::F64 => 9,
        ElementType::F16 => 11,
        ElementType::C64 => 12,
        ElementType::Bf16 => 13,
        ElementType::S8 => 15,
        ElementType::U16 => 16,
        ElementType::S16 => 17,
        ElementType::C128 => 18,
        ElementType::F8E5M2 => 19,
        ElementType::F8E4M3Fn => 20,
        ElementType::F8E5M2Fnuz => 24,
        ElementType::F8E4M3Fnuz => 25,
        ElementType::S4 => 21,
        ElementType::U4 => 22,
        ElementType::F8E4M3 => 28,
    }
}

fn read_array(all: Fields<'_>, ty: &ArrayType, name: &str) -> Result<Option<Literal>, ImportError> {
    let wanted = field_of(ty.element);
    let values = all.filter(|(field, _)| *field == wanted).map(|(_, value)| value);
    let mut numbers: Option<Numbers> = None;
    for value in values {
        let more =
            read_numbers(ty.element, value).ok_or_else(|| at(name, refuse!("its literal ends inside a number")))?;
        numbers = Some(match numbers.take() {
            None => more,
            Some(before) => concatenate(before, more),
        });
    }
    let Some(numbers) = numbers else {
        let empty = if ty.element.is_float() { Numbers::Real(Vec::new()) } else { Numbers::Whole(Vec::new()) };
        return Ok((ty.elements() == Some(0)).then(|| Literal::new(ty.clone(), empty)));
    };
    if ty.elements() != Some(numbers.len() as u64) {
        return Err(at(name, refuse!("a literal of {ty} holds {} numbers", numbers.len())));
    }
    Ok(Some(Literal::new(ty.clone(), numbers)))
}

/// Numbers in one occurrence of the field: packed, as bytes, or a single number.
fn read_numbers(element: ElementType, value: Wire<'_>) -> Option<Numbers> {
    use ElementType as E;
    match (element, value) {
        (E::Pred | E::S32 | E::S64 | E::U32 | E::U64, _) => {
            Some(Numbers::Whole(value.varints().map(|n| element.whole_of_bits(n)).collect()))
        }
        (E::F32 | E::F64, Wire::Fixed32(_) | Wire::Fixed64(_)) => Some(Numbers::Real(vec![value.f64()])),
        (E::C64 | E::C128, Wire::Bytes(bytes)) => numbers_of_bytes(element, bytes),
        (_, Wire::Bytes(bytes)) => numbers_of_bytes(element, bytes),
        _ => None,
    }
}

fn concatenate(before: Numbers, more: Numbers) -> Numbers {
    match (before, more) {
        (Numbers::Real(mut a), Numbers::Real(b)) => {
            a.extend(b);
            Numbers::Real(a)
        }
        (Numbers::Whole(mut a), Numbers::Whole(b)) => {
            a.extend(b);
            Numbers::Whole(a)
        }
        (Numbers::Complex(mut a), Numbers::Complex(b)) => {
            a.extend(b);
            Numbers::Complex(a)
        }
        (before, _) => before,
    }
}
