//! The bar above a profile: the run, its simulation, and one menu of links and downloads.

use yew::prelude::*;

use super::actions::ProfileActions;
use super::controls::tool_of;
use super::export_menu::export_menu;
use super::kept_bases::KeptBases;
use crate::components::{CopyMenu, SIMULATED, SelectField, on};
use crate::state::{OpenRun, ProfileAction, ProfileState};
use crate::timeline::Controller;
use ns_session::commands::profile_command;
use ns_session::share::{ProfileLink, Tool, is_study_file};
use ns_session::{Control, ProfileSpec};

/// `is_editing`: whether the form is unfolded; `on_edit` unfolds or folds it.
pub fn workspace_bar(actions: &ProfileActions, run: &OpenRun, is_editing: bool, on_edit: Callback<MouseEvent>) -> Html {
    let state = &actions.state;
    let runs = state.runs.iter().map(|r| (r.id.to_string().into(), r.label().into())).collect::<Vec<_>>();
    let show = on(state.clone(), |state, text: String| {
        if let Ok(id) = text.parse() {
            state.dispatch(ProfileAction::Show(id));
        }
    });
    let close = {
        let (state, id, engine, profile) = (state.clone(), run.id, run.engine.clone(), run.info.profile);
        Callback::from(move |_: MouseEvent| {
            // The worker of an archive stays alive while another of its profiles is open.
            engine.tell(Control::Close(profile));
            state.dispatch(ProfileAction::Close(id));
        })
    };
    let tool = tool_of(state, Some(run));
    html! {
        <div class="workspace-bar">
            <SelectField id="profile-run" label="Run" value={run.id.to_string()} options={runs} on_choose={show} />
            <button type="button" class="plain" aria-label="Close run" title="Close run" onclick={close}>{ "\u{d7}" }</button>
            <button type="button" class="spec-line" aria-expanded={is_editing.to_string()} aria-controls="profile-form" onclick={on_edit}>
                <span>{ run.spec().map_or_else(|| "Simulate a model".to_owned(), in_short) }</span>
                if run.spec().is_some() { <strong>{ "Edit" }</strong> }
            </button>
            <span class="gap"></span>
            if tool != Tool::Compare { <KeptBases state={state.clone()} run={run.clone()} /> }
            { copy_menu(state, run, tool) }
            { export_menu(actions, matches!(tool, Tool::OperatorTimeline | Tool::Trace), run.spec().is_some() && !run.is_benchmark() && !state.run.is_running()) }
        </div>
    }
}

/// The menu for copying from a view.
fn copy_menu(state: &ProfileState, run: &OpenRun, tool: Tool) -> Html {
    let link = ProfileLink { tool, level: state.level(), ..state.link.clone() };
    let command = profile_command(&run.info.origin, state.compared_with().map(|base| &base.info.origin), &link);
    let link_gives = match &state.link.file {
        Some(file) if is_study_file(file) => "Whoever opens it gets this timeline.".to_owned(),
        Some(file) => format!("It holds this view and the name {file}, but not the file: send the file along."),
        None => "Whoever opens it gets this profile.".to_owned(),
    };
    let has_timeline = matches!(tool, Tool::OperatorTimeline | Tool::Trace);
    let paint = Callback::from(|()| Controller::on_screen().and_then(|timeline| timeline.painted()));
    let canvas = has_timeline.then_some((AttrValue::Static("Timeline"), paint));
    // A profile from a file does not have a model.
    let model = if state.link.file.is_none() { state.link.spec.model.clone() } else { String::new() };
    let origin = if run.spec().is_some() { SIMULATED } else { "" };
    html! { <CopyMenu hash={state.hash()} {link_gives} {model} {origin} command={command.map(AttrValue::from)} {canvas} /> }
}

/// The simulated run in a few words: `bert-base-uncased · trace · inf2.xlarge · b8`.
fn in_short(spec: &ProfileSpec) -> String {
    let model = ns_session::model_label(&spec.model).into_owned();
    let batch = spec.batch_size.map(|n| format!("b{n}"));
    let parts = [Some(model), Some(spec.workflow.name().to_owned()), Some(spec.instance.clone()), batch];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" \u{b7} ")
}
