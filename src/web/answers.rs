//! Handling of the answer to a question, or of the reason why it was refused.

use yew::{Callback, UseReducerDispatcher};

use crate::page::notices::{NoticeAction, Notices, Tone};
use crate::page::told::{answer_of, failure_of};
use crate::session::{Reply, Told};

/// Calls back with the answer if `take` accepts it; shows a notice if the question failed.
pub fn on_answer<T: 'static>(
    notices: UseReducerDispatcher<Notices>,
    take: fn(Reply) -> Option<T>,
    then: impl Fn(T) + 'static,
) -> Callback<Told> {
    Callback::from(move |told: Told| match answer_of(told, take) {
        Some(Ok(answer)) => then(answer),
        Some(Err(message)) => notices.dispatch(NoticeAction::Say(Tone::Bad, message)),
        None => {}
    })
}

/// Shows a notice if a worker could not make a file. A file that it made is saved when it arrives.
pub fn say_failure(notices: Option<UseReducerDispatcher<Notices>>) -> Callback<Told> {
    Callback::from(move |told: Told| {
        if let (Some(message), Some(notices)) = (failure_of(told), &notices) {
            notices.dispatch(NoticeAction::Say(Tone::Bad, message));
        }
    })
}
