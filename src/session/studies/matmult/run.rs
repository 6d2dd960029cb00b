//! The cases of a microbenchmark, one after another.

use std::collections::VecDeque;
use std::rc::Rc;

use super::document::document;
use super::spec::MatmultStudy;
use crate::base::Clock;
use crate::bench::matmult::{MatmultCase, MatmultReport, matmult_csv, matmult_json, run_case};
use crate::session::studies::run::{StudyFile, StudyResult, StudyRun, StudyStep};

/// A microbenchmark at work.
struct MatmultStudyRun {
    study: MatmultStudy,
    waiting: VecDeque<MatmultCase>,
    reports: Vec<MatmultReport>,
}

impl MatmultStudy {
    /// Begins it.
    ///
    /// # Errors
    /// When a number is out of its range or the lists make too many cases.
    pub(in crate::session::studies) fn start(self, _clock: Option<Rc<dyn Clock>>) -> Result<Box<dyn StudyRun>, String> {
        let cases = self.measured().cases().map_err(|e| e.to_string())?;
        Ok(Box::new(MatmultStudyRun { study: self, waiting: cases.into(), reports: Vec::new() }))
    }
}

impl StudyRun for MatmultStudyRun {
    fn step(&mut self, _budget_events: u32) -> Result<StudyStep, String> {
        if let Some(case) = self.waiting.pop_front() {
            self.reports.push(run_case(&case));
        }
        let shown = Box::new(StudyResult { document: document(&self.study, &self.reports), files: Vec::new() });
        let Some(next) = self.waiting.front() else {
            return Ok(StudyStep::Done(Box::new(StudyResult { files: self.files()?, ..*shown })));
        };
        let done = self.reports.len() as u64;
        let total = done + self.waiting.len() as u64;
        Ok(StudyStep::More { done, total, label: next.label(), shown: Some(shown) })
    }
}

impl MatmultStudyRun {
    /// What the command line prints with `--csv` and `--json`.
    fn files(&self) -> Result<Vec<StudyFile>, String> {
        let file = |label: &str, name: &str, mime: &str, text: String| StudyFile {
            label: label.to_owned(),
            name: name.to_owned(),
            mime: mime.to_owned(),
            text,
        };
        let csv = matmult_csv(&self.reports).map_err(|e| e.to_string())?;
        let json = matmult_json(&self.reports).map_err(|e| e.to_string())?;
        Ok(vec![file("CSV", "matmult.csv", "text/csv", csv), file("JSON", "matmult.json", "application/json", json)])
    }
}
