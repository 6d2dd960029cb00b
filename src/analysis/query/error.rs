//! Why a text is not a query.

use thiserror::Error;

use super::syntax::Column;

/// A query that is not understood, and where.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("column {column}: {problem}")]
pub struct QueryError {
    /// Its column, in characters from 1.
    pub column: usize,
    /// What is wrong and what to write.
    pub problem: QueryProblem,
}

/// What is wrong with a query.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum QueryProblem {
    /// A character that no word or sign has.
    #[error("'{0}' means nothing here")]
    Character(char),
    /// A text up to the end of the query, by its quote.
    #[error("this text has no {0} at its end")]
    EndlessText(char),
    /// A number with several points.
    #[error("'{0}' is not a number")]
    Number(String),
    /// A number in a unit that is not known.
    #[error("'{0}' is not a unit: write ns, us, ms, s or nothing")]
    Unit(String),
    /// Something else than what can follow.
    #[error("expected {0}")]
    Expected(&'static str),
    /// Conditions in parentheses in parentheses, beyond a limit.
    #[error("conditions are nested too deep")]
    TooDeep,
    /// A name that no column has.
    #[error(
        "there is no column '{0}': use name, category, operator, module, process, device, core, thread, start, end, dur, self, depth or args.KEY"
    )]
    NoColumn(String),
    /// A column that does not have one value in a group.
    #[error("'{name}' differs within a group: add it to group by, or write max({name}) or the like", name = column.name())]
    Differs {
        /// The column.
        column: Column,
    },
    /// A column of times in the place of one that makes groups.
    #[error("{} makes no groups: group by a text, depth or an argument", .0.name())]
    NoGroups(Column),
    /// A column that the answer is ordered by and does not have, as it is written.
    #[error("{0} is not in the answer: add it to select")]
    NotSelected(String),
    /// A comparison of texts with a column of numbers.
    #[error("{} is a number: compare it with =, <, >", .0.name())]
    ComparesNumber(Column),
    /// A text in the place of a column's number.
    #[error("{} is a number: write one, like 10us", .0.name())]
    NeedsNumber(Column),
    /// A number in the place of a column's text.
    #[error("{} is a text: write it in quotes", .0.name())]
    NeedsText(Column),
    /// A sum or the like of a column of texts.
    #[error("{} is a text: {aggregate} needs numbers", column.name())]
    AggregatesText {
        /// The column.
        column: Column,
        /// What is made of its values.
        aggregate: &'static str,
    },
}
