//! Hook for the content of the shelf, kept up to date with this page's other program and with other tabs.

use gloo_events::EventListener;
use yew::prelude::*;

use super::lines::{CHANGED, all, now_ms, remove};
use ns_session::shelf::ShelfItem;

/// Bytes that are still incomplete after this time will not be completed: their tab was closed.
const GIVEN_UP_MS: u64 = 10 * 60 * 1_000;

/// The kept items, in their order.
#[hook]
pub fn use_shelf() -> Vec<ShelfItem> {
    let items = use_state_eq(Vec::new);
    use_effect_with((), {
        let items = items.setter();
        move |()| {
            let given_up = |item: &ShelfItem| !item.is_whole && now_ms().saturating_sub(item.when_ms) > GIVEN_UP_MS;
            all().iter().filter(|item| given_up(item)).for_each(remove);
            let look = move || items.set(all().into_iter().filter(|item| item.is_whole).collect::<Vec<_>>());
            look();
            let listeners = web_sys::window().map(|window| {
                let again = look.clone();
                [
                    EventListener::new(&window, CHANGED, move |_| look()),
                    EventListener::new(&window, "storage", move |_| again()),
                ]
            });
            move || drop(listeners)
        }
    });
    (*items).clone()
}
