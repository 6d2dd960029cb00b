//! Dimensions in the order that a core works with.
//!
//! JAX and TensorFlow keep the channels of an image last, so each convolution transposes its image to channels first and its result
//! back. Here work on a transposed image is done on the image as the convolution produced it, and the transpose follows the work.
//! Where it meets the transpose of the next convolution, the two cancel. In addition, products with a single number move before any
//! transpose, and batched products read their operands and write their results without transposing the last two dimensions.

use super::permutation::{composed, inverse, is_identity, is_row_of_each};
use crate::hlo::{DotDims, HloInstruction, HloModule, InstrId, Opcode, WorkKind};
use ns_base::IndexVec;
use ns_base::Order;
use ns_base::convert::usize_to_u32;
use ns_tensor::Shape;

/// Moves transposes behind the work that does not need them.
pub(super) fn assign(module: &mut HloModule) {
    let is_turn = |i: &HloInstruction| matches!(i.opcode, Opcode::Transpose { .. });
    if !module.instructions.iter().any(is_turn) {
        return;
    }
    let mut readers: IndexVec<InstrId, Vec<InstrId>> = module.instructions.iter().map(|_| Vec::new()).collect();
    for (id, instruction) in module.instructions.iter_enumerated() {
        instruction.operands.iter().for_each(|o| readers[*o].push(id));
    }
    let known_at_load = module.known_at_load();
    let mut rebuild = Rebuild {
        old: module,
        known_at_load,
        readers,
        new: IndexVec::new(),
        images: IndexVec::new(),
        placed: IndexVec::new(),
        turns: 0,
    };
    for id in module.instructions.ids() {
        let placed = rebuild.place(id);
        rebuild.placed.push(placed);
    }
    let root = rebuild.whole(module.root);
    let new = rebuild.new;
    module.root = root;
    module.instructions = new;
}

/// Place of the value of an old instruction.
#[derive(Clone, Debug)]
enum Location {
    /// The value of an instruction.
    Whole(InstrId),
    /// An instruction's value with its dimensions in another order; no reader has needed the original order yet.
    Turned(InstrId, Vec<u32>),
}

struct Rebuild<'m> {
    old: &'m HloModule,
    known_at_load: IndexVec<InstrId, bool>,
    readers: IndexVec<InstrId, Vec<InstrId>>,
    new: IndexVec<InstrId, HloInstruction>,
    /// By new id: whether its channels are where convolutions have them.
    images: IndexVec<InstrId, bool>,
    /// Places by old id.
    placed: IndexVec<InstrId, Location>,
    turns: u32,
}

/// The order of dimensions and the values that replace the transposed operands of elementwise work.
struct Before {
    of: InstrId,
    permutation: Vec<u32>,
}

impl Rebuild<'_> {
    fn place(&mut self, id: InstrId) -> Location {
        let old = &self.old.instructions[id];
        if self.known_at_load[id] {
            return self.copied(old);
        }
        let moved = match &old.opcode {
            Opcode::Transpose { permutation } => self.turn(old, permutation),
            Opcode::Dot(dims) if dims.batch > 0 => self.batched_dot(id, old, dims),
            Opcode::Reduce { dimensions, .. } => self.reduce(old, dimensions),
            Opcode::Concatenate { dimension } => self.concatenate(old, *dimension),
            Opcode::Slice { ranges } => self.first_turned(old).and_then(|before| {
                let mut own = ranges.clone();
                for (i, &p) in before.permutation.iter().enumerate() {
                    *own.get_mut(p as usize)? = *ranges.get(i)?;
                }
                let operands = vec![before.of];
                Some(self.behind(old, Opcode::Slice { ranges: own }, operands, &before))
            }),
            Opcode::Work(work) if work.kind == WorkKind::Vector && self.is_of_equal_sizes(old) => self.elementwise(old),
            opcode if opcode.is_elementwise() => self.elementwise(old),
            _ => None,
        };
        moved.unwrap_or_else(|| self.copied(old))
    }

    /// The instruction with its operands in their own order.
    fn copied(&mut self, old: &HloInstruction) -> Location {
        let operands: Vec<InstrId> = old.operands.iter().map(|o| self.whole(*o)).collect();
        let of_image = operands.iter().any(|o| self.images[*o]);
        let is_image = match &old.opcode {
            Opcode::Convolution { .. } | Opcode::ReduceWindow { .. } => true,
            Opcode::Concatenate { .. } | Opcode::Slice { .. } | Opcode::Work(_) => of_image,
            // A dimension of size one is added or removed between the channels and the width.
            Opcode::Reshape => operands.first().is_some_and(|o| {
                let (from, to) = (&self.new[*o].shape.dims, &old.shape.dims);
                of_image && (3..=4).contains(&to.len()) && from.get(..2) == to.get(..2) && from.last() == to.last()
            }),
            opcode => opcode.is_elementwise() && of_image,
        };
        Location::Whole(self.push(HloInstruction { operands, ..old.clone() }, is_image))
    }

    fn push(&mut self, instruction: HloInstruction, is_image: bool) -> InstrId {
        self.images.push(is_image);
        self.new.push(instruction)
    }

    /// The value of an old instruction in its own order.
    fn whole(&mut self, id: InstrId) -> InstrId {
        match self.placed[id].clone() {
            Location::Whole(new) => new,
            Location::Turned(of, permutation) => {
                let new = self.turned(of, permutation);
                self.placed[id] = Location::Whole(new);
                new
            }
        }
    }

    fn turned(&mut self, of: InstrId, permutation: Vec<u32>) -> InstrId {
        let from = &self.new[of];
        let dims: Vec<u64> = permutation.iter().filter_map(|&p| from.shape.dims.get(p as usize).copied()).collect();
        let (shape, metadata) = (Shape::new(from.shape.dtype, dims), from.metadata.clone());
        self.turns += 1;
        let name = format!("turned.{}", self.turns);
        let opcode = Opcode::Transpose { permutation };
        self.push(HloInstruction { name, opcode, operands: vec![of], shape, metadata }, false)
    }

    /// The value and the permutation, if a value is a transpose.
    fn turn_of(&self, id: InstrId) -> Option<(InstrId, Vec<u32>)> {
        match &self.placed[id] {
            Location::Turned(of, permutation) => Some((*of, permutation.clone())),
            Location::Whole(new) => {
                let instruction = &self.new[*new];
                let Opcode::Transpose { permutation } = &instruction.opcode else { return None };
                if self.known_at_load[id] {
                    return None;
                }
                Some((*instruction.operands.first()?, permutation.clone()))
            }
        }
    }

    /// Combines a transpose of a transpose into one, or none.
    fn turn(&mut self, old: &HloInstruction, permutation: &[u32]) -> Option<Location> {
        let &operand = old.operands.first()?;
        let (of, permutation) = match self.turn_of(operand) {
            Some((of, inner)) => (of, composed(&inner, permutation)?),
            None => (self.whole(operand), permutation.to_vec()),
        };
        Some(if is_identity(&permutation) { Location::Whole(of) } else { Location::Turned(of, permutation) })
    }

    /// The first transposed image that an instruction reads.
    fn first_turned(&self, old: &HloInstruction) -> Option<Before> {
        let found = old.operands.iter().filter(|o| !self.known_at_load[**o]).find_map(|o| self.turn_of(*o));
        let (of, permutation) = found.filter(|(of, _)| self.images[*of])?;
        Some(Before { of, permutation })
    }

    /// The same instruction on the values before the transpose, with its result transposed.
    fn behind(&mut self, old: &HloInstruction, opcode: Opcode, operands: Vec<InstrId>, before: &Before) -> Location {
        let back = inverse(&before.permutation);
        let dims: Vec<u64> = back.iter().filter_map(|&p| old.shape.dims.get(p as usize).copied()).collect();
        let shape = Shape::new(old.shape.dtype, dims);
        let is_image = self.images[before.of];
        let new = self.push(HloInstruction { opcode, operands, shape, ..old.clone() }, is_image);
        Location::Turned(new, before.permutation.clone())
    }

    fn is_of_equal_sizes(&self, old: &HloInstruction) -> bool {
        old.operands.iter().all(|o| self.old.instructions[*o].shape.dims == old.shape.dims)
    }

    /// Elementwise work: on an image together with any operands that the image's order allows, on other values together with
    /// single numbers.
    fn elementwise(&mut self, old: &HloInstruction) -> Option<Location> {
        let found = old.operands.iter().filter(|o| !self.known_at_load[**o]).find_map(|o| self.turn_of(*o));
        let (of, permutation) = found?;
        let before = Before { of, permutation };
        if !old.operands.iter().all(|o| self.can_be_before(*o, &before)) {
            return None;
        }
        let operands = old.operands.iter().map(|o| self.before(*o, &before)).collect();
        Some(self.behind(old, old.opcode.clone(), operands, &before))
    }

    /// Whether an operand can take the order of dimensions of the image before its transpose.
    fn can_be_before(&self, id: InstrId, before: &Before) -> bool {
        let is_image = self.images[before.of];
        if let Opcode::Broadcast { dimensions } = &self.old.instructions[id].opcode {
            let rank = before.permutation.len();
            let own = moved(dimensions, &before.permutation);
            return dimensions.is_empty()
                || is_image
                    && own.is_some_and(|d| d.is_sorted())
                    && (self.known_at_load[id] || !is_row_of_each(dimensions, rank));
        }
        if self.known_at_load[id] {
            return is_image;
        }
        let dims = &self.new[before.of].shape.dims;
        self.turn_of(id).is_some_and(|(of, p)| p == before.permutation && self.new[of].shape.dims == *dims)
    }

    /// The operand in the order of dimensions of the image before its transpose.
    fn before(&mut self, id: InstrId, before: &Before) -> InstrId {
        let old = &self.old.instructions[id];
        if let Opcode::Broadcast { dimensions } = &old.opcode {
            let dimensions = moved(dimensions, &before.permutation).unwrap_or_default();
            let operands = old.operands.iter().map(|o| self.whole(*o)).collect();
            let shape = Shape::new(old.shape.dtype, self.new[before.of].shape.dims.clone());
            self.turns += 1;
            let name = format!("repeated.{}", self.turns);
            let opcode = Opcode::Broadcast { dimensions };
            return self.push(HloInstruction { name, opcode, operands, shape, ..old.clone() }, false);
        }
        match self.turn_of(id) {
            Some((of, _)) => of,
            // A weight is laid out when the model is loaded.
            None => {
                let of = self.whole(id);
                self.turned(of, inverse(&before.permutation))
            }
        }
    }

    /// A reduction over pixels. A reduction over the last dimension stays: it is part of a norm or a softmax along
    /// rows.
    fn reduce(&mut self, old: &HloInstruction, dimensions: &[u32]) -> Option<Location> {
        let before = self.first_turned(old)?;
        let rank = usize_to_u32(before.permutation.len());
        if dimensions == [rank - 1] {
            return None;
        }
        let kept: Vec<u32> = (0..rank).filter(|d| !dimensions.contains(d)).collect();
        let mut own = moved(dimensions, &before.permutation)?;
        own.order();
        if !moved(&kept, &before.permutation)?.is_sorted() {
            return None;
        }
        let Opcode::Reduce { kind, .. } = old.opcode else { return None };
        let opcode = Opcode::Reduce { kind, dimensions: own };
        Some(Location::Whole(self.push(HloInstruction { opcode, operands: vec![before.of], ..old.clone() }, false)))
    }

    fn concatenate(&mut self, old: &HloInstruction, dimension: u32) -> Option<Location> {
        let before = self.first_turned(old)?;
        let has_order = |o: &InstrId| match &self.old.instructions[*o].opcode {
            Opcode::Broadcast { dimensions } => dimensions.is_empty(),
            _ => self.turn_of(*o).is_some_and(|(_, p)| p == before.permutation),
        };
        if !old.operands.iter().all(has_order) {
            return None;
        }
        let opcode = Opcode::Concatenate { dimension: *before.permutation.get(dimension as usize)? };
        let mut operands = Vec::new();
        for &operand in &old.operands {
            operands.push(match self.turn_of(operand) {
                Some((of, _)) => of,
                None => self.filling(operand, &before),
            });
        }
        Some(self.behind(old, opcode, operands, &before))
    }

    /// A splat operand of a join, with its sizes in the order of dimensions before the transpose.
    fn filling(&mut self, id: InstrId, before: &Before) -> InstrId {
        let old = &self.old.instructions[id];
        let back = inverse(&before.permutation);
        let dims: Vec<u64> = back.iter().filter_map(|&p| old.shape.dims.get(p as usize).copied()).collect();
        let operands = old.operands.iter().map(|o| self.whole(*o)).collect();
        self.turns += 1;
        let name = format!("repeated.{}", self.turns);
        self.push(HloInstruction { name, operands, shape: Shape::new(old.shape.dtype, dims), ..old.clone() }, false)
    }

    /// A batched product contracts the dimension in the position where it lies, and its left side has the rows in the
    /// order that the reader wants.
    fn batched_dot(&mut self, id: InstrId, old: &HloInstruction, dims: &DotDims) -> Option<Location> {
        let &[left, right] = old.operands.as_slice() else { return None };
        let rank = dims.batch + 2;
        let (left, lhs_contracting) = self.unturned(left, dims.lhs_contracting, rank);
        let (right, rhs_contracting) = self.unturned(right, dims.rhs_contracting, rank);
        let last_moves = |reader: &InstrId| match &self.old.instructions[*reader].opcode {
            Opcode::Transpose { permutation } => permutation.last() != Some(&(rank - 1)),
            _ => false,
        };
        let is_swapped = !self.readers[id].is_empty() && self.readers[id].iter().all(last_moves);
        let mut shape = old.shape.clone();
        let (operands, dims) = if is_swapped {
            shape.dims.swap(rank as usize - 2, rank as usize - 1);
            let dims = DotDims { lhs_contracting: rhs_contracting, rhs_contracting: lhs_contracting, ..dims.clone() };
            (vec![right, left], dims)
        } else {
            (vec![left, right], DotDims { lhs_contracting, rhs_contracting, ..dims.clone() })
        };
        let new = self.push(HloInstruction { opcode: Opcode::Dot(dims), operands, shape, ..old.clone() }, false);
        if !is_swapped {
            return Some(Location::Whole(new));
        }
        let permutation = (0..rank - 2).chain([rank - 1, rank - 2]).collect();
        Some(Location::Turned(new, permutation))
    }

    /// A side of a batched product with its last two dimensions in the order in which they lie.
    fn unturned(&mut self, id: InstrId, contracting: u32, rank: u32) -> (InstrId, u32) {
        let last = rank as usize - 1;
        match self.turn_of(id) {
            Some((of, mut permutation))
                if permutation.len() == last + 1 && permutation[last - 1] > permutation[last] =>
            {
                permutation.swap(last - 1, last);
                let side = if is_identity(&permutation) { of } else { self.turned(of, permutation) };
                (side, if contracting + 1 == rank { rank - 2 } else { rank - 1 })
            }
            _ => (self.whole(id), contracting),
        }
    }
}

/// Dimensions of a transposed value as dimensions of the value before the transpose.
fn moved(dimensions: &[u32], permutation: &[u32]) -> Option<Vec<u32>> {
    dimensions.iter().map(|&d| permutation.get(d as usize).copied()).collect()
}
