//! Layer norms and softmaxes, found in the module before code is generated.
//!
//! HLO spells them out as reductions and elementwise work. Compiled one by one each of those would be a pass over the
//! whole tensor; the machine has instructions for the parts (statistics of a row in one pass, an activation that sums
//! what it writes), so they are recognised and emitted as one operation.

use crate::base::{FxHashMap, IndexVec};
use crate::compiler::hlo::{HloInstruction, HloModule, InstrId, Opcode, ReduceKind};

/// `exp(x - max(x)) / sum(...)` along the last dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Softmax {
    /// What it is taken of.
    pub of: InstrId,
    /// The maximum of each row.
    pub max: InstrId,
    /// The exponential of the difference.
    pub exponential: InstrId,
    /// The sum of each row.
    pub sum: InstrId,
    /// The result.
    pub result: InstrId,
}

/// `(x - mean) * rsqrt(variance + eps) * weight + bias` along the last dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LayerNorm {
    /// What it is taken of.
    pub of: InstrId,
    /// The sum of each row.
    pub sum: InstrId,
    /// The mean of each row.
    pub mean: InstrId,
    /// The row less its mean.
    pub centred: InstrId,
    /// Its square.
    pub square: InstrId,
    /// The sum of the squares.
    pub squares: InstrId,
    /// The reciprocal standard deviation.
    pub deviation: InstrId,
    /// The result, whose members scale by the weight and add the bias.
    pub result: InstrId,
}

/// What was found, by the first reduction of each.
#[derive(Debug, Default)]
pub(super) struct Idioms {
    pub softmaxes: FxHashMap<InstrId, Softmax>,
    pub layer_norms: FxHashMap<InstrId, LayerNorm>,
    /// Softmaxes by what they are taken of.
    pub softmax_of: FxHashMap<InstrId, Softmax>,
}

impl Idioms {
    /// Looks at every reduction of the last dimension.
    pub fn find(module: &HloModule, users: &IndexVec<InstrId, Vec<InstrId>>) -> Self {
        let mut found = Self::default();
        let matcher = Matcher { module, users };
        for (id, instruction) in module.instructions.iter_enumerated() {
            let Some(kind) = matcher.reduces_rows(instruction) else { continue };
            match kind {
                ReduceKind::Max => {
                    if let Some(softmax) = matcher.softmax(id) {
                        found.softmaxes.insert(id, softmax);
                        found.softmax_of.insert(softmax.of, softmax);
                    }
                }
                ReduceKind::Sum => {
                    if let Some(norm) = matcher.layer_norm(id) {
                        found.layer_norms.insert(id, norm);
                    }
                }
            }
        }
        found
    }
}

struct Matcher<'a> {
    module: &'a HloModule,
    users: &'a IndexVec<InstrId, Vec<InstrId>>,
}

impl Matcher<'_> {
    /// How an instruction reduces the last dimension of its operand, if it does.
    fn reduces_rows(&self, instruction: &HloInstruction) -> Option<ReduceKind> {
        let Opcode::Reduce { kind, dimensions } = &instruction.opcode else { return None };
        let rank = self.module.instructions[*instruction.operands.first()?].shape.rank();
        (rank > 1 && *dimensions == [rank as u32 - 1]).then_some(*kind)
    }

    fn softmax(&self, max: InstrId) -> Option<Softmax> {
        let of = self.operand(max)?;
        let exponential = self.only_user(max)?;
        if !self.is_made_of(exponential, &["broadcast", "subtract", "exponential"])
            || self.other(of, max) != Some(exponential)
        {
            return None;
        }
        let [first, second] = self.users[exponential].as_slice() else { return None };
        let is_sum = |id: InstrId| self.reduces_rows(&self.module.instructions[id]) == Some(ReduceKind::Sum);
        let (sum, result) = if is_sum(*first) { (*first, *second) } else { (*second, *first) };
        let divides = self.is_made_of(result, &["broadcast", "divide"]);
        (is_sum(sum) && divides && self.only_user(sum)? == result).then_some(Softmax {
            of,
            max,
            exponential,
            sum,
            result,
        })
    }

    fn layer_norm(&self, sum: InstrId) -> Option<LayerNorm> {
        let of = self.operand(sum)?;
        let mean = self.only_user(sum)?;
        let centred = self.only_user(mean)?;
        let centres = self.is_made_of(centred, &["broadcast", "subtract"]) && self.reads(centred, of);
        if !self.is_made_of(mean, &["broadcast", "multiply"]) || !centres {
            return None;
        }
        let square = self.users[centred].iter().copied().find(|u| self.is_square_of(*u, centred))?;
        let result = self.other(centred, square)?;
        let squares = self.only_user(square)?;
        let deviation = self.only_user(squares)?;
        let statistics = self.reduces_rows(&self.module.instructions[squares]) == Some(ReduceKind::Sum)
            && self.is_made_of(deviation, &["broadcast", "multiply", "broadcast", "add", "rsqrt"])
            && self.only_user(deviation)? == result;
        let affine = ["broadcast", "multiply", "broadcast", "multiply", "broadcast", "add"];
        (statistics && self.is_made_of(result, &affine)).then_some(LayerNorm {
            of,
            sum,
            mean,
            centred,
            square,
            squares,
            deviation,
            result,
        })
    }

    fn operand(&self, id: InstrId) -> Option<InstrId> {
        self.module.instructions[id].operands.first().copied()
    }

    fn reads(&self, id: InstrId, operand: InstrId) -> bool {
        self.module.instructions[id].operands.contains(&operand)
    }

    fn only_user(&self, id: InstrId) -> Option<InstrId> {
        match self.users[id].as_slice() {
            [user] if id != self.module.root => Some(*user),
            _ => None,
        }
    }

    /// The other of two users; one may read it twice.
    fn other(&self, id: InstrId, user: InstrId) -> Option<InstrId> {
        let mut others = self.users[id].iter().copied().filter(|u| *u != user);
        let other = others.next()?;
        (id != self.module.root && self.reads(user, id) && others.all(|u| u == other)).then_some(other)
    }

    fn is_square_of(&self, id: InstrId, of: InstrId) -> bool {
        let instruction = &self.module.instructions[id];
        matches!(instruction.opcode, Opcode::Multiply) && instruction.operands == [of, of]
    }

    /// Whether a fusion has exactly these members.
    fn is_made_of(&self, id: InstrId, names: &[&str]) -> bool {
        match &self.module.instructions[id].opcode {
            Opcode::Fusion(body) => body.members.iter().map(|m| m.opcode.name()).eq(names.iter().copied()),
            _ => false,
        }
    }
}
