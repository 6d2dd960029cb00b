//! What can be asked, and the one form of the answer.

use serde::{Deserialize, Serialize};

use super::groups::group_table;
use super::sentences::sentences;
use super::tables;
use crate::base::{Interval, TraceNs};
use crate::profile::Profile;
use crate::profile::flows::FlowIndex;
use crate::profile::groups::GroupKey;
use crate::session::timeline::ShownTracks;
use crate::view::table::Table;
use crate::view::timeline::{SliceLink, TrackId};

/// A question whose answer is a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Listing {
    /// Slices by group.
    Groups(GroupsOf),
    /// What dominates, in sentences.
    Sentences,
    /// The critical path by name.
    PathByName,
    /// The critical path step by step.
    PathSteps,
    /// Pauses of tracks.
    IdleGaps,
    /// The durations of slices of a name.
    Durations(String),
    /// A query in the language of docs/query.md.
    Ask(String),
}

/// Which slices are grouped by what.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupsOf {
    /// By what.
    pub by: GroupKey,
    /// Only slices that touch this span.
    pub range: Option<Interval<TraceNs>>,
    /// Only slices of these tracks of the timeline.
    pub tracks: Option<Vec<TrackId>>,
}

/// A table with the slices its rows are about.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Listed {
    /// The table.
    pub table: Table,
    /// For each row the slice that shows it best, if one does; may be shorter than the table.
    pub slices: Vec<Option<SliceLink>>,
    /// What else there is to say, in sentences.
    pub notes: Vec<String>,
}

/// What an answer is made from.
pub(in crate::session) struct Sources<'a> {
    pub profile: &'a Profile,
    pub tracks: &'a ShownTracks,
    pub flows: &'a FlowIndex,
}

/// Answers a question.
///
/// # Errors
/// With a message for the person when the question can not be understood.
pub(in crate::session) fn answer(sources: &Sources<'_>, what: &Listing) -> Result<Listed, String> {
    match what {
        Listing::Groups(of) => Ok(group_table(sources, of)),
        Listing::Sentences => Ok(sentences(sources)),
        Listing::PathByName => Ok(tables::path_by_name(sources)),
        Listing::PathSteps => Ok(tables::path_steps(sources)),
        Listing::IdleGaps => Ok(tables::gaps(sources)),
        Listing::Durations(name) => Ok(tables::durations(sources, name)),
        Listing::Ask(text) => tables::asked(sources, text),
    }
}
