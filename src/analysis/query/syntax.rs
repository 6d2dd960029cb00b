//! The syntax tree of a query.

use crate::GroupBy;
use ns_base::names;

/// A query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Query {
    /// The condition on slices; all slices if absent.
    pub condition: Option<Condition>,
    /// The columns to group by; if empty and nothing is aggregated, the answer lists the slices themselves.
    pub group_by: Vec<Column>,
    /// Columns of the answer.
    pub select: Vec<OutputColumn>,
    /// Positions in `select` by which rows are sorted, and whether the largest is first.
    pub order_by: Vec<(usize, bool)>,
    /// The most rows of the answer.
    pub limit: Option<usize>,
}

/// A condition on a slice.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// All of these.
    All(Vec<Condition>),
    /// Any of these.
    Any(Vec<Condition>),
    /// Not this.
    Not(Box<Condition>),
    /// A column compared with a value.
    Compare(Column, Comparator, Literal),
    /// A column equals one of some values.
    In(Column, Vec<Literal>),
}

/// How a column is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparator {
    /// `=`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
    /// `~`: contains the text, letter case ignored.
    Contains,
    /// `!~`
    ContainsNot,
    /// The text is as a pattern of SQL: `%` stands for any letters, `_` for one; letter case does not count.
    Like,
}

/// A value in a query.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// A number; times are in ns.
    Number(f64),
    /// A text.
    Text(String),
}

/// A property of a slice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Column {
    /// A text that many slices share.
    Label(GroupBy),
    /// When it starts, in ns from the start of the profile.
    Start,
    /// When it ends.
    End,
    /// Its duration, in ns.
    Dur,
    /// Its self time, in ns.
    SelfTime,
    /// Its row in its track, 0 outermost.
    Depth,
    /// An argument.
    Arg(String),
}

/// The type of a column of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// Text.
    Text,
    /// Nanoseconds.
    Ns,
    /// A count.
    Count,
    /// Any number, or a text that is not a number.
    Any,
}

names! {
    /// An aggregate of the values of a group.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Aggregate {
        /// Their sum.
        Sum = "sum",
        /// Their mean.
        Mean = "mean",
        /// The smallest.
        Min = "min",
        /// The greatest.
        Max = "max",
        /// Their median.
        P50 = "p50",
        /// Their 99th percentile.
        P99 = "p99",
    }

    /// All aggregates.
    pub const ALL: [Self; _];
    /// Its name in a query.
    pub const fn name(self) -> &'static str;
    /// The aggregate with a name.
    pub fn from_name(name: &str) -> Option<Self>;
}

impl Aggregate {
    /// Which percentile it is, from 0 to 100; only a percentile needs every value of its group.
    pub(super) const fn percent(self) -> Option<f64> {
        match self {
            Self::P50 => Some(50.0),
            Self::P99 => Some(99.0),
            Self::Sum | Self::Mean | Self::Min | Self::Max => None,
        }
    }
}

/// A column of the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutputColumn {
    /// A column of the slice, or of its group.
    Plain(Column),
    /// Number of slices.
    Count,
    /// An aggregate over the slices of a group.
    Of(Aggregate, Column),
}

impl Column {
    /// The name of a column in a query.
    pub fn name(&self) -> String {
        match self {
            Self::Label(by) => by.name().to_owned(),
            Self::Start => "start".to_owned(),
            Self::End => "end".to_owned(),
            Self::Dur => "dur".to_owned(),
            Self::SelfTime => "self".to_owned(),
            Self::Depth => "depth".to_owned(),
            Self::Arg(key) => format!("args.{key}"),
        }
    }

    /// The column of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        if let Some(key) = name.strip_prefix("args.").filter(|key| !key.is_empty()) {
            return Some(Self::Arg(key.to_owned()));
        }
        let known = [Self::Start, Self::End, Self::Dur, Self::SelfTime, Self::Depth];
        let plain = known.into_iter().find(|c| c.name() == name);
        plain.or_else(|| GroupBy::from_name(name).map(Self::Label))
    }

    /// The kind of its values.
    pub fn kind(&self) -> ValueKind {
        match self {
            Self::Label(_) => ValueKind::Text,
            Self::Start | Self::End | Self::Dur | Self::SelfTime => ValueKind::Ns,
            Self::Depth => ValueKind::Count,
            Self::Arg(_) => ValueKind::Any,
        }
    }
}

impl OutputColumn {
    /// The head of the column.
    pub fn name(&self) -> String {
        match self {
            Self::Plain(column) => column.name(),
            Self::Count => "count".to_owned(),
            Self::Of(aggregate, column) => format!("{}({})", aggregate.name(), column.name()),
        }
    }

    /// The kind of its values.
    pub fn kind(&self) -> ValueKind {
        match self {
            Self::Plain(column) | Self::Of(_, column) => column.kind(),
            Self::Count => ValueKind::Count,
        }
    }
}
