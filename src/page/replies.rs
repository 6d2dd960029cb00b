//! The meaning of a worker's message for a single question: its answer, the reason why there is no answer, or neither.

use ns_session::{JobResult, Message, Reply};

/// The answer to a question, or a sentence that says why it is missing; `None` for a message that says neither.
///
/// `take` returns the answer if it is of the requested kind. Any other kind is a bug of the page or its worker; the sentence says so.
pub fn answer_of<T>(message: Message, take: impl FnOnce(Reply) -> Option<T>) -> Option<Result<T, String>> {
    match message {
        Message::Answer(reply) => {
            let kind = kind_of_reply(&reply);
            Some(take(reply).ok_or_else(|| unexpected(kind)))
        }
        Message::Failed(message) => Some(Err(message)),
        // Progress is not an answer; a user who cancelled knows it; a file is saved when it arrives.
        Message::Progress { .. } | Message::Note(_) | Message::Paused | Message::Cancelled | Message::File(_) => None,
        message @ (Message::Part(_) | Message::Done(_)) => Some(Err(unexpected(kind_of(&message)))),
    }
}

/// The result of a job, or a sentence that says why it is missing; `None` for a message that says neither.
///
/// `take` returns the result if it is of the requested kind. Any other kind is a bug of the page or its worker; the sentence says so.
pub fn outcome_of<T>(message: Message, take: impl FnOnce(JobResult) -> Option<T>) -> Option<Result<T, String>> {
    match message {
        Message::Done(result) => Some(take(result).ok_or_else(|| unexpected("another result"))),
        Message::Failed(message) => Some(Err(message)),
        Message::Progress { .. } | Message::Note(_) | Message::Paused | Message::Part(_) | Message::Cancelled => None,
        message @ (Message::Answer(_) | Message::File(_)) => Some(Err(unexpected(kind_of(&message)))),
    }
}

/// The reason why a requested file is missing; `None` if it was made, or if nothing is known yet.
pub fn failure_of(message: Message) -> Option<String> {
    answer_of(message, |_: Reply| None::<()>).and_then(Result::err)
}

/// What the format of a file that was made cannot hold, as sentences.
pub fn left_out_of(message: &Message) -> Option<String> {
    let Message::File(file) = message else { return None };
    let said: Vec<String> = file.left_out.iter().map(ToString::to_string).collect();
    (!said.is_empty()).then(|| format!("{}: {}.", file.file_name, said.join("; ")))
}

/// The message for an answer of a kind that was not requested.
pub fn unexpected(kind: &str) -> String {
    format!("A worker answered with {kind}, which was not requested. Reload the page.")
}

/// The kind of a message, in a word.
pub const fn kind_of(message: &Message) -> &'static str {
    match message {
        Message::Progress { .. } => "progress",
        Message::Note(_) => "a note",
        Message::Paused => "a pause",
        Message::Part(_) => "a part",
        Message::Done(_) => "a result",
        Message::Answer(reply) => kind_of_reply(reply),
        Message::File(_) => "a file",
        Message::Failed(_) => "a failure",
        Message::Cancelled => "a stop",
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
        Reply::Analysed(_) => "an analysis",
        Reply::Listed(_) => "a table",
        Reply::Flows { .. } => "flows",
        Reply::Density(_) => "a density",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_session::{ExportedFile, ResultPart};

    /// One message of every kind, and whether it is the last one of a job that ends.
    fn messages() -> Vec<Message> {
        vec![
            Message::Progress { done: 1, total: 2, label: "x".to_owned() },
            Message::Note("x".to_owned()),
            Message::Paused,
            Message::Part(ResultPart::Estimated { row: 0, estimate: Err("x".to_owned()), times: None }),
            Message::Done(JobResult::AllParts),
            Message::Answer(Reply::Density(vec![1.0])),
            Message::File(ExportedFile::default()),
            Message::Failed("x".to_owned()),
            Message::Cancelled,
        ]
    }

    #[test]
    fn a_file_whose_format_cannot_hold_all_says_it() {
        assert_eq!(left_out_of(&Message::File(ExportedFile::default())), None);
        let mut said = ns_base::Diagnostics::new();
        said.add_many("instants", 2, None, || "the instant \"a\" is left out".to_owned());
        let (file_name, left_out) = ("run.xplane.pb".to_owned(), said.items().to_vec());
        let file = Message::File(ExportedFile { file_name, left_out, ..ExportedFile::default() });
        let text = "run.xplane.pb: the instant \"a\" is left out (2 times; this is the first).";
        assert_eq!(left_out_of(&file).as_deref(), Some(text));
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
        let words: Vec<_> = messages().into_iter().map(|message| word(answer_of(message, density))).collect();
        assert_eq!(words, ["-", "-", "-", "unexpected", "unexpected", "ok", "-", "failed", "-"]);
        let other = answer_of(Message::Answer(Reply::Details(None)), density);
        assert_eq!(other, Some(Err(unexpected("details"))));
    }

    #[test]
    fn a_job_has_one_kind_of_result() {
        let kept = |result: JobResult| matches!(result, JobResult::AllParts).then_some(());
        let words: Vec<_> = messages().into_iter().map(|message| word(outcome_of(message, kept))).collect();
        assert_eq!(words, ["-", "-", "-", "-", "ok", "unexpected", "unexpected", "failed", "-"]);
        assert_eq!(word(outcome_of(Message::Done(JobResult::ModelKept), kept)), "unexpected");
    }

    #[test]
    fn a_file_arrives_or_its_failure_is_named() {
        let said: Vec<_> = messages().into_iter().map(|message| failure_of(message).is_some()).collect();
        assert_eq!(said, [false, false, false, true, true, true, false, true, false]);
        assert_eq!(failure_of(Message::Failed("x".to_owned())).as_deref(), Some("x"));
    }
}
