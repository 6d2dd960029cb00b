//! A checked kernel: names are resolved to slots, types are known, and conversions are explicit.

use std::sync::Arc;

use super::parse::ast::BinaryOp;
use super::problem::Pos;
use super::types::{Scalar, Type};
use super::value::Value;

/// A checked source file.
#[derive(Clone, Debug)]
pub struct Program {
    /// Shared, so that a run in parts can keep its program at low cost.
    pub(crate) functions: Arc<[Function]>,
}

#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub name: String,
    pub pos: Pos,
    /// Types of its parameters, which are its first slots.
    pub parameters: Vec<Type>,
    pub returns: Type,
    /// The number of slots it needs.
    pub slots: usize,
    /// Whether it asks which processor runs it.
    pub divides: bool,
    pub body: Vec<Stmt>,
}

/// The role of a kernel function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Computes the result from the inputs.
    Forward,
    /// Computes the gradient of the input from the gradient of the result and the input.
    Backward,
}

impl Program {
    /// The kernel function for a role: of the functions that take only tensors and return one, the function with
    /// `forward` or `backward` in its name. If there is none, the forward kernel is the last function without
    /// `backward`.
    pub fn kernel(&self, role: Role) -> Option<KernelFunction<'_>> {
        let all: Vec<KernelFunction<'_>> = self.kernels().collect();
        let named = |word: &str| all.iter().find(|f| f.name().contains(word));
        let found = match role {
            Role::Backward => named("backward"),
            Role::Forward => named("forward").or_else(|| all.iter().rfind(|f| !f.name().contains("backward"))),
        };
        found.copied()
    }

    /// Whether a function asks which processor runs it: such a kernel divides its work among the processors.
    pub fn divides(&self) -> bool {
        self.functions.iter().any(|function| function.divides)
    }

    /// The kernel functions, in the order of the source: those that take only tensors and return one.
    pub fn kernels(&self) -> impl Iterator<Item = KernelFunction<'_>> {
        let takes_tensors = |f: &Function| {
            // A function made from a template is only called by a kernel.
            !f.name.contains('<')
                && matches!(f.returns, Type::Tensor { .. })
                && !f.parameters.is_empty()
                && f.parameters.iter().all(|p| matches!(p, Type::Tensor { .. }))
        };
        let all = self.functions.iter().enumerate().filter(move |(_, f)| takes_tensors(f));
        all.map(|(index, function)| KernelFunction { program: self, index, function })
    }

    /// The function with this name.
    pub(crate) fn named(&self, name: &str) -> Option<KernelFunction<'_>> {
        let index = self.functions.iter().position(|f| f.name == name)?;
        Some(KernelFunction { program: self, index, function: &self.functions[index] })
    }
}

/// A function that a library registers as an operator's kernel.
#[derive(Clone, Copy, Debug)]
pub struct KernelFunction<'a> {
    pub(crate) program: &'a Program,
    pub(crate) index: usize,
    pub(crate) function: &'a Function,
}

impl<'a> KernelFunction<'a> {
    pub fn name(&self) -> &'a str {
        &self.function.name
    }

    pub fn pos(&self) -> Pos {
        self.function.pos
    }

    /// The number of tensors it takes.
    pub fn inputs(&self) -> usize {
        self.function.parameters.len()
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Stmt {
    pub pos: Pos,
    pub kind: StmtKind,
}

#[derive(Clone, Debug)]
pub(crate) enum StmtKind {
    Expr(Expr),
    /// Starts the life of a variable, with or without a value.
    Declare {
        slot: usize,
        init: Option<Expr>,
    },
    /// An array on the stack.
    DeclareArray {
        slot: usize,
        of: Scalar,
        len: u64,
        init: Option<Vec<Expr>>,
    },
    Block(Vec<Stmt>),
    If {
        condition: Expr,
        then: Box<Stmt>,
        otherwise: Option<Box<Stmt>>,
    },
    /// Every loop; `do` tests after the body.
    Loop {
        init: Option<Box<Stmt>>,
        condition: Option<Expr>,
        step: Option<Expr>,
        body: Box<Stmt>,
        test_first: bool,
    },
    Break,
    Continue,
    Return(Option<Expr>),
}

#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub pos: Pos,
    pub ty: Type,
    pub kind: ExprKind,
}

/// The location of a value that is read or changed.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    /// A variable, and its name for messages.
    Local(usize, String),
    /// The memory that a pointer points to.
    Memory(Box<Expr>, Scalar),
    /// An element through a standard accessor: the accessor of the last dimension, and the index.
    Element(Box<Expr>, Box<Expr>),
}

#[derive(Clone, Debug)]
pub(crate) enum ExprKind {
    Const(Value),
    Load(Place),
    /// Stores a value; with an operator, the old value and this one are first combined in the type `meet`.
    Store {
        place: Place,
        of: Type,
        op: Option<(BinaryOp, Scalar)>,
        value: Box<Expr>,
    },
    /// `++` and `--` of a number or a pointer (`stride` bytes).
    Step {
        place: Place,
        of: Type,
        change: i64,
        after: bool,
    },
    Binary(BinaryOp, Scalar, Box<Expr>, Box<Expr>),
    Logic {
        and: bool,
        l: Box<Expr>,
        r: Box<Expr>,
    },
    Neg(Scalar, Box<Expr>),
    Not(Box<Expr>),
    BitNot(Scalar, Box<Expr>),
    Select(Box<Expr>, Box<Expr>, Box<Expr>),
    /// Evaluates the first for its effects, then the second.
    Comma(Box<Expr>, Box<Expr>),
    Convert {
        from: Scalar,
        to: Scalar,
        value: Box<Expr>,
    },
    /// Pointer plus or minus an integer times the size of its target.
    Offset {
        pointer: Box<Expr>,
        index: Box<Expr>,
        stride: i64,
    },
    /// Distance of two pointers in elements.
    Distance {
        l: Box<Expr>,
        r: Box<Expr>,
        stride: i64,
    },
    ComparePointers(BinaryOp, Box<Expr>, Box<Expr>),
    /// One more dimension of a standard accessor.
    Index(Box<Expr>, Box<Expr>),
    Call(usize, Vec<Expr>),
    Intrinsic(Intrinsic, Vec<Expr>),
}

/// Functions of one to three numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MathFunction {
    One(fn(f32) -> f32, fn(f64) -> f64),
    Two(fn(f32, f32) -> f32, fn(f64, f64) -> f64),
    Three(fn(f32, f32, f32) -> f32, fn(f64, f64, f64) -> f64),
}

impl MathFunction {
    /// The number of its arguments.
    pub const fn operands(self) -> usize {
        match self {
            Self::One(..) => 1,
            Self::Two(..) => 2,
            Self::Three(..) => 3,
        }
    }
}

/// A test of a float.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FloatKind {
    NotANumber,
    Infinite,
    Finite,
    Negative,
}

/// Functions of whole tensors.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TensorFunction {
    Math(MathFunction),
    Abs,
    /// Arithmetic, or `&` and `|`; for sums and differences, a third operand is a factor of the second.
    Arithmetic(BinaryOp),
    Clamp,
    BitNot,
}

/// A function of the custom operator interface.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Intrinsic {
    Numel,
    Dim,
    Size,
    SizesEqual,
    DTypesEqual,
    /// The size of a dimension that an accessor has not indexed yet.
    AccessorSize,
    DTypeOf,
    /// A new tensor: the sizes, then the element type and optionally the fill value.
    NewLike {
        filled: bool,
    },
    /// The same with the sizes as this many separate arguments.
    New {
        dims: u8,
        filled: bool,
    },
    Fill,
    Accessor {
        of: Scalar,
        dims: u8,
    },
    TcmAccessor,
    OpenStream {
        of: Scalar,
        writes: bool,
    },
    ReadStream,
    WriteStream,
    CloseStream,
    SetPolicy,
    TensorToTcm(Scalar),
    TcmToTensor(Scalar),
    TcmMalloc,
    TcmFree,
    DstTensor,
    CpuId,
    CpuCount,
    Math(MathFunction, Scalar),
    /// A function of whole tensors; with `out`, the first argument is the tensor that it writes.
    Elementwise {
        function: TensorFunction,
        out: bool,
    },
    /// The identity matrix: rows, columns, element type.
    Eye,
    /// A test of the kind of a float.
    Classify(FloatKind, Scalar),
    /// Absolute value, which is cheap.
    Abs(Scalar),
    Max(Scalar),
    Min(Scalar),
    Printf,
    Assert,
}
