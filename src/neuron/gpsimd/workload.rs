//! The whole answer: the kernel in its network, and on an input by itself.

use super::fill::filled;
use super::host::{HostCosts, inference_ops, training_ops};
use super::meter::CoreMeter;
use super::operator::{CallCost, OperatorRun, run_operator};
use super::report::{CustomOpReport, ns};
use super::spec::{CustomOpError, CustomOpSpec, Workload};
use super::{network, reference};
use crate::kernel::{Diagnostic, HbmTensor, KernelFunction, Pos, Problem, Program, Role, compile};
use crate::machine::cost::{CostTable, GpsimdCosts};

/// Values of the result that a report shows.
const SHOWN: usize = 64;

/// Compiles a kernel, times a step of its network, and runs it on the input that was asked for.
///
/// What is wrong with the kernel is in the report.
///
/// # Errors
/// When an option is out of bounds, the network cannot be simulated or the reference is not an expression.
pub fn run(spec: &CustomOpSpec, costs: &CostTable) -> Result<CustomOpReport, CustomOpError> {
    run_with_processors(spec, costs).map(|answer| answer.0)
}

/// The same with what each processor did when, in the call on the input or else in the first call of a step.
///
/// # Errors
/// As [`run`].
pub fn run_with_processors(
    spec: &CustomOpSpec,
    costs: &CostTable,
) -> Result<(CustomOpReport, Vec<CoreMeter>), CustomOpError> {
    spec.check()?;
    let gpsimd = GpsimdCosts::of(costs);
    let cores = if spec.multicore { spec.cores } else { 1 };
    let mut report =
        CustomOpReport { kernel: spec.name.clone(), multicore: spec.multicore, cores, ..CustomOpReport::default() };
    let program = match compile(&spec.source) {
        Ok(program) => program,
        Err(problems) => {
            report.problems(&problems);
            return Ok((report, Vec::new()));
        }
    };
    let Some(forward) = program.kernel(Role::Forward) else {
        report.problems(&[missing("forward", 1)]);
        return Ok((report, Vec::new()));
    };
    let first = step(spec, costs, &gpsimd, &program, forward, &mut report)?;
    let shown = match &spec.input {
        Some(dims) => Some(on_input(spec, dims, forward, &gpsimd, &mut report)),
        None => first,
    };
    let Some((run, inputs)) = shown else { return Ok((report, Vec::new())) };
    values(&mut report, spec, forward, &run, &inputs)?;
    Ok((report, run.meters))
}

/// Runs the kernel on an input by itself; times and lines of the report become those of this run.
fn on_input(
    spec: &CustomOpSpec,
    dims: &[u64],
    forward: KernelFunction<'_>,
    gpsimd: &GpsimdCosts,
    report: &mut CustomOpReport,
) -> (OperatorRun, Vec<HbmTensor>) {
    let inputs = inputs_of(dims, forward.inputs(), spec);
    let run = run_operator(forward, &inputs, spec.multicore, spec.cores, gpsimd);
    report.problems(&run.outcome.diagnostics);
    report.breakdown_ns = super::report::Breakdown::default();
    report.cost(&run.cost);
    if !run.outcome.complete {
        report.complete = false;
        report.ns_per_element = None;
    }
    (run, inputs)
}

fn missing(role: &'static str, inputs: usize) -> Diagnostic {
    Diagnostic::new(Pos { line: 1, column: 1 }, Problem::NoKernel { role, inputs })
}

fn inputs_of(dims: &[u64], count: usize, spec: &CustomOpSpec) -> Vec<HbmTensor> {
    let elements = dims.iter().product();
    (0..count as u64).map(|stream| HbmTensor::from_f32(dims, &filled(spec.fill, elements, spec.seed, stream))).collect()
}

/// The first call of a step, with its inputs.
type FirstCall = Option<(OperatorRun, Vec<HbmTensor>)>;

/// Times a step: every call of the operator, the network around them and the host beside them.
fn step(
    spec: &CustomOpSpec,
    costs: &CostTable,
    gpsimd: &GpsimdCosts,
    program: &Program,
    forward: KernelFunction<'_>,
    report: &mut CustomOpReport,
) -> Result<FirstCall, CustomOpError> {
    let layers = spec.layers.len() as u64 - 1;
    let mut kernels = vec![forward];
    if spec.workload == Workload::Training {
        match program.kernel(Role::Backward) {
            Some(backward) => kernels.push(backward),
            None => report.problems(&[missing("backward", 2)]),
        }
    }
    let network = network::device_time(&spec.layers, spec.batch, spec.workload, costs)?;
    let mut first = None;
    let mut total = CallCost::default();
    let mut complete = kernels.len() == 1 + usize::from(spec.workload == Workload::Training);
    'layers: for width in spec.hidden() {
        for kernel in &kernels {
            let inputs = inputs_of(&[spec.batch, width], kernel.inputs(), spec);
            let run = run_operator(*kernel, &inputs, spec.multicore, spec.cores, gpsimd);
            report.problems(&run.outcome.diagnostics);
            let ended = run.outcome.complete;
            complete &= ended;
            total.add(&run.cost);
            if first.is_none() {
                first = Some((run, inputs));
            }
            if !ended {
                // A kernel that does not end would spend its budget of steps once more.
                break 'layers;
            }
        }
    }
    let ops = if spec.workload == Workload::Training { training_ops(layers) } else { inference_ops(layers) };
    let host = HostCosts::published().step(ops);
    let device = ns(network.0 + total.time_ps);
    report.breakdown_ns.network = ns(network.0);
    report.breakdown_ns.host = host;
    report.cost(&total);
    report.complete = complete;
    if complete {
        let slower = host.max(device);
        report.step_ns = Some(slower);
        report.bound_by = Some(if host > device { "host" } else { "device" });
        report.iterations_per_s = Some(1e9 / slower);
    } else {
        report.ns_per_element = None;
    }
    Ok(first)
}

fn values(
    report: &mut CustomOpReport,
    spec: &CustomOpSpec,
    kernel: KernelFunction<'_>,
    run: &OperatorRun,
    inputs: &[HbmTensor],
) -> Result<(), CustomOpError> {
    report.output = run.outcome.result.iter().take(SHOWN).copied().collect();
    if let Some(text) = reference::expression(spec, kernel.name()).filter(|_| run.outcome.complete) {
        let expected = reference::values(text, inputs)?;
        report.max_abs_error = Some(reference::max_abs_error(&run.outcome.result, &expected));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neuron::gpsimd::{Fill, built_in};

    fn spec(name: &str) -> CustomOpSpec {
        let kernel = built_in(name).unwrap();
        CustomOpSpec::new(kernel.name, kernel.source, kernel.multicore)
    }

    fn report(spec: &CustomOpSpec) -> CustomOpReport {
        run(spec, &CostTable::neuroncore_v2()).unwrap()
    }

    /// The tutorial's three figures, from one set of costs.
    #[test]
    fn the_tutorial_is_met_within_five_percent() {
        for (name, published) in [("relu-element", 8.0986), ("relu-tcm", 220.738), ("relu-multicore", 269.936)] {
            let found = report(&spec(name));
            let rate = found.iterations_per_s.unwrap();
            assert!(
                (rate / published - 1.0).abs() < 0.05,
                "{name}: {rate} against {published}: {:?}",
                found.breakdown_ns
            );
            assert_eq!((found.max_abs_error, found.diagnostics.len()), (Some(0.0), 0), "{name}");
        }
    }

    /// Models take the element-wise ReLU's time from the cost table; it is that of the kernel.
    #[test]
    fn the_relu_of_models_takes_its_kernels_time() {
        let costs = CostTable::neuroncore_v2();
        let found = report(&CustomOpSpec { input: Some(vec![64, 512]), ..small("relu-element") });
        let table_ns = ns(costs.engine.custom_element_ps);
        let ratio = found.ns_per_element.unwrap() / table_ns;
        assert!((ratio - 1.0).abs() < 0.01, "{:?} against {table_ns}", found.ns_per_element);
    }

    fn small(name: &str) -> CustomOpSpec {
        CustomOpSpec { layers: vec![16, 24, 8, 4], batch: 4, ..spec(name) }
    }

    #[test]
    fn an_input_is_reported_by_itself() {
        let found = report(&CustomOpSpec { input: Some(vec![100, 3]), fill: Fill::Ramp, ..small("relu-element") });
        assert_eq!(found.max_abs_error, Some(0.0));
        assert_eq!((found.output.len(), found.output[0], found.breakdown_ns.host), (64, Some(0.0), 0.0));
        let inner = found.lines.iter().max_by_key(|l| l.count).unwrap();
        // 300 elements and the 100 ends of the inner loop on its line.
        assert_eq!(inner.count, 400);
        assert!(found.lines.iter().any(|l| l.count == 300));
        let sum: f64 = found.lines.iter().map(|l| l.time_ns).sum();
        assert!((sum - found.cores_ns[0]).abs() < 1e-6);
    }

    #[test]
    fn training_adds_the_backward_kernel() {
        for name in ["relu-element", "relu-tcm", "relu-multicore-fixed"] {
            let inference = report(&small(name));
            let training = report(&CustomOpSpec { workload: Workload::Training, ..small(name) });
            let (a, b) = (inference.breakdown_ns, training.breakdown_ns);
            assert!(b.compute > 1.5 * a.compute && b.network > 2.0 * a.network && b.host > 2.0 * a.host, "{name}");
            assert!(training.iterations_per_s.unwrap() < inference.iterations_per_s.unwrap());
        }
        let forward_only = "torch::Tensor f(const torch::Tensor& t) { return t; }";
        let found = report(&CustomOpSpec {
            source: forward_only.to_owned(),
            workload: Workload::Training,
            ..small("relu-tcm")
        });
        assert_eq!((found.iterations_per_s, found.diagnostics[0].code), (None, "no_kernel"));
    }

    #[test]
    fn the_partition_mistake_is_found_and_explained() {
        let odd = |name| report(&CustomOpSpec { input: Some(vec![1003]), fill: Fill::Ramp, ..small(name) });
        let found = odd("relu-multicore");
        let codes: Vec<&str> = found.diagnostics.iter().map(|d| d.code).collect();
        assert_eq!(codes, ["out_of_bounds", "out_of_bounds", "unwritten"]);
        let told = &found.diagnostics[2].message;
        assert!(told.starts_with("21 element(s) of the result are never written, the first is element 875"), "{told}");
        assert!(told.contains("Processor 7 begins at element 896") && told.contains("875 = 125 x 7"), "{told}");
        assert!(found.max_abs_error.unwrap() > 0.0);
        let fixed = odd("relu-multicore-fixed");
        assert_eq!((fixed.diagnostics.len(), fixed.max_abs_error), (0, Some(0.0)));
        // Fewer elements than processors: seven slices of none, and the last takes all.
        let few = report(&CustomOpSpec { input: Some(vec![5]), fill: Fill::Ramp, ..small("relu-multicore-fixed") });
        assert_eq!((few.diagnostics.len(), few.max_abs_error), (0, Some(0.0)));
    }

    #[test]
    fn processors_share_the_work() {
        let with = |cores| report(&CustomOpSpec { cores, input: Some(vec![65_536]), ..small("relu-multicore-fixed") });
        let (one, eight) = (with(1).ns_per_element.unwrap(), with(8).ns_per_element.unwrap());
        assert!((7.0..=8.0).contains(&(one / eight)), "{one} {eight}");
    }

    #[test]
    fn a_reference_of_ones_own_is_an_expression() {
        let square = "torch::Tensor square(const torch::Tensor& t) { torch::Tensor o = torch::empty(t.sizes(), torch::kFloat); auto r = t.read_stream_accessor<float>(); auto w = o.write_stream_accessor<float>(); for (int i = 0; i < t.numel(); i++) { float x = r.read(); w.write(x * x); } return o; }";
        let base = CustomOpSpec { source: square.to_owned(), ..small("relu-tcm") };
        assert_eq!(report(&base).max_abs_error, None);
        let right = CustomOpSpec { reference: Some("x * x".to_owned()), ..base.clone() };
        assert_eq!(report(&right).max_abs_error, Some(0.0));
        let wrong = CustomOpSpec { reference: Some("2 * x".to_owned()), ..base.clone() };
        assert!(report(&wrong).max_abs_error.unwrap() > 0.0);
        let bad = CustomOpSpec { reference: Some("x +".to_owned()), ..base };
        assert!(matches!(run(&bad, &CostTable::neuroncore_v2()), Err(CustomOpError::Reference { .. })));
    }

    #[test]
    fn options_have_bounds() {
        for bad in [
            CustomOpSpec { batch: 0, ..small("relu-tcm") },
            CustomOpSpec { layers: vec![4], ..small("relu-tcm") },
            CustomOpSpec { cores: 0, ..small("relu-tcm") },
            CustomOpSpec { input: Some(vec![1 << 40]), ..small("relu-tcm") },
            CustomOpSpec { layers: vec![4, 65_536, 4], batch: 65_536, ..small("relu-tcm") },
        ] {
            assert!(matches!(run(&bad, &CostTable::neuroncore_v2()), Err(CustomOpError::Range { .. })));
        }
    }

    #[test]
    fn a_wrong_kernel_is_reported_with_its_place() {
        let found = report(&CustomOpSpec { source: "int f( {".to_owned(), ..small("relu-tcm") });
        assert_eq!((found.iterations_per_s, found.diagnostics.len()), (None, 1));
        assert_eq!(
            (found.diagnostics[0].code, found.diagnostics[0].line, found.diagnostics[0].column),
            ("syntax", 1, 8)
        );
        assert!(found.to_json().unwrap().contains("\"iterations_per_s\": null"));
    }
}
