//! How the parameters of a program are used, followed through reshapes, calls and loops.

use std::rc::Rc;

use ns_base::Idx;
use ns_base::convert::usize_to_u32;
use ns_program::{
    ArrayType, Binary, Computation, ComputationId, DotDims, GatherDims, Instruction, InstructionId, Op, Program, Type,
    Unary,
};

/// Most instructions that are followed; the rest counts as mixed. Nested calls may be many.
const MOST_STEPS: u64 = 2_000_000;

/// Most levels of calls that are followed.
const MOST_CALLS: u32 = 100;

/// How often a parameter is used in each way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Evidence {
    /// The data side of a product, a convolution or a normalisation.
    pub data: u32,
    /// Mixed with other parameters before it becomes a data side.
    pub maybe_data: u32,
    /// Mixed, without repeated elements, with several parameters whose elements are repeated.
    pub whole: u32,
    /// The weight side of a product, a convolution or a normalisation.
    pub weight: u32,
    /// A running mean or variance.
    pub statistic: u32,
    /// A table that is indexed.
    pub table: u32,
    /// Indexes a parameter.
    pub index: u32,
    /// Indexes a parameter after it was cut to length.
    pub cut_index: u32,
    /// Indexes a computed value.
    pub active_index: u32,
    /// Multiplied after it was cut to length.
    pub cut_factor: u32,
    /// Indexes another parameter, with more elements than that parameter has rows.
    pub dense_index: u32,
    /// Combined with a computed value in another way.
    pub other: u32,
    /// Its rows are taken at fixed places, or at places from an array that was cut to length.
    pub positions: u32,
    /// The weight side of the last product.
    pub is_last: bool,
}

impl Evidence {
    /// Whether any use is the use of a weight.
    pub(super) fn is_of_weight(&self) -> bool {
        self.weight + self.statistic + self.table + self.cut_factor + self.other > 0
    }
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq)]
enum Label {
    /// Constants and single numbers.
    Fixed,
    /// One parameter: whether none of its elements was repeated, and whether some were cut off.
    Alone {
        parameter: u32,
        is_kept: bool,
        is_cut: bool,
    },
    /// Several parameters.
    Many(Rc<[u32]>),
    /// A computed value: a product or rows of a table are in it.
    Active,
    Tuple(Rc<[Label]>),
}

/// Evidence for each parameter of the entry.
pub(super) fn evidence(program: &Program) -> Vec<Evidence> {
    let evidence = vec![Evidence::default(); program.parameters.len()];
    let mut walk = Walk { program, evidence, steps: MOST_STEPS, loops: 0, last: None };
    let arguments = program.parameters.iter().enumerate().map(|(i, p)| match p.ty.dims.is_empty() {
        true => Label::Fixed,
        false => Label::Alone { parameter: usize_to_u32(i), is_kept: true, is_cut: false },
    });
    let arguments: Vec<Label> = arguments.collect();
    walk.computation(program.entry, &arguments, MOST_CALLS);
    if let Some(last) = walk.last.and_then(|p| walk.evidence.get_mut(p as usize)) {
        last.is_last = true;
    }
    walk.evidence
}

struct Walk<'a> {
    program: &'a Program,
    evidence: Vec<Evidence>,
    steps: u64,
    /// Loops around the current computation.
    loops: u32,
    /// The parameter that is the weight side of the last product so far.
    last: Option<u32>,
}

impl Walk<'_> {
    fn computation(&mut self, id: ComputationId, arguments: &[Label], depth: u32) -> Label {
        let program = self.program;
        let Some(computation) = program.computations.get(id) else { return Label::Active };
        let Some(depth) = depth.checked_sub(1) else { return Label::Active };
        let mut labels: Vec<Label> = Vec::with_capacity(computation.instructions.len());
        for instruction in computation.instructions.iter() {
            self.steps = self.steps.saturating_sub(1);
            let label = if self.steps == 0 {
                Label::Active
            } else if let Op::Parameter(n) = instruction.op {
                arguments.get(n as usize).cloned().unwrap_or(Label::Active)
            } else {
                self.folded_mean(computation, instruction, &labels);
                self.mean_of_inputs(computation, instruction, &labels);
                let operands: Vec<Label> = instruction.operands.iter().map(|o| labels[o.index()].clone()).collect();
                self.instruction(computation, instruction, &operands, depth)
            };
            labels.push(label);
        }
        labels.get(computation.root.index()).cloned().unwrap_or(Label::Active)
    }

    fn instruction(&mut self, within: &Computation, instruction: &Instruction, labels: &[Label], depth: u32) -> Label {
        let first = || labels.first().cloned().unwrap_or(Label::Fixed);
        match &instruction.op {
            Op::Constant(_) | Op::ElidedConstant | Op::Iota { .. } | Op::Rng { .. } => Label::Fixed,
            Op::Tuple => Label::Tuple(labels.into()),
            Op::GetTupleElement(k) => match first() {
                Label::Tuple(parts) => parts.get(*k as usize).cloned().unwrap_or(Label::Active),
                other => other,
            },
            Op::Call => match instruction.called.first() {
                Some(&callee) => self.computation(callee, labels, depth),
                None => Label::Active,
            },
            Op::While => self.turn(instruction, &first(), depth),
            Op::Broadcast { .. } if grows(within, instruction) => repeated(first()),
            // One layer of a stack, of which a loop takes one in each turn.
            Op::DynamicSlice { sizes } if self.loops > 0 && is_one_of_stack(within, instruction, sizes) => first(),
            Op::Slice { .. } | Op::DynamicSlice { .. } => cut(first()),
            Op::Unary(Unary::Rsqrt | Unary::Sqrt) => self.root(first()),
            Op::Unary(_)
            | Op::Convert
            | Op::BitcastConvert
            | Op::ReducePrecision { .. }
            | Op::Broadcast { .. }
            | Op::Reshape
            | Op::Transpose { .. }
            | Op::Reverse { .. }
            | Op::Pad { .. }
            | Op::Barrier => first(),
            Op::Binary(f) => self.binary(*f, labels),
            Op::Dot(dims) => self.dot(is_for_each_sample(within, instruction, dims), labels),
            Op::Convolution { .. } => self.product(labels, true),
            Op::BatchNormInference { .. } | Op::BatchNormTraining { .. } | Op::BatchNormGrad { .. } => {
                self.norm(labels)
            }
            Op::Gather(dims) => self.gather(dims, labels),
            // A cache: new rows are written into an array that the caller keeps.
            Op::DynamicUpdateSlice if labels.get(1) == Some(&Label::Active) => {
                self.data(&first());
                Label::Active
            }
            Op::Scatter(_) => self.scatter(labels),
            Op::CustomCall(call) if call.name.contains("TransferWithStaticRing") || call.name.contains("Marker") => {
                first()
            }
            Op::CustomCall(_) => self.norm(labels),
            Op::Collective(_) | Op::Opaque(_) | Op::Conditional => Label::Active,
            _ => self.mixed(labels, false),
        }
    }

    /// One turn of a loop: a value that the body passes on unchanged keeps its label.
    fn turn(&mut self, instruction: &Instruction, start: &Label, depth: u32) -> Label {
        let Some(&body) = instruction.called.get(1) else { return Label::Active };
        self.loops += 1;
        let end = self.computation(body, std::slice::from_ref(start), depth);
        self.loops -= 1;
        match (start, end) {
            (Label::Tuple(start), Label::Tuple(end)) => {
                let same = |(a, b): (&Label, &Label)| if a == b { a.clone() } else { Label::Active };
                Label::Tuple(start.iter().zip(end.iter()).map(same).collect())
            }
            _ => Label::Active,
        }
    }

    fn note(&mut self, label: &Label, what: impl Fn(&mut Evidence)) {
        if let Label::Alone { parameter, .. } = label
            && let Some(slot) = self.evidence.get_mut(*parameter as usize)
        {
            what(slot);
        }
    }

    /// A parameter that is subtracted from a computed value is a mean: biases are added.
    fn binary(&mut self, f: Binary, labels: &[Label]) -> Label {
        if let (Binary::Sub, [Label::Active, mean]) = (f, labels) {
            self.note(mean, |seen| seen.statistic += 1);
        }
        self.mixed(labels, f == Binary::Mul)
    }

    /// Keras writes a norm as `x * factor + (offset - mean * factor)`, where the factor holds the root of a variance: the other
    /// row in that product is the mean.
    fn folded_mean(&mut self, within: &Computation, instruction: &Instruction, labels: &[Label]) {
        let (Op::Binary(Binary::Sub), [offset, product]) = (&instruction.op, &instruction.operands[..]) else { return };
        let product = match within.instructions.get(*product) {
            Some(product) if product.op == Op::Binary(Binary::Mul) => product,
            _ => return,
        };
        let of = |id: &InstructionId| labels.get(id.index()).unwrap_or(&Label::Active);
        let [one, other] = &product.operands[..] else { return };
        if !matches!(of(offset), Label::Alone { .. } | Label::Fixed) {
            return;
        }
        for (mean, factor) in [(of(one), of(other)), (of(other), of(one))] {
            if !self.holds_variance(mean) && self.holds_variance(factor) {
                self.note(mean, |seen| seen.statistic += 1);
            }
        }
    }

    /// Keras puts its inputs into a common scale as `(x - mean) / max(sqrt(variance), c)`.
    fn mean_of_inputs(&mut self, within: &Computation, instruction: &Instruction, labels: &[Label]) {
        let (Op::Binary(Binary::Div), [centred, spread]) = (&instruction.op, &instruction.operands[..]) else { return };
        let of = |id: &InstructionId| labels.get(id.index()).unwrap_or(&Label::Active);
        let centred = within.instructions.get(*centred).filter(|centred| centred.op == Op::Binary(Binary::Sub));
        let (Some([_, mean]), true) = (centred.map(|c| &c.operands[..]), self.holds_variance(of(spread))) else {
            return;
        };
        if !self.holds_variance(of(mean)) {
            self.note(of(mean), |seen| seen.statistic += 1);
        }
    }

    fn holds_variance(&self, label: &Label) -> bool {
        let is_statistic = |p: u32| self.evidence.get(p as usize).is_some_and(|seen| seen.statistic > 0);
        match label {
            Label::Alone { parameter, .. } => is_statistic(*parameter),
            Label::Many(members) => members.iter().any(|&p| is_statistic(p)),
            Label::Fixed | Label::Active | Label::Tuple(_) => false,
        }
    }

    /// A row whose root is taken, and which is used in no other way, is a variance. The root of a matrix is a length: a normalised weight is
    /// divided by it.
    fn root(&mut self, label: Label) -> Label {
        let sizes = |p: u32| self.program.parameters.get(p as usize).map(|p| p.ty.dims.as_slice()).unwrap_or_default();
        let is_row = |p: u32| sizes(p).iter().filter(|&&n| n > 1).count() <= 1;
        if matches!(label, Label::Alone { parameter, .. } if is_row(parameter)) {
            self.note(&label, |seen| seen.statistic += 1);
        }
        label
    }

    /// Values that are combined element by element.
    fn mixed(&mut self, labels: &[Label], is_product: bool) -> Label {
        if labels.contains(&Label::Active) {
            for label in labels {
                let is_cut = matches!(label, Label::Alone { is_cut: true, .. });
                self.note(label, |seen| {
                    *(if is_cut && is_product { &mut seen.cut_factor } else { &mut seen.other }) += 1;
                    seen.positions += u32::from(is_cut && !is_product);
                });
            }
            return Label::Active;
        }
        let whole: Vec<&Label> = labels.iter().filter(|l| matches!(l, Label::Alone { is_kept: true, .. })).collect();
        let mut members: Vec<u32> = Vec::new();
        for label in labels {
            match label {
                Label::Alone { parameter, .. } => members.push(*parameter),
                Label::Many(more) => members.extend(more.iter()),
                Label::Tuple(_) => return Label::Active,
                Label::Fixed | Label::Active => {}
            }
        }
        members.sort_unstable();
        members.dedup();
        match (&members[..], &whole[..]) {
            ([], _) => Label::Fixed,
            ([_], _) => labels
                .iter()
                .find(|l| matches!(l, Label::Alone { .. } | Label::Many(_)))
                .cloned()
                .unwrap_or(Label::Fixed),
            (_, [one]) if !labels.iter().any(|l| matches!(l, Label::Many(_))) => (*one).clone(),
            (_, whole) => {
                if let [one] = whole {
                    self.note(one, |seen| seen.whole += 1);
                }
                Label::Many(members.into())
            }
        }
    }

    /// Writes new elements at fixed places of an array. Both arrays are data, unless one was computed.
    fn scatter(&mut self, labels: &[Label]) -> Label {
        let [into, Label::Fixed, new] = labels else { return Label::Active };
        if *into == Label::Active || *new == Label::Active {
            return Label::Active;
        }
        self.data(into);
        self.data(new);
        self.mixed(&[into.clone(), new.clone()], false)
    }

    /// A product of matrices, perhaps one for each sample.
    fn dot(&mut self, is_for_each_sample: bool, labels: &[Label]) -> Label {
        if let [left, Label::Fixed] = labels {
            // A product with constants turns a parameter into other numbers: frequencies and positions into angles.
            return cut(left.clone());
        }
        if is_for_each_sample && !labels.iter().any(is_computed_or_repeated) {
            // Both sides have a part for each sample: queries and keys.
            labels.iter().for_each(|label| self.data(label));
            return Label::Active;
        }
        self.product(labels, false)
    }

    /// A product of a data side and a weight side. A parameter that multiplies a computed value is a weight on either side.
    fn product(&mut self, labels: &[Label], is_convolution: bool) -> Label {
        let [left, right] = labels else { return Label::Active };
        self.last = if let Label::Alone { parameter, .. } = right { Some(*parameter) } else { None };
        if *right == Label::Active && !is_convolution {
            self.note(left, |seen| seen.weight += 1);
        } else {
            self.data(left);
        }
        self.note(right, |seen| seen.weight += 1);
        Label::Active
    }

    /// Notes that a value is input data.
    fn data(&mut self, label: &Label) {
        self.note(label, |seen| seen.data += 1);
        self.note_many(label);
    }

    fn note_many(&mut self, label: &Label) {
        if let Label::Many(members) = label {
            for &member in members.iter() {
                if let Some(slot) = self.evidence.get_mut(member as usize) {
                    slot.maybe_data += 1;
                }
            }
        }
    }

    /// A normalisation: data, scale and offset, and optional statistics.
    fn norm(&mut self, labels: &[Label]) -> Label {
        for (i, label) in labels.iter().enumerate() {
            match i {
                0 => self.data(label),
                1 | 2 => self.note(label, |seen| seen.weight += 1),
                _ => self.note(label, |seen| seen.statistic += 1),
            }
        }
        Label::Active
    }

    /// Takes rows of a table. Rows at fixed places are only rearranged; a table with a part for each sample is data.
    fn gather(&mut self, how: &GatherDims, labels: &[Label]) -> Label {
        let [table, index] = labels else { return Label::Active };
        if *index == Label::Fixed {
            self.note(table, |seen| seen.positions += 1);
            return cut(table.clone());
        }
        if !how.operand_batching_dims.is_empty() {
            self.data(table);
            return Label::Active;
        }
        let is_active = *table == Label::Active;
        let is_cut = matches!(index, Label::Alone { is_cut: true, .. });
        let dims = |label: &Label| match label {
            Label::Alone { parameter, .. } => self.program.parameters.get(*parameter as usize).map(|p| &p.ty),
            _ => None,
        };
        let rows = dims(table).and_then(|ty| ty.dims.first().copied());
        let is_dense = rows.is_some_and(|rows| dims(index).and_then(ArrayType::elements).is_some_and(|n| n > rows));
        self.note(table, |seen| {
            seen.table += 1;
            seen.positions += u32::from(is_cut);
        });
        self.note(index, |seen| {
            match (is_active, is_cut) {
                (true, _) => seen.active_index += 1,
                (_, true) => seen.cut_index += 1,
                _ => seen.index += 1,
            }
            seen.dense_index += u32::from(is_dense && !is_cut);
        });
        Label::Active
    }
}

/// Whether a slice takes one of the first dimension and all of the others.
fn is_one_of_stack(within: &Computation, instruction: &Instruction, sizes: &[u64]) -> bool {
    let operand = instruction.operands.first().and_then(|o| within.instructions.get(*o));
    let dims = operand.and_then(|o| o.ty.array()).map(|ty| ty.dims.as_slice()).unwrap_or_default();
    dims.len() > 1 && dims.len() == sizes.len() && sizes[0] == 1 && sizes[1..] == dims[1..]
}

/// Whether a product has a separate pair of matrices for each sample.
fn is_for_each_sample(within: &Computation, instruction: &Instruction, dims: &DotDims) -> bool {
    let left = instruction.operands.first().and_then(|o| within.instructions.get(*o)).and_then(|o| o.ty.array());
    left.is_some_and(|ty| dims.lhs_batch.iter().any(|&d| ty.dims.get(d as usize).is_some_and(|&n| n > 1)))
}

/// Whether a value was computed, or is repeated for each sample as a weight is.
fn is_computed_or_repeated(label: &Label) -> bool {
    matches!(label, Label::Active | Label::Alone { is_kept: false, .. })
}

/// Whether a broadcast repeats elements.
fn grows(within: &Computation, instruction: &Instruction) -> bool {
    let size = |ty: &Type| ty.array().and_then(ArrayType::elements);
    let operand = instruction.operands.first().and_then(|o| within.instructions.get(*o));
    operand.is_some_and(|o| size(&o.ty) != size(&instruction.ty))
}

fn repeated(label: Label) -> Label {
    match label {
        Label::Alone { parameter, is_cut, .. } => Label::Alone { parameter, is_kept: false, is_cut },
        other => other,
    }
}

fn cut(label: Label) -> Label {
    match label {
        Label::Alone { parameter, is_kept, .. } => Label::Alone { parameter, is_kept, is_cut: true },
        other => other,
    }
}
