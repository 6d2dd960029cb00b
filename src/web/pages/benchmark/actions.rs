//! Actions of the buttons on the benchmark page.

use crate::state::{StateDispatcher, StateHandle};
use web_sys::File;
use yew::prelude::*;

use super::model_file::{missing_file, open_model};
use crate::answers::say_failure;
use crate::context::AppContext;
use crate::platform::{download, machine, url};
use crate::sweep::SweepRunner;
use crate::worker::Program;
use ns_bench::export::{CSV_COLS, JsonFormat, to_csv, to_json, to_json_as};
use ns_bench::results_file_name;
use ns_page::bench::{BenchAction, BenchState, OpenedPlan};
use ns_page::notices::{NoticeAction, Tone};
use ns_session::{BenchPage, OpenedModel, PackedReports, QuestionRequest};

/// Actions of the buttons of the page.
#[derive(Clone, PartialEq)]
pub struct BenchActions {
    /// Workers and notices.
    pub app: AppContext,
    /// The state of the page.
    pub state: StateHandle<BenchState>,
    /// The runner of benchmarks.
    pub runner: SweepRunner,
}

impl BenchActions {
    /// Starts the benchmark in the form, unless a field is wrong.
    pub fn run(&self) {
        if let Some((field, message)) = self.state.config().1.first() {
            self.say(Tone::Bad, message.clone());
            crate::platform::page::focus(&format!("bench-{}", field));
            return;
        }
        // What was wrong before is right now.
        self.app.notices.dispatch(NoticeAction::DismissBad);
        self.state.dispatch(BenchAction::Press);
        let (config, _) = self.state.config();
        // At once, also for a person who goes to another page meanwhile. A run that goes on makes room first, and a file may be missing.
        if !self.state.is_busy() && missing_file(&self.app, &config.model).is_none() {
            self.state.dispatch(BenchAction::Taken);
            self.runner.run(config);
        }
    }

    /// Opens a model file, and benchmarks it.
    pub fn on_file(&self) -> Callback<File> {
        let (app, state) = (self.app.clone(), self.state.dispatcher());
        Callback::from(move |file: File| open_for_benchmark(&app, &state, file))
    }

    /// Stops the run; its rows stay.
    pub fn cancel(&self) {
        self.runner.cancel();
    }

    /// Pauses the run, or continues it.
    pub fn pause_or_resume(&self) {
        if self.state.is_paused() { self.runner.resume() } else { self.runner.pause() }
    }

    /// Runs the failed and cancelled configurations again.
    pub fn retry(&self) {
        self.runner.retry_failed();
    }

    /// Saves the reports as the command line prints them with `--json`.
    pub fn download_json(&self) {
        let text = to_json(&self.state.report_list()).map_err(|e| e.to_string());
        self.save("json", "application/json", text);
    }

    /// Saves the reports as NeuronPerf's `write_json` does: a bare array with its keys only.
    pub fn download_array(&self) {
        let text = to_json_as(&self.state.report_list(), JsonFormat::Neuronperf, None).map_err(|e| e.to_string());
        self.save("json", "application/json", text);
    }

    /// Saves the reports as NeuronPerf's CSV.
    pub fn download_csv(&self) {
        let text = to_csv(&self.state.report_list(), CSV_COLS).map_err(|e| e.to_string());
        self.save("csv", "text/csv", text);
    }

    /// Saves the reports as one HTML file, which a worker makes.
    pub fn download_page(&self) {
        let reports = self.state.report_list();
        let base = url::address_with("");
        // Imported rows do not have a configuration.
        let config = self.state.ran.as_ref().map(|ran| Box::new((**ran).clone()));
        let made = PackedReports::of(&reports).and_then(|reports| {
            let page = Box::new(BenchPage { config, view: self.state.view().to_fields(), reports, base });
            let (engine, file_name) = (self.app.pool.shared(Program::Benchmarks)?, self.file_name("html"));
            let on_message = say_failure(Some(self.app.notices.clone()));
            engine.send(QuestionRequest::BenchPage { page, file_name }, None, on_message);
            Ok(())
        });
        if let Err(message) = made {
            self.say(Tone::Bad, message);
        }
    }

    fn file_name(&self, extension: &str) -> String {
        results_file_name(&self.state.report_list(), machine::unix_s(), extension)
    }

    fn save(&self, extension: &str, mime: &str, text: Result<String, String>) {
        let saved = text.and_then(|t| download::save(&self.file_name(extension), mime, t.as_bytes()));
        if let Err(message) = saved {
            self.say(Tone::Bad, message);
        }
    }

    fn say(&self, tone: Tone, text: String) {
        self.app.notices.dispatch(NoticeAction::Say(tone, text));
    }
}

/// Opens a model file, and benchmarks it with the batch sizes that it allows on all priced instances.
pub fn open_for_benchmark(app: &AppContext, state: &StateDispatcher<BenchState>, file: File) {
    let (name, pool) = (file.name(), app.pool.clone());
    state.dispatch(BenchAction::FileGiven(name.clone()));
    let state = state.clone();
    let then = move |opened: Result<OpenedModel, String>| {
        state.dispatch(match opened {
            Ok(opened) => {
                let plan = OpenedPlan::of(&opened.batch, pool.catalog().as_deref());
                BenchAction::Opened(name.clone(), opened.id, plan)
            }
            Err(message) => BenchAction::Refused(message),
        });
    };
    open_model(app, file, Callback::from(then));
}
