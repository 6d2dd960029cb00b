//! Types, literals, windows and other small syntax of HLO text.

use super::raw::{ConvDims, Literal};
use super::text::error_at;
use crate::lexer::{Lexer, TokenKind};
use ns_base::convert::usize_to_i64;
use ns_base::refuse;
use ns_program::{ArrayType, ElementType, ImportError, Numbers, Type, WindowDim, check_sizes, round};

/// Most levels of nested tuples.
const MOST_NESTING: u32 = 64;

/// Reads a type; also returns whether every array in it is row-major.
pub(super) fn read_type(lexer: &mut Lexer<'_>) -> Result<(Type, bool), ImportError> {
    read_nested_type(lexer, MOST_NESTING)
}

fn read_nested_type(lexer: &mut Lexer<'_>, depth: u32) -> Result<(Type, bool), ImportError> {
    let token = lexer.next();
    if token.is('(') {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(
                lexer.error_at(token.start, refuse!(instead = "export the model again", "tuples nest too deep"))
            );
        };
        let (mut parts, mut is_row_major) = (Vec::new(), true);
        while !lexer.take(')') {
            let (part, straight) = read_nested_type(lexer, depth)?;
            parts.push(part);
            is_row_major &= straight;
            if !lexer.take(',') && !lexer.peek().is(')') {
                let next = lexer.next();
                return Err(lexer.unexpected(next, "`,` or `)` of a tuple's type"));
            }
        }
        return Ok((Type::Tuple(parts), is_row_major));
    }
    if token.kind != TokenKind::Word {
        return Err(lexer.unexpected(token, "a type"));
    }
    let (dims, end) = read_dims(lexer)?;
    // A brace after a space begins a computation's body.
    let is_row_major = lexer.peek().start != end || read_layout(lexer)?;
    match token.text {
        "token" => Ok((Type::Token, true)),
        "opaque" => Ok((Type::Token, true)),
        name => match ElementType::from_name(name) {
            Some(element) => {
                let ty = Type::Array(ArrayType::new(element, dims));
                let fits = "export a model of sizes that exist";
                check_sizes(&ty).map_err(|e| lexer.error_at(token.start, refuse!(instead = fits, "{e}")))?;
                Ok((ty, is_row_major))
            }
            None => Err(unknown_element(lexer, token.start, name)),
        },
    }
}

fn unknown_element(lexer: &Lexer<'_>, start: usize, name: &str) -> ImportError {
    let nearest = ns_base::nearest_text(name, ElementType::ALL.iter().map(|e| e.name()));
    let name: String = name.chars().take(40).collect();
    let like = format!("known ones like it are {nearest}");
    lexer.error_at(start, refuse!(instead = like, "{name:?} is not a known element type"))
}

/// Sizes, and where their bracket ends.
fn read_dims(lexer: &mut Lexer<'_>) -> Result<(Vec<u64>, usize), ImportError> {
    lexer.expect('[', "a type")?;
    let mut dims = Vec::new();
    while !lexer.peek().is(']') {
        if lexer.take('<') {
            lexer.expect('=', "a bounded dimension")?;
        }
        let token = lexer.next();
        let size =
            token.text.parse::<u64>().ok().filter(|&d| i64::try_from(d).is_ok() && token.kind == TokenKind::Word);
        dims.push(size.ok_or_else(|| lexer.unexpected(token, "a size"))?);
        lexer.take(',');
    }
    Ok((dims, lexer.next().end))
}

/// Skips `{1,0:T(8,128)}`; returns whether it is row-major.
fn read_layout(lexer: &mut Lexer<'_>) -> Result<bool, ImportError> {
    if !lexer.peek().is('{') {
        return Ok(true);
    }
    let text = lexer.group()?;
    let order = text.split(':').next().unwrap_or("");
    Ok(order
        .trim_matches(['{', '}'])
        .split(',')
        .rev()
        .enumerate()
        .all(|(i, d)| d.trim().is_empty() || d.trim() == i.to_string()))
}

/// Reads the text between the parentheses of `constant( )`.
pub(super) fn read_literal(lexer: &mut Lexer<'_>, ty: &Type) -> Result<Literal, ImportError> {
    match ty {
        Type::Array(array) => read_array_literal(lexer, array),
        Type::Token => Ok(Literal::Tuple(Vec::new())),
        Type::Tuple(parts) => {
            lexer.expect('(', "a tuple's literal")?;
            let mut literals = Vec::new();
            for part in parts {
                if !literals.is_empty() {
                    lexer.expect(',', "a tuple's literal")?;
                }
                literals.push(read_literal(lexer, part)?);
            }
            lexer.expect(')', "a tuple's literal")?;
            Ok(Literal::Tuple(literals))
        }
    }
}

fn read_array_literal(lexer: &mut Lexer<'_>, ty: &ArrayType) -> Result<Literal, ImportError> {
    let first = lexer.peek();
    let mut depth = 0usize;
    let mut literal = LiteralNumbers::new(ty.element);
    loop {
        let token = lexer.peek();
        match token.kind {
            TokenKind::Sign('{') => depth += 1,
            TokenKind::Sign('}') if depth > 0 => depth -= 1,
            TokenKind::Sign('.') => {
                while lexer.take('.') {}
                while depth > 0 {
                    lexer.expect('}', "an elided literal")?;
                    depth -= 1;
                }
                return Ok(Literal::Elided(ty.clone()));
            }
            TokenKind::Sign(',') if depth > 0 => {}
            TokenKind::Sign('(') if ty.element.is_complex() => {
                let text = lexer.group()?;
                let mut parts = text.trim_matches(['(', ')']).split(',').map(|p| number(p.trim()));
                match (parts.next().flatten(), parts.next().flatten()) {
                    (Some(re), Some(im)) => literal.complex.push([re, im]),
                    _ => return Err(lexer.unexpected(token, "a complex number")),
                }
                if depth == 0 {
                    break;
                }
                continue;
            }
            TokenKind::Word => {
                if !literal.push(token.text) {
                    return Err(lexer.unexpected(token, &format!("a number of {}", ty.element)));
                }
            }
            _ => return Err(lexer.unexpected(token, "a number of a constant")),
        }
        lexer.next();
        if depth == 0 {
            break;
        }
    }
    let numbers = literal.numbers();
    if ty.elements() != Some(numbers.len() as u64) {
        let wrong = refuse!("a constant of {ty} holds {} numbers", numbers.len());
        return Err(error_at(lexer, first.start, wrong));
    }
    Ok(Literal::new(ty.clone(), numbers))
}

/// Numbers of one literal.
struct LiteralNumbers {
    element: ElementType,
    real: Vec<f64>,
    whole: Vec<i64>,
    complex: Vec<[f64; 2]>,
}

impl LiteralNumbers {
    fn new(element: ElementType) -> Self {
        Self { element, real: Vec::new(), whole: Vec::new(), complex: Vec::new() }
    }

    fn push(&mut self, text: &str) -> bool {
        if self.element.is_complex() {
            return number(text).map(|re| self.complex.push([re, 0.0])).is_some();
        }
        if self.element.is_float() {
            return number(text).map(|n| self.real.push(round::real(self.element, n))).is_some();
        }
        whole(text, self.element).map(|n| self.whole.push(n)).is_some()
    }

    fn numbers(self) -> Numbers {
        if self.element.is_complex() {
            Numbers::Complex(self.complex)
        } else if self.element.is_float() {
            Numbers::Real(self.real)
        } else {
            Numbers::Whole(self.whole)
        }
    }
}

/// A floating point number: `1.5e-05`, `-inf`, `nan`, `-nan(0x1)`.
fn number(text: &str) -> Option<f64> {
    text.parse().ok().or_else(|| text.trim_start_matches('-').starts_with("nan").then_some(f64::NAN))
}

/// An integer or a boolean; `None` if its type cannot hold it.
fn whole(text: &str, element: ElementType) -> Option<i64> {
    match text {
        "true" => Some(1),
        "false" => Some(0),
        _ => round::fitting(element, text.parse().ok()?),
    }
}

/// Reads `{size=3x3 stride=2x2 pad=1_1x1_1 lhs_dilate=2x2 rhs_dilate=1x1 rhs_reversal=1x0}`.
pub(super) fn window(text: &str) -> Option<Vec<WindowDim>> {
    let mut dims: Vec<WindowDim> = Vec::new();
    for field in text.trim_matches(['{', '}']).split_whitespace() {
        let (key, value) = field.split_once('=')?;
        let values: Vec<&str> = value.split('x').collect();
        if key == "size" {
            dims.resize(values.len(), WindowDim::ONE);
        }
        if values.len() != dims.len() {
            return None;
        }
        for (dim, value) in dims.iter_mut().zip(values) {
            match key {
                "size" => dim.size = value.parse().ok()?,
                "stride" => dim.stride = value.parse().ok()?,
                "pad" => {
                    let (low, high) = value.split_once('_')?;
                    (dim.pad_low, dim.pad_high) = (low.parse().ok()?, high.parse().ok()?);
                }
                "lhs_dilate" => dim.base_dilation = value.parse().ok()?,
                "rhs_dilate" => dim.window_dilation = value.parse().ok()?,
                "rhs_reversal" => dim.is_reversed = value != "0",
                _ => return None,
            }
        }
    }
    Some(dims)
}

/// Reads `b01f_01io->b01f`.
pub(super) fn dim_labels(text: &str) -> Option<ConvDims> {
    let (sides, output) = text.split_once("->")?;
    let (input, kernel) = sides.split_once('_')?;
    let side = |labels: &str, a: char, b: char| -> Option<(i64, i64, Vec<i64>)> {
        let (mut first, mut second, mut spatial) = (None, None, Vec::new());
        for (i, label) in labels.trim().chars().enumerate() {
            match label {
                _ if label == a => first = Some(usize_to_i64(i)),
                _ if label == b => second = Some(usize_to_i64(i)),
                _ => spatial.push((label.to_digit(10)?, usize_to_i64(i))),
            }
        }
        spatial.sort_unstable();
        Some((first?, second?, spatial.into_iter().map(|(_, i)| i).collect()))
    };
    Some(ConvDims { input: side(input, 'b', 'f')?, kernel: side(kernel, 'i', 'o')?, output: side(output, 'b', 'f')? })
}

/// Reads `0_0x1_1_2`: low, high and optional interior padding.
pub(super) fn padding(text: &str) -> Option<Vec<[i64; 3]>> {
    let dim = |field: &str| {
        let mut numbers = field.split('_').map(|n| n.trim().parse().ok());
        Some([numbers.next()??, numbers.next()??, numbers.next().unwrap_or(Some(0))?])
    };
    text.split('x').map(dim).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn literal(ty: &str, text: &str) -> Result<Literal, ImportError> {
        let (ty, _) = read_type(&mut Lexer::new(ty)).unwrap();
        read_literal(&mut Lexer::new(text), &ty)
    }

    #[test]
    fn types_with_layouts_tiles_bounds_and_comments() {
        let read = |text: &str| read_type(&mut Lexer::new(text)).map(|(ty, straight)| (ty.to_string(), straight));
        assert_eq!(read("f32[4,2]{1,0:T(8,128)(2,1)}"), Ok(("f32[4,2]".to_owned(), true)));
        assert_eq!(
            read("(s32[], /*index=5*/pred[<=3]{0}, token[])"),
            Ok(("(s32[], pred[3], token[])".to_owned(), true))
        );
        assert_eq!(read("f32[4,2]{0,1}"), Ok(("f32[4,2]".to_owned(), false)));
        assert!(read("f33[4]").unwrap_err().to_string().contains("known ones like it are f32"));
        assert!(read("f32[-4]").is_err() && read(&"(".repeat(9999)).is_err());
        assert!(read("f32[1099511627776,1099511627776]").unwrap_err().to_string().contains("more elements"));
    }

    #[test]
    fn literals_of_each_kind() {
        assert_eq!(
            literal("f32[]", "1e-05").unwrap(),
            Literal::Inline(ns_program::Value::real(ElementType::F32, f64::from(1e-5f32)))
        );
        let Literal::Inline(ints) = literal("s32[2,2]", "{ { 1, -2 }, /*i=1*/ {3,4} }").unwrap() else {
            unreachable!()
        };
        assert_eq!(ints.numbers, Numbers::Whole(vec![1, -2, 3, 4]));
        let Literal::Inline(complex) = literal("c64[2]", "{(1, 2), (0.5, -inf)}").unwrap() else { unreachable!() };
        assert_eq!(complex.numbers, Numbers::Complex(vec![[1.0, 2.0], [0.5, f64::NEG_INFINITY]]));
        assert!(matches!(literal("f32[9]", "{...}"), Ok(Literal::Elided(_))));
        assert!(matches!(literal("(f32[], pred[1])", "(1, {true})"), Ok(Literal::Tuple(parts)) if parts.len() == 2));
        assert!(literal("f32[3]", "{1,2}").unwrap_err().to_string().contains("holds 2 numbers"));
        assert!(literal("s8[1]", "{1.5}").is_err());
    }

    #[test]
    fn windows_labels_and_padding() {
        let w = window("{size=3x1 stride=2x1 pad=-1_2x0_0 lhs_dilate=2x1 rhs_reversal=1x0}").unwrap();
        assert_eq!(
            (w[0].size, w[0].stride, w[0].pad_low, w[0].pad_high, w[0].base_dilation, w[0].is_reversed),
            (3, 2, -1, 2, 2, true)
        );
        assert_eq!(window("{size=3x1 stride=2}"), None);
        let labels = dim_labels("b01f_01io->b01f").unwrap();
        assert_eq!((labels.input, labels.kernel), ((0, 3, vec![1, 2]), (2, 3, vec![0, 1])));
        assert_eq!(dim_labels("bf_io"), None);
        assert_eq!(padding("0_0x1_-1_2"), Some(vec![[0, 0, 0], [1, -1, 2]]));
    }
}
