//! The profile page as a whole.

use yew::prelude::*;

use super::actions::ProfileActions;
use super::bar::workspace_bar;
use super::controls::{spec_form, tool_of};
use super::keys::use_search_key;
use super::operators::OperatorsView;
use super::queries::{use_details, use_known_levels, use_operators, use_search};
use super::rail::Rail;
use super::summary::{InShort, SummaryTool};
use super::timeline::TimelinePanel;
use super::tools::{
    AskTool, CompareTool, CountersTool, FlameTool, ModulesTool, OverviewTool, PathTool, StatisticsTool, idle_tool,
};
use crate::components::{diagnostics_panel, on, progress_bar};
use crate::context::JobSlot;
use crate::context::use_app;
use crate::platform::page;
use crate::state::{OpenRun, ProfileAction, ProfileState, StateHandle};
use crate::worker::Program;
use ns_base::convert::u64_to_f64;
use ns_base::units::{format_bytes, format_count};
use ns_page::RunState;
use ns_page::profile::tool_name;
use ns_session::ProfileOrigin;
use ns_session::share::Tool;

#[derive(Properties, PartialEq)]
pub struct ProfilePageProps {
    pub state: StateHandle<ProfileState>,
    /// The progress that the page shows: of its run, or of files that wait in the queue.
    pub run: RunState,
    /// The run that can be cancelled.
    pub job: JobSlot,
}

#[component]
pub fn ProfilePage(props: &ProfilePageProps) -> Html {
    use_search_key();
    // The context exists as long as the app; the hooks below must run either way.
    let Some(app) = use_app() else { return Html::default() };
    let state = &props.state;
    let current = state.current_run();
    let tool = tool_of(state, current);
    let kind = current.and_then(|r| r.operator_kind(tool));
    use_operators(&app, state, current, kind);
    use_details(&app, state, current);
    use_search(&app, state, current);
    use_known_levels(&app, state, current);

    let actions = ProfileActions { app: app.clone(), state: state.clone(), job: props.job.clone() };
    use_links(&actions);
    let is_editing = use_editing(state);
    let on_edit = on(is_editing.clone(), |is_editing, _: MouseEvent| is_editing.set(!**is_editing));
    let form = spec_form(&actions, app.catalog.as_ref());
    let Some(run) = current else {
        // What the address names is made or read at once: the form would be gone a moment later.
        let starts = RunState::started("Starting");
        let awaited = if state.wants_run || state.wants_file { &starts } else { &props.run };
        let form = if awaited.is_running() { Html::default() } else { form };
        return html! {
            // The keys make the form and the workspace two elements: one element with another class would move on the screen.
            <div key="form" class="page profile">
                <h1>{ "Profile" }</h1>
                <p class="lead">{ "One execution of a model on a simulated NeuronCore, or a trace of another tool: its operators, its timeline, and what to look at first. Drop a trace of PyTorch, JAX, Chrome, Perfetto, pprof or Neuron\u{2019}s tools anywhere; it is read in this browser." }</p>
                { form }
                { progress(&actions, awaited) }
                if let (Some(last), false) = (state.last_run(), awaited.is_running()) { { show_again(state, last) } } else { { empty_state(state, awaited) } }
            </div>
        };
    };
    html! {
        <div key="workspace" class="workspace profile">
            <h1 class="visually-hidden">{ "Profile" }</h1>
            { workspace_bar(&actions, run, *is_editing, on_edit) }
            <Rail state={state.clone()} run={run.clone()} {tool} />
            <section class="workspace-view" aria-labelledby="run-title" data-view={tool.name()} data-request={state.request()}>
                <h2 id="run-title" class="run-title visually-hidden">{ format!("{}: {}", run.info.name, tool_name(tool, run)) }</h2>
                if *is_editing { { form } }
                { progress(&actions, &props.run) }
                <div class="run-view">
                    { facts(run, matches!(tool, Tool::Overview | Tool::Summary)) }
                    if let Some(note) = &run.info.note_of_times { <p class="note">{ note }</p> }
                    { diagnostics_panel(&run.info.diagnostics) }
                    { tool_view(state, run, tool) }
                </div>
            </section>
        </div>
    }
}

/// Opens everything that a link names: its run, the sample, the run that it compares with.
#[hook]
fn use_links(actions: &ProfileActions) {
    let (app, state) = (&actions.app, &actions.state);
    // For a link to a comparison of two simulated runs, the base is run after the shown run.
    use_effect_with(state.missing_base_run().cloned(), {
        let actions = actions.clone();
        move |missing| {
            if let Some(spec) = missing {
                actions.run_base(spec.clone());
            }
        }
    });
    // For a comparison of two files, the base is opened if this browser keeps it.
    use_effect_with(state.missing_base_file().cloned(), {
        let actions = actions.clone();
        move |missing| {
            if let Some(name) = missing {
                actions.open_base(name.clone());
            }
        }
    });
    // Whoever opens the page without a file is likely to run a model.
    use_effect_with((), {
        let pool = (!state.wants_file && !state.run.is_running()).then(|| app.pool.clone());
        move |()| {
            if let Some(pool) = pool {
                pool.warm_up(Program::Benchmarks);
            }
        }
    });
    // Opening a link to a simulated run runs it.
    use_effect_with((state.wants_run && app.catalog.is_some(), state.wish), {
        let actions = actions.clone();
        move |(wants, _)| {
            if *wants {
                actions.run();
            }
        }
    });
    // A link to a file opens the file if it ships with the page or this browser keeps it.
    use_effect_with((state.wants_file && app.catalog.is_some(), state.wish), {
        let actions = actions.clone();
        move |(wants, _)| {
            if *wants {
                actions.open_linked_file();
            }
        }
    });
}

/// Whether the form above a run is unfolded. The end of a run folds it.
#[hook]
fn use_editing(state: &ProfileState) -> UseStateHandle<bool> {
    let is_editing = use_state_eq(|| false);
    // A newly shown run is viewed, not edited; the focus must not stay in a form that is gone.
    use_effect_with((state.current, state.run.is_running()), {
        let is_editing = is_editing.clone();
        move |(current, is_running)| {
            if current.is_some() && !is_running && (*is_editing || page::focused().is_none()) {
                is_editing.set(false);
                page::focus("main");
            }
        }
    });
    is_editing
}

/// Progress of a run, with a button that stops it.
fn progress(actions: &ProfileActions, run: &RunState) -> Html {
    let cancel = on(actions.clone(), |actions, _: MouseEvent| actions.cancel());
    html! {
        <div class="run-progress" hidden={matches!(run, RunState::Idle | RunState::Done)}>
            { progress_bar(run) }
            if actions.state.run.is_running() { <button type="button" onclick={cancel}>{ "Cancel" }</button> }
        </div>
    }
}

/// The way back to the run that was shown before what is not there.
fn show_again(state: &StateHandle<ProfileState>, run: &OpenRun) -> Html {
    let (dispatch, id) = (state.dispatcher(), run.id);
    let onclick = Callback::from(move |_: MouseEvent| dispatch.dispatch(ProfileAction::Show(id)));
    html! { <p><button type="button" {onclick}>{ format!("Show {} again", run.info.name) }</button></p> }
}

fn tool_view(state: &StateHandle<ProfileState>, run: &OpenRun, tool: Tool) -> Html {
    match tool {
        Tool::Overview => html! { <OverviewTool key={run.id} run={run.clone()} state={state.clone()} /> },
        Tool::OperatorTimeline | Tool::Trace => {
            html! { <TimelinePanel key={run.id} run={run.clone()} state={state.clone()} /> }
        }
        Tool::OperatorFramework | Tool::OperatorHlo => {
            let table = run.operator_kind(tool).and_then(|k| run.operators.get(&k)).map(|(_, table)| table.clone());
            html! { <OperatorsView {table} state={state.clone()} /> }
        }
        Tool::Summary => {
            html! { <><InShort key={run.id} run={run.clone()} state={state.clone()} /><SummaryTool key={run.id} run={run.clone()} state={state.clone()} /></> }
        }
        Tool::Statistics | Tool::OperatorEngine => {
            html! { <StatisticsTool key={run.id} run={run.clone()} state={state.clone()} /> }
        }
        Tool::FlameGraph => html! { <FlameTool key={run.id} run={run.clone()} state={state.clone()} /> },
        Tool::Modules => html! { <ModulesTool key={run.id} run={run.clone()} state={state.clone()} /> },
        Tool::CriticalPath => html! { <PathTool key={run.id} run={run.clone()} state={state.clone()} /> },
        Tool::IdleGaps => idle_tool(run, state),
        Tool::Counters => html! { <CountersTool key={run.id} run={run.clone()} state={state.clone()} /> },
        Tool::Compare => html! { <CompareTool run={run.clone()} state={state.clone()} /> },
        Tool::Ask => html! { <AskTool key={run.id} run={run.clone()} state={state.clone()} /> },
    }
}

fn empty_state(state: &ProfileState, run: &RunState) -> Html {
    if run.is_running() {
        return Html::default();
    }
    // A file that was here and could not be read is not asked for again.
    let absent = state.link.file.as_ref().filter(|_| !matches!(run, RunState::Failed(_)));
    let wanted = absent.map(|file| {
        html! { <p class="note">{ format!("This link shows the file {file}, but links do not carry files. Drop the file here, or open it, to see the same view.") }</p> }
    });
    html! {
        <section class="panel empty-state" aria-label="How to begin">
            <h2>{ "No profile yet" }</h2>
            { for wanted }
            <p>{ "Press Run to profile one execution of the model on a simulated NeuronCore: time by framework operator, by HLO operator, and the timeline of control, execution and data transfer." }</p>
            <p>{ "Or open a trace: Chrome trace JSON (also .gz and .zip), and the formats of other tools." }</p>
        </section>
    }
}

/// Facts of a run: all of them, or as many as fit on a line.
fn facts(run: &OpenRun, all: bool) -> Html {
    let info = &run.info;
    let mut facts: Vec<(String, String)> = info.facts.clone();
    match &info.origin {
        ProfileOrigin::File { bytes, format, .. } => {
            facts.push(("Format".to_owned(), format!("{format}, {}", format_bytes(u64_to_f64(*bytes)))));
        }
        ProfileOrigin::Benchmark(trace) => {
            let text = format!("benchmark on {}, seed {}", trace.spec.instance, trace.spec.seed);
            facts.push(("Simulated".to_owned(), text));
        }
        ProfileOrigin::Simulated(spec) => {
            facts.push(("Simulated".to_owned(), format!("{} on {}, seed {}", spec.workflow, spec.instance, spec.seed)));
        }
    }
    let span = info.outline.span;
    for (name, value) in [
        ("Events", format_count(info.events)),
        ("Span", info.outline.unit.text(span.end.0.saturating_sub(span.start.0))),
    ] {
        if !facts.iter().any(|(n, _)| n == name) {
            facts.push((name.to_owned(), value));
        }
    }
    facts.extend(run.run_name.iter().map(|name| ("Run".to_owned(), name.clone())));
    html! {
        <dl class={classes!("facts", (!all).then_some("is-brief"))}>
            { for facts.into_iter().map(|(k, v)| html! { <div><dt>{ k }</dt><dd>{ v }</dd></div> }) }
        </dl>
    }
}
