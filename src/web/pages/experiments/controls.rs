//! Controls of the experiments page.

use yew::prelude::*;

use super::actions::ExperimentsActions;
use super::run::{FormToggle, RunActions};
use crate::components::{CheckField, CopyMenu, FormFrame, SelectField, TextField, file_picker, on, pairs};
use ns_base::Order;
use ns_experiment::sweep::ExperimentsRequest;
use ns_page::Shared;
use ns_session::{Choices, ExperimentField, RecordsFile, RecordsResult};

#[derive(Clone, Properties, PartialEq)]
pub struct ExperimentsControlsProps {
    /// Actions of the buttons.
    pub actions: ExperimentsActions,
    /// Actions about a run.
    pub run: RunActions,
    /// The plan of a run, which the link carries.
    pub plan: Option<Shared<ExperimentsRequest>>,
    /// Puts the records away.
    pub on_clear: Callback<()>,
    /// The shown view with its choices.
    pub result: Shared<RecordsResult>,
}

fn options(choices: &Choices) -> Vec<(AttrValue, AttrValue)> {
    choices.iter().map(|(value, name)| (value.clone().into(), name.clone().into())).collect()
}

/// The views, and the choices that they share.
#[component]
pub fn ExperimentsControls(props: &ExperimentsControlsProps) -> Html {
    let (actions, result) = (&props.actions, &props.result);
    let current = value(actions, result, ExperimentField::View);
    let view = |(key, title): &(String, String)| {
        let (actions, to) = (actions.clone(), key.clone());
        let onclick = Callback::from(move |_: MouseEvent| actions.choose(ExperimentField::View, to.clone()));
        html! { <button type="button" {onclick} aria-pressed={(*key == current).to_string()}>{ title }</button> }
    };
    let has_choices = actions.state.has_suite_choices();
    let fields = on(props.clone(), |props, ()| fields(props));
    html! { <>
        <FormFrame id="experiments-form" name="What to compare" short={if has_choices { in_short(actions, result) } else { "Reports".to_owned() }} beside_run={beside(props)} menus={menus(props)} {fields} />
        <div class="view-switch" role="group" aria-label="View">{ for result.choices.views.iter().map(view) }</div>
    </> }
}

fn fields(props: &ExperimentsControlsProps) -> Html {
    let (actions, result) = (&props.actions, &props.result);
    if !actions.state.has_suite_choices() {
        return html! { <p class="help">{ "Reports of NeuronPerf have no choices." }</p> };
    }
    let choose = |field: ExperimentField| on(actions.clone(), move |actions, text: String| actions.choose(field, text));
    let select = |field: ExperimentField, label: &'static str, options: Vec<(AttrValue, AttrValue)>| {
        html! {
            <SelectField id={format!("experiments-{}", field.key())} {label} value={value(actions, result, field)} {options} on_choose={choose(field)} />
        }
    };
    let text = |field: ExperimentField, label: &'static str, help: &'static str| {
        let value = actions.state.spec.get(field).to_owned();
        html! { <TextField id={format!("experiments-{}", field.key())} {label} {help} {value} on_edit={choose(field)} /> }
    };
    html! {
        <div class="fields">
            { select(ExperimentField::Accelerator, "Accelerator", options(&result.choices.accelerators)) }
            { select(ExperimentField::Test, "Test", options(&result.choices.tests)) }
            { select(ExperimentField::Metric, "Metric", pairs(&[("exec", "execution"), ("compile", "compilation")])) }
            { select(ExperimentField::Baseline, "Baseline", pairs(&[("oldest", "oldest"), ("latest", "newest run")])) }
            { base_backend(actions, result) }
            { select(ExperimentField::Against, "Changes since", options(&result.choices.against)) }
            { text(ExperimentField::Filter, "Models", "Regular expressions to keep: hf_ ^resnet") }
            { text(ExperimentField::Exclude, "Without", "Regular expressions to leave out") }
            { text(ExperimentField::Tier, "Tiers", "Tiers of torchbench: 1,2,3") }
            { backends_field(actions, result) }
        </div>
    }
}

/// What is compared, in a few words.
fn in_short(actions: &ExperimentsActions, result: &RecordsResult) -> String {
    let name = |choices: &Choices, field: ExperimentField| {
        let value = value(actions, result, field);
        choices.iter().find(|(key, _)| *key == value).map_or(value.clone(), |(_, name)| name.clone())
    };
    let models = actions.state.spec.get(ExperimentField::Filter);
    let parts = [
        name(&result.choices.accelerators, ExperimentField::Accelerator),
        name(&result.choices.tests, ExperimentField::Test),
        format!("{} backends", backend_list(actions, result).len()),
        if models.is_empty() { "all models".to_owned() } else { format!("models {models}") },
        format!("changes since {}", name(&result.choices.against, ExperimentField::Against)),
    ];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" \u{b7} ")
}

/// The choice of the user, also while the worker computes; without one, the choice of the worker.
fn value(actions: &ExperimentsActions, result: &RecordsResult, field: ExperimentField) -> String {
    let own = actions.state.spec.get(field);
    if own.is_empty() { result.spec.get(field).to_owned() } else { own.to_owned() }
}

/// The backends in their order.
fn backend_list(actions: &ExperimentsActions, result: &RecordsResult) -> Vec<String> {
    value(actions, result, ExperimentField::Backends).split(',').map(str::to_owned).collect()
}

/// The field for the baseline's backend, which comes first in the list of backends.
fn base_backend(actions: &ExperimentsActions, result: &Shared<RecordsResult>) -> Html {
    let on_choose = on((actions.clone(), result.clone()), |(actions, result), base: String| {
        let others = backend_list(actions, result).into_iter().filter(|b| *b != base);
        let list: Vec<String> = std::iter::once(base.clone()).chain(others).collect();
        actions.choose(ExperimentField::Backends, list.join(","));
    });
    let value = backend_list(actions, result).into_iter().next().unwrap_or_default();
    let options = options(&result.choices.backends);
    html! { <SelectField id="experiments-base" label="Baseline backend" {value} {options} {on_choose} /> }
}

fn backends_field(actions: &ExperimentsActions, result: &Shared<RecordsResult>) -> Html {
    let on_choose = on((actions.clone(), result.clone()), |(actions, result), list: String| {
        // The list comes in its own order; the baseline stays first.
        let base = backend_list(actions, result).into_iter().next().unwrap_or_default();
        let mut list: Vec<&str> = list.split(',').collect();
        list.order_by_key(|b| *b != base);
        actions.choose(ExperimentField::Backends, list.join(","));
    });
    let value = backend_list(actions, result).join(",");
    html! { <CheckField id="experiments-backends" label="Backends" {value} options={options(&result.choices.backends)} {on_choose} /> }
}

/// More records, and none.
fn beside(props: &ExperimentsControlsProps) -> Html {
    let actions = &props.actions;
    let clear = props.on_clear.reform(|_: MouseEvent| ());
    let (id, label) =
        if actions.state.is_sample() { ("open-records", "Open results.jsonl") } else { ("add-records", "Add files") };
    let add = on(actions.clone(), |actions, files: Vec<web_sys::File>| actions.read(&files));
    html! { <>
        <FormToggle actions={props.run.clone()} />
        { file_picker(id, label, add) }
        <button type="button" onclick={clear}>{ "Close the records" }</button>
    </> }
}

fn menus(props: &ExperimentsControlsProps) -> Html {
    let (actions, result) = (&props.actions, &props.result);
    let plan = props.plan.as_ref().map(|plan| Box::new((**plan).clone()));
    let link_gives = actions.state.link_holds(plan.as_deref());
    let save = |file: RecordsFile, label: &'static str| {
        let onclick = on(actions.clone(), move |actions, _: MouseEvent| actions.save(file));
        result
            .files
            .contains(&file)
            .then(|| html! { <li key={label}><button type="button" {onclick}>{ label }</button></li> })
    };
    html! {
        <CopyMenu hash={actions.state.hash(plan)} {link_gives}>
            { for save(RecordsFile::Csv, "Report as CSV") }
            { for save(RecordsFile::Svg, "Report as SVG") }
        </CopyMenu>
    }
}
