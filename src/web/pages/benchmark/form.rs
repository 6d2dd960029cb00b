//! The form of the benchmark page.

use crate::state::StateHandle;
use yew::prelude::*;

use super::actions::BenchActions;
use super::model_field::ModelField;
use super::model_file::LinkNote;
use crate::components::{CopyMenu, FormInput, ProgressBar, SelectField};
use ns_page::Shared;
use ns_page::bench::{BenchAction, BenchState};
use ns_session::commands::bench_command;
use ns_session::options::{BENCH_OPTIONS, BenchOption, OptionGroup};
use ns_session::studies::FieldKind;
use ns_session::{Catalog, ModelInfo, ModelKind};

/// Properties of [`BenchForm`].
#[derive(Properties, PartialEq)]
pub struct BenchFormProps {
    /// Actions of its buttons.
    pub actions: BenchActions,
    pub catalog: Option<Shared<Catalog>>,
    pub state: StateHandle<BenchState>,
}

type FieldErrors = [(&'static str, String)];

#[component]
pub fn BenchForm(props: &BenchFormProps) -> Html {
    let is_open = use_mut_ref(|| false);
    let is_edited = use_mut_ref(|| false);
    let redraw = use_force_update();
    let state = &props.state;
    let (_, wrong) = state.config();
    let onsubmit = {
        let (actions, is_edited) = (props.actions.clone(), is_edited.clone());
        Callback::from(move |event: SubmitEvent| {
            event.prevent_default();
            if actions.state.controls().run {
                is_edited.replace(false);
                actions.run();
            }
        })
    };
    let has_scenario = !state.text("scenario").is_empty();
    let is_advanced = |option: &&BenchOption| option.group != OptionGroup::Main;
    let advanced_wrong =
        BENCH_OPTIONS.iter().filter(is_advanced).any(|option| error_of(&wrong, option.key()).is_some());
    // A section that opened because of a mistake or a scenario stays open while the field is edited.
    *is_open.borrow_mut() |= advanced_wrong || has_scenario;
    // On a phone the form is one line above its results until it is edited. Its fields open for a mistake, and stay open while it is mended.
    *is_edited.borrow_mut() |= !wrong.is_empty();
    let is_folded = state.is_for_results() && !*is_edited.borrow();
    let on_fold = Callback::from(move |_: MouseEvent| {
        is_edited.replace(is_folded);
        redraw.force_update();
    });
    html! {
        <form class={classes!("panel", is_folded.then_some("is-folded"))} {onsubmit} novalidate={true} aria-label="Benchmark configuration">
            if state.is_for_results() { { in_one_line(state, is_folded, on_fold) } }
            <div class="fields" id="bench-fields">
                { for OptionGroup::Main.options().map(|option| input(props, &wrong, option)) }
            </div>
            <details class="advanced" open={*is_open.borrow()}>
                <summary>{ "Advanced" }</summary>
                { for ADVANCED.map(|group| group_of(props, &wrong, group)) }
            </details>
            { buttons(props) }
        </form>
    }
}

/// The button that shows the form's content in one line, and opens and closes the fields. Only a phone shows it.
fn in_one_line(state: &BenchState, is_folded: bool, onclick: Callback<MouseEvent>) -> Html {
    html! {
        <button type="button" class="spec-line" aria-expanded={(!is_folded).to_string()} aria-controls="bench-fields" {onclick}>
            <span>{ state.in_short() }</span>
            <strong>{ if is_folded { "Edit" } else { "Fold" } }</strong>
        </button>
    }
}

/// The groups that are folded, in the order of the form.
const ADVANCED: [OptionGroup; 4] = [OptionGroup::Compile, OptionGroup::Host, OptionGroup::Scenario, OptionGroup::Time];

/// The fields of a group. Those of a scenario appear once it is chosen.
fn group_of(props: &BenchFormProps, wrong: &FieldErrors, group: OptionGroup) -> Html {
    let scenario = props.state.text("scenario");
    let options = group.options().filter(|option| option.is_of_scenario(scenario));
    html! {
        <fieldset class="group"><legend>{ group.title() }</legend><div class="fields">
            { for options.map(|option| input(props, wrong, option)) }
        </div></fieldset>
    }
}

/// The field of an option.
fn input(props: &BenchFormProps, wrong: &FieldErrors, option: &'static BenchOption) -> Html {
    let (state, field, key) = (&props.state, &option.field, option.key());
    let (id, value, error) = (format!("bench-{key}"), state.text(key).to_owned(), error_of(wrong, key));
    let dispatch = state.dispatcher();
    let on_edit = Callback::from(move |text: String| dispatch.dispatch(BenchAction::Edit(key, text)));
    match field.kind {
        FieldKind::Model => html! {
            <ModelField {id} models={models(props.catalog.as_deref())} {value} {error} {on_edit} on_open={props.actions.on_model()} />
        },
        FieldKind::Instance => html! {
            <SelectField {id} label={field.label} {value} options={instances(props.catalog.as_deref(), state)} {error} on_choose={on_edit} />
        },
        _ => {
            let is_offline = key == "min_queries" && state.text("scenario") == "Offline";
            html! { <FormInput {id} {field} {value} {error} {on_edit} placeholder={is_offline.then_some("24576")} /> }
        }
    }
}

fn error_of(wrong: &FieldErrors, key: &str) -> Option<AttrValue> {
    wrong.iter().find(|(wrong, _)| *wrong == key).map(|(_, message)| message.clone().into())
}

/// The models, and the entry for a system described by its measured times.
fn models(catalog: Option<&Catalog>) -> Vec<ModelInfo> {
    catalog.map(|c| c.models.iter().chain([&c.fixed]).cloned().collect()).unwrap_or_default()
}

/// Instance types with their cores and price. Types that are not simulated are listed only if the run simulates nothing.
fn instances(catalog: Option<&Catalog>, state: &BenchState) -> Vec<(AttrValue, AttrValue)> {
    let Some(catalog) = catalog else { return Vec::new() };
    let is_any = ModelKind::of(state.text("model")) == ModelKind::Fixed || state.text("device_type") == "cpu";
    let others = catalog.other_instances.iter().filter(|_| is_any);
    catalog
        .instances
        .iter()
        .chain(others)
        .map(|i| {
            let price = i.usd_per_hour.map(|p| format!(", ${p}/h")).unwrap_or_default();
            let text = format!("{} \u{2013} {} core{}{price}", i.name, i.cores, if i.cores == 1 { "" } else { "s" });
            (i.name.clone().into(), text.into())
        })
        .collect()
}

fn buttons(props: &BenchFormProps) -> Html {
    let can = props.state.controls();
    // The command and the link both describe the form.
    let (config, wrong) = props.state.config();
    let command = bench_command(&config).filter(|_| wrong.is_empty()).map(AttrValue::from);
    let on = |f: fn(&BenchActions)| {
        let actions = props.actions.clone();
        Callback::from(move |_: MouseEvent| f(&actions))
    };
    html! { <>
        <div class="buttons">
            <button type="submit" class="primary" disabled={!can.run}>{ "Run" }</button>
            <button type="button" disabled={!can.stop} onclick={on(BenchActions::pause_or_resume)}>{ can.pause.text() }</button>
            <button type="button" disabled={!can.stop} onclick={on(BenchActions::cancel)}>{ "Cancel" }</button>
            if can.retry {
                <button type="button" onclick={on(BenchActions::retry)}>{ "Retry failed" }</button>
            }
            <div class="run-slot">
                if props.state.run.is_running() { <ProgressBar run={props.state.run.clone()} /> }
            </div>
            <CopyMenu hash={props.state.hash()} link_gives="Whoever opens it gets these results."
                model={props.state.text("model").to_owned()} {command} />
            <button type="button" disabled={!can.save} onclick={on(BenchActions::download_csv)}>{ "Download CSV" }</button>
            <button type="button" disabled={!can.save} onclick={on(BenchActions::download_json)}>{ "Download JSON" }</button>
            <button type="button" disabled={!can.save} onclick={on(BenchActions::download_array)} title="The array of reports that NeuronPerf\u{2019}s write_json writes">{ "Download NeuronPerf JSON" }</button>
            <button type="button" disabled={!can.save} onclick={on(BenchActions::download_page)}>{ "Download as page" }</button>
        </div>
        <LinkNote model={props.state.text("model").to_owned()} />
    </> }
}
