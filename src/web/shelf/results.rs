//! Finished results of the pages that show one at a time.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::lines::{all, now_ms, put, remove, same};
use super::pieces::{keep_piece, piece_key};
use crate::platform::storage;
use ns_session::results::{Keepable, KeptResult, KeptStudy, result_item};
use ns_session::shelf::{ItemKind, ShelfItem};
use ns_session::studies::{StudyResult, StudySpec};

/// The piece of an item that holds its result.
const PART: &str = "result";

/// Keeps the result of a study. Fails with a sentence for the user if the browser does not keep it.
pub fn keep_study(spec: StudySpec, result: StudyResult) -> Result<(), String> {
    let kept = KeptStudy { spec, result, when_ms: now_ms() };
    keep(&kept, &kept.title())
}

/// The key in storage of the answers of a study that has not ended. There is one; its text names the study.
const UNFINISHED: &str = "neuronscope.unfinished";

/// Keeps what a study that runs has so far, if there is something, so that a later visit takes it up.
pub fn keep_unfinished(resume: &str) {
    if !resume.is_empty() {
        storage::write(UNFINISHED, resume);
    }
}

/// What the last study that did not end had; empty for nothing. A study takes it up only if it is its own.
pub fn unfinished() -> String {
    storage::read(UNFINISHED).unwrap_or_default()
}

fn keep<S: Keepable + Serialize, R: Serialize>(kept: &KeptResult<S, R>, title: &str) -> Result<(), String> {
    let item = result_item(&kept.spec, title, kept.when_ms);
    let is_kept = kept.to_text().is_some_and(|text| keep_piece(&item.rows, PART, &text));
    if !is_kept {
        let text = "The browser cannot keep this result for a later visit: its store is full or refuses it. \
                    Download it before you close this tab.";
        return Err(text.to_owned());
    }
    put(item);
    Ok(())
}

/// The kept result of a request.
pub fn kept_result<S, R>(spec: &S) -> Option<KeptResult<S, R>>
where
    S: Keepable + DeserializeOwned + PartialEq,
    R: DeserializeOwned,
{
    read(&same(&result_item(spec, "", 0))?).filter(|kept: &KeptResult<S, R>| kept.spec == *spec)
}

/// The kept result of a kind that was opened last.
pub fn latest_result<S: DeserializeOwned, R: DeserializeOwned>(kind: ItemKind) -> Option<KeptResult<S, R>> {
    all().iter().filter(|item| item.kind == kind).max_by_key(|item| item.when_ms).and_then(read)
}

/// The result of an item. An item that another build kept leaves the shelf: its link runs again.
fn read<S: DeserializeOwned, R: DeserializeOwned>(item: &ShelfItem) -> Option<KeptResult<S, R>> {
    let kept = storage::read(&piece_key(&item.rows, PART)).as_deref().and_then(KeptResult::from_text);
    if kept.is_none() {
        remove(item);
    }
    kept
}
