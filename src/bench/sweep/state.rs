//! A sweep while it runs: which rows wait, run and are done. It is pure state, so that the owner of the workers can pause,
//! cancel, retry, keep and resume it; it does not start workers itself. It owns the results; views share its rows, so that a
//! clone of it costs little.
//!
//! Benchmarks are one kind of sweep ([`super::benchmarks`]); a [`SweepKind`] says what a row of it is.

use std::fmt::Debug;
use std::rc::Rc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::benchmarks::Benchmarks;
use super::storage;

/// What a sweep is of: its request, its rows before they run, and what they result in.
pub trait SweepKind: Clone + Debug + PartialEq {
    /// The request that was expanded to rows.
    type Config: Clone + Debug + PartialEq + Serialize + DeserializeOwned;
    /// A row before it runs.
    type Planned: Clone + Debug + PartialEq + Serialize + DeserializeOwned;
    /// The part of a row that a worker gets.
    type Item: Clone;
    type Result: Clone + Debug + PartialEq;
    /// The part of a result that a written sweep has.
    type Stored: Serialize + DeserializeOwned;

    /// Rows in words, for progress: `configurations`.
    const ROWS: &'static str;

    fn item(planned: &Self::Planned) -> &Self::Item;
    /// Names everything that decides the result.
    fn key(planned: &Self::Planned) -> &str;
    /// The expected work, if it is known.
    fn events(planned: &Self::Planned) -> Option<u64>;
    /// Whether a row is done well; one that is not can be run again.
    fn is_finished(result: &Self::Result) -> bool;
    fn stored(result: &Self::Result) -> &Self::Stored;
    fn of_stored(stored: Self::Stored) -> Self::Result;
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum RowState<K: SweepKind = Benchmarks> {
    /// No worker has begun it.
    Waiting,
    /// A worker is running it.
    Running,
    /// The row was cancelled before it finished.
    Cancelled,
    /// The row has a result: finished or failed.
    Done(#[serde(serialize_with = "storage::write::<K, _>", deserialize_with = "storage::read::<K, _>")] Rc<K::Result>),
}

/// One row of a running sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct SweepRow<K: SweepKind = Benchmarks> {
    pub planned: K::Planned,
    pub state: RowState<K>,
    /// How often it was started.
    pub attempts: u32,
}

impl<K: SweepKind> SweepRow<K> {
    /// Its result, if it has one.
    pub fn result(&self) -> Option<&Rc<K::Result>> {
        match &self.state {
            RowState::Done(result) => Some(result),
            RowState::Waiting | RowState::Running | RowState::Cancelled => None,
        }
    }

    fn is_finished(&self) -> bool {
        self.result().is_some_and(|result| K::is_finished(result))
    }
}

/// Changes the state of a row, which views may share.
fn set<K: SweepKind>(row: &mut Rc<SweepRow<K>>, state: RowState<K>) {
    Rc::make_mut(row).state = state;
}

/// A sweep. It can be written, with the stored part of its results, and read back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct SweepOf<K: SweepKind> {
    pub config: K::Config,
    /// Notes for the user, one sentence each.
    pub messages: Vec<String>,
    #[serde(with = "storage::rows")]
    pub(super) rows: Vec<Rc<SweepRow<K>>>,
    is_paused: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SweepProgress {
    /// Rows that finished.
    pub finished: u32,
    /// Rows that failed.
    pub failed: u32,
    /// Rows that workers are running.
    pub running: u32,
    /// Rows that no worker has begun.
    pub waiting: u32,
    /// Rows cancelled before they finished.
    pub cancelled: u32,
    /// Estimated events of the rows that wait or run.
    pub events_left: u64,
}

impl<K: SweepKind> SweepOf<K> {
    /// The sweep of a request with these rows, all of them waiting.
    pub fn of_rows(config: K::Config, planned: Vec<K::Planned>, messages: Vec<String>) -> Self {
        let row = |planned| Rc::new(SweepRow { planned, state: RowState::Waiting, attempts: 0 });
        Self { config, messages, rows: planned.into_iter().map(row).collect(), is_paused: false }
    }

    /// The rows, in the order of the sweep.
    pub fn rows(&self) -> &[Rc<SweepRow<K>>] {
        &self.rows
    }

    /// The result of a configuration, if it has one.
    pub fn result(&self, row: u32) -> Option<&Rc<K::Result>> {
        self.rows.get(row as usize)?.result()
    }

    /// Takes a note from a worker; returns false when the note is already known, because several workers give the same note about one model.
    pub fn note(&mut self, message: &str) -> bool {
        let is_new = self.messages.iter().all(|m| m != message);
        if is_new {
            self.messages.push(message.to_owned());
        }
        is_new
    }

    /// Drops the notes that the user has read.
    pub fn dismiss(&mut self, message: &str) {
        self.messages.retain(|m| m != message);
    }

    /// Starts the next configuration for a worker; `None` if all have been started or the sweep is paused.
    pub fn begin_next(&mut self) -> Option<(u32, K::Item)> {
        self.begin_next_of(|_| true)
    }

    /// As [`Self::begin_next`], skipping configurations that may not begin yet.
    pub fn begin_next_of(&mut self, may_begin: impl Fn(&K::Item) -> bool) -> Option<(u32, K::Item)> {
        if self.is_paused {
            return None;
        }
        let is_next = |r: &Rc<SweepRow<K>>| r.state == RowState::Waiting && may_begin(K::item(&r.planned));
        let at = self.rows.iter().position(is_next)?;
        let row = Rc::make_mut(self.rows.get_mut(at)?);
        row.state = RowState::Running;
        row.attempts += 1;
        Some((u32::try_from(at).ok()?, K::item(&row.planned).clone()))
    }

    /// Takes a result from a worker. A finished one is never replaced.
    pub fn finish(&mut self, row: u32, result: K::Result) {
        let Some(row) = self.rows.get_mut(row as usize) else { return };
        if !row.is_finished() {
            set(row, RowState::Done(Rc::new(result)));
        }
    }

    /// A worker ended without a row: it was stopped, or died. The configuration waits again.
    pub fn give_back(&mut self, row: u32) {
        if let Some(row) = self.rows.get_mut(row as usize).filter(|r| r.state == RowState::Running) {
            set(row, RowState::Waiting);
        }
    }

    pub fn is_paused(&self) -> bool {
        self.is_paused
    }

    /// Stops starting configurations until it is resumed; running ones continue.
    pub fn pause(&mut self) {
        self.is_paused = true;
    }

    /// Resumes a paused sweep.
    pub fn resume(&mut self) {
        self.is_paused = false;
    }

    /// Cancels the waiting and running configurations; returns the numbers of the rows that workers have to stop. Existing rows stay.
    pub fn cancel(&mut self) -> Vec<u32> {
        let mut running = Vec::new();
        for (i, row) in (0u32..).zip(&mut self.rows) {
            if row.state == RowState::Running {
                running.push(i);
            }
            if matches!(row.state, RowState::Waiting | RowState::Running) {
                set(row, RowState::Cancelled);
            }
        }
        self.is_paused = false;
        running
    }

    /// Lets failed and cancelled configurations run again; returns how many. Finished rows stay.
    pub fn retry_failed(&mut self) -> usize {
        let has_failed = |r: &&mut Rc<SweepRow<K>>| match &r.state {
            RowState::Done(_) => !r.is_finished(),
            RowState::Cancelled => true,
            RowState::Waiting | RowState::Running => false,
        };
        self.rows.iter_mut().filter(has_failed).map(|row| set(row, RowState::Waiting)).count()
    }

    /// To be called after reading back: no worker is running, so running configurations wait again.
    pub fn take_up(&mut self) {
        for row in self.rows.iter_mut().filter(|r| r.state == RowState::Running) {
            set(row, RowState::Waiting);
        }
    }

    pub fn progress(&self) -> SweepProgress {
        let mut p = SweepProgress::default();
        for row in &self.rows {
            let counter = match &row.state {
                RowState::Waiting => &mut p.waiting,
                RowState::Running => &mut p.running,
                RowState::Cancelled => &mut p.cancelled,
                RowState::Done(_) if row.is_finished() => &mut p.finished,
                RowState::Done(_) => &mut p.failed,
            };
            *counter += 1;
            if matches!(row.state, RowState::Waiting | RowState::Running) {
                p.events_left = p.events_left.saturating_add(K::events(&row.planned).unwrap_or(0));
            }
        }
        p
    }

    /// Whether no configuration waits or runs.
    pub fn is_done(&self) -> bool {
        !self.rows.iter().any(|r| matches!(r.state, RowState::Waiting | RowState::Running))
    }
}

#[cfg(test)]
mod tests {
    use crate::config::bench_config::BenchConfig;
    use crate::config::configuration::Configuration;
    use crate::reports::report::Report;
    use crate::run::configuration_run::RowResult;
    use crate::sweep::benchmarks::SweepState;
    use crate::{ConfigurationRun, ServiceTimes};
    use ns_base::{NeverCancel, SimTime};

    /// 24 configurations; those of 3 copies do not fit on the two cores.
    fn sweep() -> SweepState {
        let config = BenchConfig {
            n_models: Some(vec![1, 2, 3]),
            workers_per_model: Some(vec![1, 2]),
            batch_sizes: vec![1, 2, 4, 8],
            duration_s: 0.1,
            ..BenchConfig::default()
        };
        SweepState::new(config).unwrap()
    }

    fn result(configuration: &Configuration) -> RowResult {
        let times = ServiceTimes { device: vec![SimTime::from_us(500)], ..ServiceTimes::default() };
        ConfigurationRun::new(configuration.clone(), Ok(&times)).run(&NeverCancel, Default::default())
    }

    #[test]
    fn a_note_is_told_once_and_can_be_dismissed() {
        let mut state = sweep();
        let before = state.messages.len();
        assert!(state.note("mlp: 3 of 4 products are removed") && !state.note("mlp: 3 of 4 products are removed"));
        assert!(state.note("other"));
        let mut read: SweepState = serde_json::from_str(&serde_json::to_string(&state).unwrap()).unwrap();
        assert_eq!(read.messages.len(), before + 2);
        read.dismiss("mlp: 3 of 4 products are removed");
        assert_eq!(read.messages.last().map(String::as_str), Some("other"));
        assert_eq!(read.messages.len(), before + 1);
    }

    fn run_some(state: &mut SweepState, count: usize) -> usize {
        let mut ran = 0;
        while ran < count {
            let Some((row, configuration)) = state.begin_next() else { break };
            state.finish(row, result(&configuration));
            ran += 1;
        }
        ran
    }

    #[test]
    fn a_configuration_that_may_not_begin_is_passed_over_and_keeps_its_place() {
        let mut state = sweep();
        let first = state.rows()[0].planned.configuration.clone();
        let (row, next) = state.begin_next_of(|c| c.times_key() != first.times_key()).unwrap();
        assert!(row > 0 && next.times_key() != first.times_key());
        assert_eq!(state.begin_next_of(|_| false), None);
        assert_eq!(state.begin_next(), Some((0, first)));
    }

    #[test]
    fn a_sweep_is_paused_kept_taken_up_cancelled_and_retried() {
        let mut state = sweep();
        assert_eq!((state.rows().len(), run_some(&mut state, 5)), (24, 5));
        state.pause();
        assert_eq!(state.begin_next(), None);
        state.resume();
        let (row, _) = state.begin_next().unwrap();
        assert_eq!(row, 5);
        // The tab is closed with one configuration running and opened again.
        let kept = postcard::to_allocvec(&state).unwrap();
        let row = serde_json::to_value(&state).unwrap()["rows"][0].take();
        assert_eq!(row["state"]["Done"], serde_json::to_value(state.reports().next()).unwrap());
        let mut state: SweepState = postcard::from_bytes(&kept).unwrap();
        state.take_up();
        assert_eq!(state.progress().waiting, 19);
        assert_eq!(state.begin_next().map(|(row, _)| row), Some(5));
        assert_eq!(state.rows()[5].attempts, 2);
        assert_eq!(state.cancel(), [5]);
        assert!(state.is_done() && state.reports().count() == 5);
        // A row that comes late still counts.
        let late = result(&state.rows()[5].planned.configuration.clone());
        state.finish(5, late);
        let failed_before = state.progress().failed;
        assert_eq!((failed_before, state.progress().cancelled), (2, 18));
        assert_eq!(state.retry_failed(), 20);
        assert_eq!(run_some(&mut state, 100), 20);
        let p = state.progress();
        assert_eq!((p.finished, p.failed, p.waiting, p.running, p.cancelled), (16, 8, 0, 0, 0));
        assert_eq!(state.reports().count(), 24);
    }

    #[test]
    fn finished_rows_of_an_earlier_sweep_are_not_run_again() {
        let mut earlier = sweep();
        run_some(&mut earlier, 24);
        let mut again = sweep();
        let kept = || (0..24).filter_map(|row| earlier.kept(row));
        assert_eq!(again.adopt(kept()), 16);
        assert_eq!(run_some(&mut again, 24), 8);
        assert!(again.reports().eq(earlier.reports()));
        let mut other = SweepState::new(BenchConfig { seed: 1, ..earlier.config.clone() }).unwrap();
        assert_eq!(other.adopt(kept()), 0);
    }

    #[test]
    fn a_finished_row_is_never_lost_to_a_failed_one() {
        let mut state = sweep();
        run_some(&mut state, 1);
        let before: Vec<Report> = state.reports().cloned().collect();
        let configuration = state.rows()[0].planned.configuration.clone();
        state.finish(0, RowResult::failed(&configuration, "the worker died"));
        state.give_back(0);
        state.finish(99, RowResult::default());
        assert!(state.reports().eq(&before));
    }
}
