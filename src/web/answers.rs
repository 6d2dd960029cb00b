//! Handling of the answer to a question, or of the reason why it was refused.

use crate::state::StateDispatcher;
use yew::Callback;

use ns_page::notices::{NoticeAction, Notices, Tone};
use ns_page::replies::{answer_of, failure_of, left_out_of};
use ns_session::{Message, Reply};

/// Calls back with the answer if `take` accepts it; shows a notice if the question failed.
pub fn on_answer<T: 'static>(
    notices: StateDispatcher<Notices>,
    take: fn(Reply) -> Option<T>,
    then: impl Fn(T) + 'static,
) -> Callback<Message> {
    Callback::from(move |message: Message| match answer_of(message, take) {
        Some(Ok(answer)) => then(answer),
        Some(Err(message)) => notices.dispatch(NoticeAction::Say(Tone::Bad, message)),
        None => {}
    })
}

/// Shows a notice if a worker could not make a file, or if its format cannot hold all. A file that it made is saved when it arrives.
pub fn say_failure(notices: Option<StateDispatcher<Notices>>) -> Callback<Message> {
    Callback::from(move |message: Message| {
        let Some(notices) = &notices else { return };
        if let Some(left_out) = left_out_of(&message) {
            notices.dispatch(NoticeAction::Say(Tone::Info, left_out));
        }
        if let Some(message) = failure_of(message) {
            notices.dispatch(NoticeAction::Say(Tone::Bad, message));
        }
    })
}
