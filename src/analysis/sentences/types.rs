//! A sentence, its topic, and the numbers in it.

use serde::{Deserialize, Serialize};

use ns_base::{Interval, TraceNs};
use ns_profile::SliceId;

/// The topic of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Topic {
    /// The kind of profile.
    Profile,
    /// The main use of time.
    Verdict,
    /// Computing of the devices.
    Compute,
    /// Moving data.
    Transfer,
    /// Exchange between devices.
    Communication,
    /// The host.
    Host,
    /// Time in which devices, or threads, were idle.
    Idle,
    /// The operator with the most time.
    Operator,
}

/// Unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FigureUnit {
    /// Nanoseconds.
    Ns,
    /// Share of 100.
    Percent,
    /// A count.
    Count,
}

/// A number in a sentence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Its meaning: `compute`, `idle`.
    pub name: String,
    /// The number.
    pub value: f64,
    /// Its unit.
    pub unit: FigureUnit,
}

/// A sentence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sentence {
    /// The topic.
    pub topic: Topic,
    /// The sentence.
    pub text: String,
    /// The numbers in it.
    pub figures: Vec<Figure>,
    /// Slices that show it.
    pub slices: Vec<SliceId>,
    /// Spans that show it.
    pub spans: Vec<Interval<TraceNs>>,
}
