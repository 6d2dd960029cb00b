//! Sweeps of earlier visits, offered again.

use gloo_timers::callback::Timeout;
use yew::prelude::*;

use crate::platform::url;
use crate::sweep::{KeptSweep, SweepRunner, kept_sweeps};
use ns_bench::{BenchConfig, Benchmarks};
use ns_page::Shared;
use ns_session::results::{Opening, opening_of};

/// Delay until the list is read again: a tab that was just open may have ended without a message.
const LOOK_AGAIN_MS: u32 = 7_000;

/// The most finished sweeps that are listed; the start page lists all.
const MOST_LISTED: usize = 3;

#[derive(Properties, PartialEq)]
pub struct KeptSweepsProps {
    /// Resumes a sweep.
    pub runner: SweepRunner,
    /// Whether a run is going on, so that no other sweep can be resumed.
    pub is_running: bool,
    /// Whether results are shown already.
    pub has_results: bool,
    /// The configuration that a link asks for: its kept results are restored, or it is run.
    pub wanted: Option<Shared<BenchConfig>>,
    /// Called once the wanted configuration is being restored or run, or waits for Run.
    pub on_taken: Callback<()>,
}

/// The list; empty if no sweep is kept.
#[component]
pub fn KeptSweeps(props: &KeptSweepsProps) -> Html {
    // Read before the page is first drawn: a list that came later would push the form down.
    let kept = use_state_eq(|| kept_sweeps::<Benchmarks>().0);
    let restored = use_state_eq(|| None::<KeptSweep>);
    use_effect_with((), {
        let (kept, restored) = (kept.setter(), restored.setter());
        let runner = (!props.has_results && !props.is_running).then(|| props.runner.clone());
        move |()| {
            let (found, is_some_busy) = kept_sweeps::<Benchmarks>();
            if let Some((runner, last)) = runner.zip(found.iter().find(|k| is_latest(k))) {
                runner.take_up(last, false);
                restored.set(Some(last.clone()));
            }
            kept.set(found);
            let later =
                is_some_busy.then(|| Timeout::new(LOOK_AGAIN_MS, move || kept.set(kept_sweeps::<Benchmarks>().0)));
            move || drop(later)
        }
    });
    use_effect_with(props.wanted.clone(), {
        let (kept, restored) = (kept.setter(), restored.setter());
        let (runner, on_taken) = (props.runner.clone(), props.on_taken.clone());
        move |wanted| {
            let Some(config) = wanted else { return };
            on_taken.emit(());
            let (mut found, _) = kept_sweeps::<Benchmarks>();
            match opening_of(config, found.iter().map(|k| &k.head)) {
                Opening::Restore(at) => {
                    runner.take_up(&found[at], false);
                    restored.set(Some(found[at].clone()));
                }
                Opening::Resume(at) => runner.take_up(&found.remove(at), true),
                Opening::Run => runner.run((**config).clone()),
                Opening::Wait => {}
            }
            kept.set(found);
        }
    });
    if kept.is_empty() {
        return Html::default();
    }
    let mut ended = 0;
    let is_listed = |sweep: &&KeptSweep| {
        ended += usize::from(sweep.head.is_done);
        !sweep.head.is_done || ended <= MOST_LISTED
    };
    let item = |sweep: &KeptSweep| item(props, sweep, &kept, restored.as_ref() == Some(sweep));
    html! {
        <section class="panel kept" aria-labelledby="kept-title">
            <h2 id="kept-title">{ "From an earlier visit" }</h2>
            <ul>{ for kept.iter().filter(is_listed).map(item) }</ul>
        </section>
    }
}

/// One sweep, with its buttons; `is_shown` if its results are on the page.
fn item(props: &KeptSweepsProps, sweep: &KeptSweep, kept: &UseStateHandle<Vec<KeptSweep>>, is_shown: bool) -> Html {
    let on = |sweep: &KeptSweep, f: fn(&SweepRunner, &KeptSweep)| {
        let (runner, sweep, kept) = (props.runner.clone(), sweep.clone(), kept.clone());
        Callback::from(move |_: MouseEvent| {
            f(&runner, &sweep);
            kept.set(kept.iter().filter(|k| **k != sweep).cloned().collect());
        })
    };
    let config = &sweep.head.config;
    let what = config.mlperf.as_ref().map(|m| format!("MLPerf {}, ", m.scenario.name())).unwrap_or_default();
    let shown = if is_shown { " Saved; shown below." } else { "" };
    let text = format!(
        "{what}{} on {}: {} of {} configurations are done.{shown}",
        config.model, config.instance_type, sweep.rows, sweep.head.rows
    );
    html! {
        <li>
            <p>{ text }</p>
            <div class="buttons">
                if !sweep.head.is_done {
                    <button type="button" class="primary" disabled={props.is_running} onclick={on(sweep, |r, s| r.take_up(s, true))}>{ "Resume the rest" }</button>
                }
                if !is_shown {
                    <button type="button" disabled={props.is_running} onclick={on(sweep, |r, s| r.take_up(s, false))}>{ "Keep results" }</button>
                }
                <button type="button" disabled={props.is_running} onclick={on(sweep, |_, s| s.forget())}>{ "Discard" }</button>
            </div>
        </li>
    }
}

/// Whether a sweep is shown automatically: it is finished, and the address does not ask for another view.
fn is_latest(kept: &KeptSweep) -> bool {
    let asks_for_nothing = matches!(url::hash().as_str(), "" | "#" | "#/" | "#/benchmark");
    kept.head.is_done && kept.head.config.mlperf.is_none() && asks_for_nothing
}
