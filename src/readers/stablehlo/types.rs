//! Types of MLIR: `tensor<4x?xf32>`, `tuple<..>`, `!stablehlo.token`.

use super::parse::NOT_EDITED;
use super::syntax::OpenType;
use crate::lexer::{Lexer, TokenKind};
use ns_base::convert::i64_to_u64;
use ns_base::{Refusal, refuse};
use ns_program::{ArrayType, ElementType, ImportError, Type, check_sizes};

/// Most levels of nested tuples.
const MOST_NESTING: u32 = 64;

pub(super) fn read_type(lexer: &mut Lexer<'_>) -> Result<OpenType, ImportError> {
    nested(lexer, MOST_NESTING)
}

fn nested(lexer: &mut Lexer<'_>, depth: u32) -> Result<OpenType, ImportError> {
    let token = lexer.next();
    match (token.kind, token.text) {
        (TokenKind::Word, "tensor" | "memref") => {
            let at = lexer.peek().start;
            let text = lexer.group()?;
            let inner = text.strip_prefix('<').and_then(|t| t.strip_suffix('>'));
            let ty = inner.ok_or_else(|| refuse!("a type has no brackets")).and_then(tensor);
            ty.map_err(|e| lexer.error_at(at, e.advise(NOT_EDITED)))
        }
        (TokenKind::Word, "tuple") => {
            let Some(depth) = depth.checked_sub(1) else {
                return Err(lexer.error_at(token.start, refuse!(instead = NOT_EDITED, "tuples nest too deep")));
            };
            lexer.expect('<', "a tuple's type")?;
            let mut parts = Vec::new();
            while !lexer.take('>') {
                parts.push(nested(lexer, depth)?.ty);
                lexer.take(',');
            }
            Ok(OpenType { ty: Type::Tuple(parts), open: Vec::new() })
        }
        (TokenKind::Name, "!stablehlo.token" | "!mhlo.token" | "!chlo.token") => {
            Ok(OpenType { ty: Type::Token, open: Vec::new() })
        }
        (TokenKind::Word, word) => match element(word) {
            Some(element) => Ok(OpenType { ty: Type::Array(ArrayType::new(element, [])), open: Vec::new() }),
            None => Err(lexer.unexpected(token, "a type that is known")),
        },
        _ => Err(lexer.unexpected(token, "a type")),
    }
}

/// An array, unless it is too large.
pub(crate) fn array(element: ElementType, dims: Vec<u64>, open: Vec<usize>) -> Result<OpenType, Refusal> {
    let ty = Type::Array(ArrayType::new(element, dims));
    check_sizes(&ty)?;
    Ok(OpenType { ty, open })
}

/// The text between the brackets of `tensor<4x?xf32, encoding>`.
pub(super) fn tensor(text: &str) -> Result<OpenType, Refusal> {
    let text = text.split_once(',').map_or(text, |(head, _)| head).trim();
    let (mut dims, mut open, mut rest) = (Vec::new(), Vec::new(), text);
    while let Some((size, after)) = rest.split_once('x') {
        if size == "?" {
            open.push(dims.len());
            dims.push(1);
        } else if size.bytes().all(|b| b.is_ascii_digit()) && !size.is_empty() {
            let size: i64 = size.parse().map_err(|_| refuse!("the size {size} is beyond 63 bits"))?;
            dims.push(i64_to_u64(size));
        } else {
            break;
        }
        rest = after;
    }
    let start = || text.chars().take(60).collect::<String>();
    let element =
        element(rest).ok_or_else(|| refuse!("tensor<{}> is of an element type that is not known", start()))?;
    array(element, dims, open)
}

/// The element type with a name in MLIR.
pub(crate) fn element(name: &str) -> Option<ElementType> {
    use ElementType as E;
    Some(match name.trim() {
        "i1" => E::Pred,
        "i4" | "si4" => E::S4,
        "i8" | "si8" => E::S8,
        "i16" | "si16" => E::S16,
        "i32" | "si32" => E::S32,
        "i64" | "si64" | "index" => E::S64,
        "ui4" => E::U4,
        "ui8" => E::U8,
        "ui16" => E::U16,
        "ui32" => E::U32,
        "ui64" => E::U64,
        "f8E4M3FN" => E::F8E4M3Fn,
        "f8E4M3" => E::F8E4M3,
        "f8E5M2" => E::F8E5M2,
        "f8E4M3FNUZ" => E::F8E4M3Fnuz,
        "f8E5M2FNUZ" => E::F8E5M2Fnuz,
        "f16" => E::F16,
        "bf16" => E::Bf16,
        "f32" => E::F32,
        "f64" => E::F64,
        "complex<f32>" => E::C64,
        "complex<f64>" => E::C128,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensors_of_all_kinds() {
        let read = |text: &str| read_type(&mut Lexer::with_angles(text)).map(|t| (t.ty.to_string(), t.open));
        assert_eq!(read("tensor<4x16xf32>"), Ok(("f32[4,16]".to_owned(), vec![])));
        assert_eq!(read("tensor<?x32xcomplex<f32>>"), Ok(("c64[1,32]".to_owned(), vec![0])));
        assert_eq!(read("tensor<i1>"), Ok(("pred[]".to_owned(), vec![])));
        assert_eq!(read("tensor<?xf32, #stablehlo.bounds<8>>"), Ok(("f32[1]".to_owned(), vec![0])));
        assert_eq!(read("tuple<tensor<2xui8>, !stablehlo.token>"), Ok(("(u8[2], token[])".to_owned(), vec![])));
        assert!(read("tensor<4xf33>").is_err() && read("tensor<99999999999x99999999999xf32>").is_err());
        assert!(read(&"tuple<".repeat(9999)).is_err());
    }
}
