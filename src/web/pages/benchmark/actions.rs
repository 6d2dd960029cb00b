//! What the buttons of the benchmark page do.

use std::cell::RefCell;
use std::rc::Rc;

use gloo_timers::callback::Timeout;
use yew::prelude::*;

use crate::bench::Report;
use crate::bench::export::{CSV_COLS, to_csv, to_json};
use crate::session::{Event, Request};
use crate::web::app::Job;
use crate::web::context::AppContext;
use crate::web::platform::{clipboard, download, url};
use crate::web::state::RunState;
use crate::web::state::bench::{BenchAction, BenchState};
use crate::web::state::notices::{NoticeAction, Tone};

/// Reports are shown so long after they came, together: a sweep can have thousands, and the table is built anew each time.
const BATCH_MS: u32 = 100;

/// A report and its place in the sweep.
type Row = (u32, Rc<Report>);

/// Reports that came and are not shown yet.
#[derive(Clone, Default)]
struct ReportBatch {
    waiting: Rc<RefCell<Vec<Row>>>,
}

impl ReportBatch {
    fn add(&self, row: u32, report: Report, dispatch: &UseReducerDispatcher<BenchState>) {
        let is_first = self.waiting.borrow().is_empty();
        self.waiting.borrow_mut().push((row, Rc::new(report)));
        if is_first {
            let (batch, dispatch) = (self.clone(), dispatch.clone());
            Timeout::new(BATCH_MS, move || batch.flush(&dispatch)).forget();
        }
    }

    fn flush(&self, dispatch: &UseReducerDispatcher<BenchState>) {
        let reports = self.waiting.take();
        if !reports.is_empty() {
            dispatch.dispatch(BenchAction::Reports(reports));
        }
    }
}

/// What the buttons of the page do.
#[derive(Clone, PartialEq)]
pub struct Actions {
    /// Workers and notices.
    pub app: AppContext,
    /// What the page shows.
    pub state: UseReducerHandle<BenchState>,
    /// The run that can be cancelled.
    pub job: Job,
}

impl Actions {
    /// Starts the benchmark in the form, unless a field is wrong.
    pub fn run(&self) {
        let (config, wrong) = self.state.config();
        if let Some((field, message)) = wrong.first() {
            self.say(Tone::Bad, message.clone());
            crate::web::platform::page::focus(&format!("bench-{}", field.key()));
            return;
        }
        let engine = match self.app.pool.bench() {
            Ok(engine) => engine,
            Err(message) => {
                self.state.dispatch(BenchAction::End(RunState::Failed(message)));
                return;
            }
        };
        self.state.dispatch(BenchAction::Start(config.clone()));
        let dispatch = self.state.dispatcher();
        let slot = self.job.clone();
        let batch = ReportBatch::default();
        let on_event = Callback::from(move |event: Event| {
            if event.is_last() {
                slot.0.borrow_mut().take();
                batch.flush(&dispatch);
            }
            match event {
                Event::Progress { done, total, label, .. } => {
                    dispatch.dispatch(BenchAction::Progress(RunState::Running { done, total, label }));
                }
                Event::Report { row, report, .. } => batch.add(row, *report, &dispatch),
                Event::BenchDone { .. } => dispatch.dispatch(BenchAction::End(RunState::Done)),
                Event::Cancelled { .. } => dispatch.dispatch(BenchAction::End(RunState::Cancelled)),
                Event::Failed { message, .. } => dispatch.dispatch(BenchAction::End(RunState::Failed(message))),
                _ => {}
            }
        });
        let job = engine.send(|job| Request::Bench { job, config: Box::new(config) }, None, on_event);
        if engine.is_alive() {
            *self.job.0.borrow_mut() = Some((engine, job));
        }
    }

    /// Stops the run; its reports stay.
    pub fn cancel(&self) {
        let running = self.job.0.borrow().clone();
        if let Some((engine, job)) = running {
            engine.cancel(job);
        }
    }

    /// Copies the address of this configuration.
    pub fn copy_link(&self) {
        let address = url::address_with(&self.state.link().print());
        let app = self.app.clone();
        let shown = address.clone();
        let done = Callback::from(move |result: Result<(), String>| {
            let (tone, text) = match result {
                Ok(()) => {
                    (Tone::Good, "The link is in the clipboard: whoever opens it sees this configuration.".to_owned())
                }
                Err(reason) => (Tone::Info, format!("The clipboard refused ({reason}). The link is: {shown}")),
            };
            app.notices.dispatch(NoticeAction::Say(tone, text));
        });
        clipboard::copy(&address, done);
    }

    /// Saves the reports as the command line prints them with `--json`.
    pub fn download_json(&self) {
        let text = to_json(&self.state.report_list()).map_err(|e| e.to_string());
        self.save("json", "application/json", text);
    }

    /// Saves the reports as NeuronPerf's CSV.
    pub fn download_csv(&self) {
        let text = to_csv(&self.state.report_list(), CSV_COLS).map_err(|e| e.to_string());
        self.save("csv", "text/csv", text);
    }

    fn save(&self, extension: &str, mime: &str, text: Result<String, String>) {
        let model = self.state.ran.as_ref().map_or("benchmark", |c| c.model.as_str());
        let is_plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let name: String = model.chars().map(|c| if is_plain(&c) { c } else { '-' }).collect();
        let saved = text.and_then(|t| download::save(&format!("{name}.results.{extension}"), mime, t.as_bytes()));
        if let Err(message) = saved {
            self.say(Tone::Bad, message);
        }
    }

    fn say(&self, tone: Tone, text: String) {
        self.app.notices.dispatch(NoticeAction::Say(tone, text));
    }
}
