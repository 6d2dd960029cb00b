//! Questions whose answer is more than a table.

use serde::{Deserialize, Serialize};

use super::links::{LinkedSentence, LinkedSlices};
use super::listing::SliceFilter;
use super::path::PathSteps;
use ns_analysis::compare::OperatorTotals;
use ns_analysis::counters::Curve;
use ns_analysis::flame::{FlameGraph, SandwichGraph};
use ns_analysis::histogram::{BinScale, Histogram};
use ns_analysis::modules::ModuleTree;
use ns_analysis::{GroupBy, Instances};
use ns_base::{Interval, TraceNs};
use ns_insight::Insights;
use ns_view::document::Document;

/// A question about a profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Question {
    /// Time by operator, to be joined with another profile's. Answered by [`Answer::Totals`].
    Totals {
        of: SliceFilter,
        /// The key; absent for the one that fits the profile.
        by: Option<GroupBy>,
    },
    /// Slices merged by stack. Answered by [`Answer::Flame`].
    Flame {
        of: SliceFilter,
        /// Whether threads are the outermost nodes; otherwise stacks of all threads are merged.
        by_thread: bool,
        /// Whether the innermost slices are the outermost nodes, with their callers below them.
        is_inverted: bool,
        instances: Instances,
        /// Names from the outermost to the node that becomes the root; empty for everything.
        from: Vec<String>,
        /// The greatest number of nodes; those with the most time are kept.
        limit: u32,
    },
    /// Slices of one thread by time. Answered by [`Answer::InOrder`].
    InOrder {
        /// The slices; if several tracks or none are named, the slices of the thread with the most slices.
        of: SliceFilter,
        /// The greatest number of slices; the longest are kept.
        limit: u32,
    },
    /// Callers and callees of a name. Answered by [`Answer::Sandwich`].
    Sandwich {
        of: SliceFilter,
        name: String,
        instances: Instances,
        /// The greatest number of nodes in each half.
        limit: u32,
    },
    /// The module hierarchy. Answered by [`Answer::Modules`].
    Modules {
        of: SliceFilter,
        /// The greatest number of modules; those with the most time are kept.
        limit: u32,
    },
    /// The main facts, in sentences. Answered by [`Answer::Sentences`].
    Sentences,
    /// Metrics, bounds and findings of a simulated execution. Answered by [`Answer::Summary`].
    Summary,
    /// The first view of a profile. Answered by [`Answer::Overview`].
    Overview,
    /// The same at once: if what each limit costs a simulated execution is not known yet, the view says so.
    FirstOverview,
    /// The critical path, to be drawn. Answered by [`Answer::Path`].
    Path {
        /// Only parts in this span; all parts if absent.
        range: Option<Interval<TraceNs>>,
        /// The greatest number of parts.
        limit: u32,
    },
    /// The values of a counter over time. Answered by [`Answer::Curve`].
    Curve {
        /// Its name, as the table of counters shows it.
        name: String,
        /// Only values in this span; all values if absent.
        range: Option<Interval<TraceNs>>,
        /// Roughly the greatest number of points.
        points: u32,
    },
    /// The distribution of a group's durations. Answered by [`Answer::Histogram`].
    Histogram {
        of: SliceFilter,
        /// Key of the groups.
        by: GroupBy,
        /// Name of the group, as its table shows it.
        name: String,
        /// How the edges of the bins are spaced.
        scale: BinScale,
        /// The greatest number of bins.
        bins: u32,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Answer {
    /// Time by operator, for [`ns_analysis::compare::Comparison::of`].
    Totals(OperatorTotals),
    /// Slices merged by stack.
    Flame(FlameGraph),
    /// Slices of one thread by time.
    InOrder(LinkedSlices),
    /// Callers and callees of a name.
    Sandwich(SandwichGraph),
    Modules(ModuleTree),
    /// A distribution of durations.
    Histogram(Histogram),
    /// The main facts about the profile.
    Sentences(Vec<LinkedSentence>),
    /// Absent where the profile has no instructions and DMAs.
    Summary(Option<Box<Insights>>),
    /// The first view; its parts open an [`crate::overview::Evidence`].
    Overview(Document),
    Path(PathSteps),
    /// A counter over time.
    Curve(Curve),
}
