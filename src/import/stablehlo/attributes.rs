//! Values of attributes: lists, windows, dimension numbers, constants.

use super::syntax::Operation;
use super::types::tensor;
use crate::lexer::integers;
use crate::program::{
    ArrayType, ConvolutionDims, DotDims, ElementType, GatherDims, Numbers, ScatterDims, Value, WindowDim,
    numbers_of_bytes, round,
};
use ns_base::convert::{narrow, place};
use ns_base::{Refusal, refuse};

/// Integers of `[1, 2]`, `array<i64: 1, 2>`, `dense<[1, 2]> : tensor<2xi64>`, `3 : i64`, `true`.
pub(super) fn list(value: &str) -> Vec<i64> {
    if let Some(inner) = value.strip_prefix("array<").filter(|inner| !inner.starts_with("i1")) {
        return integers(inner.split_once(':').map_or("", |(_, numbers)| numbers));
    }
    if let Some(inner) = value.strip_prefix("dense<") {
        let (numbers, rest) = inner.split_once('>').unwrap_or((inner, ""));
        let found: Vec<i64> = if numbers.contains("true") || numbers.contains("false") {
            numbers.split(',').map(|b| i64::from(b.contains("true"))).collect()
        } else {
            integers(numbers)
        };
        let inner = rest.split_once('<').map_or("", |(_, t)| t.trim_end_matches('>'));
        let wanted = tensor(inner).ok().and_then(|t| t.ty.array().and_then(ArrayType::elements)).unwrap_or(0);
        return match found[..] {
            [one] if wanted > 1 && wanted < 1000 => vec![one; place(wanted)],
            _ => found,
        };
    }
    if value.contains("true") || value.contains("false") {
        return value.split(',').map(|b| i64::from(b.contains("true"))).collect();
    }
    integers(value.split(" : ").next().unwrap_or(value))
}

impl Operation<'_> {
    /// A list of numbers; empty if the attribute is missing.
    pub fn list(&self, name: &str) -> Vec<i64> {
        self.attribute(name).map(list).unwrap_or_default()
    }

    /// A list of numbers that are not negative.
    pub fn naturals(&self, name: &str) -> Result<Vec<u32>, Refusal> {
        naturals(&self.list(name))
    }

    /// A list of sizes.
    pub fn sizes(&self, name: &str) -> Result<Vec<u64>, Refusal> {
        sizes(&self.list(name))
    }

    /// One number.
    pub fn number(&self, name: &'static str) -> Result<u32, Refusal> {
        let found = self.list(name).first().copied().ok_or_else(|| refuse!("it has no {name}"))?;
        u32::try_from(found).map_err(|_| refuse!("its {name} is {found}"))
    }
}

fn no_dimension_numbers() -> Refusal {
    refuse!("it has no dimension numbers")
}

/// The error for a list of a window whose length is not that of the others.
pub(super) fn window_length(list: &str, given: usize, rank: usize) -> Refusal {
    refuse!("its window has {given} {list} for {rank} dimensions")
}

pub(super) fn naturals(list: &[i64]) -> Result<Vec<u32>, Refusal> {
    list.iter().map(|&n| u32::try_from(n).map_err(|_| refuse!("it names dimension {n}"))).collect()
}

pub(super) fn sizes(list: &[i64]) -> Result<Vec<u64>, Refusal> {
    list.iter().map(|&n| u64::try_from(n).map_err(|_| refuse!("it has the size or bound {n}"))).collect()
}

/// The list after `key = ` in `#stablehlo.gather<offset_dims = [1], index_vector_dim = 1>`.
fn inner_list(value: &str, key: &str) -> Vec<i64> {
    let mut rest = value;
    while let Some((before, after)) = rest.split_once(key) {
        rest = after;
        let is_whole = !before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        if let Some(found) = after.trim_start().strip_prefix('=').filter(|_| is_whole) {
            let found = found.trim_start();
            let end = if found.starts_with('[') { found.find(']') } else { found.find([',', '>', '}']) };
            return integers(&found[..end.unwrap_or(found.len())]);
        }
    }
    Vec::new()
}

fn inner_number(value: &str, key: &'static str) -> Result<u32, Refusal> {
    let n = inner_list(value, key).first().copied().unwrap_or(0);
    u32::try_from(n).map_err(|_| refuse!("its {key} is {n}"))
}

/// `batching_dims = [0] x [0], contracting_dims = [2] x [1]`, or `#stablehlo.dot<..>`.
pub(super) fn dot_dims(operation: &Operation<'_>) -> Result<DotDims, Refusal> {
    if let Some(value) = operation.attribute("dot_dimension_numbers") {
        return Ok(DotDims {
            lhs_contracting: naturals(&inner_list(value, "lhs_contracting_dimensions"))?,
            rhs_contracting: naturals(&inner_list(value, "rhs_contracting_dimensions"))?,
            lhs_batch: naturals(&inner_list(value, "lhs_batching_dimensions"))?,
            rhs_batch: naturals(&inner_list(value, "rhs_batching_dimensions"))?,
        });
    }
    let pair = |name: &'static str| -> Result<(Vec<u32>, Vec<u32>), Refusal> {
        let Some(value) = operation.attribute(name) else { return Ok((Vec::new(), Vec::new())) };
        let (left, right) = value.split_once(']').ok_or_else(|| refuse!("its {name} is {value:?}"))?;
        Ok((naturals(&integers(left))?, naturals(&integers(right))?))
    };
    let (lhs_contracting, rhs_contracting) = pair("contracting_dims")?;
    let (lhs_batch, rhs_batch) = pair("batching_dims")?;
    Ok(DotDims { lhs_contracting, rhs_contracting, lhs_batch, rhs_batch })
}

/// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`, perhaps inside `#stablehlo.conv<..>`.
pub(super) fn convolution_dims(operation: &Operation<'_>) -> Result<ConvolutionDims, Refusal> {
    let value = operation.attribute("dim_numbers").or_else(|| operation.attribute("dimension_numbers"));
    let value = value.ok_or_else(no_dimension_numbers)?;
    let mut sides = value.split('[').skip(1).map(|side| side.split(']').next().unwrap_or(""));
    let mut side = |a: &str, b: &str| -> Result<(u32, u32, Vec<u32>), Refusal> {
        let labels: Vec<&str> = sides.next().unwrap_or("").split(',').map(str::trim).collect();
        let find = |wanted: &str| labels.iter().position(|l| *l == wanted).map(narrow);
        let spatial = (0..labels.len().saturating_sub(2)).map(|i| find(&i.to_string()));
        match (find(a), find(b), spatial.collect::<Option<Vec<u32>>>()) {
            (Some(a), Some(b), Some(spatial)) => Ok((a, b, spatial)),
            _ => {
                let start: String = value.chars().take(80).collect();
                Err(refuse!("its dimension numbers are {start:?}"))
            }
        }
    };
    Ok(ConvolutionDims { input: side("b", "f")?, kernel: side("i", "o")?, output: side("b", "f")? })
}

/// The window of a convolution: short form `window = {stride = [1], pad = [[0, 0]], ..}` or attributes of the generic form.
pub(super) fn convolution_window(operation: &Operation<'_>, sizes: &[u64]) -> Result<Vec<WindowDim>, Refusal> {
    if let Some(value) = operation.attribute("window") {
        let nested = |key: &str| {
            let start = value.find(&format!("{key} = ")).map(|at| &value[at + key.len() + 3..]);
            let end = start.and_then(|s| if s.starts_with("[[") { s.find("]]") } else { s.find(']') });
            start.map(|s| list(&s[..end.unwrap_or(s.len())])).unwrap_or_default()
        };
        return window(
            sizes,
            [nested("stride"), nested("pad"), nested("lhs_dilate"), nested("rhs_dilate"), nested("reverse")],
        );
    }
    let fields = ["window_strides", "padding", "lhs_dilation", "rhs_dilation", "window_reversal"];
    window(sizes, fields.map(|name| operation.list(name)))
}

/// The window of a `reduce_window` or a `select_and_scatter`.
pub(super) fn plain_window(operation: &Operation<'_>, rank: usize) -> Result<Vec<WindowDim>, Refusal> {
    let mut sizes = operation.sizes("window_dimensions")?;
    if sizes.is_empty() {
        sizes = vec![1; rank];
    }
    let fields = ["window_strides", "padding", "base_dilations", "window_dilations", "window_reversal"];
    window(&sizes, fields.map(|name| operation.list(name)))
}

/// A window from strides, paddings (low and high alternate), base and window dilations and reversals; empty lists are the defaults.
fn window(under: &[u64], [strides, pads, base, dilations, reversed]: [Vec<i64>; 5]) -> Result<Vec<WindowDim>, Refusal> {
    let rank = under.len();
    for (list, given, wanted) in [
        ("strides", strides.len(), rank),
        ("paddings", pads.len(), 2 * rank),
        ("base dilations", base.len(), rank),
        ("window dilations", dilations.len(), rank),
        ("reversals", reversed.len(), rank),
    ] {
        if given != 0 && given != wanted {
            return Err(window_length(list, given, rank));
        }
    }
    let (strides, base, dilations) = (sizes(&strides)?, sizes(&base)?, sizes(&dilations)?);
    let at = |list: &[u64], i: usize| list.get(i).copied().unwrap_or(1);
    Ok((0..rank)
        .map(|i| WindowDim {
            size: under[i],
            stride: at(&strides, i),
            pad_low: pads.get(2 * i).copied().unwrap_or(0),
            pad_high: pads.get(2 * i + 1).copied().unwrap_or(0),
            window_dilation: at(&dilations, i),
            base_dilation: at(&base, i),
            is_reversed: reversed.get(i).copied().unwrap_or(0) != 0,
        })
        .collect())
}

pub(super) fn gather_dims(operation: &Operation<'_>, slice_sizes: Vec<u64>) -> Result<GatherDims, Refusal> {
    let value = operation.attribute("dimension_numbers").ok_or_else(no_dimension_numbers)?;
    let list = |key| naturals(&inner_list(value, key));
    Ok(GatherDims {
        offset_dims: list("offset_dims")?,
        collapsed_slice_dims: list("collapsed_slice_dims")?,
        start_index_map: list("start_index_map")?,
        index_vector_dim: inner_number(value, "index_vector_dim")?,
        operand_batching_dims: list("operand_batching_dims")?,
        start_indices_batching_dims: list("start_indices_batching_dims")?,
        slice_sizes,
    })
}

pub(super) fn scatter_dims(operation: &Operation<'_>) -> Result<ScatterDims, Refusal> {
    let value = operation.attribute("scatter_dimension_numbers").ok_or_else(no_dimension_numbers)?;
    let list = |key| naturals(&inner_list(value, key));
    Ok(ScatterDims {
        update_window_dims: list("update_window_dims")?,
        inserted_window_dims: list("inserted_window_dims")?,
        scatter_dims_to_operand_dims: list("scatter_dims_to_operand_dims")?,
        index_vector_dim: inner_number(value, "index_vector_dim")?,
        input_batching_dims: list("input_batching_dims")?,
        scatter_indices_batching_dims: list("scatter_indices_batching_dims")?,
    })
}

/// A constant.
pub(super) enum Dense {
    /// One number, repeated everywhere.
    Splat(Value),
    /// All numbers.
    All(Value),
    /// Only the type is in the text.
    Elided,
}

/// The array between the brackets of `dense<..>`.
pub(super) fn dense(text: &str, ty: &ArrayType) -> Result<Dense, Refusal> {
    if text.starts_with("dense_resource<") || text.starts_with("dense<__elided__") {
        return Ok(Dense::Elided);
    }
    let inner = text.strip_prefix("dense<").and_then(|t| t.strip_suffix('>'));
    let inner = inner.ok_or_else(|| refuse!("its value is {:?}", text.chars().take(60).collect::<String>()))?.trim();
    let wanted = ty.elements().unwrap_or(u64::MAX);
    let numbers = match inner.strip_prefix("\"0x").and_then(|t| t.strip_suffix('"')) {
        Some(hex) => of_hex(hex, ty.element, wanted)?,
        None => of_list(inner, ty.element)?,
    };
    let found = numbers.len() as u64;
    let one = ArrayType::new(ty.element, []);
    if found == 1 && wanted != 1 {
        return Ok(Dense::Splat(Value { ty: one, numbers }));
    }
    if found != wanted {
        return Err(refuse!("a constant of {ty} holds {found} numbers"));
    }
    Ok(Dense::All(Value { ty: ty.clone(), numbers }))
}

fn of_hex(hex: &str, element: ElementType, wanted: u64) -> Result<Numbers, Refusal> {
    let digits = hex.as_bytes();
    let digit = |b: u8| (b as char).to_digit(16).and_then(|d| u8::try_from(d).ok());
    let bytes: Option<Vec<u8>> = digits.chunks(2).map(|c| Some(digit(c[0])? << 4 | digit(*c.get(1)?)?)).collect();
    let bytes = bytes.ok_or_else(|| refuse!("its value is not a hexadecimal number of whole bytes"))?;
    // Booleans are packed eight to a byte, except one number that stands for all.
    if element == ElementType::Pred && bytes.len() as u64 != wanted {
        let bits = bytes.iter().flat_map(|b| (0..8).map(move |i| i64::from(b >> i & 1)));
        return Ok(Numbers::Whole(bits.take(usize::try_from(wanted).unwrap_or(usize::MAX)).collect()));
    }
    numbers_of_bytes(element, &bytes).ok_or_else(|| refuse!("its {} bytes are not numbers of {element}", bytes.len()))
}

fn of_list(text: &str, element: ElementType) -> Result<Numbers, Refusal> {
    let words = || text.split(['[', ']', ',', '(', ')', ' ', '\n', '\t', '\r']).filter(|w| !w.is_empty());
    let bad = |word: &str| refuse!("{:?} is not a number of {element}", word.chars().take(40).collect::<String>());
    let part = match element {
        ElementType::C64 => ElementType::F32,
        ElementType::C128 => ElementType::F64,
        other => other,
    };
    if part.is_float() {
        let numbers = words().map(|w| real(w, part).ok_or_else(|| bad(w))).collect::<Result<Vec<f64>, _>>()?;
        if element.is_complex() {
            return Ok(Numbers::Complex(numbers.chunks_exact(2).map(|c| [c[0], c[1]]).collect()));
        }
        return Ok(Numbers::Real(numbers));
    }
    let whole = |w: &str| match w {
        "true" => Some(1),
        "false" => Some(0),
        _ => round::fitting(element, w.parse().ok()?),
    };
    words().map(|w| whole(w).ok_or_else(|| bad(w))).collect::<Result<Vec<i64>, _>>().map(Numbers::Whole)
}

/// `1.5e+00`, or the bits, `0x7FC00000`.
fn real(word: &str, element: ElementType) -> Option<f64> {
    match word.strip_prefix("0x") {
        Some(bits) => u64::from_str_radix(bits, 16).ok().map(|bits| element.real_of_bits(bits)),
        None => word.parse::<f64>().ok().map(|n| round::real(element, n)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str, element: ElementType, dims: &[u64]) -> Option<Numbers> {
        match dense(text, &ArrayType::new(element, dims)).ok()? {
            Dense::Splat(value) | Dense::All(value) => Some(value.numbers),
            Dense::Elided => None,
        }
    }

    #[test]
    fn lists_in_every_spelling() {
        assert_eq!(list("[1, -2]"), [1, -2]);
        assert_eq!(list("array<i64: 1, 2>"), [1, 2]);
        assert_eq!(list("dense<[[0, 0], [4, 1]]> : tensor<2x2xi64>"), [0, 0, 4, 1]);
        assert_eq!(list("dense<1> : tensor<2x2xi64>"), [1, 1, 1, 1]);
        assert_eq!((list("3 : i64"), list("array<i1: false, true>")), (vec![3], vec![0, 1]));
        assert_eq!(list("[false, true]"), [0, 1]);
    }

    #[test]
    fn constants_in_every_spelling() {
        assert_eq!(value("dense<0xFF800000>", ElementType::F32, &[]), Some(Numbers::Real(vec![f64::NEG_INFINITY])));
        assert_eq!(value("dense<[[1, 2], [3, 4]]>", ElementType::S32, &[2, 2]), Some(Numbers::Whole(vec![1, 2, 3, 4])));
        assert_eq!(value("dense<\"0x0000803F00000040\">", ElementType::F32, &[2]), Some(Numbers::Real(vec![1.0, 2.0])));
        assert_eq!(value("dense<\"0x05\">", ElementType::Pred, &[3]), Some(Numbers::Whole(vec![1, 0, 1])));
        assert_eq!(value("dense<(1.0,2.0)>", ElementType::C64, &[]), Some(Numbers::Complex(vec![[1.0, 2.0]])));
        assert_eq!(value("dense<true>", ElementType::Pred, &[1000, 1000]), Some(Numbers::Whole(vec![1])));
        assert_eq!(value("dense<>", ElementType::F32, &[0]), Some(Numbers::Real(vec![])));
        assert!(dense("dense<[1, 2]>", &ArrayType::new(ElementType::S32, [3])).is_err());
        assert_eq!(value("dense<[-1, 255]>", ElementType::S8, &[2]), Some(Numbers::Whole(vec![-1, -1])));
        assert!(matches!(dense("dense_resource<a>", &ArrayType::new(ElementType::F32, [3])), Ok(Dense::Elided)));
    }

    #[test]
    fn numbers_that_their_type_does_not_hold_are_refused() {
        let refused = |text: &str, element| dense(text, &ArrayType::new(element, [1])).map(|_| ()).unwrap_err();
        for (text, element) in [
            ("300", ElementType::S8),
            ("-129", ElementType::S8),
            ("-1", ElementType::U32),
            ("4294967296", ElementType::S32),
        ] {
            let wrong = refused(&format!("dense<[{text}]>"), element);
            assert_eq!(wrong.what(), format!("{text:?} is not a number of {element}"));
        }
    }
}
