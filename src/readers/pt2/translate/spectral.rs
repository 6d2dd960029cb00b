//! Complex numbers, Fourier transforms and their windows.

use super::arrange::around;
use super::call::{Call, CallOutcome, OpResult, Row, one};
use ns_base::convert::{self, i64_to_f64, i64_to_u64, usize_to_i64};
use ns_base::{Refusal, refuse};
use ns_program::OperatorKind::Function;
use ns_program::compose::{Windows, dimension, windows};
use ns_program::{ArrayType, Binary, Built, ElementType, InstructionId, Numbers, Op, Unary, Value};

/// Most numbers of a window that is computed here.
const MOST_NUMBERS: i64 = 1 << 20;

/// Complex numbers, transforms and windows.
pub const OPS: &[Row] = &[
    (&["view_as_real", "view_as_real_copy"], Function, |c| {
        let x = c.x(0)?;
        let rank = c.b().rank(x);
        let (real, imaginary) = (c.b().unary(Unary::Real, x)?, c.b().unary(Unary::Imag, x)?);
        one(c.b().stack(&[real, imaginary], rank)?)
    }),
    (&["view_as_complex", "view_as_complex_copy"], Function, |c| {
        let x = c.x(0)?;
        let last = c.b().rank(x).saturating_sub(1);
        let (real, imaginary) = (c.b().pick(x, last, 0)?, c.b().pick(x, last, 1)?);
        one(c.b().binary(Binary::Complex, real, imaginary)?)
    }),
    (&["complex"], Function, |c| {
        let (real, imaginary) = (c.x(0)?, c.x(1)?);
        one(c.b().binary(Binary::Complex, real, imaginary)?)
    }),
    (&["polar"], Function, |c| {
        let (size, angle) = (c.x(0)?, c.x(1)?);
        let (cosine, sine) = (c.b().unary(Unary::Cos, angle)?, c.b().unary(Unary::Sin, angle)?);
        let (real, imaginary) = (c.b().mul(size, cosine)?, c.b().mul(size, sine)?);
        one(c.b().binary(Binary::Complex, real, imaginary)?)
    }),
    (&["conj", "_conj", "conj_physical", "_conj_physical"], Function, |c| {
        let x = c.x(0)?;
        one(conjugate(c, x)?)
    }),
    (&["resolve_conj"], Function, |c| one(c.x(0)?)),
    (&["fft_fftshift", "fft_ifftshift"], Function, shifted),
    (&["stft"], Function, short_time),
    (&["istft"], Function, from_spectra),
    (&["hann_window", "hamming_window", "blackman_window", "bartlett_window"], Function, window),
    (&["_fft_c2c"], Function, |c| {
        let is_forward = c.flag_or("forward", true);
        transform(c, if is_forward { Kind::Forward } else { Kind::Inverse })
    }),
    (&["fft_fft", "fft_fft2", "fft_fftn"], Function, |c| transform(c, Kind::Forward)),
    (&["fft_ifft", "fft_ifft2", "fft_ifftn"], Function, |c| transform(c, Kind::Inverse)),
    (&["_fft_r2c", "fft_rfft", "fft_rfft2", "fft_rfftn"], Function, |c| transform(c, Kind::OfReal)),
    (&["_fft_c2r", "fft_irfft", "fft_irfft2", "fft_irfftn"], Function, |c| transform(c, Kind::ToReal)),
];

/// Complex numbers with the other sign of their imaginary parts; real numbers as they are. Fails when there is no such value.
pub fn conjugate(c: &mut Call<'_, '_, '_>, x: InstructionId) -> Built {
    if !c.b().element(x).is_complex() {
        return Ok(x);
    }
    let (real, imaginary) = (c.b().unary(Unary::Real, x)?, c.b().unary(Unary::Imag, x)?);
    let minus = c.b().unary(Unary::Neg, imaginary)?;
    c.b().binary(Binary::Complex, real, minus)
}

/// Whether numbers are real or complex before and after a Fourier transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Forward,
    Inverse,
    OfReal,
    ToReal,
}

/// The divisor of a transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Divisor {
    One,
    Root,
    Count,
}

/// A transform along dimensions; the last of them has the half spectrum.
struct Transform {
    kind: Kind,
    along: Vec<usize>,
    sizes: Vec<u64>,
    divisor: Divisor,
}

/// Fourier transforms under the names of `torch.fft` and of the aten operators below them.
fn transform(c: &mut Call<'_, '_, '_>, kind: Kind) -> CallOutcome {
    let x = c.x(0)?;
    let dims = c.b().dims(x);
    let is_part = c.op.starts_with('_');
    let along = along(c, &dims)?;
    if along.is_empty() || along.len() > 3 {
        return Ok(OpResult::Unknown);
    }
    let sizes = sizes(c, &dims, &along, kind)?;
    let is_back = matches!(kind, Kind::Inverse | Kind::ToReal);
    let divisor = match (is_part, c.int_or("normalization", 0), c.text("norm")) {
        (true, 0, _) => Divisor::One,
        (true, 1, _) | (false, _, Some("ortho")) => Divisor::Root,
        (true, _, _) => Divisor::Count,
        (false, _, norm) if (norm == Some("forward")) == is_back => Divisor::One,
        _ => Divisor::Count,
    };
    let is_whole = kind == Kind::OfReal && is_part && !c.flag_or("onesided", true);
    let kind = if is_whole { Kind::Forward } else { kind };
    let value = apply(c, x, &Transform { kind, along, sizes, divisor })?;
    one(value)
}

/// Dimensions that are transformed.
fn along(c: &Call<'_, '_, '_>, dims: &[u64]) -> Result<Vec<usize>, Refusal> {
    let rank = dims.len();
    let count = match c.ints("s") {
        Some(sizes) => sizes.len(),
        None if c.op.ends_with('n') => rank,
        None => 2,
    };
    let given = match c.ints("dim") {
        Some(all) if !all.is_empty() => all,
        _ if c.op.ends_with('2') || c.op.ends_with('n') => {
            (0..usize_to_i64(count)).map(|i| i - usize_to_i64(count)).collect()
        }
        _ => vec![-1],
    };
    given.iter().map(|&d| dimension(rank, d)).collect()
}

/// Sizes of these dimensions in the real or complex signal, not in its spectrum.
fn sizes(c: &Call<'_, '_, '_>, dims: &[u64], along: &[usize], kind: Kind) -> Result<Vec<u64>, Refusal> {
    let mut sizes: Vec<u64> = along.iter().map(|&d| dims[d]).collect();
    let wrong = || refuse!("{} is not possible with sizes {dims:?}", c.op);
    if kind == Kind::ToReal {
        let last = sizes.last_mut().ok_or_else(wrong)?;
        *last = last.checked_sub(1).and_then(|n| n.checked_mul(2)).ok_or_else(wrong)?;
    }
    let given = c.ints("s").or_else(|| c.ints("n")).unwrap_or_default();
    for (size, &n) in sizes.iter_mut().zip(given.iter().filter(|_| given.len() == along.len())) {
        *size = if n == -1 { *size } else { u64::try_from(n).map_err(|_| wrong())? };
    }
    if let (Some(n), Some(last)) = (c.int("last_dim_size"), sizes.last_mut()) {
        *last = u64::try_from(n).map_err(|_| wrong())?;
    }
    if sizes.contains(&0) { Err(wrong()) } else { Ok(sizes) }
}

/// Transforms dimensions, which are moved to the end for the transform.
fn apply(c: &mut Call<'_, '_, '_>, x: InstructionId, how: &Transform) -> Built {
    let rank = c.b().rank(x);
    let first = rank - how.along.len();
    let order: Vec<usize> = (0..rank).filter(|d| !how.along.contains(d)).chain(how.along.iter().copied()).collect();
    let mut x = c.b().transpose(x, &order)?;
    let is_real = !c.b().element(x).is_complex();
    if is_real && !c.b().element(x).is_float() {
        x = c.b().convert(x, ElementType::F32)?;
    }
    if is_real && how.kind != Kind::OfReal {
        let none = c.b().with_number(Binary::Mul, x, 0.0)?;
        x = c.b().binary(Binary::Complex, x, none)?;
    }
    for (at, &size) in how.sizes.iter().enumerate() {
        let is_half = how.kind == Kind::ToReal && at + 1 == how.sizes.len();
        x = c.b().resize_dim(x, first + at, if is_half { size / 2 + 1 } else { size })?;
    }
    let (name, is_back) = match how.kind {
        Kind::Forward => ("FFT", false),
        Kind::Inverse => ("IFFT", true),
        Kind::OfReal => ("RFFT", false),
        Kind::ToReal => ("IRFFT", true),
    };
    let (mut dims, element) = (c.b().dims(x), c.b().element(x));
    let wide = matches!(element, ElementType::F64 | ElementType::C128);
    let element = match (how.kind, wide) {
        (Kind::ToReal, false) => ElementType::F32,
        (Kind::ToReal, true) => ElementType::F64,
        (_, false) => ElementType::C64,
        (_, true) => ElementType::C128,
    };
    if let (Kind::OfReal | Kind::ToReal, Some(last), Some(&size)) = (how.kind, dims.last_mut(), how.sizes.last()) {
        *last = if how.kind == Kind::OfReal { size / 2 + 1 } else { size };
    }
    let op = Op::Fft { kind: name.to_owned(), length: how.sizes.clone() };
    let made = c.b().push_array(op, vec![x], element, dims)?;
    let count = how.sizes.iter().fold(1.0, |all, &n| all * convert::u64_to_f64(n));
    // XLA divides by the number of elements in the inverse transform.
    let factor = match how.divisor {
        Divisor::One => 1.0,
        Divisor::Root => 1.0 / libm::sqrt(count),
        Divisor::Count => 1.0 / count,
    } * if is_back { count } else { 1.0 };
    let made = scaled(c, made, factor)?;
    let mut back = vec![0; rank];
    order.iter().enumerate().for_each(|(i, &d)| back[d] = i);
    c.b().transpose(made, &back)
}

/// `x` times a real number.
fn scaled(c: &mut Call<'_, '_, '_>, x: InstructionId, factor: f64) -> Built {
    if factor == 1.0 {
        return Ok(x);
    }
    if !c.b().element(x).is_complex() {
        return c.b().with_number(Binary::Mul, x, factor);
    }
    let (real, imaginary) = (c.b().unary(Unary::Real, x)?, c.b().unary(Unary::Imag, x)?);
    let real = c.b().with_number(Binary::Mul, real, factor)?;
    let imaginary = c.b().with_number(Binary::Mul, imaginary, factor)?;
    c.b().binary(Binary::Complex, real, imaginary)
}

/// Swaps the two halves of each dimension.
fn shifted(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let mut x = c.x(0)?;
    let rank = c.b().rank(x);
    for d in c.dimensions("dim", rank)? {
        let size = c.b().size(x, d)?;
        let at = if c.op == "fft_fftshift" { size.div_ceil(2) } else { size / 2 };
        let (front, back) = (c.b().slice_dim(x, d, 0, at, 1)?, c.b().slice_dim(x, d, at, size, 1)?);
        x = c.b().concatenate(&[back, front], d)?;
    }
    one(x)
}

/// Short-time spectra of a signal: `[.., frequencies, stretches]`.
fn short_time(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let natural = |name: &str| c.int(name).and_then(|n| u64::try_from(n).ok()).filter(|&n| n > 0);
    let size = c.positive("n_fft")?;
    let (step, length) = (natural("hop_length").unwrap_or(size / 4), natural("win_length").unwrap_or(size));
    let mut x = c.x(0)?;
    if c.b().element(x).is_complex() || step == 0 || length > size {
        return Ok(OpResult::Unknown);
    }
    let last = c.b().rank(x).saturating_sub(1);
    if c.flag_or("center", false) {
        let half = i64::try_from(size / 2).unwrap_or(i64::MAX);
        let mode = c.text("pad_mode").unwrap_or("reflect");
        x = around(c, x, last, (half, half), mode)?;
    }
    let frames = windows(c.b(), x, last, Windows { size, step, dilation: 1 }, false)?;
    let front = i64::try_from((size - length) / 2).unwrap_or(0);
    let behind = i64::try_from(size - length).unwrap_or(0) - front;
    let shape = match c.tensor("window")? {
        Some(window) => window,
        None => c.t.b.full(c.t.b.element(frames), &[length], 1.0)?,
    };
    let shape = c.b().pad(shape, 0.0, &[(front, behind)])?;
    let shaped = c.b().mul(frames, shape)?;
    let divisor = if c.flag_or("normalized", false) { Divisor::Root } else { Divisor::One };
    let kind = if c.flag_or("onesided", true) { Kind::OfReal } else { Kind::Forward };
    let how = Transform { kind, along: vec![last + 1], sizes: vec![size], divisor };
    let spectra = apply(c, shaped, &how)?;
    let turned = c.b().swap_dims(spectra, last, last + 1)?;
    if c.flag_or("return_complex", true) {
        return one(turned);
    }
    let (real, imaginary) = (c.b().unary(Unary::Real, turned)?, c.b().unary(Unary::Imag, turned)?);
    one(c.b().stack(&[real, imaginary], last + 2)?)
}

/// The signal of short-time spectra, which are added up where they overlap and divided by the sum of their windows.
fn from_spectra(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let natural = |name: &str| c.int(name).and_then(|n| u64::try_from(n).ok()).filter(|&n| n > 0);
    let size = c.positive("n_fft")?;
    let (step, length) = (natural("hop_length").unwrap_or(size / 4), natural("win_length").unwrap_or(size));
    let wanted = natural("length");
    let mut x = c.x(0)?;
    let rank = c.b().rank(x);
    let is_known = c.b().element(x).is_complex() && step > 0 && length <= size && matches!(rank, 2 | 3);
    if !is_known || c.flag_or("return_complex", false) {
        return Ok(OpResult::Unknown);
    }
    if rank == 2 {
        x = c.b().unsqueeze(x, 0)?;
    }
    let half = size / 2 + 1;
    let rows = c.b().size(x, 1)?;
    if rows != half && rows != size {
        return Err(refuse!("{rows} frequencies are given for a transform of {size} elements"));
    }
    let spectra = c.b().slice_dim(x, 1, 0, half, 1)?;
    let turned = c.b().swap_dims(spectra, 1, 2)?;
    let divisor = if c.flag_or("normalized", false) { Divisor::Root } else { Divisor::Count };
    let how = Transform { kind: Kind::ToReal, along: vec![2], sizes: vec![size], divisor };
    let frames = apply(c, turned, &how)?;
    let front = i64::try_from((size - length) / 2).unwrap_or(0);
    let behind = i64::try_from(size - length).unwrap_or(0) - front;
    let window = match c.tensor("window")? {
        Some(window) => window,
        None => c.t.b.full(c.t.b.element(frames), &[length], 1.0)?,
    };
    let window = c.b().pad(window, 0.0, &[(front, behind)])?;
    let shaped = c.b().mul(frames, window)?;
    let dims = c.b().dims(frames);
    let square = c.b().mul(window, window)?;
    let squares = c.b().broadcast_to(square, &[1, dims[1], size])?;
    let (signal, weights) = (added_up(c, shaped, step)?, added_up(c, squares, step)?);
    let all = c.b().size(signal, 1)?;
    let start = if c.flag_or("center", true) { size / 2 } else { 0 };
    let end = match wanted {
        Some(length) => start.saturating_add(length),
        None if start > 0 => all.saturating_sub(size / 2),
        None => all,
    };
    let (signal, weights) =
        (c.b().slice_dim(signal, 1, start, end.min(all), 1)?, c.b().slice_dim(weights, 1, start, end.min(all), 1)?);
    let mut value = c.b().div(signal, weights)?;
    if end > all {
        let more =
            i64::try_from(end - all).map_err(|_| refuse!("a signal of {end} elements is longer than 63 bits count"))?;
        value = c.b().pad(value, 0.0, &[(0, 0), (0, more)])?;
    }
    one(if rank == 2 { c.b().squeeze(value, 0)? } else { value })
}

/// Adds up stretches `[.., stretches, elements]`, each one step after the one before.
fn added_up(c: &mut Call<'_, '_, '_>, frames: InstructionId, step: u64) -> Built {
    let dims = c.b().dims(frames);
    let wrong = || refuse!("a sum of stretches is not possible with sizes {dims:?}");
    let (&[n, count, size], true) = (dims.as_slice(), step > 0) else {
        return Err(wrong());
    };
    let total = step.checked_mul(count.saturating_sub(1)).and_then(|n| n.checked_add(size));
    let total = total.ok_or_else(wrong)?;
    // Each stretch is split into parts of one step: part `i` overlaps the stretch that is `i` stretches later.
    let parts = size.div_ceil(step);
    let whole = c.b().resize_dim(frames, 2, parts.saturating_mul(step))?;
    let whole = c.b().reshape(whole, &[n, count, parts, step])?;
    let mut sum: Option<InstructionId> = None;
    for i in 0..parts {
        let part = c.b().pick(whole, 2, i)?;
        let edge = |n: u64| {
            i64::try_from(n).map_err(|_| refuse!("a sum of stretches of {n} elements is longer than 63 bits count"))
        };
        let placed = c.b().pad(part, 0.0, &[(0, 0), (edge(i)?, edge(parts - 1 - i)?), (0, 0)])?;
        sum = Some(match sum {
            Some(sum) => c.b().add(sum, placed)?,
            None => placed,
        });
    }
    let sum = sum.ok_or_else(|| refuse!("there is nothing to add up"))?;
    let row = c.b().reshape(sum, &[n, (count + parts - 1).saturating_mul(step)])?;
    c.b().slice_dim(row, 1, 0, total, 1)
}

/// A window function: numbers that rise from the ends to the middle.
fn window(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let count = c.int("window_length").unwrap_or(-1);
    if !(0..=MOST_NUMBERS).contains(&count) {
        return Err(refuse!("window_length is {count} and must be from 0 to {MOST_NUMBERS}"));
    }
    let is_periodic = c.flag_or("periodic", true);
    let span = i64_to_f64(if is_periodic { count } else { count - 1 }.max(1));
    let (alpha, beta) = (c.float_or("alpha", 0.54), c.float_or("beta", 0.46));
    let turn = |i: i64| 2.0 * std::f64::consts::PI * i64_to_f64(i) / span;
    let number = |i: i64| match c.op {
        "hann_window" => 0.5 - 0.5 * libm::cos(turn(i)),
        "hamming_window" => alpha - beta * libm::cos(turn(i)),
        "blackman_window" => 0.42 - 0.5 * libm::cos(turn(i)) + 0.08 * libm::cos(2.0 * turn(i)),
        _ => 1.0 - (2.0 * i64_to_f64(i) / span - 1.0).abs(),
    };
    let numbers = if count == 1 { vec![1.0] } else { (0..count).map(number).collect() };
    let ty = ArrayType::new(ElementType::F64, [i64_to_u64(count)]);
    let row = c.b().constant(Value { ty, numbers: Numbers::Real(numbers) })?;
    let element = c.result().map_or(ElementType::F32, |ty| ty.element);
    one(c.b().convert(row, element)?)
}
