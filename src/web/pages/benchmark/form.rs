//! The form of the benchmark page.

use crate::state::StateHandle;
use yew::prelude::*;

use super::actions::BenchActions;
use super::call_box::CallBox;
use super::model_field::ModelField;
use super::model_file::LinkNote;
use crate::components::{CopyMenu, FieldErrors, FormFrame, FormInput, PickEntry, PickList, SIMULATED, error_of, on};
use ns_bench::BenchConfig;
use ns_page::Shared;
use ns_page::bench::{BenchAction, BenchState};
use ns_session::commands::bench_command;
use ns_session::options::{BENCH_OPTIONS, BenchOption, OptionGroup};
use ns_session::studies::FieldKind;
use ns_session::{Catalog, ModelInfo, ModelKind};

#[derive(Clone, Properties, PartialEq)]
pub struct BenchFormProps {
    /// Actions of its buttons.
    pub actions: BenchActions,
    pub catalog: Option<Shared<Catalog>>,
    pub state: StateHandle<BenchState>,
}

#[component]
pub fn BenchForm(props: &BenchFormProps) -> Html {
    let is_open = use_mut_ref(|| false);
    let state = &props.state;
    let (config, wrong) = state.config();
    let on_run = on(props.actions.clone(), |actions, ()| actions.run());
    let has_scenario = !state.text("scenario").is_empty();
    let is_advanced = |option: &&BenchOption| option.group != OptionGroup::Main;
    let advanced_wrong =
        BENCH_OPTIONS.iter().filter(is_advanced).any(|option| error_of(&wrong, option.key()).is_some());
    // A section that opened because of a mistake or a scenario stays open while the field is edited.
    *is_open.borrow_mut() |= advanced_wrong || has_scenario;
    // The command and the link both describe the form.
    let command = bench_command(&config).filter(|_| wrong.is_empty()).map(AttrValue::from);
    // Of what the address says, not of a form that was edited since.
    let model = state.model().to_owned();
    let is_simulated = state.rows.iter().all(|row| row.report().source != "measured");
    let origin = if is_simulated { SIMULATED } else { "" };
    let fields = {
        let (props, wrong, is_open) = (props.clone(), wrong.clone(), is_open.clone());
        Callback::from(move |()| fields(&props, &wrong, *is_open.borrow()))
    };
    html! { <>
        <FormFrame id="bench-form" name="Benchmark configuration" short={state.in_short()} is_wrong={!wrong.is_empty()}
            is_stale={state.is_stale()} can_run={state.controls().run} {on_run} beside_run={beside_run(props)} run={props.state.run.clone()}
            menus={html! {
                <CopyMenu hash={state.hash()} link_gives="Whoever opens it gets these results." model={model.clone()} {origin} {command}>
                    { downloads(props) }
                </CopyMenu>
            }}
            {fields}
        />
        <LinkNote {model} />
    </> }
}

fn fields(props: &BenchFormProps, wrong: &FieldErrors, is_open: bool) -> Html {
    html! { <>
        <div class="fields">{ for OptionGroup::Main.options::<BenchConfig>().map(|option| input(props, wrong, option)) }</div>
        <details class="advanced" open={is_open}>
            <summary>{ "Advanced" }</summary>
            { for ADVANCED.map(|group| group_of(props, wrong, group)) }
        </details>
        <CallBox state={props.state.clone()} />
    </> }
}

/// The groups that are folded, in the order of the form.
const ADVANCED: [OptionGroup; 4] = [OptionGroup::Compile, OptionGroup::Host, OptionGroup::Scenario, OptionGroup::Time];

/// The fields of a group. Those of a scenario appear once it is chosen.
fn group_of(props: &BenchFormProps, wrong: &FieldErrors, group: OptionGroup) -> Html {
    let scenario = props.state.text("scenario");
    let options = group.options::<BenchConfig>().filter(|option| option.is_of_scenario(scenario));
    html! {
        <fieldset class="group"><legend>{ group.title() }</legend><div class="fields">
            { for options.map(|option| input(props, wrong, option)) }
        </div></fieldset>
    }
}

fn input(props: &BenchFormProps, wrong: &FieldErrors, option: &'static BenchOption) -> Html {
    let (state, field, key) = (&props.state, &option.field, option.key());
    let (id, value, error) = (format!("bench-{key}"), state.text(key).to_owned(), error_of(wrong, key));
    let on_edit = on(state.dispatcher(), move |dispatch, text: String| dispatch.dispatch(BenchAction::Edit(key, text)));
    match field.kind {
        FieldKind::Model => html! {
            <ModelField {id} models={models(props.catalog.as_deref())} {value} {error} {on_edit} on_file={props.actions.on_file()} />
        },
        FieldKind::Instance => html! {
            <PickList {id} label={field.label} {value} entries={instances(props.catalog.as_deref(), state)} several={true} {error} on_choose={on_edit} />
        },
        _ => {
            let is_offline = key == "min_queries" && state.text("scenario") == "Offline";
            html! { <FormInput {id} {field} {value} {error} {on_edit} placeholder={is_offline.then_some("24576")} /> }
        }
    }
}

/// The models, and the entry for a system described by its measured times.
fn models(catalog: Option<&Catalog>) -> Vec<ModelInfo> {
    catalog.map(|c| c.models.iter().chain([&c.fixed]).cloned().collect()).unwrap_or_default()
}

/// Instance types with their cores, memory and price. Types that are not simulated are listed only if the run simulates nothing.
fn instances(catalog: Option<&Catalog>, state: &BenchState) -> Vec<PickEntry> {
    let Some(catalog) = catalog else { return Vec::new() };
    let is_any = ModelKind::of(state.text("model")) == ModelKind::Fixed || state.text("device_type") == "cpu";
    let others = catalog.other_instances.iter().filter(|_| is_any);
    catalog.instances.iter().chain(others).map(PickEntry::from).collect()
}

/// The buttons of a run.
fn beside_run(props: &BenchFormProps) -> Html {
    let can = props.state.controls();
    let press = |f: fn(&BenchActions)| on(props.actions.clone(), move |actions, _: MouseEvent| f(actions));
    html! { <>
        if can.stop {
            <button type="button" onclick={press(BenchActions::pause_or_resume)}>{ can.pause.text() }</button>
            <button type="button" onclick={press(BenchActions::cancel)}>{ "Cancel" }</button>
        }
        if can.retry {
            <button type="button" onclick={press(BenchActions::retry)}>{ "Retry failed" }</button>
        }
    </> }
}

/// The files of the results, as entries of the menu.
fn downloads(props: &BenchFormProps) -> Html {
    /// Name, action, and what it holds.
    type File = (&'static str, fn(&BenchActions), &'static str);
    const FILES: [File; 4] = [
        ("Download CSV", BenchActions::download_csv, "NeuronPerf\u{2019}s CSV"),
        ("Download JSON", BenchActions::download_json, "The reports as the command line prints them"),
        (
            "Download NeuronPerf JSON",
            BenchActions::download_array,
            "The array of reports that NeuronPerf\u{2019}s write_json writes",
        ),
        ("Download as page", BenchActions::download_page, "One HTML file with the results and their charts"),
    ];
    let can_save = props.state.controls().save;
    let entry = |(name, f, title): File| {
        let onclick = on(props.actions.clone(), move |actions, _: MouseEvent| f(actions));
        html! { <li key={name}><button type="button" disabled={!can_save} {title} {onclick}>{ name }</button></li> }
    };
    FILES.into_iter().map(entry).collect()
}
