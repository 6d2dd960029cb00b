//! How each operation treats a batch.

use ns_base::{Idx, Refusal, refuse};

use super::mark::Mark;
use super::{Body, parts};
use crate::{DotDims, GatherDims, Instruction, InstructionId, Op};

/// What an operation with a marked operand becomes: its settings at the new batch size, and the mark of its result.
type Change = Result<(Op, Mark), Refusal>;

impl Body<'_> {
    /// Adds the counterpart of an instruction that reads a marked operand.
    pub fn change(&mut self, id: InstructionId, old: &Instruction) -> Result<(), Refusal> {
        let changed = match &old.op {
            Op::Tuple => {
                let marks = old.operands.iter().map(|o| self.mark_of(*o)).collect();
                self.push(old, Op::Tuple, marks);
                return Ok(());
            }
            Op::GetTupleElement(n) => {
                let mark = old.operands.first().and_then(|o| self.marks_of(*o).get(*n as usize).copied()).flatten();
                let part = self.push(old, old.op.clone(), vec![mark]);
                self.as_dimension(id, part);
                return Ok(());
            }
            Op::BatchNormTraining { .. } => return self.normalise(old),
            _ => self.rule(old).and_then(|(op, mark)| {
                let operands = self.like_samples(old, mark)?;
                Ok((op, mark, operands))
            }),
        };
        let (op, mark, operands) = changed.map_err(|why| {
            let from = if old.origin.op.is_empty() { String::new() } else { format!(" of {}", old.origin.op) };
            refuse!("{} ({}{from}): {why}", self.old.instructions[id].name, name_of(&old.op))
        })?;
        self.push_with(old, op, operands, vec![Some(mark); parts(&old.ty)]);
        Ok(())
    }

    /// The operand that is marked first, its number, and its mark.
    fn sample(&self, old: &Instruction) -> Result<(usize, Mark), Refusal> {
        let marked = old.operands.iter().enumerate().find_map(|(i, o)| Some((i, self.mark_of(*o)?)));
        marked.ok_or_else(|| refuse!("a tuple of samples is not followed"))
    }

    fn rule(&self, old: &Instruction) -> Change {
        let (operand, mark) = self.sample(old)?;
        let dims = self.dims(old.operands[operand]);
        let at = mark.dimension;
        let same = |is_apart: bool| apart(old.op.clone(), is_apart.then_some(mark));
        let moved = |to: Option<usize>| apart(old.op.clone(), to.map(|dimension| Mark { dimension, ..mark }));
        let result = old.ty.array().map_or(&[][..], |array| &array.dims);
        match &old.op {
            Op::Unary(_)
            | Op::Binary(_)
            | Op::Compare(_)
            | Op::Select
            | Op::Clamp
            | Op::Convert
            | Op::ReducePrecision { .. }
            | Op::Map => same(true),
            Op::BitcastConvert => same(result == dims),
            Op::Barrier => same(old.operands.len() == 1),
            Op::Gather(gather) => self.gather(old, gather),
            Op::Dot(dot) => self.dot(old, dot),
            Op::Convolution { dims, batch_group_count, .. } => {
                let is_batch = operand == 0 && dims.input.0 as usize == at && *batch_group_count == 1;
                moved((is_batch && !self.are_marked(old, 1)).then_some(dims.output.0 as usize))
            }
            Op::Reduce { dimensions } => {
                let before = dimensions.iter().filter(|d| (**d as usize) < at).count();
                let is_array = operand < old.operands.len() / 2 && !self.are_marked(old, old.operands.len() / 2);
                moved((is_array && !has(dimensions, at)).then_some(at - before))
            }
            Op::ReduceWindow { window } => same(operand == 0 && window[at] == crate::WindowDim::ONE),
            Op::Sort { dimension, .. } => same(*dimension as usize != at),
            Op::TopK { .. } => same(at + 1 != dims.len()),
            Op::BatchNormInference { feature, .. } => {
                same(operand == 0 && *feature as usize != at && !self.are_marked(old, 1))
            }
            Op::Fft { length, .. } => same(at + length.len() < dims.len()),
            Op::Opaque(_) | Op::CustomCall(_) => Err(refuse!("how it treats samples is not known")),
            _ => self.movement(old, operand, mark),
        }
    }

    /// The rule of an operation that moves elements.
    fn movement(&self, old: &Instruction, operand: usize, mark: Mark) -> Change {
        let (dims, at) = (self.dims(old.operands[operand]), mark.dimension);
        let result = old.ty.array().map_or(&[][..], |array| &array.dims);
        let same = |is_apart: bool| apart(old.op.clone(), is_apart.then_some(mark));
        let moved = |to: Option<usize>| apart(old.op.clone(), to.map(|dimension| Mark { dimension, ..mark }));
        let resized = |sizes: &[u64]| {
            let mut sizes = sizes.to_vec();
            mark.resize(&mut sizes, self.from, self.to);
            sizes
        };
        match &old.op {
            Op::Broadcast { dimensions } => {
                let to = dimensions.get(at).map(|to| *to as usize);
                moved(to.filter(|to| result.get(*to) == dims.get(at)))
            }
            Op::Reshape => match Mark::of_stride(result, mark.stride(dims), self.from) {
                Some(mark) => Ok((Op::Reshape, mark)),
                None => Err(refuse!("the samples cannot be followed through it")),
            },
            Op::Transpose { permutation } => moved(permutation.iter().position(|from| *from as usize == at)),
            Op::Reverse { dimensions } => same(!has(dimensions, at)),
            Op::Slice { starts, limits, strides } => {
                let limits = resized(limits);
                same(starts[at] == 0 && result.get(at) == dims.get(at))
                    .map(|(_, mark)| (Op::Slice { starts: starts.clone(), limits, strides: strides.clone() }, mark))
            }
            Op::Pad { low, high, interior } => same(low[at] == 0 && high[at] == 0 && interior[at] == 0),
            Op::Concatenate { dimension } => same(*dimension as usize != at),
            Op::DynamicSlice { sizes } => same(operand == 0 && sizes.get(at) == dims.get(at))
                .map(|(_, mark)| (Op::DynamicSlice { sizes: resized(sizes) }, mark)),
            Op::DynamicUpdateSlice => {
                let update = self.dims(old.operands[1]);
                same(operand < 2 && update.get(at) == result.get(at) && !self.are_marked(old, 2))
            }
            _ => Err(refuse!("it is not followed")),
        }
    }

    /// A normalisation with its own mean and variance: apart only where each sample has features of its own, as exporters write layer norm.
    fn normalise(&mut self, old: &Instruction) -> Result<(), Refusal> {
        let Op::BatchNormTraining { feature, .. } = old.op else { return Err(refuse!("it is not followed")) };
        let (operand, mark) = self.sample(old)?;
        let dims = self.dims(old.operands[0]).to_vec();
        let feature = feature as usize;
        // [1, rows, columns] with one sample: the rows of more samples follow each other.
        let rows = Mark { dimension: feature, inner: dims[feature] };
        let is_rows = mark.dimension != feature && self.from == 1 && rows.stride(&dims) == mark.stride(&dims);
        if operand != 0 || mark.dimension != feature && !is_rows {
            return Err(refuse!("{}: it mixes samples", old.name));
        }
        let mut source = self.at[old.operands[0].index()];
        let mark = if is_rows { rows } else { mark };
        if is_rows {
            source = self.reshape_to(old.operands[0], mark);
        }
        let of_feature = Mark { dimension: 0, ..mark };
        let mut operands = vec![source];
        for scale in &old.operands[1..] {
            operands.push(match self.mark_of(*scale) {
                Some(found) if found == of_feature => self.at[scale.index()],
                Some(_) => return Err(refuse!("{}: its operands have their samples in different places", old.name)),
                None => self.stretch(*scale, of_feature)?,
            });
        }
        self.push_with(old, old.op.clone(), operands, vec![Some(mark), Some(of_feature), Some(of_feature)]);
        Ok(())
    }

    /// Whether an operand from the `from`-th on is marked.
    fn are_marked(&self, old: &Instruction, from: usize) -> bool {
        old.operands.iter().skip(from).any(|o| self.is_marked(*o))
    }

    /// Rows of a table for each sample (an embedding), or a part of each sample.
    fn gather(&self, old: &Instruction, gather: &GatherDims) -> Change {
        let (table, indices) = (old.operands[0], old.operands[1]);
        let rank = old.ty.array().map_or(0, |array| array.dims.len());
        let from_indices = |at: usize| {
            let place = at - usize::from(at > gather.index_vector_dim as usize);
            (0..rank).filter(|d| !has(&gather.offset_dims, *d)).nth(place)
        };
        let mixes = || refuse!("it mixes samples");
        match (self.mark_of(table), self.mark_of(indices)) {
            (None, Some(mark)) if mark.dimension != gather.index_vector_dim as usize => {
                let dimension = from_indices(mark.dimension).ok_or_else(mixes)?;
                Ok((old.op.clone(), Mark { dimension, ..mark }))
            }
            (Some(mark), None) => {
                let is_whole = gather.slice_sizes.get(mark.dimension) == self.dims(table).get(mark.dimension);
                let is_apart =
                    |d: usize| !has(&gather.collapsed_slice_dims, d) && !has(&gather.operand_batching_dims, d);
                if !is_whole || !is_apart(mark.dimension) {
                    return Err(mixes());
                }
                let place = (0..mark.dimension).filter(|d| is_apart(*d)).count();
                let dimension = *gather.offset_dims.get(place).ok_or_else(mixes)? as usize;
                let mut changed = gather.clone();
                mark.resize(&mut changed.slice_sizes, self.from, self.to);
                Ok((Op::Gather(changed), Mark { dimension, ..mark }))
            }
            (Some(a), Some(b)) => {
                let mut pairs = gather.operand_batching_dims.iter().zip(&gather.start_indices_batching_dims);
                if !pairs.any(|(x, y)| (*x as usize, *y as usize) == (a.dimension, b.dimension)) {
                    return Err(mixes());
                }
                let dimension = from_indices(b.dimension).ok_or_else(mixes)?;
                Ok((old.op.clone(), Mark { dimension, ..b }))
            }
            _ => Err(mixes()),
        }
    }

    /// A product, of each sample with weights or of two values of each sample.
    fn dot(&self, old: &Instruction, dot: &DotDims) -> Change {
        let (lhs, rhs) = (old.operands[0], old.operands[1]);
        let batch = |dims: &[u32], mark: Mark| dims.iter().position(|d| *d as usize == mark.dimension);
        let free = |id: InstructionId, contracting: &[u32], batch: &[u32], at: usize| {
            let is_free = |d: &usize| !has(contracting, *d) && !has(batch, *d);
            is_free(&at).then(|| (0..self.dims(id).len()).filter(is_free).position(|d| d == at)).flatten()
        };
        let (left, right) = (self.mark_of(lhs), self.mark_of(rhs));
        let lhs_free = self.dims(lhs).len() - dot.lhs_contracting.len() - dot.lhs_batch.len();
        let in_batch = left.and_then(|m| batch(&dot.lhs_batch, m)).or(right.and_then(|m| batch(&dot.rhs_batch, m)));
        let found = match (in_batch, left, right) {
            (Some(at), left, right) => left.or(right).map(|mark| (at, mark)),
            (None, Some(mark), None) => {
                let at = free(lhs, &dot.lhs_contracting, &dot.lhs_batch, mark.dimension);
                at.map(|at| (dot.lhs_batch.len() + at, mark))
            }
            (None, None, Some(mark)) => {
                let at = free(rhs, &dot.rhs_contracting, &dot.rhs_batch, mark.dimension);
                at.map(|at| (dot.lhs_batch.len() + lhs_free + at, mark))
            }
            _ => None,
        };
        let (dimension, mark) = found.ok_or_else(|| refuse!("it sums over samples, or multiplies one with another"))?;
        Ok((old.op.clone(), Mark { dimension, ..mark }))
    }

    /// The operands of an operation whose result has this mark. Those that must have a value for each sample and have none get one.
    fn like_samples(&mut self, old: &Instruction, mark: Mark) -> Result<Vec<InstructionId>, Refusal> {
        let needed = |i: usize| -> Option<Mark> {
            let dims = self.dims(old.operands[i]);
            match &old.op {
                Op::Unary(_) | Op::Binary(_) | Op::Compare(_) | Op::Select | Op::Clamp | Op::Map => {
                    (!dims.is_empty()).then_some(mark)
                }
                Op::Concatenate { .. } | Op::Sort { .. } => Some(mark),
                Op::DynamicUpdateSlice => (i < 2).then_some(mark),
                Op::Reduce { dimensions } if i < old.operands.len() / 2 => {
                    let kept = (0..dims.len()).filter(|d| !has(dimensions, *d)).nth(mark.dimension);
                    kept.map(|dimension| Mark { dimension, ..mark })
                }
                Op::Dot(dot) if mark.dimension < dot.lhs_batch.len() => {
                    let batch = if i == 0 { &dot.lhs_batch } else { &dot.rhs_batch };
                    Some(Mark { dimension: batch[mark.dimension] as usize, ..mark })
                }
                _ => self.mark_of(old.operands[i]),
            }
        };
        let needs: Vec<_> = (0..old.operands.len()).map(needed).collect();
        let mut operands = Vec::with_capacity(needs.len());
        for (operand, need) in old.operands.iter().zip(needs) {
            operands.push(match (self.mark_of(*operand), need) {
                (None, Some(mark)) => self.stretch(*operand, mark)?,
                (a, b) if a == b => self.at[operand.index()],
                _ => return Err(refuse!("its operands have their samples in different places")),
            });
        }
        Ok(operands)
    }
}

/// An operation whose result has its samples apart, or the refusal of one that mixes them.
fn apart(op: Op, mark: Option<Mark>) -> Change {
    mark.map(|mark| (op, mark)).ok_or_else(|| refuse!("it mixes samples"))
}

pub(super) fn has(dimensions: &[u32], at: usize) -> bool {
    dimensions.iter().any(|d| *d as usize == at)
}

/// An operation in a word.
fn name_of(op: &Op) -> &str {
    match op {
        Op::Opaque(foreign) | Op::CustomCall(foreign) | Op::Collective(foreign) => &foreign.name,
        Op::Reduce { .. } => "a reduction",
        Op::Dot(_) => "a product",
        Op::Convolution { .. } => "a convolution",
        Op::Gather(_) | Op::Slice { .. } | Op::DynamicSlice { .. } => "a selection",
        Op::Scatter(_) | Op::DynamicUpdateSlice => "a change in place",
        Op::While => "a loop",
        Op::Conditional => "a branch",
        Op::Reshape => "a reshape",
        Op::Unary(_) | Op::Binary(_) | Op::Compare(_) | Op::Select | Op::Clamp => "an elementwise operation",
        _ => "an operation",
    }
}
