//! What a step costs: one call of a traced model, or one step of lazy tensors, which `mark_step` ends.
//!
//! Everything that says how long a model takes from the host's side says it from here: `bench`, `matmult`, `experiment`,
//! `customop`, `profile`, `trace`, and the page.
//!
//! ```text
//! first step    compile (or the program is in the cache), load, a longer first call
//! each step     host:   record ops (lazy tensors only), call and copies
//!               link:   inputs and outputs
//!               device: start-up, execution, tear-down
//! ```

use ns_base::SimTime;
use ns_compiler::{Workflow, modelled_compile_s};
use ns_machine::Executable;
use ns_machine::cost::{CostTable, RuntimeCosts, TRACED_OPS};

/// What comes in addition before or in the first step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FirstStep {
    /// Compiling, modelled; not spent if the program is in the cache.
    pub compile: SimTime,
    /// Loading one copy: a fixed part and its weights over PCIe.
    pub load: SimTime,
    /// Added to the load for each other copy that loads at the same time.
    pub load_beside: SimTime,
    /// How much longer the first step takes than the others.
    pub warmup: SimTime,
}

/// The parts of a step, without queueing and without variation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepCosts {
    /// What comes in addition in the first step.
    pub first: FirstStep,
    /// Recording the ops of lazy tensors, hashing their graph and finding its program; zero for a traced model.
    pub record: SimTime,
    /// Host work of a call on the caller's thread, including copying its inputs and outputs.
    pub call: SimTime,
    /// Moving inputs and outputs between host and device, over the link of the device.
    pub link: SimTime,
    /// Start-up of the execution on the device.
    pub start_up: SimTime,
    /// From the first to the last instruction or DMA of the model.
    pub window: SimTime,
    /// Tear-down of the execution on the device.
    pub tear_down: SimTime,
}

/// Whether the host reads the result of a step before it begins the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits {
    /// It reads each result, as one worker of a benchmark does.
    ForEachResult,
    /// It reads none in the loop: it is one step ahead of the device.
    Never,
}

/// Device-side start-up of an execution, nanoseconds.
pub const fn start_up_ns(runtime: &RuntimeCosts, workflow: Workflow) -> u64 {
    match workflow {
        Workflow::Trace => runtime.setup_traced_ns,
        Workflow::MarkStep => runtime.setup_mark_step_ns,
    }
}

impl StepCosts {
    /// A step whose execution takes `window` on the core and which records `ops` if it is lazy.
    ///
    /// The constants are those of [`RuntimeCosts`]. Start-up and tear-down of an execution happen on the device, so they are
    /// part of the time for which the core is in use.
    pub fn of(executable: &Executable, costs: &CostTable, window: SimTime, workflow: Workflow, ops: u64) -> Self {
        let r = &costs.runtime;
        let memory = &executable.memory;
        let bytes = memory.input_bytes + memory.output_bytes;
        let link = at_rate(bytes, r.link_bytes_per_us);
        let results = memory.output_bytes;
        let slow = if results > r.large_result_bytes { results } else { 0 };
        let copies = at_rate(bytes - slow, r.host_copy_bytes_per_us) + at_rate(slow, r.large_result_bytes_per_us);
        let recorded = match workflow {
            Workflow::Trace => 0,
            // The call of a traced model is an op, too.
            Workflow::MarkStep => ops.saturating_sub(TRACED_OPS),
        };
        Self {
            first: FirstStep {
                compile: SimTime::from_secs_f64(modelled_compile_s(executable)),
                load: SimTime::from_ns(r.load_ns) + at_rate(memory.weight_bytes, r.link_bytes_per_us),
                load_beside: SimTime::from_ns(r.load_beside_ns),
                warmup: SimTime::from_ns(r.warmup_ns),
            },
            record: SimTime::from_ns(r.record_op_ns).times(recorded),
            // The effective rates are those of copy and link together.
            call: SimTime::from_ns(r.host_call_ns) + copies.saturating_sub(link),
            link,
            start_up: SimTime::from_ns(start_up_ns(r, workflow)),
            window,
            tear_down: SimTime::from_ns(r.teardown_ns),
        }
    }

    /// Host work.
    pub fn host(&self) -> SimTime {
        self.record + self.call
    }

    /// The time for which the core is in use.
    pub fn device(&self) -> SimTime {
        self.around() + self.window
    }

    /// Start-up and tear-down of the execution.
    pub fn around(&self) -> SimTime {
        self.start_up + self.tear_down
    }

    /// The part of host and link that passes while the device has the step before.
    pub fn hidden(&self, waits: Waits) -> SimTime {
        match waits {
            Waits::ForEachResult => SimTime::ZERO,
            Waits::Never => (self.host() + self.link).min(self.device()),
        }
    }

    /// From the end of a step to the end of the next.
    pub fn time(&self, waits: Waits) -> SimTime {
        self.host() + self.link + self.device() - self.hidden(waits)
    }

    /// Some steps after one another, of which only the last one's result is waited for.
    pub fn run(&self, steps: u64) -> SimTime {
        match steps {
            0 => SimTime::ZERO,
            n => self.time(Waits::ForEachResult) + self.time(Waits::Never).times(n - 1),
        }
    }

    /// The same step with the work of a loop around it, which the host does before the call.
    pub fn in_loop(self, work: SimTime) -> Self {
        Self { call: self.call + work, ..self }
    }
}

/// Moving bytes at a rate, in whole nanoseconds.
pub fn at_rate(bytes: u64, bytes_per_us: u64) -> SimTime {
    SimTime((bytes.saturating_mul(1_000) / bytes_per_us.max(1)).saturating_mul(1_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(record: u64, window: u64) -> StepCosts {
        let us = SimTime::from_us;
        StepCosts {
            record: us(record),
            call: us(100),
            link: us(50),
            start_up: us(6),
            window: us(window),
            tear_down: us(4),
            ..StepCosts::default()
        }
    }

    #[test]
    fn the_host_is_hidden_behind_the_device_or_the_device_behind_the_host() {
        let (short, long) = (step(0, 840), step(5_000, 840));
        assert_eq!((short.host(), short.device()), (SimTime::from_us(100), SimTime::from_us(850)));
        assert_eq!(short.time(Waits::ForEachResult), SimTime::from_us(1_000));
        assert_eq!(short.time(Waits::Never), SimTime::from_us(850));
        assert_eq!(long.time(Waits::Never), SimTime::from_us(5_150));
        assert_eq!((short.hidden(Waits::Never), long.hidden(Waits::Never)), (SimTime::from_us(150), short.device()));
        assert_eq!(short.run(0), SimTime::ZERO);
        assert_eq!(short.run(3), SimTime::from_us(1_000 + 2 * 850));
        assert_eq!(short.in_loop(SimTime::from_us(900)).time(Waits::Never), SimTime::from_us(1_050));
    }

    #[test]
    fn a_large_result_comes_back_at_the_rate_of_large_results() {
        let costs = CostTable::neuroncore_v2();
        let r = &costs.runtime;
        let call = |output_bytes| {
            let mut executable = Executable::default();
            executable.memory.output_bytes = output_bytes;
            let step = StepCosts::of(&executable, &costs, SimTime::ZERO, Workflow::Trace, 0);
            step.call + step.link - SimTime::from_ns(r.host_call_ns)
        };
        let most = r.large_result_bytes;
        assert_eq!(call(most), at_rate(most, r.host_copy_bytes_per_us));
        assert_eq!(call(most + 1), at_rate(most + 1, r.large_result_bytes_per_us));
    }

    #[test]
    fn only_lazy_tensors_record_their_ops() {
        let (executable, costs) = (Executable::default(), CostTable::neuroncore_v2());
        let of = |workflow, ops| StepCosts::of(&executable, &costs, SimTime::ZERO, workflow, ops);
        let (traced, one, ten) = (of(Workflow::Trace, 10), of(Workflow::MarkStep, 1), of(Workflow::MarkStep, 10));
        assert_eq!((traced.record, one.record), (SimTime::ZERO, SimTime::ZERO));
        assert_eq!(ten.record, SimTime::from_ns(9 * costs.runtime.record_op_ns));
        assert_eq!((ten.call, ten.link, ten.first), (traced.call, traced.link, traced.first));
        let later = SimTime::from_ns(costs.runtime.setup_mark_step_ns - costs.runtime.setup_traced_ns);
        assert_eq!(ten.device() - traced.device(), later);
    }
}
