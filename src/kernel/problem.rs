//! The problems of a kernel and their positions.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A position in a kernel's source. Both numbers count from 1; a column is a character.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Pos {
    pub line: u32,
    pub column: u32,
}

impl fmt::Display for Pos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// The severity of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The kernel is wrong.
    Error,
    /// The kernel runs, but something in it should be checked.
    Warning,
}

/// One kind of problem with its details. The text says what is wrong and what to write or do instead.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Problem {
    /// A character outside the language.
    #[error("'{character}' is not a character of the kernel language; remove it")]
    Character { character: char },
    /// A comment or a text that is not closed.
    #[error("{what} does not end; close it with {close}")]
    Unclosed {
        /// `this comment`, `this text`.
        what: &'static str,
        close: &'static str,
    },
    /// A number that cannot be read.
    #[error("'{text}' is not a number of the language: {reason}")]
    Number {
        /// The number as written.
        text: String,
        reason: &'static str,
    },
    /// A token that the grammar does not allow here.
    #[error("expected {expected}, found {found}")]
    Syntax {
        /// The tokens that are allowed here.
        expected: String,
        found: String,
    },
    /// C++ that the subset does not include.
    #[error("{what} cannot be used in a kernel here; {instead}")]
    NotSupported {
        what: String,
        /// What to write instead.
        instead: String,
    },
    /// Code that nests too deeply to be processed safely.
    #[error("the code nests deeper than {limit} levels; split it into statements or helper functions")]
    TooDeep { limit: usize },
    /// A source that is too long.
    #[error("the source has {bytes} bytes; a kernel may have {limit}")]
    TooLong { bytes: usize, limit: usize },
    /// A name that nothing declares.
    #[error("'{name}' is not declared here; {hint}")]
    Unknown { name: String, hint: String },
    /// A name that is declared twice in one scope.
    #[error("'{name}' is already declared at line {line}; give one of the two another name")]
    Redeclared {
        name: String,
        /// Line of the first declaration.
        line: u32,
    },
    /// A value of the wrong type.
    #[error("{context} needs {expected}, not {found}")]
    Type {
        /// The destination of the value.
        context: String,
        expected: String,
        found: String,
    },
    /// A call with too few or too many arguments.
    #[error("{name} takes {expected} argument(s), not {found}")]
    Arguments {
        name: String,
        /// The number of its parameters.
        expected: usize,
        /// The number of arguments given.
        found: usize,
    },
    /// A change of a const variable or object.
    #[error("{name} is const and cannot be changed; {hint}")]
    Constant {
        /// The variable or object.
        name: String,
        hint: &'static str,
    },
    /// Standard and streaming accessors in multicore mode.
    #[error(
        "{what} works on one processor only: in multicore mode its results are undefined; copy blocks with tcm_accessor()"
    )]
    SingleCoreOnly { what: &'static str },
    /// A multicore kernel that does not write to the result.
    #[error(
        "{function} does not call get_dst_tensor(); in multicore mode the returned tensor is ignored, so the result is undefined"
    )]
    NoDstTensor { function: String },
    /// A file without a kernel function.
    #[error(
        "no {role} function found; write one that returns torch::Tensor and takes {inputs} const torch::Tensor& argument(s)"
    )]
    NoKernel {
        /// `forward` or `backward`.
        role: &'static str,
        /// The number of tensors it takes.
        inputs: usize,
    },
    /// Too many steps.
    #[error(
        "the kernel did not end within {steps} steps; check the condition of the loop here, and that its variable moves towards the end"
    )]
    StepLimit { steps: u64 },
    /// Calls or expressions that nest too deeply at run time.
    #[error("calls nest deeper than {limit} levels: the stack overflows; replace the recursion by a loop")]
    StackOverflow { limit: usize },
    /// An index or a pointer outside its memory.
    #[error("{what} is out of bounds: {detail}")]
    OutOfBounds {
        what: String,
        /// Index and size.
        detail: String,
    },
    /// Use of memory after it was freed.
    #[error("the TCM buffer from line {line} is used after tcm_free(); free it after its last use")]
    UseAfterFree {
        /// Line of the `tcm_malloc`.
        line: u32,
    },
    /// Memory that is freed twice.
    #[error("the TCM buffer from line {line} is freed twice; call tcm_free() once")]
    DoubleFree {
        /// Line of the `tcm_malloc`.
        line: u32,
    },
    /// A free of a pointer that is not the start of a buffer.
    #[error("tcm_free() needs a pointer that tcm_malloc() returned; {detail}")]
    BadFree {
        /// The kind of pointer.
        detail: &'static str,
    },
    /// Use of a null pointer.
    #[error("a null pointer is used; check the result of tcm_malloc() against nullptr first")]
    NullPointer,
    /// A value that was never written.
    #[error("{what} is read before anything is written to it")]
    Uninitialised {
        /// Variable, memory or element.
        what: String,
    },
    /// An integer division by zero.
    #[error("division by zero")]
    DivideByZero,
    /// A floating point division by zero, which has a result.
    #[error("a float is divided by zero here, which gives infinity or NaN; test the divisor if that is not meant")]
    FloatDivideByZero,
    /// A result that its type cannot hold.
    #[error("{operation} overflows {ty}: {detail}")]
    Overflow { operation: &'static str, ty: &'static str, detail: String },
    /// A request at run time that the interface does not allow.
    #[error("{what}; {instead}")]
    Invalid { what: String, instead: String },
    /// An allocation that returned null.
    #[error(
        "tcm_malloc({bytes}) returns nullptr: {free} bytes of the pool's {pool} are free in one piece; use a smaller buffer"
    )]
    TcmExhausted {
        /// The number of bytes requested.
        bytes: u64,
        /// The largest free piece.
        free: u64,
        /// The size of the pool.
        pool: u64,
    },
    /// A buffer that is never freed.
    #[error("this TCM buffer of {bytes} bytes is never freed; call tcm_free() before the function returns")]
    TcmLeak { bytes: u64 },
    /// Stack beyond the fast part.
    #[error("local arrays take {bytes} bytes of stack; beyond {fast} bytes the stack lies in slower memory")]
    LargeStack {
        /// Bytes in use.
        bytes: u64,
        /// Bytes in local memory.
        fast: u64,
    },
    /// More streaming accessors than can be fast.
    #[error("{active} streaming accessors are active; beyond 4 each is as slow as the standard accessor")]
    ManyStreams {
        /// The number of active accessors.
        active: usize,
    },
    /// Streaming accessors whose caches can disagree.
    #[error("{detail}; close the other accessor first")]
    Incoherent { detail: &'static str },
    /// Two processors write one element.
    #[error(
        "processors {first} and {second} both write element {element} of the result: a race; give each processor elements of its own"
    )]
    Race {
        /// The processor that wrote first.
        first: u32,
        /// The processor that wrote again.
        second: u32,
        /// The element's flat index.
        element: u64,
    },
    /// Elements of the result that are never written.
    #[error("{count} element(s) of the result are never written, the first is element {first}{explanation}")]
    Unwritten {
        /// Their number.
        count: u64,
        /// The flat index of the first.
        first: u64,
        /// The reason, if it is known, beginning with a separator.
        explanation: String,
    },
    /// `assert` failed.
    #[error("the assertion fails")]
    Assertion,
}

impl Problem {
    /// Its stable name, in `snake_case`.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Character { .. } | Self::Unclosed { .. } | Self::Number { .. } | Self::Syntax { .. } => "syntax",
            Self::NotSupported { .. } => "not_supported",
            Self::TooDeep { .. } => "too_deep",
            Self::TooLong { .. } => "too_long",
            Self::Unknown { .. } => "unknown_name",
            Self::Redeclared { .. } => "redeclared",
            Self::Type { .. } => "type",
            Self::Arguments { .. } => "arguments",
            Self::Constant { .. } => "const",
            Self::SingleCoreOnly { .. } => "single_core_only",
            Self::NoDstTensor { .. } => "no_dst_tensor",
            Self::NoKernel { .. } => "no_kernel",
            Self::StepLimit { .. } => "step_limit",
            Self::StackOverflow { .. } => "stack_overflow",
            Self::OutOfBounds { .. } => "out_of_bounds",
            Self::UseAfterFree { .. } => "use_after_free",
            Self::DoubleFree { .. } => "double_free",
            Self::BadFree { .. } => "bad_free",
            Self::NullPointer => "null_pointer",
            Self::Uninitialised { .. } => "uninitialised",
            Self::DivideByZero => "divide_by_zero",
            Self::FloatDivideByZero => "float_divide_by_zero",
            Self::Overflow { .. } => "overflow",
            Self::Invalid { .. } => "invalid",
            Self::TcmExhausted { .. } => "tcm_exhausted",
            Self::TcmLeak { .. } => "tcm_leak",
            Self::LargeStack { .. } => "large_stack",
            Self::ManyStreams { .. } => "many_streams",
            Self::Incoherent { .. } => "incoherent",
            Self::Race { .. } => "race",
            Self::Unwritten { .. } => "unwritten",
            Self::Assertion => "assertion",
        }
    }

    /// The severity of the problem.
    #[must_use]
    pub const fn severity(&self) -> Severity {
        match self {
            Self::FloatDivideByZero
            | Self::TcmExhausted { .. }
            | Self::TcmLeak { .. }
            | Self::LargeStack { .. }
            | Self::ManyStreams { .. } => Severity::Warning,
            _ => Severity::Error,
        }
    }
}

/// A problem with its position.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{pos}: {problem}")]
pub struct Diagnostic {
    pub pos: Pos,
    pub problem: Problem,
}

impl Diagnostic {
    /// A problem at a position.
    #[must_use]
    pub const fn new(pos: Pos, problem: Problem) -> Self {
        Self { pos, problem }
    }
}

/// Adds a diagnostic unless one with the same code was already added for the same position.
pub(crate) fn add(list: &mut Vec<Diagnostic>, found: Diagnostic) {
    let same = |d: &Diagnostic| d.pos == found.pos && d.problem.code() == found.problem.code();
    if !list.iter().any(same) {
        list.push(found);
    }
}
