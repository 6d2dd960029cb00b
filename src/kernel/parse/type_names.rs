//! Types in source code.

use super::ast::{BaseType, TypeName};
use super::cursor::Cursor;
use super::lexer::TokenKind;
use crate::problem::Diagnostic;
use crate::types::Scalar;

/// A type of one word; `None` when the word is not one.
fn word_type(word: &str) -> Option<BaseType> {
    let scalar = match word {
        "bool" => Scalar::Bool,
        "char" | "int8_t" => Scalar::I8,
        "uint8_t" => Scalar::U8,
        "short" | "int16_t" => Scalar::I16,
        "uint16_t" => Scalar::U16,
        "int" | "int32_t" | "signed" => Scalar::I32,
        "unsigned" | "uint32_t" => Scalar::U32,
        "long" | "int64_t" | "ptrdiff_t" | "intptr_t" => Scalar::I64,
        "size_t" | "uint64_t" | "uintptr_t" => Scalar::U64,
        "float" => Scalar::F32,
        "double" => Scalar::F64,
        "void" => return Some(BaseType::Void),
        "auto" => return Some(BaseType::Auto),
        _ => return None,
    };
    Some(BaseType::Scalar(scalar))
}

fn is_qualifier(word: &str) -> bool {
    matches!(word, "const" | "constexpr" | "static" | "inline" | "volatile" | "register")
}

/// Whether a type begins `ahead` tokens ahead.
pub(crate) fn starts_type(c: &Cursor, ahead: usize) -> bool {
    let TokenKind::Word(first) = c.ahead(ahead) else { return false };
    if is_qualifier(first) || word_type(first).is_some() || c.alias(first).is_some() {
        return !c.is_ahead(ahead + 1, "::");
    }
    if !matches!(first.as_str(), "std" | "torch" | "at" | "c10" | "Tensor" | "IntArrayRef") {
        return false;
    }
    let mut at = ahead;
    while c.is_ahead(at + 1, "::") {
        at += 2;
    }
    let TokenKind::Word(last) = c.ahead(at) else { return false };
    matches!(last.as_str(), "Tensor" | "IntArrayRef") || (at > ahead && word_type(last).is_some())
}

/// A type with its qualifiers, pointer and reference. Fails when the text is not a type, or the type is outside the subset.
pub(crate) fn type_name(c: &mut Cursor) -> Result<TypeName, Diagnostic> {
    let pos = c.pos();
    let (base, mut constant) = base_type(c)?;
    while c.accept_word("const") {
        constant = true;
    }
    let pointer = c.accept("*");
    while c.accept_word("const") || c.accept_word("__restrict__") || c.accept_word("__restrict") {}
    if pointer && c.is("*") {
        return Err(c.not_supported("a pointer to a pointer", "use one buffer and compute the offset into it"));
    }
    let reference = c.accept("&");
    if c.is("&&") {
        return Err(c.not_supported("an rvalue reference", "write const T& or T"));
    }
    Ok(TypeName { pos, base, constant, pointer, reference })
}

/// Qualifiers and the type itself, before `*` and `&`.
pub(crate) fn base_type(c: &mut Cursor) -> Result<(BaseType, bool), Diagnostic> {
    let mut constant = false;
    let mut words: Vec<String> = Vec::new();
    while let TokenKind::Word(word) = c.here().clone() {
        if word == "volatile" {
            return Err(
                c.not_supported("volatile", "leave it out: the processors read memory where the kernel says so")
            );
        }
        if is_qualifier(&word) {
            constant |= matches!(word.as_str(), "const" | "constexpr");
            c.next();
            continue;
        }
        let integer_word =
            matches!(word.as_str(), "unsigned" | "signed" | "long" | "short" | "int" | "char" | "double");
        if !words.is_empty() && !integer_word {
            break;
        }
        if words.is_empty() && !integer_word {
            return Ok((qualified_type(c)?, constant | trailing_const(c)));
        }
        words.push(word);
        c.next();
    }
    if words.is_empty() {
        return Err(c.expected("a type"));
    }
    let has = |w: &str| words.iter().any(|x| x == w);
    let unsigned = has("unsigned");
    let scalar = if has("double") {
        if has("long") {
            return Err(c.not_supported("long double", "write double or float"));
        }
        Scalar::F64
    } else if has("char") {
        if unsigned { Scalar::U8 } else { Scalar::I8 }
    } else if has("short") {
        if unsigned { Scalar::U16 } else { Scalar::I16 }
    } else if has("long") {
        if unsigned { Scalar::U64 } else { Scalar::I64 }
    } else if unsigned {
        Scalar::U32
    } else {
        Scalar::I32
    };
    Ok((BaseType::Scalar(scalar), constant))
}

fn trailing_const(c: &mut Cursor) -> bool {
    c.accept_word("const")
}

fn qualified_type(c: &mut Cursor) -> Result<BaseType, Diagnostic> {
    let mut last = match c.here() {
        TokenKind::Word(w) => w.clone(),
        _ => return Err(c.expected("a type")),
    };
    let mut ahead = 0;
    let mut path = last.clone();
    while c.is_ahead(ahead + 1, "::") {
        let TokenKind::Word(w) = c.ahead(ahead + 2) else { break };
        last = w.clone();
        path = format!("{path}::{last}");
        ahead += 2;
    }
    let base = match last.as_str() {
        "Tensor" => BaseType::Tensor,
        "IntArrayRef" => BaseType::IntArrayRef,
        word => match c.alias(word).map(BaseType::Scalar).or_else(|| word_type(word)) {
            Some(base) => base,
            None => {
                return Err(c.not_supported(
                    &format!("the type '{path}'"),
                    "use torch::Tensor, a number type such as float or size_t, a pointer or an array of numbers, or auto",
                ));
            }
        },
    };
    for _ in 0..=ahead {
        c.next();
    }
    Ok(base)
}
