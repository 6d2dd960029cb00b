//! Sweeps of earlier visits, offered again.

use yew::prelude::*;

use crate::sweep::{KeptSweep, SweepRunner, kept_sweeps, use_kept_sweeps};
use ns_bench::{BenchConfig, Benchmarks};
use ns_page::Shared;
use ns_session::results::{Opening, opening_of};

/// The most finished sweeps that are listed; the start page lists all.
const MOST_LISTED: usize = 3;

#[derive(Clone, Properties, PartialEq)]
pub struct KeptSweepsProps {
    /// Resumes a sweep.
    pub runner: SweepRunner,
    /// Whether a sweep runs, so that no other one can be resumed.
    pub is_busy: bool,
    /// What the page was asked for last.
    pub asked: Option<Shared<BenchConfig>>,
    /// The same if its results have to be restored or run now.
    pub wanted: Option<Shared<BenchConfig>>,
    /// Whether kept results are not enough.
    pub is_pressed: bool,
    /// Called once the wanted results are being restored or run, or wait for Run.
    pub on_taken: Callback<()>,
    /// Called before a sweep of the list is shown.
    pub on_take_up: Callback<BenchConfig>,
}

/// The list; empty if no sweep is kept.
#[component]
pub fn KeptSweeps(props: &KeptSweepsProps) -> Html {
    let kept = use_kept_sweeps::<Benchmarks>();
    let restored = use_state_eq(|| None::<KeptSweep>);
    use_effect_with(props.wanted.clone(), {
        let (kept, restored) = (kept.setter(), restored.setter());
        let (runner, on_taken, is_pressed) = (props.runner.clone(), props.on_taken.clone(), props.is_pressed);
        move |wanted| {
            let Some(config) = wanted else { return };
            on_taken.emit(());
            if is_pressed {
                return runner.run((**config).clone());
            }
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
    let is_asked = |sweep: &KeptSweep| props.asked.as_deref() == Some(&sweep.head.config);
    let item = |sweep: &KeptSweep| item(props, sweep, &kept, restored.as_ref() == Some(sweep) && is_asked(sweep));
    html! {
        <section class="panel kept" aria-labelledby="kept-title">
            <h2 id="kept-title">{ "From an earlier visit" }</h2>
            <ul>{ for kept.iter().filter(is_listed).map(item) }</ul>
        </section>
    }
}

/// One sweep, with its buttons; `is_shown` if its results are on the page.
fn item(props: &KeptSweepsProps, sweep: &KeptSweep, kept: &UseStateHandle<Vec<KeptSweep>>, is_shown: bool) -> Html {
    let on = |sweep: &KeptSweep, f: fn(&KeptSweepsProps, &KeptSweep)| {
        let (props, sweep, kept) = (props.clone(), sweep.clone(), kept.clone());
        Callback::from(move |_: MouseEvent| {
            f(&props, &sweep);
            kept.set(kept.iter().filter(|k| **k != sweep).cloned().collect());
        })
    };
    let config = &sweep.head.config;
    let what = config.mlperf.as_ref().map(|m| format!("MLPerf {}, ", m.scenario.name())).unwrap_or_default();
    let saved = if is_shown { " Saved; shown below." } else { "" };
    let text = format!(
        "{what}{} on {}: {} of {} configurations are done.{saved}",
        config.model, config.instance_type, sweep.rows, sweep.head.rows
    );
    html! {
        <li>
            <p>{ text }</p>
            <div class="buttons">
                if !sweep.head.is_done {
                    <button type="button" class="primary" disabled={props.is_busy} onclick={on(sweep, |p, s| p.take_up(s, true))}>{ "Resume the rest" }</button>
                }
                if !is_shown {
                    <button type="button" disabled={props.is_busy} onclick={on(sweep, |p, s| p.take_up(s, false))}>{ "Keep results" }</button>
                }
                <button type="button" disabled={props.is_busy} onclick={on(sweep, |_, s| s.forget())}>{ "Discard" }</button>
            </div>
        </li>
    }
}

impl KeptSweepsProps {
    fn take_up(&self, sweep: &KeptSweep, runs_rest: bool) {
        self.on_take_up.emit(sweep.head.config.clone());
        self.runner.take_up(sweep, runs_rest);
    }
}

/// The finished benchmark of an earlier visit that a page opens with, unless another tab runs one; `None` if none is kept.
pub fn latest_benchmark() -> LatestBenchmark {
    let (kept, is_some_busy) = kept_sweeps::<Benchmarks>();
    let is_whole = |kept: &&KeptSweep| kept.head.is_done && kept.head.config.mlperf.is_none();
    match kept.iter().find(is_whole) {
        Some(latest) => LatestBenchmark::Kept(Box::new(latest.head.config.clone())),
        None if is_some_busy || !kept.is_empty() => LatestBenchmark::Unfinished,
        None => LatestBenchmark::None,
    }
}

/// What earlier visits left.
pub enum LatestBenchmark {
    /// A finished benchmark.
    Kept(Box<BenchConfig>),
    /// Only benchmarks that can be resumed, or that another tab runs.
    Unfinished,
    None,
}
