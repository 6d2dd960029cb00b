//! Elementwise work: which engine does it, and in how many instructions.
//!
//! * A transcendental function is one ACTIVATE on the scalar engine, which adds a per-partition bias for free.
//! * A tensor with per-partition scalars or a constant is one TENSOR_SCALAR on the vector engine.
//! * A maximum or minimum with a constant is a TENSOR_TENSOR against a tensor of that constant, which is set in SBUF
//!   ahead of time: this is how a ReLU shows in profiles (`maximum`, with its zeros set early). The engine that set the
//!   constant compares with it, GpSimd, and the vector engine goes on with the next tile.
//! * Two tensors are one TENSOR_TENSOR, at half rate when neither is in PSUM.

use super::CodegenError;
use super::emitter::Purpose;
use super::program::{Generator, latest};
use super::tiles::{CLIP, InFlight, Pipeline, SQUARE, Step, StepKind};
use super::value::{Layout, Resident, Value, blocks};
use crate::base::FxHashSet;
use crate::compiler::hlo::{HloInstruction, InstrId, Opcode};
use crate::machine::cost::decisions::{LONG_ROW_ELEMENTS, SBUF_CHUNK_ELEMENTS};
use crate::machine::isa::{Engine, Op, Wait};

/// What a binary operation meets on its other side.
enum Other {
    Constant,
    PerPartition(Vec<Wait>),
    Tensor(Vec<Wait>),
}

impl Generator<'_> {
    /// Plans the instructions of one tile of `members`, which start from `main`.
    pub(super) fn plan_steps(
        &mut self,
        members: &[(InstrId, &HloInstruction)],
        main: InstrId,
        shape: &Resident,
    ) -> Result<Vec<Step>, CodegenError> {
        self.plan_chain(members, main, shape, false)
    }

    /// The same for what evicts a product with weights. Another tensor of its size is not read on the way: it is added in
    /// a pass of its own when the product is in SBUF.
    pub(super) fn plan_eviction(
        &mut self,
        members: &[(InstrId, &HloInstruction)],
        product: InstrId,
        shape: &Resident,
    ) -> Result<(Vec<Step>, Vec<Step>), CodegenError> {
        let mut steps = self.plan_chain(members, product, shape, true)?;
        let apart = steps.iter().position(|s| s.apart).map(|i| steps.split_off(i)).unwrap_or_default();
        if steps.is_empty() {
            steps.push(Step::new(StepKind::Copy, Vec::new()));
        }
        Ok((steps, apart))
    }

    /// Runs the steps that follow a product's eviction over what is in SBUF.
    pub(super) fn run_apart(&mut self, steps: &[Step], resident: &mut Resident, purpose: Purpose) {
        if !steps.is_empty() {
            self.loads = [0; 2];
            let ready = std::mem::take(&mut resident.ready);
            resident.ready = self.run_steps(steps, resident, &ready, purpose);
        }
    }

    fn run_steps(&mut self, steps: &[Step], resident: &Resident, after: &[Wait], purpose: Purpose) -> Vec<Wait> {
        let mut pipeline = Pipeline::default();
        for _ in resident.partition_blocks(self.core.partitions) {
            for free in blocks(resident.free_elements, SBUF_CHUNK_ELEMENTS) {
                self.enter(&mut pipeline, InFlight::new(free, None, after.to_vec()), steps, purpose);
            }
        }
        self.drain(&mut pipeline, steps, purpose);
        latest(pipeline.ready)
    }

    fn plan_chain(
        &mut self,
        members: &[(InstrId, &HloInstruction)],
        main: InstrId,
        shape: &Resident,
        tensors_apart: bool,
    ) -> Result<Vec<Step>, CodegenError> {
        let mut running = main;
        let mut steps: Vec<Step> = Vec::new();
        // Members that another value goes through before it meets the running one.
        let mut beside: FxHashSet<InstrId> = FxHashSet::default();
        // Earlier values of the chain, which a later member may read again: x in x * sigmoid(x).
        let mut passed: FxHashSet<InstrId> = FxHashSet::default();
        // Those of them that an instruction can take from `main` again, adding a scalar on its way.
        let mut of_main: FxHashSet<InstrId> = FxHashSet::from_iter([main]);
        for (id, member) in members {
            if self.define_lazy(*id, member) {
                continue;
            }
            let Some(position) = member.operands.iter().position(|o| *o == running) else {
                self.plan_beside(*id, member, shape, &beside, &mut steps)?;
                beside.insert(*id);
                continue;
            };
            let other = member.operands.iter().enumerate().find(|(i, _)| *i != position).map(|(_, o)| *o);
            match other {
                // Squaring is a function of one operand, in every table.
                Some(other) if other == running => {
                    let after = steps.pop_if(|s| s.is_scalars()).map(|s| s.after).unwrap_or_default();
                    steps.push(Step::new(StepKind::Function(SQUARE), after));
                }
                Some(other) if beside.contains(&other) || passed.contains(&other) => {
                    let of_main = of_main.contains(&other);
                    steps.push(Step::new(StepKind::Tensors { of_main }, Vec::new()));
                }
                _ => self.plan_member(*id, member, other, shape, tensors_apart, &mut steps)?,
            }
            passed.insert(running);
            running = *id;
            if steps.iter().all(Step::is_scalars) {
                of_main.insert(running);
            }
        }
        if steps.is_empty() {
            steps.push(Step::new(StepKind::Copy, Vec::new()));
        }
        Ok(steps)
    }

    /// A member that does not touch the running value: a scale, shift or function of another one. Two in a row with
    /// scalars are one instruction.
    fn plan_beside(
        &mut self,
        id: InstrId,
        member: &HloInstruction,
        shape: &Resident,
        beside: &FxHashSet<InstrId>,
        steps: &mut Vec<Step>,
    ) -> Result<(), CodegenError> {
        let mut after = Vec::new();
        for operand in member.operands.iter().filter(|o| !beside.contains(o)) {
            if let Ok(Value::Resident(_)) = self.value(*operand) {
                after.extend(self.in_layout(*operand, id, shape.layout)?.ready);
            }
        }
        match steps.last_mut() {
            Some(last) if last.kind == StepKind::Beside => last.after.extend(after),
            _ => steps.push(Step::new(StepKind::Beside, after)),
        }
        Ok(())
    }

    fn plan_member(
        &mut self,
        id: InstrId,
        member: &HloInstruction,
        other: Option<InstrId>,
        shape: &Resident,
        tensors_apart: bool,
        steps: &mut Vec<Step>,
    ) -> Result<(), CodegenError> {
        let Some(other) = other else {
            let kind = match member.opcode {
                Opcode::Negate | Opcode::Convert | Opcode::Add | Opcode::Multiply => StepKind::Scalars,
                Opcode::Elementwise(function) if !function.is_table() => StepKind::Scalars,
                ref o => StepKind::Function(o.name()),
            };
            // An activation scales and adds a per-partition bias for free: it takes over what was just before it.
            let after = match (&kind, steps.last()) {
                (StepKind::Function(_), Some(Step { kind: StepKind::Scalars, .. })) => {
                    steps.pop().map(|s| s.after).unwrap_or_default()
                }
                _ => Vec::new(),
            };
            steps.push(Step::new(kind, after));
            return Ok(());
        };
        let against_constant = matches!(member.opcode, Opcode::Maximum | Opcode::Minimum);
        let apart = tensors_apart && matches!(self.value(other)?, Value::Resident(_));
        let other = self.other_side(id, other, shape.layout)?;
        let mut step = match other {
            // Long rows go to the scalar engine, which clips in one pass; short ones to the engine that set the constant.
            Other::Constant if against_constant && shape.free_elements >= LONG_ROW_ELEMENTS => {
                let after = steps.pop_if(|s| s.is_scalars()).map(|s| s.after).unwrap_or_default();
                Step::new(StepKind::Function(CLIP), after)
            }
            Other::Constant if against_constant => Step::new(StepKind::TensorConstant, vec![self.constant_tensor(id)]),
            Other::Constant => Step::new(StepKind::Scalars, Vec::new()),
            Other::PerPartition(after) => Step::new(StepKind::Scalars, after),
            Other::Tensor(after) if apart => {
                Step { apart: true, ..Step::new(StepKind::Tensors { of_main: false }, after) }
            }
            // A scalar operation before one of two tensors is part of the same instruction.
            Other::Tensor(mut after) => {
                after.extend(steps.pop_if(|s| s.is_scalars()).map(|s| s.after).unwrap_or_default());
                Step::new(StepKind::Tensors { of_main: false }, after)
            }
        };
        if matches!(member.opcode, Opcode::Divide) && matches!(step.kind, StepKind::Tensors { .. }) {
            steps.push(Step::new(StepKind::Function("reciprocal"), Vec::new()));
        }
        // Two operations with scalars are one instruction.
        if step.is_scalars()
            && let Some(before) = steps.pop_if(|s| s.is_scalars())
        {
            step.after.extend(before.after);
        }
        steps.push(step);
        Ok(())
    }

    fn other_side(&mut self, id: InstrId, other: InstrId, layout: Layout) -> Result<Other, CodegenError> {
        match self.value(other)?.clone() {
            Value::Splat => Ok(Other::Constant),
            Value::Resident(_) => Ok(Other::Tensor(self.in_layout(other, id, layout)?.ready)),
            Value::Weight { parameter, via } => {
                let wait = self.load_vector(parameter, via)?;
                let vector = self.instruction(via)?.shape.rank() <= 1;
                Ok(if vector { Other::PerPartition(vec![wait]) } else { Other::Tensor(vec![wait]) })
            }
            Value::Broadcast { of, via, along_columns } => {
                let after = match self.value(of)?.clone() {
                    Value::Splat => return Ok(Other::Constant),
                    Value::Resident(r) => r.ready,
                    Value::Weight { parameter, .. } => vec![self.load_vector(parameter, via)?],
                    Value::Broadcast { .. } => return Err(self.unsupported(id, "a broadcast of a broadcast")),
                };
                let per_partition = along_columns == (layout == Layout::FeatureMajor);
                Ok(if per_partition { Other::PerPartition(after) } else { Other::Tensor(after) })
            }
        }
    }

    /// A tensor of a constant, set in SBUF once: nothing has to be complete before it, so it comes early.
    fn constant_tensor(&mut self, user: InstrId) -> Wait {
        if let Some(wait) = self.constants.get(&user) {
            return *wait;
        }
        let source = self.sources.of(user);
        // Each partition needs one element: the other operand's free dimension reads it with stride zero.
        let op = Op::Memset { free: 1 };
        let wait = self.emitter.instruction(Engine::GpSimd, op, Purpose::data_transfer(source), &[]);
        self.constants.insert(user, wait);
        wait
    }

    /// An elementwise instruction or fusion whose main operand is in SBUF.
    pub(super) fn elementwise(
        &mut self,
        id: InstrId,
        members: &[(InstrId, &HloInstruction)],
    ) -> Result<(), CodegenError> {
        let Ok((main, resident)) = self.main_operand(id, members) else { return self.elementwise_of_parts(id) };
        let steps = self.plan_steps(members, main, &resident)?;
        let purpose = Purpose::execution(self.sources.of(id));
        let bytes = resident.bytes;
        let room = self.take(id, bytes)?;
        let mut after = resident.ready.clone();
        after.extend(room);
        let ready = self.run_steps(&steps, &resident, &after, purpose);
        self.set_resident(id, Resident { ready, ..resident });
        Ok(())
    }

    /// The operand that the chain starts from: the first one in SBUF.
    fn main_operand(
        &self,
        id: InstrId,
        members: &[(InstrId, &HloInstruction)],
    ) -> Result<(InstrId, Resident), CodegenError> {
        let inside = |o: &InstrId| members.iter().any(|(m, _)| m == o);
        let outside = members.iter().filter(|(_, m)| !matches!(m.opcode, Opcode::Broadcast { .. }));
        for operand in outside.flat_map(|(_, m)| m.operands.iter()).filter(|o| !inside(o)) {
            if let Ok(Value::Resident(r)) = self.value(*operand) {
                return Ok((*operand, r.clone()));
            }
        }
        self.broadcast_operand(id, members)
    }

    /// A chain that starts from a small value repeated to the result's size: a mask.
    fn broadcast_operand(
        &self,
        id: InstrId,
        members: &[(InstrId, &HloInstruction)],
    ) -> Result<(InstrId, Resident), CodegenError> {
        let (rows, columns) = self.rows_and_columns(&self.instruction(id)?.shape);
        let repeated = members.iter().filter(|(_, m)| matches!(m.opcode, Opcode::Broadcast { .. }));
        for (member, operand) in repeated.filter_map(|(m, i)| Some((*m, *i.operands.first()?))) {
            if let Ok(Value::Resident(r)) = self.value(operand) {
                let mut whole = Resident::of(self.wanted_layout(id), rows, columns);
                whole.bytes =
                    self.resident_bytes(whole.partition_elements, whole.free_elements, self.element_bytes(id));
                whole.ready.clone_from(&r.ready);
                return Ok((member, whole));
            }
        }
        Err(self.unsupported(id, "elementwise work on constants or weights alone"))
    }
}
