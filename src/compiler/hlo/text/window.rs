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

/// Ranges of a slice; a stride of one is left out.
pub(super) fn print_ranges(ranges: &[SliceDim]) -> String {
    let range = |r: &SliceDim| match r.stride {
        1 => format!("[{}:{}]", r.start, r.limit),
        stride => format!("[{}:{}:{stride}]", r.start, r.limit),
    };
    format!("{{{}}}", ranges.iter().map(range).collect::<Vec<_>>().join(", "))
}
