//! Parts of a page that are drawn one after the other, each in a task of its own, while the page's stored example stands in front of it.

use std::cell::RefCell;
use std::collections::VecDeque;

use gloo_timers::callback::Timeout;
use yew::prelude::*;

use crate::platform::page;

/// Properties of [`Later`].
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
    let is_due = use_state_eq(|| !page::is_behind_example());
    use_effect_with(*is_due, {
        let turn = is_due.setter();
        move |is_due| {
            let place = (!is_due).then(|| wait(turn));
            // The part is drawn, or gone.
            move || place.into_iter().for_each(end)
        }
    });
    *is_due
}

/// Parts that wait for their turn. Timers of their own would not keep them apart: Yew draws everything that came due while it had paused.
#[derive(Default)]
struct Turns {
    waiting: VecDeque<(u32, UseStateSetter<bool>)>,
    /// The part whose turn it is.
    current: Option<u32>,
    /// Whether it is a part's turn, or about to be.
    is_busy: bool,
    next_place: u32,
}

thread_local! {
    static TURNS: RefCell<Turns> = RefCell::default();
}

/// Puts a part at the end of the line.
fn wait(turn: UseStateSetter<bool>) -> u32 {
    let (place, was_busy) = TURNS.with_borrow_mut(|turns| {
        let place = turns.next_place;
        turns.next_place = place.wrapping_add(1);
        turns.waiting.push_back((place, turn));
        (place, std::mem::replace(&mut turns.is_busy, true))
    });
    if !was_busy {
        page::set_drawing(true);
        go_on();
    }
    place
}

/// A part needs no turn any more; if it had one, the next has its own in another task.
fn end(place: u32) {
    let had_turn = TURNS.with_borrow_mut(|turns| {
        turns.waiting.retain(|(other, _)| *other != place);
        turns.current.take_if(|current| *current == place).is_some()
    });
    if had_turn {
        go_on();
    }
}

fn go_on() {
    let give_turn = || {
        let first = TURNS.with_borrow_mut(|turns| {
            let first = turns.waiting.pop_front();
            turns.current = first.as_ref().map(|(place, _)| *place);
            turns.is_busy = first.is_some();
            first
        });
        match first {
            Some((_, turn)) => turn.set(true),
            None => page::set_drawing(false),
        }
    };
    Timeout::new(0, give_turn).forget();
}
