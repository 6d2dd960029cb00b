//! The common interface of all questions: read part of the slices, report progress, and answer at the end.

use super::listing::{LinkedTable, Rows, Sources};
use super::question::Answer;
use ns_analysis::calltree::{CallTreePass, SandwichPass};
use ns_analysis::counters::{CounterPass, CurvePass};
use ns_analysis::critical::CriticalPass;
use ns_analysis::idle::IdlePass;
use ns_analysis::in_order::InOrderPass;
use ns_analysis::members::MemberPass;
use ns_analysis::memory::MemoryPass;
use ns_analysis::module_flame::ModuleFlamePass;
use ns_analysis::modules::ModulePass;
use ns_analysis::operators::OperatorPass;
use ns_analysis::query::QueryPass;
use ns_analysis::sentences::SentencesPass;

/// An analysis that is computed a part at a time.
pub(super) trait Steps {
    /// Reads about `limit` more slices or samples. Returns whether it has read all.
    fn advance(&mut self, sources: &Sources<'_>, limit: usize) -> bool;

    /// Work done and total work; `None` if it reads every slice once.
    fn progress(&self) -> Option<(u64, u64)> {
        None
    }
}

/// Reads nothing: the answer is there.
pub(super) struct NoPass;

impl Steps for NoPass {
    fn advance(&mut self, _: &Sources<'_>, _: usize) -> bool {
        true
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
    MemoryPass,
    ModulePass,
    ModuleFlamePass,
    OperatorPass,
    QueryPass,
    SandwichPass,
);
looks_for_work!(CriticalPass, IdlePass, SentencesPass);

/// Makes the requested rows of a table.
pub type TableOf = Box<dyn Fn(&Sources<'_>, Rows) -> LinkedTable>;

/// The result of a question.
pub enum StepAnswer {
    Table(TableOf),
    /// Any other result.
    Answer(Answer),
}

/// A question being answered.
pub trait Running {
    /// Reads about `limit` more slices or samples. Returns whether it has read all.
    fn advance(&mut self, sources: &Sources<'_>, limit: usize) -> bool;

    /// Work done and total work; `None` if it reads every slice once.
    fn progress(&self) -> Option<(u64, u64)>;

    fn finish(self: Box<Self>, sources: &Sources<'_>) -> Result<StepAnswer, String>;
}

/// An analysis, and how its result becomes an answer.
struct PassWork<P, F> {
    pass: P,
    finish: F,
}

impl<P: Steps, F: FnOnce(P, &Sources<'_>) -> Result<StepAnswer, String>> Running for PassWork<P, F> {
    fn advance(&mut self, sources: &Sources<'_>, limit: usize) -> bool {
        self.pass.advance(sources, limit)
    }

    fn progress(&self) -> Option<(u64, u64)> {
        self.pass.progress()
    }

    fn finish(self: Box<Self>, sources: &Sources<'_>) -> Result<StepAnswer, String> {
        let Self { pass, finish } = *self;
        finish(pass, sources)
    }
}

/// A question whose answer is not a table.
pub(super) fn answered<P: Steps + 'static>(
    pass: P,
    finish: impl FnOnce(P, &Sources<'_>) -> Result<Answer, String> + 'static,
) -> Box<dyn Running> {
    Box::new(PassWork { pass, finish: |pass, sources: &Sources<'_>| finish(pass, sources).map(StepAnswer::Answer) })
}

/// A question whose answer is a table: `find` ends the analysis, `table` makes rows from its result.
pub(super) fn listed<P: Steps + 'static, T: 'static>(
    pass: P,
    find: impl FnOnce(P, &Sources<'_>) -> T + 'static,
    table: impl Fn(&Sources<'_>, &T, Rows) -> LinkedTable + 'static,
) -> Box<dyn Running> {
    let finish = |pass, sources: &Sources<'_>| {
        let found = find(pass, sources);
        let table: TableOf = Box::new(move |sources, rows| table(sources, &found, rows));
        Ok(StepAnswer::Table(table))
    };
    Box::new(PassWork { pass, finish })
}
