//! Runs a case in parts, together with the cases that its findings compare with. A user may cancel between two parts.

use super::config::MatmultCase;
use super::findings::{BesideCase, findings};
use super::measure::{CaseResult, Measuring, Step};
use super::ranges::{RangeSummary, ranges};
use super::report::{MatmultDetail, MatmultReport, detail, failed, finished};
use ns_device::ModelLibrary;

/// A case in progress.
pub struct CaseRun {
    case: MatmultCase,
    models: ModelLibrary,
    beside: BesideCase,
    /// The measurement in progress: the case itself, or one to compare with.
    measuring: Option<(Option<MatmultCase>, Measuring)>,
    measured: Option<Box<CaseResult>>,
    ranges: Option<RangeSummary>,
}

impl CaseRun {
    /// Begins a case whose model is in the zoo or in `models`.
    pub fn new(case: MatmultCase, models: &ModelLibrary) -> Self {
        let measuring = Some((None, Measuring::new(case.clone(), models.clone())));
        Self { case, models: models.clone(), beside: BesideCase::default(), measuring, measured: None, ranges: None }
    }

    /// A short description of the case.
    pub fn label(&self) -> String {
        self.case.label()
    }

    /// Compiles, or simulates about this many more events. Returns the report and the data for plots when that was the last part.
    pub fn step(&mut self, budget_events: u64) -> Option<(MatmultReport, Option<MatmultDetail>)> {
        if let Some((other, measuring)) = self.measuring.take() {
            match (measuring.step(budget_events), other) {
                (Ok(Step::More(measuring)), other) => self.measuring = Some((other, measuring)),
                (Ok(Step::Done(measured)), Some(other)) => self.beside.learn(other, Some(&measured)),
                (Err(_), Some(other)) => self.beside.learn(other, None),
                (Ok(Step::Done(measured)), None) => {
                    self.ranges = ranges(&self.case);
                    self.measured = Some(measured);
                }
                (Err(error), None) => return Some((failed(&self.case, &error), None)),
            }
            return None;
        }
        let measured = self.measured.as_ref()?;
        let findings = findings(&self.case, measured, self.ranges.as_ref(), &self.beside);
        if let Some(other) = self.beside.next() {
            self.measuring = Some((Some(other.clone()), Measuring::new(other, self.models.clone())));
            return None;
        }
        let report = finished(&self.case, measured, findings, self.ranges.clone());
        Some((report, Some(detail(measured))))
    }
}

/// Measures a case whose model is in the zoo or in `models`. A case that cannot run gives a report with its error.
pub fn run_case(case: &MatmultCase, models: &ModelLibrary) -> MatmultReport {
    let mut run = CaseRun::new(case.clone(), models);
    loop {
        if let Some((report, _)) = run.step(u64::MAX) {
            return report;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matmult::{MatmultConfig, MatmultRun};

    #[test]
    fn parts_of_any_size_give_the_same_report() {
        let run = MatmultRun { chained: false, warmup_iterations: 0, ..MatmultRun::default() };
        let config = MatmultConfig { matrix_dims: vec![128], loop_counts: vec![8], run, ..MatmultConfig::default() };
        let case = config.cases().unwrap().remove(0);
        let models = ModelLibrary::default();
        let whole = run_case(&case, &models);
        assert!(whole.findings.len() > 2 && whole.findings.iter().any(|f| f.tops_without.is_some()));
        let mut parts = CaseRun::new(case, &models);
        let mut steps = 0;
        let report = loop {
            steps += 1;
            if let Some((report, detail)) = parts.step(10) {
                assert!(detail.is_some());
                break report;
            }
        };
        assert_eq!(report, whole);
        assert!(steps > 20, "{steps}");
    }
}
