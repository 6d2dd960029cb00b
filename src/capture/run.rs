//! Builds a run for analysis from a recording.

use super::build::window_ns;
use super::recorder::{Recorder, Span};
use ns_base::Interval;
use ns_base::convert::usize_to_u32;
use ns_compiler::Workflow;
use ns_insight::{Item, ItemRef, Role, Run, Transfer, UnitRun, Work};
use ns_machine::cost::CostTable;
use ns_machine::isa::{Activity, Dma, DmaDirection, DmaQueue, Engine, Op, Unit, Wait};
use ns_machine::{Executable, SourceEntry};
use ns_neuron::step::start_up_ns;

/// The run of one execution, on the same timeline as the profile that [`super::build_profile`] builds from it.
pub fn run_of<'a>(executable: &'a Executable, recorder: &Recorder, costs: &CostTable, workflow: Workflow) -> Run<'a> {
    let origin_ns = i64::try_from(start_up_ns(&costs.runtime, workflow)).unwrap_or(0);
    let reading = Reading { executable, recorder, origin_ns };
    let units = Engine::ALL
        .into_iter()
        .map(|e| reading.engine(e))
        .chain(DmaQueue::OF_MODELS.into_iter().map(|q| reading.queue(q)))
        .collect();
    let window = window_ns(recorder, origin_ns);
    let teardown_ns = i64::try_from(costs.runtime.teardown_ns).unwrap_or(0);
    Run {
        total: Interval::new(0, window.end + teardown_ns),
        window,
        units,
        sources: &executable.sources,
        model_flops: Some(executable.model_flops),
        memory: Some(executable.memory),
        products: None,
        rows_per_partition: rows_per_partition(executable, costs.core.partitions),
        clock_limits: recorder.clock_limits(origin_ns, window.end),
        throttle: costs.engine.tensor_throttle,
    }
}

/// Rows that the array contracts on each partition: the tiles of its 8-bit mode have more rows than there are partitions.
fn rows_per_partition(executable: &Executable, partitions: u32) -> u32 {
    let rows = executable.ops.iter().filter_map(|op| match op.op {
        Op::LdWeights { rows, .. } => Some(rows),
        _ => None,
    });
    rows.max().unwrap_or(0).div_ceil(partitions.max(1)).max(1)
}

struct Reading<'a, 'r> {
    executable: &'a Executable,
    recorder: &'r Recorder,
    origin_ns: i64,
}

impl Reading<'_, '_> {
    fn engine(&self, engine: Engine) -> UnitRun {
        let stream = &self.executable.engines[engine.index()];
        // The tile in the array, which the following matmuls use.
        let mut tile = (0, 0);
        let items = self.recorder.engines[engine.index()].iter().map(|span| {
            let instruction = &stream[span.index as usize];
            let op = self.executable.op(instruction);
            if let Op::LdWeights { rows, columns } = op {
                tile = (rows, columns);
            }
            Item {
                time: span.on_timeline(self.origin_ns),
                source: instruction.source,
                activity: instruction.activity,
                work: work_of(op, instruction.activity, tile),
                waited_for: self.waited_for(instruction.waits_start, instruction.waits_len),
            }
        });
        UnitRun { name: engine.name().to_owned(), engine: Some(engine), items: items.collect() }
    }

    fn queue(&self, queue: DmaQueue) -> UnitRun {
        let ring = &self.executable.queues[queue.index()];
        let items = self.recorder.queues[queue.index()].iter().map(|span| {
            let dma = &ring[span.index as usize];
            Item {
                time: span.on_timeline(self.origin_ns),
                source: dma.source,
                activity: Activity::DataTransfer,
                work: Work::Transfer(Transfer {
                    bytes: dma.bytes,
                    // Within device memory there are no partitions.
                    descriptors: if dma.direction == DmaDirection::HbmToHbm { 1 } else { dma.partitions },
                    reads_hbm: dma.direction != DmaDirection::SbufToHbm,
                    writes_hbm: dma.direction != DmaDirection::HbmToSbuf,
                    role: role_of(queue, dma, &self.executable.sources[dma.source]),
                }),
                waited_for: self.waited_for(dma.waits_start, dma.waits_len),
            }
        });
        UnitRun { name: queue.name().to_owned(), engine: None, items: items.collect() }
    }

    /// The last to complete of the items that an item waits for.
    fn waited_for(&self, waits_start: u32, waits_len: u8) -> Option<ItemRef> {
        let waits = self.executable.waits(waits_start, waits_len);
        let completed = waits.iter().filter_map(|wait| Some((self.completion(wait)?, wait)));
        let (_, last) = completed.max_by_key(|(at, _)| *at)?;
        Some(ItemRef { unit: usize_to_u32(last.unit.index()), item: last.count - 1 })
    }

    fn completion(&self, wait: &Wait) -> Option<ns_base::SimTime> {
        let spans: &[Span] = match wait.unit {
            Unit::Engine(e) => &self.recorder.engines[e.index()],
            Unit::Queue(q) => &self.recorder.queues[q.index()],
        };
        Some(spans.get(wait.count.checked_sub(1)? as usize)?.time.end)
    }
}

fn work_of(op: Op, activity: Activity, (rows, columns): (u32, u32)) -> Work {
    match op {
        Op::LdWeights { .. } => Work::LoadWeights,
        Op::Matmul { free, passes } => Work::Matmul {
            flops: 2 * u64::from(rows) * u64::from(columns) * u64::from(free),
            passes,
            // The array's only work in Data Transfer is to transpose blocks.
            transpose: activity == Activity::DataTransfer,
        },
        Op::TensorScalar { .. } | Op::TensorTensor { .. } => Work::Elementwise,
        Op::TensorReduce { .. } => Work::Reduce,
        Op::TensorCopy { .. } => Work::Copy,
        Op::Memset { .. } => Work::Constant,
        Op::Activate { .. } | Op::ActivateReduce { .. } => Work::Activate,
        Op::ActTableLoad => Work::TableLoad,
        Op::CustomElementwise { .. } | Op::CustomKernel { .. } => Work::Custom,
        // A kernel's run is no run of a model, and only its timeline is shown.
        Op::Kernel { .. } => Work::Elementwise,
    }
}

fn role_of(queue: DmaQueue, dma: &Dma, source: &SourceEntry) -> Role {
    match (queue, dma.direction) {
        (DmaQueue::Weights, _) => Role::Weight,
        (DmaQueue::Custom, _) => Role::Custom,
        (DmaQueue::Spill, DmaDirection::HbmToSbuf) => Role::SpillReload,
        (DmaQueue::Spill, _) => Role::SpillSave,
        (DmaQueue::Io, DmaDirection::HbmToSbuf)
        | (DmaQueue::Load0 | DmaQueue::Load1 | DmaQueue::Load2 | DmaQueue::Load3, _) => Role::Input,
        (DmaQueue::Io, DmaDirection::SbufToHbm) => Role::Output,
        (DmaQueue::Io, DmaDirection::HbmToHbm) if source.hlo_opcode == "parameter" => Role::StagedInput,
        (DmaQueue::Io, DmaDirection::HbmToHbm) => Role::StagedOutput,
    }
}
