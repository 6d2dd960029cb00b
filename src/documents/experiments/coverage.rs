//! The models in a geometric mean, and those left out with the reason; batch sizes that differ; how many experiments passed.

use std::collections::{BTreeMap, BTreeSet};

use super::compare::runs_of;
use super::entry::{Entry, Outcome};
use super::view_input::ViewInput;
use ns_base::convert::usize_to_f64;
use ns_experiment::aggregate::Backend;

/// A model that a geometric mean leaves out.
pub struct LeftOut {
    pub backend: Backend,
    pub model: String,
    pub reason: String,
}

/// Number of experiments of a run that passed, and number that should have run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PassCount {
    pub passed: usize,
    pub all: usize,
    /// Experiments of `all` that the earlier run has and this one does not.
    pub gone: usize,
}

/// Whether the experiments of a run passed: by model, backend, and batch size as records write it.
type Cells<'a> = BTreeMap<(&'a str, usize, &'a str), bool>;

/// Every model of the selection.
pub fn models<'a>(input: &ViewInput<'a>) -> BTreeSet<&'a str> {
    let wanted = |e: &&Entry| input.backends.contains(&e.config.backend);
    input.records().filter(wanted).map(|e| e.config.model.as_str()).collect()
}

/// Models that the newest geometric mean of a backend leaves out, with the reason.
pub fn left_out(input: &ViewInput<'_>) -> Vec<LeftOut> {
    let report = input.report(ns_experiment::aggregate::ReportKind::Latest);
    let all = models(input);
    let mut out = Vec::new();
    for (b, backend) in input.backends.iter().enumerate() {
        let has: BTreeSet<&str> =
            report.newest(b).map(|n| n.models.iter().map(|(name, _)| name.as_str()).collect()).unwrap_or_default();
        for model in all.difference(&has) {
            let reason = reason(input, *backend, model);
            out.push(LeftOut { backend: *backend, model: (*model).to_owned(), reason });
        }
    }
    out
}

fn reason(input: &ViewInput<'_>, backend: Backend, model: &str) -> String {
    let last = input.records().rev().find(|e| e.config.backend == backend && e.config.model == model);
    let first = input.backends.first().copied();
    match last.map(|e| (&e.outcome, e.timed(input.metric))) {
        None => "no record".to_owned(),
        Some((Outcome::Failed(error), _)) => format!("failed: {error}"),
        Some((Outcome::Skipped, _)) => "skipped: not meant to run there".to_owned(),
        Some((Outcome::Untimed, _)) => "no time: it was run only to verify values".to_owned(),
        Some((Outcome::Timed { repeats, .. }, None)) => format!("too few repeats: {repeats}"),
        Some((Outcome::Timed { .. }, Some(_))) => {
            let base = first.map_or("", Backend::title);
            format!("no {base} time of the same batch size to compare with, or not in this backend's newest run")
        }
    }
}

/// Models whose backends were timed with different batch sizes, one sentence each.
pub fn unlike_batches(input: &ViewInput<'_>) -> Vec<String> {
    let mut sizes: BTreeMap<&str, BTreeMap<usize, BTreeSet<&str>>> = BTreeMap::new();
    for entry in input.records().filter(|e| e.timed(input.metric).is_some()) {
        let config = &entry.config;
        if input.backends.contains(&config.backend) {
            sizes.entry(&config.model).or_default().entry(config.backend.index()).or_default().insert(&config.batch);
        }
    }
    let sentence = |(model, backends): (&str, BTreeMap<usize, BTreeSet<&str>>)| {
        let mut all = backends.values();
        let first = all.next()?;
        if all.all(|other| other == first) {
            return None;
        }
        let of = |(b, sizes): (&usize, &BTreeSet<&str>)| {
            let sizes: Vec<&str> = sizes.iter().copied().collect();
            format!("{} with {}", Backend::ALL[*b].title(), sizes.join(", "))
        };
        Some(format!("{model}: {}", backends.iter().map(of).collect::<Vec<_>>().join("; ")))
    };
    sizes.into_iter().filter_map(sentence).collect()
}

/// How many experiments passed, run by run: those with a time, or whose values the verifier accepted. Skipped experiments do not
/// count; of several records of one experiment the better one does. An experiment that is gone did not pass: the newest run
/// is compared with the run that was chosen to compare with, another run with the one before it.
pub fn passed(input: &ViewInput<'_>) -> Vec<(f64, PassCount)> {
    let records: Vec<&Entry> = input.records().collect();
    let runs: Vec<&[&Entry]> = records.chunk_by(|a, b| a.timestamp == b.timestamp).collect();
    let base = runs_of(input);
    let earlier = |i: usize| {
        let of_newest = base.filter(|(_, now)| runs[i][0].timestamp == *now);
        match of_newest {
            Some((base, _)) => runs.iter().find(|run| run[0].timestamp == base),
            None => i.checked_sub(1).and_then(|before| runs.get(before)),
        }
    };
    let of_run = |(i, run): (usize, &&[&Entry])| {
        let cells = cells_of(input, run);
        let has: BTreeSet<(&str, usize)> = run.iter().map(|e| (&*e.config.model, e.config.backend.index())).collect();
        let then = earlier(i).map(|run| cells_of(input, run)).unwrap_or_default();
        let gone = then.keys().filter(|(model, backend, _)| !has.contains(&(model, *backend))).count();
        let passed = cells.values().filter(|p| **p).count();
        (run[0].timestamp, PassCount { passed, all: cells.len() + gone, gone })
    };
    runs.iter().enumerate().map(of_run).collect()
}

fn cells_of<'a>(input: &ViewInput<'_>, run: &[&'a Entry]) -> Cells<'a> {
    let mut best: Cells<'a> = BTreeMap::new();
    for entry in run.iter().filter(|e| input.backends.contains(&e.config.backend)) {
        let config = &entry.config;
        let passed = match &entry.outcome {
            Outcome::Skipped => continue,
            Outcome::Timed { .. } => true,
            Outcome::Failed(_) => false,
            Outcome::Untimed => entry.code.as_deref() == Some("PASS"),
        };
        // A failed record has no batch size.
        let batch = if passed { config.batch.as_str() } else { "null" };
        *best.entry((&config.model, config.backend.index(), batch)).or_default() |= passed;
    }
    let succeeded: BTreeSet<(&str, usize)> = best.iter().filter(|(_, p)| **p).map(|((m, b, _), _)| (*m, *b)).collect();
    best.retain(|(model, backend, _), passed| *passed || !succeeded.contains(&(*model, *backend)));
    best
}

impl PassCount {
    /// The share of experiments that passed, percent; `None` without experiments.
    pub fn percent(self) -> Option<f64> {
        (self.all > 0).then(|| usize_to_f64(self.passed) / usize_to_f64(self.all) * 100.0)
    }
}
