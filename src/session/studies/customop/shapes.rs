//! The shape functions of a custom operator, on the shapes of its calls.

use ns_base::{Refusal, refuse};
use ns_kernel::{Diagnostic, Role, ShapeFile, compile};
use ns_neuron::gpsimd::{CustomOpSpec, Workload};

/// Runs the shape functions in the text of a file on the shapes of every call of a kernel. Fails with the places of what is wrong.
pub fn check_shapes(spec: &CustomOpSpec, file: &str, text: &str) -> Result<(), Refusal> {
    spec.check()?;
    // A kernel that does not compile has its own errors, and so has one that does not take the elements.
    let (Ok(program), Ok(of)) = (compile(&spec.source), spec.dtype.scalar()) else { return Ok(()) };
    let in_network = spec.hidden().map(|width| vec![spec.batch, width]);
    let calls: Vec<Vec<u64>> = in_network.chain(spec.input.clone()).collect();
    let is_training = spec.workload == Workload::Training;
    let roles = if is_training { &[Role::Forward, Role::Backward][..] } else { &[Role::Forward] };
    let mut problems = match ShapeFile::compile(text) {
        Err(found) => found,
        Ok(file) => {
            let kernels = roles.iter().filter_map(|role| program.kernel(*role));
            let each =
                kernels.flat_map(|kernel| calls.iter().map(move |dims| (kernel, vec![dims.clone(); kernel.inputs()])));
            each.flat_map(|(kernel, inputs)| file.problems(kernel.name(), &inputs, of)).collect()
        }
    };
    problems.dedup();
    if problems.is_empty() {
        return Ok(());
    }
    let place = |d: &Diagnostic| format!("{file}:{}:{}: error: {}", d.pos.line, d.pos.column, d.problem);
    Err(refuse!("{}", problems.iter().map(place).collect::<Vec<_>>().join("\n")))
}
