//! The report on a custom operator, as JSON has it (docs/formats/customop-json.md).

use serde::Serialize;

use super::CustomOpSpec;
use crate::step::{StepCosts, Waits};
use ns_base::Order;
use ns_base::SimTime;
use ns_base::convert::u64_to_f64;
use ns_base::units::format_figures;
use ns_compiler::Workflow;
use ns_kernel::{CallCost, Diagnostic, KernelDtype, Kind, LineCost, Severity};

/// The report on a custom operator.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CustomOpReport {
    /// Name of the kernel.
    pub kernel: String,
    /// Whether every processor runs it.
    pub multicore: bool,
    /// Processors that run it.
    pub cores: u32,
    /// Element type of its tensors.
    pub dtype: KernelDtype,
    /// Whether the kernel could be run at all; otherwise `diagnostics` says why it could not.
    #[serde(skip)]
    pub compiles: bool,
    /// Whether the kernel asks which processor runs it, to divide its work.
    #[serde(skip)]
    pub divides: bool,
    /// Whether every run of the kernel finished.
    pub complete: bool,
    /// Steps of the network per second; absent when a kernel of the step does not finish.
    pub iterations_per_s: Option<f64>,
    /// A step of the loop, nanoseconds: the slower of host and device.
    pub step_ns: Option<f64>,
    /// `host` or `device`, whichever is slower.
    pub bound_by: Option<&'static str>,
    /// The parts of a step of the loop.
    #[serde(rename = "loop")]
    pub looped: Option<LoopReport>,
    /// A step by itself, for each workflow: what other commands say of the same network. Empty when a kernel of the step
    /// does not finish.
    pub steps: Vec<StepReport>,
    /// Time of the operator per element, nanoseconds.
    pub ns_per_element: Option<f64>,
    /// Where the time goes.
    pub breakdown_ns: Breakdown,
    /// Largest difference from the reference; absent when there is no reference or the kernel did not finish.
    pub max_abs_error: Option<f64>,
    /// Whether a value differs from the reference by more than rounding.
    #[serde(skip)]
    pub values_differ: bool,
    /// The first values of the result; null for a value that was never written.
    pub output: Vec<Option<f32>>,
    /// Each line that ran.
    pub lines: Vec<LineReport>,
    /// Time of each processor, nanoseconds.
    pub cores_ns: Vec<f64>,
    /// Problems of the kernel, by position.
    pub diagnostics: Vec<DiagnosticLine>,
}

/// What is wrong with a kernel, the first that applies. The times of such a kernel are compared with no other's.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault<'a> {
    /// Nothing ran.
    DoesNotCompile(Option<&'a DiagnosticLine>),
    /// A run did not end.
    DoesNotFinish(Option<&'a DiagnosticLine>),
    /// It ran, with an error.
    Error(&'a DiagnosticLine),
    /// The largest difference from the reference is more than rounding.
    Values(f64),
}

impl std::fmt::Display for Fault<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (what, place) = match self {
            Self::DoesNotCompile(place) => ("the kernel does not compile", place.as_ref()),
            Self::DoesNotFinish(place) => ("the kernel does not finish", place.as_ref()),
            Self::Error(place) => ("the result is wrong", Some(place)),
            Self::Values(error) => return write!(f, "the values are wrong: off by {}", format_figures(*error)),
        };
        match place {
            Some(d) => write!(f, "{what}: line {}: {}", d.line, d.message),
            None => f.write_str(what),
        }
    }
}

/// Where the time goes, nanoseconds. The operator's parts are those of its slowest processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Breakdown {
    /// Waiting for single elements of device memory.
    pub hbm_access: f64,
    /// Copies between device memory and TCM.
    pub dma: f64,
    /// Tensors filled or copied in device memory.
    pub tensor_move: f64,
    /// Instructions and accesses to local memory.
    pub compute: f64,
    /// Starting the engine.
    pub start: f64,
    /// The rest of the network on the device; 0 for a run on a single input.
    pub network: f64,
    /// Start-up and tear-down of the execution on the device; 0 for a run on a single input.
    pub launch: f64,
    /// The host's work for a step of the loop, parallel to the device; 0 for a run on a single input.
    pub host: f64,
}

/// A step of the tutorial's loop, which loads a batch before the network's step and waits for no result, nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LoopReport {
    /// Everything before the device: loading the batch, recording, call, copies, link.
    pub host_ns: f64,
    /// The part of it that loads the batch.
    pub load_batch_ns: f64,
    /// The device, with start-up and tear-down, while the host has the next step.
    pub device_ns: f64,
    /// The part of a step in which the host waits for the device.
    pub wait_ns: f64,
}

/// A step of the network by itself, nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct StepReport {
    pub workflow: Workflow,
    /// Host work: recording, call, copies.
    pub host_ns: f64,
    /// Moving inputs and outputs between host and device.
    pub link_ns: f64,
    /// The device, with start-up and tear-down.
    pub device_ns: f64,
    /// From step to step when each result is waited for.
    pub waited_ns: f64,
    /// From step to step when none is: the host is one step ahead.
    pub ahead_ns: f64,
}

impl StepReport {
    pub(super) fn of(workflow: Workflow, step: &StepCosts) -> Self {
        Self {
            workflow,
            host_ns: ns(step.host().0),
            link_ns: ns(step.link.0),
            device_ns: ns(step.device().0),
            waited_ns: ns(step.time(Waits::ForEachResult).0),
            ahead_ns: ns(step.time(Waits::Never).0),
        }
    }
}

/// One line of the source.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LineReport {
    /// Its number, from 1.
    pub line: usize,
    /// How often it ran, on all processors together.
    pub count: u64,
    /// Time of all processors on it, nanoseconds.
    pub time_ns: f64,
    /// Bytes that they read from device memory on it, or write there.
    pub bytes: u64,
}

/// One problem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DiagnosticLine {
    /// Stable name of the kind.
    pub code: &'static str,
    pub severity: Severity,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// What is wrong, and what to do.
    pub message: String,
}

pub(super) const fn ns(ps: u64) -> f64 {
    u64_to_f64(ps) / 1_000.0
}

impl CustomOpReport {
    /// Takes over the step of a loop that loads a batch and waits for no result.
    pub(super) fn loop_of(&mut self, step: &StepCosts, load_batch: SimTime) {
        let looped = step.in_loop(load_batch);
        let (host, time) = (looped.host() + looped.link, looped.time(Waits::Never));
        let wait = time - host;
        self.step_ns = Some(ns(time.0));
        self.bound_by = Some(if wait > SimTime::ZERO { "device" } else { "host" });
        self.iterations_per_s = Some(1.0 / time.to_secs_f64());
        self.looped = Some(LoopReport {
            host_ns: ns(host.0),
            load_batch_ns: ns(load_batch.0),
            device_ns: ns(step.device().0),
            wait_ns: ns(wait.0),
        });
    }

    /// Takes over the costs of a call.
    pub(super) fn cost(&mut self, cost: &CallCost) {
        let part = |kind: Kind| ns(cost.kinds_ps[kind as usize]);
        self.ns_per_element = (cost.elements > 0).then(|| ns(cost.time_ps) / u64_to_f64(cost.elements));
        self.breakdown_ns = Breakdown {
            hbm_access: part(Kind::HbmAccess),
            dma: part(Kind::Dma),
            tensor_move: part(Kind::TensorMove),
            compute: part(Kind::Compute),
            start: ns(cost.start_ps),
            ..self.breakdown_ns
        };
        self.cores_ns = cost.cores_ps.iter().map(|ps| ns(*ps)).collect();
        let ran = |l: &&(usize, &LineCost)| l.1.count > 0 || l.1.time_ps > 0;
        let all: Vec<(usize, &LineCost)> = cost.lines.iter().enumerate().collect();
        self.lines = all
            .iter()
            .filter(ran)
            .map(|(line, l)| LineReport { line: *line, count: l.count, time_ns: ns(l.time_ps), bytes: l.bytes })
            .collect();
    }

    /// Adds problems that are not listed yet.
    pub(super) fn problems(&mut self, found: &[Diagnostic]) {
        for d in found {
            let new = DiagnosticLine {
                code: d.problem.code(),
                severity: d.problem.severity(),
                line: d.pos.line,
                column: d.pos.column,
                message: d.problem.to_string(),
            };
            let same = |o: &DiagnosticLine| (o.code, o.line, o.column) == (new.code, new.line, new.column);
            if !self.diagnostics.iter().any(same) {
                self.diagnostics.push(new);
            }
        }
        self.diagnostics.order_by_key(|d| (d.line, d.column));
    }

    /// What is wrong with the kernel; `None` for one whose times count.
    pub fn fault(&self) -> Option<Fault<'_>> {
        let error = self.diagnostics.iter().find(|d| d.severity == Severity::Error);
        match (self.compiles, self.complete, error, self.max_abs_error) {
            (false, ..) => Some(Fault::DoesNotCompile(error)),
            (_, false, ..) => Some(Fault::DoesNotFinish(error)),
            (.., Some(error), _) => Some(Fault::Error(error)),
            (.., Some(error)) if self.values_differ => Some(Fault::Values(error)),
            _ => None,
        }
    }

    /// Steps per second, to compare with other kernels; `None` for a kernel with a fault.
    pub fn comparable_rate(&self) -> Option<f64> {
        self.iterations_per_s.filter(|_| self.fault().is_none())
    }

    /// Time per element, as [`Self::comparable_rate`].
    pub fn comparable_ns_per_element(&self) -> Option<f64> {
        self.ns_per_element.filter(|_| self.fault().is_none())
    }

    /// A few words for a table: the place of the first error or warning, or the difference of wrong values.
    pub fn problem(&self) -> String {
        let error = self.diagnostics.iter().find(|d| d.severity == Severity::Error);
        match (self.fault(), error.or(self.diagnostics.first())) {
            (Some(Fault::Values(error)), _) => format!("off by {}", format_figures(error)),
            (_, Some(d)) => format!("{}:{} {}", d.line, d.column, d.code),
            (_, None) => String::new(),
        }
    }
}

/// Reports as JSON with a line end, an object for one and a list for several, each with the steps a second that are published
/// for its kernel. Fails when they cannot be written, which does not happen for reports.
pub fn customop_json(
    results: &[(&CustomOpSpec, &CustomOpReport)],
    published_steps_per_s: impl Fn(&CustomOpSpec) -> Option<f64>,
) -> Result<String, serde_json::Error> {
    #[derive(Serialize)]
    struct Row<'a> {
        #[serde(flatten)]
        report: &'a CustomOpReport,
        published_iterations_per_s: Option<f64>,
    }
    let rows: Vec<Row<'_>> = results
        .iter()
        .map(|(spec, report)| Row { report, published_iterations_per_s: published_steps_per_s(spec) })
        .collect();
    let text = match &rows[..] {
        [row] => serde_json::to_string_pretty(row),
        rows => serde_json::to_string_pretty(rows),
    };
    text.map(|text| text + "\n")
}
