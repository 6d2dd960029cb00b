//! A whole call of a kernel in parts: the processors one after another, and what comes out.

use super::machine::{Machine, Outcome, RunOptions, Written};
use super::report;
use super::tensor::HbmTensor;
use super::work::Meter;
use crate::kernel::problem::{Diagnostic, Pos, Problem};
use crate::kernel::program::KernelFunction;
use crate::kernel::types::Scalar;

/// A call of a kernel function that runs in parts, so that whoever asked can stop it between two.
pub struct KernelRun<M> {
    /// The processor at work; none when the call could not begin.
    machine: Option<Machine<M>>,
    waiting: std::vec::IntoIter<M>,
    done: Vec<M>,
    function: usize,
    name: String,
    pos: Pos,
    inputs: usize,
    complete: bool,
    ended: bool,
    written: Vec<Written>,
    diagnostics: Vec<Diagnostic>,
}

impl<M: Meter> KernelRun<M> {
    /// A call on these inputs. The result has the shape and the element type of the first. One meter for each active
    /// processor is told what it does; processors without a meter do not run.
    #[must_use]
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
                let what = format!("the kernel takes {} input(s)", kernel.inputs());
                let instead = "give as many tensors, of less than 256 MiB each".to_owned();
                run.diagnostics.push(Diagnostic::new(kernel.pos(), Problem::Invalid { what, instead }));
                run.complete = false;
            }
        }
        run.waiting = waiting;
        run
    }

    /// Runs about so many statements and turns of loops more, at least one, and says whether the call has ended.
    /// Statements of a function that the kernel calls are not divided.
    pub fn advance(&mut self, steps: u64) -> bool {
        let Some(machine) = self.machine.as_mut().filter(|_| !self.ended) else { return true };
        machine.pause_at = machine.steps.saturating_add(steps.max(1));
        let Some(complete) = machine.advance(self.function, self.inputs, self.pos, &self.name) else { return false };
        self.complete &= complete;
        self.written.push(machine.written.clone());
        // The others would spend their whole budget too.
        let spent = machine.steps > machine.options.step_limit;
        let more = machine.core + 1 < machine.options.active_cores();
        match self.waiting.next().filter(|_| more && !spent) {
            Some(meter) => self.done.push(machine.next(meter)),
            None => self.ended = true,
        }
        self.ended
    }

    /// What came out, and the meters of the processors that ran.
    #[must_use]
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
            report::unwritten(result, &self.written, &machine.options, self.pos, &mut diagnostics);
        }
        diagnostics.sort_by_key(|d| d.pos);
        self.done.push(machine.meter);
        (Outcome { result: result.map(HbmTensor::values).unwrap_or_default(), complete, diagnostics }, self.done)
    }
}

/// Runs a kernel function on its inputs to its end. One meter for each active processor is told what it does.
#[must_use]
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
