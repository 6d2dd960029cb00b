//! A kernel as an operator of a model: its values, and the time of a call.

use super::call::{CallCost, OperatorCall, OperatorRun};
use super::fill::{Fill, filled};
use super::named_kernel::NamedKernel;
use crate::{Diagnostic, HbmTensor, Program, Role, Severity, compile};
use ns_base::{Refusal, refuse};
use ns_machine::cost::GpsimdCosts;

/// Limit on the elements of one call: a minute of the interpreter in a browser.
pub const MAX_CALL_ELEMENTS: u64 = 1 << 23;

/// Statements of a call between two checks for its end.
const PART: u64 = 1 << 20;

/// A checked kernel that takes one tensor.
#[derive(Clone, Debug)]
pub struct ModelKernel {
    name: String,
    multicore: bool,
    is_relu: bool,
    program: Program,
}

impl ModelKernel {
    /// The kernel that a text names ([`NamedKernel`]).
    ///
    /// # Errors
    /// When the kernel does not exist, its source is damaged or wrong, or it does not take one tensor.
    pub fn find(text: &str) -> Result<Self, Refusal> {
        let NamedKernel { name, source, multicore, .. } = text.parse()?;
        let program = compile(&source).map_err(|problems| match problems.into_iter().next() {
            Some(problem) => wrong(&name, &problem),
            None => no_forward(&name),
        })?;
        let forward = program.kernel(Role::Forward).filter(|f| f.inputs() == 1);
        let Some(is_relu) = forward.map(|f| f.name().to_ascii_lowercase().contains("relu")) else {
            return Err(no_forward(&name));
        };
        Ok(Self { name, multicore, is_relu, program })
    }

    /// Whether it claims to compute a ReLU, and is therefore compared with a framework's own ReLU.
    #[must_use]
    pub const fn is_relu(&self) -> bool {
        self.is_relu
    }

    /// The kernel's result for a tensor; an element that is never written is zero.
    ///
    /// # Errors
    /// When the tensor is too large, or the kernel does not finish.
    pub fn values(&self, dims: &[u64], data: &[f32]) -> Result<Vec<f32>, Refusal> {
        let run = self.run(dims, data, &GpsimdCosts::default())?;
        Ok(run.outcome.result.into_iter().map(|x| x.unwrap_or(0.0)).collect())
    }

    /// The cost of a call on normal numbers of this shape.
    ///
    /// # Errors
    /// As for [`values`](Self::values).
    pub fn cost(&self, dims: &[u64], costs: &GpsimdCosts) -> Result<CallCost, Refusal> {
        let elements = self.elements(dims)?;
        Ok(self.run(dims, &filled(Fill::Normal, elements, 0, 0), costs)?.cost)
    }

    fn elements(&self, dims: &[u64]) -> Result<u64, Refusal> {
        let elements = dims.iter().fold(1_u64, |n, d| n.saturating_mul(*d));
        if elements > MAX_CALL_ELEMENTS {
            return Err(refuse!(
                "kernel {} is called with {elements} elements, more than the {MAX_CALL_ELEMENTS} that can be run: use a smaller \
                 batch or narrower layers",
                self.name
            ));
        }
        Ok(elements)
    }

    fn run(&self, dims: &[u64], data: &[f32], costs: &GpsimdCosts) -> Result<OperatorRun, Refusal> {
        self.elements(dims)?;
        let forward = self.program.kernel(Role::Forward).ok_or_else(|| no_forward(&self.name))?;
        let inputs = vec![HbmTensor::from_f32(dims, data)];
        let mut call = OperatorCall::new(forward, inputs, self.multicore, costs.processors, costs);
        while !call.advance(PART) {}
        let run = call.finish();
        if run.outcome.complete {
            return Ok(run);
        }
        let stop = run.outcome.diagnostics.into_iter().find(|d| d.problem.severity() == Severity::Error);
        Err(stop.map_or_else(|| no_forward(&self.name), |d| wrong(&self.name, &d)))
    }
}

/// The kernel is wrong, or stops with an error.
fn wrong(name: &str, d: &Diagnostic) -> Refusal {
    refuse!("kernel {name}, line {}, column {}: {}", d.pos.line, d.pos.column, d.problem)
}

fn no_forward(name: &str) -> Refusal {
    refuse!("kernel {name} has no function that takes one tensor and returns one: an operator of a model needs it")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BUILT_IN;
    use ns_machine::cost::CostTable;

    fn own(source: &str) -> String {
        NamedKernel::own("mine", source, false).to_string()
    }

    #[test]
    fn every_kernel_of_the_program_is_a_relu() {
        for kernel in BUILT_IN {
            let found = ModelKernel::find(kernel.name).unwrap();
            assert!(found.is_relu());
            let values = found.values(&[2, 4], &[-1.0, 2.0, -3.0, 4.0, 0.5, -0.5, 0.0, 7.0]).unwrap();
            assert_eq!(values, [0.0, 2.0, 0.0, 4.0, 0.5, 0.0, 0.0, 7.0], "{}", kernel.name);
        }
    }

    #[test]
    fn a_user_written_kernel_computes_its_formula() {
        let square = "torch::Tensor square(const torch::Tensor& t) { torch::Tensor r = torch::zeros(t.sizes(), torch::kFloat);\
            auto a = t.accessor<float, 1>(); auto b = r.accessor<float, 1>();\
            for (int i = 0; i < t.numel(); i++) b[i] = a[i] * a[i]; return r; }";
        let found = ModelKernel::find(&own(square)).unwrap();
        assert!(!found.is_relu());
        assert_eq!(found.values(&[3], &[1.0, -2.0, 3.0]).unwrap(), [1.0, 4.0, 9.0]);
        let costs = GpsimdCosts::of(&CostTable::neuroncore_v2());
        let (few, many) = (found.cost(&[100], &costs).unwrap(), found.cost(&[200], &costs).unwrap());
        assert!(few.time_ps > 0 && many.time_ps > few.time_ps * 3 / 2 && many.elements == 200);
    }

    #[test]
    fn errors_name_their_position() {
        let error = |source: &str| ModelKernel::find(&own(source)).unwrap_err().to_string();
        let missing = error("torch::Tensor f(const torch::Tensor& t) {\n  return u;\n}");
        assert!(missing.starts_with("kernel mine, line 2, column 10: "), "{missing}");
        assert!(error("float f(float x) { return x; }").contains("no function that takes one tensor"));
        let forever = "torch::Tensor f(const torch::Tensor& t) {\n  while (true) { }\n  return t;\n}";
        let stopped = ModelKernel::find(&own(forever)).unwrap().values(&[1], &[1.0]).unwrap_err().to_string();
        assert!(stopped.starts_with("kernel mine, line 2, column "), "{stopped}");
        let large = ModelKernel::find("relu-tcm").unwrap().values(&[1 << 24], &[]).unwrap_err().to_string();
        assert!(large.contains("use a smaller batch"), "{large}");
    }
}
