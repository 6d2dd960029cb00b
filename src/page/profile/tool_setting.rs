//! Settings of tools that the link remembers.

use ns_analysis::Instances;
use ns_analysis::compare::Measure;
use ns_session::ProfileSpec;
use ns_session::share::{FlameView, ProfileLink};
use ns_view::table::Sort;
use ns_view::timeline::TrackId;

/// A setting that was chosen in a tool.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolSetting {
    /// The group that the statistics tool shows.
    Group(Option<String>),
    /// The sorting and the search of a tool's table.
    TableLook { sort: Option<Sort>, find: String },
    /// The counter that is drawn.
    Counter(Option<String>),
    /// The view of the flame graph, without its zoom.
    FlameView(FlameView),
    /// A node of the flame graph, by the names from the outermost one: the root of the view, or the name of the sandwich.
    FlameZoom(Vec<String>),
    /// The name whose callers and callees are shown.
    FlameName(String),
    /// The thread that the flame graph shows by time.
    FlameThread(Option<TrackId>),
    /// The open profile that the shown one is compared with.
    Base(String),
    /// A profile to compare with that may have to be run first.
    BaseOfRun { base: Option<String>, run: Option<ProfileSpec> },
    /// The base is not run for the link any more.
    NoBaseRun,
    /// The time that is compared.
    Measure(Measure),
    /// How every tool counts names.
    Instances(Instances),
    /// Whether compared times are divided by the number of steps.
    PerStep(bool),
}

impl ToolSetting {
    /// Puts the setting into the link.
    pub(super) fn put(self, link: &mut ProfileLink) {
        match self {
            Self::Group(group) => link.group = group,
            Self::TableLook { sort, find } => (link.sort, link.find) = (sort, find),
            Self::Counter(counter) => link.counter = counter,
            Self::FlameView(view) => (link.flame.view, link.flame.stack) = (view, Vec::new()),
            Self::FlameZoom(path) if link.flame.view == FlameView::Sandwich => {
                link.flame.name = path.into_iter().next_back().unwrap_or_default();
            }
            Self::FlameZoom(path) => link.flame.stack = path,
            Self::FlameName(name) => link.flame.name = name,
            Self::FlameThread(thread) => link.flame.thread = thread,
            Self::Base(base) => link.compare.base = Some(base),
            Self::BaseOfRun { base, run } => (link.compare.base, link.compare.base_run) = (base, run),
            Self::NoBaseRun => link.compare.base_run = None,
            Self::Measure(measure) => link.compare.measure = measure,
            Self::Instances(instances) => {
                (link.instances, link.group) = (instances, None);
                link.flame.stack.clear();
            }
            Self::PerStep(per_step) => link.compare.per_step = per_step,
        }
    }
}
