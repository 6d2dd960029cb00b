//! The configuration that fits best: the most throughput, or the least latency or cost, of those within limits.

use super::plots::RowNames;
use ns_base::convert::u64_to_f64;
use ns_base::units::{format_number, format_share};
use ns_base::{Refusal, refuse};
use ns_bench::{Report, best};
use ns_forms::results::{Goal, WantedTexts};

/// The value that is compared, and whether the largest is the best.
const fn measure(goal: Goal) -> (fn(&Report) -> Option<f64>, bool) {
    match goal {
        Goal::Throughput => (|r| r.throughput_avg, true),
        Goal::Latency => (|r| r.latency_ms_p99, false),
        Goal::Cost => (|r| r.cost_per_1m_inf, false),
    }
}

/// Limits, and the goal within them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Requirements {
    /// Longest p99 latency, ms.
    pub p99_ms: Option<f64>,
    /// Highest price of a million inferences, US$.
    pub cost: Option<f64>,
    /// Most NeuronCores.
    pub cores: Option<f64>,
    pub goal: Goal,
}

/// The result of a search in some reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BestRow {
    /// Position of the best one; `None` when none fits.
    pub best: Option<usize>,
    /// Finished configurations within the limits.
    pub fitting: usize,
    /// Finished configurations.
    pub finished: usize,
}

/// NeuronCores that a configuration occupies: one for each stage of each copy.
pub fn cores_of(r: &Report) -> u64 {
    u64::from(r.n_models) * u64::from(r.pipeline_size.max(1))
}

impl Requirements {
    /// The limits; unusable ones are left out and reported, each with its name.
    pub fn read(texts: &WantedTexts) -> (Self, Vec<(&'static str, Refusal)>) {
        let mut wrong = Vec::new();
        let mut limit = |name: &'static str, text: &str| {
            let text = text.trim();
            let value = text.parse::<f64>().ok().filter(|v| v.is_finite() && *v > 0.0);
            if value.is_none() && !text.is_empty() {
                let refusal = refuse!("{name}: '{text}' is not a positive number; write one such as 10 or 2.5");
                wrong.push((name, refusal));
            }
            value
        };
        let (p99_ms, cost) = (limit("p99 at most", &texts.p99_ms), limit("Cost at most", &texts.cost));
        let cores = limit("Cores at most", &texts.cores);
        (Self { p99_ms, cost, cores, goal: texts.goal }, wrong)
    }

    /// Whether any limit is set.
    pub const fn has_limits(&self) -> bool {
        self.p99_ms.is_some() || self.cost.is_some() || self.cores.is_some()
    }

    /// Whether a report is within the limits; a missing value is within no limit.
    pub fn admits(&self, r: &Report) -> bool {
        let within = |value: Option<f64>, limit: Option<f64>| limit.is_none_or(|l| value.is_some_and(|v| v <= l));
        r.is_finished()
            && within(r.latency_ms_p99, self.p99_ms)
            && within(r.cost_per_1m_inf, self.cost)
            && within(Some(u64_to_f64(cores_of(r))), self.cores)
    }

    /// The limits that a report breaks, each with by how much: `p99 12 % above the limit`.
    pub fn misses(&self, r: &Report) -> Vec<String> {
        let all = [
            ("p99", r.latency_ms_p99, self.p99_ms),
            ("cost", r.cost_per_1m_inf, self.cost),
            ("cores", Some(u64_to_f64(cores_of(r))), self.cores),
        ];
        let miss = |(name, value, limit): (&str, Option<f64>, Option<f64>)| {
            let above = value? / limit? - 1.0;
            (above > 0.0).then(|| format!("{name} {} above the limit", format_share(above * 100.0)))
        };
        all.into_iter().filter_map(miss).collect()
    }

    /// Whether a report is compared with others: it has finished, within the limits if there are any.
    pub fn counts(&self, r: &Report) -> bool {
        if self.has_limits() { self.admits(r) } else { r.is_finished() }
    }

    /// The limits in words: `p99 at most 20.0 ms, at most 4 cores`; `None` without limits.
    pub fn limits(&self) -> Option<String> {
        let limit = |value: Option<f64>, before: &str, unit: &str| {
            value.map(|v| format!("{before}at most {} {unit}", format_number(v)))
        };
        let limits = [
            limit(self.p99_ms, "p99 ", "ms"),
            limit(self.cost, "cost ", "US$ per million"),
            limit(self.cores, "", "cores"),
        ];
        let limits: Vec<String> = limits.into_iter().flatten().collect();
        (!limits.is_empty()).then(|| limits.join(", "))
    }

    /// The best of some reports, as the tiles and the verdict name it.
    pub fn find(&self, reports: &[&Report]) -> BestRow {
        let (measure, is_largest) = measure(self.goal);
        let found = best(reports.iter().copied().filter(|r| self.admits(r)), measure, is_largest);
        BestRow {
            best: found.and_then(|(found, _)| reports.iter().position(|r| std::ptr::eq(*r, found))),
            fitting: reports.iter().filter(|r| self.admits(r)).count(),
            finished: reports.iter().filter(|r| r.is_finished()).count(),
        }
    }

    /// The result in words.
    pub fn describe(&self, reports: &[&Report], found: BestRow) -> String {
        let BestRow { best, fitting, finished } = found;
        let Some(r) = best.and_then(|i| reports.get(i)) else {
            return match finished {
                0 => "No configuration has finished.".to_owned(),
                _ => format!("None of {finished} finished configurations is within these limits."),
            };
        };
        let of =
            if self.has_limits() { format!(" {fitting} of {finished} are within the limits.") } else { String::new() };
        format!("{}: {}.{of}", self.goal.name(), RowNames::of(reports).with_figures(r))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(n_models: u32, throughput: f64, p99: f64, cost: f64) -> Report {
        Report {
            n_models,
            workers_per_model: 1,
            batch_size: 1,
            pipeline_size: 1,
            throughput_avg: Some(throughput),
            latency_ms_p99: Some(p99),
            cost_per_1m_inf: Some(cost),
            status: "finished".into(),
            ..Report::default()
        }
    }

    fn texts(p99_ms: &str, cost: &str, cores: &str, goal: Goal) -> WantedTexts {
        WantedTexts { p99_ms: p99_ms.into(), cost: cost.into(), cores: cores.into(), goal }
    }

    #[test]
    fn the_best_is_the_best_of_those_within_the_limits() {
        let all = [report(1, 300.0, 3.0, 2.0), report(2, 590.0, 5.0, 1.0), report(16, 4_000.0, 12.0, 0.5)];
        let failed = Report { status: "error".into(), throughput_avg: Some(1e9), ..Report::default() };
        let reports: Vec<&Report> = all.iter().chain([&failed]).collect();
        let best = |t: WantedTexts| Requirements::read(&t).0.find(&reports).best;
        assert_eq!(best(WantedTexts::default()), Some(2));
        assert_eq!(best(texts("10", "", "", Goal::Throughput)), Some(1));
        assert_eq!(best(texts("10", "", "1", Goal::Throughput)), Some(0));
        assert_eq!(best(texts("", "1.5", "", Goal::Latency)), Some(1));
        assert_eq!(best(texts("", "", "", Goal::Cost)), Some(2));
        let found = Requirements::read(&texts("1", "", "", Goal::Throughput)).0.find(&reports);
        assert_eq!(found, BestRow { best: None, fitting: 0, finished: 3 });
    }

    #[test]
    fn figures_with_an_operator_without_a_known_cost_are_bounds() {
        let estimate = Some(ns_device::EstimateMark { unknown: 1, estimated: 0 });
        let bound = Report { estimate, ..report(1, 300.0, 3.0, 2.0) };
        let (wanted, _) = Requirements::read(&WantedTexts::default());
        let words = wanted.describe(&[&bound], wanted.find(&[&bound]));
        assert!(
            words.contains("at most 300 inf/s, at least 3.00 ms p99, at least 2.00 US$ per million, 1 core"),
            "{words}"
        );
    }

    #[test]
    fn the_best_row_is_described_with_its_figures() {
        let all = [report(1, 300.0, 3.0, 2.0), report(2, 28_864.712, 5.0, 1.0)];
        let reports: Vec<&Report> = all.iter().collect();
        let words = |t: WantedTexts| {
            let wanted = Requirements::read(&t).0;
            wanted.describe(&reports, wanted.find(&reports))
        };
        assert_eq!(
            words(texts("10", "", "", Goal::Throughput)),
            "most throughput: 2 models, 1 worker each, batch 1, 28,900 inf/s, 5.00 ms p99, 1.00 US$ per million, 2 cores. \
             2 of 2 are within the limits."
        );
        assert_eq!(words(texts("1", "", "", Goal::Cost)), "None of 2 finished configurations is within these limits.");
    }

    #[test]
    fn limits_that_are_no_numbers_are_named_and_limit_nothing() {
        let (wanted, wrong) = Requirements::read(&texts("ten", "-1", "", Goal::Latency));
        assert_eq!(wanted, Requirements { goal: Goal::Latency, ..Requirements::default() });
        assert_eq!(wrong.len(), 2);
        assert!(wrong[0].1.to_string().starts_with("p99 at most: 'ten' is not a positive number"));
    }

    #[test]
    fn a_value_that_is_not_known_is_within_no_limit() {
        let unpriced = Report { cost_per_1m_inf: None, ..report(1, 9.0, 1.0, 0.0) };
        assert_eq!(Requirements::read(&texts("", "5", "", Goal::Throughput)).0.find(&[&unpriced]).fitting, 0);
        assert_eq!(Requirements::read(&texts("5", "", "", Goal::Throughput)).0.find(&[&unpriced]).fitting, 1);
        let staged = Report { pipeline_size: 4, ..report(2, 9.0, 1.0, 1.0) };
        assert_eq!(cores_of(&staged), 8);
    }
}
