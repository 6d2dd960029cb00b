//! Writes attributes as the text of MLIR.

use super::attributes::Attribute;
use super::cursor::Cursor;
use super::file::File;
use super::types::bits;
use crate::ImportError;
use crate::program::{ArrayType, ElementType, Numbers, numbers_of_bytes};
use ns_base::convert;
use ns_base::refuse;

/// Most levels of nested lists and dictionaries.
const MOST_NESTING: u32 = 16;

/// Most numbers in a list of sizes, bounds or dimensions.
const LONGEST_LIST: u64 = 4096;

impl<'a> File<'a> {
    /// The text of an attribute by its number.
    pub fn attribute_text(&self, place: &Cursor<'a>, i: usize) -> Result<String, ImportError> {
        // A list that refers to one list several times multiplies at each level.
        let mut left = (1 << 20) + 4 * self.size;
        self.nested_text(place, i, MOST_NESTING, &mut left)
    }

    /// `left` is the number of bytes of text that may still be written.
    fn nested_text(&self, place: &Cursor<'a>, i: usize, depth: u32, left: &mut usize) -> Result<String, ImportError> {
        let Some(depth) = depth.checked_sub(1) else { return Err(place.error(refuse!("attributes nest too deep"))) };
        let text = match self.attribute(place, i)? {
            Attribute::Text(text) | Attribute::Named(text) => quoted(text),
            Attribute::Whole(n) => format!("{n} : i64"),
            Attribute::Real(x) => format!("{x:e} : f32"),
            Attribute::Bool(b) => b.to_string(),
            Attribute::Word(word) => word.to_owned(),
            Attribute::List(list) => {
                let parts: Result<Vec<String>, ImportError> =
                    list.iter().map(|&i| self.nested_text(place, i, depth, left)).collect();
                format!("[{}]", parts?.join(", "))
            }
            Attribute::Dictionary(pairs) => {
                let mut parts = Vec::with_capacity(pairs.len());
                for (name, value) in pairs {
                    let Attribute::Text(name) = self.attribute(place, name)? else { continue };
                    parts.push(format!("{} = {}", key(name), self.nested_text(place, value, depth, left)?));
                }
                format!("{{{}}}", parts.join(", "))
            }
            Attribute::Tensor(ty, raw) => match whole_numbers(&ty, raw) {
                Some(numbers) => list(&numbers),
                None => dense(&ty, raw).ok_or_else(|| place.unknown(refuse!("a constant of {ty} is not known")))?,
            },
            Attribute::Other => "unit".to_owned(),
        };
        *left = left.checked_sub(text.len()).ok_or_else(|| place.error(refuse!("an attribute is too long as text")))?;
        Ok(text)
    }

    /// Integers of an attribute: an array of them, or a single one.
    pub fn attribute_numbers(&self, place: &Cursor<'a>, i: usize) -> Result<Vec<i64>, ImportError> {
        match self.attribute(place, i)? {
            Attribute::Whole(n) => Ok(vec![n]),
            Attribute::Tensor(ty, raw) => {
                whole_numbers(&ty, raw).ok_or_else(|| place.unknown(refuse!("a list of numbers of {ty} is not known")))
            }
            _ => Err(place.unknown(refuse!("an attribute that is not a list of numbers is not known"))),
        }
    }
}

/// `array<i64: 1, 2>`.
pub(super) fn list(numbers: &[i64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(i64::to_string).collect();
    format!("array<i64: {}>", numbers.join(", "))
}

/// A string in quotation marks.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\22"),
            '\\' => out.push_str("\\5C"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A name as it may stand in front of an equals sign, in quotation marks if needed.
fn key(name: &str) -> String {
    let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.')) && !name.is_empty();
    if is_plain { name.to_owned() } else { quoted(name) }
}

/// The array type of a type's text, if all its sizes are known.
fn array(ty: &str) -> Option<ArrayType> {
    let inner = ty.strip_prefix("tensor<")?.strip_suffix('>')?;
    let ty = crate::stablehlo::tensor(inner).ok()?;
    ty.open.is_empty().then(|| ty.ty.array().cloned()).flatten()
}

/// Integers of a short array; a single stored number stands for all if they are equal.
fn whole_numbers(ty: &str, raw: &[u8]) -> Option<Vec<i64>> {
    let array = array(ty).filter(|a| a.element.is_integer() || a.element == ElementType::Pred)?;
    let wanted = convert::place(array.elements().filter(|&n| n <= LONGEST_LIST)?);
    if array.element == ElementType::Pred {
        return booleans(raw, wanted);
    }
    let Numbers::Whole(numbers) = numbers_of_bytes(array.element, raw)? else { return None };
    match numbers[..] {
        [one] => Some(vec![one; wanted]),
        _ => (numbers.len() == wanted).then_some(numbers),
    }
}

/// Booleans are stored one or eight to a byte, or as one byte for all.
fn booleans(raw: &[u8], wanted: usize) -> Option<Vec<i64>> {
    let bit = |i: usize| i64::from(raw[i / 8] >> (i % 8) & 1);
    match raw {
        _ if raw.len() == wanted => Some(raw.iter().map(|&b| i64::from(b != 0)).collect()),
        [all] if wanted > 8 || matches!(all, 0 | 0xff) => Some(vec![i64::from(*all != 0); wanted]),
        _ if raw.len() == wanted.div_ceil(8) => Some((0..wanted).map(bit).collect()),
        _ => None,
    }
}

/// `dense<"0x..."> : tensor<4xf32>`; `None` if the bytes do not fit the type.
pub(super) fn dense(ty: &str, raw: &[u8]) -> Option<String> {
    let array = array(ty)?;
    let wanted = array.elements()?;
    let value = match (array.element, raw) {
        (ElementType::Pred, [all]) if wanted > 8 || matches!(all, 0 | 0xff) => (*all != 0).to_string(),
        (ElementType::Pred, _) => {
            let bits = booleans(raw, usize::try_from(wanted).ok()?)?;
            let words: Vec<&str> = bits.iter().map(|&b| if b != 0 { "true" } else { "false" }).collect();
            format!("[{}]", words.join(", "))
        }
        _ => {
            // A 4-bit number takes a whole byte.
            let size = u64::from(bits(array.element.name().trim_start_matches(['s', 'u', 'b', 'c']))?.div_ceil(8));
            let len = raw.len() as u64;
            if len != size && len != wanted.checked_mul(size)? {
                return None;
            }
            hex(raw)
        }
    };
    Some(format!("dense<{value}> : {ty}"))
}

fn hex(raw: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let mut out = String::with_capacity(2 * raw.len() + 4);
    out.push_str("\"0x");
    for byte in raw {
        out.push(DIGITS[usize::from(byte >> 4)] as char);
        out.push(DIGITS[usize::from(byte & 15)] as char);
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::{booleans, dense, quoted, whole_numbers};

    #[test]
    fn arrays_as_text() {
        assert_eq!(
            dense("tensor<2xf32>", &[0, 0, 0x80, 0x3f, 0, 0, 0, 0x40]).as_deref(),
            Some("dense<\"0x0000803F00000040\"> : tensor<2xf32>")
        );
        assert_eq!(
            dense("tensor<9xf32>", &[0, 0, 0x80, 0x3f]).as_deref(),
            Some("dense<\"0x0000803F\"> : tensor<9xf32>")
        );
        assert_eq!(dense("tensor<2xi1>", &[1, 0]).as_deref(), Some("dense<[true, false]> : tensor<2xi1>"));
        assert_eq!(dense("tensor<20xi1>", &[0xff]).as_deref(), Some("dense<true> : tensor<20xi1>"));
        assert_eq!(dense("tensor<2xf32>", &[0, 0, 0x80]), None);
    }

    #[test]
    fn lists_of_numbers_are_as_long_as_their_type() {
        assert_eq!(whole_numbers("tensor<2x1xi64>", &[1, 0, 0, 0, 0, 0, 0, 0]), Some(vec![1, 1]));
        assert_eq!(whole_numbers("tensor<0xi64>", &[]), Some(vec![]));
        assert_eq!((booleans(&[5], 3), booleans(&[1, 0, 1], 3)), (Some(vec![1, 0, 1]), Some(vec![1, 0, 1])));
    }

    #[test]
    fn a_text_stays_within_its_quotation_marks() {
        assert_eq!(quoted("a\"b\\c\n"), "\"a\\22b\\5Cc \"");
    }
}
