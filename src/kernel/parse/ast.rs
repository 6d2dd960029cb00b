//! The syntax tree, before names and types are known.

use crate::problem::Pos;
use crate::types::Scalar;

/// A type as written, without pointer or array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BaseType {
    Void,
    Auto,
    Scalar(Scalar),
    Tensor,
    IntArrayRef,
}

/// A type as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TypeName {
    pub pos: Pos,
    pub base: BaseType,
    pub constant: bool,
    pub pointer: bool,
    pub reference: bool,
}

/// A function with its body.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub pos: Pos,
    pub name: String,
    pub returns: TypeName,
    pub parameters: Vec<(TypeName, String, Pos)>,
    pub body: Vec<Stmt>,
}

/// An item at the top level of a file.
#[derive(Clone, Debug)]
pub(crate) enum Item {
    Function(Function),
    Constant(Declarator),
}

/// One declared name.
#[derive(Clone, Debug)]
pub(crate) struct Declarator {
    pub pos: Pos,
    pub name: String,
    pub ty: TypeName,
    /// The length of an array; the inner option is `None` in `float a[] = {...}`.
    pub array: Option<Option<Expr>>,
    pub init: Option<Expr>,
}

#[derive(Clone, Debug)]
pub(crate) struct Stmt {
    pub pos: Pos,
    pub kind: StmtKind,
}

#[derive(Clone, Debug)]
pub(crate) enum StmtKind {
    Empty,
    Expr(Expr),
    Declare(Vec<Declarator>),
    Block(Vec<Stmt>),
    If { condition: Expr, then: Box<Stmt>, otherwise: Option<Box<Stmt>> },
    While { condition: Expr, body: Box<Stmt> },
    DoWhile { body: Box<Stmt>, condition: Expr },
    For { init: Box<Stmt>, condition: Option<Expr>, step: Option<Expr>, body: Box<Stmt> },
    Break,
    Continue,
    Return(Option<Expr>),
}

/// Operators of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
    LogicAnd,
    LogicOr,
}

impl BinaryOp {
    /// The operator in C++ source.
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Sub => "-",
            Self::Mul => "*",
            Self::Div => "/",
            Self::Rem => "%",
            Self::And => "&",
            Self::Or => "|",
            Self::Xor => "^",
            Self::Shl => "<<",
            Self::Shr => ">>",
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
            Self::Eq => "==",
            Self::Ne => "!=",
            Self::LogicAnd => "&&",
            Self::LogicOr => "||",
        }
    }

    /// Whether it returns a bool for two numbers.
    pub const fn compares(self) -> bool {
        matches!(self, Self::Lt | Self::Le | Self::Gt | Self::Ge | Self::Eq | Self::Ne)
    }
}

/// Operators with one operand and without side effects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnaryOp {
    Plus,
    Neg,
    Not,
    BitNot,
    Deref,
    Address,
}

/// An argument between `<` and `>`.
#[derive(Clone, Debug)]
pub(crate) enum TemplateArg {
    Type(TypeName),
    Int(u64),
}

#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub pos: Pos,
    pub kind: ExprKind,
    /// Levels of the tree, including this one.
    pub depth: u16,
}

#[derive(Clone, Debug)]
pub(crate) enum ExprKind {
    Int(u64, Scalar),
    Float(f64, Scalar),
    Bool(bool),
    Null,
    Text,
    /// A name, with its namespaces: `torch::kFloat`.
    Name(String),
    /// `{a, b}`
    List(Vec<Expr>),
    Unary(UnaryOp, Box<Expr>),
    /// `++` and `--`; the change, and whether the value is the one before the change.
    Step {
        target: Box<Expr>,
        change: i8,
        after: bool,
    },
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    Assign(Option<BinaryOp>, Box<Expr>, Box<Expr>),
    Ternary(Box<Expr>, Box<Expr>, Box<Expr>),
    Cast(TypeName, Box<Expr>),
    Call {
        name: String,
        template: Vec<TemplateArg>,
        arguments: Vec<Expr>,
    },
    Method {
        object: Box<Expr>,
        name: String,
        template: Vec<TemplateArg>,
        arguments: Vec<Expr>,
    },
    Index(Box<Expr>, Box<Expr>),
    SizeOf(TypeName),
    SizeOfValue(Box<Expr>),
    /// Evaluates the first for its effects, then the second.
    Comma(Box<Expr>, Box<Expr>),
}
