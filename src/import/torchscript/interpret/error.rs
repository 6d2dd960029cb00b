//! Why a line of a model's source cannot be run.

use ns_base::Refusal;
use thiserror::Error;

use crate::program::ElementType;

/// Why a line of a model's source cannot be run. Values in it are described in a few words.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum RunError {
    /// An operation that cannot be made.
    #[error(transparent)]
    Build(#[from] Refusal),
    /// A control flow that data decides.
    #[error(transparent)]
    Flow(#[from] FlowError),
    /// An operator whose graph the Neuron compiler has replaced.
    #[error("it is compiled for Neuron already ({0}): it holds a NEFF and no graph")]
    Neuron(String),
    /// Calls within calls, beyond a limit.
    #[error("calls are nested more than {0} deep")]
    TooDeep(usize),
    /// More steps than a source of its length may take.
    #[error("the program runs for longer than its source is long: a loop of many turns or calls without end")]
    TooLong,
    /// A field of a module, or a constant, that the file does not hold.
    #[error("there is no {0}")]
    Absent(Absent),
    /// A method that a class does not have.
    #[error("{}", first(300, &format!("{class} has no method {method}")))]
    NoMethod {
        /// The class.
        class: String,
        /// The method.
        method: String,
    },
    /// A function whose source the file does not hold.
    #[error("the function {0} is not in the file")]
    NoFunction(String),
    /// A name that nothing was assigned to.
    #[error("the name {0} has no value")]
    NoValue(String),
    /// A field of a value that is not a module.
    #[error("the field {field} of {of}")]
    Field {
        /// The field.
        field: String,
        /// The value.
        of: String,
    },
    /// A field of something else than a module, which is assigned.
    #[error("the field {0} of something that is not a module is assigned")]
    Assigned(String),
    /// A method of a value that is not a module.
    #[error("the method {method} of {of}")]
    Method {
        /// The method.
        method: String,
        /// The value.
        of: String,
    },
    /// A call of a value that is not a function.
    #[error("{0} is called")]
    Called(String),
    /// More arguments than a function has parameters.
    #[error("{name} takes {taken} arguments and is given {given}")]
    Arguments {
        /// The function.
        name: String,
        /// How many it takes.
        taken: usize,
        /// How many it is given.
        given: usize,
    },
    /// A function of Python that is not read.
    #[error("the function {0} is not read here")]
    Function(String),
    /// A function of Python, or its use, that is not known.
    #[error("the function {name} of {arguments} arguments is not known here")]
    Unknown {
        /// The function.
        name: String,
        /// How many arguments it is given.
        arguments: usize,
    },
    /// A primitive of TorchScript that is not known.
    #[error("prim::{0} is not known here")]
    Primitive(String),
    /// A statement of Python that is not read.
    #[error("the statement `{0}` is not read here")]
    Statement(String),
    /// An exception of the model.
    #[error("the model raises an exception here")]
    Raises,
    /// A number of a value that has none until the model runs.
    #[error("{function} of {of}, which is computed from data")]
    Converted {
        /// What makes it a number.
        function: String,
        /// The value.
        of: String,
    },
    /// A tensor of one number in the place of a number.
    #[error("a number that is computed from data is used as a size or a setting")]
    DataNumber,
    /// A function of numbers that are not known.
    #[error("{function} of {} has no value that is known here", of.join(", "))]
    Folded {
        /// The function.
        function: String,
        /// The values.
        of: Vec<String>,
    },
    /// A least or largest of no numbers.
    #[error("{0} of nothing")]
    OfNothing(String),
    /// A list of the parts of a value that has none.
    #[error("a list of {0}")]
    List(String),
    /// A length of a value that has no parts.
    #[error("the length of {0}")]
    Length(String),
    /// A list that grows too long, or a list in a list.
    #[error("a list that grows too long, or a list within a list")]
    LongList,
    /// A key that a map does not have.
    #[error("the map has no {0}")]
    NoKey(String),
    /// A part of a value that has none, or at a place that is not known.
    #[error("item {at} of {of}")]
    Item {
        /// The place.
        at: String,
        /// The value.
        of: String,
    },
    /// A part behind the last one.
    #[error("item {at} of {count} items")]
    NoItem {
        /// The place.
        at: i64,
        /// How many parts there are.
        count: i64,
    },
    /// Names for the parts of a value that has none.
    #[error("{value} is unpacked to {names} names")]
    Unpacked {
        /// The value.
        value: String,
        /// How many names there are.
        names: usize,
    },
    /// Another number of names than of parts.
    #[error("{values} values are unpacked to {names} names")]
    UnpackedCount {
        /// How many parts there are.
        values: usize,
        /// How many names there are.
        names: usize,
    },
    /// A value that an operator does not take.
    #[error("{op} is given {value}")]
    Given {
        /// The operator.
        op: String,
        /// The value.
        value: String,
    },
    /// An element type without a number of torch.
    #[error("the element type {0} has no number")]
    ScalarType(ElementType),
}

impl RunError {
    /// What to do instead.
    #[must_use]
    pub const fn instead(&self) -> &'static str {
        match self {
            Self::Neuron(_) => {
                "choose the model that torch_neuronx.trace was given, saved with: torch.export.save(torch.export.export(model.eval(), example_inputs), \"model.pt2\")"
            }
            _ => {
                "a NeuronCore runs a fixed program: export the model with torch.export.save, or trace it with example inputs"
            }
        }
    }
}

/// What the file does not hold.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Absent {
    /// A field of a module, by its path.
    #[error("field {0}")]
    Field(String),
    /// A constant, by its name.
    #[error("{0}")]
    Constant(String),
}

/// A control flow that data decides, or that is too long to be written out.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FlowError {
    /// A branch whose condition is a tensor.
    #[error("a branch (prim::If) whose condition is computed from data")]
    ComputedBranch,
    /// A branch whose condition is a value that is not known.
    #[error("a branch (prim::If) whose condition depends on {0}")]
    Branch(String),
    /// A choice by a value that is neither true nor false.
    #[error("a choice (prim::If) that depends on {0}")]
    Choice(String),
    /// A branch that data chooses, with a result in it.
    #[error("a branch (prim::If) that data chooses and that ends the method")]
    BranchReturns,
    /// A loop with a condition.
    #[error("a while loop (prim::Loop), whose number of turns is computed as it runs")]
    While,
    /// A loop over the parts of a value that has none.
    #[error("a loop (prim::Loop) over {0}, whose number of turns is not known")]
    Over(String),
    /// A loop over a range of a value that is not known.
    #[error("a loop (prim::Loop) whose number of turns depends on {0}")]
    Turns(String),
    /// A loop whose number of turns data decides, with a result in it.
    #[error("a loop (prim::Loop) whose number of turns depends on data and that ends the method")]
    LoopReturns,
    /// A range that does not end.
    #[error("a range without an end, or with steps of 0")]
    Range,
    /// A loop that is too long to be written out.
    #[error("a loop of {turns} turns; at most {most} are written out")]
    Long {
        /// Its turns.
        turns: u64,
        /// How many it may have.
        most: i64,
    },
}

/// The first characters of a text.
fn first(most: usize, text: &str) -> String {
    text.chars().take(most).collect()
}
