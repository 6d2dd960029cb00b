//! The form of a run, and the list of its experiments.

use yew::prelude::*;

use super::actions::{FIELD, FORM, RunActions};
use super::models::ModelPicker;
use super::table::RunTable;
use crate::components::{CopyMenu, FieldErrors, FormInput, error_of, on};
use ns_page::experiments::PlanAction;
use ns_session::commands::experiment_command;
use ns_session::options::{OptionGroup, PlanOption};

#[derive(Properties, PartialEq)]
pub struct RunFormProps {
    pub actions: RunActions,
}

#[component]
pub fn RunForm(props: &RunFormProps) -> Html {
    let plan = &props.actions.plan;
    let (request, wrong) = plan.request();
    let onsubmit = on(props.actions.clone(), |actions, event: SubmitEvent| {
        event.prevent_default();
        if actions.plan.controls().run {
            actions.run();
        }
    });
    // The summary opens and closes the form without telling; a click on it arrives before it does.
    let ontoggle = on((plan.dispatcher(), plan.is_open), |(dispatch, is_open), event: MouseEvent| {
        event.prevent_default();
        dispatch.dispatch(PlanAction::Open(!is_open));
    });
    let command = wrong.is_empty().then(|| experiment_command(&request));
    html! {
        <details class="panel run-form" id={FORM} open={plan.is_open}>
            <summary onclick={ontoggle}>{ format!("Run experiments: {}", plan.in_short()) }</summary>
            if plan.is_open {
                <form {onsubmit} novalidate={true} aria-label="Experiments to run">
                    <div class="fields">{ for OptionGroup::Main.options().map(|option| input(props, &wrong, option)) }</div>
                    <ModelPicker plan={plan.clone()} />
                    <details class="advanced">
                        <summary>{ "Advanced" }</summary>
                        <div class="fields">{ for OptionGroup::Advanced.options().map(|option| input(props, &wrong, option)) }</div>
                    </details>
                    <p class="note">{ "Simulated accelerators give the same records here and on the command line. The processor is measured in this browser, with nothing beside it, and its records say so." }</p>
                    if let Some(command) = &command {
                        <p class="help">{ "The same records from the command line:" }</p>
                        <pre class="command" tabindex="0" aria-label="Command of this run">{ command.clone() }</pre>
                    }
                    <div class="buttons">
                        <button type="submit" class="primary" disabled={!plan.controls().run}>{ "Run" }</button>
                        <CopyMenu hash={props.actions.page.state.hash(Some(Box::new(request.clone())))} link_gives="It runs these experiments."
                            command={command.map(AttrValue::from)} />
                    </div>
                </form>
                <RunTable plan={plan.clone()} />
            }
        </details>
    }
}

fn input(props: &RunFormProps, wrong: &FieldErrors, option: &'static PlanOption) -> Html {
    let plan = &props.actions.plan;
    let (field, key) = (&option.field, option.key());
    let (id, value) = (format!("{FIELD}{key}"), plan.text(key).to_owned());
    let error = error_of(wrong, key);
    let on_edit = on(plan.dispatcher(), move |dispatch, text: String| dispatch.dispatch(PlanAction::Edit(key, text)));
    html! { <FormInput {id} {field} {value} {error} {on_edit} /> }
}
