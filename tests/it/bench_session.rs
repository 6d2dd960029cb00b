//! A sweep through the session, as the page and the command line drive it: planned, run a configuration at a time on
//! several workers, paused, cancelled, retried.

use neuronscope::bench::{
    BenchConfig, Configuration, Report, RowResult, RunDetail, ServiceTimes, SweepPlan, SweepState,
};
use neuronscope::session::{
    Control, Event, JobId, JobRequest, JobResult, Message, Request, ResultPart, RunRequest, Session, StepResult,
};

const FIXED: &str = "fixed:device_ms=0.5,host_ms=0.02,load_ms=62";

/// 24 configurations, of which the 8 with 3 copies do not fit on the two cores.
fn config() -> BenchConfig {
    BenchConfig {
        model: FIXED.to_owned(),
        n_models: Some(vec![1, 2, 3]),
        workers_per_model: Some(vec![1, 2]),
        batch_sizes: vec![1, 2, 4, 8],
        duration_s: 2.0,
        ..BenchConfig::default()
    }
}

fn drive(session: &mut Session, budget: u32) -> Vec<Event> {
    let mut events = Vec::new();
    while session.step(budget, &mut |e| events.push(e)) == StepResult::More {}
    events
}

fn run_request(job: u32, row: u32, configuration: Configuration, times: Option<ServiceTimes>) -> Request {
    let detail = RunDetail { charts: true, ..RunDetail::default() };
    Request::new(JobId(job), JobRequest::RunConfiguration(Box::new(RunRequest { row, configuration, times, detail })))
}

fn rows(events: &[Event]) -> Vec<(u32, Report)> {
    let row = |e: &Event| match e {
        Event::Message(_, Message::Done(JobResult::Row { row, result })) => Some((*row, result.report.clone())),
        _ => None,
    };
    events.iter().filter_map(row).collect()
}

#[test]
fn a_plan_lists_all_rows_and_then_their_estimates() {
    let mut session = Session::new();
    session.handle(Request::new(JobId(1), JobRequest::PlanBench(Box::new(config()))), None);
    let events = drive(&mut session, 1_000);
    let Event::Message(_, Message::Part(ResultPart::Plan(plan))) = &events[0] else {
        panic!("the plan comes first: {:?}", events[0])
    };
    assert_eq!(plan.rows.len(), 24);
    assert_eq!(plan.rows.iter().filter(|r| r.problem.is_some()).count(), 8);
    let mut estimates = 0;
    for event in &events {
        if let Event::Message(_, message @ Message::Part(ResultPart::Estimated { row, estimate, times })) = event {
            let estimate = estimate.as_ref().unwrap();
            assert!(estimate.inferences > 3_000 && times.is_some(), "row {row}: {estimate:?}");
            assert!(!message.is_last());
            estimates += 1;
        }
    }
    assert_eq!(estimates, 16);
    assert!(matches!(events.last(), Some(Event::Message(_, Message::Done(JobResult::AllParts)))));
}

#[test]
fn the_number_and_order_of_workers_change_no_row() {
    let plan = SweepPlan::of(&config()).unwrap();
    let mut alone = Session::new();
    for (i, row) in plan.rows.iter().enumerate() {
        alone.handle(run_request(i as u32, i as u32, row.configuration.clone(), None), None);
    }
    let whole: Vec<Report> = rows(&drive(&mut alone, 10_000)).into_iter().map(|(_, report)| report).collect();
    let mut workers = [Session::new(), Session::new(), Session::new()];
    let mut found: Vec<Option<Report>> = vec![None; plan.rows.len()];
    for (i, row) in plan.rows.iter().enumerate().rev() {
        let worker = &mut workers[i % 3];
        worker.handle(run_request(i as u32, i as u32, row.configuration.clone(), None), None);
        for (at, report) in rows(&drive(worker, 777)) {
            found[at as usize] = Some(report);
        }
    }
    let found: Vec<Report> = found.into_iter().map(Option::unwrap).collect();
    assert_eq!(found, whole);
}

#[test]
fn the_worker_that_computes_stage_times_reports_them() {
    let plan = SweepPlan::of(&config()).unwrap();
    let configuration = plan.rows[0].configuration.clone();
    let message = |given: Option<ServiceTimes>| -> (Vec<ServiceTimes>, Vec<(u32, Report)>) {
        let mut session = Session::new();
        session.handle(run_request(1, 3, configuration.clone(), given), None);
        let events = drive(&mut session, 1_000);
        let times = events.iter().filter_map(|e| match e {
            Event::Message(_, Message::Part(ResultPart::Times { row: 3, times })) => Some((**times).clone()),
            _ => None,
        });
        (times.collect(), rows(&events))
    };
    let (times, own) = message(None);
    assert_eq!(times.len(), 1);
    // A session that is given the times computes nothing, and gets the same result.
    assert_eq!(message(times.into_iter().next()), (vec![], own));
}

#[test]
fn a_configuration_rests_while_others_run_and_goes_on() {
    let plan = SweepPlan::of(&config()).unwrap();
    let mut session = Session::new();
    session.handle(run_request(1, 0, plan.rows[0].configuration.clone(), None), None);
    session.handle(run_request(2, 1, plan.rows[1].configuration.clone(), None), None);
    for _ in 0..3 {
        session.step(100, &mut |_| {});
    }
    session.handle(Control::Pause(JobId(1)).into(), None);
    let message = drive(&mut session, 1_000);
    assert_eq!(message.iter().filter(|e| matches!(e, Event::Message(JobId(1), Message::Paused))).count(), 1);
    let rested = rows(&message);
    assert_eq!(rested.iter().map(|(row, _)| *row).collect::<Vec<_>>(), [1]);
    assert!(session.has_paused());
    session.handle(Control::Resume(JobId(1)).into(), None);
    let resumed = rows(&drive(&mut session, 1_000));
    assert_eq!(resumed.len(), 1);
    // There is nothing left to rest.
    session.handle(Control::Pause(JobId(1)).into(), None);
    assert_eq!(drive(&mut session, 1_000), []);
    assert!(!session.has_paused());
    let mut other = Session::new();
    other.handle(run_request(1, 0, plan.rows[0].configuration.clone(), None), None);
    assert_eq!(rows(&drive(&mut other, 50_000)), resumed);
}

#[test]
fn a_cancelled_configuration_keeps_its_measurements_and_is_retried() {
    let mut state = SweepState::new(config()).unwrap();
    let mut session = Session::new();
    let (row, configuration) = state.begin_next().unwrap();
    session.handle(run_request(1, row, configuration, None), None);
    for _ in 0..4 {
        session.step(500, &mut |_| {});
    }
    session.handle(Control::Cancel(JobId(1)).into(), None);
    let events = drive(&mut session, 500);
    let (_, report) = rows(&events).remove(0);
    assert!(report.error.as_deref().unwrap().starts_with("stopped after") && report.throughput_window.is_some());
    assert!(matches!(events.last(), Some(Event::Message(_, Message::Cancelled))));
    state.finish(row, RowResult { report, ..RowResult::default() });
    // Everything else, then the failed ones once more.
    let mut run_all = |state: &mut SweepState| {
        while let Some((row, configuration)) = state.begin_next() {
            session.handle(run_request(2, row, configuration, None), None);
            for (row, report) in rows(&drive(&mut session, 100_000)) {
                state.finish(row, RowResult { report, ..RowResult::default() });
            }
        }
    };
    run_all(&mut state);
    assert_eq!((state.progress().finished, state.progress().failed), (15, 9));
    assert_eq!(state.retry_failed(), 9);
    run_all(&mut state);
    assert_eq!((state.progress().finished, state.progress().failed), (16, 8));
}

#[test]
fn charts_come_with_a_row_and_times_of_the_plan_are_used() {
    let plan = SweepPlan::of(&config()).unwrap();
    let mut session = Session::new();
    let mut configuration = plan.rows[0].configuration.clone();
    configuration.model = "no_such_model".to_owned();
    let times: ServiceTimes = FIXED.parse::<neuronscope::device::FixedModel>().unwrap().service_times(1);
    session.handle(run_request(1, 0, configuration.clone(), Some(times)), None);
    let events = drive(&mut session, 100_000);
    let Some(Event::Message(_, Message::Done(JobResult::Row { result, .. }))) = events.last() else {
        panic!("a row ends it")
    };
    let charts = result.charts.as_ref().unwrap();
    assert_eq!(charts.bars.iter().sum::<u64>(), result.report.latency_samples.unwrap());
    assert_eq!(charts.samples_per_second.len(), 3);
    // Another session has no times for it and says why.
    let mut other = Session::new();
    other.handle(run_request(1, 0, configuration, None), None);
    let failed = rows(&drive(&mut other, 1_000)).remove(0).1;
    assert!(failed.error.unwrap().contains("no_such_model"));
}
