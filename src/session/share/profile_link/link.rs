//! What a link to the profile page holds.

use super::Tool;
use crate::analysis::GroupBy;
use crate::analysis::compare::Measure;
use crate::base::{Interval, TraceNs};
use crate::session::ProfileSpec;
use crate::view::table::Sort;
use crate::view::timeline::{Annotation, Arrangement, GroupKind, TrackId};

/// Everything the profile page shows.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ProfileLink {
    /// What is profiled when no file is shown.
    pub spec: ProfileSpec,
    /// Name of the file that is shown; its content is never in a link.
    pub file: Option<String>,
    /// The tool.
    pub tool: Tool,
    /// The span on the screen; all of the profile when absent.
    pub span: Option<Interval<TraceNs>>,
    /// The selected slice.
    pub selected: Option<u32>,
    /// What the Ask tool asks.
    pub ask: String,
    /// The level that tools look at, by its name; the default one of the profile when absent.
    pub level: Option<String>,
    /// What slices are grouped by in the statistics tool.
    pub group_by: GroupBy,
    /// Whether operators are counted in the span on the screen only, where the profile can tell.
    pub in_view: bool,
    /// How the operator table is sorted.
    pub sort: Option<Sort>,
    /// What the table of the tool is searched for, where that is not what the timeline highlights.
    pub find: String,
    /// What is searched for.
    pub search: String,
    /// How the tracks of the timeline are arranged.
    pub arrangement: Arrangement,
    /// Marks and ranges on the timeline.
    pub annotations: Vec<Annotation>,
    /// What the search field names when it is a group of slices, all of them and no others: what makes that group.
    pub search_by: Option<GroupKind>,
    /// The group that the statistics tool shows.
    pub group: Option<String>,
    /// How the flame graph is looked at.
    pub flame: FlameLink,
    /// The counter that is drawn, by its name.
    pub counter: Option<String>,
    /// What is compared with what.
    pub compare: CompareLink,
    /// Device and core of the second pie; the first one when absent.
    pub core: Option<(u32, u32)>,
}

/// The views of the flame graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FlameView {
    /// Stacks of all threads merged, those with the most time at the left.
    #[default]
    LeftHeavy,
    /// Threads beside one another, stacks merged within each.
    ByThread,
    /// One thread in the order of time.
    ByTime,
    /// Callers and callees of a name.
    Sandwich,
}

impl FlameView {
    /// All, with their names in the selector.
    pub const ALL: [(Self, &'static str); 4] = [
        (Self::LeftHeavy, "left-heavy"),
        (Self::ByThread, "by thread"),
        (Self::ByTime, "by time"),
        (Self::Sandwich, "sandwich"),
    ];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(view, _)| *view == self).map_or("", |(_, name)| name)
    }

    /// The view of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == name).map(|(view, _)| *view)
    }
}

/// How the flame graph is looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlameLink {
    /// The view.
    pub view: FlameView,
    /// Names from the outermost to the node that is the first; empty for everything.
    pub stack: Vec<String>,
    /// The name whose callers and callees are shown.
    pub name: String,
    /// The thread that is shown by time; the one with the most slices when absent.
    pub thread: Option<TrackId>,
}

/// What is compared with what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompareLink {
    /// Name of the profile that is the base; the one that was opened last when absent.
    pub base: Option<String>,
    /// What the base is a simulated run of, so that whoever opens the link can run it too; none for a file.
    pub base_run: Option<ProfileSpec>,
    /// Which time is compared.
    pub measure: Measure,
    /// Whether times are divided by the number of steps.
    pub per_step: bool,
}
