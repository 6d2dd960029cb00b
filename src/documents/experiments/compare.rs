//! Changes in the newest run: each cell (model, backend, batch size) compared with the chosen earlier run.

use std::collections::BTreeMap;

use super::entry::{Entry, MeanTime, Outcome};
use super::view_input::{Against, ViewInput, accelerator_of};
use ns_base::{Order, names};
use ns_experiment::aggregate::Backend;

/// A smaller change is noise, whatever the samples show.
pub const LEAST_CHANGE: f64 = 0.02;
/// Number of runs needed to estimate the variation from run to run.
const FEWEST_RUNS: usize = 4;
/// Number of deviations beyond which a change is hardly chance.
const DEVIATIONS: f64 = 3.0;
/// Factor from a median absolute deviation to a standard deviation, for normal values.
const NORMAL_MAD: f64 = 1.482_602_218_505_602;

names! {
    /// The outcome of a cell.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Status {
        /// The cell had a time and now has an error.
        NowFailing = "now failing",
        /// The cell is slower.
        Regressed = "regressed",
        /// The cell no longer has a record.
        Gone = "gone",
        /// The cell is faster.
        Improved = "improved",
        /// The cell failed and now has a time.
        NowPassing = "now passing",
        /// The cell had no record.
        New = "new",
        /// The cell has too few repeats to decide.
        NotEnough = "not enough data",
        /// The cell failed and still fails.
        StillFailing = "still failing",
        /// It differs by no more than the variation between runs.
        WithinNoise = "within noise",
    }

    /// All outcomes in the order of lists: those that need attention first.
    pub const ALL: [Self; _];
    /// The change in words.
    pub const fn text(self) -> &'static str;
}

/// A cell in both runs.
#[derive(Clone, Debug, PartialEq)]
pub struct CellComparison {
    pub model: String,
    pub backend: Backend,
    /// Batch size as records write it; empty if none was timed.
    pub batch: String,
    pub status: Status,
    /// Times then and now, seconds.
    pub base: Option<MeanTime>,
    pub now: Option<MeanTime>,
    /// Time now divided by time then, and its 95 % confidence interval if both runs have one.
    pub ratio: Option<f64>,
    pub interval: Option<(f64, f64)>,
    /// A change up to this share is noise.
    pub noise: f64,
    /// Its times in all runs, the newest last, seconds.
    pub history: Vec<f64>,
    /// Why it failed, or another note.
    pub remark: String,
}

/// One model with one backend on one accelerator, run by run.
#[derive(Default)]
struct Cell<'a> {
    base: Side<'a>,
    now: Side<'a>,
    /// Times by batch size of every run before the newest.
    history: BTreeMap<&'a str, Vec<f64>>,
}

#[derive(Default)]
struct Side<'a> {
    timed: BTreeMap<&'a str, MeanTime>,
    failed: Option<&'a Entry>,
    /// It has a record that is neither a time nor an error.
    is_untimed: bool,
}

impl<'a> Side<'a> {
    fn take(&mut self, entry: &'a Entry, timed: Option<MeanTime>) {
        match (timed, &entry.outcome) {
            (Some(timed), _) => {
                self.timed.insert(&entry.config.batch, timed);
            }
            (None, Outcome::Failed(_)) => self.failed = Some(entry),
            (None, Outcome::Skipped) => {}
            (None, _) => self.is_untimed = true,
        }
    }

    fn error(&self) -> String {
        match self.failed.map(|e| &e.outcome) {
            Some(Outcome::Failed(error)) => error.to_string(),
            _ => String::new(),
        }
    }
}

/// The two runs that are compared: the earlier one and the newest. `None` if there is only one.
pub fn runs_of(input: &ViewInput<'_>) -> Option<(f64, f64)> {
    let (now, earlier) = input.runs.split_last()?;
    let base = match input.against {
        Against::Previous => *earlier.last()?,
        Against::Oldest => *earlier.first()?,
        Against::Run(t) => *earlier.iter().find(|run| **run == t)?,
    };
    Some((base, *now))
}

/// Every cell of the two runs: those that need attention first, and within an outcome the largest change of time first.
pub fn compare(input: &ViewInput<'_>) -> Vec<CellComparison> {
    let Some((base, now)) = runs_of(input) else { return Vec::new() };
    let mut cells: BTreeMap<(&str, &str, usize), Cell<'_>> = BTreeMap::new();
    for entry in input.records() {
        let config = &entry.config;
        if !input.backends.contains(&config.backend) {
            continue;
        }
        let cell = cells.entry((accelerator_of(entry), &config.model, config.backend.index())).or_default();
        let timed = entry.timed(input.metric).filter(|t| t.measure.avg.is_finite());
        if entry.timestamp == now {
            cell.now.take(entry, timed);
        } else if let Some(timed) = timed {
            cell.history.entry(&config.batch).or_default().push(timed.measure.avg);
        }
        if entry.timestamp == base {
            cell.base.take(entry, timed);
        }
    }
    let mut found: Vec<CellComparison> =
        cells.into_iter().flat_map(|((_, model, backend), cell)| cell.compared(model, Backend::ALL[backend])).collect();
    found.order_by(|a, b| a.status.cmp(&b.status).then(b.seconds().abs().total_cmp(&a.seconds().abs())));
    found
}

impl Cell<'_> {
    fn compared(&self, model: &str, backend: Backend) -> Vec<CellComparison> {
        let mut batches: Vec<&str> = self.base.timed.keys().chain(self.now.timed.keys()).copied().collect();
        batches.order();
        batches.dedup();
        let blank = |batch: &str, status, remark| CellComparison {
            model: model.to_owned(),
            backend,
            batch: batch.to_owned(),
            status,
            base: self.base.timed.get(batch).copied(),
            now: self.now.timed.get(batch).copied(),
            ratio: None,
            interval: None,
            noise: LEAST_CHANGE,
            history: self.history_of(batch),
            remark,
        };
        if batches.is_empty() {
            return self.without_times().map(|(status, remark)| blank("", status, remark)).into_iter().collect();
        }
        let of = |batch: &&str| match (self.base.timed.get(batch), self.now.timed.get(batch)) {
            (Some(base), Some(now)) => self.both(blank(batch, Status::NotEnough, String::new()), *base, *now),
            (Some(_), None) if self.now.failed.is_some() => blank(batch, Status::NowFailing, self.now.error()),
            (Some(_), None) => blank(batch, Status::Gone, other_batches("now", &self.now)),
            (None, _) if self.base.failed.is_some() => blank(batch, Status::NowPassing, self.base.error()),
            (None, _) => blank(batch, Status::New, other_batches("then", &self.base)),
        };
        batches.iter().map(of).collect()
    }

    fn history_of(&self, batch: &str) -> Vec<f64> {
        let now = self.now.timed.get(batch).map(|timed| timed.measure.avg);
        self.history.get(batch).into_iter().flatten().copied().chain(now).collect()
    }

    fn without_times(&self) -> Option<(Status, String)> {
        match (self.base.failed.is_some(), self.now.failed.is_some()) {
            (true, true) => Some((Status::StillFailing, self.now.error())),
            (false, true) if self.base.is_untimed => Some((Status::NowFailing, self.now.error())),
            (false, true) => Some((Status::NowFailing, format!("new: {}", self.now.error()))),
            (true, false) if !self.now.is_untimed => Some((Status::Gone, "it failed in the earlier run".to_owned())),
            _ if self.now.is_untimed => Some((Status::NotEnough, "too few repeats".to_owned())),
            _ => None,
        }
    }

    fn both(&self, cell: CellComparison, base: MeanTime, now: MeanTime) -> CellComparison {
        let ratio = now.measure.avg / base.measure.avg;
        let interval = base.reach.zip(now.reach).map(|(b, n)| {
            let (b, n) = (b / base.measure.avg, n / now.measure.avg);
            let reach = ratio * libm::sqrt(b * b + n * n);
            (ratio - reach, ratio + reach)
        });
        let between = self.history.get(cell.batch.as_str()).and_then(|times| between_runs(times));
        let noise = between.map_or(LEAST_CHANGE, |noise| noise.max(LEAST_CHANGE));
        let is_clear = interval.is_none_or(|(low, high)| low > 1.0 || high < 1.0);
        let status = match (interval.is_some() || between.is_some(), is_clear && (ratio - 1.0).abs() > noise) {
            (false, _) => Status::NotEnough,
            (true, false) => Status::WithinNoise,
            (true, true) if ratio > 1.0 => Status::Regressed,
            (true, true) => Status::Improved,
        };
        CellComparison { status, ratio: Some(ratio), interval, noise, ..cell }
    }
}

fn other_batches(when: &str, side: &Side<'_>) -> String {
    let sizes: Vec<&str> = side.timed.keys().copied().collect();
    if sizes.is_empty() { String::new() } else { format!("different batch sizes: {when} {}", sizes.join(", ")) }
}

/// How much a time differs from run to run, as a share: three robust standard deviations of the steps between runs. `None` for too
/// few runs.
fn between_runs(times: &[f64]) -> Option<f64> {
    if times.len() < FEWEST_RUNS {
        return None;
    }
    let mut steps: Vec<f64> = times.windows(2).map(|pair| (pair[1] / pair[0] - 1.0).abs()).collect();
    steps.order_by(f64::total_cmp);
    let median = ns_base::stats::percentile_sorted(&steps, 50.0)?;
    // A step includes the deviations of two runs.
    Some(DEVIATIONS * NORMAL_MAD * median / std::f64::consts::SQRT_2)
}

impl CellComparison {
    /// How much longer it takes, seconds; 0 if not known.
    pub fn seconds(&self) -> f64 {
        self.base.zip(self.now).map_or(0.0, |(base, now)| now.measure.avg - base.measure.avg)
    }
}
