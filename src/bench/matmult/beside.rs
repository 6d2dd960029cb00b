//! The cases that findings compare with: the same case without a pitfall. Findings ask for them; who runs the case measures
//! what was asked for, and asks the findings again.

use std::cell::RefCell;

use super::config::MatmultCase;

/// Rates of cases that were measured beside, and cases that are still wanted.
#[derive(Default)]
pub(super) struct Beside {
    known: Vec<(MatmultCase, Option<f64>)>,
    wanted: RefCell<Vec<MatmultCase>>,
}

impl Beside {
    /// The rate of the same case with a change; `None` when it cannot run, or is not measured yet.
    pub fn tops(&self, case: &MatmultCase, change: impl FnOnce(&mut MatmultCase)) -> Option<f64> {
        let mut other = case.clone();
        change(&mut other);
        if let Some((_, tops)) = self.known.iter().find(|(known, _)| *known == other) {
            return *tops;
        }
        let mut wanted = self.wanted.borrow_mut();
        if !wanted.contains(&other) {
            wanted.push(other);
        }
        None
    }

    /// A case that is wanted and not measured; none when every question has its answer.
    pub fn next(&self) -> Option<MatmultCase> {
        self.wanted.borrow_mut().pop()
    }

    /// Takes what a case came to; `None` when it cannot run.
    pub fn learn(&mut self, case: MatmultCase, tops: Option<f64>) {
        self.known.push((case, tops));
    }
}
