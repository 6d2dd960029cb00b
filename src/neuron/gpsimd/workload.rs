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
/// Problems of the kernel are in the report. Fails when an option is out of bounds, the network cannot be simulated or the
/// reference is not an expression.
pub fn run(spec: &CustomOpSpec, costs: &CostTable) -> Result<CustomOpReport, Refusal> {
    run_with_processors(spec, costs).map(|answer| answer.0)
}

/// The same, with the activity of each processor: in the call on the input, or else in the first call of a
/// step. Fails as [`run`].
pub fn run_with_processors(
    spec: &CustomOpSpec,
    costs: &CostTable,
) -> Result<(CustomOpReport, Vec<CoreMeter>), Refusal> {
    let mut run = CustomOpRun::new(spec.clone(), costs)?;
    while !run.advance(PART) {}
    run.finish()
}

/// A call that has not run.
struct PlannedCall {
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
    waiting: VecDeque<PlannedCall>,
    parts: usize,
    current: Option<(PlannedCall, OperatorCall)>,
    kernels: KernelTimes,
    total: CallCost,
    step_is_complete: bool,
    first: Option<FinishedCall>,
    /// The first call of the backward function.
    backward: Option<FinishedCall>,
    alone: Option<FinishedCall>,
}

impl CustomOpRun {
    /// Compiles the kernel. Problems of the kernel are in the report. Fails when an option is out of bounds.
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
            backward: None,
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
                (run.report.compiles, run.report.divides) = (true, program.divides());
                run.program = Some(program);
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
        self.networks = workflows.iter().filter(|_| spec.runs_in_network()).map(network).collect();
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
            let call = |role| PlannedCall { role, dims: vec![self.spec.batch, width], alone: false };
            self.waiting.extend(roles.iter().copied().map(call));
        }
        let alone = self.spec.input.clone().map(|dims| PlannedCall { role: Role::Forward, dims, alone: true });
        self.waiting.extend(alone);
        self.parts = self.waiting.len() + self.networks.len();
    }

    /// The part of the calls and networks that is done, 0 to 1.
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

    fn begin(&mut self) -> Option<(PlannedCall, OperatorCall)> {
        let planned = self.waiting.pop_front()?;
        let kernel = self.program.as_ref()?.kernel(planned.role)?;
        let inputs = self.inputs(&planned);
        let call = OperatorCall::new(kernel, inputs, self.spec.multicore, self.spec.cores, &self.gpsimd);
        Some((planned, call))
    }

    fn inputs(&self, planned: &PlannedCall) -> Vec<HbmTensor> {
        let kernel = self.program.as_ref().and_then(|p| p.kernel(planned.role));
        let count = kernel.map_or(0, |k| k.inputs()) as u64;
        let elements = planned.dims.iter().product();
        let values = |stream| filled(self.spec.fill, elements, self.spec.seed, stream);
        (0..count).map(|stream| HbmTensor::of_type(&planned.dims, &values(stream), self.element)).collect()
    }

    fn end(&mut self, planned: PlannedCall, run: OperatorRun) {
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
        let inputs = self.inputs(&planned);
        let first = if planned.role == Role::Forward { &mut self.first } else { &mut self.backward };
        first.get_or_insert(FinishedCall { run, inputs });
    }

    /// The report, and the activity of each processor. Fails when the network cannot be simulated, or the reference is not an
    /// expression.
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
        let Some(call_of_result) = self.alone.or(self.first) else { return Ok((self.report, Vec::new())) };
        self.report.output = call_of_result.run.outcome.result.iter().take(MOST_VALUES).copied().collect();
        for (role, call) in [(Role::Forward, Some(&call_of_result)), (Role::Backward, self.backward.as_ref())] {
            if let (Some(kernel), Some(call)) = (program.kernel(role), call) {
                compare(&mut self.report, &self.spec, (kernel.name(), role), call)?;
            }
        }
        Ok((self.report, call_of_result.run.meters))
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

/// Adds a call's difference from what its function should compute.
fn compare(
    report: &mut CustomOpReport,
    spec: &CustomOpSpec,
    (kernel, role): (&str, Role),
    call: &FinishedCall,
) -> Result<(), Refusal> {
    let outcome = &call.run.outcome;
    if let Some(text) = reference::expression(spec, kernel, role).filter(|_| outcome.complete) {
        let expected = reference::values(text, &call.inputs)?;
        let error = reference::max_abs_error(&outcome.result, &expected);
        report.max_abs_error = Some(report.max_abs_error.unwrap_or(0.0).max(error));
        report.values_differ |= reference::differ(&outcome.result, &expected, spec.dtype);
    }
    Ok(())
}
