//! Runs of earlier visits that were not finished, and the run that a link asks for.

use yew::prelude::*;

use super::actions::RunActions;
use crate::sweep::{KeptExperiments, kept_sweeps, use_kept_sweeps};
use ns_experiment::sweep::Experiments;
use ns_page::experiments::PlanAction;
use ns_session::results::{Opening, opening_of_run};

#[derive(Properties, PartialEq)]
pub struct KeptRunsProps {
    pub actions: RunActions,
}

/// The list; empty if every kept run is finished.
#[component]
pub fn KeptRuns(props: &KeptRunsProps) -> Html {
    let kept = use_kept_sweeps::<Experiments>();
    let actions = &props.actions;
    let is_running = actions.plan.run.is_running();
    // A run needs the workers, which report first that they are ready.
    let wants_run = actions.plan.wants_run && actions.app_is_ready();
    use_effect_with(wants_run, {
        let (kept, actions) = (kept.setter(), actions.clone());
        move |wants_run| {
            if !*wants_run {
                return;
            }
            let request = actions.plan.request().0;
            let (mut found, _) = kept_sweeps::<Experiments>();
            actions.plan.dispatch(PlanAction::LinkTaken);
            actions.make_room();
            match opening_of_run(&request, found.iter().map(|kept: &KeptExperiments| &kept.head)) {
                Opening::Restore(at) => actions.runner.take_up(&found[at], false),
                Opening::Resume(at) => actions.runner.take_up(&found.remove(at), true),
                Opening::Run => actions.runner.run(request),
                // The user has to want a measurement, and sees what would run.
                Opening::Wait => actions.plan.dispatch(PlanAction::Open(true)),
            }
            kept.set(found);
        }
    });
    let unfinished: Vec<&KeptExperiments> = kept.iter().filter(|run| !run.head.is_done).collect();
    if unfinished.is_empty() {
        return Html::default();
    }
    let item = |run: &&KeptExperiments| {
        let on = |f: fn(&RunActions, &KeptExperiments)| {
            let (actions, run, kept) = (actions.clone(), (*run).clone(), kept.clone());
            Callback::from(move |_: MouseEvent| {
                f(&actions, &run);
                kept.set(kept.iter().filter(|k| **k != run).cloned().collect());
            })
        };
        let take_up = on(|actions, run| {
            actions.make_room();
            actions.runner.take_up(run, true);
        });
        html! {
            <li>
                <p>{ format!("{}: {} are done.", run.head.title(), run.rows) }</p>
                <div class="buttons">
                    <button type="button" class="primary" disabled={is_running} onclick={take_up}>{ "Resume the rest" }</button>
                    <button type="button" disabled={is_running} onclick={on(|_, run| run.forget())}>{ "Discard" }</button>
                </div>
            </li>
        }
    };
    html! {
        <section class="panel kept" aria-labelledby="kept-runs-title">
            <h2 id="kept-runs-title">{ "From an earlier visit" }</h2>
            <ul>{ for unfinished.iter().map(item) }</ul>
        </section>
    }
}
