//! Why a node cannot be read.

use std::borrow::Cow;

use thiserror::Error;

use super::super::ImportError;
use super::super::program::BuildError;
use super::fault::Fault;

/// Why a node cannot be read, without its place.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum OpError {
    /// A node that breaks the rules of its operator, or that uses it in a way that is not known.
    #[error("{op} {fault}")]
    Node {
        /// The operator.
        op: String,
        /// What is wrong.
        fault: Fault,
    },
    /// An operand of another kind.
    #[error("operand {at} of {op} {kind}")]
    Operand {
        /// The operator.
        op: String,
        /// The operand's number.
        at: usize,
        /// What is wrong, with its verb.
        kind: &'static str,
    },
    /// An operand whose numbers are only known when the model runs.
    #[error("operand {at} of {op} depends on numbers that are known only when the model runs")]
    UnknownOperand {
        /// The operator.
        op: String,
        /// The operand's number.
        at: usize,
    },
    /// An attribute of another kind.
    #[error("attribute {name} of {op} has to be {kind}")]
    Attribute {
        /// The operator.
        op: String,
        /// The attribute.
        name: String,
        /// What it has to be.
        kind: &'static str,
    },
    /// A result whose size depends on data.
    #[error("the size of {0}'s result depends on the input")]
    ResultSize(String),
    /// A use of an operator that has no fixed sizes.
    #[error("{op} {uses}")]
    Open {
        /// The operator.
        op: String,
        /// The use, with its verb.
        uses: &'static str,
    },
    /// An element type that a NeuronCore does not compute with, by ONNX's number.
    #[error("a NeuronCore does not compute with the element type {0}")]
    Element(i64),
    /// Numbers that are taken as sizes.
    #[error("{0:?} are not sizes")]
    Sizes(Vec<i64>),
    /// An operator that is not known, whose result has no type.
    #[error("the operator {0} is not known, and the file does not give the type of its result")]
    Unknown(String),
    /// An operator on text.
    #[error("{0} works with text, which no NeuronCore has")]
    Text(String),
    /// An operator on a layout of onnxruntime.
    #[error("{0} works on the blocked layout that onnxruntime uses on one kind of processor")]
    Blocked(String),
    /// A branch or a loop that is not written out.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// Operands that do not fit.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// An array of the file that cannot be used.
    #[error("{}", .0.kind)]
    Array(Box<ImportError>),
}

impl OpError {
    /// A node that breaks the rules of the operator `op`.
    pub fn of(op: &str, fault: Fault) -> Self {
        Self::Node { op: op.to_owned(), fault }
    }

    /// What to do instead.
    pub fn instead(&self) -> Cow<'_, str> {
        let instead = match self {
            Self::Array(error) => return error.instead(),
            Self::UnknownOperand { .. } | Self::ResultSize(_) | Self::Open { .. } => FIXED,
            Self::Control(error) if error.is_open() => FIXED,
            Self::Unknown(_) => "run onnx.shape_inference on the model, or export it without",
            Self::Text(_) => "export the model without its preparation of text",
            Self::Blocked(_) => "save the model with graph_optimization_level ORT_ENABLE_EXTENDED or lower",
            _ => "check the model with onnx.checker and export it again",
        };
        instead.into()
    }
}

/// What to do about a model whose sizes or control flow depend on data.
const FIXED: &str =
    "a NeuronCore runs programs of fixed sizes: export the model with fixed sizes, or without this part";

/// Why a branch or a loop is not written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ControlError {
    /// A branch that data chooses.
    #[error("an If node with subgraphs: which of them is run depends on the input")]
    If,
    /// A loop whose number of turns depends on data.
    #[error("a Loop node with a subgraph: the number of its turns depends on the input")]
    LoopTurns,
    /// A loop whose condition depends on data.
    #[error("a Loop node with a subgraph: whether it goes on depends on the input")]
    LoopCondition,
    /// A loop of too many turns.
    #[error("a Loop node runs more than {0} times")]
    LongLoop(u64),
    /// A loop without turns whose results have no elements.
    #[error("a Loop node that never runs gives arrays without elements")]
    EmptyLoop,
    /// A loop whose body lacks results.
    #[error("the body of a Loop gives fewer values than it carries")]
    LoopBody,
    /// A scan of another version or along another dimension.
    #[error("a Scan node that runs along another dimension than the first, or backwards")]
    ScanDirection,
    /// A scan that lacks operands.
    #[error("a Scan node has fewer operands than it says")]
    ScanOperands,
    /// A scan of no turns or of too many.
    #[error("a Scan node runs {turns} times: 1 to {most} times are written out")]
    ScanTurns {
        /// How often it runs.
        turns: u64,
        /// How often it may run.
        most: u64,
    },
    /// A scan whose body lacks results.
    #[error("the body of a Scan gives fewer values than it carries")]
    ScanBody,
}

impl ControlError {
    /// Whether the model is sound, and only its control flow is not fixed.
    const fn is_open(self) -> bool {
        !matches!(self, Self::LoopBody | Self::ScanOperands | Self::ScanBody)
    }
}
