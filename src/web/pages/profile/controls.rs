//! The form for the model to profile, and the tool that shows a run.

use web_sys::File;
use yew::prelude::*;

use super::actions::{ProfileActions, open_for_profile};
use crate::components::{CompileFields, PickEntry, PickList, SelectField, TextField, on};
use crate::pages::benchmark::ModelField;
use crate::state::{OpenRun, ProfileAction, ProfileState, StateHandle};
use ns_page::Shared;
use ns_session::share::Tool;
use ns_session::{Catalog, ProfileSpec, Workflow};

/// The form of the model to profile.
pub fn spec_form(actions: &ProfileActions, catalog: Option<&Shared<Catalog>>) -> Html {
    let state = &actions.state;
    let spec = &state.draft;
    let onsubmit = on(actions.clone(), |actions, event: SubmitEvent| {
        event.prevent_default();
        actions.run_draft();
    });
    let edit = |change: fn(&mut ns_session::ProfileSpec, String)| {
        on(state.clone(), move |state, text: String| {
            let mut spec = state.draft.clone();
            change(&mut spec, text);
            state.dispatch(ProfileAction::Edit(spec));
        })
    };
    let workflows = Workflow::ALL.map(|w| (AttrValue::from(w.name()), AttrValue::from(w.name()))).to_vec();
    let instances = catalog.map(|c| c.instances.as_slice()).unwrap_or_default();
    let instances: Vec<PickEntry> = instances.iter().map(PickEntry::from).collect();
    let compile = on(state.clone(), |state, options| {
        state.dispatch(ProfileAction::Edit(ProfileSpec { options, ..state.draft.clone() }));
    });
    let on_file =
        on(actions.clone(), |actions, file: File| open_for_profile(&actions.app, &actions.state.dispatcher(), file));
    html! {
        <form id="profile-form" class="panel spec" {onsubmit} novalidate={true} aria-label="What to profile">
            <div class="fields">
                <ModelField
                    id="profile-model" models={catalog.map(|c| c.models.clone()).unwrap_or_default()}
                    value={spec.model.clone()} has_help={false} on_edit={edit(|s, t| s.model = t)} {on_file}
                />
                <SelectField
                    id="profile-workflow" label="Workflow" value={spec.workflow.name()} options={workflows}
                    on_choose={edit(|s, t| s.workflow = Workflow::from_name(&t).unwrap_or(s.workflow))}
                />
                <PickList
                    id="profile-instance" label="Instance type" value={spec.instance.clone()} entries={instances}
                    on_choose={edit(|s, t| s.instance = t)}
                />
                <SpecField state={state.clone()} number={SpecNumber::BatchSize} />
                <SpecField state={state.clone()} number={SpecNumber::Seed} />
            </div>
            <div class="buttons">
                <button type="submit" class="primary" disabled={!state.controls().run}>{ "Run" }</button>
            </div>
            <CompileFields id="profile" options={spec.options} on_change={compile} />
        </form>
    }
}

/// A number of the specification.
#[derive(Clone, Copy, PartialEq)]
enum SpecNumber {
    BatchSize,
    Seed,
}

impl SpecNumber {
    const fn names(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::BatchSize => ("profile-batch-size", "Batch size", "a number of samples, at least 1"),
            Self::Seed => ("profile-seed", "Seed", "a whole number from 0 to 18446744073709551615"),
        }
    }

    fn text(self, spec: &ProfileSpec) -> String {
        match self {
            Self::BatchSize => spec.batch_size.map(|n| n.to_string()).unwrap_or_default(),
            Self::Seed => spec.seed.to_string(),
        }
    }

    /// The specification with another number; `None` if the text is not a number.
    fn set(self, spec: &ProfileSpec, text: &str) -> Option<ProfileSpec> {
        let text = text.trim();
        match self {
            Self::BatchSize if text.is_empty() => Some(ProfileSpec { batch_size: None, ..spec.clone() }),
            Self::BatchSize => {
                let batch_size = text.parse().ok().filter(|n| *n > 0)?;
                Some(ProfileSpec { batch_size: Some(batch_size), ..spec.clone() })
            }
            Self::Seed => Some(ProfileSpec { seed: text.parse().ok()?, ..spec.clone() }),
        }
    }
}

#[derive(Properties, PartialEq)]
struct SpecFieldProps {
    state: StateHandle<ProfileState>,
    number: SpecNumber,
}

/// A number of the specification; while the text is not a number, the last good one stays in use.
#[component]
fn SpecField(props: &SpecFieldProps) -> Html {
    let draft = use_state_eq(|| None::<String>);
    let number = props.number;
    let spec = &props.state.draft;
    let (id, label, wanted) = number.names();
    let is_draft = |text: &&String| number.set(spec, text).is_none_or(|s| number.text(&s) != number.text(spec));
    let used = number.text(spec);
    let text = draft.as_ref().filter(is_draft).cloned().unwrap_or_else(|| used.clone());
    let error = number.set(spec, &text).is_none().then(|| {
        let used = if used.is_empty() { "the model\u{2019}s own".to_owned() } else { used };
        AttrValue::from(format!("'{text}' is not {wanted}; {used} is used."))
    });
    let on_edit = on(props.state.clone(), move |state, text: String| {
        if let Some(spec) = number.set(&state.draft, &text) {
            state.dispatch(ProfileAction::Edit(spec));
        }
        draft.set(Some(text));
    });
    let placeholder = if number == SpecNumber::BatchSize { "the model\u{2019}s own" } else { "" };
    html! { <TextField {id} {label} value={text} {error} {placeholder} input_mode="numeric" {on_edit} /> }
}

/// The tool that is shown. A run without NeuronCores has one operator view, and each run has one kind of timeline.
pub fn tool_of(state: &ProfileState, current: Option<&OpenRun>) -> Tool {
    let is_trace = current.is_some_and(OpenRun::is_trace);
    match state.link.tool {
        Tool::OperatorFramework | Tool::OperatorHlo | Tool::OperatorEngine | Tool::OperatorTimeline if is_trace => {
            Tool::Trace
        }
        Tool::OperatorEngine if current.is_some_and(|r| r.engine_tracks().is_empty()) => Tool::Statistics,
        // Before the first run, the link names the model that will be run.
        Tool::Trace if current.is_some() && !is_trace => Tool::OperatorTimeline,
        Tool::OperatorHlo if current.is_some_and(|r| !r.is_neuron()) => Tool::OperatorFramework,
        tool => tool,
    }
}
