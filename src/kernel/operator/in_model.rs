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

/// A checked kernel that takes tensors of one shape.
#[derive(Clone, Debug)]
pub struct ModelKernel {
    name: String,
    function: String,
    inputs: usize,
    multicore: bool,
    is_relu: bool,
    program: Program,
}

impl ModelKernel {
    /// The kernel that a text names ([`NamedKernel`]). Fails when the kernel does not exist, its source is damaged or wrong, or it
    /// has no such function.
    pub fn find(text: &str) -> Result<Self, Refusal> {
        let NamedKernel { name, source, multicore, function, .. } = text.parse()?;
        let program = compile(&source).map_err(|problems| match problems.into_iter().next() {
            Some(problem) => wrong(&name, &problem),
            None => no_function(&name),
        })?;
        let found = match &function {
            None => program.kernel(Role::Forward).ok_or_else(|| no_function(&name)),
            Some(wanted) => {
                program.kernels().find(|f| f.name() == wanted).ok_or_else(|| not_among(&name, wanted, &program))
            }
        }?;
        let (function, inputs) = (found.name().to_owned(), found.inputs());
        let is_relu = inputs == 1 && function.to_ascii_lowercase().contains("relu");
        Ok(Self { name, function, inputs, multicore, is_relu, program })
    }

    /// The same for an operator of one tensor. Fails as for [`find`](Self::find), and when it takes more tensors.
    pub fn find_of_one(text: &str) -> Result<Self, Refusal> {
        let found = Self::find(text)?;
        found.takes(1)?;
        Ok(found)
    }

    /// Whether it claims to compute a ReLU, and is therefore compared with a framework's own ReLU.
    pub const fn is_relu(&self) -> bool {
        self.is_relu
    }

    /// The kernel's result for tensors of one shape; an element that is never written is zero. Fails when the kernel takes another
    /// number of tensors, they are too large, or the kernel does not finish.
    pub fn values(&self, dims: &[u64], operands: &[&[f32]]) -> Result<Vec<f32>, Refusal> {
        self.elements(dims)?;
        let run = self.run(dims, operands, &GpsimdCosts::default())?;
        Ok(run.outcome.result.into_iter().map(|x| x.unwrap_or(0.0)).collect())
    }

    /// The cost of a call on this many tensors of normal numbers of this shape. Fails as for [`values`](Self::values).
    pub fn cost(&self, dims: &[u64], operands: usize, costs: &GpsimdCosts) -> Result<CallCost, Refusal> {
        let elements = self.elements(dims)?;
        let numbers: Vec<Vec<f32>> =
            (0u64..).take(operands).map(|stream| filled(Fill::Normal, elements, 0, stream)).collect();
        let numbers: Vec<&[f32]> = numbers.iter().map(Vec::as_slice).collect();
        Ok(self.run(dims, &numbers, costs)?.cost)
    }

    fn takes(&self, operands: usize) -> Result<(), Refusal> {
        if operands == self.inputs {
            return Ok(());
        }
        let count = |n: usize| format!("{n} tensor{}", if n == 1 { "" } else { "s" });
        Err(refuse!(
            "kernel {}: {} takes {} and its operator gives it {}; name the function that takes as many, as in relu.cpp:relu_backward",
            self.name,
            self.function,
            count(self.inputs),
            count(operands)
        ))
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

    fn run(&self, dims: &[u64], operands: &[&[f32]], costs: &GpsimdCosts) -> Result<OperatorRun, Refusal> {
        self.takes(operands.len())?;
        let function = self.program.kernels().find(|f| f.name() == self.function);
        let function = function.ok_or_else(|| no_function(&self.name))?;
        let inputs = operands.iter().map(|data| HbmTensor::from_f32(dims, data)).collect();
        let mut call = OperatorCall::new(function, inputs, self.multicore, costs.processors, costs);
        while !call.advance(PART) {}
        let run = call.finish();
        if run.outcome.complete {
            return Ok(run);
        }
        let stop = run.outcome.diagnostics.into_iter().find(|d| d.problem.severity() == Severity::Error);
        Err(stop.map_or_else(|| no_function(&self.name), |d| wrong(&self.name, &d)))
    }
}

/// The kernel is wrong, or stops with an error.
fn wrong(name: &str, d: &Diagnostic) -> Refusal {
    refuse!("kernel {name}, line {}, column {}: {}", d.pos.line, d.pos.column, d.problem)
}

fn no_function(name: &str) -> Refusal {
    refuse!("kernel {name} has no function that takes tensors and returns one: an operator of a model needs it")
}

fn not_among(name: &str, wanted: &str, program: &Program) -> Refusal {
    let known: Vec<&str> = program.kernels().map(|f| f.name()).collect();
    if known.is_empty() {
        return no_function(name);
    }
    refuse!(
        "kernel {name} has no function {wanted} that takes only tensors and returns one: name one of {}",
        known.join(", ")
    )
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
            let values = found.values(&[2, 4], &[&[-1.0, 2.0, -3.0, 4.0, 0.5, -0.5, 0.0, 7.0]]).unwrap();
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
        assert_eq!(found.values(&[3], &[&[1.0, -2.0, 3.0]]).unwrap(), [1.0, 4.0, 9.0]);
        let costs = GpsimdCosts::of(&CostTable::neuroncore_v2());
        let (few, many) = (found.cost(&[100], 1, &costs).unwrap(), found.cost(&[200], 1, &costs).unwrap());
        assert!(few.time_ps > 0 && many.time_ps > few.time_ps * 3 / 2 && many.elements == 200);
    }

    #[test]
    fn a_function_of_the_source_is_a_kernel_by_its_name() {
        for kernel in BUILT_IN {
            let named = NamedKernel::own("mine", kernel.source, kernel.multicore);
            let backward = ModelKernel::find(&named.of_function("relu_backward").to_string()).unwrap();
            assert!(!backward.is_relu());
            let (gradient, x) = ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [-1.0, 1.0, 0.0, 2.0, -2.0, 3.0, -3.0, 4.0]);
            let values = backward.values(&[2, 4], &[&gradient, &x]).unwrap();
            assert_eq!(values, [0.0, 2.0, 0.0, 4.0, 0.0, 6.0, 0.0, 8.0], "{}", kernel.name);
            let costs = GpsimdCosts::of(&CostTable::neuroncore_v2());
            assert!(backward.cost(&[2, 4], 2, &costs).unwrap().time_ps > 0);
        }
        let named =
            |function: &str| NamedKernel::own("mine", BUILT_IN[0].source, false).of_function(function).to_string();
        let error = |text: String| ModelKernel::find_of_one(&text).unwrap_err().to_string();
        let missing = error(named("gelu"));
        assert!(missing.contains("no function gelu") && missing.ends_with("relu_forward, relu_backward"), "{missing}");
        let two = error(named("relu_backward"));
        assert!(two.contains("relu_backward takes 2 tensors and its operator gives it 1 tensor;"), "{two}");
    }

    #[test]
    fn errors_name_their_position() {
        let error = |source: &str| ModelKernel::find(&own(source)).unwrap_err().to_string();
        let missing = error("torch::Tensor f(const torch::Tensor& t) {\n  return u;\n}");
        assert!(missing.starts_with("kernel mine, line 2, column 10: "), "{missing}");
        assert!(error("float f(float x) { return x; }").contains("no function that takes tensors"));
        let forever = "torch::Tensor f(const torch::Tensor& t) {\n  while (true) { }\n  return t;\n}";
        let stopped = ModelKernel::find(&own(forever)).unwrap().values(&[1], &[&[1.0]]).unwrap_err().to_string();
        assert!(stopped.starts_with("kernel mine, line 2, column "), "{stopped}");
        let large = ModelKernel::find("relu-tcm").unwrap().values(&[1 << 24], &[&[]]).unwrap_err().to_string();
        assert!(large.contains("use a smaller batch"), "{large}");
    }
}
