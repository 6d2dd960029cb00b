//! The problems of a kernel and their positions.

use std::fmt;

use serde::{Deserialize, Serialize};

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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The kernel is wrong.
    Error,
    /// The kernel runs, but something in it should be checked.
    Warning,
}

/// A problem: a text that says what is wrong and what to write or do instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    code: &'static str,
    severity: Severity,
    text: Box<str>,
}

impl Problem {
    /// A problem with which the kernel is wrong.
    pub fn error(code: &'static str, text: impl Into<Box<str>>) -> Self {
        Self { code, severity: Severity::Error, text: text.into() }
    }

    /// A problem with which the kernel still runs.
    pub(crate) fn warning(code: &'static str, text: impl Into<Box<str>>) -> Self {
        Self { code, severity: Severity::Warning, text: text.into() }
    }

    /// A token that the grammar does not allow here.
    pub(crate) fn syntax(expected: &str, found: &str) -> Self {
        Self::error("syntax", format!("expected {expected}, found {found}"))
    }

    /// C++ outside the subset, and what to write instead.
    pub(crate) fn not_supported(what: &str, instead: &str) -> Self {
        Self::error("not_supported", format!("{what} cannot be used in a kernel here; {instead}"))
    }

    /// A name that nothing declares.
    pub(crate) fn unknown(name: &str, hint: &str) -> Self {
        Self::error("unknown_name", format!("'{name}' is not declared here; {hint}"))
    }

    /// A list of arguments or elements of the wrong length.
    pub(crate) fn arguments(name: &str, expected: usize, found: usize) -> Self {
        Self::error("arguments", format!("{name} takes {expected} argument(s), not {found}"))
    }

    /// A change of a const variable or object.
    pub(crate) fn constant(name: &str, hint: &str) -> Self {
        Self::error("const", format!("{name} is const and cannot be changed; {hint}"))
    }

    pub(crate) fn null_pointer() -> Self {
        Self::error("null_pointer", "a null pointer is used; check the result of tcm_malloc() against nullptr first")
    }

    /// A variable, memory or an element that was never written.
    pub(crate) fn uninitialised(what: &str) -> Self {
        Self::error("uninitialised", format!("{what} is read before anything is written to it"))
    }

    /// An allocation that returns null.
    pub(crate) fn tcm_exhausted(bytes: u64, free: u64, pool: u64) -> Self {
        Self::warning(
            "tcm_exhausted",
            format!(
                "tcm_malloc({bytes}) returns nullptr: {free} bytes of the pool's {pool} are free in one piece; use a smaller buffer"
            ),
        )
    }

    /// Its stable name, in `snake_case`.
    pub const fn code(&self) -> &'static str {
        self.code
    }

    pub const fn severity(&self) -> Severity {
        self.severity
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A problem with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub pos: Pos,
    pub problem: Problem,
}

impl Diagnostic {
    /// A problem at a position.
    pub const fn new(pos: Pos, problem: Problem) -> Self {
        Self { pos, problem }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.pos, self.problem)
    }
}

/// Adds a diagnostic unless one with the same code was already added for the same position.
pub(crate) fn add(list: &mut Vec<Diagnostic>, found: Diagnostic) {
    let same = |d: &Diagnostic| d.pos == found.pos && d.problem.code() == found.problem.code();
    if !list.iter().any(same) {
        list.push(found);
    }
}
