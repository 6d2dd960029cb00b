//! Windows and ranges as HLO text writes them: `{size=3x3 stride=2x2 pad=1_1x1_1}`, `{[0:2], [0:9:2]}`.

use ns_tensor::kernels::{SliceDim, WindowDim};

/// A window; values equal to their default everywhere are left out.
pub(super) fn print_window(window: &[WindowDim]) -> String {
    let one = |f: fn(&WindowDim) -> u64| window.iter().map(|d| f(d).to_string()).collect::<Vec<_>>().join("x");
    let mut out = format!("size={}", one(|d| d.size));
    if window.iter().any(|d| d.stride != 1) {
        out += &format!(" stride={}", one(|d| d.stride));
    }
    if window.iter().any(|d| (d.pad_low, d.pad_high) != (0, 0)) {
        let pads: Vec<String> = window.iter().map(|d| format!("{}_{}", d.pad_low, d.pad_high)).collect();
        out += &format!(" pad={}", pads.join("x"));
    }
    if window.iter().any(|d| d.base_dilation != 1) {
        out += &format!(" lhs_dilate={}", one(|d| d.base_dilation));
    }
    if window.iter().any(|d| d.window_dilation != 1) {
        out += &format!(" rhs_dilate={}", one(|d| d.window_dilation));
    }
    if window.iter().any(|d| d.reversed) {
        out += &format!(" rhs_reversal={}", one(|d| u64::from(d.reversed)));
    }
    format!("{{{out}}}")
}

/// Why a text is not a window. The parser adds line and column.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WindowError {
    /// The number of dimensions cannot be known.
    #[error("a window needs size=")]
    NoSize,
    /// A key occurs more than once.
    #[error("{0} is given twice")]
    Twice(String),
    /// A pad without its underscore.
    #[error("padding is written low_high")]
    Padding,
    /// A key that windows do not have.
    #[error("a window has no {0:?}")]
    UnknownKey(String),
    /// The number of values differs from the number in `size`.
    #[error("{key} must have as many numbers as size, {wanted}")]
    Count {
        /// The key with the wrong number of values.
        key: String,
        /// The number of values of `size`.
        wanted: usize,
    },
    /// Not a number, or a number that is negative or too large.
    #[error("{0:?} is not a whole number")]
    Number(String),
}

/// The window of these `key=value` pairs.
///
/// # Errors
/// When they do not make one.
pub(super) fn parse_window(parts: &[(String, String)]) -> Result<Vec<WindowDim>, WindowError> {
    let size = parts.iter().find(|(key, _)| key == "size").ok_or(WindowError::NoSize)?;
    let mut window: Vec<WindowDim> = numbers(&size.1)?.into_iter().map(|size| WindowDim::new(size, 1, 0)).collect();
    for (n, (key, value)) in parts.iter().enumerate() {
        if parts[..n].iter().any(|(other, _)| other == key) {
            return Err(WindowError::Twice(key.clone()));
        }
        if key == "pad" {
            let pads: Vec<&str> = value.split('x').collect();
            each(&mut window, key, &pads, |d, pad| {
                let (low, high) = pad.split_once('_').ok_or(WindowError::Padding)?;
                (d.pad_low, d.pad_high) = (number(low)?, number(high)?);
                Ok(())
            })?;
            continue;
        }
        let set: fn(&mut WindowDim, u64) = match key.as_str() {
            "size" => continue,
            "stride" => |d, v| d.stride = v,
            "lhs_dilate" => |d, v| d.base_dilation = v,
            "rhs_dilate" => |d, v| d.window_dilation = v,
            "rhs_reversal" => |d, v| d.reversed = v != 0,
            other => return Err(WindowError::UnknownKey(other.to_owned())),
        };
        each(&mut window, key, &numbers(value)?, |d, v| {
            set(d, *v);
            Ok(())
        })?;
    }
    Ok(window)
}

fn each<T>(
    window: &mut [WindowDim],
    key: &str,
    values: &[T],
    mut set: impl FnMut(&mut WindowDim, &T) -> Result<(), WindowError>,
) -> Result<(), WindowError> {
    if values.len() != window.len() {
        return Err(WindowError::Count { key: key.to_owned(), wanted: window.len() });
    }
    window.iter_mut().zip(values).try_for_each(|(d, v)| set(d, v))
}

fn numbers(text: &str) -> Result<Vec<u64>, WindowError> {
    text.split('x').map(number).collect()
}

fn number(text: &str) -> Result<u64, WindowError> {
    text.parse().map_err(|_| WindowError::Number(text.to_owned()))
}

/// Ranges of a slice; a stride of one is left out.
pub(super) fn print_ranges(ranges: &[SliceDim]) -> String {
    let range = |r: &SliceDim| match r.stride {
        1 => format!("[{}:{}]", r.start, r.limit),
        stride => format!("[{}:{}:{stride}]", r.start, r.limit),
    };
    format!("{{{}}}", ranges.iter().map(range).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use crate::hlo::{parse, print};

    fn module(line: &str) -> String {
        format!(
            "HloModule m\nENTRY {{\n %x = f32[1,4,6,6] parameter(0), input=0\n %w = f32[2,2,3,3] parameter(1), weight=\"w\"\n \
             %i = s32[2] parameter(2), input=1\n %s = s32[] parameter(3), input=2\n ROOT %y = {line}\n}}"
        )
    }

    #[test]
    fn windows_and_ranges_read_back() {
        for line in [
            "f32[1,2,6,6] convolution(%x, %w), window={size=3x3 pad=1_1x1_1}, feature_group_count=2",
            "f32[1,2,2,4] convolution(%x, %w), window={size=3x3 stride=2x1 rhs_dilate=1x1}, feature_group_count=2",
            "f32[1,2,13,13] convolution(%x, %w), window={size=3x3 pad=2_2x2_2 lhs_dilate=2x2 rhs_reversal=1x1}, feature_group_count=2",
            "f32[1,4,3,3] reduce-window(%x), window={size=1x1x2x2 stride=1x1x2x2}, to_apply=maximum",
            "f32[1,2,3,6] slice(%x), slice={[0:1], [1:3], [0:6:2], [0:6]}",
            "f32[1,8,6,6] concatenate(%x, %x), dimensions={1}",
            "f32[2,4,6,6] gather(%x, %i)",
            "f32[1,4,6,6] dynamic-update-slice(%x, %x, %s, %s, %s, %s)",
            "f32[1,4,6,6] gelu(%x)",
            "f32[1,4,6,6] logistic(%x)",
        ] {
            let read = parse(&module(line)).unwrap_or_else(|e| panic!("{line}: {e}"));
            assert_eq!(parse(&print(&read)).unwrap(), read, "{line}");
        }
    }

    #[test]
    fn defects_are_named() {
        for (line, problem) in [
            ("f32[1,2,6,6] convolution(%x, %w)", "convolution needs the attribute window"),
            ("f32[1,2,6,6] convolution(%x, %w), window={stride=1x1}", "a window needs size="),
            ("f32[1,2,6,6] convolution(%x, %w), window={size=3x3 pad=1x1}", "padding is written low_high"),
            ("f32[1,2,6,6] convolution(%x, %w), window={size=3x3 stride=1}", "must have as many numbers as size, 2"),
            ("f32[1,2,6,6] convolution(%x, %w), window={size=3x3 size=3x3}", "size is given twice"),
            ("f32[1,2,6,6] convolution(%x, %w), window={size=3x3 depth=1x1}", "a window has no \"depth\""),
            ("f32[1,2,6,6] convolution(%x, %w), window={size=3x3}", "do not make 1 groups of 2"),
            ("f32[1,2,6,6] convolution(%x, %w), window={size=3x3x3}", "has two dimensions"),
            ("f32[1,4,6,6] reduce-window(%x), window={size=2x2}, to_apply=add", "must have four dimensions"),
            ("f32[1,4,6,6] slice(%x), slice={[0:1]}", "expected a range within each dimension"),
            ("f32[1,4,6,6] concatenate(), dimensions={0}", "takes at least one operand"),
            ("f32[4,4,6,6] gather(%x, %x)", "indices must be s32"),
            ("f32[1,4,6,6] dynamic-update-slice(%x, %x, %i, %s, %s, %s)", "a start must be a scalar"),
            ("f32[1,4,6,6] dynamic-update-slice(%x, %x, %s)", "there are 1 starts"),
            ("f32[1,4,6,6] gelu(%x), window={size=1x1}", "gelu has no attribute window"),
        ] {
            let e = parse(&module(line)).unwrap_err();
            assert!(e.problem.to_string().contains(problem), "{line}: {e}");
        }
    }
}
