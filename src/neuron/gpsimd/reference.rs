//! The values that a kernel should compute.

use super::spec::CustomOpSpec;
use ns_base::{Refusal, refuse};
use ns_kernel::{HbmTensor, KernelDtype, Meter, Role, RunOptions, Work, compile, run};

/// A ReLU, which the tutorial's kernels compute.
const RELU: &str = "x > 0 ? x : 0";
/// Its gradient, from the gradient of the result and the input.
const RELU_GRADIENT: &str = "y > 0 ? x : 0";

struct NoMeter;

impl Meter for NoMeter {
    fn line(&mut self, _line: u32) {}
    fn work(&mut self, _line: u32, _work: Work) {}
}

/// The expression that a kernel function is compared with, if there is one. The user's own is that of the forward function.
pub(super) fn expression<'a>(spec: &'a CustomOpSpec, kernel: &str, role: Role) -> Option<&'a str> {
    let is_relu = kernel.to_ascii_lowercase().contains("relu");
    match role {
        Role::Forward => spec.reference.as_deref().or_else(|| is_relu.then_some(RELU)),
        Role::Backward => (is_relu && spec.reference.is_none()).then_some(RELU_GRADIENT),
    }
}

/// The expression's value for each element. The expression is in the language of kernels, so a kernel computes it. Fails when it
/// does not compile or does not run.
pub(super) fn values(text: &str, inputs: &[HbmTensor]) -> Result<Vec<Option<f32>>, Refusal> {
    let fail = |reason: String| {
        refuse!(
            "the reference expression '{text}' cannot be computed: {reason}; write an expression of x, such as x > 0 ? x : 0"
        )
    };
    let names = ["x", "y", "z", "w"];
    let used = inputs.get(..inputs.len().min(names.len())).unwrap_or(inputs);
    let (mut parameters, mut reads) = (Vec::new(), String::new());
    for (i, name) in names.iter().enumerate().take(used.len()) {
        parameters.push(format!("const torch::Tensor& t{i}"));
        let of = used.get(i).map_or("float", |t| t.of.name());
        reads.push_str(&format!("auto a{i} = t{i}.read_stream_accessor<{of}>(); {of} {name} = 0;\n"));
    }
    let result = used.first().map_or("float", |t| t.of.name());
    let mut next = String::new();
    for (i, name) in names.iter().enumerate().take(used.len()) {
        next.push_str(&format!("{name} = a{i}.read(); "));
    }
    let source = format!(
        "torch::Tensor reference({}) {{ torch::Tensor out = torch::empty(t0.sizes(), t0.dtype());\n{reads}\
         auto result = out.write_stream_accessor<{result}>();\n\
         for (size_t i = 0; i < t0.numel(); i++) {{ {next} result.write(\n{text}\n); }} return out; }}",
        parameters.join(", ")
    );
    let program = compile(&source).map_err(|d| fail(d.first().map(|d| d.problem.to_string()).unwrap_or_default()))?;
    let Some(kernel) = program.kernel(Role::Forward) else { return Err(fail("it is not an expression".to_owned())) };
    let elements = used.first().map_or(0, HbmTensor::elements);
    let options = RunOptions {
        multicore: false,
        cores: 1,
        tcm_pool_bytes: 64 * 1024,
        step_limit: RunOptions::step_limit_for(elements),
    };
    let outcome = run(kernel, used, &options, &mut [NoMeter]);
    if outcome.complete {
        return Ok(outcome.result);
    }
    Err(fail(outcome.diagnostics.first().map(|d| d.problem.to_string()).unwrap_or_default()))
}

/// Whether a value differs by more than rounding: by the tolerances with which PyTorch compares tensors of a type
/// (`torch.testing.assert_close`). Whole numbers are equal or not.
pub(super) fn differ(result: &[Option<f32>], expected: &[Option<f32>], dtype: KernelDtype) -> bool {
    let (relative, absolute) = match dtype {
        KernelDtype::Float32 => (1.3e-6, 1e-5),
        KernelDtype::Bfloat16 => (1.6e-2, 1e-5),
        KernelDtype::Float16 => (1e-3, 1e-5),
        _ => (0.0, 0.0),
    };
    result.iter().zip(expected).any(|(a, b)| {
        let (a, b) = (a.unwrap_or(0.0), b.unwrap_or(0.0));
        let within = (f64::from(a) - f64::from(b)).abs() <= absolute + relative * f64::from(b).abs();
        a != b && !(a.is_nan() && b.is_nan()) && !within
    })
}

/// The largest difference. An element that was never written counts as zero, and a NaN as an infinite difference.
pub(super) fn max_abs_error(result: &[Option<f32>], expected: &[Option<f32>]) -> f64 {
    let mut largest = 0.0_f64;
    for (a, b) in result.iter().zip(expected) {
        let (a, b) = (a.unwrap_or(0.0), b.unwrap_or(0.0));
        if a == b || (a.is_nan() && b.is_nan()) {
            continue;
        }
        let error = (f64::from(a) - f64::from(b)).abs();
        largest = if error.is_nan() { f64::INFINITY } else { largest.max(error) };
    }
    largest
}
