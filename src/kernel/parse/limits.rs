//! `std::numeric_limits<T>::max()` and similar functions, replaced by constants.

use super::ast::{BaseType, SyntaxExpr, SyntaxExprKind, TypeName};
use super::cursor::{Cursor, node};
use super::type_names::type_name;
use crate::problem::{Diagnostic, Pos, Problem};
use crate::types::Scalar;

/// Reads from `<` on; the name before it has been read. Fails when the type is not a number, or the function is another one.
pub(super) fn numeric_limits(c: &mut Cursor, pos: Pos) -> Result<SyntaxExpr, Diagnostic> {
    c.expect("<", "after std::numeric_limits")?;
    let ty = type_name(c)?;
    c.expect(">", "after the type of std::numeric_limits")?;
    c.expect("::", "after std::numeric_limits<T>")?;
    let name = c.name("max, min, lowest, epsilon, infinity or quiet_NaN")?;
    c.expect("(", "after the name")?;
    c.expect(")", "after '('")?;
    let value = match (ty.base, name.as_str()) {
        (BaseType::Scalar(of @ (Scalar::F32 | Scalar::F64)), _) => of_float(of, &name),
        (BaseType::Scalar(of), "max") => of.range().map(|(_, high)| SyntaxExprKind::Int(bits(high), Scalar::U64)),
        (BaseType::Scalar(of), "min" | "lowest") => {
            of.range().map(|(low, _)| SyntaxExprKind::Int(bits(low), Scalar::U64))
        }
        _ => None,
    };
    let Some(value) = value else {
        let what = format!("std::numeric_limits<...>::{name}()");
        return Err(Diagnostic::new(pos, Problem::not_supported(&what, "write the number")));
    };
    // The same bits in the type itself, because the smallest integer has no literal.
    let value = node(pos, value)?;
    node(pos, SyntaxExprKind::Cast(TypeName { pointer: false, reference: false, ..ty }, Box::new(value)))
}

/// The bits of the lowest or highest integer of a type, as a 64-bit number.
fn bits(end: i128) -> u64 {
    u64::try_from(end).unwrap_or_else(|_| i64::try_from(end).unwrap_or(i64::MIN).cast_unsigned())
}

fn of_float(of: Scalar, name: &str) -> Option<SyntaxExprKind> {
    let single = of == Scalar::F32;
    let value = match name {
        "max" | "lowest" if single => f64::from(f32::MAX),
        "max" | "lowest" => f64::MAX,
        "min" if single => f64::from(f32::MIN_POSITIVE),
        "min" => f64::MIN_POSITIVE,
        "epsilon" if single => f64::from(f32::EPSILON),
        "epsilon" => f64::EPSILON,
        "infinity" => f64::INFINITY,
        "quiet_NaN" => f64::NAN,
        _ => return None,
    };
    Some(SyntaxExprKind::Float(if name == "lowest" { -value } else { value }, of))
}
