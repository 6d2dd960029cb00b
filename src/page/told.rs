//! The meaning of a worker's message for a single question: its answer, the reason why there is no answer, or neither.

use ns_session::{JobResult, Reply, Told};

/// The answer to a question, or a sentence that says why it is missing; `None` for a message that says neither.
///
/// `take` returns the answer if it is of the requested kind. Any other kind is a bug of the page or its worker; the sentence says so.
pub fn answer_of<T>(told: Told, take: impl FnOnce(Reply) -> Option<T>) -> Option<Result<T, String>> {
    match told {
        Told::Answer(reply) => {
            let kind = kind_of_reply(&reply);
            Some(take(reply).ok_or_else(|| unexpected(kind)))
        }
        Told::Failed(message) => Some(Err(message)),
        // Progress is not an answer; a user who cancelled knows it; a file is saved when it arrives.
        Told::Progress { .. } | Told::Note(_) | Told::Paused | Told::Cancelled | Told::File(_) => None,
        told @ (Told::Part(_) | Told::Done(_)) => Some(Err(unexpected(kind_of(&told)))),
    }
}

/// The result of a job, or a sentence that says why it is missing; `None` for a message that says neither.
///
/// `take` returns the result if it is of the requested kind. Any other kind is a bug of the page or its worker; the sentence says so.
pub fn outcome_of<T>(told: Told, take: impl FnOnce(JobResult) -> Option<T>) -> Option<Result<T, String>> {
    match told {
        Told::Done(result) => Some(take(result).ok_or_else(|| unexpected("another result"))),
        Told::Failed(message) => Some(Err(message)),
        Told::Progress { .. } | Told::Note(_) | Told::Paused | Told::Part(_) | Told::Cancelled => None,
        told @ (Told::Answer(_) | Told::File(_)) => Some(Err(unexpected(kind_of(&told)))),
    }
}

/// The reason why a requested file is missing; `None` if it was made, or if nothing is known yet.
#[must_use]
pub fn failure_of(told: Told) -> Option<String> {
    answer_of(told, |_: Reply| None::<()>).and_then(Result::err)
}

/// The message for an answer of a kind that was not requested.
#[must_use]
pub fn unexpected(kind: &str) -> String {
    format!("A worker answered with {kind}, which was not requested. Reload the page.")
}

/// The kind of a message, in a word.
#[must_use]
pub const fn kind_of(told: &Told) -> &'static str {
    match told {
        Told::Progress { .. } => "progress",
        Told::Note(_) => "a note",
        Told::Paused => "a pause",
        Told::Part(_) => "a part",
        Told::Done(_) => "a result",
        Told::Answer(reply) => kind_of_reply(reply),
        Told::File(_) => "a file",
        Told::Failed(_) => "a failure",
        Told::Cancelled => "a stop",
    }
}

const fn kind_of_reply(reply: &Reply) -> &'static str {
    match reply {
        Reply::Catalog(_) => "the catalog",
        Reply::Records(_) => "records",
        Reply::Timeline(_) => "a timeline",
        Reply::Details(_) => "details",
        Reply::Search(_) => "hits",
        Reply::Operators(_) => "operators",
        Reply::Summary(_) => "a summary",
        Reply::Analysed(_) => "an analysis",
        Reply::Listed(_) => "a table",
        Reply::Flows { .. } => "flows",
        Reply::Density(_) => "a density",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_session::{ExportedFile, Part};

    /// One message of every kind, and whether it is the last one of a job that ends.
    fn messages() -> Vec<Told> {
        vec![
            Told::Progress { done: 1, total: 2, label: "x".to_owned() },
            Told::Note("x".to_owned()),
            Told::Paused,
            Told::Part(Part::Estimated { row: 0, estimate: Err("x".to_owned()), times: None }),
            Told::Done(JobResult::AllParts),
            Told::Answer(Reply::Density(vec![1.0])),
            Told::File(ExportedFile::default()),
            Told::Failed("x".to_owned()),
            Told::Cancelled,
        ]
    }

    fn density(reply: Reply) -> Option<Vec<f64>> {
        if let Reply::Density(busy) = reply { Some(busy) } else { None }
    }

    /// An answer in a word, for tables.
    fn word<T>(found: Option<Result<T, String>>) -> &'static str {
        match found {
            None => "-",
            Some(Ok(_)) => "ok",
            Some(Err(text)) if text == "x" => "failed",
            Some(Err(text)) if text.contains("was not requested") => "unexpected",
            Some(Err(_)) => "another error",
        }
    }

    #[test]
    fn a_question_has_one_kind_of_answer() {
        let words: Vec<_> = messages().into_iter().map(|told| word(answer_of(told, density))).collect();
        assert_eq!(words, ["-", "-", "-", "unexpected", "unexpected", "ok", "-", "failed", "-"]);
        let other = answer_of(Told::Answer(Reply::Details(None)), density);
        assert_eq!(other, Some(Err(unexpected("details"))));
    }

    #[test]
    fn a_job_has_one_kind_of_result() {
        let kept = |result: JobResult| matches!(result, JobResult::AllParts).then_some(());
        let words: Vec<_> = messages().into_iter().map(|told| word(outcome_of(told, kept))).collect();
        assert_eq!(words, ["-", "-", "-", "-", "ok", "unexpected", "unexpected", "failed", "-"]);
        assert_eq!(word(outcome_of(Told::Done(JobResult::ModelKept), kept)), "unexpected");
    }

    #[test]
    fn a_file_comes_or_says_why_not() {
        let said: Vec<_> = messages().into_iter().map(|told| failure_of(told).is_some()).collect();
        assert_eq!(said, [false, false, false, true, true, true, false, true, false]);
        assert_eq!(failure_of(Told::Failed("x".to_owned())).as_deref(), Some("x"));
    }
}
