//! Square matrix products of many sizes, on a device and on a baseline.

use ns_base::names;

names! {
    /// Type of the elements.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum MatmulDType {
        /// Single precision.
        Float32 = "float32",
        /// Half precision.
        Float16 = "float16",
        /// bfloat16.
        Bfloat16 = "bfloat16",
    }

    /// All types, in the order of the suite.
    pub const ALL: [Self; _];
    /// The name in torch.
    pub const fn name(self) -> &'static str;
    /// The type with a name.
    pub fn from_name(name: &str) -> Option<Self>;
}

/// One product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatmulCase {
    /// Type of the elements.
    pub dtype: MatmulDType,
    /// Rows and columns of both matrices.
    pub n: u32,
}

impl MatmulCase {
    /// The suite's name: `matmul-float32-lhs256x256-rhs256x256`.
    pub fn name(self) -> String {
        let (dtype, n) = (self.dtype.name(), self.n);
        format!("matmul-{dtype}-lhs{n}x{n}-rhs{n}x{n}")
    }
}

/// Every size from `first` to `last` of every type; types vary slowest.
pub fn matmul_cases(dtypes: &[MatmulDType], first: u32, last: u32, step: u32) -> Vec<MatmulCase> {
    let sizes = || (first..=last).step_by(step.max(1) as usize);
    dtypes.iter().flat_map(|dtype| sizes().map(|n| MatmulCase { dtype: *dtype, n })).collect()
}

/// Class of a speed-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpeedupClass {
    /// Below 0.95.
    Slower,
    /// From 0.95 to 1.05.
    Same,
    /// Above 1.05.
    Faster,
}

/// Times of a product, milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MatmulResult {
    /// Time on the baseline.
    pub base_ms: f64,
    /// Time on the tested device.
    pub test_ms: f64,
}

impl MatmulResult {
    /// How many times faster than the baseline.
    pub fn speedup(self) -> f64 {
        self.base_ms / self.test_ms
    }

    /// The class of the speed-up.
    pub fn verdict(self) -> SpeedupClass {
        match self.speedup() {
            s if s < 0.95 => SpeedupClass::Slower,
            s if s > 1.05 => SpeedupClass::Faster,
            _ => SpeedupClass::Same,
        }
    }

    /// The line as the suite prints it.
    pub fn line(self, case: MatmulCase) -> String {
        let (name, speedup) = (case.name(), self.speedup());
        format!("{name}: speedup={speedup:.2}x; base={:.2}ms; test={:.2}ms", self.base_ms, self.test_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sizes_and_lines_are_the_suites() {
        let cases = matmul_cases(&MatmulDType::ALL, 256, 8_192, 128);
        assert_eq!((cases.len(), cases[63].name().as_str()), (3 * 63, "matmul-float16-lhs256x256-rhs256x256"));
        let result = MatmulResult { base_ms: 4.56, test_ms: 3.7 };
        assert_eq!(
            result.line(cases[0]),
            "matmul-float32-lhs256x256-rhs256x256: speedup=1.23x; base=4.56ms; test=3.70ms"
        );
        assert_eq!(result.verdict(), SpeedupClass::Faster);
        assert_eq!(MatmulResult { base_ms: 1.0, test_ms: 1.05 }.verdict(), SpeedupClass::Same);
        assert_eq!(MatmulResult { base_ms: 0.9, test_ms: 1.0 }.verdict(), SpeedupClass::Slower);
    }
}
