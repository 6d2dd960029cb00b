//! The models of the suite to choose from, with a search.

use yew::prelude::*;

use crate::components::on;
use crate::platform::page::value_of;
use crate::state::StateHandle;
use ns_page::experiments::{PlanAction, PlanState};

#[derive(Properties, PartialEq)]
pub struct ModelPickerProps {
    pub plan: StateHandle<PlanState>,
}

/// A box for each model of the suite. None checked means all of them.
#[component]
pub fn ModelPicker(props: &ModelPickerProps) -> Html {
    let wanted = use_state_eq(String::new);
    let plan = &props.plan;
    let Some(Ok(listed)) = &plan.listed else { return Html::default() };
    let oninput = on(wanted.setter(), |wanted, event: InputEvent| wanted.set(value_of(&event).to_lowercase()));
    let chosen = plan.models();
    let is_found = |name: &&String| name.to_lowercase().contains(wanted.as_str());
    let found: Vec<&String> = listed.suite_models.iter().filter(is_found).collect();
    let model = |name: &&String| {
        let (dispatch, next) = (plan.dispatcher(), plan.models_toggled(name));
        let onchange = Callback::from(move |_: Event| dispatch.dispatch(PlanAction::Edit("run_models", next.clone())));
        html! {
            <label class="check" key={name.as_str()}>
                <input type="checkbox" checked={chosen.contains(&name.as_str())} {onchange} /><span>{ name.as_str() }</span>
            </label>
        }
    };
    let count = if chosen.is_empty() { "all".to_owned() } else { format!("{} of", chosen.len()) };
    html! {
        <details class="advanced model-picker">
            <summary>{ format!("Choose models: {count} {}", listed.suite_models.len()) }</summary>
            <input type="search" aria-label="Search the models of the suite" placeholder="Search" value={(*wanted).clone()} {oninput} />
            <p class="visually-hidden" role="status">{ format!("{} found", found.len()) }</p>
            <div class="models" role="group" aria-label="Models of the suite" tabindex="0">{ for found.iter().map(model) }</div>
        </details>
    }
}
