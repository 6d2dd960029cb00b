//! What a source file says, as a tree.

use std::rc::Rc;

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// A name.
    Name(String),
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
    /// A text.
    Text(String),
    /// A truth.
    Bool(bool),
    /// None.
    None,
    /// `x.name`.
    Attribute(Box<Expression>, String),
    /// `x[i]`.
    Item(Box<Expression>, Box<Expression>),
    /// `f(a, b, c=d)`.
    Call {
        /// What is called.
        callee: Box<Expression>,
        /// Arguments by place.
        arguments: Vec<Expression>,
        /// Arguments by name.
        named: Vec<(String, Expression)>,
    },
    /// `[a, b]`.
    List(Vec<Expression>),
    /// `(a, b)`.
    Tuple(Vec<Expression>),
    /// `{a: b}`.
    Map(Vec<(Expression, Expression)>),
    /// `-a`.
    Minus(Box<Expression>),
    /// `not a`.
    Not(Box<Expression>),
    /// `a + b`.
    Binary(Operator, Box<Expression>, Box<Expression>),
    /// `a if condition else b`: condition, a, b.
    Choice(Box<Expression>, Box<Expression>, Box<Expression>),
}

/// An operator between two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `or`.
    Or,
    /// `and`.
    And,
    /// `==`.
    Eq,
    /// `!=`.
    Ne,
    /// `<`.
    Lt,
    /// `<=`.
    Le,
    /// `>`.
    Gt,
    /// `>=`.
    Ge,
    /// `is`.
    Is,
    /// `is not`.
    IsNot,
    /// `+`.
    Add,
    /// `-`.
    Sub,
    /// `*`.
    Mul,
    /// `/`.
    Div,
    /// `//`.
    FloorDiv,
    /// `%`.
    Remainder,
}

/// What a value is put into.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// A name.
    Name(String),
    /// A field of an object: `self.x`.
    Attribute(Expression, String),
}

/// A statement with its line, from 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// Its line.
    pub line: u32,
    /// What it does.
    pub kind: StatementKind,
}

/// What a statement does.
#[derive(Clone, Debug, PartialEq)]
pub enum StatementKind {
    /// `a, b = value`; whether the value is unpacked, which one target alone does with a comma behind it.
    Assign {
        /// What is assigned.
        targets: Vec<Target>,
        /// Whether a comma stands behind a target.
        unpacks: bool,
        /// The value.
        value: Expression,
    },
    /// An expression alone.
    Evaluate(Expression),
    /// `return value`.
    Return(Expression),
    /// `if`.
    If {
        /// The condition.
        condition: Expression,
        /// What runs when it holds.
        then: Vec<Statement>,
        /// What runs when it does not.
        otherwise: Vec<Statement>,
    },
    /// `for name in items`.
    For {
        /// The name.
        name: String,
        /// What it runs over.
        items: Expression,
        /// What runs each time.
        body: Vec<Statement>,
    },
    /// `while condition`.
    While,
    /// `pass`.
    Pass,
    /// Something that is not read here, by its first word.
    Other(String),
}

/// A function or a method.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Its arguments with their types as they are written; those of `self` too.
    pub parameters: Vec<(String, String)>,
    /// Its statements.
    pub body: Vec<Statement>,
}

/// A class.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Class {
    /// Its name.
    pub name: String,
    /// Fields that are trained.
    pub parameters: Vec<String>,
    /// Fields that are tensors and not trained.
    pub buffers: Vec<String>,
    /// Fields with a value that is written: `out_features : Final[int] = 4`.
    pub constants: Vec<(String, Expression)>,
    /// Its methods.
    pub methods: Vec<Rc<Function>>,
}

/// A file of source.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceFile {
    /// Its classes.
    pub classes: Vec<Rc<Class>>,
    /// Its functions.
    pub functions: Vec<Rc<Function>>,
}
