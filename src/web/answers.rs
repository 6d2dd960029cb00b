//! How the page takes the answer to a question, or the reason of a refusal.

use yew::{Callback, UseReducerDispatcher};

use crate::page::notices::{NoticeAction, Notices, Tone};
use crate::page::told::{answer_of, failure_of};
use crate::session::{Reply, Told};

/// Calls with the answer of the kind that `take` gives; what went wrong is said.
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

/// Says why a worker could not make a file; one that it made is saved as it comes.
pub fn say_failure(notices: Option<UseReducerDispatcher<Notices>>) -> Callback<Told> {
    Callback::from(move |told: Told| {
        if let (Some(message), Some(notices)) = (failure_of(told), &notices) {
            notices.dispatch(NoticeAction::Say(Tone::Bad, message));
        }
    })
}
