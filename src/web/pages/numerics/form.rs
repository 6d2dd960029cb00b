//! The form of the page of values.

use crate::state::StateHandle;
use yew::prelude::*;

use super::actions::Actions;
use crate::components::{CompileFields, CopyMenu, SelectField, TextField, pairs};
use crate::pages::benchmark::ModelField;
use ns_page::Shared;
use ns_page::numerics::{NumericsAction, NumericsState};
use ns_session::commands::numerics_command;
use ns_session::share::NumericsField;
use ns_session::{Catalog, CompileOptions};

/// Properties of [`NumericsForm`].
#[derive(Properties, PartialEq)]
pub struct NumericsFormProps {
    /// Actions of its buttons.
    pub actions: Actions,
    /// The available choices.
    pub catalog: Option<Shared<Catalog>>,
    /// The state of the form.
    pub state: StateHandle<NumericsState>,
}

/// The form.
#[component]
pub fn NumericsForm(props: &NumericsFormProps) -> Html {
    let state = &props.state;
    let (spec, wrong) = state.spec();
    let error = |field: NumericsField| {
        wrong.iter().find(|(f, _)| *f == field).map(|(_, message)| AttrValue::from(message.clone()))
    };
    let edit = |field: NumericsField| {
        let dispatch = state.dispatcher();
        Callback::from(move |text: String| dispatch.dispatch(NumericsAction::Edit(field, text)))
    };
    let text = |field: NumericsField, label: &'static str, help: &'static str, placeholder: &'static str| {
        html! {
            <TextField
                id={format!("numerics-{}", field.key())} {label} {help} {placeholder}
                value={state.text(field).to_owned()} error={error(field)} on_edit={edit(field)}
            />
        }
    };
    let on_change = {
        let dispatch = state.dispatcher();
        Callback::from(move |options: CompileOptions| dispatch.dispatch(NumericsAction::Compile(options)))
    };
    let instances = props.catalog.as_ref().map(|c| c.instances.as_slice()).unwrap_or_default();
    let instances = instances.iter().map(|i| (i.name.clone().into(), i.name.clone().into())).collect::<Vec<_>>();
    let onsubmit = {
        let actions = props.actions.clone();
        Callback::from(move |event: SubmitEvent| {
            event.prevent_default();
            actions.run();
        })
    };
    html! {
        <form class="panel" {onsubmit} novalidate={true} aria-label="What to compare">
            <div class="fields">
                <ModelField
                    id="numerics-model" models={props.catalog.as_ref().map(|c| c.models.clone()).unwrap_or_default()}
                    value={state.text(NumericsField::Model).to_owned()} error={error(NumericsField::Model)} has_help={false} on_edit={edit(NumericsField::Model)}
                />
                <SelectField
                    id="numerics-instance" label="Instance type" value={state.text(NumericsField::Instance).to_owned()} options={instances}
                    on_choose={edit(NumericsField::Instance)}
                />
                { text(NumericsField::BatchSize, "Batch size", "Samples of one call", "the model\u{2019}s own") }
                <SelectField
                    id="numerics-rounding" label="Rounding" wide={true} value={state.text(NumericsField::Rounding).to_owned()}
                    options={pairs(&[("rne", "to the nearest, ties to even"), ("stochastic", "stochastic")])} on_choose={edit(NumericsField::Rounding)}
                />
                { text(NumericsField::Tolerance, "Tolerance", "Largest mean relative error that passes: 0.02 is 2 %", "0.02") }
                { text(NumericsField::Seed, "Seed", "For weights, inputs and stochastic rounding", "0") }
            </div>
            <CompileFields id="numerics" options={spec.options} {on_change} />
            { buttons(props) }
        </form>
    }
}

fn buttons(props: &NumericsFormProps) -> Html {
    let can = props.state.controls();
    let command = numerics_command(&props.state.spec().0).map(AttrValue::from);
    let on = |f: fn(&Actions)| {
        let actions = props.actions.clone();
        Callback::from(move |_: MouseEvent| f(&actions))
    };
    html! {
        <div class="buttons">
            <button type="submit" class="primary" disabled={!can.run}>{ "Run" }</button>
            <button type="button" disabled={!can.stop} onclick={on(Actions::cancel)}>{ "Cancel" }</button>
            <span class="gap"></span>
            <CopyMenu hash={props.state.hash()} link_gives="Whoever opens it gets this comparison." {command} />
            <button type="button" disabled={!can.save} onclick={on(Actions::download_json)}>{ "Download JSON" }</button>
        </div>
    }
}
