//! Handlers of events.

use yew::{Callback, UseStateHandle};

/// A handler that owns what it acts with.
///
/// `on(actions.clone(), |actions, _: MouseEvent| actions.cancel())` is the handler of a button, and
/// `on((base.clone(), item.clone()), |(base, item), _: MouseEvent| ..)` acts with two things.
pub fn on<C: 'static, E, T>(with: C, act: impl Fn(&C, E) -> T + 'static) -> Callback<E, T> {
    Callback::from(move |event: E| act(&with, event))
}

pub fn set<T: Clone + 'static, E: 'static>(state: &UseStateHandle<T>, to: T) -> Callback<E> {
    on(state.setter(), move |state, _: E| state.set(to.clone()))
}
