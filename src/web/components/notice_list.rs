//! Notices at the edge of the page.

use gloo_timers::callback::Timeout;
use yew::prelude::*;

use crate::web::state::notices::{Notice, NoticeAction, Notices, Tone};

/// Good news go by themselves after this time.
const STAY_MS: u32 = 6_000;

/// Properties of [`NoticeList`].
#[derive(Properties, PartialEq)]
pub struct NoticeListProps {
    /// All notices.
    pub notices: UseReducerHandle<Notices>,
}

/// The notices.
#[component]
pub fn NoticeList(props: &NoticeListProps) -> Html {
    html! {
        <section class="notices" aria-label="Notices" aria-live="polite">
            { for props.notices.list.iter().map(|n| html! {
                <NoticeBox key={n.id} notice={n.clone()} dispatch={props.notices.dispatcher()} />
            }) }
        </section>
    }
}

#[derive(Properties, PartialEq)]
struct NoticeBoxProps {
    notice: Notice,
    dispatch: UseReducerDispatcher<Notices>,
}

#[component]
fn NoticeBox(props: &NoticeBoxProps) -> Html {
    let id = props.notice.id;
    use_effect_with((id, props.notice.tone), {
        let dispatch = props.dispatch.clone();
        move |(id, tone)| {
            let id = *id;
            let timer = (*tone == Tone::Good)
                .then(|| Timeout::new(STAY_MS, move || dispatch.dispatch(NoticeAction::Dismiss(id))));
            move || drop(timer)
        }
    });
    let class = match props.notice.tone {
        Tone::Good => "good",
        Tone::Info => "info",
        Tone::Bad => "bad",
    };
    let dispatch = props.dispatch.clone();
    let onclick = Callback::from(move |_: MouseEvent| dispatch.dispatch(NoticeAction::Dismiss(id)));
    html! {
        <div class={classes!("notice", class)} role={(props.notice.tone == Tone::Bad).then_some("alert")}>
            <p>{ &props.notice.text }</p>
            <button type="button" class="plain" aria-label="Dismiss" {onclick}>{ "\u{00d7}" }</button>
        </div>
    }
}
