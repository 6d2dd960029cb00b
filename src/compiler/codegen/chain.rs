//! The instructions of a tile of elementwise work, planned from the chain of operations that it goes through.
//!
//! * A transcendental function is one ACTIVATE on the scalar engine, which adds a per-partition bias for free.
//! * A tensor with per-partition scalars or a constant is one TENSOR_SCALAR on the vector engine.
//! * A maximum or minimum with a constant is a TENSOR_TENSOR against a tensor of that constant, which is set in SBUF
//!   ahead of time: this is how a ReLU shows in profiles (`maximum`, with its zeros set early). GpSimd, the engine that
//!   sets the constant, also compares with it, so the vector engine can go on with the next tile.
//! * Two tensors are one TENSOR_TENSOR, at half rate when neither is in PSUM.

use super::code::Code;
use super::emitter::Purpose;
use super::lazy;
use super::places::Places;
use super::plan::{Members, Plan};
use super::tiles::{CLIP, SQUARE, StepKind, TileStep};
use super::turn::in_layout;
use super::value::{Layout, Resident, Value};
use super::weights::load_vector;
use crate::error::StageError;
use crate::hlo::{HloInstruction, InstrId, Opcode};
use ns_base::FxHashSet;
use ns_machine::cost::decisions::LONG_ROW_ELEMENTS;
use ns_machine::isa::{Engine, Op, Wait};

/// The other operand of a binary operation.
enum Other {
    Constant,
    PerPartition(Vec<Wait>),
    Tensor(Vec<Wait>),
}

/// Plans the instructions of one tile of `members`, which start from `main`.
pub(super) fn plan_steps(
    plan: &Plan<'_>,
    places: &mut Places,
    code: &mut Code<'_>,
    members: &Members<'_>,
    main: InstrId,
    shape: &Resident,
) -> Result<Vec<TileStep>, StageError> {
    let chain = Chain::new(main, shape.layout, shape.free_elements);
    chain.through(plan, places, code, members)
}

/// The same for the operations that evict a product with weights. Another tensor of the tiles' size is not read
/// during the eviction: it is added in a separate pass once the product is in SBUF.
pub(super) fn plan_eviction(
    plan: &Plan<'_>,
    places: &mut Places,
    code: &mut Code<'_>,
    members: &Members<'_>,
    product: InstrId,
    shape: &Resident,
) -> Result<(Vec<TileStep>, Vec<TileStep>), StageError> {
    let chain = Chain { tensors_apart: true, ..Chain::new(product, shape.layout, shape.free_elements) };
    let mut steps = chain.through(plan, places, code, members)?;
    let apart = steps.iter().position(|s| s.apart).map(|i| steps.split_off(i)).unwrap_or_default();
    if steps.is_empty() {
        steps.push(TileStep::new(StepKind::Copy, Vec::new()));
    }
    Ok((steps, apart))
}

/// Operations with scalars that the instruction after them applies: what it waits for because of them, and their members.
#[derive(Default)]
struct Scalars {
    after: Vec<Wait>,
    members: Vec<InstrId>,
}

/// A chain of elementwise operations whose steps are partly planned.
struct Chain {
    /// Layout of the tiles.
    layout: Layout,
    free_elements: u64,
    /// Whether another tensor of the tiles' size is read in a separate pass.
    tensors_apart: bool,
    /// The value that the last planned member gives.
    running: InstrId,
    /// Members that are applied to another value before it is combined with the running one.
    beside: FxHashSet<InstrId>,
    /// Earlier values of the chain, which a later member may read again: x in x * sigmoid(x).
    passed: FxHashSet<InstrId>,
    /// Earlier values that an instruction can recompute from the tile's first value, with one scalar operation.
    of_main: FxHashSet<InstrId>,
    steps: Vec<TileStep>,
}

impl Chain {
    fn new(main: InstrId, layout: Layout, free_elements: u64) -> Self {
        Self {
            layout,
            free_elements,
            tensors_apart: false,
            running: main,
            beside: FxHashSet::default(),
            passed: FxHashSet::default(),
            of_main: FxHashSet::from_iter([main]),
            steps: Vec::new(),
        }
    }

    /// The steps of all members.
    fn through(
        mut self,
        plan: &Plan<'_>,
        places: &mut Places,
        code: &mut Code<'_>,
        members: &Members<'_>,
    ) -> Result<Vec<TileStep>, StageError> {
        for (id, member) in members {
            if lazy::define(places, *id, member) {
                continue;
            }
            let Some(position) = member.operands.iter().position(|o| *o == self.running) else {
                self.member_beside(plan, places, code, *id, member)?;
                continue;
            };
            let other = member.operands.iter().enumerate().find(|(i, _)| *i != position).map(|(_, o)| *o);
            match other {
                // Squaring is a function of one operand, in every table.
                Some(other) if other == self.running => {
                    let before = self.take_scalars();
                    self.push(*id, StepKind::Function(SQUARE), before);
                }
                Some(other) if self.beside.contains(&other) || self.passed.contains(&other) => {
                    let of_main = self.of_main.contains(&other);
                    self.push(*id, StepKind::Tensors { of_main }, Scalars::default());
                }
                Some(other) => self.binary(plan, places, code, (*id, member), other)?,
                None => self.unary(*id, member),
            }
            self.passed.insert(self.running);
            self.running = *id;
            if self.steps.iter().all(TileStep::is_scalars) {
                self.of_main.insert(self.running);
            }
        }
        if self.steps.is_empty() {
            self.steps.push(TileStep::new(StepKind::Copy, Vec::new()));
        }
        Ok(self.steps)
    }

    /// Plans the instruction of a member, which also applies the scalars before it.
    fn push(&mut self, id: InstrId, kind: StepKind, before: Scalars) {
        let Scalars { after, mut members } = before;
        members.push(id);
        self.steps.push(TileStep::computing(members, kind, after));
    }

    /// Removes the last step if it uses scalars.
    fn take_scalars(&mut self) -> Scalars {
        let step = self.steps.pop_if(|s| s.is_scalars());
        step.map(|s| Scalars { after: s.after, members: s.members }).unwrap_or_default()
    }

    /// A member that does not touch the running value: a scale, shift or function of another value. Two in a row with
    /// scalars become one instruction.
    fn member_beside(
        &mut self,
        plan: &Plan<'_>,
        places: &mut Places,
        code: &mut Code<'_>,
        id: InstrId,
        member: &HloInstruction,
    ) -> Result<(), StageError> {
        let mut after = Vec::new();
        for operand in member.operands.iter().filter(|o| !self.beside.contains(o)) {
            if let (true, Some(&Value::Weight { parameter, via })) = (plan.trains, places.find(*operand)) {
                after.push(load_vector(plan, places, code, parameter, via)?);
            }
            if places.resident(*operand).is_some() {
                after.extend(in_layout(plan, places, code, *operand, id, self.layout)?.ready);
            }
        }
        match self.steps.last_mut() {
            Some(last) if last.kind == StepKind::Beside => {
                last.after.extend(after);
                last.members.push(id);
            }
            _ => self.push(id, StepKind::Beside, Scalars { after, members: Vec::new() }),
        }
        self.beside.insert(id);
        Ok(())
    }

    /// A function of the running value alone.
    fn unary(&mut self, id: InstrId, member: &HloInstruction) {
        let kind = match member.opcode {
            Opcode::Negate | Opcode::Convert | Opcode::Add | Opcode::Multiply => StepKind::Scalars,
            Opcode::Elementwise(function) if !function.is_table() => StepKind::Scalars,
            ref o => StepKind::Function(o.name()),
        };
        // An activation scales and adds a per-partition bias for free: it takes over the step just before it.
        let before = if matches!(kind, StepKind::Function(_)) { self.take_scalars() } else { Scalars::default() };
        self.push(id, kind, before);
    }

    /// An operation of the running value and another one that was not computed on the way.
    fn binary(
        &mut self,
        plan: &Plan<'_>,
        places: &mut Places,
        code: &mut Code<'_>,
        (id, member): (InstrId, &HloInstruction),
        other: InstrId,
    ) -> Result<(), StageError> {
        let against_constant = matches!(member.opcode, Opcode::Maximum | Opcode::Minimum);
        let apart = self.tensors_apart && matches!(places.value(plan, other)?, Value::Resident(_));
        let other = other_side(plan, places, code, (id, other), self.layout)?;
        let (kind, mut after) = match other {
            // Long rows go to the scalar engine, which clips in one pass; short ones to the engine that set the constant.
            Other::Constant if against_constant && self.free_elements >= LONG_ROW_ELEMENTS => {
                (StepKind::Function(CLIP), Vec::new())
            }
            Other::Constant if against_constant => (StepKind::TensorConstant, vec![constant_tensor(places, code, id)]),
            Other::Constant => (StepKind::Scalars, Vec::new()),
            Other::PerPartition(after) => (StepKind::Scalars, after),
            Other::Tensor(after) => (StepKind::Tensors { of_main: false }, after),
        };
        let is_tensors = matches!(kind, StepKind::Tensors { .. });
        // A scalar operation just before is part of the same instruction: another one with scalars, an activation, or an
        // operation on two tensors.
        let takes = match kind {
            StepKind::TensorConstant => false,
            StepKind::Tensors { .. } => !apart,
            _ => true,
        };
        let before = if takes { self.take_scalars() } else { Scalars::default() };
        after.extend(before.after);
        if matches!(member.opcode, Opcode::Divide) && is_tensors {
            self.push(id, StepKind::Function("reciprocal"), Scalars::default());
        }
        self.push(id, kind, Scalars { after, members: before.members });
        if let Some(step) = self.steps.last_mut() {
            step.apart = apart && is_tensors;
        }
        Ok(())
    }
}

/// The form in which the operation `id` reads its operand `other`.
fn other_side(
    plan: &Plan<'_>,
    places: &mut Places,
    code: &mut Code<'_>,
    (id, other): (InstrId, InstrId),
    layout: Layout,
) -> Result<Other, StageError> {
    match *places.value(plan, other)? {
        Value::Splat => Ok(Other::Constant),
        Value::Resident(_) => Ok(Other::Tensor(in_layout(plan, places, code, other, id, layout)?.ready)),
        Value::Weight { parameter, via } => {
            let wait = load_vector(plan, places, code, parameter, via)?;
            let vector = plan.instruction(via)?.shape.rank() <= 1;
            Ok(if vector { Other::PerPartition(vec![wait]) } else { Other::Tensor(vec![wait]) })
        }
        Value::Broadcast { of, via, along_columns } => {
            let after = match *places.value(plan, of)? {
                Value::Splat => return Ok(Other::Constant),
                Value::Resident(ref r) => r.ready.clone(),
                Value::Weight { parameter, .. } => vec![load_vector(plan, places, code, parameter, via)?],
                Value::Broadcast { .. } => return other_side(plan, places, code, (id, of), layout),
            };
            let per_partition = along_columns == (layout == Layout::FeatureMajor);
            Ok(if per_partition { Other::PerPartition(after) } else { Other::Tensor(after) })
        }
    }
}

/// A tensor filled with a constant, set in SBUF once: it does not wait for anything, so it is set early.
fn constant_tensor(places: &mut Places, code: &mut Code<'_>, user: InstrId) -> Wait {
    if let Some(wait) = places.constants.get(&user) {
        return *wait;
    }
    let source = code.sources.of(user);
    // Each partition needs one element: the other operand's free dimension reads it with stride zero.
    let op = Op::Memset { free: 1 };
    let wait = code.emitter.instruction(Engine::GpSimd, op, Purpose::data_transfer(source), &[]);
    places.constants.insert(user, wait);
    wait
}
