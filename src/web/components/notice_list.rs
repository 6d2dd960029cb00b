//! Notices at the edge of the page.

use super::{on, set};
use crate::state::{StateDispatcher, StateHandle};
use gloo_timers::callback::Timeout;
use yew::prelude::*;

use ns_page::notices::{Notice, NoticeAction, Notices};

/// The notices of the page as a list. Two lists on one page need two names.
pub fn notice_list(notices: &StateHandle<Notices>, label: &'static str) -> Html {
    html! {
        <section class="notices" aria-label={label} aria-live="polite">
            { for notices.list.iter().map(|n| html! {
                <NoticeBox key={n.id} notice={n.clone()} dispatch={notices.dispatcher()} />
            }) }
        </section>
    }
}

#[derive(Properties, PartialEq)]
struct NoticeBoxProps {
    notice: Notice,
    dispatch: StateDispatcher<Notices>,
}

#[component]
fn NoticeBox(props: &NoticeBoxProps) -> Html {
    let id = props.notice.id;
    let is_held = use_state_eq(|| false);
    use_effect_with((id, props.notice.tone, *is_held), {
        let dispatch = props.dispatch.clone();
        move |(id, tone, is_held)| {
            let id = *id;
            let timer =
                (!*is_held).then(|| Timeout::new(tone.stay_ms(), move || dispatch.dispatch(NoticeAction::Dismiss(id))));
            move || drop(timer)
        }
    });
    let onclick =
        on(props.dispatch.clone(), move |dispatch, _: MouseEvent| dispatch.dispatch(NoticeAction::Dismiss(id)));
    let (onmouseenter, onmouseleave) = (set(&is_held, true), set(&is_held, false));
    let (onfocusin, onfocusout) = (set(&is_held, true), set(&is_held, false));
    html! {
        <div class={classes!("notice", props.notice.tone.name())} {onmouseenter} {onmouseleave} {onfocusin} {onfocusout} role={props.notice.tone.is_alert().then_some("alert")}>
            <p>{ props.notice.text.clone() }</p>
            <button type="button" class="plain" aria-label="Dismiss" {onclick}>{ "\u{00d7}" }</button>
        </div>
    }
}
