//! One processor: its state between two statements.

use super::memory::Memory;
use super::statements::Frame;
use super::streams::Stream;
use super::tensor::HbmTensor;
use super::work::{Meter, Work};
use crate::problem::{Diagnostic, Pos, Problem, add};
use crate::program::Program;
use crate::value::Value;
use ns_base::convert::{low8, usize_to_u32};

/// The settings of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunOptions {
    /// Whether every processor runs the kernel (`multicore=True` when the library is built), or only one.
    pub multicore: bool,
    /// The number of processors, 1 to 250.
    pub cores: u32,
    /// The size of each processor's TCM pool, bytes.
    pub tcm_pool_bytes: u64,
    /// Limit of statements and turns of loops after which a processor is stopped.
    pub step_limit: u64,
}

impl RunOptions {
    /// A budget of steps for tensors with this many elements: ample for some hundred statements per element or for
    /// loops over pairs in small tensors, and used up within seconds.
    pub const fn step_limit_for(elements: u64) -> u64 {
        4_000_000 + elements.saturating_mul(64)
    }

    /// The number of processors that run the kernel.
    pub fn active_cores(&self) -> u32 {
        if self.multicore { self.cores.clamp(1, 250) } else { 1 }
    }
}

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The result in row-major order; `None` for an element that was never written.
    pub result: Vec<Option<f32>>,
    /// Whether the kernel finished on every processor.
    pub complete: bool,
    /// The problems, by position.
    pub diagnostics: Vec<Diagnostic>,
}

/// A stop because of a problem. It is boxed because every result of the interpreter has room for it.
pub(super) type Stop = Box<Diagnostic>;

/// The elements of the result that a processor asked to write.
#[derive(Clone, Debug, Default)]
pub(super) struct WriteSpan {
    /// The first requested element and the one after the last, whether inside the tensor or not.
    pub span: Option<(u64, u64)>,
    /// The source position of the first write.
    pub pos: Pos,
}

/// One processor during a run.
pub(super) struct Machine<M> {
    pub program: Program,
    pub tensors: Vec<HbmTensor>,
    /// The number of the operator's result among the tensors.
    pub dst: u32,
    pub dst_asked_for: bool,
    pub memory: Memory,
    pub streams: Vec<Stream>,
    /// Coherence policies in the order they were set: tensor and policy.
    pub policies: Vec<(u32, i64)>,
    /// Slots of all calls; those of the innermost begin at `base`.
    pub slots: Vec<Value>,
    pub base: usize,
    pub meter: M,
    pub steps: u64,
    pub depth: usize,
    /// Calls of functions in progress, including the kernel's.
    pub calls: usize,
    /// The kernel's own call, if it has begun.
    pub outer: Option<Frame>,
    /// The count of steps at which the kernel pauses.
    pub pause_at: u64,
    /// While the kernel is paused: its position, from the innermost statement to the outermost.
    pub path: Vec<usize>,
    pub options: RunOptions,
    pub core: u32,
    pub written: WriteSpan,
    pub diagnostics: Vec<Diagnostic>,
}

impl<M: Meter> Machine<M> {
    /// The first processor, with the operator's result as the last tensor.
    pub(super) fn new(program: Program, tensors: Vec<HbmTensor>, options: RunOptions, meter: M) -> Self {
        Self {
            program,
            dst: usize_to_u32(tensors.len().saturating_sub(1)),
            tensors,
            dst_asked_for: false,
            memory: Memory::new(options.tcm_pool_bytes),
            streams: Vec::new(),
            policies: Vec::new(),
            slots: Vec::new(),
            base: 0,
            meter,
            steps: 0,
            depth: 0,
            calls: 0,
            outer: None,
            pause_at: 0,
            path: Vec::new(),
            options,
            core: 0,
            written: WriteSpan::default(),
            diagnostics: Vec::new(),
        }
    }

    /// The next processor, with the same tensors; returns the meter of this one.
    pub(super) fn next(&mut self, meter: M) -> M {
        let kept = self.dst as usize + 1;
        let mut tensors = std::mem::take(&mut self.tensors);
        tensors.truncate(kept);
        let diagnostics = std::mem::take(&mut self.diagnostics);
        let next = Self {
            core: self.core + 1,
            diagnostics,
            ..Self::new(self.program.clone(), tensors, self.options.clone(), meter)
        };
        std::mem::replace(self, next).meter
    }

    /// Whether the kernel pauses here. It only pauses between its own statements, because the state of a function
    /// that it calls is on the interpreter's stack.
    pub(super) const fn pauses(&self) -> bool {
        self.steps >= self.pause_at && self.calls == 1
    }

    /// Continues the kernel until it pauses or ends. `None` if it paused; otherwise whether it ended without an
    /// error.
    pub(super) fn advance(&mut self, function: usize, inputs: usize, pos: Pos, name: &str) -> Option<bool> {
        let returned = match self.kernel_call(function, inputs, pos) {
            Ok(None) => return None,
            Ok(Some(value)) => value,
            Err(stop) => {
                add(&mut self.diagnostics, *stop);
                return Some(false);
            }
        };
        for leak in self.memory.leaks() {
            add(&mut self.diagnostics, leak);
        }
        if self.dst_asked_for {
            return Some(true);
        }
        if self.options.multicore {
            let text = format!(
                "{name} does not call get_dst_tensor(); in multicore mode the returned tensor is ignored, so the result is undefined"
            );
            self.note(pos, Problem::error("no_dst_tensor", text));
            return Some(false);
        }
        Some(self.take_returned(returned, pos, name))
    }

    /// Copies the returned tensor to the operator's result.
    fn take_returned(&mut self, returned: Value, pos: Pos, name: &str) -> bool {
        let (from, to) = (returned.handle() as usize, self.dst as usize);
        if from == to {
            return true;
        }
        let Some(found) = self.tensors.get(from).cloned() else { return false };
        let Some(result) = self.tensors.get_mut(to) else { return false };
        if found.dims != result.dims || found.of != result.of {
            let (of, wanted) = (found.of.name(), result.of.name());
            let text = format!(
                "{name} returns {of}{:?}, and the operator's result is {wanted}{:?}; return a {wanted} tensor of the first input's shape",
                found.dims, result.dims
            );
            self.note(pos, Problem::error("invalid", text));
            return false;
        }
        let bytes = found.bytes.len() as u64;
        *result = found;
        self.meter.work(pos.line, Work::TensorMove { bytes });
        true
    }

    /// Counts one more statement or turn of a loop.
    pub fn step(&mut self, pos: Pos) -> Result<(), Stop> {
        self.steps += 1;
        if self.steps > self.options.step_limit {
            return Err(too_many_steps(pos, self.options.step_limit));
        }
        self.meter.line(pos.line);
        Ok(())
    }

    /// Counts the turns of a loop that is hidden in one call: a call on a large tensor is not one step.
    pub fn turns(&mut self, pos: Pos, count: u64) -> Result<(), Stop> {
        self.steps = self.steps.saturating_add(count);
        if self.steps > self.options.step_limit {
            return Err(too_many_steps(pos, self.options.step_limit));
        }
        Ok(())
    }

    /// Reports work on a line.
    pub fn work(&mut self, pos: Pos, work: Work) {
        self.meter.work(pos.line, work);
    }

    /// A problem that does not stop the run.
    pub fn note(&mut self, pos: Pos, problem: Problem) {
        add(&mut self.diagnostics, Diagnostic::new(pos, problem));
    }

    /// This processor's mark on the elements that it writes.
    pub fn mark(&self) -> u8 {
        low8(u64::from(self.core)) + 1
    }
}

fn too_many_steps(pos: Pos, steps: u64) -> Stop {
    let text = format!(
        "the kernel did not end within {steps} steps; check the condition of the loop here, and that its variable moves towards the end"
    );
    stop(pos, Problem::error("step_limit", text))
}

/// A stop because of a problem.
pub(super) fn stop(pos: Pos, problem: Problem) -> Stop {
    Box::new(Diagnostic::new(pos, problem))
}
