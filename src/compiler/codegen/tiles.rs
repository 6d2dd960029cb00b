//! Emits the steps of tiles: which engine takes each, and in which order the steps of successive tiles are interleaved.
//!
//! An engine runs its instructions in order. Were all steps of a tile emitted before the next tile's, an engine would
//! wait for the other engine's step in between. So the steps are skewed: the first step of a tile comes before the second
//! step of the tile before it.

use super::emitter::Purpose;
use super::program::Generator;
use crate::compiler::Workflow;
use crate::machine::SourceId;
use crate::machine::cost::instruction_cost;
use crate::machine::isa::{Engine, Op, Wait};

/// Functions that are in every table of the scalar engine.
pub(super) const CLIP: &str = "clip";
pub(super) const SQUARE: &str = "square";

/// One instruction of a tile, to be repeated for every tile.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub kind: StepKind,
    /// What must be complete besides the previous step: a bias, a constant, another tensor.
    pub after: Vec<Wait>,
    /// The operation it serves, if another one than the tile's.
    pub source: Option<SourceId>,
    /// Whether it and what follows wait until all tiles are in SBUF.
    pub apart: bool,
}

impl Step {
    pub fn new(kind: StepKind, after: Vec<Wait>) -> Self {
        Self { kind, after, source: None, apart: false }
    }

    pub fn is_scalars(&self) -> bool {
        self.kind == StepKind::Scalars
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum StepKind {
    /// Scalars or constants per partition. An activation that follows takes them over as its scale and bias.
    Scalars,
    /// Scalars per partition on a value beside the running one.
    Beside,
    /// Vector engine, two tensors. `of_main` when the tile's first value is one of them: it may still be in PSUM.
    Tensors { of_main: bool },
    /// A tensor and a constant that the GpSimd engine set in SBUF: there, unless the tensor is still in PSUM, which it
    /// leaves through the vector engine.
    TensorConstant,
    /// Vector engine, a tensor and a row that the array repeated over the partitions in PSUM.
    TensorsRepeated,
    /// Scalar engine, function by table.
    Function(&'static str),
    /// The same, and the sum of each row of the result.
    FunctionSum(&'static str),
    /// Vector engine: a number for each row; the running value stays where it is.
    RowStatistic {
        /// Instructions that the row is cut into, of which this is one.
        chunks: u32,
    },
    /// The same of at most a few numbers a row: what merges or turns statistics.
    RowScalar,
    /// Vector engine, scalars per row.
    RowScale,
    /// Out of PSUM as it is.
    Copy,
}

/// A tile whose steps are partly emitted.
pub(super) struct InFlight {
    free: u32,
    next: usize,
    previous: Vec<Wait>,
    /// Whether the running value is still in PSUM.
    in_psum: bool,
    /// Whether the tile came in PSUM.
    main_in_psum: bool,
    /// Its bank of PSUM, until the last step that reads it is emitted.
    pub bank: Option<usize>,
}

impl InFlight {
    /// A tile of `free` elements per partition that may be read after `after`.
    pub fn new(free: u32, bank: Option<usize>, after: Vec<Wait>) -> Self {
        Self { free, next: 0, previous: after, in_psum: bank.is_some(), main_in_psum: bank.is_some(), bank }
    }
}

/// Tiles whose steps are partly emitted, the oldest first, and what completed ones completed with.
#[derive(Default)]
pub(super) struct Pipeline {
    in_flight: std::collections::VecDeque<InFlight>,
    pub ready: Vec<Wait>,
}

impl Pipeline {
    /// Whether some tile still occupies a bank.
    pub fn occupies(&self, bank: usize) -> bool {
        self.in_flight.iter().any(|t| t.bank == Some(bank))
    }
}

impl Generator<'_> {
    /// Emits a step of every tile in flight and the first one of a new tile.
    pub(super) fn enter(&mut self, pipeline: &mut Pipeline, tile: InFlight, steps: &[Step], purpose: Purpose) {
        self.advance(pipeline, steps, purpose);
        pipeline.in_flight.push_back(tile);
        if let Some(mut newest) = pipeline.in_flight.pop_back() {
            self.step(&mut newest, steps, purpose);
            self.keep(pipeline, newest, steps);
        }
    }

    /// Emits a step of every tile in flight, the oldest first.
    pub(super) fn advance(&mut self, pipeline: &mut Pipeline, steps: &[Step], purpose: Purpose) {
        for _ in 0..pipeline.in_flight.len() {
            if let Some(mut tile) = pipeline.in_flight.pop_front() {
                self.step(&mut tile, steps, purpose);
                self.keep(pipeline, tile, steps);
            }
        }
    }

    /// Emits all that is left.
    pub(super) fn drain(&mut self, pipeline: &mut Pipeline, steps: &[Step], purpose: Purpose) {
        while !pipeline.in_flight.is_empty() {
            self.advance(pipeline, steps, purpose);
        }
    }

    fn keep(&self, pipeline: &mut Pipeline, tile: InFlight, steps: &[Step]) {
        if tile.next < steps.len() {
            pipeline.in_flight.push_back(tile);
        } else {
            pipeline.ready.extend(tile.previous);
        }
    }

    fn step(&mut self, tile: &mut InFlight, steps: &[Step], purpose: Purpose) {
        let Some(step) = steps.get(tile.next) else { return };
        tile.next += 1;
        let free = tile.free;
        let (engine, op) = match step.kind {
            StepKind::Scalars | StepKind::Beside => (self.less_loaded(), Op::TensorScalar { free }),
            StepKind::Copy => (self.less_loaded(), Op::TensorCopy { free }),
            StepKind::Tensors { of_main } => {
                let reads_psum = tile.in_psum || (of_main && tile.main_in_psum);
                (Engine::Vector, Op::TensorTensor { free, sbuf_only: !reads_psum })
            }
            StepKind::TensorConstant if tile.in_psum => (Engine::Vector, Op::TensorTensor { free, sbuf_only: false }),
            StepKind::TensorConstant => (Engine::GpSimd, Op::TensorTensor { free, sbuf_only: true }),
            StepKind::TensorsRepeated => (Engine::Vector, Op::TensorTensor { free, sbuf_only: false }),
            StepKind::Function(_) => (Engine::Scalar, Op::Activate { free }),
            StepKind::FunctionSum(_) => (Engine::Scalar, Op::ActivateReduce { free }),
            StepKind::RowStatistic { chunks } => {
                (Engine::Vector, Op::TensorReduce { free: free.div_ceil(chunks.max(1)) })
            }
            StepKind::RowScalar => (Engine::Vector, Op::TensorScalar { free: 1 }),
            StepKind::RowScale => (Engine::Vector, Op::TensorScalar { free }),
        };
        self.count_load(engine, &op);
        let purpose = step.source.map_or(purpose, |source| Purpose { source, ..purpose });
        if let StepKind::Function(function) | StepKind::FunctionSum(function) = step.kind
            && function != CLIP
            && function != SQUARE
        {
            self.load_table(function, purpose, &tile.previous);
        }
        tile.previous.extend_from_slice(&step.after);
        let done = self.emitter.instruction(engine, op, purpose, &tile.previous);
        tile.previous.clear();
        tile.previous.push(done);
        if !matches!(step.kind, StepKind::RowStatistic { .. } | StepKind::RowScalar | StepKind::Beside) {
            tile.in_psum = false;
        }
        let read_again = |s: &Step| matches!(s.kind, StepKind::Tensors { of_main: true });
        if let Some(bank) = tile.bank
            && !tile.in_psum
            && !steps.iter().skip(tile.next).any(read_again)
        {
            self.psum.set_evicted(bank, done);
            tile.bank = None;
        }
    }

    /// Work that either the vector or the scalar engine can do goes to the one that was given less of this operation.
    pub(super) fn less_loaded(&self) -> Engine {
        if self.loads[1] < self.loads[0] { Engine::Scalar } else { Engine::Vector }
    }

    /// Counts what an engine was given: the time for which the simulator will hold it, picoseconds, at published clocks. A
    /// slow-down that was fitted holds for all engines alike; it decides no balance, so that fitting it changes no program.
    pub(super) fn count_load(&mut self, engine: Engine, op: &Op) {
        let slot = match engine {
            Engine::Vector => 0,
            Engine::Scalar => 1,
            Engine::Tensor | Engine::GpSimd => return,
        };
        self.loads[slot] += instruction_cost(&self.costs, engine, op).interval.0;
    }

    /// Loads the table of `function` unless it is the one in place. A traced model's first table is loaded at the
    /// start, beside the first weights; a lazily executed graph loads it when its operand is there.
    fn load_table(&mut self, function: &'static str, purpose: Purpose, operand: &[Wait]) {
        if self.table == Some(function) {
            return;
        }
        let preload = self.table.is_none() && self.module.workflow == Workflow::Trace;
        let after = if preload { &[] } else { operand };
        self.emitter.instruction(Engine::Scalar, Op::ActTableLoad, Purpose::control(purpose.source), after);
        self.table = Some(function);
    }
}
