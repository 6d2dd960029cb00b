//! Values that are the same for each sample, where an operation needs one for each.

use ns_base::convert::u64_to_usize;
use ns_base::{Idx, Refusal, refuse};

use super::mark::Mark;
use super::rules::has;
use super::{Body, Marks};
use crate::{ArrayType, Instruction, InstructionId, Numbers, Op, Type, Value};

impl Body<'_> {
    /// The counterpart of a value without a mark with as many samples as the new batch has.
    pub fn stretch(&mut self, id: InstructionId, mark: Mark) -> Result<InstructionId, Refusal> {
        if let Some(known) = self.stretched.get(&(id, mark)) {
            return Ok(*known);
        }
        let new = self.stretch_new(id, mark)?;
        self.stretched.insert((id, mark), new);
        Ok(new)
    }

    fn stretch_new(&mut self, id: InstructionId, mark: Mark) -> Result<InstructionId, Refusal> {
        let old = self.old.instructions[id].clone();
        let array = old.ty.array().ok_or_else(|| refuse!("{} is no array", old.name))?.clone();
        if self.from == 1 && array.dims[mark.dimension] == 1 {
            return Ok(self.repeat(&old, id, &array, mark.dimension));
        }
        if let Op::Constant(value) = &old.op {
            let value = self.repeated(value, mark);
            let value = value.ok_or_else(|| refuse!("{} has other numbers for each sample", old.name))?;
            return Ok(self.add(&old, Op::Constant(Box::new(value)), vec![], &array, mark));
        }
        let needs = self.needs(&old, &array, mark);
        let needs = needs.ok_or_else(|| {
            refuse!("{} has {} values along the samples, which may differ", old.name, array.dims[mark.dimension])
        })?;
        let mut sources = Vec::with_capacity(needs.len());
        for (operand, need) in old.operands.iter().zip(needs) {
            sources.push(match need {
                Some(mark) => self.stretch(*operand, mark)?,
                None => self.at[operand.index()],
            });
        }
        let mut op = old.op.clone();
        if let Op::Slice { limits, .. } = &mut op {
            mark.resize(limits, self.from, self.to);
        }
        Ok(self.add(&old, op, sources, &array, mark))
    }

    /// Which operands need samples so that the result has them, and where; `None` where no operand can give them.
    fn needs(&self, old: &Instruction, array: &ArrayType, mark: Mark) -> Option<Marks> {
        let here = mark.dimension;
        let dims = |i: usize| self.dims(old.operands[i]);
        let at = |dimension: usize| Some(Mark { dimension, ..mark });
        Some(match &old.op {
            Op::Broadcast { dimensions } => match dimensions.iter().position(|d| *d as usize == here) {
                Some(from) if dims(0)[from] == array.dims[here] => vec![at(from)],
                _ => vec![None],
            },
            Op::Iota { dimension } if *dimension as usize != here => vec![],
            Op::Unary(_) | Op::Binary(_) | Op::Compare(_) | Op::Select | Op::Clamp | Op::Convert => {
                (0..old.operands.len()).map(|i| (dims(i) == array.dims).then_some(mark)).collect()
            }
            Op::Reshape => vec![Some(Mark::of_stride(dims(0), mark.stride(&array.dims), self.from)?)],
            Op::Transpose { permutation } => vec![at(permutation[here] as usize)],
            Op::Slice { .. } if dims(0)[here] == array.dims[here] => vec![Some(mark)],
            Op::Concatenate { dimension } if *dimension as usize != here => vec![Some(mark); old.operands.len()],
            Op::Gather(gather) if !has(&gather.offset_dims, here) && gather.start_indices_batching_dims.is_empty() => {
                let place = (0..here).filter(|d| !has(&gather.offset_dims, *d)).count();
                vec![None, at(place + usize::from(place >= gather.index_vector_dim as usize))]
            }
            Op::Dot(dot) => {
                let is_free = |d: &usize| !has(&dot.lhs_contracting, *d) && !has(&dot.lhs_batch, *d);
                let place = here.checked_sub(dot.lhs_batch.len())?;
                vec![at((0..dims(0).len()).filter(is_free).nth(place)?), None]
            }
            _ => return None,
        })
    }

    /// Adds a changed copy of an instruction.
    fn add(
        &mut self,
        old: &Instruction,
        op: Op,
        operands: Vec<InstructionId>,
        array: &ArrayType,
        mark: Mark,
    ) -> InstructionId {
        let mut array = array.clone();
        mark.resize(&mut array.dims, self.from, self.to);
        let name = name_of(old, mark);
        self.new.push(Instruction { name, op, operands, ty: Type::Array(array), ..old.clone() })
    }

    /// The same samples along another dimension.
    pub fn reshape_to(&mut self, id: InstructionId, mark: Mark) -> InstructionId {
        let old = self.old.instructions[id].clone();
        let array = old.ty.array().cloned().unwrap_or_else(|| ArrayType::new(crate::ElementType::F32, []));
        let source = self.at[id.index()];
        self.add(&Instruction { called: vec![], ..old }, Op::Reshape, vec![source], &array, mark)
    }

    /// Samples among rows that an exporter made of a dimension of one, as that dimension again.
    pub fn as_dimension(&mut self, id: InstructionId, new: InstructionId) {
        let (Some(mark), dims) = (self.mark_of(id), self.dims(id)) else { return };
        let Some(exact) = Mark::of_stride(dims, mark.stride(dims), self.from).filter(|m| *m != mark) else { return };
        self.at[id.index()] = new;
        self.at[id.index()] = self.reshape_to(id, exact);
        self.marks[id.index()] = vec![Some(exact)];
    }

    /// One sample's value, for each sample.
    fn repeat(&mut self, old: &Instruction, id: InstructionId, array: &ArrayType, here: usize) -> InstructionId {
        let mut one = array.clone();
        one.dims.remove(here);
        let name = format!("{}.one{here}", old.name);
        let operands = vec![self.at[id.index()]];
        let flat = self.new.push(Instruction {
            name,
            op: Op::Reshape,
            operands,
            ty: Type::Array(one),
            called: vec![],
            ..old.clone()
        });
        let dimensions =
            (0..array.dims.len()).filter(|d| *d != here).map(|d| u32::try_from(d).unwrap_or(u32::MAX)).collect();
        let mark = Mark { dimension: here, inner: 1 };
        let bare = Instruction { called: vec![], ..old.clone() };
        self.add(&bare, Op::Broadcast { dimensions }, vec![flat], array, mark)
    }

    /// A constant with equal numbers for each sample, at the new batch size.
    fn repeated(&self, value: &Value, mark: Mark) -> Option<Value> {
        let [run, from, to] = [mark.stride(&value.ty.dims), self.from, self.to].map(u64_to_usize);
        let numbers = match &value.numbers {
            Numbers::Real(all) => Numbers::Real(repeat_runs(all, run, from, to)?),
            Numbers::Whole(all) => Numbers::Whole(repeat_runs(all, run, from, to)?),
            Numbers::Complex(all) => Numbers::Complex(repeat_runs(all, run, from, to)?),
        };
        let mut ty = value.ty.clone();
        mark.resize(&mut ty.dims, self.from, self.to);
        Some(Value { ty, numbers })
    }
}

/// The name of a value with samples; one value can have them in two places.
fn name_of(old: &Instruction, mark: Mark) -> String {
    format!("{}.samples{}", old.name, mark.dimension)
}

/// Runs of `run` numbers, `from` equal ones after each other, as `to` of them; `None` where they differ.
fn repeat_runs<T: Copy + PartialEq>(all: &[T], run: usize, from: usize, to: usize) -> Option<Vec<T>> {
    let mut repeated = Vec::with_capacity(all.len() / from * to);
    for samples in all.chunks(run.checked_mul(from)?) {
        let (first, rest) = samples.split_at_checked(run)?;
        if !rest.chunks(run).all(|other| other == first) {
            return None;
        }
        (0..to).for_each(|_| repeated.extend_from_slice(first));
    }
    Some(repeated)
}
