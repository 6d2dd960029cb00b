//! Values of attributes: lists, windows, dimension numbers, constants.

use super::syntax::{Attribute, Elements, Operation};
use ns_base::convert::{u64_to_usize, usize_to_i64, usize_to_u32};
use ns_base::{Refusal, refuse};
use ns_program::{
    ArrayType, ConvolutionDims, DotDims, ElementType, GatherDims, Numbers, ScatterDims, Value, WindowDim,
    numbers_of_bytes, round,
};

/// Most numbers in a list of sizes, bounds or dimensions.
pub(crate) const LONGEST_LIST: u64 = 4096;

impl Attribute<'_> {
    /// All whole numbers in it, in order.
    pub fn numbers(&self) -> Vec<i64> {
        match self {
            Self::Whole(n) => vec![*n],
            Self::List(list) => list.iter().flat_map(Self::numbers).collect(),
            Self::Array(Elements::Text(text), ty) => {
                let words = text.split(['[', ']', ',', ' ', '\n']).filter(|w| !w.is_empty());
                let numbers = words.filter_map(|w| {
                    if w == "true" {
                        Some(1)
                    } else if w == "false" {
                        Some(0)
                    } else {
                        w.parse().ok()
                    }
                });
                repeated(numbers.collect(), ty.as_ref())
            }
            Self::Array(Elements::Bytes(raw), Some(ty)) => whole_numbers(ty, raw).unwrap_or_default(),
            _ => Vec::new(),
        }
    }
}

/// One number that stands for all of a list.
fn repeated(numbers: Vec<i64>, ty: Option<&ArrayType>) -> Vec<i64> {
    let wanted = ty.and_then(ArrayType::elements).filter(|&n| n > 1 && n <= LONGEST_LIST);
    match (&numbers[..], wanted) {
        (&[one], Some(wanted)) => vec![one; u64_to_usize(wanted)],
        _ => numbers,
    }
}

/// Integers of a short array in bytecode; a single stored number stands for all if they are equal.
pub(crate) fn whole_numbers(ty: &ArrayType, raw: &[u8]) -> Option<Vec<i64>> {
    let wanted = u64_to_usize(ty.elements().filter(|&n| n <= LONGEST_LIST)?);
    if ty.element == ElementType::Pred {
        return booleans(raw, wanted);
    }
    let Numbers::Whole(numbers) = numbers_of_bytes(ty.element, raw)? else { return None };
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

/// The numbers of an array in bytecode, or the one that stands for all; `None` if the bytes do not fit the type.
pub(crate) fn numbers_in(ty: &ArrayType, raw: &[u8]) -> Option<Numbers> {
    let wanted = ty.elements()?;
    if ty.element != ElementType::Pred {
        let numbers = numbers_of_bytes(ty.element, raw)?;
        return [1, wanted].contains(&(numbers.len() as u64)).then_some(numbers);
    }
    match raw {
        [all] if wanted > 8 || matches!(all, 0 | 0xff) => Some(Numbers::Whole(vec![i64::from(*all != 0)])),
        _ => booleans(raw, usize::try_from(wanted).ok()?).map(Numbers::Whole),
    }
}

impl Operation<'_> {
    /// A list of numbers; empty if the attribute is missing.
    pub fn list(&self, name: &str) -> Vec<i64> {
        self.attribute(name).map(Attribute::numbers).unwrap_or_default()
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

/// Dimension numbers of an operation: together in one attribute, as StableHLO has them, or each by itself, as its portable form does.
struct Dimensions<'o, 'a> {
    operation: &'o Operation<'a>,
    joined: Option<&'o Attribute<'a>>,
}

impl<'o, 'a> Dimensions<'o, 'a> {
    /// Those in an attribute; `None` if neither the attribute nor one of `key` is there.
    fn of(operation: &'o Operation<'a>, attribute: &str, key: &str) -> Option<Self> {
        let joined = operation.attribute(attribute);
        (joined.is_some() || operation.attribute(key).is_some()).then_some(Self { operation, joined })
    }

    fn list(&self, key: &str) -> Result<Vec<u32>, Refusal> {
        let value = match self.joined {
            Some(joined) => joined.value(key),
            None => self.operation.attribute(key),
        };
        naturals(&value.map(Attribute::numbers).unwrap_or_default())
    }

    fn number(&self, key: &str) -> Result<u32, Refusal> {
        Ok(self.list(key)?.first().copied().unwrap_or(0))
    }
}

/// `batching_dims = [0] x [0], contracting_dims = [2] x [1]`, or `#stablehlo.dot<..>`.
pub(super) fn dot_dims(operation: &Operation<'_>) -> Result<DotDims, Refusal> {
    if let Some(dims) = Dimensions::of(operation, "dot_dimension_numbers", "lhs_contracting_dimensions") {
        return Ok(DotDims {
            lhs_contracting: dims.list("lhs_contracting_dimensions")?,
            rhs_contracting: dims.list("rhs_contracting_dimensions")?,
            lhs_batch: dims.list("lhs_batching_dimensions")?,
            rhs_batch: dims.list("rhs_batching_dimensions")?,
        });
    }
    let pair = |name: &str| match operation.attribute(name) {
        None => Ok((Vec::new(), Vec::new())),
        Some(Attribute::List(sides)) if sides.len() == 2 => {
            Ok((naturals(&sides[0].numbers())?, naturals(&sides[1].numbers())?))
        }
        Some(_) => Err(refuse!("its {name} are not two lists")),
    };
    let (lhs_contracting, rhs_contracting) = pair("contracting_dims")?;
    let (lhs_batch, rhs_batch) = pair("batching_dims")?;
    Ok(DotDims { lhs_contracting, rhs_contracting, lhs_batch, rhs_batch })
}

/// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`, perhaps inside `#stablehlo.conv<..>`, or a number or a list for each.
pub(super) fn convolution_dims(operation: &Operation<'_>) -> Result<ConvolutionDims, Refusal> {
    let value = operation.attribute("dim_numbers").or_else(|| operation.attribute("dimension_numbers"));
    let Some(value) = value else { return separate_convolution_dims(operation) };
    let Attribute::List(sides) = value else { return Err(refuse!("its dimension numbers are not three lists")) };
    let side = |n: usize, a: &str, b: &str| -> Result<(u32, u32, Vec<u32>), Refusal> {
        let Some(Attribute::List(labels)) = sides.get(n) else {
            return Err(refuse!("its dimension numbers are not three lists"));
        };
        let find = |wanted: &Attribute<'_>| labels.iter().position(|l| l == wanted).map(usize_to_u32);
        let spatial = (0..labels.len().saturating_sub(2)).map(|i| find(&Attribute::Whole(usize_to_i64(i))));
        match (find(&Attribute::Word(a)), find(&Attribute::Word(b)), spatial.collect::<Option<Vec<u32>>>()) {
            (Some(a), Some(b), Some(spatial)) => Ok((a, b, spatial)),
            _ => Err(refuse!("its dimension numbers lack {a}, {b} or a number")),
        }
    };
    Ok(ConvolutionDims { input: side(0, "b", "f")?, kernel: side(1, "i", "o")?, output: side(2, "b", "f")? })
}

fn separate_convolution_dims(operation: &Operation<'_>) -> Result<ConvolutionDims, Refusal> {
    operation.attribute("input_batch_dimension").ok_or_else(no_dimension_numbers)?;
    let side = |a: &'static str, b: &'static str, spatial: &str| -> Result<(u32, u32, Vec<u32>), Refusal> {
        let (a, b, spatial) = (operation.number(a)?, operation.number(b)?, operation.naturals(spatial)?);
        let mut all: Vec<usize> = [a, b].iter().chain(&spatial).map(|&d| d as usize).collect();
        all.sort_unstable();
        match all.iter().enumerate().find(|(i, d)| i != *d) {
            Some((_, d)) => Err(refuse!("it has dimension {d} twice or too few dimensions")),
            None => Ok((a, b, spatial)),
        }
    };
    Ok(ConvolutionDims {
        input: side("input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions")?,
        kernel: side("kernel_input_feature_dimension", "kernel_output_feature_dimension", "kernel_spatial_dimensions")?,
        output: side("output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions")?,
    })
}

/// The window of a convolution: short form `window = {stride = [1], pad = [[0, 0]], ..}` or attributes of the generic form.
pub(super) fn convolution_window(operation: &Operation<'_>, sizes: &[u64]) -> Result<Vec<WindowDim>, Refusal> {
    if let Some(value) = operation.attribute("window") {
        let fields = ["stride", "pad", "lhs_dilate", "rhs_dilate", "reverse"];
        return window(sizes, fields.map(|name| value.value(name).map(Attribute::numbers).unwrap_or_default()));
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
    let dims = Dimensions::of(operation, "dimension_numbers", "offset_dims").ok_or_else(no_dimension_numbers)?;
    Ok(GatherDims {
        offset_dims: dims.list("offset_dims")?,
        collapsed_slice_dims: dims.list("collapsed_slice_dims")?,
        start_index_map: dims.list("start_index_map")?,
        index_vector_dim: dims.number("index_vector_dim")?,
        operand_batching_dims: dims.list("operand_batching_dims")?,
        start_indices_batching_dims: dims.list("start_indices_batching_dims")?,
        slice_sizes,
    })
}

pub(super) fn scatter_dims(operation: &Operation<'_>) -> Result<ScatterDims, Refusal> {
    let dims = Dimensions::of(operation, "scatter_dimension_numbers", "update_window_dims");
    let dims = dims.ok_or_else(no_dimension_numbers)?;
    Ok(ScatterDims {
        update_window_dims: dims.list("update_window_dims")?,
        inserted_window_dims: dims.list("inserted_window_dims")?,
        scatter_dims_to_operand_dims: dims.list("scatter_dims_to_operand_dims")?,
        index_vector_dim: dims.number("index_vector_dim")?,
        input_batching_dims: dims.list("input_batching_dims")?,
        scatter_indices_batching_dims: dims.list("scatter_indices_batching_dims")?,
    })
}

pub(super) enum Dense {
    /// One number, repeated everywhere.
    Splat(Value),
    All(Value),
    /// Only the type is in the text.
    Elided,
}

/// The array of a constant of this type.
pub(super) fn dense(value: &Attribute<'_>, ty: &ArrayType) -> Result<Dense, Refusal> {
    let wanted = ty.elements().unwrap_or(u64::MAX);
    let numbers = match *value {
        Attribute::Array(Elements::Elided, _) => return Ok(Dense::Elided),
        Attribute::Array(Elements::Text(text), _) => {
            match text.trim().strip_prefix("\"0x").and_then(|t| t.strip_suffix('"')) {
                Some(hex) => of_hex(hex, ty.element, wanted)?,
                None => of_list(text, ty.element)?,
            }
        }
        Attribute::Array(Elements::Bytes(raw), _) => {
            numbers_in(ty, raw).ok_or_else(|| refuse!("a constant of {ty} has {} bytes", raw.len()))?
        }
        Attribute::Other(text) => {
            return Err(refuse!("its value is {:?}", text.chars().take(60).collect::<String>()));
        }
        _ => return Err(refuse!("its value is not dense")),
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
    use super::super::values::attribute;
    use super::*;

    fn value(text: &str, element: ElementType, dims: &[u64]) -> Option<Numbers> {
        match dense(&attribute(text), &ArrayType::new(element, dims)).ok()? {
            Dense::Splat(value) | Dense::All(value) => Some(value.numbers),
            Dense::Elided => None,
        }
    }

    #[test]
    fn lists_in_every_spelling() {
        let list = |text: &str| attribute(text).numbers();
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
        assert!(dense(&attribute("dense<[1, 2]>"), &ArrayType::new(ElementType::S32, [3])).is_err());
        assert_eq!(value("dense<[-1, 255]>", ElementType::S8, &[2]), Some(Numbers::Whole(vec![-1, -1])));
        assert!(matches!(
            dense(&attribute("dense_resource<a>"), &ArrayType::new(ElementType::F32, [3])),
            Ok(Dense::Elided)
        ));
    }

    #[test]
    fn numbers_that_their_type_does_not_hold_are_refused() {
        let refused =
            |text: &str, element| dense(&attribute(text), &ArrayType::new(element, [1])).map(|_| ()).unwrap_err();
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

    #[test]
    fn arrays_of_bytecode_are_as_long_as_their_type() {
        let ty = |element, dims: &[u64]| ArrayType::new(element, dims);
        assert_eq!(whole_numbers(&ty(ElementType::S64, &[2, 1]), &[1, 0, 0, 0, 0, 0, 0, 0]), Some(vec![1, 1]));
        assert_eq!(whole_numbers(&ty(ElementType::S64, &[0]), &[]), Some(vec![]));
        assert_eq!((booleans(&[5], 3), booleans(&[1, 0, 1], 3)), (Some(vec![1, 0, 1]), Some(vec![1, 0, 1])));
        let (one, two) = ([0, 0, 0x80, 0x3f], [0, 0, 0x80, 0x3f, 0, 0, 0, 0x40]);
        let floats = |n: u64, raw: &[u8]| numbers_in(&ty(ElementType::F32, &[n]), raw);
        assert_eq!(floats(2, &two), Some(Numbers::Real(vec![1.0, 2.0])));
        assert_eq!((floats(9, &one), floats(2, &two[..3])), (Some(Numbers::Real(vec![1.0])), None));
        assert_eq!(numbers_in(&ty(ElementType::Pred, &[2]), &[1, 0]), Some(Numbers::Whole(vec![1, 0])));
        assert_eq!(numbers_in(&ty(ElementType::Pred, &[20]), &[0xff]), Some(Numbers::Whole(vec![1])));
    }

    #[test]
    fn dimension_numbers_in_both_forms() {
        let Attribute::List(sides) = attribute("#stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>") else {
            unreachable!()
        };
        assert_eq!(sides.len(), 3);
        let gather = attribute("#stablehlo.gather<offset_dims = [1, 2], index_vector_dim = 1>");
        assert_eq!(gather.value("offset_dims").unwrap().numbers(), [1, 2]);
        assert_eq!(attribute("#stablehlo<comparison_direction LT>"), Attribute::Word("LT"));
        assert_eq!(attribute("[0] x [1, 2]").numbers(), [0, 1, 2]);
        assert_eq!(attribute("1.000000e-05 : f32"), Attribute::Real(1e-5));
    }
}
