//! Elementwise functions without an opcode of their own: models that users bring have them, the models of the zoo do
//! not.

use serde::{Deserialize, Serialize};

use ns_program::{Binary, Comparison, Unary};

/// An elementwise function of one or two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Elementwise {
    /// Of one operand.
    Unary(Unary),
    /// Of two operands.
    Binary(Binary),
    /// Of two operands; the result is boolean.
    Compare(Comparison),
}

impl Elementwise {
    /// Its name in HLO text.
    pub fn name(self) -> &'static str {
        match self {
            Self::Compare(_) => "compare",
            Self::Unary(function) => function.name(),
            Self::Binary(function) => function.name(),
        }
    }

    /// How many operands it takes.
    pub const fn arity(self) -> usize {
        if matches!(self, Self::Unary(_)) { 1 } else { 2 }
    }

    /// Whether the scalar engine has it as a table. The others are arithmetic of the vector engine.
    pub const fn is_table(self) -> bool {
        match self {
            Self::Compare(_) => false,
            Self::Binary(function) => matches!(function, Binary::Pow | Binary::Atan2),
            Self::Unary(function) => !matches!(
                function,
                Unary::Abs
                    | Unary::Neg
                    | Unary::Not
                    | Unary::Sign
                    | Unary::Square
                    | Unary::Floor
                    | Unary::Ceil
                    | Unary::RoundHalfAway
                    | Unary::RoundHalfEven
                    | Unary::IsFinite
                    | Unary::IsInf
                    | Unary::IsNan
                    | Unary::Real
                    | Unary::Imag
                    | Unary::Clz
                    | Unary::PopulationCount
            ),
        }
    }
}
