//! The builder itself: computations under construction, parameters, constants.

use rustc_hash::FxHashMap;

use super::super::prune;
use super::super::{
    ArrayType, Binary, Computation, ComputationId, ElementType, Foreign, Instruction, InstructionId, Numbers, Op,
    Origin, Program, ProgramParameter, Type, Value,
};
use super::fold::{fold, fold_reduction};
use ns_base::convert::{self, f64_to_i64};
use ns_base::{Idx, IndexVec};
use ns_base::{Refusal, refuse};

/// A value of the computation under construction.
pub type Built = Result<InstructionId, Refusal>;

/// Most instructions of a program: a bound for hostile files, which can request very many with a few bytes.
const MAX_INSTRUCTIONS: usize = 2_000_000;

/// Most bytes of an origin that are kept: files may have names of a megabyte, and each instruction carries its origin.
const MAX_ORIGIN_BYTES: usize = 600;

/// A computation under construction.
#[derive(Debug, Default)]
struct Frame {
    name: String,
    /// Its instructions so far.
    instructions: IndexVec<InstructionId, Instruction>,
    /// Parameters so far.
    parameters: u32,
    /// Its constants of one number so far, by element type and bits.
    numbers: FxHashMap<(ElementType, u64), InstructionId>,
}

/// Builds a [`Program`].
#[derive(Debug)]
pub struct Builder {
    /// Finished computations.
    computations: IndexVec<ComputationId, Computation>,
    /// The computation under construction is last; before it are the computations that wait for it.
    frames: Vec<Frame>,
    /// Parameters of the entry.
    parameters: Vec<ProgramParameter>,
    /// Origin of the next instructions.
    origin: Origin,
    /// Name stem of the next instructions.
    stem: String,
    /// Computations of two numbers that reductions call.
    pub(super) reducers: FxHashMap<(Binary, ElementType), ComputationId>,
    /// Instructions in all computations.
    count: usize,
    /// Whether operations on small constants are folded into constants.
    folds: bool,
}

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}

impl Builder {
    /// A builder whose entry computation is open.
    pub fn new() -> Self {
        Self {
            computations: IndexVec::new(),
            frames: vec![Frame { name: "main".to_owned(), ..Frame::default() }],
            parameters: Vec::new(),
            origin: Origin::default(),
            stem: "value".to_owned(),
            reducers: FxHashMap::default(),
            count: 0,
            folds: false,
        }
    }

    /// Sets whether operations on small constants are folded into constants. Graphs compute their own sizes this way. Off at first.
    pub fn fold_constants(&mut self, folds: bool) {
        self.folds = folds;
    }

    /// The constant that an operation on constants gives; `None` if an operand is not a constant.
    fn folded(&self, op: &Op, operands: &[InstructionId], called: &[ComputationId], ty: &Type) -> Option<Value> {
        if matches!(op, Op::Constant(_) | Op::Parameter(_)) {
            return None;
        }
        let known = |id: &InstructionId| match &self.instruction(*id)?.op {
            Op::Constant(value) => Some(&**value),
            _ => None,
        };
        let values: Vec<&Value> = operands.iter().map(known).collect::<Option<_>>()?;
        match (op, values.as_slice()) {
            (Op::Reduce { dimensions }, [x, first]) => {
                let with = self.reducers.iter().find(|(_, id)| called == [**id])?.0.0;
                fold_reduction(with, x, first, dimensions, ty.array()?)
            }
            _ => fold(op, &values, ty.array()?),
        }
    }

    /// Sets the origin of the next instructions. Long names are cut.
    pub fn set_origin(&mut self, op: &str, scope: &str) {
        self.origin = Origin { op: head(op).to_owned(), scope: head(scope).to_owned() };
        let last = self.origin.op.rsplit(':').next().unwrap_or_default();
        let stem: String = last.chars().take(60).map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        self.stem = if stem.is_empty() { "value".to_owned() } else { stem.to_ascii_lowercase() };
    }

    /// The origin of the next instructions.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Appends an instruction whose result type is known. The typed pushes use it. Fails when a result has more elements than 64
    /// bits count, or when the program becomes too large.
    pub fn push(&mut self, op: Op, operands: Vec<InstructionId>, called: Vec<ComputationId>, ty: Type) -> Built {
        check_size(&ty)?;
        if self.folds
            && let Some(value) = self.folded(&op, &operands, &called, &ty)
        {
            return self.constant(value);
        }
        self.count += 1;
        if self.count > MAX_INSTRUCTIONS {
            return Err(refuse!("the program has more than {MAX_INSTRUCTIONS} instructions"));
        }
        let frame = self.frame_mut();
        if let Some(bad) = operands.iter().find(|o| o.index() >= frame.instructions.len()) {
            return Err(refuse!("operand {} is not of this computation", bad.index()));
        }
        let name = format!("{}.{}", self.stem, self.frame().instructions.len());
        let origin = self.origin.clone();
        Ok(self.frame_mut().instructions.push(Instruction { name, op, operands, called, ty, origin }))
    }

    /// Appends an instruction that gives an array. Fails as [`Self::push`].
    pub fn push_array(
        &mut self,
        op: Op,
        operands: Vec<InstructionId>,
        element: ElementType,
        dims: impl Into<Vec<u64>>,
    ) -> Built {
        self.push(op, operands, vec![], Type::Array(ArrayType::new(element, dims)))
    }

    /// A parameter of the entry computation. Fails as [`Self::push`].
    pub fn parameter(&mut self, parameter: ProgramParameter) -> Built {
        let ty = Type::Array(parameter.ty.clone());
        self.parameters.push(parameter);
        self.next_parameter(ty)
    }

    /// The next parameter of the computation under construction.
    fn next_parameter(&mut self, ty: Type) -> Built {
        let frame = self.frame_mut();
        let number = frame.parameters;
        frame.parameters += 1;
        self.push(Op::Parameter(number), vec![], vec![], ty)
    }

    /// A separate computation: `body` gets its parameters and returns its result. Values of the caller are not visible in it. Fails
    /// when `body` fails.
    pub fn computation(
        &mut self,
        name: &str,
        parameters: &[Type],
        body: impl FnOnce(&mut Self, &[InstructionId]) -> Built,
    ) -> Result<ComputationId, Refusal> {
        self.frames.push(Frame { name: format!("{name}.{}", self.computations.len()), ..Frame::default() });
        let built = self.fill(parameters, body);
        let frame = self.frames.pop().unwrap_or_default();
        let root = built?;
        Ok(self.computations.push(Computation { name: frame.name, instructions: frame.instructions, root }))
    }

    /// Parameters and body of the computation under construction.
    fn fill(&mut self, parameters: &[Type], body: impl FnOnce(&mut Self, &[InstructionId]) -> Built) -> Built {
        let mut ids = Vec::with_capacity(parameters.len());
        for ty in parameters {
            ids.push(self.next_parameter(ty.clone())?);
        }
        body(self, &ids)
    }

    /// Type of a value of the computation under construction.
    pub fn type_of(&self, id: InstructionId) -> &Type {
        self.frame().instructions.get(id).map_or(&Type::Token, |i| &i.ty)
    }

    /// Array type of a value. Fails when it is a tuple or a token.
    pub fn array(&self, id: InstructionId) -> Result<&ArrayType, Refusal> {
        self.type_of(id).array().ok_or_else(|| refuse!("an array is wanted, not {}", self.type_of(id)))
    }

    /// Sizes of an array; empty for a tuple.
    pub fn dims(&self, id: InstructionId) -> Vec<u64> {
        self.type_of(id).array().map(|a| a.dims.clone()).unwrap_or_default()
    }

    /// Number of dimensions of an array.
    pub fn rank(&self, id: InstructionId) -> usize {
        self.type_of(id).array().map_or(0, |a| a.dims.len())
    }

    /// Element type of an array; [`ElementType::F32`] for a tuple.
    pub fn element(&self, id: InstructionId) -> ElementType {
        self.type_of(id).array().map_or(ElementType::F32, |a| a.element)
    }

    /// The instruction that gives a value of the computation under construction.
    pub fn instruction(&self, id: InstructionId) -> Option<&Instruction> {
        self.frame().instructions.get(id)
    }

    /// Numbers as a constant. Fails when there are more or fewer of them than the type has elements.
    pub fn constant(&mut self, value: Value) -> Built {
        if value.ty.elements() != Some(value.numbers.len() as u64) {
            return Err(refuse!("{} numbers do not make {}", value.numbers.len(), value.ty));
        }
        let ty = Type::Array(value.ty.clone());
        self.push(Op::Constant(Box::new(value)), vec![], vec![], ty)
    }

    /// One number of any element type: integer types round towards zero; for booleans, every number except 0 is true. Fails as
    /// [`Self::push`].
    pub fn number(&mut self, element: ElementType, value: f64) -> Built {
        let key = (element, value.to_bits());
        if let Some(&id) = self.frame().numbers.get(&key) {
            return Ok(id);
        }
        let id = self.constant(number_of(element, value))?;
        self.frame_mut().numbers.insert(key, id);
        Ok(id)
    }

    /// One integer, exact in all 64 bits. Fails as [`Self::push`].
    pub fn whole(&mut self, element: ElementType, value: i64) -> Built {
        self.constant(Value::whole(element, value))
    }

    /// A one-dimensional array of integers. Fails as [`Self::push`].
    pub fn whole_row(&mut self, element: ElementType, values: &[i64]) -> Built {
        let ty = ArrayType::new(element, [values.len() as u64]);
        self.constant(Value { ty, numbers: Numbers::Whole(values.to_vec()) })
    }

    /// An array filled with one number. Fails as [`Self::push`].
    pub fn full(&mut self, element: ElementType, dims: &[u64], value: f64) -> Built {
        let one = self.number(element, value)?;
        self.broadcast_to(one, dims)
    }

    /// An operation without a known meaning; its result types are known. Several results are a tuple. Fails as [`Self::push`].
    pub fn opaque(&mut self, name: &str, config: &str, operands: &[InstructionId], ty: Type) -> Built {
        let foreign = Foreign { name: head(name).to_owned(), config: head(config).to_owned() };
        self.push(Op::Opaque(foreign), operands.to_vec(), vec![], ty)
    }

    /// The program: its result is `outputs`, a tuple unless there is exactly one. Instructions that no result depends on are left out, except
    /// parameters. Fails as [`Self::push`].
    pub fn finish(mut self, name: &str, outputs: &[InstructionId]) -> Result<Program, Refusal> {
        let root = match outputs {
            [one] => *one,
            many => self.tuple(many)?,
        };
        let frame = self.frames.pop().unwrap_or_default();
        let main = Computation { name: frame.name, instructions: frame.instructions, root };
        let mut computations = self.computations;
        let entry = computations.push(main);
        let program = Program { name: name.to_owned(), computations, entry, parameters: self.parameters };
        Ok(prune(program))
    }

    fn frame(&self) -> &Frame {
        &self.frames[self.frames.len() - 1]
    }

    fn frame_mut(&mut self) -> &mut Frame {
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }
}

/// One number of an element type.
pub(super) fn number_of(element: ElementType, value: f64) -> Value {
    let ty = ArrayType::new(element, []);
    let numbers = match element {
        ElementType::Pred => Numbers::Whole(vec![i64::from(value != 0.0)]),
        e if e.is_complex() => Numbers::Complex(vec![[value, 0.0]]),
        e if e.is_float() => Numbers::Real(vec![value]),
        // A cast of a float saturates.
        ElementType::U64 => Numbers::Whole(vec![convert::f64_to_u64(value).cast_signed()]),
        _ => Numbers::Whole(vec![f64_to_i64(value)]),
    };
    Value { ty, numbers }
}

/// The first bytes of a name, cut between characters.
fn head(name: &str) -> &str {
    let mut end = name.len().min(MAX_ORIGIN_BYTES);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    &name[..end]
}

fn check_size(ty: &Type) -> Result<(), Refusal> {
    match ty {
        Type::Array(array) => match array.elements().and_then(|n| n.checked_mul(16)) {
            Some(_) => Ok(()),
            None => Err(refuse!("{array} has more bytes than 64 bits count")),
        },
        Type::Tuple(parts) => parts.iter().try_for_each(check_size),
        Type::Token => Ok(()),
    }
}
