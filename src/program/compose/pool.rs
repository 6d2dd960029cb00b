//! Pooling over windows of `[batch, channels, spatial ..]`; batch and channels may be any number of leading dimensions.

use super::super::builder::no_window;
use super::super::{
    ArrayType, Binary, Builder, Built, Comparison, ElementType, InstructionId, Numbers, Value, WindowDim,
};
use ns_base::convert::{i64_to_f64, i128_to_f64, u64_to_f64, usize_to_u32};
use ns_base::{Refusal, refuse};

/// Windows of a pooling, one for each spatial dimension.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PoolSpec {
    pub sizes: Vec<u64>,
    pub strides: Vec<u64>,
    /// Elements added in front and behind.
    pub padding: Vec<(u64, u64)>,
    /// Distances between elements of the window.
    pub dilation: Vec<u64>,
    /// Whether a last window that reaches beyond the padding counts.
    pub rounds_up: bool,
    /// Whether padding counts as elements of the mean.
    pub counts_padding: bool,
}

/// Windows along one dimension whose elements are counted.
const MOST_PLACES: u64 = 1 << 20;

/// The largest element under each window. Fails when the windows do not fit.
pub fn max_pool(b: &mut Builder, x: InstructionId, spec: &PoolSpec) -> Built {
    let window = windows(b, x, spec)?;
    b.reduce_window(Binary::Max, x, window)
}

/// The index of the largest element under each window: its position among the spatial elements of its channel, as an integer. Fails
/// when the windows do not fit, or when they overlap padding in more than two dimensions.
pub fn max_pool_indices(b: &mut Builder, x: InstructionId, pooled: InstructionId, spec: &PoolSpec) -> Built {
    // For each element of the window: whether it is the largest; the first of equal ones counts.
    let window = windows(b, x, spec)?;
    let (dims, result) = (b.dims(x), b.dims(pooled));
    let first = dims.len() - spec.sizes.len();
    let spatial: Vec<u64> = dims[first..].to_vec();
    let count = spec.sizes.iter().try_fold(1u64, |n, &k| n.checked_mul(k)).filter(|&n| n <= 4096);
    let Some(count) = count else {
        return Err(refuse!(
            "the largest element under a window of sizes {:?} is too large: the limit is 4096",
            spec.sizes
        ));
    };
    let places = flat_numbers(b, &dims, first)?;
    let least = b.least(b.element(x))?;
    let edges: Vec<(i64, i64, u64)> = window.iter().map(|w| (w.pad_low, w.pad_high.max(0), 0)).collect();
    let padded = b.pad_with(x, least, &edges)?;
    let nowhere = b.number(ElementType::S64, i64_to_f64(i64::MAX))?;
    let padded_places = b.pad_with(places, nowhere, &edges)?;
    let mut best = b.broadcast_to(nowhere, &result)?;
    for number in (0..count).rev() {
        let mut rest = number;
        let (mut value, mut place) = (padded, padded_places);
        for (i, &k) in spec.sizes.iter().enumerate().rev() {
            let (at, d) = (rest % k, first + i);
            rest /= k;
            let start = at * window[d].window_dilation;
            let limit = start + (result[d] - 1) * window[d].stride + 1;
            value = b.slice_dim(value, d, start, limit, window[d].stride)?;
            place = b.slice_dim(place, d, start, limit, window[d].stride)?;
        }
        let is_largest = b.compare(Comparison::Eq, value, pooled)?;
        let known = b.compare_number(Comparison::Lt, place, u64_to_f64(spatial.iter().product::<u64>()))?;
        let counts = b.binary(Binary::And, is_largest, known)?;
        best = b.select(counts, place, best)?;
    }
    Ok(best)
}

/// The mean under each window; `divisor` replaces the number of elements if given. Fails when the windows do not fit.
pub fn average_pool(b: &mut Builder, x: InstructionId, spec: &PoolSpec, divisor: Option<f64>) -> Built {
    let window = windows(b, x, spec)?;
    let dims = b.dims(x);
    let sum = b.reduce_window(Binary::Add, x, window.clone())?;
    if let Some(divisor) = divisor {
        return b.with_number(Binary::Div, sum, divisor);
    }
    let result = b.dims(sum);
    let first = dims.len() - spec.sizes.len();
    if result[first..].iter().any(|&n| n > MOST_PLACES) {
        let sizes = &result[first..];
        return Err(refuse!(
            "a mean under windows at places of sizes {sizes:?} is too large: the limit is {MOST_PLACES}"
        ));
    }
    let counts: Vec<Vec<f64>> = (0..spec.sizes.len())
        .map(|i| {
            let (size, w, behind) = (dims[first + i], &window[first + i], spec.padding[i].1);
            (0..result[first + i]).map(|at| elements_in_window(at, size, w, behind, spec.counts_padding)).collect()
        })
        .collect();
    let is_uniform = counts.iter().all(|row| row.iter().all(|&n| n == row[0]));
    if is_uniform {
        let count = counts.iter().filter_map(|row| row.first()).product();
        return b.with_number(Binary::Div, sum, count);
    }
    let mut sum = sum;
    for (i, row) in counts.into_iter().enumerate() {
        let ty = ArrayType::new(b.element(x), [row.len() as u64]);
        let row = b.constant(Value { ty, numbers: Numbers::Real(row) })?;
        let row = b.broadcast_in(row, &result, vec![usize_to_u32(first + i)])?;
        sum = b.div(sum, row)?;
    }
    Ok(sum)
}

/// The mean over each part, with each spatial dimension divided into as many parts as `sizes` says. Fails when there are more sizes
/// than dimensions.
pub fn adaptive_average_pool(b: &mut Builder, x: InstructionId, sizes: &[u64]) -> Built {
    adaptive(b, x, sizes, |b, x, dimensions| b.mean(x, dimensions, true), average_pool_plain)
}

/// The largest element of each part, with each spatial dimension divided into as many parts as `sizes` says. Fails when there are
/// more sizes than dimensions.
pub fn adaptive_max_pool(b: &mut Builder, x: InstructionId, sizes: &[u64]) -> Built {
    adaptive(b, x, sizes, |b, x, dimensions| b.reduce(Binary::Max, x, dimensions, true), max_pool)
}

/// The largest element of each part, with each spatial dimension divided into as many parts as `sizes` says, and its position among the
/// spatial elements of its channel (s64): the first of equal ones in row-major order. Fails when there are more sizes than
/// dimensions, or nothing to pool.
pub fn adaptive_max_places(b: &mut Builder, x: InstructionId, sizes: &[u64]) -> Result<[InstructionId; 2], Refusal> {
    let dims = b.dims(x);
    let first = dims.len().checked_sub(sizes.len()).filter(|_| !dims.contains(&0) && !sizes.contains(&0));
    let Some(first) = first else {
        return Err(not_pooled(b, x, sizes));
    };
    let (mut values, mut places) = (x, flat_numbers(b, &dims, first)?);
    // The last dimension goes first, so that the first of equal elements in row-major order is kept.
    for (i, &m) in sizes.iter().enumerate().rev() {
        let (d, n) = (first + i, u128::from(dims[first + i]));
        if m > 1024 {
            return Err(refuse!("places of the largest of parts of sizes {:?} is too large: the limit is 1024", [m]));
        }
        let (mut found, mut at) = (Vec::new(), Vec::new());
        for part in 0..u128::from(m) {
            let (start, limit) = (part * n / u128::from(m), ((part + 1) * n).div_ceil(u128::from(m)));
            let [start, limit] = [start, limit].map(|at| u64::try_from(at).unwrap_or(dims[d]));
            let own = b.slice_dim(values, d, start, limit, 1)?;
            let own_places = b.slice_dim(places, d, start, limit, 1)?;
            let most = b.reduce(Binary::Max, own, &[d], true)?;
            let is_most = b.compare(Comparison::Eq, own, most)?;
            let nowhere = b.number(ElementType::S64, i64_to_f64(i64::MAX))?;
            let candidates = b.select(is_most, own_places, nowhere)?;
            found.push(most);
            at.push(b.reduce(Binary::Min, candidates, &[d], true)?);
        }
        (values, places) = (b.concatenate(&found, d)?, b.concatenate(&at, d)?);
    }
    Ok([values, places])
}

fn average_pool_plain(b: &mut Builder, x: InstructionId, spec: &PoolSpec) -> Built {
    average_pool(b, x, spec, None)
}

/// A pooling into parts: whole dimensions at once, equal parts by windows, unequal ones part by part.
fn adaptive(
    b: &mut Builder,
    x: InstructionId,
    sizes: &[u64],
    whole: impl Fn(&mut Builder, InstructionId, &[usize]) -> Built,
    by_window: impl Fn(&mut Builder, InstructionId, &PoolSpec) -> Built,
) -> Built {
    let dims = b.dims(x);
    let Some(first) = dims.len().checked_sub(sizes.len()) else {
        let (given, ty) = (sizes.len(), b.type_of(x));
        return Err(refuse!("{given} sizes are given for {ty}"));
    };
    if sizes.iter().all(|&n| n == 1) {
        let all: Vec<usize> = (first..dims.len()).collect();
        return whole(b, x, &all);
    }
    if sizes.contains(&0) || dims.contains(&0) {
        return Err(not_pooled(b, x, sizes));
    }
    if dims[first..].iter().zip(sizes).all(|(&n, &m)| n % m == 0) {
        let steps: Vec<u64> = dims[first..].iter().zip(sizes).map(|(&n, &m)| n / m).collect();
        if steps.iter().all(|&s| s == 1) {
            return Ok(x);
        }
        let spec = PoolSpec {
            sizes: steps.clone(),
            strides: steps,
            padding: vec![(0, 0); sizes.len()],
            dilation: vec![1; sizes.len()],
            ..PoolSpec::default()
        };
        return by_window(b, x, &spec);
    }
    let mut x = x;
    for (i, &m) in sizes.iter().enumerate() {
        let (d, n) = (first + i, u128::from(dims[first + i]));
        if m > 65_536 {
            return Err(refuse!("a pooling to parts of sizes {:?} is too large: the limit is 65536", [m]));
        }
        let mut parts = Vec::new();
        for at in 0..u128::from(m) {
            let (start, limit) = (at * n / u128::from(m), ((at + 1) * n).div_ceil(u128::from(m)));
            let [start, limit] = [start, limit].map(|at| u64::try_from(at).unwrap_or(u64::MAX));
            let part = b.slice_dim(x, d, start, limit, 1)?;
            parts.push(whole(b, part, &[d])?);
        }
        x = b.concatenate(&parts, d)?;
    }
    Ok(x)
}

/// An error for an array that cannot be divided into these parts.
fn not_pooled(b: &Builder, x: InstructionId, sizes: &[u64]) -> Refusal {
    refuse!("{} cannot be pooled to {sizes:?}", b.type_of(x))
}

/// Windows for all dimensions of `x`, with the extra padding behind that rounding up needs.
fn windows(b: &Builder, x: InstructionId, spec: &PoolSpec) -> Result<Vec<WindowDim>, Refusal> {
    let dims = b.dims(x);
    let n = spec.sizes.len();
    let first = dims.len().checked_sub(n);
    let lengths = [spec.strides.len(), spec.padding.len(), spec.dilation.len()];
    let (Some(first), true) = (first, lengths.iter().all(|&l| l == n)) else {
        let ([strides, padding, dilation], ty) = (lengths, b.type_of(x));
        return Err(refuse!(
            "a pooling of {ty} has {n} sizes, {strides} strides, {padding} paddings and {dilation} dilations"
        ));
    };
    let mut windows = vec![WindowDim::ONE; first];
    for i in 0..n {
        windows.push(one_window(dims[first + i], i, spec)?);
    }
    Ok(windows)
}

/// The window of spatial dimension `i`, which has `size` elements.
fn one_window(size: u64, i: usize, spec: &PoolSpec) -> Result<WindowDim, Refusal> {
    let (k, stride, dilation) = (spec.sizes[i], spec.strides[i], spec.dilation[i]);
    let (low, high) = spec.padding[i];
    let plain = WindowDim { size: k, stride, window_dilation: dilation, ..WindowDim::ONE };
    let wrong = || {
        let signed = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
        no_window(&WindowDim { pad_low: signed(low), pad_high: signed(high), ..plain }, size)
    };
    if k == 0 || stride == 0 || dilation == 0 {
        return Err(wrong());
    }
    let reach = (k - 1).checked_mul(dilation).and_then(|n| n.checked_add(1)).ok_or_else(wrong)?;
    let padded = size.checked_add(low).and_then(|n| n.checked_add(high)).ok_or_else(wrong)?;
    let room = padded.checked_sub(reach).ok_or_else(wrong)?;
    let mut steps = if spec.rounds_up { room.div_ceil(stride) } else { room / stride };
    // A window must begin inside the array or the padding in front of it.
    if spec.rounds_up && steps.saturating_mul(stride) >= size + low {
        steps -= 1;
    }
    let more = i128::from(steps) * i128::from(stride) + i128::from(reach) - i128::from(padded);
    let pad_high = i64::try_from(i128::from(high) + more.max(0)).map_err(|_| wrong())?;
    let pad_low = i64::try_from(low).map_err(|_| wrong())?;
    Ok(WindowDim { pad_low, pad_high, ..plain })
}

/// Number of elements that count in the mean under the window at position `at` of a dimension.
fn elements_in_window(at: u64, size: u64, w: &WindowDim, behind: u64, counts_padding: bool) -> f64 {
    let start = i128::from(at) * i128::from(w.stride) - i128::from(w.pad_low);
    let (least, most) = match counts_padding {
        // Padding added by rounding up never counts.
        true => (-i128::from(w.pad_low), i128::from(size) + i128::from(behind)),
        false => (0, i128::from(size)),
    };
    // Of the positions start, start + dilation .. those from `least` up to `most` count.
    let dilation = i128::from(w.window_dilation.max(1));
    let before = |end: i128| (((end - start).max(0) + dilation - 1) / dilation).min(i128::from(w.size));
    i128_to_f64(before(most) - before(least))
}

/// The position of each element in the dimensions from `first` on, in row-major order, as s64.
fn flat_numbers(b: &mut Builder, dims: &[u64], first: usize) -> Built {
    let mut sum = None;
    let mut step = 1u64;
    for d in (first..dims.len()).rev() {
        let place = b.iota(ElementType::S64, dims, d)?;
        let place = b.with_number(Binary::Mul, place, u64_to_f64(step))?;
        sum = Some(match sum {
            Some(sum) => b.add(sum, place)?,
            None => place,
        });
        step = step.saturating_mul(dims[d]);
    }
    sum.ok_or_else(|| refuse!("there is nothing to pool"))
}
