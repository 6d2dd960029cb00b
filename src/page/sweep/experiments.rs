//! Experiments as they are handed out: simulated ones side by side, then measured ones one after another, with nothing beside them.

use super::dispatch::{Dispatch, Next, WorkerSweep};
use super::lane::Worker;
use super::next_action::NextAction;
use crate::RunState;
use crate::replies::kind_of;
use ns_bench::RowState;
use ns_experiment::sweep::{ExperimentRow, Experiments, ExperimentsRun, PlannedExperiment};
use ns_session::{ExperimentJobRequest, JobResult, Message};

impl WorkerSweep for Experiments {
    type Memory = ();

    fn failed(run: &ExperimentsRun, planned: &PlannedExperiment, message: String) -> ExperimentRow {
        ExperimentRow::failed(run, planned, message)
    }
}

/// What to do next for a run of experiments.
#[derive(Clone, Debug, PartialEq)]
pub enum ExperimentStep<W> {
    /// Do nothing until a message arrives.
    Rest,
    /// Start a worker, then add or refuse it.
    Start {
        /// Whether it is the only worker: the one that all runs share.
        is_only: bool,
    },
    /// Run an experiment on a worker.
    Run(W, Box<ExperimentJobRequest>),
    /// The run is over.
    End(RunState),
}

impl<W: Worker> Dispatch<W, Experiments> {
    /// The next step, with at most `most_lanes` workers.
    pub fn next(&mut self, most_lanes: usize) -> ExperimentStep<W> {
        let Some(sweep) = &self.sweep else { return ExperimentStep::Rest };
        let is_waiting = |is_measured: bool| {
            let rows = sweep.rows().iter().filter(|row| row.state == RowState::Waiting);
            rows.filter(|row| row.planned.is_measured == is_measured).count() > 0
        };
        let is_measuring = self
            .lanes
            .iter()
            .filter_map(|lane| lane.running)
            .any(|running| sweep.rows().get(running.row as usize).is_some_and(|row| row.planned.is_measured));
        let (has_simulated, is_idle) = (is_waiting(false), self.lanes.iter().all(|lane| lane.running.is_none()));
        // A measurement begins when nothing else runs or could run, and needs one worker.
        let (is_measured_next, most_lanes) = if has_simulated { (false, most_lanes) } else { (true, 1) };
        let may_begin = |planned: &PlannedExperiment| {
            planned.is_measured == is_measured_next && !is_measuring && (is_idle || !is_measured_next)
        };
        let run = sweep.config.clone();
        match self.next_of(most_lanes, may_begin) {
            Next::Begin(worker, row, planned) => {
                ExperimentStep::Run(worker, Box::new(ExperimentJobRequest { row, run, planned }))
            }
            Next::Rest => ExperimentStep::Rest,
            Next::Start { is_only } => ExperimentStep::Start { is_only },
            Next::End(state) => ExperimentStep::End(state),
        }
    }

    /// Takes a worker's message about an experiment that it runs.
    pub fn hear(
        &mut self,
        worker: &W,
        row: u32,
        planned: &PlannedExperiment,
        message: Message,
    ) -> NextAction<ExperimentRow> {
        let message = match self.hear_any(worker, row, planned, message) {
            Ok(heard) => return heard,
            Err(message) => *message,
        };
        match message {
            Message::Done(JobResult::Experiment { result, .. }) => {
                self.free(worker, row);
                NextAction::Row(result)
            }
            message => NextAction::Unexpected(kind_of(&message)),
        }
    }

    /// Whether experiments have ended since the last call.
    pub fn has_news(&mut self) -> bool {
        !self.take_fresh().is_empty()
    }

    /// The records so far as lines of `results.jsonl`, in the order of the plan, as the command line writes them.
    pub fn lines(&self) -> String {
        let rows = self.sweep.iter().flat_map(|sweep| sweep.rows());
        rows.filter_map(|row| row.result()).map(|result| format!("{}\n", result.line)).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use super::super::tests::Fake;
    use super::*;
    use ns_base::ManualClock;
    use ns_bench::SweepOf;
    use ns_session::JobId;
    use ns_session::options::{PlanOption, default_experiments};

    type Run = Dispatch<Fake, Experiments>;

    /// A shell with some threads, and the experiments that it handed out.
    struct Shell {
        run: Run,
        threads: usize,
        sent: Vec<(Fake, ExperimentJobRequest)>,
        ended: Option<RunState>,
    }

    fn sweep(accelerators: &str) -> SweepOf<Experiments> {
        let mut request = default_experiments();
        for (key, text) in [("run_suite", "dummy"), ("run_models", ""), ("run_accelerator", accelerators)] {
            PlanOption::find(key).unwrap().set(&mut request, text).unwrap();
        }
        let plan = request.plan();
        let run = ExperimentsRun { request, timestamp: 7.0, processor: "browser".to_owned() };
        SweepOf::of_rows(run, plan.rows, plan.messages)
    }

    impl Shell {
        fn over(sweep: SweepOf<Experiments>, threads: usize) -> Self {
            let mut run = Run::default();
            run.start(Rc::new(sweep), 0.0);
            let mut shell = Self { run, threads, sent: vec![], ended: None };
            shell.feed();
            shell
        }

        fn feed(&mut self) {
            loop {
                match self.run.next(self.threads) {
                    ExperimentStep::Rest => return,
                    ExperimentStep::Start { .. } => {
                        let number = u32::try_from(self.sent.len()).unwrap();
                        self.run.add(Fake(number, Rc::new(Cell::new(true))));
                    }
                    ExperimentStep::Run(worker, request) => {
                        self.run.sent_row(&worker, request.row, JobId(request.row));
                        self.sent.push((worker, *request));
                    }
                    ExperimentStep::End(state) => {
                        self.run.end();
                        self.ended = Some(state);
                        return;
                    }
                }
            }
        }

        fn tell(&mut self, place: usize, message: Message) {
            let (worker, request) = self.sent[place].clone();
            if let NextAction::Row(result) = self.run.hear(&worker, request.row, &request.planned, message) {
                self.run.finish(request.row, *result);
            }
            self.feed();
        }

        fn finish(&mut self, place: usize) {
            let ExperimentJobRequest { row, run, planned } = &self.sent[place].1;
            let result = Box::new(ExperimentRow::run(run, planned, &ManualClock::default()));
            self.tell(place, Message::Done(JobResult::Experiment { row: *row, result }));
        }

        fn rows(&self) -> Vec<u32> {
            self.sent.iter().map(|(_, request)| request.row).collect()
        }
    }

    #[test]
    fn a_run_is_paused_resumed_and_ends_with_lines_in_the_order_of_the_plan() {
        let mut shell = Shell::over(sweep("trn1,inf2"), 2);
        assert_eq!(shell.rows(), [0, 1]);
        let requests = shell.run.set_paused(true);
        assert_eq!(requests.len(), 2);
        shell.finish(1);
        assert!(shell.run.has_news() && !shell.run.has_news());
        assert_eq!(shell.rows(), [0, 1], "nothing begins in a pause");
        shell.run.set_paused(false);
        shell.feed();
        assert_eq!(shell.rows(), [0, 1, 2]);
        for place in [2, 0, 3] {
            assert_eq!(shell.ended, None);
            shell.finish(place);
        }
        assert_eq!(shell.ended, Some(RunState::Done));
        let sweep = shell.run.sweep().unwrap();
        let lines: String = sweep.rows().iter().map(|row| format!("{}\n", row.result().unwrap().line)).collect();
        assert_eq!((shell.run.lines(), lines.lines().count()), (lines, 4));
    }

    #[test]
    fn a_measurement_runs_alone_after_the_simulations() {
        let mut shell = Shell::over(sweep("cpu,trn1"), 4);
        let is_measured = |shell: &Shell| shell.sent.iter().map(|(_, r)| r.planned.is_measured).collect::<Vec<_>>();
        assert_eq!(is_measured(&shell), [false, false]);
        shell.finish(0);
        assert_eq!(is_measured(&shell), [false, false], "the other simulation still runs");
        shell.finish(1);
        for measured in 1..=4 {
            assert_eq!(is_measured(&shell), [vec![false; 2], vec![true; measured]].concat());
            shell.finish(1 + measured);
        }
        assert_eq!(shell.ended, Some(RunState::Done));
    }

    #[test]
    fn two_workers_that_die_cost_one_experiment_which_is_retried() {
        let mut shell = Shell::over(sweep("trn1"), 1);
        for place in 0..2 {
            shell.sent[place].0.1.set(false);
            shell.tell(place, Message::Failed("out of memory".to_owned()));
        }
        shell.finish(2);
        assert_eq!(shell.ended.take(), Some(RunState::Done));
        let progress = shell.run.sweep().unwrap().progress();
        assert_eq!((progress.finished, progress.failed), (1, 1));
        assert!(shell.run.lines().lines().next().unwrap().contains(r#""error": "out of memory""#));
        let sweep = shell.run.retry_failed().unwrap();
        shell.run.start(sweep, 0.0);
        shell.feed();
        assert_eq!(shell.rows(), [0, 0, 1, 0]);
        shell.finish(3);
        assert_eq!(shell.run.sweep().unwrap().progress().finished, 2);
    }

    #[test]
    fn a_cancelled_run_keeps_what_has_ended() {
        let mut shell = Shell::over(sweep("trn1,inf2"), 1);
        shell.finish(0);
        assert_eq!(shell.run.cancel().len(), 1);
        shell.tell(1, Message::Cancelled);
        assert_eq!((shell.ended.clone(), shell.run.lines().lines().count()), (Some(RunState::Cancelled), 1));
    }
}
