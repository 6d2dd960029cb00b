//! The contents of a link to the profile page.

use super::Tool;
use crate::{EXAMPLE_INSTANCE, EXAMPLE_MODEL, ProfileSpec};
use ns_analysis::compare::Measure;
use ns_analysis::{GroupBy, Instances};
use ns_base::{Interval, TraceNs, names};
use ns_compiler::Workflow;
use ns_view::table::Sort;
use ns_view::timeline::{Annotation, Area, Arrangement, GroupKind, TrackId};

/// State of the profile page.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ProfileLink {
    /// The simulated run, when no file is shown.
    pub spec: ProfileSpec,
    /// Name of the file that is shown; its content is never in a link.
    pub file: Option<String>,
    pub tool: Tool,
    /// The visible span; the whole profile if absent.
    pub span: Option<Interval<TraceNs>>,
    pub selected: Option<u32>,
    /// The selected area of the timeline.
    pub area: Option<Area>,
    /// The query of the Ask tool.
    pub ask: String,
    /// The level for the tools, by its name; the profile's default level if absent.
    pub level: Option<String>,
    /// The key for grouping slices in the statistics tool.
    pub group_by: GroupBy,
    /// The key for grouping the slices of engines; their rows if absent.
    pub engines_by: Option<GroupBy>,
    /// How tools count names.
    pub instances: Instances,
    /// Whether operators are counted only in the visible span, if the profile supports it.
    pub in_view: bool,
    /// How the operator table is sorted.
    pub sort: Option<Sort>,
    /// The search text of the tool's table; the timeline has its own.
    pub find: String,
    pub search: String,
    /// How the tracks of the timeline are arranged.
    pub arrangement: Arrangement,
    /// Marks and ranges on the timeline.
    pub annotations: Vec<Annotation>,
    /// The key of the group, when the search field names exactly a group of slices.
    pub search_by: Option<GroupKind>,
    /// The group that the statistics tool shows.
    pub group: Option<String>,
    /// The view of the flame graph.
    pub flame: FlameLink,
    /// The counter that is drawn, by its name.
    pub counter: Option<String>,
    pub compare: CompareLink,
    /// Device and core of the second pie; the first one if absent.
    pub core: Option<(u32, u32)>,
}

impl ProfileLink {
    /// What the page opens with if its address names nothing: BERT base with batch 8 on an Inf2, which the start page also offers.
    pub fn example() -> Self {
        let spec = ProfileSpec {
            model: EXAMPLE_MODEL.to_owned(),
            batch_size: Some(8),
            workflow: Workflow::Trace,
            instance: EXAMPLE_INSTANCE.to_owned(),
            ..ProfileSpec::default()
        };
        Self { spec, tool: Tool::Overview, ..Self::default() }
    }

    /// The key for grouping slices in the tool that is shown.
    pub fn grouping(&self) -> GroupBy {
        if self.tool == Tool::OperatorEngine { self.engines_by.unwrap_or(GroupBy::Thread) } else { self.group_by }
    }
}

names! {
    /// The views of the flame graph.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum FlameView {
        /// Stacks of all threads merged, those with the most time on the left.
        #[default]
        LeftHeavy = "left-heavy",
        /// Threads side by side, with stacks merged within each.
        ByThread = "by thread",
        /// One thread in the order of time.
        ByTime = "by time",
        /// The innermost slices outermost, with their callers below them.
        Inverted = "inverted",
        /// Callers and callees of a name.
        Sandwich = "sandwich",
    }

    /// All views, in the order of the selector.
    pub const ALL: [Self; _];
    pub const fn name(self) -> &'static str;
    pub fn from_name(name: &str) -> Option<Self>;
}

/// The view of the flame graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlameLink {
    pub view: FlameView,
    /// Names from the outermost node to the root of the view; empty for everything.
    pub stack: Vec<String>,
    /// The name whose callers and callees are shown.
    pub name: String,
    /// The thread that is shown by time; the one with the most slices if absent.
    pub thread: Option<TrackId>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompareLink {
    /// Name of the profile that is the base; the last one opened if absent.
    pub base: Option<String>,
    /// The specification of the base if it is a simulated run, so that the link can run it too; absent for a file.
    pub base_run: Option<ProfileSpec>,
    /// The time that is compared.
    pub measure: Measure,
    /// Whether times are divided by the number of steps.
    pub per_step: bool,
}
