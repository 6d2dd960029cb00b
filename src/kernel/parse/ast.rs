//! The syntax tree, before names and types are known.

use crate::problem::Pos;
use crate::types::Scalar;
use ns_base::names;

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
pub(crate) struct SyntaxFunction {
    pub pos: Pos,
    pub name: String,
    pub returns: TypeName,
    pub parameters: Vec<(TypeName, String, Pos)>,
    pub body: Vec<SyntaxStmt>,
}

/// An item at the top level of a file.
#[derive(Clone, Debug)]
pub(crate) enum Item {
    Function(SyntaxFunction),
    Constant(Declarator),
}

/// One declared name.
#[derive(Clone, Debug)]
pub(crate) struct Declarator {
    pub pos: Pos,
    pub name: String,
    pub ty: TypeName,
    /// The length of an array; the inner option is `None` in `float a[] = {...}`.
    pub array: Option<Option<SyntaxExpr>>,
    pub init: Option<SyntaxExpr>,
}

#[derive(Clone, Debug)]
pub(crate) struct SyntaxStmt {
    pub pos: Pos,
    pub kind: SyntaxStmtKind,
}

#[derive(Clone, Debug)]
pub(crate) enum SyntaxStmtKind {
    Empty,
    Expr(SyntaxExpr),
    Declare(Vec<Declarator>),
    Block(Vec<SyntaxStmt>),
    If { condition: SyntaxExpr, then: Box<SyntaxStmt>, otherwise: Option<Box<SyntaxStmt>> },
    While { condition: SyntaxExpr, body: Box<SyntaxStmt> },
    DoWhile { body: Box<SyntaxStmt>, condition: SyntaxExpr },
    For { init: Box<SyntaxStmt>, condition: Option<SyntaxExpr>, step: Option<SyntaxExpr>, body: Box<SyntaxStmt> },
    Break,
    Continue,
    Return(Option<SyntaxExpr>),
}

names! {
    /// Operators of two operands.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum BinaryOp {
        Add = "+",
        Sub = "-",
        Mul = "*",
        Div = "/",
        Rem = "%",
        And = "&",
        Or = "|",
        Xor = "^",
        Shl = "<<",
        Shr = ">>",
        Lt = "<",
        Le = "<=",
        Gt = ">",
        Ge = ">=",
        Eq = "==",
        Ne = "!=",
        LogicAnd = "&&",
        LogicOr = "||",
    }

    /// The operator in C++ source.
    pub const fn sign(self) -> &'static str;
    pub fn from_sign(sign: &str) -> Option<Self>;
}

impl BinaryOp {
    /// Of two operators, the one with the greater precedence takes its operands first.
    pub const fn precedence(self) -> u8 {
        match self {
            Self::LogicOr => 1,
            Self::LogicAnd => 2,
            Self::Or => 3,
            Self::Xor => 4,
            Self::And => 5,
            Self::Eq | Self::Ne => 6,
            Self::Lt | Self::Le | Self::Gt | Self::Ge => 7,
            Self::Shl | Self::Shr => 8,
            Self::Add | Self::Sub => 9,
            Self::Mul | Self::Div | Self::Rem => 10,
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
pub(crate) struct SyntaxExpr {
    pub pos: Pos,
    pub kind: SyntaxExprKind,
    /// Levels of the tree, including this one.
    pub depth: u16,
}

#[derive(Clone, Debug)]
pub(crate) enum SyntaxExprKind {
    Int(u64, Scalar),
    Float(f64, Scalar),
    Bool(bool),
    Null,
    Text,
    /// A name, with its namespaces: `torch::kFloat`.
    Name(String),
    /// `{a, b}`
    List(Vec<SyntaxExpr>),
    Unary(UnaryOp, Box<SyntaxExpr>),
    /// `++` and `--`; the change, and whether the value is the one before the change.
    Step {
        target: Box<SyntaxExpr>,
        change: i8,
        after: bool,
    },
    Binary(BinaryOp, Box<SyntaxExpr>, Box<SyntaxExpr>),
    Assign(Option<BinaryOp>, Box<SyntaxExpr>, Box<SyntaxExpr>),
    Ternary(Box<SyntaxExpr>, Box<SyntaxExpr>, Box<SyntaxExpr>),
    Cast(TypeName, Box<SyntaxExpr>),
    Call {
        name: String,
        template: Vec<TemplateArg>,
        arguments: Vec<SyntaxExpr>,
    },
    Method {
        object: Box<SyntaxExpr>,
        name: String,
        template: Vec<TemplateArg>,
        arguments: Vec<SyntaxExpr>,
    },
    Index(Box<SyntaxExpr>, Box<SyntaxExpr>),
    SizeOf(TypeName),
    SizeOfValue(Box<SyntaxExpr>),
    /// Evaluates the first for its effects, then the second.
    Comma(Box<SyntaxExpr>, Box<SyntaxExpr>),
}
