//! Shape functions: `shape.cpp` of a library, whose functions say which shape an operator's result has. Here a result has the shape and
//! the element type of the first input, so a shape function that says otherwise is an error at its place.

use super::check::check;
use super::parse::{Registration, parse_shapes};
use super::problem::{Diagnostic, Pos, Problem};
use super::program::Program;
use super::run::{HbmTensor, Meter, RunOptions, Work, run};
use super::types::Scalar;

/// A file of shape functions.
#[derive(Clone, Debug)]
pub struct ShapeFile {
    program: Program,
    registrations: Vec<Registration>,
}

impl ShapeFile {
    /// Reads and checks a source file. Fails as [`compile`](crate::compile), and where the file registers a function that it does
    /// not have, or none at all.
    pub fn compile(source: &str) -> Result<Self, Vec<Diagnostic>> {
        let (items, registrations) = parse_shapes(source).map_err(|d| vec![d])?;
        let program = check(items)?;
        if registrations.is_empty() {
            let text = "no shape function is registered; add NEURON_LIBRARY(my_ops, m) { m.def(\"relu_forward\", &relu_fwd_shape, \"relu_forward\"); }";
            return Err(vec![Diagnostic::new(Pos { line: 1, column: 1 }, Problem::error("no_kernel", text))]);
        }
        let unknown = |r: &&Registration| program.named(&r.shape).is_none();
        let problem = |r: &Registration| {
            Diagnostic::new(r.pos, Problem::unknown(&r.shape, "write the shape function above NEURON_LIBRARY"))
        };
        let problems: Vec<Diagnostic> = registrations.iter().filter(unknown).map(problem).collect();
        if problems.is_empty() { Ok(Self { program, registrations }) } else { Err(problems) }
    }

    /// Runs the shape function of a kernel function on inputs of these shapes, and returns what is wrong with it.
    pub fn problems(&self, kernel: &str, inputs: &[Vec<u64>], of: Scalar) -> Vec<Diagnostic> {
        let Some(found) = self.registrations.iter().find(|r| r.kernel == kernel) else {
            let names: Vec<&str> = self.registrations.iter().map(|r| r.kernel.as_str()).collect();
            let text =
                format!("the kernel function {kernel} has no shape function; those of {} have one", names.join(", "));
            let pos = self.registrations.first().map_or(Pos { line: 1, column: 1 }, |r| r.pos);
            return vec![Diagnostic::new(pos, Problem::error("no_kernel", text))];
        };
        let Some(function) = self.program.named(&found.shape) else { return Vec::new() };
        let tensors: Option<Vec<HbmTensor>> = inputs.iter().map(|dims| HbmTensor::empty(dims, of)).collect();
        let options = RunOptions { multicore: false, cores: 1, tcm_pool_bytes: 0, step_limit: MOST_STEPS };
        let mut outcome = run(function, &tensors.unwrap_or_default(), &options, &mut [NoMeter]);
        // A shape function may leave the values of its result open.
        outcome.diagnostics.retain(|d| d.problem.code() != "unwritten");
        outcome.diagnostics
    }
}

/// Statements of a shape function.
const MOST_STEPS: u64 = 1_000_000;

/// Shape functions run on the host when a model is compiled: they take no time of a step.
struct NoMeter;

impl Meter for NoMeter {
    fn line(&mut self, _: u32) {}
    fn work(&mut self, _: u32, _: Work) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    const TUTORIAL: &str = "#include <torch/torch.h>
#include \"torchneuron/register.h\"

torch::Tensor relu_fwd_shape(torch::Tensor t_in) {
    torch::Tensor t_out = torch::zeros(t_in.sizes(), torch::kFloat);
    return t_out;
}

torch::Tensor relu_bwd_shape(torch::Tensor t_grad, torch::Tensor t_in) {
    torch::Tensor t_out = torch::empty(t_in.sizes(), torch::kFloat);
    return t_out;
}

NEURON_LIBRARY(my_ops, m) {
  m.def(\"relu_forward\", &relu_fwd_shape, \"relu_forward\");
  m.def(\"relu_backward\", &relu_bwd_shape, \"relu_backward\");
}
";

    fn problems(source: &str, kernel: &str, inputs: &[Vec<u64>]) -> String {
        let said = match ShapeFile::compile(source) {
            Ok(file) => file.problems(kernel, inputs, Scalar::F32),
            Err(problems) => problems,
        };
        said.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_shape_function_that_returns_the_inputs_shape_has_no_problem() {
        let shape = vec![32, 4096];
        assert_eq!(problems(TUTORIAL, "relu_forward", std::slice::from_ref(&shape)), "");
        assert_eq!(problems(TUTORIAL, "relu_backward", &[shape.clone(), shape.clone()]), "");
        let of_operator = TUTORIAL.replace(", \"relu_forward\");", ");");
        assert_eq!(problems(&of_operator, "relu_forward", &[shape]), "");
    }

    #[test]
    fn another_shape_or_function_is_an_error_at_its_line() {
        let forward = |source: &str| problems(source, "relu_forward", &[vec![4, 6]]);
        let other = forward(&TUTORIAL.replacen("t_in.sizes()", "{t_in.size(0)}", 1));
        assert!(
            other.starts_with("4:") && other.contains("relu_fwd_shape returns") && other.contains("[4]"),
            "{other}"
        );
        let typed = forward(&TUTORIAL.replacen("kFloat", "kInt", 1));
        assert!(typed.starts_with("4:") && typed.contains("int"), "{typed}");
        let unknown = forward(&TUTORIAL.replacen("&relu_fwd_shape", "&relu_shape", 1));
        assert!(unknown.starts_with("15:26: 'relu_shape' is not declared"), "{unknown}");
        let missing = problems(TUTORIAL, "gelu_forward", &[vec![4, 6]]);
        assert!(
            missing.contains("gelu_forward has no shape function; those of relu_forward, relu_backward"),
            "{missing}"
        );
        let broken = forward(&TUTORIAL.replacen("m.def", "m.impl", 1));
        assert!(broken.starts_with("15:5: expected def"), "{broken}");
        assert!(forward("torch::Tensor f(torch::Tensor t) { return t; }").contains("no shape function is registered"));
        assert!(forward("int x = ;").starts_with("1:9: "));
    }
}
