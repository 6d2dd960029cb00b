//! A part of a result that is drawn in a task of its own while the page's stored example stands in front of it.

use gloo_timers::callback::Timeout;
use yew::prelude::*;

use crate::platform::page;

/// Properties of [`Later`].
#[derive(Properties, PartialEq)]
pub struct LaterProps {
    /// Draws the part.
    pub draw: Callback<(), Html>,
}

/// The part, at once where the reader waits for it. Behind an example nobody does, and a slow processor that draws all parts of a result
/// in one task answers to no key and no pointer meanwhile.
#[component]
pub fn Later(props: &LaterProps) -> Html {
    let is_due = use_state_eq(|| !page::is_behind_example());
    use_effect_with((), {
        let (is_due, setter) = (*is_due, is_due.setter());
        move |()| {
            let timer = (!is_due).then(|| Timeout::new(0, move || setter.set(true)));
            move || drop(timer)
        }
    });
    if *is_due { props.draw.emit(()) } else { Html::default() }
}
