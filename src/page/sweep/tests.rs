//! The dispatch of sweeps, driven by the workers of a test.

use std::cell::Cell;
use std::rc::Rc;

use super::{Dispatch, HandOut, MOST_COPIES, Measurement, NextAction, Step, Worker};
use crate::RunState;
use crate::bench::{BenchAction, RowId};
use crate::sweep::SweepView;
use ns_bench::cpu::{CpuTimers, Machine};
use ns_bench::mlperf::MlperfSettings;
use ns_bench::{BenchConfig, DeviceType, Processes, Report, RowResult, RowState, ServiceTimes, SweepState};
use ns_session::{JobId, JobResult, Message, ResultPart};

/// A worker of a test: a number, and whether it lives.
#[derive(Clone, Debug)]
pub(super) struct Fake(pub(super) u32, pub(super) Rc<Cell<bool>>);

impl PartialEq for Fake {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl Worker for Fake {
    fn is_alive(&self) -> bool {
        self.1.get()
    }
}

pub(super) type Run = Dispatch<Fake>;

/// A shell with a number of threads: it carries out each step.
pub(super) struct Shell {
    pub(super) run: Run,
    threads: usize,
    started: u32,
    /// The configurations that workers run.
    pub(super) sent: Vec<(HandOut<Fake>, JobId)>,
    measured: Vec<Measurement>,
    pub(super) ended: Option<RunState>,
    refuses: bool,
}

pub(super) fn config(n_models: &[u32]) -> BenchConfig {
    BenchConfig {
        model: "nn".to_owned(),
        n_models: Some(n_models.to_vec()),
        workers_per_model: Some(vec![1]),
        ..BenchConfig::default()
    }
}

impl Shell {
    pub(super) fn of(config: BenchConfig, threads: usize) -> Self {
        Self::over(SweepState::new(config).unwrap(), threads)
    }

    fn over(sweep: SweepState, threads: usize) -> Self {
        let mut run = Run::default();
        run.recall(&sweep);
        run.start(Rc::new(sweep), 0.0);
        Self { run, threads, started: 0, sent: vec![], measured: vec![], ended: None, refuses: false }
    }

    pub(super) fn feed(&mut self) {
        loop {
            match self.run.next(self.threads) {
                Step::Rest => return,
                Step::End(state) => {
                    self.run.end();
                    self.ended = Some(state);
                    return;
                }
                Step::Start { .. } if self.refuses => {
                    if let Some(state) = self.run.refuse("no more workers".to_owned()) {
                        self.run.end();
                        self.ended = Some(state);
                    }
                    return;
                }
                Step::Start { is_only } => {
                    assert_eq!(is_only, self.run.is_empty());
                    self.add();
                }
                Step::Run(out) => {
                    let job = JobId(u32::try_from(self.sent.len()).unwrap());
                    self.run.note_request(&out, job);
                    self.sent.push((*out, job));
                }
                Step::Measure(measurement) => {
                    if self.run.make_room(&measurement).is_err() {
                        let failed = RowResult::failed(&measurement.configuration, "too many");
                        self.run.finish(measurement.row, failed);
                        continue;
                    }
                    while !self.run.has_room(&measurement) {
                        self.add();
                    }
                    for worker in self.run.measure(&measurement, 7) {
                        self.run.sent_row(&worker, measurement.row, JobId(0));
                    }
                    self.measured.push(*measurement);
                }
            }
        }
    }

    fn add(&mut self) {
        self.run.add(Fake(self.started, Rc::new(Cell::new(true))));
        self.started += 1;
    }

    /// A worker sends this about the configuration that was handed out at this position.
    pub(super) fn tell(&mut self, place: usize, message: Message) -> NextAction {
        let out = self.sent[place].0.clone();
        let heard = self.run.hear(&out.worker, out.row, &out.configuration, message);
        if let NextAction::Row(result) = &heard {
            self.run.finish(out.row, (**result).clone());
        }
        self.feed();
        heard
    }

    pub(super) fn finish(&mut self, place: usize) -> NextAction {
        let row = self.sent[place].0.row;
        let result = Box::new(finished(&self.sent[place].0.configuration));
        self.tell(place, Message::Done(JobResult::Row { row, result }))
    }

    pub(super) fn times(&mut self, place: usize) -> NextAction {
        let row = self.sent[place].0.row;
        self.tell(place, Message::Part(ResultPart::Times { row, times: Box::default() }))
    }

    fn rows(&self) -> Vec<u32> {
        self.sent.iter().map(|(out, _)| out.row).collect()
    }

    pub(super) fn sweep(&self) -> &Rc<SweepState> {
        self.run.sweep().unwrap()
    }

    fn look(&self) -> SweepView {
        self.run.look(self.sweep())
    }
}

fn finished(configuration: &ns_bench::Configuration) -> RowResult {
    let failed = Report::failed(configuration, "");
    RowResult { report: Report { status: "finished".to_owned(), error: None, ..failed }, ..RowResult::default() }
}

#[test]
fn rows_with_the_same_times_wait_for_who_works_them_out() {
    let mut shell = Shell::of(config(&[1, 2, 3]), 2);
    shell.feed();
    assert_eq!(shell.rows(), [0], "the others have the same stage times");
    assert!(matches!(shell.times(0), NextAction::GoOn));
    // They are sent along now.
    assert_eq!(shell.rows(), [0, 1]);
    assert_eq!(shell.sent[1].0.times, Some(ServiceTimes::default()));
    shell.finish(0);
    assert_eq!((shell.rows(), shell.started), (vec![0, 1, 2], 2));
    assert_eq!(shell.sent[2].0.worker, shell.sent[0].0.worker, "a free worker takes the next one");
    shell.finish(2);
    assert_eq!(shell.ended, None);
    shell.finish(1);
    assert_eq!((shell.ended.clone(), shell.run.has_ended()), (Some(RunState::Done), true));
}

#[test]
fn times_that_failed_to_come_are_worked_out_by_the_next() {
    let mut shell = Shell::of(config(&[1, 2]), 2);
    shell.feed();
    assert!(matches!(shell.tell(0, Message::Failed("no".to_owned())), NextAction::Row(_)));
    assert_eq!(shell.rows(), [0, 1]);
    assert_eq!(shell.sent[1].0.times, None);
    shell.finish(1);
    let p = shell.sweep().progress();
    assert_eq!((p.finished, p.failed, shell.ended.clone()), (1, 1, Some(RunState::Done)));
}

#[test]
fn a_row_whose_worker_dies_is_tried_once_more_in_a_new_one() {
    let mut shell = Shell::of(config(&[1, 2]), 1);
    shell.feed();
    let die = |shell: &mut Shell, place: usize| {
        shell.sent[place].0.worker.1.set(false);
        shell.tell(place, Message::Failed("the browser closed it".to_owned()))
    };
    assert!(matches!(die(&mut shell, 0), NextAction::GoOn));
    assert_eq!((shell.rows(), shell.started), (vec![0, 0], 2));
    assert!(shell.sent[1].0.worker != shell.sent[0].0.worker, "a dead worker takes nothing more");
    // A second death is the row's own.
    assert!(
        matches!(die(&mut shell, 1), NextAction::Row(result) if result.report.error.as_deref() == Some("the browser closed it"))
    );
    assert_eq!((shell.rows(), shell.started), (vec![0, 0, 1], 3));
    shell.finish(2);
    let p = shell.sweep().progress();
    assert_eq!((p.finished, p.failed, shell.ended.clone()), (1, 1, Some(RunState::Done)));
}

#[test]
fn what_each_message_of_a_worker_means() {
    let mut shell = Shell::of(config(&[1]), 1);
    shell.feed();
    let progress = Message::Progress { done: 1, total: 4, label: "doing".to_owned() };
    assert!(matches!(shell.tell(0, progress), NextAction::Taken));
    assert_eq!(shell.look().shares().get(&0), Some(&0.25));
    assert!(matches!(shell.tell(0, Message::Note("short".to_owned())), NextAction::Note(text) if text == "short"));
    assert!(matches!(shell.tell(0, Message::Note("short".to_owned())), NextAction::Taken), "each worker reports it");
    for odd in [Message::Done(JobResult::ModelKept), Message::Answer(ns_session::Reply::Density(vec![]))] {
        assert!(matches!(shell.tell(0, odd), NextAction::Unexpected(_)));
    }
    // A worker that was stopped, or died, gives its configuration back.
    assert!(matches!(shell.tell(0, Message::Cancelled), NextAction::GoOn));
    assert_eq!(shell.rows(), [0, 0]);
    assert_eq!(shell.sweep().rows()[0].attempts, 2);
}

#[test]
fn a_run_rests_and_goes_on() {
    let mut shell = Shell::of(config(&[1, 2, 3]), 1);
    shell.feed();
    assert_eq!(shell.run.set_paused(true).iter().map(|(_, job)| *job).collect::<Vec<_>>(), [JobId(0)]);
    let pausing = shell.look();
    assert!(pausing == shell.look() && pausing.run_label(0.0, 0.0).starts_with("Pausing"));
    assert!(matches!(shell.tell(0, Message::Paused), NextAction::Taken));
    let paused = shell.look();
    assert!(paused != pausing && paused.run_label(0.0, 0.0).starts_with("Paused"));
    // Rows that end meanwhile are taken, and no other row begins. A view stays as it was.
    shell.finish(0);
    assert!(paused != shell.look() && paused.sweep().result(0).is_none() && shell.sweep().result(0).is_some());
    assert_eq!((shell.rows(), shell.ended.clone()), (vec![0], None));
    assert_eq!(shell.run.set_paused(false), []);
    shell.feed();
    assert_eq!(shell.rows(), [0, 1]);
}

#[test]
fn a_run_is_cancelled_and_retried() {
    let mut shell = Shell::of(config(&[1, 2, 3]), 1);
    shell.feed();
    shell.finish(0);
    assert_eq!(shell.run.cancel().len(), 1);
    shell.feed();
    assert_eq!(shell.ended, None, "its worker has not stopped");
    shell.tell(1, Message::Cancelled);
    assert_eq!((shell.ended.take(), shell.run.has_ended()), (Some(RunState::Cancelled), false));
    assert_eq!(shell.sweep().rows()[1].state, RowState::Cancelled);
    let sweep = shell.run.retry_failed().unwrap();
    assert_eq!(sweep.progress().waiting, 2);
    shell.run.start(sweep, 0.0);
    shell.feed();
    assert_eq!(shell.rows(), [0, 1, 1]);
    shell.finish(2);
    shell.finish(3);
    assert_eq!(shell.ended, Some(RunState::Done));
}

#[test]
fn workers_that_cannot_be_started_are_done_without() {
    let mut alone = Shell::of(config(&[1, 2]), 4);
    alone.refuses = true;
    alone.feed();
    assert_eq!(alone.ended, Some(RunState::Failed("no more workers".to_owned())));
    assert!(alone.sweep().is_done());

    let mut one = Shell::of(config(&[1, 2]), 4);
    one.add();
    one.refuses = true;
    one.feed();
    one.times(0);
    assert_eq!((one.rows(), one.ended.clone()), (vec![0], None));
    one.finish(0);
    one.finish(1);
    assert_eq!((one.rows(), one.ended.clone()), (vec![0, 1], Some(RunState::Done)));
}

#[test]
fn scenarios_are_rows_of_their_own_list() {
    let settings = MlperfSettings::default();
    let mut shell = Shell::of(BenchConfig { mlperf: Some(settings.clone()), ..config(&[1, 2]) }, 2);
    shell.feed();
    // A scenario asks for no stage times, so no configuration waits for them.
    assert_eq!(shell.rows(), [0, 1]);
    assert_eq!(shell.sent[0].0.scenario, Some(settings));
    shell.tell(0, Message::Progress { done: 1, total: 2, label: "query 5".to_owned() });
    let view = shell.look();
    let Some(RunState::Running { done, label, .. }) = shell.run.progress(&view, 10.0) else { panic!("runs") };
    assert!(done == 250 && label.ends_with(". query 5"), "{done} {label}");
    shell.tell(1, Message::Failed("no".to_owned()));
    let Some(BenchAction::Scenario(rows)) = shell.run.news() else { panic!("is a scenario") };
    assert_eq!((rows.len(), rows[0].row, rows[0].result.clone()), (1, 1, Err("no".to_owned())));
    assert!(shell.run.news().is_none());
}

#[test]
fn a_measurement_has_a_worker_for_each_copy_and_nothing_beside_it() {
    let mut measured = config(&[2, 3]);
    measured.options.device_type = DeviceType::Cpu;
    let mut shell = Shell::of(measured, 1);
    shell.feed();
    assert_eq!((shell.measured.len(), shell.started), (1, 2));
    assert_eq!(shell.run.set_paused(true), [], "its clock cannot be paused");
    assert_eq!(shell.run.set_paused(false), []);
    let hear = |shell: &mut Shell, copy: u32, message: Message| {
        let row = shell.measured.last().unwrap().row;
        shell.run.hear_copy(&Fake(copy, Rc::default()), row, copy, message)
    };
    assert!(matches!(
        hear(&mut shell, 0, Message::Progress { done: 1, total: 2, label: String::new() }),
        NextAction::Taken
    ));
    let timers = || Box::new(CpuTimers::default());
    assert!(matches!(
        hear(&mut shell, 0, Message::Done(JobResult::CpuTimers { copy: 0, timers: timers() })),
        NextAction::Taken
    ));
    shell.feed();
    assert_eq!(shell.measured.len(), 1, "the other copy runs");
    assert!(matches!(hear(&mut shell, 1, Message::Done(JobResult::ModelKept)), NextAction::Unexpected(_)));
    let last = hear(&mut shell, 1, Message::Failed("no".to_owned()));
    let NextAction::Measured(cpu) = last else { panic!("was the last copy: {last:?}") };
    assert_eq!((cpu.row, cpu.began_unix_s()), (0, 7));
    let machine = Machine { name: "x".to_owned(), description: String::new(), began_unix_s: 7, ended_unix_s: 9 };
    let result = cpu.finish(&machine);
    assert!(result.report.error.is_some());
    shell.run.finish(0, result);
    shell.feed();
    assert_eq!((shell.measured.len(), shell.started), (2, 3), "existing workers measure again");
    // A cancelled measurement is not a result.
    assert_eq!(shell.run.cancel().len(), 3);
    for copy in 0..3 {
        hear(&mut shell, copy, Message::Done(JobResult::CpuTimers { copy, timers: timers() }));
    }
    shell.feed();
    assert_eq!(shell.ended, Some(RunState::Cancelled));
}

#[test]
fn fresh_processes_are_new_workers_and_too_many_copies_fail() {
    let mut fresh = config(&[1, 2, MOST_COPIES + 1]);
    (fresh.options.device_type, fresh.options.processes) = (DeviceType::Cpu, Processes::Fresh);
    let mut shell = Shell::of(fresh, 1);
    shell.feed();
    let measured = shell.measured[0].clone();
    assert!(measured.is_fresh() && measured.copies() == 1);
    let message = Message::Cancelled;
    let NextAction::Measured(_) = shell.run.hear_copy(&Fake(0, Rc::default()), 0, 0, message) else {
        panic!("was the last")
    };
    shell.run.finish(0, RowResult::failed(&measured.configuration, "stopped"));
    shell.feed();
    assert_eq!(shell.started, 3, "one, then two new ones");
    let too_many = Measurement { row: 2, configuration: shell.sweep().rows()[2].planned.configuration.clone() };
    assert_eq!(too_many.copies(), MOST_COPIES + 1);
    assert!(shell.run.make_room(&too_many).unwrap_err().contains("at most 64 copies"));
}

#[test]
fn rows_of_an_earlier_visit_are_shown_with_the_rest() {
    let mut sweep = SweepState::new(config(&[1, 2])).unwrap();
    sweep.finish(1, RowResult::default());
    let mut shell = Shell::over(sweep, 1);
    let Some(BenchAction::Results(rows)) = shell.run.news() else { panic!("has rows") };
    assert_eq!(rows.iter().map(|r| r.0).collect::<Vec<_>>(), [RowId::Own(1)]);
    let view = shell.look();
    assert!(shell.run.progress(&view, 0.0).is_some());
    shell.run.end();
    assert!(!shell.run.is_running() && shell.run.progress(&view, 0.0).is_none());
}
