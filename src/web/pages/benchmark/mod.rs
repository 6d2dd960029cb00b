//! The benchmark page: a form, its progress, its results.

mod actions;
mod form;
mod model_field;
mod results;

use yew::prelude::*;

use crate::web::app::Job;
use crate::web::components::ProgressBar;
use crate::web::context::use_app;
use crate::web::state::bench::BenchState;

use actions::Actions;
use form::BenchForm;
use results::BenchResults;

pub use model_field::ModelField;

/// Properties of [`BenchmarkPage`].
#[derive(Properties, PartialEq)]
pub struct BenchmarkPageProps {
    /// What the page shows.
    pub state: UseReducerHandle<BenchState>,
    /// The run that can be cancelled.
    pub job: Job,
}

/// The page.
#[component]
pub fn BenchmarkPage(props: &BenchmarkPageProps) -> Html {
    let Some(app) = use_app() else { return Html::default() };
    let actions = Actions { app: app.clone(), state: props.state.clone(), job: props.job.clone() };
    html! {
        <div class="page benchmark">
            <h1>{ "Benchmark" }</h1>
            <p class="lead">{ "NeuronPerf\u{2019}s report for a model on simulated NeuronCores. The same configuration and seed give the same numbers, here, on the command line, and for anyone you send the link." }</p>
            <BenchForm {actions} catalog={app.catalog.clone()} state={props.state.clone()} />
            <ProgressBar run={props.state.run.clone()} />
            { notes(&props.state) }
            <BenchResults state={props.state.clone()} />
        </div>
    }
}

/// What the run had to say besides its reports.
fn notes(state: &BenchState) -> Html {
    if state.notes.is_empty() {
        return Html::default();
    }
    html! {
        <ul class="panel notes" aria-label="Notes of this run">
            { for state.notes.iter().map(|note| html! { <li>{ note }</li> }) }
        </ul>
    }
}
