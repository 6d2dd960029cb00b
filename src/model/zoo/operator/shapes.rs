//! Shapes of operands as text: `1024x1024_1024x1024`.

use ns_base::{Refusal, refuse};

/// Most operands of one operator.
const MAX_SHAPES: usize = 4;
/// Most dimensions of a shape.
const MAX_RANK: usize = 6;
/// Most elements of an operand: a gibibyte in single precision.
const MAX_ELEMENTS: u64 = 1 << 28;

/// Reads shapes, separated by `,` or `_`. An empty text has no shapes. Fails with the shape that is not valid.
pub fn parse_shapes(text: &str) -> Result<Vec<Vec<u64>>, Refusal> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let parts: Vec<&str> = text.split([',', '_']).map(str::trim).collect();
    if parts.len() > MAX_SHAPES {
        return Err(refuse!("'{text}' has {} shapes; an operator has at most {MAX_SHAPES} operands", parts.len()));
    }
    parts.into_iter().map(parse_shape).collect()
}

fn parse_shape(text: &str) -> Result<Vec<u64>, Refusal> {
    let wrong = || {
        refuse!(
            "'{text}' is not a shape: write sizes with x between them, and a comma or _ between shapes: 1024x1024,1024x1024"
        )
    };
    let size = |part: &str| {
        let digits = !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        if digits { part.parse::<u64>().map_err(|_| no_size(text)) } else { Err(wrong()) }
    };
    let dims = text.split(['x', 'X']).map(|part| size(part.trim())).collect::<Result<Vec<u64>, _>>()?;
    if dims.len() > MAX_RANK {
        return Err(wrong());
    }
    match dims.iter().try_fold(1_u64, |n, d| n.checked_mul(*d)) {
        Some(1..=MAX_ELEMENTS) => Ok(dims),
        _ => Err(no_size(text)),
    }
}

fn no_size(text: &str) -> Refusal {
    refuse!("'{text}' has no element, or more than {MAX_ELEMENTS}: use sizes from 1 on, and a smaller tensor")
}

/// Shapes as specifications write them: `1024x1024_1024x1024`.
pub fn print_shapes(shapes: &[Vec<u64>]) -> String {
    let shape = |dims: &Vec<u64>| dims.iter().map(u64::to_string).collect::<Vec<_>>().join("x");
    shapes.iter().map(shape).collect::<Vec<_>>().join("_")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn commas_and_underscores_separate_shapes() {
        assert_eq!(parse_shapes("2x3, 3X4").unwrap(), [vec![2, 3], vec![3, 4]]);
        assert_eq!(parse_shapes("7_7").unwrap(), [vec![7], vec![7]]);
        assert_eq!(parse_shapes(" ").unwrap(), Vec::<Vec<u64>>::new());
    }

    #[test]
    fn wrong_shapes_are_named() {
        let said = |text: &str| parse_shapes(text).unwrap_err().to_string();
        for text in ["2x", "x2", "axb", "2,,3", "1x1x1x1x1x1x1", "+2x3", "2.5"] {
            assert!(said(text).contains("is not a shape"), "{text}: {}", said(text));
        }
        for text in ["0x4", "65536x65536", "99999999999999999999", "4294967296x4294967296x4294967296"] {
            assert!(said(text).contains("no element, or more than"), "{text}: {}", said(text));
        }
        assert!(said("1,1,1,1,1").contains("has 5 shapes"));
    }

    proptest! {
        #[test]
        fn shapes_survive_printing_and_parsing(shapes in prop::collection::vec(prop::collection::vec(1_u64..40, 1..5), 1..5)) {
            prop_assert_eq!(parse_shapes(&print_shapes(&shapes)), Ok(shapes));
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,24}") {
            let _ = parse_shapes(&text);
        }
    }
}
