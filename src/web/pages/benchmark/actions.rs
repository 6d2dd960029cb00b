//! What the buttons of the benchmark page do.

use yew::prelude::*;

use crate::bench::export::{CSV_COLS, to_csv, to_json};
use crate::web::context::AppContext;
use crate::web::platform::{clipboard, download, url};
use crate::web::state::bench::BenchState;
use crate::web::state::notices::{NoticeAction, Tone};
use crate::web::sweep::SweepRunner;

/// What the buttons of the page do.
#[derive(Clone, PartialEq)]
pub struct Actions {
    /// Workers and notices.
    pub app: AppContext,
    /// What the page shows.
    pub state: UseReducerHandle<BenchState>,
    /// What runs benchmarks.
    pub runner: SweepRunner,
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
        self.runner.run(config);
    }

    /// Stops the run; its rows stay.
    pub fn cancel(&self) {
        self.runner.cancel();
    }

    /// Lets the run rest, or go on.
    pub fn pause_or_resume(&self) {
        if self.state.is_paused() { self.runner.resume() } else { self.runner.pause() }
    }

    /// Runs again what failed or was cancelled.
    pub fn retry(&self) {
        self.runner.retry_failed();
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
