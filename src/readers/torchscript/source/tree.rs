//! The content of a source file, as a tree.

use std::rc::Rc;

#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    Name(String),
    Int(i64),
    /// A floating point number.
    Float(f64),
    Text(String),
    Bool(bool),
    None,
    /// `x.name`.
    Attribute(Box<Expression>, String),
    /// `x[i]`.
    Item(Box<Expression>, Box<Expression>),
    /// `f(a, b, c=d)`.
    Call {
        callee: Box<Expression>,
        /// Arguments by position.
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
    Binary(PythonOperator, Box<Expression>, Box<Expression>),
    /// `a if condition else b`: condition, a, b.
    Choice(Box<Expression>, Box<Expression>, Box<Expression>),
}

/// An operator between two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PythonOperator {
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

/// The target of an assignment.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    Name(String),
    /// A field of an object: `self.x`.
    Attribute(Expression, String),
}

/// A statement with its line, from 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    pub line: u32,
    pub kind: StatementKind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum StatementKind {
    /// `a, b = value`; also whether the value is unpacked, which a comma after a single target does.
    Assign {
        targets: Vec<Target>,
        /// Whether a comma follows a target.
        unpacks: bool,
        value: Expression,
    },
    Evaluate(Expression),
    /// `return value`.
    Return(Expression),
    /// `if`.
    If {
        condition: Expression,
        /// Statements that run if it holds.
        then: Vec<Statement>,
        /// Statements that run if it does not hold.
        otherwise: Vec<Statement>,
    },
    /// `for name in items`.
    For {
        name: String,
        items: Expression,
        /// Statements that run each time.
        body: Vec<Statement>,
    },
    /// `while condition`.
    While,
    /// `pass`.
    Pass,
    /// An unsupported statement, by its first word.
    Other(String),
}

/// A function or a method.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScriptFunction {
    pub name: String,
    /// Its arguments with their types as written, including `self`.
    pub parameters: Vec<(String, String)>,
    pub body: Vec<Statement>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Class {
    pub name: String,
    /// Trained fields.
    pub parameters: Vec<String>,
    /// Tensor fields that are not trained.
    pub buffers: Vec<String>,
    /// Fields with a literal value: `out_features : Final[int] = 4`.
    pub constants: Vec<(String, Expression)>,
    pub methods: Vec<Rc<ScriptFunction>>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceFile {
    pub classes: Vec<Rc<Class>>,
    pub functions: Vec<Rc<ScriptFunction>>,
}
