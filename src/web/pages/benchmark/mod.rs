//! The benchmark page: a form, its progress, its results.

mod actions;
mod call_box;
mod file_questions;
mod form;
mod import;
mod index;
mod kept_sweeps;
mod model_field;
mod model_file;
mod plan;
mod results;
mod scenario;

use crate::state::StateHandle;
use std::rc::Rc;

use gloo_timers::callback::Timeout;
use yew::prelude::*;

use crate::components::{on, progress_bar};
use crate::context::use_app;
use crate::sweep::SweepRunner;
use ns_bench::BenchConfig;
use ns_page::bench::{BenchAction, BenchState};

use actions::BenchActions;
use form::BenchForm;
use index::IndexPanel;
use kept_sweeps::KeptSweeps;
use plan::PlanPanel;
use results::BenchResults;
use scenario::ScenarioResults;

pub use actions::open_for_benchmark;
pub use file_questions::FileQuestions;
pub use import::import_file;
pub use kept_sweeps::{LatestBenchmark, latest_benchmark};
pub use model_field::ModelField;
pub use model_file::{LinkNote, drop_zone, missing_file, open_model};

#[derive(Properties, PartialEq)]
pub struct BenchmarkPageProps {
    pub state: StateHandle<BenchState>,
    pub runner: SweepRunner,
}

#[component]
pub fn BenchmarkPage(props: &BenchmarkPageProps) -> Html {
    use_listing(&props.state, &props.runner);
    let Some(app) = use_app() else { return Html::default() };
    let actions = BenchActions { app: app.clone(), state: props.state.clone(), runner: props.runner.clone() };
    // A run needs the workers, which report first that they are ready, and the model's file.
    let missing = missing_file(&app, props.state.model());
    let can_start = props.state.can_start() && app.catalog.is_some() && missing.is_none();
    let wanted = props.state.asked().cloned().filter(|_| can_start);
    let on_taken = on(props.state.dispatcher(), |state, ()| state.dispatch(BenchAction::Taken));
    let on_take_up = on(props.state.dispatcher(), |state, config: BenchConfig| {
        state.dispatch(BenchAction::TakeUp(Box::new(config)))
    });
    // A sweep makes room for what was asked for since; its rows are kept.
    use_effect_with(props.state.is_overtaken(), {
        let runner = props.runner.clone();
        move |is_overtaken| {
            if *is_overtaken {
                runner.cancel();
            }
        }
    });
    let has_scenario = props.state.config().0.mlperf.is_some();
    let is_for_results = props.state.is_for_results();
    // With results the plan is one line above them, which does not move while rows arrive. Before that it is a list below the form.
    let plan = (props.state.has_plan() && !has_scenario).then(|| html! { <PlanPanel state={props.state.clone()} /> });
    let (above, below) = if is_for_results { (plan, None) } else { (None, plan) };
    html! {
        <div class={classes!("page", "benchmark", is_for_results.then_some("has-results"))}>
            <h1>{ "Benchmark" }</h1>
            <p class="lead">{ "NeuronPerf\u{2019}s report for a model on simulated NeuronCores. The same configuration and seed give the same numbers here, on the command line, and for anyone you send the link to." }</p>
            <BenchForm actions={actions.clone()} catalog={app.catalog.clone()} state={props.state.clone()} />
            // Yew inserts a component before its next sibling, which may be gone when several change at once. So each has its own element.
            <div class="part">if !props.state.run.is_running() { { progress_bar(&props.state.run) } }</div>
            { show_again(&props.state) }
            <div class="part"><IndexPanel state={props.state.clone()} /></div>
            <div class="part">{ above.unwrap_or_default() }</div>
            { notes(&props.state, &props.runner) }
            <div class="part"><ScenarioResults state={props.state.clone()} /></div>
            <div class="part">
                if let Some(missing) = missing.filter(|_| props.state.wants_run) { { drop_zone(props.state.model(), "benchmark", missing, actions.on_file()) } } else { <BenchResults state={props.state.clone()} /> }
            </div>
            <div class="part">{ below.unwrap_or_default() }</div>
            <div class="part">
                <KeptSweeps
                    runner={props.runner.clone()} is_busy={props.state.is_busy()} asked={props.state.asked().cloned()}
                    {wanted} is_pressed={props.state.is_pressed} {on_taken} {on_take_up}
                />
            </div>
        </div>
    }
}

/// The way back to what was there before a file that was refused.
fn show_again(state: &StateHandle<BenchState>) -> Html {
    let Some(before) = state.before_in_short() else { return Html::default() };
    let onclick = on(state.dispatcher(), |dispatch, _: MouseEvent| dispatch.dispatch(BenchAction::ShowAgain));
    html! { <p><button type="button" {onclick}>{ format!("Show {before} again") }</button></p> }
}

/// Time from the last change of the form until its configurations are listed.
const LIST_DELAY_MS: u32 = 350;

/// Keeps the list of configurations up to date with the form.
#[hook]
fn use_listing(state: &StateHandle<BenchState>, runner: &SweepRunner) {
    let (config, wrong) = state.config();
    // A run lists them itself.
    let is_listed = wrong.is_empty() && !state.is_busy() && !state.wants_run;
    use_effect_with((config, is_listed), {
        let runner = runner.clone();
        move |(config, is_listed)| {
            let config = config.clone();
            let timer = is_listed.then(|| Timeout::new(LIST_DELAY_MS, move || runner.list(&config)));
            move || drop(timer)
        }
    });
}

/// Notes of the run, also while it runs; screen readers announce each.
fn notes(state: &BenchState, runner: &SweepRunner) -> Html {
    let note = |note: &Rc<str>| {
        let onclick = on((runner.clone(), note.clone()), |(runner, text), _: MouseEvent| runner.dismiss(text));
        html! {
            <li key={note.to_string()}>
                { Rc::clone(note) }
                <button type="button" {onclick} aria-label={format!("Dismiss: {note}")}>{ "Dismiss" }</button>
            </li>
        }
    };
    html! {
        <div role="log" aria-live="polite">
            if !state.notes.is_empty() {
                <ul class="panel notes" aria-label="Notes of this run">{ for state.notes.iter().map(note) }</ul>
            }
        </div>
    }
}
