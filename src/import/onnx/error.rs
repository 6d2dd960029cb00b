//! Why a node cannot be translated.

use ns_base::Refusal;
use std::borrow::Cow;

use thiserror::Error;

use super::super::ImportError;
use super::fault::Fault;

/// Why a node cannot be translated, without its place.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum OpError {
    /// A node that breaks the rules of its operator, or uses it in an unknown way.
    #[error("{op} {fault}")]
    Node {
        /// The operator.
        op: String,
        /// What is wrong.
        fault: Fault,
    },
    /// An operand of the wrong kind.
    #[error("operand {at} of {op} {kind}")]
    Operand {
        /// The operator.
        op: String,
        /// The operand's number.
        at: usize,
        /// What is wrong, starting with a verb.
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
    /// An attribute of the wrong kind.
    #[error("attribute {name} of {op} has to be {kind}")]
    Attribute {
        /// The operator.
        op: String,
        /// The attribute.
        name: String,
        /// The required kind.
        kind: &'static str,
    },
    /// A result whose size depends on data.
    #[error("the size of {0}'s result depends on the input")]
    ResultSize(String),
    /// A use of an operator that does not give fixed sizes.
    #[error("{op} {uses}")]
    Open {
        /// The operator.
        op: String,
        /// The use, starting with a verb.
        uses: &'static str,
    },
    /// An element type that a NeuronCore does not support, by ONNX's number.
    #[error("a NeuronCore does not compute with the element type {0}")]
    Element(i64),
    /// Numbers that cannot be sizes.
    #[error("{0:?} are not sizes")]
    Sizes(Vec<i64>),
    /// An unknown operator whose result has no type.
    #[error("the operator {0} is not known, and the file does not give the type of its result")]
    Unknown(String),
    /// An operator on text.
    #[error("{0} works with text, which no NeuronCore has")]
    Text(String),
    /// An operator on a data layout of onnxruntime.
    #[error("{0} works on the blocked layout that onnxruntime uses on one kind of processor")]
    Blocked(String),
    /// A branch or a loop that cannot be unrolled.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// Operands that do not fit.
    #[error(transparent)]
    Build(#[from] Refusal),
    /// An array in the file that cannot be used.
    #[error("{}", .0.kind)]
    Array(Box<ImportError>),
}

impl OpError {
    /// The error for a node that breaks the rules of the operator `op`.
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

/// What to do with a model whose sizes or control flow depend on data.
const FIXED: &str =
    "a NeuronCore runs programs of fixed sizes: export the model with fixed sizes, or without this part";

/// Why a branch or a loop cannot be unrolled.
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
    /// A loop with too many turns.
    #[error("a Loop node runs more than {0} times")]
    LongLoop(u64),
    /// A loop without turns whose results would be empty.
    #[error("a Loop node that never runs gives arrays without elements")]
    EmptyLoop,
    /// A loop whose body lacks results.
    #[error("the body of a Loop gives fewer values than it carries")]
    LoopBody,
    /// A scan of an old version, or along another dimension than the first.
    #[error("a Scan node that runs along another dimension than the first, or backwards")]
    ScanDirection,
    /// A scan that lacks operands.
    #[error("a Scan node has fewer operands than it says")]
    ScanOperands,
    /// A scan with no turns or too many.
    #[error("a Scan node runs {turns} times: 1 to {most} times are written out")]
    ScanTurns {
        /// Its number of turns.
        turns: u64,
        /// The largest number of turns.
        most: u64,
    },
    /// A scan whose body lacks results.
    #[error("the body of a Scan gives fewer values than it carries")]
    ScanBody,
}

impl ControlError {
    /// Whether the model is valid and only its control flow is not fixed.
    const fn is_open(self) -> bool {
        !matches!(self, Self::LoopBody | Self::ScanOperands | Self::ScanBody)
    }
}
