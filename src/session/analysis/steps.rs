//! What all questions have in common: looking at a part of the slices, saying how far that is, and an answer at the end.

use super::listing::{Listed, Rows, Sources};
use super::question::Answer;
use crate::analysis::calltree::{CallTreePass, SandwichPass};
use crate::analysis::counters::{CounterPass, CurvePass};
use crate::analysis::critical::CriticalPass;
use crate::analysis::idle::IdlePass;
use crate::analysis::in_order::InOrderPass;
use crate::analysis::members::MemberPass;
use crate::analysis::modules::ModulePass;
use crate::analysis::operators::OperatorPass;
use crate::analysis::query::QueryPass;
use crate::analysis::sentences::SentencesPass;

/// An analysis that is computed a part at a time.
pub(super) trait Steps {
    /// Looks at about `limit` slices or samples more. Returns whether it has seen all.
    fn advance(&mut self, sources: &Sources<'_>, limit: usize) -> bool;

    /// How much is done, and of how much; nothing where it looks at every slice once.
    fn progress(&self) -> Option<(u64, u64)> {
        None
    }
}

macro_rules! looks_once {
    ($($pass:ty),* $(,)?) => {$(
        impl Steps for $pass {
            fn advance(&mut self, sources: &Sources<'_>, limit: usize) -> bool {
                Self::advance(self, sources.profile, limit)
            }
        }
    )*};
}

macro_rules! looks_for_work {
    ($($pass:ty),* $(,)?) => {$(
        impl Steps for $pass {
            fn advance(&mut self, sources: &Sources<'_>, limit: usize) -> bool {
                Self::advance(self, sources.profile, (sources.works)(), (sources.flows)(), limit)
            }

            fn progress(&self) -> Option<(u64, u64)> {
                Some(Self::progress(self))
            }
        }
    )*};
}

looks_once!(
    CallTreePass,
    CounterPass,
    CurvePass,
    InOrderPass,
    MemberPass,
    ModulePass,
    OperatorPass,
    QueryPass,
    SandwichPass,
);
looks_for_work!(CriticalPass, IdlePass, SentencesPass);

/// Makes any rows of a table.
pub(super) type TableOf = Box<dyn Fn(&Sources<'_>, Rows) -> Listed>;

/// What a question comes to.
pub(super) enum Found {
    /// A table.
    Table(TableOf),
    /// Anything else.
    Answer(Answer),
}

/// A question being answered.
pub(super) trait Running {
    /// Looks at about `limit` slices or samples more. Returns whether it has seen all.
    fn advance(&mut self, sources: &Sources<'_>, limit: usize) -> bool;

    /// How much is done, and of how much; nothing where it looks at every slice once.
    fn progress(&self) -> Option<(u64, u64)>;

    /// What was found.
    ///
    /// # Errors
    /// With a message for the person when that is nothing.
    fn finish(self: Box<Self>, sources: &Sources<'_>) -> Result<Found, String>;
}

/// An analysis, and how its result becomes an answer.
struct Work<P, F> {
    pass: P,
    finish: F,
}

impl<P: Steps, F: FnOnce(P, &Sources<'_>) -> Result<Found, String>> Running for Work<P, F> {
    fn advance(&mut self, sources: &Sources<'_>, limit: usize) -> bool {
        self.pass.advance(sources, limit)
    }

    fn progress(&self) -> Option<(u64, u64)> {
        self.pass.progress()
    }

    fn finish(self: Box<Self>, sources: &Sources<'_>) -> Result<Found, String> {
        let Self { pass, finish } = *self;
        finish(pass, sources)
    }
}

/// A question whose answer is not a table.
pub(super) fn answered<P: Steps + 'static>(
    pass: P,
    finish: impl FnOnce(P, &Sources<'_>) -> Result<Answer, String> + 'static,
) -> Box<dyn Running> {
    Box::new(Work { pass, finish: |pass, sources: &Sources<'_>| finish(pass, sources).map(Found::Answer) })
}

/// A question whose answer is a table: `find` ends the analysis, `table` makes rows of what it found.
pub(super) fn listed<P: Steps + 'static, T: 'static>(
    pass: P,
    find: impl FnOnce(P, &Sources<'_>) -> T + 'static,
    table: impl Fn(&Sources<'_>, &T, Rows) -> Listed + 'static,
) -> Box<dyn Running> {
    let finish = |pass, sources: &Sources<'_>| {
        let found = find(pass, sources);
        let table: TableOf = Box::new(move |sources, rows| table(sources, &found, rows));
        Ok(Found::Table(table))
    };
    Box::new(Work { pass, finish })
}
