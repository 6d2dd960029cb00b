//! Files of results of other tools.

use crate::state::StateDispatcher;
use web_sys::File;
use yew::prelude::*;

use crate::context::AppContext;
use ns_base::convert::whole;
use ns_page::bench::{BenchAction, BenchState};
use ns_page::notices::{NoticeAction, Tone};
use ns_page::told::outcome_of;
use ns_session::{JobRequest, JobResult, Told};

/// Size limit in bytes: results in JSON are small. A larger file is a trace, which is not read twice.
const MOST_JSON_BYTES: f64 = 16.0 * 1024.0 * 1024.0;

/// Whether a file may hold benchmark results, by its name and size: tables and lines always, JSON on the page of
/// benchmarks.
#[must_use]
pub fn may_hold_results(file: &File, is_benchmark_page: bool) -> bool {
    let name = file.name().to_ascii_lowercase();
    let is_json = is_benchmark_page && name.ends_with(".json") && file.size() <= MOST_JSON_BYTES;
    name.ends_with(".csv") || name.ends_with(".jsonl") || is_json
}

/// Reads a file of benchmark results into the table. A file without results goes to `otherwise`, with the reason.
pub fn import_file(
    app: &AppContext,
    state: StateDispatcher<BenchState>,
    file: File,
    otherwise: Callback<(File, String)>,
) {
    let notices = app.notices.clone();
    let engine = match app.pool.bench() {
        Ok(engine) => engine,
        Err(message) => {
            notices.dispatch(NoticeAction::Say(Tone::Bad, message));
            return;
        }
    };
    let (name, size) = (file.name(), file.size());
    let kept = file.clone();
    let on_told = Callback::from(move |told: Told| match told {
        Told::Done(JobResult::Imported { name, reports, diagnostics }) => {
            let mut text = format!("{name}: {} rows were imported.", reports.len());
            for d in &diagnostics {
                text.push_str(&format!(" {} ({} times): {}.", d.code, d.count, d.first_example));
            }
            let tone = if diagnostics.is_empty() { Tone::Good } else { Tone::Info };
            state.dispatch(BenchAction::Imported(reports));
            notices.dispatch(NoticeAction::Say(tone, text));
        }
        Told::Done(JobResult::Index { name, index, warnings }) => {
            let mut text = format!("{name}: Run benchmarks the entries of this model index.");
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
                otherwise.emit((kept.clone(), message));
            }
        }
    });
    engine.send(JobRequest::Import { name, size: whole(size) }, Some(file), on_told);
}
