//! Compares two values of one output.

use super::{OutputComparison, Sample};
use ns_base::convert::{u64_to_f64, u64_to_usize, usize_to_u32};
use ns_tensor::Tensor;

/// Most rows and columns of a sample.
const SAMPLE: u64 = 8;

/// Compares an output of the device with the reference's.
pub fn compare(index: u32, path: &str, reference: &Tensor, device: &Tensor, tolerance: f64) -> OutputComparison {
    let sums = Sums::of(reference.data(), device.data());
    let reason = sums.failure(reference, device, tolerance);
    let comparable = sums.comparable() && reference.shape() == device.shape();
    OutputComparison {
        index,
        path: path.to_owned(),
        shape: device.shape().to_string(),
        mean_relative_error: comparable.then(|| sums.mean_relative_error()),
        max_abs_error: comparable.then_some(sums.max_abs_error),
        zero_reference: sums.zero_reference,
        nan: sums.nan,
        inf: sums.inf,
        tolerance,
        passed: reason.is_none(),
        reason,
        sample: sample(reference, device),
    }
}

/// The sums from one pass over both values.
#[derive(Default)]
struct Sums {
    elements: u64,
    relative: f64,
    max_abs_error: f64,
    largest_reference: f64,
    largest_unmatched: f64,
    zero_reference: u64,
    nan: u64,
    inf: u64,
    reference_not_finite: u64,
    nonzero: u64,
}

impl Sums {
    fn of(reference: &[f32], device: &[f32]) -> Self {
        let mut s = Self::default();
        for (a, b) in reference.iter().zip(device) {
            let (a, b) = (f64::from(*a), f64::from(*b));
            s.elements += 1;
            s.nan += u64::from(b.is_nan());
            s.inf += u64::from(b.is_infinite());
            s.reference_not_finite += u64::from(!a.is_finite());
            s.nonzero += u64::from(a != 0.0);
            let error = (b - a).abs();
            s.max_abs_error = s.max_abs_error.max(error);
            s.largest_reference = s.largest_reference.max(a.abs());
            if a == 0.0 && b != 0.0 {
                s.zero_reference += 1;
                s.largest_unmatched = s.largest_unmatched.max(error);
            } else if a != b {
                s.relative += error / a.abs();
            }
        }
        s
    }

    /// Whether the errors are meaningful.
    fn comparable(&self) -> bool {
        self.elements > 0 && self.nonzero > 0 && self.nan == 0 && self.inf == 0 && self.reference_not_finite == 0
    }

    fn mean_relative_error(&self) -> f64 {
        self.relative / u64_to_f64((self.elements - self.zero_reference).max(1))
    }

    fn failure(&self, reference: &Tensor, device: &Tensor, tolerance: f64) -> Option<String> {
        if reference.shape() != device.shape() {
            return Some(format!("the device gives {}, the reference {}", device.shape(), reference.shape()));
        }
        let n = self.elements;
        if self.nan > 0 || self.inf > 0 {
            return Some(format!("{} NaN and {} infinite of {n} elements", self.nan, self.inf));
        }
        if self.reference_not_finite > 0 {
            return Some(format!("{} of {n} elements of the reference are not finite", self.reference_not_finite));
        }
        if self.elements > 0 && self.nonzero == 0 {
            return Some("the reference is zero everywhere: a relative error of 0 / 0 is NaN".to_owned());
        }
        let mean = self.mean_relative_error();
        if mean >= tolerance {
            return Some(format!("mean relative error {mean:.6} is not below the tolerance {tolerance}"));
        }
        (self.largest_unmatched >= tolerance * self.largest_reference && self.zero_reference > 0).then(|| {
            format!(
                "{} elements are zero in the reference and up to {} on the device",
                self.zero_reference, self.largest_unmatched
            )
        })
    }
}

fn sample(reference: &Tensor, device: &Tensor) -> Sample {
    let all_columns = reference.dims().last().copied().unwrap_or(1);
    let all_rows = (reference.data().len() as u64).checked_div(all_columns).unwrap_or(0);
    let (rows, columns) = (all_rows.min(SAMPLE), all_columns.min(SAMPLE));
    let corner = |t: &Tensor| -> Vec<f32> {
        let row = |r: u64| t.data().get(u64_to_usize(r * all_columns)..u64_to_usize(r * all_columns + columns));
        (0..rows).filter_map(row).flatten().copied().collect()
    };
    Sample {
        rows: usize_to_u32(u64_to_usize(rows)),
        columns: usize_to_u32(u64_to_usize(columns)),
        all_rows,
        all_columns,
        reference: corner(reference),
        device: corner(device),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_tensor::Shape;

    fn t(data: &[f32]) -> Tensor {
        Tensor::new(Shape::f32([data.len() as u64]), data.to_vec()).unwrap()
    }

    fn check(reference: &[f32], device: &[f32]) -> OutputComparison {
        compare(0, "", &t(reference), &t(device), 0.02)
    }

    #[test]
    fn the_mean_is_of_relative_errors() {
        let c = check(&[1.0, -2.0, 0.0, 4.0], &[1.01, -2.0, 0.0, 4.0]);
        assert!(c.passed && c.mean_relative_error.is_some_and(|e| (e - 0.0025).abs() < 1e-7), "{c:?}");
        assert!(c.max_abs_error.is_some_and(|e| (e - 0.01).abs() < 1e-6));
        let published = check(
            &[-0.1396, -0.3266, -0.0327, -0.3105, -0.0073, -0.3268, -0.1683, -0.3230],
            &[-0.1396, -0.3266, -0.0328, -0.3106, -0.0067, -0.3270, -0.1684, -0.3229],
        );
        // The outputs printed in the profiling tutorial.
        assert!(published.passed && published.max_abs_error.is_some_and(|e| (e - 6e-4).abs() < 1e-6), "{published:?}");
        assert!(!check(&[1.0, 1.0], &[1.1, 1.0]).passed);
    }

    #[test]
    fn incomparable_outputs_fail_with_a_reason() {
        let reason = |a: &[f32], b: &[f32]| check(a, b).reason.unwrap_or_default();
        assert_eq!(reason(&[1.0, 1.0], &[f32::NAN, f32::INFINITY]), "1 NaN and 1 infinite of 2 elements");
        assert!(reason(&[f32::NAN], &[f32::NAN]).starts_with("1 NaN"));
        assert!(reason(&[f32::INFINITY], &[1.0]).contains("reference are not finite"));
        assert!(reason(&[0.0, 0.0], &[0.0, 0.0]).contains("0 / 0 is NaN"));
        assert!(reason(&[0.0, 1.0], &[0.5, 1.0]).contains("zero in the reference"));
        assert_eq!(reason(&[0.0, 1.0], &[0.001, 1.0]), "");
        assert_eq!(check(&[f32::NAN], &[f32::NAN]).mean_relative_error, None);
    }

    #[test]
    fn the_sample_is_a_corner() {
        let big = Tensor::from_fn(Shape::f32([2, 3, 20]), |i| i as f32 + 1.0).unwrap();
        let s = compare(0, "", &big, &big, 0.02).sample;
        assert_eq!((s.rows, s.columns, s.all_rows, s.all_columns), (6, 8, 6, 20));
        assert_eq!(s.reference[8], 21.0);
        assert_eq!(s.reference.len(), 48);
    }
}
