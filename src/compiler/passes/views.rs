//! Moves products and elementwise work from a view to the viewed value.

use crate::hlo::{DotDims, HloInstruction, HloModule, InstrId, Opcode};
use ns_base::IndexVec;
use ns_base::convert::usize_to_u32;
use ns_tensor::Shape;

use super::{Changes, Pass};

/// Moves reshapes behind the products and elementwise instructions that read them. PyTorch views an activation
/// `[b, s, k]` as a matrix `[b * s, k]`, multiplies, adds the bias and views the sum as `[b, s, n]`; afterwards all of this is
/// done with three dimensions, the two views cancel, and the sum can be fused with the operations after it. Unused instructions
/// are left for dead code removal. Modules with fusions are not changed: this pass comes before fusion.
pub struct Views;

impl Pass for Views {
    fn name(&self) -> &'static str {
        "views"
    }

    fn run(&self, module: &mut HloModule) -> Changes {
        let fused = |i: &HloInstruction| matches!(i.opcode, Opcode::Fusion(_));
        let any_view = module.instructions.iter().any(|i| matches!(i.opcode, Opcode::Reshape));
        if !any_view || module.instructions.iter().any(fused) {
            return Changes::default();
        }
        let mut rebuild = Rebuild {
            old: module,
            new: IndexVec::new(),
            placed: IndexVec::new(),
            bases: IndexVec::new(),
            names: fresh_names(module),
            changes: Changes::default(),
        };
        for (id, instruction) in module.instructions.iter_enumerated() {
            rebuild.instruction(id, instruction);
        }
        let Rebuild { new, placed, changes, .. } = rebuild;
        module.root = placed[module.root];
        module.instructions = new;
        changes
    }
}

/// The first number that no instruction's name ends with.
fn fresh_names(module: &HloModule) -> u32 {
    let number = |i: &HloInstruction| i.name.rsplit_once('.').and_then(|(_, n)| n.parse::<u32>().ok());
    module.instructions.iter().filter_map(number).max().map_or(1, |n| n.saturating_add(1))
}

struct Rebuild<'m> {
    old: &'m HloModule,
    new: IndexVec<InstrId, HloInstruction>,
    /// By old id: the instruction that computes the same value.
    placed: IndexVec<InstrId, InstrId>,
    /// By old id: the values that it is a view of, the nearest first.
    bases: IndexVec<InstrId, Vec<InstrId>>,
    names: u32,
    changes: Changes,
}

impl Rebuild<'_> {
    fn instruction(&mut self, id: InstrId, old: &HloInstruction) {
        let moved = match &old.opcode {
            Opcode::Reshape => {
                self.reshape(old);
                return;
            }
            Opcode::Dot(dims) => self.dot(old, dims),
            op if op.is_elementwise() => self.elementwise(old),
            _ => None,
        };
        let Some(moved) = moved else {
            let mut copy = old.clone();
            for operand in &mut copy.operands {
                *operand = self.placed[*operand];
            }
            self.place(copy, Vec::new());
            return;
        };
        let (name, root) = (&old.name, id == self.old.root);
        self.changes
            .add(|| format!("%{name} is computed on {}{}", moved.shape, if root { ", the result" } else { "" }));
        let base = self.new.push(moved);
        let view = HloInstruction {
            name: self.name("reshape"),
            opcode: Opcode::Reshape,
            operands: vec![base],
            shape: old.shape.clone(),
            metadata: old.metadata.clone(),
        };
        self.place(view, vec![base]);
    }

    fn place(&mut self, instruction: HloInstruction, bases: Vec<InstrId>) {
        let id = self.new.push(instruction);
        self.placed.push(id);
        self.bases.push(bases);
    }

    /// A view of a view becomes one view of the first operand, or that operand itself.
    fn reshape(&mut self, old: &HloInstruction) {
        let Some(&operand) = old.operands.first() else { return };
        let mut bases = vec![self.placed[operand]];
        bases.extend_from_slice(&self.bases[operand]);
        if let Some(at) = bases.iter().position(|b| self.new[*b].shape == old.shape) {
            self.placed.push(bases[at]);
            self.bases.push(bases.split_off(at + 1));
            return;
        }
        self.place(HloInstruction { operands: vec![bases[0]], ..old.clone() }, bases);
    }

    /// `dot([.., k] as [m, k], [k, n])` as `dot([.., k], [k, n])`.
    fn dot(&mut self, old: &HloInstruction, dims: &DotDims) -> Option<HloInstruction> {
        let &[lhs, rhs] = old.operands.as_slice() else { return None };
        let viewed = &self.old.instructions[lhs].shape;
        let matrices = viewed.rank() == 2 && self.old.instructions[rhs].shape.rank() == 2;
        if !matrices || dims.batch != 0 || dims.lhs_contracting != 1 {
            return None;
        }
        let keeps_depth = |b: &InstrId| self.new[*b].shape.dims.last() == viewed.dims.last();
        let base = self.bases[lhs].iter().copied().find(keeps_depth)?;
        let from = &self.new[base].shape;
        let mut result = from.clone();
        if let (Some(last), Some(&columns)) = (result.dims.last_mut(), old.shape.dims.last()) {
            *last = columns;
        }
        let dims = DotDims { lhs_contracting: usize_to_u32(from.rank()) - 1, ..dims.clone() };
        let (opcode, operands) = (Opcode::Dot(dims), vec![base, self.placed[rhs]]);
        Some(HloInstruction { opcode, operands, shape: result, ..old.clone() })
    }

    /// An elementwise instruction whose operands are views of values of one shape, or repeat one number or one row.
    fn elementwise(&mut self, old: &HloInstruction) -> Option<HloInstruction> {
        let first = old.operands.iter().find(|o| !self.bases[**o].is_empty())?;
        let dims = self.bases[*first].iter().map(|b| &self.new[*b].shape.dims).find(|dims| self.can_take(old, dims));
        let dims = dims?.clone();
        let mut operands = Vec::with_capacity(old.operands.len());
        for &o in &old.operands {
            operands.push(self.base_with(o, &dims).unwrap_or_else(|| self.repeat(o, &dims)));
        }
        Some(HloInstruction { operands, shape: Shape::new(old.shape.dtype, dims), ..old.clone() })
    }

    /// Whether an elementwise instruction can be computed with these dimensions.
    fn can_take(&self, old: &HloInstruction, dims: &[u64]) -> bool {
        let same_rows = dims.last() == old.shape.dims.last();
        old.operands.iter().all(|&o| match &self.old.instructions[o].opcode {
            _ if self.base_with(o, dims).is_some() => true,
            Opcode::Broadcast { dimensions } => {
                dimensions.is_empty() || (same_rows && *dimensions == [usize_to_u32(old.shape.rank()) - 1])
            }
            _ => false,
        })
    }

    /// The viewed value of an operand that has these dimensions.
    fn base_with(&self, operand: InstrId, dims: &[u64]) -> Option<InstrId> {
        self.bases[operand].iter().copied().find(|b| self.new[*b].shape.dims == dims)
    }

    /// A broadcast to other dimensions.
    fn repeat(&mut self, broadcast: InstrId, dims: &[u64]) -> InstrId {
        let old = &self.old.instructions[broadcast];
        let row = matches!(&old.opcode, Opcode::Broadcast { dimensions } if !dimensions.is_empty());
        let dimensions = if row { vec![usize_to_u32(dims.len()) - 1] } else { Vec::new() };
        let copy = HloInstruction {
            name: self.name("broadcast"),
            opcode: Opcode::Broadcast { dimensions },
            operands: old.operands.iter().map(|o| self.placed[*o]).collect(),
            shape: Shape::new(old.shape.dtype, dims),
            metadata: old.metadata.clone(),
        };
        self.new.push(copy)
    }

    fn name(&mut self, opcode: &str) -> String {
        let number = self.names;
        self.names += 1;
        format!("{opcode}.{number}")
    }
}
