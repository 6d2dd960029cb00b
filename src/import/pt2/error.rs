//! Why a file of `torch.export` is not read.

use ns_base::Refusal;
use thiserror::Error;

/// Why a file of `torch.export` is not read.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum Pt2Error {
    /// An archive without a graph.
    #[error("no models/model.json and no serialized_exported_program.json in the archive")]
    NoGraph,
    /// A graph that is not JSON of the schema.
    #[error("the graph cannot be read: {said}")]
    Graph {
        /// The message of the JSON's reader.
        said: String,
    },
    /// A schema that is older or newer than those that are read.
    #[error("its schema is of version {major}.{minor}; versions {first} to {last} are read (torch 2.4 and later)")]
    Schema {
        /// Its version.
        major: i64,
        /// The part of its version behind the point.
        minor: i64,
        /// The oldest that is read.
        first: i64,
        /// The newest that is read.
        last: i64,
    },
    /// A description of the weights that is not JSON of its schema.
    #[error("the description of the weights cannot be read: {said}")]
    Weights {
        /// The message of the JSON's reader.
        said: String,
    },
    /// A value that the file does not describe.
    #[error("the value has no type: it is not described")]
    NotDescribed,
    /// A value whose description gives no type.
    #[error("the value has no type: {0}")]
    NoType(#[from] Refusal),
    /// A size that only a run knows.
    #[error("the size of the result of {op} depends on data (the unbacked symbol {symbol})")]
    DataDependent {
        /// What gives the result.
        op: String,
        /// The symbol for the size.
        symbol: String,
    },
    /// A dimension that is asked for and is not open.
    #[error("the file has no open dimension {name}; it has {}", listed(.open))]
    NoDimension {
        /// The dimension.
        name: String,
        /// The dimensions that are open.
        open: Vec<String>,
    },
    /// A size that is asked for, outside the dimension's range.
    #[error("{size} is not a size of dimension {name}, which is {least} to {}", most.map_or_else(|| "any".to_owned(), |most| most.to_string()))]
    Range {
        /// The size.
        size: i64,
        /// The dimension.
        name: String,
        /// Its least size.
        least: i64,
        /// Its largest size, if it has one.
        most: Option<i64>,
    },
    /// A size that is asked for, beyond 63 bits.
    #[error("dimension {name} of size {size}")]
    Size {
        /// The dimension.
        name: String,
        /// The size.
        size: u64,
    },
    /// A node that cannot be made.
    #[error(transparent)]
    Node(Refusal),
    /// A program that cannot be made.
    #[error(transparent)]
    Program(Refusal),
    /// A branch that data chooses.
    #[error("torch.cond: a branch that depends on data")]
    Branch,
    /// A loop that ends when its data say so.
    #[error("torch.while_loop: a loop whose number of turns depends on data")]
    Loop,
    /// An operator that takes graphs and is not known.
    #[error("the higher-order operator {0} is not known here")]
    HigherOrder(String),
}

impl Pt2Error {
    /// What to do instead.
    #[must_use]
    pub const fn instead(&self) -> &'static str {
        match self {
            Self::NoGraph => "save the model with torch.export.save",
            Self::Graph { .. } => "save the model again with torch.export.save",
            Self::Schema { .. } => "export the model with a torch between 2.4 and 2.15",
            Self::Weights { .. } => "save the model again",
            Self::NotDescribed | Self::NoType(_) => "export the model again",
            Self::DataDependent { .. } => {
                "a NeuronCore has fixed sizes: give the operation a fixed size and export again"
            }
            Self::NoDimension { .. } => "leave it out or name one that is there",
            Self::Range { .. } => "ask for a size in its range",
            Self::Size { .. } => "ask for a size below 2^63",
            Self::Node(_) => "the file is damaged or of a kind that is not known here: export the model again",
            Self::Program(_) => "export a smaller model",
            Self::Branch | Self::Loop | Self::HigherOrder(_) => {
                "a NeuronCore runs a fixed program: export one branch, or compute both and choose with torch.where"
            }
        }
    }
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
