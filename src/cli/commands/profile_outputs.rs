//! The values that a model computes on a processor and on a NeuronCore, as PyTorch prints tensors.

use anyhow::Result;

use super::numerics::of_drawn;
use crate::driver::Driver;
use crate::profile_args::ProfileArgs;
use ns_base::convert::{u64_to_usize, usize_to_u32};
use ns_session::studies::NumericsStudy;
use ns_session::{NumericsSpec, OutputComparison, Workflow};

/// Both values of each output, below the headings of the tutorial's script. Fails when the model is too large for its values to be
/// computed, or has none.
pub(super) fn describe(driver: &mut Driver<'_>, args: &ProfileArgs) -> Result<String> {
    let run = args.spec()?;
    let ns_session::ProfileSpec { model, batch_size, instance, options, seed, .. } = run;
    let family = instance.split('.').next().unwrap_or_default().to_uppercase();
    let spec = NumericsSpec { model, batch_size, instance, options, seed, ..NumericsSpec::default() };
    let study = NumericsStudy { compared: spec, ..NumericsStudy::default() };
    let (report, _) = of_drawn(driver, &args.file_flags, study)?;
    // A traced model returns its results to the processor.
    let place = if run.workflow == Workflow::Trace { "" } else { ", device='xla:1'" };
    let mut out = String::from("\n==CPU OUTPUT==\n");
    report.outputs.iter().for_each(|o| out.push_str(&tensor(o, &o.sample.reference, "")));
    out.push_str(&format!("\n=={family} OUTPUT==\n"));
    report.outputs.iter().for_each(|o| out.push_str(&tensor(o, &o.sample.device, place)));
    Ok(out)
}

/// `tensor([[0.1000, -0.2000]])`: rows of the last dimension. Where a part of the rows or columns is left out, three dots are in its
/// place, and the shape is named.
fn tensor(output: &OutputComparison, values: &[f32], place: &str) -> String {
    let sample = &output.sample;
    let digits = number_format(values);
    let texts: Vec<String> = values.iter().map(|v| digits(*v)).collect();
    let width = texts.iter().map(String::len).max().unwrap_or(0);
    let cut = if u64::from(sample.columns) < sample.all_columns { ", ..." } else { "" };
    let row = |row: &[String]| {
        let cells: Vec<String> = row.iter().map(|t| format!("{t:>width$}")).collect();
        format!("[{}{cut}]", cells.join(", "))
    };
    let mut rows: Vec<String> = texts.chunks(u64_to_usize(u64::from(sample.columns.max(1)))).map(row).collect();
    let is_cut = u64::from(usize_to_u32(rows.len())) < sample.all_rows;
    if is_cut {
        rows.push("...".to_owned());
    }
    let dimensions = output.shape.matches(',').count() + 1;
    let body = match (dimensions, &rows[..]) {
        (1, [only]) => only.clone(),
        _ => format!("[{}]", rows.join(",\n        ")),
    };
    let shape =
        if is_cut || !cut.is_empty() || dimensions > 2 { format!(", shape={}", output.shape) } else { String::new() };
    format!("tensor({body}{place}{shape})\n")
}

/// Four digits after the point, or an exponent for all numbers where PyTorch writes one: where the largest is 1000 times the smallest,
/// above 10^8, or the smallest below 10^-4.
fn number_format(values: &[f32]) -> fn(f32) -> String {
    let sizes = values.iter().map(|v| v.abs()).filter(|v| *v > 0.0 && v.is_finite());
    let (low, high) = sizes.fold((f32::MAX, 0.0_f32), |(low, high), v| (low.min(v), high.max(v)));
    if high > 0.0 && (high / low > 1_000.0 || high > 1e8 || low < 1e-4) { exponent } else { |v| format!("{v:.4}") }
}

/// `1.2346e-05`: an exponent of at least two digits, with its sign.
fn exponent(v: f32) -> String {
    let text = format!("{v:.4e}");
    let Some((number, exponent)) = text.split_once('e') else { return text };
    let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |digits| ('-', digits));
    format!("{number}e{sign}{digits:0>2}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_session::Sample;

    fn output(shape: &str, sample: Sample) -> OutputComparison {
        OutputComparison {
            index: 0,
            path: String::new(),
            shape: shape.to_owned(),
            mean_relative_error: None,
            max_abs_error: None,
            zero_reference: 0,
            nan: 0,
            inf: 0,
            tolerance: 0.02,
            passed: true,
            reason: None,
            sample,
        }
    }

    #[test]
    fn a_tensor_is_printed_as_pytorch_prints_it() {
        let values = [-0.1396, -0.3266, 0.0327, -0.3105];
        let all = Sample { rows: 2, columns: 2, all_rows: 2, all_columns: 2, ..Sample::default() };
        let text = tensor(&output("f32[2,2]", all), &values, ", device='xla:1'");
        assert_eq!(text, "tensor([[-0.1396, -0.3266],\n        [ 0.0327, -0.3105]], device='xla:1')\n");
        let one = Sample { rows: 1, columns: 4, all_rows: 1, all_columns: 4, ..Sample::default() };
        let text = tensor(&output("f32[4]", one), &[1e-5, 2.0, 0.0, -3.5], "");
        assert_eq!(text, "tensor([ 1.0000e-05,  2.0000e+00,  0.0000e+00, -3.5000e+00])\n");
        let corner = Sample { rows: 2, columns: 2, all_rows: 9, all_columns: 5, ..Sample::default() };
        let text = tensor(&output("f32[9,5]", corner), &values, "");
        assert!(text.ends_with("-0.3105, ...],\n        ...], shape=f32[9,5])\n"), "{text}");
    }
}
