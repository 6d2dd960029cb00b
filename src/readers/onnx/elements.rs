//! Element types by ONNX's numbers, and numbers from bytes.

use ns_program::{ElementType, Numbers, numbers_of_bytes};

/// The element type with a number of `TensorProto.DataType`; `None` for text and for types that XLA does not have.
pub(super) const fn element(code: u64) -> Option<ElementType> {
    Some(match code {
        1 => ElementType::F32,
        2 => ElementType::U8,
        3 => ElementType::S8,
        4 => ElementType::U16,
        5 => ElementType::S16,
        6 => ElementType::S32,
        7 => ElementType::S64,
        9 => ElementType::Pred,
        10 => ElementType::F16,
        11 => ElementType::F64,
        12 => ElementType::U32,
        13 => ElementType::U64,
        14 => ElementType::C64,
        15 => ElementType::C128,
        16 => ElementType::Bf16,
        17 => ElementType::F8E4M3Fn,
        18 => ElementType::F8E4M3Fnuz,
        19 => ElementType::F8E5M2,
        20 => ElementType::F8E5M2Fnuz,
        21 => ElementType::U4,
        22 => ElementType::S4,
        _ => return None,
    })
}

/// The name of a `TensorProto.DataType` number, for messages.
pub(super) const fn element_name(code: u64) -> &'static str {
    match code {
        0 => "undefined",
        8 => "string",
        23 => "float4e2m1",
        _ => "of an unknown number",
    }
}

/// The numbers in little-endian bytes; `None` if there are fewer bytes than `count` elements need.
pub(super) fn numbers(element: ElementType, bytes: &[u8], count: usize) -> Option<Numbers> {
    let bits = usize::try_from(element.bits()).ok()?;
    if bytes.len() < count.checked_mul(bits)?.div_ceil(8) {
        return None;
    }
    if bits == 4 {
        // Two elements in each byte, the lower half first.
        let nibble = |i: usize| element.whole_of_bits(u64::from(bytes[i / 2] >> (4 * (i % 2)) & 15));
        return Some(Numbers::Whole((0..count).map(nibble).collect()));
    }
    numbers_of_bytes(element, bytes.get(..count * (bits / 8))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_each_width() {
        assert_eq!(numbers(ElementType::S64, &[255; 8], 1), Some(Numbers::Whole(vec![-1])));
        assert_eq!(numbers(ElementType::U32, &[255; 4], 1), Some(Numbers::Whole(vec![4_294_967_295])));
        assert_eq!(numbers(ElementType::F32, &[0, 0, 128, 63], 1), Some(Numbers::Real(vec![1.0])));
        assert_eq!(numbers(ElementType::S4, &[0xf1], 2), Some(Numbers::Whole(vec![1, -1])));
        assert_eq!(numbers(ElementType::F16, &[0, 0x3c], 1), Some(Numbers::Real(vec![1.0])));
        assert_eq!(numbers(ElementType::F32, &[0; 3], 1), None);
    }
}
