//! Files of results of other tools.

use crate::state::StateDispatcher;
use wasm_bindgen_futures::spawn_local;
use web_sys::File;
use yew::prelude::*;

use crate::context::AppContext;
use crate::platform::files::read_head;
use crate::worker::Program;
use ns_base::convert::f64_to_u64;
use ns_page::bench::{BenchAction, BenchState};
use ns_page::link_intent::LinkIntent;
use ns_page::notices::{NoticeAction, Notices, Tone};
use ns_page::replies::outcome_of;
use ns_session::options::read_neuronperf_call;
use ns_session::{HEAD_BYTES, JobRequest, JobResult, Message};

/// Fills the form with the call of NeuronPerf in a script, and runs it if the call names the model.
async fn read_script(state: StateDispatcher<BenchState>, notices: StateDispatcher<Notices>, file: File) {
    let head = read_head(&file, HEAD_BYTES).await.unwrap_or_default();
    match read_neuronperf_call(&String::from_utf8_lossy(&head)) {
        Ok(call) => {
            let (intent, next) = match call.names_model() {
                true => (LinkIntent::Result, ""),
                false => (LinkIntent::Form, " Choose the model, then press Run."),
            };
            state.dispatch(BenchAction::Load(Box::new(call.config()), intent));
            let text = format!("{}: its call of NeuronPerf is in the form.{next}", file.name());
            notices.dispatch(NoticeAction::Say(Tone::Good, text));
        }
        Err(refusal) => state.dispatch(BenchAction::Refused(format!("{}: {refusal}", file.name()))),
    }
}

/// Reads a file of benchmark results into the table.
pub fn import_file(app: &AppContext, state: StateDispatcher<BenchState>, file: File) {
    let notices = app.notices.clone();
    if file.name().to_ascii_lowercase().ends_with(".py") {
        return spawn_local(read_script(state, notices, file));
    }
    let engine = match app.pool.shared(Program::Benchmarks) {
        Ok(engine) => engine,
        Err(message) => {
            state.dispatch(BenchAction::Refused(message));
            return;
        }
    };
    let (name, size) = (file.name(), file.size());
    let on_message = Callback::from(move |message: Message| match message {
        Message::Done(JobResult::Imported { name, reports, diagnostics }) => {
            let mut text = format!("{name}: {} rows were imported.", reports.len());
            for d in &diagnostics {
                text.push_str(&format!(" {} ({} times): {}.", d.code, d.count, d.first_example));
            }
            let tone = if diagnostics.is_empty() { Tone::Good } else { Tone::Info };
            state.dispatch(BenchAction::Imported(reports));
            notices.dispatch(NoticeAction::Say(tone, text));
        }
        Message::Done(JobResult::Index { name, index, warnings }) => {
            let mut text = format!("{name} is a model index.");
            warnings.iter().take(3).for_each(|w| text.push_str(&format!(" {w}.")));
            if warnings.len() > 3 {
                text.push_str(&format!(" There are {} more remarks.", warnings.len() - 3));
            }
            let tone = if warnings.is_empty() { Tone::Good } else { Tone::Info };
            state.dispatch(BenchAction::Index(Some(index)));
            notices.dispatch(NoticeAction::Say(tone, text));
        }
        other => {
            if let Some(message) = outcome_of(other, |_| None::<()>).and_then(Result::err) {
                state.dispatch(BenchAction::Refused(message));
            }
        }
    });
    engine.send(JobRequest::Import { name, size: f64_to_u64(size) }, Some(file), on_message);
}
