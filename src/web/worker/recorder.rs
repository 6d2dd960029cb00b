//! The worker's access to Python, which runs the files of NKI kernels in workers of its own (`www/recorder_loader.js`). It is fetched when the first
//! one runs.

use std::cell::Cell;

use gloo_timers::callback::Timeout;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use ns_session::{Recorder, RecorderCall};

#[wasm_bindgen(raw_module = "./recorder_loader.js")]
extern "C" {
    #[wasm_bindgen(js_name = recordingLanes)]
    fn recording_lanes() -> usize;

    #[wasm_bindgen(js_name = beginRecording)]
    fn begin_recording(lane: usize, source: &str, words: Vec<String>);

    /// The list, or an error that is a text; undefined while Python runs.
    #[wasm_bindgen(js_name = takeRecording, catch)]
    fn take_recording(lane: usize) -> Result<Option<String>, JsValue>;

    /// What the lane does now.
    #[wasm_bindgen(js_name = recordingSays)]
    fn recording_says(lane: usize) -> String;

    #[wasm_bindgen(js_name = endRecordings)]
    fn end_recordings();
}

/// Time until a worker asks Python again, milliseconds.
const ASK_EVERY_MS: u32 = 5;

thread_local! {
    static IS_WAITING: Cell<bool> = const { Cell::new(false) };
}

/// Python in workers of this one.
pub(super) struct PagePython;

impl Recorder for PagePython {
    fn lanes(&self) -> usize {
        recording_lanes()
    }

    fn begin(&self, lane: usize, call: &RecorderCall) {
        begin_recording(lane, &call.source, call.words.clone());
    }

    fn activity(&self, lane: usize) -> String {
        recording_says(lane)
    }

    fn end(&self) {
        end_recordings();
    }

    fn take(&self, lane: usize) -> Option<Result<String, String>> {
        let taken = take_recording(lane).map_err(|error| error.as_string().unwrap_or_default()).transpose();
        IS_WAITING.set(taken.is_none());
        taken
    }
}

/// Calls later if the last step waited for Python, whose own work has no turn meanwhile; returns whether it does.
pub(super) fn rest(then: impl FnOnce() + 'static) -> bool {
    let is_waiting = IS_WAITING.replace(false);
    if is_waiting {
        Timeout::new(ASK_EVERY_MS, then).forget();
    }
    is_waiting
}
