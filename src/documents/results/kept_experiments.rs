//! A run of experiments as text that a shell keeps from one visit to the next, in pieces as a benchmark's sweep.

use super::kept_sweep::{KeptRequest, read_rows, to_text};
use ns_bench::SweepOf;
use ns_experiment::sweep::{ExperimentRow, Experiments, ExperimentsPlan, ExperimentsRun};

/// The run, and its progress.
pub type KeptRun = KeptRequest<ExperimentsRun>;

impl KeptRequest<ExperimentsRun> {
    /// Its name in a list: `torchbench on trn1, 6 experiments`.
    pub fn title(&self) -> String {
        let plan = &self.config.request.plan;
        let on: Vec<&str> = plan.expand.accelerator.iter().map(|a| a.name()).collect();
        let plural = if self.rows == 1 { "" } else { "s" };
        format!("{} on {}, {} experiment{plural}", plan.suite.name(), on.join(", "), self.rows)
    }
}

/// A row as text; `None` for a row without a result.
pub fn keep_experiment(sweep: &SweepOf<Experiments>, row: u32) -> Option<String> {
    let kept = sweep.rows().get(row as usize)?;
    to_text(&(row, &kept.planned.key, &**kept.result()?))
}

/// Reads a run back, and the number of its pieces that could not be used; `plan` is the current plan of its request.
pub fn restore_run(head: &KeptRun, plan: ExperimentsPlan, rows: &[String]) -> (SweepOf<Experiments>, u32) {
    let mut sweep = SweepOf::<Experiments>::of_rows(head.config.clone(), plan.rows, plan.messages);
    let (rows, mut unusable) = read_rows::<ExperimentRow>(rows);
    for (row, key, result) in rows {
        if sweep.rows().get(row as usize).is_some_and(|r| r.planned.key == key) {
            sweep.finish(row, result);
        } else {
            unusable += 1;
        }
    }
    (sweep, unusable)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_base::ManualClock;
    use ns_experiment::run::Suite;
    use ns_forms::options::default_experiments;

    #[test]
    fn a_run_that_was_cut_off_is_read_back() {
        let mut request = default_experiments();
        (request.plan.suite, request.plan.models) = (Suite::Dummy, Vec::new());
        let run = ExperimentsRun { request: request.clone(), timestamp: 5.0, processor: "p".to_owned() };
        let plan = request.plan();
        let mut sweep = SweepOf::<Experiments>::of_rows(run.clone(), plan.rows.clone(), plan.messages.clone());
        assert_eq!(keep_experiment(&sweep, 0), None);
        let (row, planned) = sweep.begin_next().unwrap();
        sweep.finish(row, ExperimentRow::run(&run, &planned, &ManualClock::default()));
        let pieces = [keep_experiment(&sweep, row).unwrap(), "x".to_owned()];
        let head = KeptRun::from_text(&KeptRun::of(&sweep).to_text()).unwrap();
        assert_eq!((head.title().as_str(), head.is_done), ("dummy on trn1, 2 experiments", false));
        let (restored, unusable) = restore_run(&head, plan.clone(), &pieces);
        assert_eq!(unusable, 1);
        assert_eq!(restored.rows()[0].result(), sweep.rows()[0].result());
        assert_eq!((restored.progress().finished, restored.progress().waiting), (1, 1));
        // A plan that has changed since has no place for the row.
        let mut other = plan;
        other.rows.iter_mut().for_each(|row| row.key.push('x'));
        assert_eq!(restore_run(&head, other, &pieces).1, 2);
    }
}
