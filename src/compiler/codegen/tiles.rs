//! Emits the steps of tiles: chooses the engine of each step, and the order in which the steps of successive tiles are
//! interleaved.
//!
//! An engine runs its instructions in order. If all steps of a tile were emitted before the next tile's, an engine would
//! wait for the other engine's step in between. So the steps are skewed: the first step of a tile comes before the second
//! step of the previous tile.

use std::collections::VecDeque;

use super::code::Code;
use super::emitter::Purpose;
use super::engines::TableLoad;
use crate::hlo::InstrId;
use ns_machine::SourceId;
use ns_machine::isa::{Engine, Op, Wait};

/// Functions that are in every table of the scalar engine.
pub(super) const CLIP: &str = "clip";
pub(super) const SQUARE: &str = "square";

/// One instruction of a tile, to be repeated for every tile.
#[derive(Clone, Debug)]
pub(super) struct TileStep {
    pub kind: StepKind,
    /// What must be complete besides the previous step: a bias, a constant, another tensor.
    pub after: Vec<Wait>,
    /// The members of the fusion that it computes, in their order; empty if it does not say.
    pub members: Vec<InstrId>,
    /// The operation it serves, if that is not the tile's operation.
    pub source: Option<SourceId>,
    /// Whether it and the steps after it wait until all tiles are in SBUF.
    pub apart: bool,
}

impl TileStep {
    pub fn new(kind: StepKind, after: Vec<Wait>) -> Self {
        Self { kind, after, members: Vec::new(), source: None, apart: false }
    }

    /// A step that computes these members of a fusion.
    pub fn computing(members: Vec<InstrId>, kind: StepKind, after: Vec<Wait>) -> Self {
        Self { members, ..Self::new(kind, after) }
    }

    /// A step that serves another operation than the tile's.
    pub fn of(source: SourceId, kind: StepKind, after: Vec<Wait>) -> Self {
        Self { source: Some(source), ..Self::new(kind, after) }
    }

    pub fn is_scalars(&self) -> bool {
        self.kind == StepKind::Scalars
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum StepKind {
    /// Scalars or constants per partition. An activation that follows takes them over as its scale and bias.
    Scalars,
    /// Scalars per partition, applied to another value than the running one.
    Beside,
    /// Vector engine, two tensors. `of_main` when one of them is the tile's first value, which may still be in PSUM.
    Tensors { of_main: bool },
    /// A tensor and a constant that the GpSimd engine set in SBUF. Runs on GpSimd, unless the tensor is still in PSUM:
    /// then it runs on the vector engine, which reads PSUM.
    TensorConstant,
    /// Vector engine, a tensor and a row that the array repeated over the partitions in PSUM.
    TensorsRepeated,
    /// Scalar engine, function by table.
    Function(&'static str),
    /// The same, and the sum of each row of the result.
    FunctionSum(&'static str),
    /// Vector engine: a number for each row; the running value does not change.
    RowStatistic {
        /// Number of instructions that the row is split into; this is one of them.
        chunks: u32,
    },
    /// The same for at most a few numbers per row: merges or transposes statistics.
    RowScalar,
    /// Vector engine, scalars per row.
    RowScale,
    /// A copy out of PSUM.
    Copy,
}

/// A tile whose steps are partly emitted.
pub(super) struct InFlight {
    free: u32,
    next: usize,
    previous: Vec<Wait>,
    /// Whether the running value is still in PSUM.
    in_psum: bool,
    /// Whether the tile started in PSUM.
    main_in_psum: bool,
    /// Its bank of PSUM, until the last step that reads it is emitted.
    bank: Option<usize>,
}

impl InFlight {
    /// A tile of `free` elements per partition that may be read after `after`.
    pub fn new(free: u32, bank: Option<usize>, after: Vec<Wait>) -> Self {
        Self { free, next: 0, previous: after, in_psum: bank.is_some(), main_in_psum: bank.is_some(), bank }
    }

    /// Whether a step reads PSUM: the running value, the first value, or a row that the array repeated.
    fn is_read_in_psum(&self, step: &TileStep) -> bool {
        self.in_psum
            || match step.kind {
                StepKind::Tensors { of_main } => of_main && self.main_in_psum,
                kind => kind == StepKind::TensorsRepeated,
            }
    }
}

/// The tiles of an operation: those whose steps are partly emitted, the oldest first, and the completions of the
/// finished ones.
pub(super) struct TileStream<'s> {
    steps: &'s [TileStep],
    purpose: Purpose,
    in_flight: VecDeque<InFlight>,
    ready: Vec<Wait>,
}

impl<'s> TileStream<'s> {
    /// A pipeline without tiles; each tile will go through `steps`.
    pub fn new(steps: &'s [TileStep], purpose: Purpose) -> Self {
        Self { steps, purpose, in_flight: VecDeque::new(), ready: Vec::new() }
    }

    /// Whether some tile still occupies a bank.
    pub fn occupies(&self, bank: usize) -> bool {
        self.in_flight.iter().any(|t| t.bank == Some(bank))
    }

    /// Emits a step of every tile in flight and the first one of a new tile.
    pub fn enter(&mut self, code: &mut Code<'_>, mut tile: InFlight) {
        self.advance(code);
        self.step(code, &mut tile);
        self.keep(tile);
    }

    /// Emits a step of every tile in flight, the oldest first.
    pub fn advance(&mut self, code: &mut Code<'_>) {
        for _ in 0..self.in_flight.len() {
            if let Some(mut tile) = self.in_flight.pop_front() {
                self.step(code, &mut tile);
                self.keep(tile);
            }
        }
    }

    /// Emits all remaining steps; returns the completion of each tile in order.
    pub fn drain(mut self, code: &mut Code<'_>) -> Vec<Wait> {
        while !self.in_flight.is_empty() {
            self.advance(code);
        }
        self.ready
    }

    fn keep(&mut self, tile: InFlight) {
        if tile.next < self.steps.len() {
            self.in_flight.push_back(tile);
        } else {
            self.ready.extend(tile.previous);
        }
    }

    fn step(&self, code: &mut Code<'_>, tile: &mut InFlight) {
        let Some(step) = self.steps.get(tile.next) else { return };
        tile.next += 1;
        let (engine, op) = instruction_of(step, tile, code.engines.less_loaded());
        code.engines.count(engine, &op);
        let purpose = step.source.map_or(self.purpose, |source| Purpose { source, ..self.purpose });
        if let StepKind::Function(function) | StepKind::FunctionSum(function) = step.kind
            && function != CLIP
            && function != SQUARE
        {
            load_table(code, function, purpose, &tile.previous);
        }
        code.charge(purpose.source, &step.members, engine, op);
        tile.previous.extend_from_slice(&step.after);
        let done = if tile.is_read_in_psum(step) {
            code.emitter.instruction_from_psum(engine, op, purpose, &tile.previous)
        } else {
            code.emitter.instruction(engine, op, purpose, &tile.previous)
        };
        tile.previous.clear();
        tile.previous.push(done);
        if !matches!(step.kind, StepKind::RowStatistic { .. } | StepKind::RowScalar | StepKind::Beside) {
            tile.in_psum = false;
        }
        let read_again = |s: &TileStep| matches!(s.kind, StepKind::Tensors { of_main: true });
        if let Some(bank) = tile.bank
            && !tile.in_psum
            && !self.steps.iter().skip(tile.next).any(read_again)
        {
            code.psum.set_evicted(bank, done);
            tile.bank = None;
        }
    }
}

/// The instruction of a step of a tile, on the less loaded engine where either can do it.
fn instruction_of(step: &TileStep, tile: &InFlight, less_loaded: Engine) -> (Engine, Op) {
    let free = tile.free;
    match step.kind {
        StepKind::Scalars | StepKind::Beside => (less_loaded, Op::TensorScalar { free }),
        StepKind::Copy => (less_loaded, Op::TensorCopy { free }),
        StepKind::Tensors { .. } => (Engine::Vector, Op::TensorTensor { free, sbuf_only: !tile.is_read_in_psum(step) }),
        StepKind::TensorConstant if tile.in_psum => (Engine::Vector, Op::TensorTensor { free, sbuf_only: false }),
        StepKind::TensorConstant => (Engine::GpSimd, Op::TensorTensor { free, sbuf_only: true }),
        StepKind::TensorsRepeated => (Engine::Vector, Op::TensorTensor { free, sbuf_only: false }),
        StepKind::Function(_) => (Engine::Scalar, Op::Activate { free }),
        StepKind::FunctionSum(_) => (Engine::Scalar, Op::ActivateReduce { free }),
        StepKind::RowStatistic { chunks } => (Engine::Vector, Op::TensorReduce { free: free.div_ceil(chunks.max(1)) }),
        StepKind::RowScalar => (Engine::Vector, Op::TensorScalar { free: 1 }),
        StepKind::RowScale => (Engine::Vector, Op::TensorScalar { free }),
    }
}

/// Loads the table of `function` unless it is in place.
fn load_table(code: &mut Code<'_>, function: &'static str, purpose: Purpose, operand: &[Wait]) {
    let Some(load) = code.engines.change_table(function) else { return };
    let after = match load {
        TableLoad::AtStart => &[],
        TableLoad::WithOperand => operand,
    };
    code.emitter.instruction(Engine::Scalar, Op::ActTableLoad, Purpose::control(purpose.source), after);
}
