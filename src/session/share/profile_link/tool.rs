//! The tools of the profile page.

/// The tools of the profile page, named as in the Neuron plugin if it has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Tool {
    /// Main numbers, where the time went, what to change first.
    #[default]
    Overview,
    /// Sentences on what dominates, with metrics, bounds and findings.
    Summary,
    /// Time by framework operator.
    OperatorFramework,
    /// Time by HLO operator.
    OperatorHlo,
    /// Time by engine and by instruction.
    OperatorEngine,
    /// Events over time.
    OperatorTimeline,
    /// Events over time in a whole benchmark run.
    Trace,
    /// Slices grouped by any key, and the distribution of their durations.
    Statistics,
    /// Slices merged by stack; callers and callees of a name.
    FlameGraph,
    Modules,
    /// The chain of slices that determined the duration.
    CriticalPath,
    /// When devices or threads were idle, and what they waited for.
    IdleGaps,
    /// Counters over time.
    Counters,
    /// Comparison of two profiles.
    Compare,
    /// Queries.
    Ask,
}

impl Tool {
    /// All tools, in the order of the rail.
    pub const ALL: [Self; 15] = [
        Self::Overview,
        Self::Summary,
        Self::OperatorFramework,
        Self::OperatorHlo,
        Self::OperatorEngine,
        Self::OperatorTimeline,
        Self::Trace,
        Self::Statistics,
        Self::FlameGraph,
        Self::Modules,
        Self::CriticalPath,
        Self::IdleGaps,
        Self::Counters,
        Self::Compare,
        Self::Ask,
    ];

    /// Its name in links.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Overview => "overview",
            Self::Summary => "summary",
            Self::OperatorFramework => "operator-framework",
            Self::OperatorHlo => "operator-hlo",
            Self::OperatorEngine => "operator-engine",
            Self::OperatorTimeline => "operator-timeline",
            Self::Trace => "trace",
            Self::Statistics => "statistics",
            Self::FlameGraph => "flame-graph",
            Self::Modules => "modules",
            Self::CriticalPath => "critical-path",
            Self::IdleGaps => "idle-gaps",
            Self::Counters => "counters",
            Self::Compare => "compare",
            Self::Ask => "ask",
        }
    }

    /// The tool with a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|t| t.name() == name)
    }
}
