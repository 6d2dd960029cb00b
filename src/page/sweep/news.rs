//! What a running sweep tells its page.

use super::view::SweepView;
use crate::RunState;
use crate::bench::BenchAction;
use ns_bench::{Benchmarks, SweepKind};

/// A change of a sweep that its page shows.
pub enum SweepNews<K: SweepKind> {
    /// A run that had ended continues, or one is about to start.
    GoOn,
    /// The run has a note.
    Note(String),
    /// A note was dismissed.
    Dismiss(String),
    /// The run made progress.
    Progress(RunState),
    /// Rows changed.
    Ran(SweepView<K>),
    End(RunState),
}

impl From<SweepNews<Benchmarks>> for BenchAction {
    fn from(news: SweepNews<Benchmarks>) -> Self {
        match news {
            SweepNews::GoOn => Self::GoOn,
            SweepNews::Note(note) => Self::Note(note),
            SweepNews::Dismiss(note) => Self::Dismiss(note),
            SweepNews::Progress(run) => Self::Progress(run),
            SweepNews::Ran(view) => Self::Ran(view),
            SweepNews::End(run) => Self::End(run),
        }
    }
}
