//! The processors, one after another, and what comes out.

use super::memory::Memory;
use super::report;
use super::streams::Stream;
use super::tensor::HbmTensor;
use super::work::{Meter, Work};
use crate::kernel::problem::{Diagnostic, Pos, Problem, add};
use crate::kernel::program::{KernelFunction, Program};
use crate::kernel::types::Scalar;
use crate::kernel::value::Value;

/// How a kernel is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunOptions {
    /// Whether every processor runs the kernel (`multicore=True` when the library is built), else one.
    pub multicore: bool,
    /// How many processors there are, 1 to 250.
    pub cores: u32,
    /// The TCM pool of each, bytes.
    pub tcm_pool_bytes: u64,
    /// Statements and turns of loops after which a processor is stopped.
    pub step_limit: u64,
}

impl RunOptions {
    /// A budget of steps for tensors of so many elements: ample for some hundred statements an element or for loops
    /// over pairs in small tensors, and over within seconds.
    #[must_use]
    pub const fn step_limit_for(elements: u64) -> u64 {
        4_000_000 + elements.saturating_mul(64)
    }

    /// How many processors run the kernel.
    #[must_use]
    pub fn active_cores(&self) -> u32 {
        if self.multicore { self.cores.clamp(1, 250) } else { 1 }
    }
}

/// What a run gave.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The result in row-major order; `None` for an element that nothing wrote.
    pub result: Vec<Option<f32>>,
    /// Whether every processor came to the kernel's end.
    pub complete: bool,
    /// What is wrong, in order of place.
    pub diagnostics: Vec<Diagnostic>,
}

/// A stop at a problem. It is boxed because every result of the interpreter has room for it.
pub(super) type Stop = Box<Diagnostic>;

/// What a processor asked to write to the result.
#[derive(Clone, Debug, Default)]
pub(super) struct Written {
    /// First element and the one after the last, as asked for, whether inside or not.
    pub span: Option<(u64, u64)>,
    /// Where the first write stands.
    pub pos: Pos,
}

/// One processor at work.
pub(super) struct Machine<'a, M> {
    pub program: &'a Program,
    pub tensors: &'a mut Vec<HbmTensor>,
    /// The number of the operator's result among the tensors.
    pub dst: u32,
    pub dst_asked_for: bool,
    pub memory: Memory,
    pub streams: Vec<Stream>,
    /// Coherence policies that were set, latest last: tensor and policy.
    pub policies: Vec<(u32, i64)>,
    /// Slots of all calls; those of the innermost begin at `base`.
    pub slots: Vec<Value>,
    pub base: usize,
    pub meter: &'a mut M,
    pub steps: u64,
    pub depth: usize,
    pub options: &'a RunOptions,
    pub core: u32,
    pub written: Written,
    pub diagnostics: &'a mut Vec<Diagnostic>,
}

/// Runs a kernel function on its inputs. The result has the shape of the first input and holds floats. One meter for each
/// active processor is told what it does; spare processors of a short list are not metered.
#[must_use]
pub fn run<M: Meter>(
    kernel: KernelFunction<'_>,
    inputs: &[HbmTensor],
    options: &RunOptions,
    meters: &mut [M],
) -> Outcome {
    let mut diagnostics = Vec::new();
    let dims = inputs.first().map_or(&[][..], |t| t.dims());
    let result = HbmTensor::empty(dims, Scalar::F32);
    let (Some(result), true) = (result, inputs.len() == kernel.inputs()) else {
        let (what, instead) = (
            format!("the kernel takes {} input(s)", kernel.inputs()),
            "give as many tensors, of less than 256 MiB each",
        );
        let problem = Problem::Invalid { what, instead: instead.to_owned() };
        diagnostics.push(Diagnostic::new(kernel.pos(), problem));
        return Outcome { result: Vec::new(), complete: false, diagnostics };
    };
    let mut tensors: Vec<HbmTensor> = inputs.to_vec();
    let dst = tensors.len() as u32;
    tensors.push(result);
    let kept = tensors.len();
    let mut complete = true;
    let mut written = Vec::new();
    for (core, meter) in (0..options.active_cores()).zip(meters) {
        tensors.truncate(kept);
        let mut machine = Machine {
            program: kernel.program,
            tensors: &mut tensors,
            dst,
            dst_asked_for: false,
            memory: Memory::new(options.tcm_pool_bytes),
            streams: Vec::new(),
            policies: Vec::new(),
            slots: Vec::new(),
            base: 0,
            meter,
            steps: 0,
            depth: 0,
            options,
            core,
            written: Written::default(),
            diagnostics: &mut diagnostics,
        };
        complete &= machine.kernel(kernel, inputs.len());
        written.push(machine.written.clone());
        if machine.steps > options.step_limit {
            // The others would spend their whole budget too.
            break;
        }
    }
    let result = tensors.get(dst as usize);
    if complete && let Some(result) = result {
        report::unwritten(result, &written, options, kernel.pos(), &mut diagnostics);
    }
    diagnostics.sort_by_key(|d| d.pos);
    Outcome { result: result.map(HbmTensor::values).unwrap_or_default(), complete, diagnostics }
}

impl<M: Meter> Machine<'_, M> {
    /// Runs the whole kernel and says whether it came to its end.
    fn kernel(&mut self, kernel: KernelFunction<'_>, inputs: usize) -> bool {
        let arguments = (0..inputs as u32).map(Value::Tensor).collect();
        let returned = match self.call(kernel.index, arguments, kernel.pos()) {
            Ok(value) => value,
            Err(stop) => {
                add(self.diagnostics, *stop);
                return false;
            }
        };
        for leak in self.memory.leaks() {
            add(self.diagnostics, leak);
        }
        if self.dst_asked_for {
            return true;
        }
        if self.options.multicore {
            let problem = Problem::NoDstTensor { function: kernel.name().to_owned() };
            add(self.diagnostics, Diagnostic::new(kernel.pos(), problem));
            return false;
        }
        self.take_returned(returned, kernel.pos())
    }

    /// Copies the returned tensor to the operator's result.
    fn take_returned(&mut self, returned: Value, pos: Pos) -> bool {
        let (from, to) = (returned.handle() as usize, self.dst as usize);
        if from == to {
            return true;
        }
        let Some(found) = self.tensors.get(from).cloned() else { return false };
        let Some(result) = self.tensors.get_mut(to) else { return false };
        if found.dims != result.dims || found.of != result.of {
            let what = format!(
                "the kernel returns {}{:?}, and the operator's result is float{:?}",
                found.of.name(),
                found.dims,
                result.dims
            );
            let instead = "return a float tensor of the first input's shape".to_owned();
            add(self.diagnostics, Diagnostic::new(pos, Problem::Invalid { what, instead }));
            return false;
        }
        let bytes = found.bytes.len() as u64;
        *result = found;
        self.meter.work(pos.line, Work::TensorMove { bytes });
        true
    }

    /// One more statement or turn of a loop.
    pub fn step(&mut self, pos: Pos) -> Result<(), Stop> {
        self.steps += 1;
        if self.steps > self.options.step_limit {
            return Err(stop(pos, Problem::StepLimit { steps: self.options.step_limit }));
        }
        self.meter.line(pos.line);
        Ok(())
    }

    /// Work on a line.
    pub fn work(&mut self, pos: Pos, work: Work) {
        self.meter.work(pos.line, work);
    }

    /// A problem that the run survives.
    pub fn note(&mut self, pos: Pos, problem: Problem) {
        add(self.diagnostics, Diagnostic::new(pos, problem));
    }

    /// This processor's mark on what it writes.
    pub const fn mark(&self) -> u8 {
        self.core as u8 + 1
    }
}

/// A stop at a problem.
pub(super) fn stop(pos: Pos, problem: Problem) -> Stop {
    Box::new(Diagnostic::new(pos, problem))
}
