//! What can be asked that is answered by a table, and the one form of the answer.

use serde::{Deserialize, Serialize};

use crate::analysis::members::MemberOrder;
use crate::analysis::work::Works;
use crate::analysis::{GroupBy, Selection};
use crate::base::{Interval, TraceNs};
use crate::insight::Insights;
use crate::profile::Profile;
use crate::profile::flows::FlowIndex;
use crate::session::pages::ProfileParts;
use crate::session::timeline::ShownTracks;
use crate::view::table::Table;
use crate::view::timeline::{SliceLink, TrackId};

/// A question whose answer is a table. Where it has a span of time, the answer is of that alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Listing {
    /// Slices by group.
    Groups(GroupsOf),
    /// The slices of one group.
    Members(MembersOf),
    /// When devices (or threads, where no devices are known) did nothing, longest first.
    Idle(Option<Interval<TraceNs>>),
    /// The time of each name on the critical path, most first.
    CriticalPath(Option<Interval<TraceNs>>),
    /// The parts of the critical path, longest first.
    PathParts(Option<Interval<TraceNs>>),
    /// Statistics of each counter.
    Counters(Option<Interval<TraceNs>>),
    /// The answer to a query.
    Query(QueryOf),
}

/// Which rows of a table are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rows {
    /// So many come before the first one listed.
    pub skip: u32,
    /// At most so many.
    pub limit: u32,
}

/// Which slices a question is about, as the page names them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chosen {
    /// Only this span: slices count with the part inside.
    pub range: Option<Interval<TraceNs>>,
    /// Only slices of these tracks of the timeline.
    pub tracks: Option<Vec<TrackId>>,
    /// Only slices of the level of this name, `all` for those of every level; absent for the default level, or for all where
    /// tracks are named.
    pub level: Option<String>,
}

/// Which slices are grouped by what.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupsOf {
    /// By what.
    pub by: GroupBy,
    /// Only this span: slices count with the part inside.
    pub range: Option<Interval<TraceNs>>,
    /// Only slices of these tracks of the timeline.
    pub tracks: Option<Vec<TrackId>>,
    /// Only slices of the level of this name, `all` for those of every level; absent for the default level, or for all where
    /// tracks are named.
    pub level: Option<String>,
}

/// The slices of one group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MembersOf {
    /// Of which slices.
    pub of: Chosen,
    /// What makes a group.
    pub by: GroupBy,
    /// Name of the group, as its table shows it.
    pub name: String,
    /// In which order.
    pub order: MemberOrder,
}

/// A query about the slices of a level.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueryOf {
    /// The query, in the language of docs/query.md.
    pub text: String,
    /// The level, as for [`Chosen`].
    pub level: Option<String>,
}

impl QueryOf {
    /// The operators that have a text in their name, those with the most time of their own first. The name is the first column.
    #[must_use]
    pub fn operators_named(text: &str, level: Option<String>) -> Self {
        // In a text of a query its own quote is written twice.
        let quoted = text.replace('\'', "''");
        let text = format!("where name ~ '{quoted}' group by name select name, sum(self) order by sum(self) desc");
        Self { text, level }
    }
}

/// A table with the slices its rows are about.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Listed {
    /// The table.
    pub table: Table,
    /// For each row the slice that shows it best, if one does; may be shorter than the table.
    pub slices: Vec<Option<SliceLink>>,
    /// Number of rows before the first one listed.
    pub skip: u64,
    /// Number of rows there are in all, listed or not.
    pub total: u64,
    /// What else there is to say, in sentences.
    pub notes: Vec<String>,
}

/// What an answer is made from.
#[derive(Clone, Copy)]
pub(in crate::session) struct Sources<'a> {
    pub profile: &'a Profile,
    /// What the profile is called.
    pub name: &'a str,
    pub tracks: &'a ShownTracks,
    /// The analysis of a simulated execution.
    pub insights: Option<&'a Insights>,
    /// Joins the flow events when it is first called.
    pub flows: &'a dyn Fn() -> &'a FlowIndex,
    /// Finds what kind of work slices are when it is first called.
    pub works: &'a dyn Fn() -> &'a Works,
    /// What a file about the profile has besides its overview.
    pub parts: &'a dyn Fn() -> ProfileParts,
}

impl Rows {
    /// All of them.
    pub const ALL: Self = Self { skip: 0, limit: u32::MAX };

    /// Number of rows up to the last one listed.
    pub(super) const fn end(self) -> usize {
        self.skip.saturating_add(self.limit) as usize
    }

    /// Those of a list.
    pub(super) fn of<T>(self, all: &[T]) -> &[T] {
        let end = all.len().min(self.end());
        all.get(self.skip as usize..end).unwrap_or_default()
    }
}

impl Default for Rows {
    fn default() -> Self {
        Self::ALL
    }
}

impl Chosen {
    /// The same in the terms of the profile.
    ///
    /// # Errors
    /// When the profile has no level of that name; the message lists those it has.
    pub(super) fn selection(&self, sources: &Sources<'_>) -> Result<Selection, String> {
        let levels = sources.profile.levels();
        let level = match &self.level {
            Some(name) => levels.find(name).map_err(|e| e.to_string())?,
            None if self.tracks.is_some() => None,
            None => levels.default_level(),
        };
        Ok(Selection { level, ..self.selection_of_all_levels(sources) })
    }

    /// The same where a level counts only when it is named: for what follows slices over levels.
    ///
    /// # Errors
    /// As for [`Self::selection`].
    pub(super) fn selection_if_named(&self, sources: &Sources<'_>) -> Result<Selection, String> {
        let level = self.level.as_ref().map(|name| sources.profile.levels().find(name)).transpose();
        let level = level.map_err(|e| e.to_string())?.flatten();
        Ok(Selection { level, ..self.selection_of_all_levels(sources) })
    }

    fn selection_of_all_levels(&self, sources: &Sources<'_>) -> Selection {
        let threads = self.tracks.as_ref().map(|shown| sources.tracks.threads_of(shown));
        Selection { tracks: threads, within: self.range, level: None }
    }
}

impl GroupsOf {
    /// The slices it is about.
    pub(super) fn chosen(&self) -> Chosen {
        Chosen { range: self.range, tracks: self.tracks.clone(), level: self.level.clone() }
    }
}
