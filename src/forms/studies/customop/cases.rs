//! The runs that a form describes, one after another.

use super::spec::CustomopStudy;
use ns_kernel::{BUILT_IN, BuiltIn};
use ns_neuron::gpsimd::CustomOpSpec;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CasePurpose {
    /// The kernel in the form.
    Kernel,
    /// A step of the tutorial, to compare with.
    Step,
}

/// One run.
#[derive(Clone, Debug)]
pub struct KernelCase {
    pub spec: CustomOpSpec,
    pub purpose: CasePurpose,
    /// The value of the constant that is compared.
    pub constant: Option<String>,
}

impl KernelCase {
    /// Most combinations of the lists of a form, without values of a constant.
    pub const MOST: usize = 64;
    /// Most runs.
    const MOST_RUNS: usize = 4_096;

    /// A short description: the kernel, and the compared value.
    pub fn label(&self) -> String {
        let layers: Vec<String> = self.spec.layers.iter().map(u64::to_string).collect();
        format!("{}, {}, {}", self.spec.name, layers.join("-"), self.spec.dtype)
    }
}

impl CustomopStudy {
    /// Every value of the constant with every network, number of processors and element type. Fails when the kernel does not have the
    /// constant.
    pub fn specs(&self) -> Result<Vec<CustomOpSpec>, String> {
        Ok(self.kernel_cases()?.into_iter().map(|case| case.spec).collect())
    }

    fn kernel_cases(&self) -> Result<Vec<KernelCase>, String> {
        let constants = self.constants()?;
        // Without multicore mode one processor runs the kernel, whatever the numbers of processors.
        let most = if self.multicore { self.cores.len() } else { 1 };
        let mut cases = Vec::new();
        for layers in &self.layers {
            let cores = self.cores.iter().take(most);
            for (cores, dtype) in cores.flat_map(|c| self.dtypes.iter().map(move |d| (*c, *d))) {
                let spec = CustomOpSpec { dtype, ..self.base(layers, cores) };
                let Some((name, values)) = &constants else {
                    cases.push(KernelCase { spec, purpose: CasePurpose::Kernel, constant: None });
                    continue;
                };
                for value in values {
                    let spec = spec.with_constant(name, value).map_err(|e| e.to_string())?;
                    cases.push(KernelCase { spec, purpose: CasePurpose::Kernel, constant: Some((*value).to_owned()) });
                }
            }
        }
        Ok(cases)
    }

    /// The same, then the tutorial's steps. Fails also when too many combinations are requested.
    pub fn cases(&self) -> Result<Vec<KernelCase>, String> {
        let mut cases = self.kernel_cases()?;
        if self.steps {
            cases.extend(self.tutorial());
        }
        if cases.len() > KernelCase::MOST_RUNS {
            return Err(format!(
                "the lists make {} combinations; at most {} can be run",
                cases.len(),
                KernelCase::MOST_RUNS
            ));
        }
        Ok(cases)
    }

    /// The tutorial's kernels in the same network.
    fn tutorial(&self) -> impl Iterator<Item = KernelCase> {
        let layers = self.layers.first().cloned().unwrap_or_default();
        let base = self.base(&layers, self.cores.first().copied().unwrap_or(1));
        let step = move |k: &BuiltIn| KernelCase {
            spec: CustomOpSpec {
                name: k.name.to_owned(),
                source: k.source.to_owned(),
                multicore: k.multicore,
                reference: None,
                ..base.clone()
            },
            purpose: CasePurpose::Step,
            constant: None,
        };
        // The fourth kernel is the third without its mistake; it is not a step of the tutorial.
        BUILT_IN.iter().take(3).map(step).collect::<Vec<_>>().into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options as _;

    #[test]
    fn every_combination_is_a_case() {
        let mut study = CustomopStudy::default();
        study.set_text("kernel", "relu-tcm").unwrap();
        study.set_text("multicore", "true").unwrap();
        study.set_text("cores", "1,8").unwrap();
        study.set_text("layers", "8,16,4; 8,32,4").unwrap();
        study.set_text("constant", "buffer_size=64, 128").unwrap();
        study.set_text("steps", "true").unwrap();
        let cases = study.cases().unwrap();
        assert_eq!(cases.len(), 2 * 2 * 2 + 3);
        assert!(
            cases[0].spec.source.contains("buffer_size = 64;") && cases[1].spec.source.contains("buffer_size = 128;")
        );
        assert_eq!(cases[0].label(), "relu-tcm buffer_size=64, 8-16-4, float32");
        let steps: Vec<&str> = cases[8..].iter().map(|c| c.spec.name.as_str()).collect();
        assert_eq!(steps, ["relu-element", "relu-tcm", "relu-multicore"]);
        study.set_text("multicore", "false").unwrap();
        assert_eq!(study.cases().unwrap().len(), 2 * 2 + 3);
        study.set_text("dtype", "float32, int16").unwrap();
        assert_eq!(study.cases().unwrap().len(), 2 * 2 * 2 + 3);
        assert_eq!(study.text_of("dtype"), "float32,int16");
        assert!(study.set_text("dtype", "float64").unwrap_err().starts_with("dtype: 'float64' is not an element type"));
        study.set_text("constant", "tile=1").unwrap();
        assert_eq!(study.cases().unwrap_err(), "relu-tcm has no line 'static constexpr ... tile = ...;'");
    }
}
