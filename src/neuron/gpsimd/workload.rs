//! The whole study: the kernel in its network, and on a single input.

use std::collections::VecDeque;

use super::network::{KernelTimes, NetworkRun};
use super::reference;
use super::report::{Breakdown, CustomOpReport, StepReport, ns};
use super::spec::{CustomOpSpec, Workload};
use crate::step::StepCosts;
use ns_base::convert::usize_to_f64;
use ns_base::{Refusal, SimTime};
use ns_compiler::Workflow;
use ns_kernel::{
    CallCost, CoreMeter, Diagnostic, HbmTensor, OperatorCall, OperatorRun, Pos, Problem, Program, Role, Scalar,
    compile, filled,
};
use ns_machine::cost::{CostTable, GpsimdCosts};

/// Values of the result that a report shows.
const MOST_VALUES: usize = 64;
/// Statements of a kernel per part, when the caller waits for the end.
const PART: u64 = 1 << 24;

/// Compiles a kernel, times a step of its network, and runs it on the given input.
///
/// Problems of the kernel are in the report.
///
/// # Errors
/// When an option is out of bounds, the network cannot be simulated or the reference is not an expression.
pub fn run(spec: &CustomOpSpec, costs: &CostTable) -> Result<CustomOpReport, Refusal> {
    run_with_processors(spec, costs).map(|answer| answer.0)
}

/// The same, with the activity of each processor: in the call on the input, or else in the first call of a
/// step.
///
/// # Errors
/// As [`run`].
pub fn run_with_processors(
    spec: &CustomOpSpec,
    costs: &CostTable,
) -> Result<(CustomOpReport, Vec<CoreMeter>), Refusal> {
    let mut run = CustomOpRun::new(spec.clone(), costs)?;
    while !run.advance(PART) {}
    run.finish()
}

/// A call that has not run.
struct Planned {
    role: Role,
    dims: Vec<u64>,
    /// Whether it is the call on a single input, without the network.
    alone: bool,
}

/// A call that is done, with its inputs.
struct FinishedCall {
    run: OperatorRun,
    inputs: Vec<HbmTensor>,
}

/// Runs the calls of a study one after another, in parts of a given number of statements.
pub struct CustomOpRun {
    spec: CustomOpSpec,
    /// Element type of the tensors.
    element: Scalar,
    gpsimd: GpsimdCosts,
    report: CustomOpReport,
    /// `None` when the kernel does not compile.
    program: Option<Program>,
    /// Time of a loop's own work in each step.
    load_batch: SimTime,
    /// The networks around the kernel whose steps are not known yet, one for each workflow.
    networks: VecDeque<NetworkRun>,
    /// The steps that are known.
    steps: Vec<(Workflow, StepCosts)>,
    /// Why a network has no step.
    failed: Option<Refusal>,
    waiting: VecDeque<Planned>,
    parts: usize,
    current: Option<(Planned, OperatorCall)>,
    kernels: KernelTimes,
    total: CallCost,
    step_is_complete: bool,
    first: Option<FinishedCall>,
    alone: Option<FinishedCall>,
}

impl CustomOpRun {
    /// Compiles the kernel. Problems of the kernel are in the report.
    ///
    /// # Errors
    /// When an option is out of bounds.
    pub fn new(spec: CustomOpSpec, costs: &CostTable) -> Result<Self, Refusal> {
        spec.check()?;
        let cores = if spec.multicore { spec.cores } else { 1 };
        let report = CustomOpReport {
            kernel: spec.name.clone(),
            multicore: spec.multicore,
            cores,
            dtype: spec.dtype,
            ..CustomOpReport::default()
        };
        let mut run = Self {
            gpsimd: GpsimdCosts::of(costs),
            report,
            program: None,
            load_batch: SimTime::from_ns(costs.runtime.load_batch_ns),
            networks: VecDeque::new(),
            steps: Vec::new(),
            failed: None,
            waiting: VecDeque::new(),
            parts: 0,
            current: None,
            kernels: KernelTimes::default(),
            total: CallCost::default(),
            step_is_complete: false,
            first: None,
            alone: None,
            element: Scalar::F32,
            spec,
        };
        let element = match run.spec.dtype.scalar() {
            Ok(element) => element,
            Err(refused) => {
                run.report.problems(&[refused]);
                return Ok(run);
            }
        };
        run.element = element;
        match compile(&run.spec.source) {
            Ok(program) if program.kernel(Role::Forward).is_some() => {
                run.plan(&program, costs);
                run.program = Some(program);
                run.report.compiles = true;
            }
            Ok(_) => run.report.problems(&[missing("forward", 1)]),
            Err(problems) => run.report.problems(&problems),
        }
        Ok(run)
    }

    fn plan(&mut self, program: &Program, costs: &CostTable) {
        let spec = &self.spec;
        // A traced model has no backward pass.
        let workflows = match spec.workload {
            Workload::Inference => &Workflow::ALL[..],
            Workload::Training => &[Workflow::MarkStep],
        };
        let network = |w: &Workflow| NetworkRun::new(&spec.layers, spec.batch, spec.workload, *w, costs);
        self.networks = workflows.iter().map(network).collect();
        let mut roles = vec![Role::Forward];
        self.step_is_complete = true;
        if self.spec.workload == Workload::Training {
            if program.kernel(Role::Backward).is_some() {
                roles.push(Role::Backward);
            } else {
                self.report.problems(&[missing("backward", 2)]);
                self.step_is_complete = false;
            }
        }
        for width in self.spec.hidden() {
            let call = |role| Planned { role, dims: vec![self.spec.batch, width], alone: false };
            self.waiting.extend(roles.iter().copied().map(call));
        }
        let alone = self.spec.input.clone().map(|dims| Planned { role: Role::Forward, dims, alone: true });
        self.waiting.extend(alone);
        self.parts = self.waiting.len() + self.networks.len();
    }

    /// The part of the calls and networks that is done, 0 to 1.
    #[must_use]
    pub fn fraction(&self) -> f64 {
        let left = self.waiting.len() + usize::from(self.current.is_some()) + self.networks.len();
        1.0 - usize_to_f64(left) / usize_to_f64(self.parts.max(1))
    }

    /// Runs about `statements` more statements of one call, or a part of the networks around the calls; returns whether
    /// everything has ended. The networks are compiled first, each in one part, and simulated last, because they need the
    /// times of their kernels.
    pub fn advance(&mut self, statements: u64) -> bool {
        if let Some(network) = self.networks.iter_mut().find(|n| !n.is_compiled()) {
            self.failed = network.compile().err();
            return self.failed.is_some();
        }
        if self.current.is_none() {
            self.current = self.begin();
        }
        if let Some((_, call)) = &mut self.current {
            if call.advance(statements)
                && let Some((planned, call)) = self.current.take()
            {
                self.end(planned, call.finish());
            }
            return false;
        }
        if let Some(network) = self.networks.front_mut() {
            let workflow = network.workflow();
            match network.advance(statements, &self.kernels) {
                Ok(None) => return false,
                Ok(Some(step)) => self.steps.push((workflow, step)),
                Err(error) => self.failed = Some(error),
            }
            self.networks.pop_front();
        }
        self.failed.is_some() || self.networks.is_empty()
    }

    fn begin(&mut self) -> Option<(Planned, OperatorCall)> {
        let planned = self.waiting.pop_front()?;
        let kernel = self.program.as_ref()?.kernel(planned.role)?;
        let inputs = self.inputs(&planned);
        let call = OperatorCall::new(kernel, inputs, self.spec.multicore, self.spec.cores, &self.gpsimd);
        Some((planned, call))
    }

    fn inputs(&self, planned: &Planned) -> Vec<HbmTensor> {
        let kernel = self.program.as_ref().and_then(|p| p.kernel(planned.role));
        let count = kernel.map_or(0, |k| k.inputs()) as u64;
        let elements = planned.dims.iter().product();
        let values = |stream| filled(self.spec.fill, elements, self.spec.seed, stream);
        (0..count).map(|stream| HbmTensor::of_type(&planned.dims, &values(stream), self.element)).collect()
    }

    fn end(&mut self, planned: Planned, run: OperatorRun) {
        self.report.problems(&run.outcome.diagnostics);
        if planned.alone {
            self.alone = Some(FinishedCall { run, inputs: self.inputs(&planned) });
            return;
        }
        self.total.add(&run.cost);
        self.kernels.total_ps = self.total.time_ps;
        if planned.role == Role::Forward {
            self.kernels.forward_ps.push(run.cost.time_ps);
        }
        if !run.outcome.complete {
            // A kernel that does not end would use up its budget of steps once more.
            self.step_is_complete = false;
            self.waiting.retain(|p| p.alone);
        }
        if self.first.is_none() {
            self.first = Some(FinishedCall { run, inputs: self.inputs(&planned) });
        }
    }

    /// The report, and the activity of each processor.
    ///
    /// # Errors
    /// When the network cannot be simulated, or the reference is not an expression.
    pub fn finish(mut self) -> Result<(CustomOpReport, Vec<CoreMeter>), Refusal> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let Some(program) = self.program.take() else { return Ok((self.report, Vec::new())) };
        // A study that ends early has no step time.
        self.step_is_complete &= self.waiting.is_empty() && self.current.is_none() && self.networks.is_empty();
        self.time_of_a_step();
        if let Some(alone) = &self.alone {
            // The times and lines of this run replace the step's.
            self.report.breakdown_ns = Breakdown::default();
            self.report.cost(&alone.run.cost);
            if !alone.run.outcome.complete {
                self.report.complete = false;
                self.report.ns_per_element = None;
            }
        }
        let Some(shown) = self.alone.or(self.first) else { return Ok((self.report, Vec::new())) };
        let name = program.kernel(Role::Forward).map(|k| k.name().to_owned()).unwrap_or_default();
        values(&mut self.report, &self.spec, &name, &shown)?;
        Ok((self.report, shown.run.meters))
    }

    fn time_of_a_step(&mut self) {
        let report = &mut self.report;
        report.cost(&self.total);
        report.complete = self.step_is_complete;
        if let Some((_, step)) = self.steps.first() {
            let b = &mut report.breakdown_ns;
            b.network = ns((step.window - SimTime(self.total.time_ps)).0);
            b.launch = ns(step.around().0);
            b.host = ns((self.load_batch + step.host() + step.link).0);
            if self.step_is_complete {
                report.loop_of(step, self.load_batch);
                report.steps = self.steps.iter().map(|(workflow, step)| StepReport::of(*workflow, step)).collect();
            }
        }
        if !self.step_is_complete {
            report.ns_per_element = None;
        }
    }
}

fn missing(role: &'static str, inputs: usize) -> Diagnostic {
    let text = format!(
        "no {role} function found; write one that returns torch::Tensor and takes {inputs} const torch::Tensor& argument(s)"
    );
    Diagnostic::new(Pos { line: 1, column: 1 }, Problem::error("no_kernel", text))
}

fn values(report: &mut CustomOpReport, spec: &CustomOpSpec, kernel: &str, call: &FinishedCall) -> Result<(), Refusal> {
    let outcome = &call.run.outcome;
    report.output = outcome.result.iter().take(MOST_VALUES).copied().collect();
    if let Some(text) = reference::expression(spec, kernel).filter(|_| outcome.complete) {
        let expected = reference::values(text, &call.inputs)?;
        report.max_abs_error = Some(reference::max_abs_error(&outcome.result, &expected));
        report.values_differ = reference::differ(&outcome.result, &expected, spec.dtype);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::report::Fault;
    use super::*;
    use ns_kernel::{Fill, KernelDtype, built_in};

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

    #[test]
    fn parts_of_any_size_give_the_same_answer() {
        for name in ["relu-element", "relu-tcm", "relu-multicore"] {
            let spec = CustomOpSpec { input: Some(vec![503]), workload: Workload::Training, ..small(name) };
            let costs = CostTable::neuroncore_v2();
            let whole = run_with_processors(&spec, &costs).unwrap();
            for part in [1, 7, 1_000] {
                let mut run = CustomOpRun::new(spec.clone(), &costs).unwrap();
                let (mut parts, mut fraction) = (0, 0.0);
                while !run.advance(part) {
                    assert!(run.fraction() >= fraction && run.fraction() < 1.0);
                    fraction = run.fraction();
                    parts += 1;
                }
                let found = run.finish().unwrap();
                assert_eq!(found.0, whole.0, "{name} in parts of {part}");
                let ends = |meters: &[CoreMeter]| meters.iter().map(CoreMeter::total_ps).collect::<Vec<_>>();
                assert_eq!(ends(&found.1), ends(&whole.1));
                assert!(parts >= 4);
            }
        }
    }

    #[test]
    fn a_kernel_without_end_can_be_left_after_any_part() {
        let source = "torch::Tensor f(const torch::Tensor& t) { while (true) { } return t; }";
        let spec = CustomOpSpec { source: source.to_owned(), ..small("relu-tcm") };
        let mut run = CustomOpRun::new(spec, &CostTable::neuroncore_v2()).unwrap();
        for _ in 0..100 {
            assert!(!run.advance(1_000));
        }
        let (report, _) = run.finish().unwrap();
        assert_eq!((report.iterations_per_s, report.complete), (None, false));
    }

    /// Models take the element-wise ReLU's time from the cost table; it equals the time of the kernel.
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
        // Fewer elements than processors: seven empty slices, and the last processor takes all.
        let few = report(&CustomOpSpec { input: Some(vec![5]), fill: Fill::Ramp, ..small("relu-multicore-fixed") });
        assert_eq!((few.diagnostics.len(), few.max_abs_error), (0, Some(0.0)));
    }

    /// Fewer bytes per element need fewer copies; a type that the kernel or the language does not take is in the
    /// report.
    #[test]
    fn tensors_have_other_element_types() {
        let of =
            |name, dtype| report(&CustomOpSpec { dtype, input: Some(vec![5_000]), fill: Fill::Ramp, ..small(name) });
        let mut copies = Vec::new();
        for dtype in [KernelDtype::Int64, KernelDtype::Float32, KernelDtype::Int32, KernelDtype::Int16] {
            let found = of("relu-any-type", dtype);
            assert_eq!((found.max_abs_error, found.diagnostics.len(), found.dtype), (Some(0.0), 0, dtype), "{dtype}");
            copies.push(found.breakdown_ns.dma);
        }
        assert!(copies[0] > copies[1] && copies[1] == copies[2] && copies[2] > copies[3], "{copies:?}");
        let whole = of("relu-any-type", KernelDtype::Int32);
        assert_eq!((whole.output[0], whole.iterations_per_s.is_some()), (Some(0.0), true));
        for (name, dtype, code) in [
            ("relu-tcm", KernelDtype::Int32, "invalid"),
            ("relu-element", KernelDtype::Uint8, "invalid"),
            ("relu-any-type", KernelDtype::Bfloat16, "not_supported"),
        ] {
            let found = of(name, dtype);
            assert_eq!((found.iterations_per_s, found.diagnostics[0].code), (None, code), "{name} {dtype}");
        }
    }

    #[test]
    fn processors_share_the_work() {
        let with = |cores| report(&CustomOpSpec { cores, input: Some(vec![65_536]), ..small("relu-multicore-fixed") });
        let (one, eight) = (with(1).ns_per_element.unwrap(), with(8).ns_per_element.unwrap());
        assert!((7.0..=8.0).contains(&(one / eight)), "{one} {eight}");
    }

    #[test]
    fn a_user_written_reference_is_an_expression() {
        let square = "torch::Tensor square(const torch::Tensor& t) { torch::Tensor o = torch::empty(t.sizes(), torch::kFloat); auto r = t.read_stream_accessor<float>(); auto w = o.write_stream_accessor<float>(); for (int i = 0; i < t.numel(); i++) { float x = r.read(); w.write(x * x); } return o; }";
        let base = CustomOpSpec { source: square.to_owned(), ..small("relu-tcm") };
        assert_eq!(report(&base).max_abs_error, None);
        let right = CustomOpSpec { reference: Some("x * x".to_owned()), ..base.clone() };
        assert_eq!(report(&right).max_abs_error, Some(0.0));
        let wrong = CustomOpSpec { reference: Some("2 * x".to_owned()), ..base.clone() };
        let found = report(&wrong);
        assert!(found.max_abs_error.unwrap() > 0.0 && found.iterations_per_s.is_some());
        assert!(matches!(found.fault(), Some(Fault::Values(_))) && found.comparable_rate().is_none());
        assert!(found.problem().starts_with("off by "));
        // The same formula in another order: its last digit is another one.
        let rounded = CustomOpSpec { reference: Some("x * x * 3.0f / 3.0f".to_owned()), ..base.clone() };
        let found = report(&rounded);
        assert!(found.max_abs_error.unwrap() > 0.0 && found.fault().is_none() && found.comparable_rate().is_some());
        let bad = CustomOpSpec { reference: Some("x +".to_owned()), ..base };
        assert!(
            run(&bad, &CostTable::neuroncore_v2())
                .is_err_and(|e| e.what().contains("the reference expression 'x +' cannot be computed"))
        );
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
            assert!(run(&bad, &CostTable::neuroncore_v2()).is_err_and(|e| e.what().contains(" is outside ")));
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
        let fault = found.fault().unwrap();
        assert!(matches!(fault, Fault::DoesNotCompile(Some(_))), "{fault}");
        assert!(fault.to_string().starts_with("the kernel does not compile: line 1: expected"), "{fault}");
    }
}
