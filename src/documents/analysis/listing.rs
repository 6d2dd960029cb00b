//! Questions whose answer is a table, and the form of the answer.

use serde::{Deserialize, Serialize};

use crate::overview::TimeBeside;
use crate::pages::ProfileParts;
use crate::timeline::ViewTracks;
use ns_analysis::members::MemberOrder;
use ns_analysis::work::Works;
use ns_analysis::{GroupBy, Instances, Selection};
use ns_base::{Interval, TraceNs};
use ns_device::EstimateMark;
use ns_insight::Insights;
use ns_profile::Profile;
use ns_profile::flows::FlowIndex;
use ns_view::table::Table;
use ns_view::timeline::{SliceLink, TrackId};

/// A question whose answer is a table. If it has a span of time, the answer covers only that span.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Listing {
    /// Slices by group.
    Groups(GroupsOf),
    /// The slices of one group.
    Members(MembersOf),
    /// Gaps in which devices (or threads, if no devices are known) were idle, longest first.
    Idle(Option<Interval<TraceNs>>),
    /// The time of each name on the critical path, most first.
    CriticalPath(Option<Interval<TraceNs>>, Instances),
    /// The parts of the critical path, longest first.
    PathParts(Option<Interval<TraceNs>>),
    /// Statistics of each counter.
    Counters(Option<Interval<TraceNs>>),
    /// The memory of each device.
    Memory,
    /// The operators that allocate memory, most bytes first.
    MemoryOperators,
    /// What each marked step leaves behind in memory.
    MemorySteps,
    /// The answer to a query.
    Query(QueryOf),
}

/// The rows of a table that are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rows {
    /// Number of rows before the first one listed.
    pub skip: u32,
    /// Most rows to list.
    pub limit: u32,
}

/// The slices that a question is about, as the page names them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SliceFilter {
    /// Only this span: of each slice only the part inside counts.
    pub range: Option<Interval<TraceNs>>,
    /// Only slices of these tracks of the timeline.
    pub tracks: Option<Vec<TrackId>>,
    /// Only slices of the level with this name, `all` for every level; absent for the default level, or for all levels if
    /// tracks are named.
    pub level: Option<String>,
}

/// Slices, and the key to group them by.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupsOf {
    pub by: GroupBy,
    /// Only this span: of each slice only the part inside counts.
    pub range: Option<Interval<TraceNs>>,
    /// Only slices of these tracks of the timeline.
    pub tracks: Option<Vec<TrackId>>,
    /// Only slices of the level with this name, `all` for every level; absent for the default level, or for all levels if
    /// tracks are named.
    pub level: Option<String>,
}

/// The slices of one group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MembersOf {
    pub of: SliceFilter,
    /// Key of the groups.
    pub by: GroupBy,
    /// Name of the group, as its table shows it.
    pub name: String,
    pub order: MemberOrder,
}

/// A query about the slices of a level.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueryOf {
    /// The query, in the language of docs/query.md.
    pub text: String,
    /// The level, as for [`SliceFilter`].
    pub level: Option<String>,
}

impl QueryOf {
    /// The operations with a name that contains a text, those with the most self time first. The operation is the first column.
    pub fn operators_named(text: &str, level: Option<String>) -> Self {
        // In a query, a quote inside a string is written twice.
        let quoted = text.replace('\'', "''");
        let text =
            format!("where name ~ '{quoted}' group by operation select operation, sum(self) order by sum(self) desc");
        Self { text, level }
    }
}

/// A table with the slices that its rows are about.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkedTable {
    pub table: Table,
    /// For each row the slice that shows it best, if there is one; may be shorter than the table.
    pub slices: Vec<Option<SliceLink>>,
    /// Number of rows before the first one listed.
    pub skip: u64,
    /// Number of all rows, listed or not.
    pub total: u64,
    /// Notes, in sentences.
    pub notes: Vec<String>,
}

/// The data that an answer is made from.
#[derive(Clone, Copy)]
pub struct Sources<'a> {
    pub profile: &'a Profile,
    /// The name of the profile.
    pub name: &'a str,
    pub tracks: &'a ViewTracks,
    /// The analysis of a simulated execution.
    pub insights: Option<&'a Insights>,
    /// What AWS published for it.
    pub published: &'a [TimeBeside],
    /// The mark of its times, if the cost of an operator is a guess.
    pub mark: Option<EstimateMark>,
    /// Joins the flow events when it is first called.
    pub flows: &'a dyn Fn() -> &'a FlowIndex,
    /// Finds what kind of work slices are when it is first called.
    pub works: &'a dyn Fn() -> &'a Works,
    /// The other tables that the profile's file holds, in addition to its overview.
    pub parts: &'a dyn Fn() -> ProfileParts,
}

impl Rows {
    pub const ALL: Self = Self { skip: 0, limit: u32::MAX };

    /// Number of rows up to the last one listed.
    pub(super) const fn end(self) -> usize {
        self.skip.saturating_add(self.limit) as usize
    }

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

impl SliceFilter {
    /// The same selection in the terms of the profile. Fails when the profile has no level with that name; the message lists its
    /// levels.
    pub(super) fn selection(&self, sources: &Sources<'_>) -> Result<Selection, String> {
        let levels = sources.profile.levels();
        let level = match &self.level {
            Some(name) => levels.find(name).map_err(|e| e.to_string())?,
            None if self.tracks.is_some() => None,
            None => levels.default_level(),
        };
        Ok(Selection { level, ..self.selection_of_all_levels(sources) })
    }

    /// The same, but a level applies only if it is named: for questions that follow slices across levels. Fails as for
    /// [`Self::selection`].
    pub(super) fn selection_if_named(&self, sources: &Sources<'_>) -> Result<Selection, String> {
        let level = self.level.as_ref().map(|name| sources.profile.levels().find(name)).transpose();
        let level = level.map_err(|e| e.to_string())?.flatten();
        Ok(Selection { level, ..self.selection_of_all_levels(sources) })
    }

    fn selection_of_all_levels(&self, sources: &Sources<'_>) -> Selection {
        let threads = self.tracks.as_ref().map(|tracks| sources.tracks.threads_of(tracks));
        Selection { tracks: threads, within: self.range, level: None }
    }
}

impl GroupsOf {
    /// The slices of the question.
    pub(super) fn slice_filter(&self) -> SliceFilter {
        SliceFilter { range: self.range, tracks: self.tracks.clone(), level: self.level.clone() }
    }
}
