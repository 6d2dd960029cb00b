//! Sweeps of earlier visits, offered again.

use gloo_timers::callback::Timeout;
use yew::prelude::*;

use crate::web::sweep::{KeptSweep, SweepRunner, kept_sweeps};

/// A tab that was open a moment ago may have ended without a word: looked at again so much later.
const LOOK_AGAIN_MS: u32 = 7_000;

/// Properties of [`KeptSweeps`].
#[derive(Properties, PartialEq)]
pub struct KeptSweepsProps {
    /// Takes a sweep up.
    pub runner: SweepRunner,
    /// Whether something runs, so that nothing else can be taken up.
    pub is_running: bool,
}

/// The list; nothing when there is none.
#[component]
pub fn KeptSweeps(props: &KeptSweepsProps) -> Html {
    let kept = use_state_eq(Vec::<KeptSweep>::new);
    use_effect_with((), {
        let kept = kept.setter();
        move |()| {
            let (found, is_some_busy) = kept_sweeps();
            kept.set(found);
            let later = is_some_busy.then(|| Timeout::new(LOOK_AGAIN_MS, move || kept.set(kept_sweeps().0)));
            move || drop(later)
        }
    });
    if props.is_running || kept.is_empty() {
        return Html::default();
    }
    let on = |sweep: &KeptSweep, f: fn(&SweepRunner, &KeptSweep)| {
        let (runner, sweep, kept) = (props.runner.clone(), sweep.clone(), kept.clone());
        Callback::from(move |_: MouseEvent| {
            f(&runner, &sweep);
            kept.set(kept.iter().filter(|k| **k != sweep).cloned().collect());
        })
    };
    let item = |sweep: &KeptSweep| {
        let config = &sweep.head.config;
        let what = config.mlperf.as_ref().map(|m| format!("MLPerf {}, ", m.scenario.name())).unwrap_or_default();
        let text = format!(
            "{what}{} on {}: {} of {} configurations are there.",
            config.model, config.instance_type, sweep.rows, sweep.head.rows
        );
        html! {
            <li>
                <p>{ text }</p>
                <div class="buttons">
                    if !sweep.head.is_done {
                        <button type="button" class="primary" onclick={on(sweep, |r, s| r.take_up(s, true))}>{ "Resume the rest" }</button>
                    }
                    <button type="button" onclick={on(sweep, |r, s| r.take_up(s, false))}>{ "Keep results" }</button>
                    <button type="button" onclick={on(sweep, |_, s| s.forget())}>{ "Discard" }</button>
                </div>
            </li>
        }
    };
    html! {
        <section class="panel kept" aria-labelledby="kept-title">
            <h2 id="kept-title">{ "From an earlier visit" }</h2>
            <ul>{ for kept.iter().map(item) }</ul>
        </section>
    }
}
