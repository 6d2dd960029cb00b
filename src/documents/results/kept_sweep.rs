//! A sweep as text that a shell keeps from one visit to the next: one piece for the request, one for each row as it
//! ends, so that keeping a row costs the same however long the sweep is.
//!
//! A piece is a message's bytes, one character per byte (U+0000 to U+00FF). The page can read messages anyway, and readers of
//! JSON took a thirtieth of its size. A build reads pieces from builds with the same protocol.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::PROTOCOL_VERSION;
use ns_base::Order;
use ns_bench::{BenchConfig, Report, RowResult, SweepKind, SweepOf, SweepPlan, SweepState};
use ns_device::model_label;

/// The request, and its progress.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeptRequest<C> {
    pub config: C,
    /// Number of its rows.
    pub rows: u32,
    /// Whether all its rows have run.
    pub is_done: bool,
}

/// A row: its position, the key that names its configuration (a later version of the product may list others), and its
/// outcome.
type KeptRow<R> = (u32, String, R);

/// A sweep that was read back.
#[derive(Clone, Debug)]
pub struct RestoredSweep {
    /// The sweep, with its kept rows done and the others waiting.
    pub sweep: SweepState,
    /// Rows of configurations that the sweep no longer has.
    pub others: Vec<Report>,
    /// Pieces that could not be read.
    pub unreadable: u32,
}

/// The request of a benchmark.
pub type KeptHead = KeptRequest<BenchConfig>;

impl KeptRequest<BenchConfig> {
    /// Its name in a list: `resnet50 on inf2.xlarge, 24 configurations`.
    pub fn title(&self) -> String {
        let what = self.config.mlperf.as_ref().map(|m| format!("MLPerf {}, ", m.scenario.name())).unwrap_or_default();
        let plural = if self.rows == 1 { "" } else { "s" };
        let model = model_label(&self.config.model);
        format!("{what}{model} on {}, {} configuration{plural}", self.config.instance_type, self.rows)
    }
}

impl<C: Clone + Serialize + DeserializeOwned> KeptRequest<C> {
    /// The head of a sweep.
    pub fn of<K: SweepKind<Config = C>>(sweep: &SweepOf<K>) -> Self {
        let rows = u32::try_from(sweep.rows().len()).unwrap_or(u32::MAX);
        Self { config: sweep.config.clone(), rows, is_done: sweep.is_done() }
    }

    /// The head as text.
    pub fn to_text(&self) -> String {
        to_text(&(PROTOCOL_VERSION, self)).unwrap_or_default()
    }

    /// Reads it from text; `None` if a build with another protocol wrote it.
    pub fn from_text(text: &str) -> Option<Self> {
        let version: u32 = of_text(text)?;
        if version != PROTOCOL_VERSION {
            return None;
        }
        of_text(text).map(|(_, head): (u32, Self)| head)
    }
}

pub(super) fn to_text(value: &impl Serialize) -> Option<String> {
    let bytes = postcard::to_allocvec(value).ok()?;
    Some(bytes.into_iter().map(char::from).collect())
}

/// The value of a text; `None` when it is not one of that type.
pub(super) fn of_text<T: DeserializeOwned>(text: &str) -> Option<T> {
    let bytes: Vec<u8> = text.chars().map(u8::try_from).collect::<Result<_, _>>().ok()?;
    postcard::from_bytes(&bytes).ok()
}

/// A row as text, with its report alone where a sweep has too many rows for their charts; `None` for a row without a result.
pub fn keep_row(sweep: &SweepState, row: u32, has_report_alone: bool) -> Option<String> {
    let kept = sweep.rows().get(row as usize)?;
    let result = kept.result()?;
    // Not the measurement itself: eight bytes per inference are too many for a store of texts.
    let mut slim = RowResult { report: result.report.clone(), ..RowResult::default() };
    if !has_report_alone {
        (slim.charts, slim.mlperf) = (result.charts.clone(), result.mlperf.clone());
    }
    to_text(&(row, &kept.planned.key, slim))
}

/// Reads a sweep back; `plan` is the current plan of the head's benchmark.
pub fn restore_sweep(head: &KeptHead, plan: SweepPlan, rows: &[String]) -> RestoredSweep {
    let sweep = SweepState::of(head.config.clone(), plan);
    let mut restored = RestoredSweep { sweep, others: Vec::new(), unreadable: 0 };
    let (rows, unreadable) = read_rows::<RowResult>(rows);
    restored.unreadable = unreadable;
    for (row, key, result) in rows {
        let is_known = restored.sweep.rows().get(row as usize).is_some_and(|r| r.planned.key == key);
        if is_known {
            restored.sweep.finish(row, result);
        } else {
            restored.others.push(result.report);
        }
    }
    restored
}

/// The reports of kept rows, in the order of their configurations; unreadable rows are left out.
pub fn kept_reports(rows: &[String]) -> Vec<Report> {
    let (read, _) = read_rows::<RowResult>(rows);
    read.into_iter().map(|(_, _, result)| result.report).collect()
}

/// The rows that can be read, in the order of their configurations, and the number of the others.
pub(super) fn read_rows<R: DeserializeOwned>(rows: &[String]) -> (Vec<KeptRow<R>>, u32) {
    let mut read: Vec<KeptRow<R>> = rows.iter().filter_map(|text| of_text(text)).collect();
    read.order_by_key(|(row, ..)| *row);
    let unreadable = rows.len().saturating_sub(read.len());
    (read, u32::try_from(unreadable).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_base::SimTime;
    use ns_bench::mlperf::{MlperfSettings, Scenario, ScenarioProgress, ScenarioRun};
    use ns_bench::{ConfigurationRun, RunDetail, ServiceTimes};

    fn plan_of(head: &KeptHead) -> SweepPlan {
        SweepPlan::of(&head.config).unwrap()
    }

    fn result(sweep: &SweepState, row: usize) -> RowResult {
        let times = ServiceTimes { device: vec![SimTime::from_us(900)], ..ServiceTimes::default() };
        let mut run = ConfigurationRun::new(sweep.rows()[row].planned.configuration.clone(), Ok(&times));
        while !run.step(10_000).done {}
        run.finish(RunDetail { charts: true, ..RunDetail::default() }).0
    }

    fn results(sweep: &SweepState) -> Vec<Option<&RowResult>> {
        sweep.rows().iter().map(|row| row.result().map(|result| &**result)).collect()
    }

    #[test]
    fn a_sweep_that_was_cut_off_is_read_back_whole() {
        let config = BenchConfig { duration_s: 3.0, n_models: Some(vec![1, 2, 9]), ..BenchConfig::default() };
        let mut sweep = SweepState::new(config).unwrap();
        let mut pieces = Vec::new();
        for row in [2, 0] {
            let result = result(&sweep, row as usize);
            sweep.finish(row, result);
            pieces.push(keep_row(&sweep, row, false).unwrap());
        }
        let head = KeptHead::from_text(&KeptHead::of(&sweep).to_text()).unwrap();
        assert_eq!((head.rows, head.is_done), (6, false));
        assert_eq!(head.title(), "nn on trn1.2xlarge, 6 configurations");
        let restored = restore_sweep(&head, plan_of(&head), &pieces);
        assert_eq!(results(&restored.sweep), results(&sweep));
        pieces.push("x".to_owned());
        assert!(kept_reports(&pieces).iter().eq(restored.sweep.reports()));
        pieces.pop();
        assert_eq!((0..6).filter(|row| restored.sweep.result(*row).is_some()).collect::<Vec<_>>(), [0, 2]);
        assert!(restored.sweep.result(0).unwrap().charts.is_some());
        let alone = restore_sweep(&head, plan_of(&head), &[keep_row(&sweep, 0, true).unwrap()]);
        let alone = alone.sweep.result(0).unwrap();
        assert_eq!((&alone.report, &alone.charts), (&sweep.result(0).unwrap().report, &None));
        assert_eq!((restored.others.len(), restored.unreadable), (0, 0));
        assert!(pieces.iter().all(|p| p.len() < 6_000), "{}", pieces[1].len());
    }

    #[test]
    fn a_verdict_is_read_back_whole() {
        let mlperf = MlperfSettings { latency_bound_ms: Some(5.0), min_duration_s: 2.0, ..MlperfSettings::default() };
        let mlperf = MlperfSettings { scenario: Scenario::Server, ..mlperf };
        let config = BenchConfig { n_models: Some(vec![1, 2]), mlperf: Some(mlperf.clone()), ..BenchConfig::default() };
        let mut sweep = SweepState::new(config).unwrap();
        let times = ServiceTimes { device: vec![SimTime::from_us(900)], ..ServiceTimes::default() };
        let (row, configuration) = sweep.begin_next().unwrap();
        let mut run = ScenarioRun::new(mlperf, configuration.clone(), times).unwrap();
        let verdict = loop {
            if let ScenarioProgress::Done(verdict) = run.step(100_000).unwrap() {
                break verdict;
            }
        };
        let result = RowResult::of_scenario(&configuration, verdict);
        sweep.finish(row, result.clone());
        let piece = keep_row(&sweep, row, false).unwrap();
        let head = KeptHead::from_text(&KeptHead::of(&sweep).to_text()).unwrap();
        let restored = restore_sweep(&head, plan_of(&head), &[piece]);
        assert_eq!(restored.sweep.result(row).map(|r| &**r), Some(&result));
        assert_eq!(results(&restored.sweep), results(&sweep));
    }

    #[test]
    fn rows_of_other_configurations_and_broken_pieces_lose_nothing_else() {
        let mut sweep = SweepState::new(BenchConfig { duration_s: 3.0, ..BenchConfig::default() }).unwrap();
        assert_eq!(keep_row(&sweep, 0, false), None);
        let first = result(&sweep, 0);
        sweep.finish(0, first);
        let piece = keep_row(&sweep, 0, false).unwrap();
        let other = SweepState::new(BenchConfig { duration_s: 4.0, ..BenchConfig::default() }).unwrap();
        let restored = restore_sweep(&KeptHead::of(&other), plan_of(&KeptHead::of(&other)), &[piece, "{".to_owned()]);
        assert_eq!((restored.sweep.reports().count(), restored.others.len(), restored.unreadable), (0, 1, 1));
        let of_before = to_text(&(PROTOCOL_VERSION - 1, KeptHead::of(&sweep))).unwrap();
        for text in ["", "{}", "\u{20ac}", of_before.as_str()] {
            assert_eq!(KeptHead::from_text(text), None, "{text:?}");
        }
    }
}
