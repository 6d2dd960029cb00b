//! A whole call of a kernel in parts: runs the processors one after another, and finds the elements of the result
//! that were never written.

use super::machine::{Machine, Outcome, RunOptions, WriteSpan};
use super::tensor::HbmTensor;
use super::work::Meter;
use crate::problem::{Diagnostic, Pos, Problem, add};
use crate::program::KernelFunction;
use crate::types::Scalar;
use ns_base::Order;
use ns_base::convert::u64_to_usize;

/// A call of a kernel function that runs in parts, so that the caller can stop between two parts.
pub struct KernelRun<M> {
    /// The running processor; `None` if the call could not begin.
    machine: Option<Machine<M>>,
    waiting: std::vec::IntoIter<M>,
    done: Vec<M>,
    function: usize,
    name: String,
    pos: Pos,
    inputs: usize,
    complete: bool,
    ended: bool,
    written: Vec<WriteSpan>,
    diagnostics: Vec<Diagnostic>,
}

impl<M: Meter> KernelRun<M> {
    /// A call on these inputs. The result has the shape and the element type of the first input. Each active
    /// processor has a meter that receives its work; processors without a meter do not run.
    pub fn new(kernel: KernelFunction<'_>, inputs: Vec<HbmTensor>, options: &RunOptions, meters: Vec<M>) -> Self {
        let fits = inputs.len() == kernel.inputs();
        let dims = inputs.first().map_or(&[][..], |t| t.dims());
        let of = inputs.first().map_or(Scalar::F32, |t| t.of);
        let result = HbmTensor::empty(dims, of).filter(|_| fits);
        let mut waiting = meters.into_iter();
        let mut run = Self {
            machine: None,
            done: Vec::new(),
            function: kernel.index,
            name: kernel.name().to_owned(),
            pos: kernel.pos(),
            inputs: inputs.len(),
            complete: true,
            ended: false,
            written: Vec::new(),
            diagnostics: Vec::new(),
            waiting: Vec::new().into_iter(),
        };
        match result {
            Some(result) => {
                let mut tensors = inputs;
                tensors.push(result);
                run.machine = waiting.next().map(|m| Machine::new(kernel.program.clone(), tensors, options.clone(), m));
            }
            None => {
                let inputs = kernel.inputs();
                let text =
                    format!("the kernel takes {inputs} input(s); give as many tensors, of less than 256 MiB each");
                run.diagnostics.push(Diagnostic::new(kernel.pos(), Problem::error("invalid", text)));
                run.complete = false;
            }
        }
        run.waiting = waiting;
        run
    }

    /// Runs about `steps` more statements and turns of loops, at least one; returns whether the call has ended.
    /// Statements of a function that the kernel calls are not divided.
    pub fn advance(&mut self, steps: u64) -> bool {
        let Some(machine) = self.machine.as_mut().filter(|_| !self.ended) else { return true };
        machine.pause_at = machine.steps.saturating_add(steps.max(1));
        let Some(complete) = machine.advance(self.function, self.inputs, self.pos, &self.name) else { return false };
        self.complete &= complete;
        self.written.push(machine.written.clone());
        // The other processors would use up their whole budget too.
        let spent = machine.steps > machine.options.step_limit;
        let more = machine.core + 1 < machine.options.active_cores();
        match self.waiting.next().filter(|_| more && !spent) {
            Some(meter) => self.done.push(machine.next(meter)),
            None => self.ended = true,
        }
        self.ended
    }

    /// The result, and the meters of the processors that ran.
    pub fn finish(mut self) -> (Outcome, Vec<M>) {
        let Some(machine) = self.machine else {
            let outcome =
                Outcome { result: Vec::new(), complete: self.complete && self.ended, diagnostics: self.diagnostics };
            return (outcome, self.done);
        };
        let mut diagnostics = machine.diagnostics;
        let complete = self.complete && self.ended;
        let result = machine.tensors.get(machine.dst as usize);
        if complete && let Some(result) = result {
            unwritten(result, &self.written, &machine.options, self.pos, &mut diagnostics);
        }
        diagnostics.order_by_key(|d| d.pos);
        self.done.push(machine.meter);
        (Outcome { result: result.map(HbmTensor::values).unwrap_or_default(), complete, diagnostics }, self.done)
    }
}

/// Runs a kernel function on its inputs to its end. Each active processor has a meter that receives its work.
pub fn run<M: Meter>(
    kernel: KernelFunction<'_>,
    inputs: &[HbmTensor],
    options: &RunOptions,
    meters: &mut [M],
) -> Outcome {
    let mut run = KernelRun::new(kernel, inputs.to_vec(), options, meters.iter_mut().collect());
    while !run.advance(u64::MAX) {}
    run.finish().0
}

/// Adds a diagnostic when elements of the result were never written.
fn unwritten(
    result: &HbmTensor,
    written: &[WriteSpan],
    options: &RunOptions,
    pos: Pos,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let count = result.writer.iter().filter(|w| **w == 0).count() as u64;
    let Some(first) = result.writer.iter().position(|w| *w == 0) else { return };
    let first = first as u64;
    let gap = result.writer.iter().skip(u64_to_usize(first)).take_while(|w| **w == 0).count() as u64;
    let explained =
        if options.multicore { slice_of_the_last(result.elements(), first, first + gap, written) } else { None };
    let (pos, explanation) = match explained {
        Some(text) => (written.last().map_or(pos, |w| w.pos), text),
        None => (pos, "; write every element, or fill the result first".to_owned()),
    };
    let text = format!("{count} element(s) of the result are never written, the first is element {first}{explanation}");
    add(diagnostics, Diagnostic::new(pos, Problem::error("unwritten", text)));
}

/// Detects a common mistake: the last processor's slice is longer, and its start is computed from its own length.
/// Then the slice begins too late, ends outside, and leaves a gap before it.
fn slice_of_the_last(elements: u64, gap_start: u64, gap_end: u64, written: &[WriteSpan]) -> Option<String> {
    let cores = written.len() as u64;
    let last = cores.checked_sub(1).filter(|n| *n > 0)?;
    let (start, end) = written.last()?.span?;
    let share = elements / cores;
    let remainder = elements % cores;
    let begins_late = gap_start == share * last && gap_end == start.min(elements) && end > elements;
    if !begins_late || remainder == 0 || start != (share + remainder) * last {
        return None;
    }
    Some(format!(
        ". {elements} elements do not divide by {cores} processors: the last slice has {} elements, the others {share}. \
         Processor {last} begins at element {start}, which is its own length x {last}, instead of {gap_start} = {share} x {last}: \
         elements {gap_start} to {} are skipped and it ends {} beyond the tensor. Compute the offset from the length before \
         the remainder is added",
        share + remainder,
        gap_end - 1,
        end - elements,
    ))
}
