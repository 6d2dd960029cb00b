//! Windows that move over spatial dimensions: settings that convolutions and poolings share.

use crate::onnx::site::{Failure, Site};
use ns_base::refuse;

/// How windows move, one entry for each spatial dimension.
pub(super) struct Windows {
    pub sizes: Vec<u64>,
    pub strides: Vec<u64>,
    /// Distances between elements of the window.
    pub dilation: Vec<u64>,
    /// Elements added in front and behind.
    pub padding: Vec<(i64, i64)>,
}

/// The settings of a node for an operand of spatial sizes `spatial`.
pub(super) fn windows(site: &Site<'_, '_>, spatial: &[u64], sizes: Vec<u64>) -> Result<Windows, Failure> {
    let n = spatial.len();
    let strides = positive(site, "strides", n)?;
    let dilation = positive(site, "dilations", n)?;
    if sizes.len() != n || sizes.contains(&0) {
        return Err(site.fault(refuse!("has windows of {sizes:?} for {n} dimensions")));
    }
    let auto = site.text("auto_pad", "NOTSET")?;
    let same = |at_front: bool| -> Vec<(i64, i64)> {
        (0..n)
            .map(|i| {
                let reach = (sizes[i] - 1).saturating_mul(dilation[i]).saturating_add(1);
                let steps = spatial[i].div_ceil(strides[i]).saturating_sub(1);
                let needed = steps.saturating_mul(strides[i]).saturating_add(reach).saturating_sub(spatial[i]);
                let needed = i64::try_from(needed).unwrap_or(i64::MAX);
                let less = needed / 2;
                if at_front { (needed - less, less) } else { (less, needed - less) }
            })
            .collect()
    };
    let padding = match auto.as_str() {
        "SAME_UPPER" => same(false),
        "SAME_LOWER" => same(true),
        "VALID" => vec![(0, 0); n],
        "NOTSET" | "" => {
            let pads = site.ints("pads")?.unwrap_or_else(|| vec![0; 2 * n]);
            if pads.len() != 2 * n {
                return Err(site.fault(refuse!("has pads {pads:?} for {n} dimensions")));
            }
            (0..n).map(|i| (pads[i], pads[n + i])).collect()
        }
        other => return Err(site.fault(refuse!("has the unknown auto_pad {other:?}"))),
    };
    Ok(Windows { sizes, strides, dilation, padding })
}

/// Positive numbers, 1 where the attribute is left out.
pub(super) fn positive(site: &Site<'_, '_>, name: &'static str, n: usize) -> Result<Vec<u64>, Failure> {
    let Some(list) = site.ints(name)? else { return Ok(vec![1; n]) };
    let numbers: Vec<u64> = list.iter().filter_map(|&k| u64::try_from(k).ok()).filter(|&k| k > 0).collect();
    if numbers.len() == n && list.len() == n {
        return Ok(numbers);
    }
    Err(site.fault(refuse!("has {name} {list:?} for {n} dimensions")))
}
