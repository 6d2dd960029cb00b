//! The tools of the profile page.

use ns_base::names;

names! {
    /// The tools of the profile page, named as in the Neuron plugin if it has them.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum Tool {
        /// Main numbers, where the time went, what to change first.
        #[default]
        Overview = "overview",
        /// Sentences on what dominates, with metrics, bounds and findings.
        Summary = "summary",
        /// Time by framework operator.
        OperatorFramework = "operator-framework",
        /// Time by HLO operator.
        OperatorHlo = "operator-hlo",
        /// Time by engine and by instruction.
        OperatorEngine = "operator-engine",
        /// Events over time.
        OperatorTimeline = "operator-timeline",
        /// Events over time in a whole benchmark run.
        Trace = "trace",
        /// Slices grouped by any key, and the distribution of their durations.
        Statistics = "statistics",
        /// Slices merged by stack; callers and callees of a name.
        FlameGraph = "flame-graph",
        Modules = "modules",
        /// The chain of slices that determined the duration.
        CriticalPath = "critical-path",
        /// When devices or threads were idle, and what they waited for.
        IdleGaps = "idle-gaps",
        /// Counters over time.
        Counters = "counters",
        /// Comparison of two profiles.
        Compare = "compare",
        /// Queries.
        Ask = "ask",
    }

    /// All tools, in the order of the rail.
    pub const ALL: [Self; _];
    /// Its name in links.
    pub const fn name(self) -> &'static str;
    pub fn from_name(name: &str) -> Option<Self>;
}
