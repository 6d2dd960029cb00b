//! Settings of an `HloInstructionProto`, by field number.

use super::proto::fields;
use super::raw::{ConvDims, IndexDims, Settings};
use ns_base::convert::f64_to_f32;
use ns_base::wire::Wire;
use ns_program::{DotDims, ImportError, WindowDim};

/// Stores a field; fields that do not affect the meaning are skipped.
pub(super) fn apply(settings: &mut Settings, field: u32, value: Wire<'_>) -> Result<(), ImportError> {
    match field {
        9 => settings.parameter = Some(value.i64()),
        13 => settings.tuple_index = value.i64(),
        14 => settings.dimensions.extend(signed(value)),
        15 => settings.window = window(value.bytes())?,
        16 => settings.convolution = convolution(value.bytes())?,
        17 => slice(settings, value.bytes())?,
        18 => settings.precision.0 = value.i64(),
        19 => settings.precision.1 = value.i64(),
        20 | 34 => settings.sizes.extend(signed(value)),
        21 => settings.padding = padding(value.bytes())?,
        24 => settings.epsilon = f64_to_f32(value.f64()),
        25 => settings.feature_index = value.i64(),
        28 => settings.target = value.text().into_owned(),
        30 => settings.dot = Some(dot(value.bytes())?),
        31 => settings.fft_kind = fft_kind(value.u64()).to_owned(),
        32 => settings.fft_length.extend(signed(value)),
        33 | 48 => settings.index_dims = index_dims(value.bytes())?,
        23 => settings.distribution = distribution(value.u64()).to_owned(),
        43 => settings.config = value.text().into_owned(),
        50 => settings.feature_groups = Some(value.i64()),
        58 => settings.batch_groups = Some(value.i64()),
        60 => settings.is_stable = value.u64() != 0,
        63 => settings.direction = value.text().into_owned(),
        70 => settings.algorithm = algorithm(value.u64()).to_owned(),
        72 => settings.is_total_order = value.bytes() == b"TOTALORDER",
        // Field 85 comes after it and is not written when it is false.
        81 => (settings.k, settings.is_smallest) = (value.i64(), true),
        85 => settings.is_smallest = value.u64() == 0,
        _ => {}
    }
    Ok(())
}

fn signed(value: Wire<'_>) -> impl Iterator<Item = i64> {
    value.varints().map(|n| n.cast_signed())
}

fn window(message: &[u8]) -> Result<Vec<WindowDim>, ImportError> {
    let mut dims = Vec::new();
    for (field, value) in fields(message, "a window")? {
        if field != 1 {
            continue;
        }
        // Fields of 0 are not written; XLA writes strides and dilations of 1.
        let mut dim = WindowDim { size: 0, stride: 0, window_dilation: 0, base_dilation: 0, ..WindowDim::ONE };
        for (field, value) in fields(value.bytes(), "a window's dimension")? {
            match field {
                1 => dim.size = value.u64(),
                2 => dim.stride = value.u64(),
                3 => dim.pad_low = value.i64(),
                4 => dim.pad_high = value.i64(),
                5 => dim.window_dilation = value.u64(),
                6 => dim.base_dilation = value.u64(),
                7 => dim.is_reversed = value.u64() != 0,
                _ => {}
            }
        }
        dims.push(dim);
    }
    Ok(dims)
}

fn convolution(message: &[u8]) -> Result<ConvDims, ImportError> {
    let mut dims = ConvDims::default();
    for (field, value) in fields(message, "convolution dimensions")? {
        match field {
            7 => dims.input.0 = value.i64(),
            8 => dims.input.1 = value.i64(),
            11 => dims.input.2.extend(signed(value)),
            3 => dims.kernel.0 = value.i64(),
            4 => dims.kernel.1 = value.i64(),
            6 => dims.kernel.2.extend(signed(value)),
            9 => dims.output.0 = value.i64(),
            10 => dims.output.1 = value.i64(),
            12 => dims.output.2.extend(signed(value)),
            _ => {}
        }
    }
    Ok(dims)
}

fn slice(settings: &mut Settings, message: &[u8]) -> Result<(), ImportError> {
    let [mut start, mut limit, mut stride] = [0; 3];
    for (field, value) in fields(message, "a slice's dimension")? {
        match field {
            1 => start = value.i64(),
            2 => limit = value.i64(),
            3 => stride = value.i64(),
            _ => {}
        }
    }
    settings.starts.push(start);
    settings.limits.push(limit);
    settings.strides.push(stride);
    Ok(())
}

fn padding(message: &[u8]) -> Result<Vec<[i64; 3]>, ImportError> {
    let mut dims = Vec::new();
    for (field, value) in fields(message, "a padding")? {
        if field != 1 {
            continue;
        }
        let mut dim = [0; 3];
        for (field, value) in fields(value.bytes(), "a padding's dimension")? {
            if let Some(slot) = dim.get_mut((field as usize).wrapping_sub(1)) {
                *slot = value.i64();
            }
        }
        dims.push(dim);
    }
    Ok(dims)
}

fn dot(message: &[u8]) -> Result<DotDims, ImportError> {
    let mut dims = DotDims::default();
    for (field, value) in fields(message, "dot dimensions")? {
        let list = value.varints().map(|n| u32::try_from(n).unwrap_or(u32::MAX));
        match field {
            1 => dims.lhs_contracting.extend(list),
            2 => dims.rhs_contracting.extend(list),
            3 => dims.lhs_batch.extend(list),
            4 => dims.rhs_batch.extend(list),
            _ => {}
        }
    }
    Ok(dims)
}

/// Gather and scatter use the same field numbers for corresponding settings.
fn index_dims(message: &[u8]) -> Result<IndexDims, ImportError> {
    let mut dims = IndexDims::default();
    for (field, value) in fields(message, "index dimensions")? {
        match field {
            1 => dims.window.extend(signed(value)),
            2 => dims.dropped.extend(signed(value)),
            3 => dims.map.extend(signed(value)),
            4 => dims.vector = value.i64(),
            5 => dims.batch.extend(signed(value)),
            6 => dims.indices_batch.extend(signed(value)),
            _ => {}
        }
    }
    Ok(dims)
}

const fn fft_kind(code: u64) -> &'static str {
    match code {
        1 => "IFFT",
        2 => "RFFT",
        3 => "IRFFT",
        _ => "FFT",
    }
}

const fn distribution(code: u64) -> &'static str {
    match code {
        1 => "rng_uniform",
        2 => "rng_normal",
        _ => "rng_invalid",
    }
}

const fn algorithm(code: u64) -> &'static str {
    match code {
        1 => "rng_three_fry",
        2 => "rng_philox",
        _ => "rng_default",
    }
}
