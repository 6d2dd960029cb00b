//! The profile page put together.

use yew::prelude::*;

use super::actions::Actions;
use super::controls::{SpecForm, ViewBar, tool_of};
use super::operators::OperatorsView;
use super::queries::{use_details, use_operators, use_search};
use super::timeline_panel::TimelinePanel;
use crate::base::units::{format_bytes, format_count};
use crate::session::ProfileOrigin;
use crate::session::share::Tool;
use crate::view::text::exact_ns;
use crate::web::app::Job;
use crate::web::components::{DiagnosticsPanel, ProgressBar};
use crate::web::context::use_app;
use crate::web::state::profile::{OpenRun, ProfileState};

/// Properties of [`ProfilePage`].
#[derive(Properties, PartialEq)]
pub struct ProfilePageProps {
    /// What the page shows.
    pub state: UseReducerHandle<ProfileState>,
    /// The run that can be cancelled.
    pub job: Job,
}

/// The page.
#[component]
pub fn ProfilePage(props: &ProfilePageProps) -> Html {
    // The context is there as long as the app is; hooks below must run either way.
    let Some(app) = use_app() else { return Html::default() };
    let state = &props.state;
    let shown = state.shown_run();
    let tool = tool_of(state, shown);
    let kind = shown.and_then(|r| r.operator_kind(tool));
    use_operators(&app, state, shown, kind);
    use_details(&app, state, shown);
    use_search(&app, state, shown);

    let actions = Actions { app: app.clone(), state: state.clone(), job: props.job.clone() };
    let content = match shown {
        None => empty_state(state),
        Some(run) => html! {
            <section aria-labelledby="run-title">
                <h2 id="run-title" class="run-title">{ &run.info.name }</h2>
                { summary(run) }
                <DiagnosticsPanel items={run.info.diagnostics.clone()} />
                if tool == Tool::OperatorTimeline {
                    <TimelinePanel key={run.id} run={run.clone()} state={state.clone()} />
                } else {
                    <OperatorsView table={kind.and_then(|k| run.operators.get(&k)).map(|(_, table)| table.clone())} state={state.clone()} />
                }
            </section>
        },
    };
    html! {
        <div class="page profile">
            <h1>{ "Profile" }</h1>
            <SpecForm actions={actions.clone()} catalog={app.catalog.clone()} state={state.clone()} />
            <ProgressBar run={state.run.clone()} />
            if shown.is_some() { <ViewBar {actions} catalog={app.catalog.clone()} state={state.clone()} /> }
            { content }
        </div>
    }
}

fn empty_state(state: &ProfileState) -> Html {
    if state.run.is_running() {
        return Html::default();
    }
    let wanted = state.link.file.as_ref().map(|file| {
        html! { <p class="note">{ format!("This link shows the file {file}, which links do not carry. Drop it here, or open it, to see the same view.") }</p> }
    });
    html! {
        <section class="panel empty-state" aria-label="How to begin">
            <h2>{ "No profile yet" }</h2>
            { for wanted }
            <p>{ "Press Run to profile one execution of the model on a simulated NeuronCore: time by framework operator, by HLO operator, and the timeline of control, execution and data transfer." }</p>
            <p>{ "Or open a trace: Chrome trace JSON (also .gz and .zip) from PyTorch, JAX, Chrome, Perfetto and others. Drop it anywhere on this page; it is read here and uploaded nowhere." }</p>
        </section>
    }
}

fn summary(run: &OpenRun) -> Html {
    let info = &run.info;
    let mut facts: Vec<(String, String)> = info.facts.clone();
    match &info.origin {
        ProfileOrigin::File { bytes, format, .. } => {
            facts.push(("Format".to_owned(), format!("{format}, {}", format_bytes(*bytes as f64))));
        }
        ProfileOrigin::Simulated(spec) => {
            facts.push(("Simulated".to_owned(), format!("{} on {}, seed {}", spec.workflow, spec.instance, spec.seed)));
        }
    }
    let span = info.outline.span;
    for (name, value) in
        [("Events", format_count(info.events)), ("Span", exact_ns(span.end.0.saturating_sub(span.start.0)))]
    {
        if !facts.iter().any(|(n, _)| n == name) {
            facts.push((name.to_owned(), value));
        }
    }
    html! {
        <dl class="facts">
            { for facts.into_iter().map(|(k, v)| html! { <div><dt>{ k }</dt><dd>{ v }</dd></div> }) }
        </dl>
    }
}
