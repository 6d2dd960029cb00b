//! Parts of a page that are drawn one after the other, each in a task of its own, while the page's stored example stands in front of it.

use std::cell::RefCell;
use std::collections::VecDeque;

use gloo_timers::callback::Timeout;
use yew::prelude::*;

use crate::platform::page;

#[derive(Properties, PartialEq)]
pub struct LaterProps {
    /// Draws the part.
    pub draw: Callback<(), Html>,
}

/// The part, at once where the reader waits for it.
#[component]
pub fn Later(props: &LaterProps) -> Html {
    if use_turn() { props.draw.emit(()) } else { Html::default() }
}

/// Whether it is a part's turn to be drawn: at once where the reader waits for it. Behind an example nobody does, and a slow processor that
/// draws all parts of a result in one task answers to no key and no pointer meanwhile.
#[hook]
pub fn use_turn() -> bool {
    use_turn_until(true)
}

/// [`use_turn`] for a part that is measured in its turn and drawn later: the next part waits until `is_drawn`, and so does the example.
#[hook]
pub fn use_turn_until(is_drawn: bool) -> bool {
    let is_in_line = *use_state(page::is_behind_example);
    let is_due = use_state_eq(|| !is_in_line);
    use_effect_with(is_in_line && !(*is_due && is_drawn), {
        let turn = is_due.setter();
        move |waits| {
            let waits = *waits;
            if waits {
                join(turn.clone());
            }
            // The part is drawn, or gone.
            move || {
                if waits {
                    leave(&turn);
                }
            }
        }
    });
    *is_due
}

/// Whether parts wait for their turn, or for one that has it and is not drawn yet.
pub fn parts_wait() -> bool {
    LINE.with_borrow(|line| !line.is_empty())
}

thread_local! {
    /// Parts that wait, after the one whose turn it is. Timers of their own would not keep them apart: Yew draws everything that came due
    /// while it had paused.
    static LINE: RefCell<VecDeque<UseStateSetter<bool>>> = const { RefCell::new(VecDeque::new()) };
}

fn join(turn: UseStateSetter<bool>) {
    let length = LINE.with_borrow_mut(|line| {
        line.push_back(turn);
        line.len()
    });
    if length == 1 {
        page::set_drawing(true);
        give_turn();
    }
}

/// If it was the part's turn, the next has its own in another task.
fn leave(turn: &UseStateSetter<bool>) {
    let (had_turn, is_empty) = LINE.with_borrow_mut(|line| {
        let had_turn = line.front() == Some(turn);
        line.retain(|other| other != turn);
        (had_turn, line.is_empty())
    });
    match (had_turn, is_empty) {
        (true, true) => page::set_drawing(false),
        (true, false) => give_turn(),
        (false, _) => {}
    }
}

fn give_turn() {
    let give = || {
        if let Some(first) = LINE.with_borrow(|line| line.front().cloned()) {
            first.set(true);
        }
    };
    Timeout::new(0, give).forget();
}
