//! Products, convolutions, windows and Fourier transforms.
use super::{Inference, check_dimensions};
use crate::{ArrayType, ConvolutionDims, DotDims, Op, Type, WindowDim};
use ns_base::convert::usize_to_u32;
use ns_base::{Refusal, refuse};

pub(super) fn result(at: &Inference<'_>) -> Result<Type, Refusal> {
    match at.op {
        Op::Dot(dims) => dot(at, dims),
        Op::Convolution { window, dims, feature_group_count, batch_group_count } => {
            convolution(at, window, dims, (*feature_group_count, *batch_group_count))
        }
        Op::ReduceWindow { window } => reduce_window(at, window),
        Op::SelectAndScatter { window } => select_and_scatter(at, window),
        Op::Fft { kind, length } => fft(at, kind, length),
        _ => Ok(at.declared.clone()),
    }
}

/// Number of positions of a window along a dimension of `size` elements. Fails when sizes are beyond 64 bits or steps are zero.
pub fn window_result(size: u64, window: &WindowDim) -> Result<u64, Refusal> {
    if window.stride == 0 || window.window_dilation == 0 || window.base_dilation == 0 || window.size == 0 {
        return Err(refuse!("its window has a size, a step or a dilation of 0"));
    }
    let dilated =
        |n: u64, by: u64| if n == 0 { 0 } else { i128::from(n - 1).saturating_mul(i128::from(by)).saturating_add(1) };
    let pads = i128::from(window.pad_low) + i128::from(window.pad_high);
    let padded = dilated(size, window.base_dilation).saturating_add(pads);
    let under = dilated(window.size, window.window_dilation);
    if padded < under {
        return Ok(0);
    }
    u64::try_from((padded - under) / i128::from(window.stride) + 1).map_err(|_| refuse!("its result is beyond 64 bits"))
}

fn dot(at: &Inference<'_>, dims: &DotDims) -> Result<Type, Refusal> {
    let (lhs, rhs) = (at.array(0)?, at.array(1)?);
    let (left, right) = (
        [&dims.lhs_batch[..], &dims.lhs_contracting[..]].concat(),
        [&dims.rhs_batch[..], &dims.rhs_contracting[..]].concat(),
    );
    check_dimensions(&left, lhs.dims.len(), "its left side")?;
    check_dimensions(&right, rhs.dims.len(), "its right side")?;
    if dims.lhs_batch.len() != dims.rhs_batch.len() || left.len() != right.len() {
        return Err(refuse!("it pairs different numbers of dimensions"));
    }
    for (&l, &r) in left.iter().zip(&right) {
        if lhs.dims[l as usize] != rhs.dims[r as usize] {
            return Err(refuse!("it pairs dimension {l} of {lhs} with dimension {r} of {rhs}"));
        }
    }
    let batch = dims.lhs_batch.iter().map(|&d| lhs.dims[d as usize]);
    let free = |array: &ArrayType, used: &[u32]| {
        let dims = array.dims.iter().enumerate().filter(|(i, _)| !used.contains(&usize_to_u32(*i)));
        dims.map(|(_, &d)| d).collect::<Vec<_>>()
    };
    let sizes: Vec<u64> = batch.chain(free(lhs, &left)).chain(free(rhs, &right)).collect();
    Ok(Type::Array(ArrayType::new(at.declared_element()?, sizes)))
}

fn convolution(
    at: &Inference<'_>,
    window: &[WindowDim],
    dims: &ConvolutionDims,
    (feature_groups, batch_groups): (u64, u64),
) -> Result<Type, Refusal> {
    let (input, kernel) = (at.array(0)?, at.array(1)?);
    let spatial = window.len();
    for (which, array, (a, b, rest)) in
        [("its input", input, &dims.input), ("its kernel", kernel, &dims.kernel), ("its result", input, &dims.output)]
    {
        let all: Vec<u32> = [*a, *b].into_iter().chain(rest.iter().copied()).collect();
        check_dimensions(&all, array.dims.len(), which)?;
        if rest.len() != spatial || array.dims.len() != spatial + 2 {
            let rank = array.dims.len();
            return Err(refuse!("{which} has {rank} dimensions and its window {spatial}"));
        }
    }
    let size = |array: &ArrayType, d: u32| array.dims[d as usize];
    let (channels, batch) = (size(input, dims.input.1), size(input, dims.input.0));
    let (per_group, features) = (size(kernel, dims.kernel.0), size(kernel, dims.kernel.1));
    if feature_groups == 0 || batch_groups == 0 || per_group.checked_mul(feature_groups) != Some(channels) {
        return Err(refuse!("{channels} channels in {feature_groups} groups meet a kernel of {per_group}"));
    }
    if !features.is_multiple_of(feature_groups) || !batch.is_multiple_of(batch_groups) {
        return Err(refuse!("{features} features and a batch of {batch} do not divide into its groups"));
    }
    let mut sizes = vec![0; spatial + 2];
    sizes[dims.output.0 as usize] = batch / batch_groups;
    sizes[dims.output.1 as usize] = features;
    for i in 0..spatial {
        let under = size(kernel, dims.kernel.2[i]);
        if window[i].size != under {
            return Err(refuse!("its window has {} elements and its kernel {under}", window[i].size));
        }
        sizes[dims.output.2[i] as usize] = window_result(size(input, dims.input.2[i]), &window[i])?;
    }
    Ok(Type::Array(ArrayType::new(at.declared_element()?, sizes)))
}

fn windowed(array: &ArrayType, window: &[WindowDim]) -> Result<Vec<u64>, Refusal> {
    if window.len() != array.dims.len() {
        return Err(refuse!("its window has {} dimensions and {array} has {}", window.len(), array.dims.len()));
    }
    array.dims.iter().zip(window).map(|(&size, w)| window_result(size, w)).collect()
}

fn reduce_window(at: &Inference<'_>, window: &[WindowDim]) -> Result<Type, Refusal> {
    let n = at.operands.len() / 2;
    if !at.operands.len().is_multiple_of(2) {
        return Err(refuse!("it has {} operands and takes as many arrays as first values", at.operands.len()));
    }
    let mut types = Vec::new();
    for i in 0..n {
        let array = at.array(i)?;
        types.push(Type::Array(ArrayType::new(array.element, windowed(array, window)?)));
    }
    Ok(if n == 1 { types[0].clone() } else { Type::Tuple(types) })
}

fn select_and_scatter(at: &Inference<'_>, window: &[WindowDim]) -> Result<Type, Refusal> {
    let (array, source) = (at.array(0)?, at.array(1)?);
    let places = windowed(array, window)?;
    if places != source.dims {
        return Err(refuse!("its window has places {places:?} and its source is {source}"));
    }
    Ok(at.operands[0].clone())
}

fn fft(at: &Inference<'_>, kind: &str, length: &[u64]) -> Result<Type, Refusal> {
    let array = at.array(0)?;
    let mut dims = array.dims.clone();
    let (rank, n) = (dims.len(), length.len());
    if n == 0 || n > rank {
        return Err(refuse!("it transforms {n} dimensions of {array}"));
    }
    match kind {
        "RFFT" => dims[rank - 1] = length[n - 1] / 2 + 1,
        "IRFFT" => dims[rank - 1] = length[n - 1],
        _ => {}
    }
    Ok(Type::Array(ArrayType::new(at.declared_element()?, dims)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_have_as_many_places_as_xla_says() {
        let places = |size, window: WindowDim| window_result(size, &window);
        let window = WindowDim { size: 3, ..WindowDim::ONE };
        assert_eq!(places(7, window), Ok(5));
        assert_eq!(places(7, WindowDim { stride: 2, pad_low: 1, pad_high: 1, ..window }), Ok(4));
        assert_eq!(places(7, WindowDim { window_dilation: 3, ..window }), Ok(1));
        assert_eq!(places(4, WindowDim { base_dilation: 2, pad_low: 2, pad_high: 2, ..window }), Ok(9));
        assert_eq!(places(7, WindowDim { pad_low: -5, ..window }), Ok(0));
        assert_eq!(places(0, WindowDim::ONE), Ok(0));
        assert!(places(7, WindowDim { stride: 0, ..window }).is_err());
        let huge = WindowDim { pad_low: i64::MAX, pad_high: i64::MAX, base_dilation: u64::MAX, ..window };
        assert!(places(u64::MAX, huge).is_err());
    }

    #[test]
    fn products_and_convolutions_give_their_sizes() {
        let array = |dims: &[u64]| Type::Array(ArrayType::new(crate::ElementType::F32, dims));
        let result = |op: &Op, a: &[u64], b: &[u64]| {
            let (a, b) = (array(a), array(b));
            let at = Inference { op, operands: &[&a, &b], called: &[], declared: &array(&[]) };
            at.result().map(|ty| ty.to_string())
        };
        let dims =
            DotDims { lhs_contracting: vec![2], rhs_contracting: vec![1], lhs_batch: vec![0], rhs_batch: vec![0] };
        assert_eq!(result(&Op::Dot(dims.clone()), &[2, 5, 7], &[2, 7, 3]), Ok("f32[2,5,3]".to_owned()));
        assert!(
            result(&Op::Dot(dims.clone()), &[2, 5, 7], &[2, 8, 3])
                .unwrap_err()
                .to_string()
                .contains("pairs dimension 2")
        );
        assert!(
            result(&Op::Dot(dims), &[2, 5], &[2, 8, 3]).unwrap_err().to_string().contains("names dimension 2 of 2")
        );
        let convolution = |groups| Op::Convolution {
            window: vec![WindowDim { size: 3, pad_low: 1, pad_high: 1, ..WindowDim::ONE }; 2],
            dims: ConvolutionDims { input: (0, 1, vec![2, 3]), kernel: (1, 0, vec![2, 3]), output: (0, 3, vec![1, 2]) },
            feature_group_count: groups,
            batch_group_count: 1,
        };
        assert_eq!(result(&convolution(4), &[1, 4, 6, 5], &[8, 1, 3, 3]), Ok("f32[1,6,5,8]".to_owned()));
        assert!(
            result(&convolution(1), &[1, 4, 6, 5], &[8, 1, 3, 3])
                .unwrap_err()
                .to_string()
                .contains("4 channels in 1 groups")
        );
        assert!(result(&convolution(0), &[1, 4, 6, 5], &[8, 1, 3, 3]).is_err());
    }
}
