//! Runs the cases of a microbenchmark one after another, then measures this processor if requested.

use std::collections::VecDeque;
use std::rc::Rc;

use super::document::{CaseResult, document};
use super::processor::{Measuring, Processor, sizes};
use super::text::matmult_reports_json;
use crate::studies::run::{StudyFile, StudyReports, StudyResult, StudyRun, StudyStep, is_shown};
use ns_base::Clock;
use ns_bench::matmult::{CaseRun, MatmultCase, MatmultDetail, MatmultReport, Pitfall, matmult_csv, programs};
use ns_device::ModelLibrary;
use ns_forms::studies::MatmultStudy;

struct MatmultStudyRun {
    study: MatmultStudy,
    clock: Option<Rc<dyn Clock>>,
    /// Model files of the user.
    models: ModelLibrary,
    total: usize,
    waiting: VecDeque<MatmultCase>,
    /// The case that is measured, in parts.
    current: Option<CaseRun>,
    done: Vec<CaseResult>,
    /// Sizes that this processor has yet to measure, with the operations of a call; known when all cases have ended.
    sizes: Option<VecDeque<(MatmultCase, f64)>>,
    measuring: Option<Box<Measuring>>,
    processor: Vec<Processor>,
}

/// Begins the microbenchmark. Fails when a number is out of its range, the lists make too many cases, or there is no clock to
/// measure with.
pub(in crate::studies) fn start(
    study: MatmultStudy,
    clock: Option<Rc<dyn Clock>>,
    models: &ModelLibrary,
) -> Result<Box<dyn StudyRun>, String> {
    if study.cpu && clock.is_none() {
        return Err("this program has no clock, so nothing can be measured; leave out the processor".to_owned());
    }
    let waiting: VecDeque<_> = study.measured().cases().map_err(|e| e.to_string())?.into();
    Ok(Box::new(MatmultStudyRun {
        total: waiting.len(),
        study,
        clock,
        models: models.clone(),
        waiting,
        current: None,
        done: Vec::new(),
        sizes: None,
        measuring: None,
        processor: Vec::new(),
    }))
}

impl StudyRun for MatmultStudyRun {
    /// A part of a case is one step; the compiler's work on a case is not divided.
    fn step(&mut self, budget_events: u32) -> Result<StudyStep, String> {
        if self.current.is_none() {
            self.current = self.waiting.pop_front().map(|case| CaseRun::new(case, &self.models));
        }
        let so_far = match &mut self.current {
            Some(run) => match run.step(u64::from(budget_events)) {
                Some((report, detail)) => {
                    self.current = None;
                    self.done.push(ended(report, detail, &self.models, self.total == 1));
                    is_shown(self.done.len(), self.total)
                }
                None => false,
            },
            None => self.measure(),
        };
        match self.next() {
            Some(label) => {
                let (done, total) = self.progress();
                let so_far = so_far.then(|| Box::new(self.result()));
                Ok(StudyStep::More { done, total, label, so_far })
            }
            None => Ok(StudyStep::Done(Box::new(StudyResult { files: self.files()?, ..self.result() }))),
        }
    }
}

impl MatmultStudyRun {
    fn result(&self) -> StudyResult {
        let document = document(&self.study, &self.done, self.total, &self.processor);
        StudyResult { document, reports: StudyReports::Matmult(self.reports()), ..StudyResult::default() }
    }

    fn reports(&self) -> Vec<MatmultReport> {
        self.done.iter().map(|done| done.report.clone()).collect()
    }

    /// The next part; `None` at the end.
    fn next(&mut self) -> Option<String> {
        if let Some(run) = &self.current {
            return Some(run.label());
        }
        if let Some(case) = self.waiting.front() {
            return Some(case.label());
        }
        if !self.study.cpu {
            return None;
        }
        let sizes = self.sizes.get_or_insert_with(|| sizes(&self.done).into());
        if self.measuring.is_none() && sizes.is_empty() {
            return None;
        }
        Some("Measuring this processor".to_owned())
    }

    fn progress(&self) -> (u64, u64) {
        let under_way = usize::from(self.measuring.is_some()) + usize::from(self.current.is_some());
        let sizes = self.sizes.as_ref().map_or(0, VecDeque::len) + under_way;
        let done = self.done.len() + self.processor.len();
        (done as u64, (done + self.waiting.len() + sizes) as u64)
    }

    /// Continues the measurement; returns whether a size has ended.
    fn measure(&mut self) -> bool {
        let Some(clock) = self.clock.clone() else { return false };
        if let Some(measuring) = self.measuring.take() {
            match measuring.step(clock.as_ref()) {
                Ok(processor) => self.processor.push(processor),
                Err(on) => {
                    self.measuring = Some(on);
                    return false;
                }
            }
            return true;
        }
        let Some((case, operations)) = self.sizes.as_mut().and_then(VecDeque::pop_front) else { return false };
        match Measuring::new(&case, operations) {
            Ok(measuring) => self.measuring = Some(measuring),
            Err(error) => self.processor.push(Processor::refused(&case, error)),
        }
        false
    }

    /// The command line's output of `--csv` and `--json`.
    fn files(&self) -> Result<Vec<StudyFile>, String> {
        let reports = self.reports();
        let csv = matmult_csv(&reports).map_err(|e| e.to_string())?;
        let json = matmult_reports_json(&reports).map_err(|e| e.to_string())?;
        let csv = StudyFile { label: "CSV".into(), name: "matmult.csv".into(), mime: "text/csv".into(), text: csv };
        Ok(vec![csv, StudyFile::json("matmult.json", json)])
    }
}

/// A finished case. With several cases, the calls of each are not kept: a thousand cases may have a million calls each.
fn ended(report: MatmultReport, detail: Option<MatmultDetail>, models: &ModelLibrary, is_single: bool) -> CaseResult {
    let detail = detail.map(|d| if is_single { d } else { MatmultDetail { calls_s: Vec::new(), ..d } });
    let is_removed = report.findings.iter().any(|f| f.pitfall == Pitfall::ProductsRemoved);
    let programs = (is_single && is_removed).then(|| programs(&report.case, models).ok()).flatten();
    CaseResult { report, detail, programs }
}
