//! The form of the benchmark page.

use crate::state::StateHandle;
use yew::prelude::*;

use super::actions::Actions;
use super::model_field::ModelField;
use super::model_file::LinkNote;
use crate::components::{
    AUTO_CAST_TYPES, AUTO_CASTS, CheckField, CopyMenu, OPT_LEVELS, ProgressBar, SelectField, TextField, pairs,
};
use ns_page::Shared;
use ns_page::bench::{BenchAction, BenchState};
use ns_session::commands::bench_command;
use ns_session::share::BenchField;
use ns_session::{Catalog, ModelInfo, ModelKind};

/// Properties of [`BenchForm`].
#[derive(Properties, PartialEq)]
pub struct BenchFormProps {
    /// Actions of its buttons.
    pub actions: Actions,
    /// The available choices.
    pub catalog: Option<Shared<Catalog>>,
    /// The form's content.
    pub state: StateHandle<BenchState>,
}

type Wrong = [(BenchField, String)];

/// The form.
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
    let fields = Fields { state, wrong: &wrong };
    let has_scenario = !state.text(BenchField::Scenario).is_empty();
    let advanced_wrong = ADVANCED.iter().any(|f| error_of(&wrong, *f).is_some());
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
                <ModelField
                    id="bench-model" models={models(props.catalog.as_deref())}
                    value={state.text(BenchField::Model).to_owned()} error={error_of(&wrong, BenchField::Model)} on_edit={fields.edit(BenchField::Model)}
                    on_open={props.actions.on_model()}
                />
                <SelectField
                    id="bench-instance" label="Instance type" value={state.text(BenchField::Instance).to_owned()}
                    options={instances(props.catalog.as_deref(), state)} error={error_of(&wrong, BenchField::Instance)} on_choose={fields.edit(BenchField::Instance)}
                />
                { fields.text(BenchField::BatchSizes, "Batch sizes", "Samples of one inference: 1 or 1,8,64", "1") }
                { fields.text(BenchField::NModels, "Models", "Copies that run side by side. Empty: one, and as many as fit", "1 and all that fit") }
                { fields.text(BenchField::WorkersPerModel, "Workers per model", "Threads that feed one copy. Empty: 1 and 2", "1,2") }
                { fields.text(BenchField::Duration, "Duration (s)", "Simulated seconds of each configuration", "60") }
                { fields.text(BenchField::Seed, "Seed", "The same seed gives the same numbers", "0") }
            </div>
            <details class="advanced" open={*is_open.borrow()}>
                <summary>{ "Advanced" }</summary>
                { model_and_compiler(&fields) }
                { host_and_data(&fields) }
                { scenario(&fields) }
                { time_and_cost(&fields) }
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

/// Makes the fields of the form.
struct Fields<'a> {
    state: &'a StateHandle<BenchState>,
    wrong: &'a Wrong,
}

/// The choices of a field: values with their texts.
type Choices = [(&'static str, &'static str)];

impl Fields<'_> {
    fn edit(&self, field: BenchField) -> Callback<String> {
        let dispatch = self.state.dispatcher();
        Callback::from(move |text: String| dispatch.dispatch(BenchAction::Edit(field, text)))
    }

    fn text(&self, field: BenchField, label: &'static str, help: &'static str, placeholder: &'static str) -> Html {
        html! {
            <TextField
                id={format!("bench-{}", field.key())} {label} {help} {placeholder} input_mode={input_mode(field)}
                value={self.state.text(field).to_owned()} error={error_of(self.wrong, field)} on_edit={self.edit(field)}
            />
        }
    }

    /// A field with one of several choices.
    fn choice(&self, field: BenchField, label: &'static str, help: &'static str, options: &Choices) -> Html {
        html! {
            <SelectField
                id={format!("bench-{}", field.key())} {label} {help} value={self.state.text(field).to_owned()}
                options={pairs(options)} error={error_of(self.wrong, field)} on_choose={self.edit(field)}
            />
        }
    }

    /// A field with any of several choices.
    fn several(&self, field: BenchField, label: &'static str, help: &'static str, options: &Choices) -> Html {
        html! {
            <CheckField
                id={format!("bench-{}", field.key())} {label} {help} value={self.state.text(field).to_owned()} options={pairs(options)}
                error={error_of(self.wrong, field)} on_choose={self.edit(field)}
            />
        }
    }
}

/// Fields for how a model is compiled, and for its name in reports.
fn model_and_compiler(fields: &Fields<'_>) -> Html {
    html! {
        <fieldset class="group"><legend>{ "Model and compiler" }</legend><div class="fields">
            { fields.text(BenchField::PipelineSizes, "Pipeline sizes", "NeuronCores of one copy: 1 or 1,2", "1") }
            { fields.text(BenchField::PerformanceLevel, "Performance levels", "0 (most accurate) to 3 (fastest): 3 or 0-3", "3") }
            { fields.text(BenchField::Inputs, "Inputs", "Shapes of one call, a tuple for each batch size: 1x128 or (1x128,1x128);(8x128,8x128)", "the model\u{2019}s own") }
            { fields.several(BenchField::AutoCast, "Auto-cast", "What is cast to the faster type", &AUTO_CASTS) }
            { fields.several(BenchField::AutoCastType, "Cast type", "", &AUTO_CAST_TYPES) }
            { fields.several(BenchField::OptLevel, "Optimisation level", "", &OPT_LEVELS) }
            { fields.text(BenchField::Lnc, "Cores per logical core", "1 or 2. Empty: the instance\u{2019}s", "") }
            { fields.choice(BenchField::SdkGeneration, "SDK generation", "Published rows of PyTorch 1 are slower for the same model", &[("", "PyTorch 2"), ("pt1", "PyTorch 1")]) }
            { fields.choice(BenchField::Workflow, "Workflow", "mark_step: lazy tensors record their ops in each call", &[("", "trace"), ("mark_step", "mark_step")]) }
            { fields.text(BenchField::Name, "Label", "Name of the model in reports. Empty: the model\u{2019}s own name", "") }
        </div></fieldset>
    }
}

/// Fields for the work on the host and for the input data.
fn host_and_data(fields: &Fields<'_>) -> Html {
    html! {
        <fieldset class="group"><legend>{ "Host and data" }</legend><div class="fields">
            { fields.choice(BenchField::DeviceType, "Device", "The processor is this machine\u{2019}s, measured with its clock", &[("", "simulated NeuronCores"), ("cpu", "processor of this machine")]) }
            { fields.choice(BenchField::Processes, "Processes", "", &[("", "one for each model copy"), ("shared", "one for all copies"), ("fresh", "a fresh one each time")]) }
            { fields.text(BenchField::Preprocess, "Preprocess", "none, normalize, argmax, topk, softmax, or a time: 0.25ms", "none") }
            { fields.text(BenchField::Postprocess, "Postprocess", "As above, after the call", "none") }
            { fields.text(BenchField::EnvSetup, "Environment set-up (ms)", "Of each copy, before its load", "0") }
            { fields.text(BenchField::Setup, "Set-up (ms)", "Of each copy, after its load", "0") }
            { fields.text(BenchField::Dataset, "Dataset", "Records in one pass: 500, or 500,loop to repeat it", "inputs that repeat") }
        </div></fieldset>
    }
}

/// Fields for an MLPerf scenario; those of the scenario appear once it is chosen.
fn scenario(fields: &Fields<'_>) -> Html {
    let chosen = fields.state.text(BenchField::Scenario);
    html! {
        <fieldset class="group"><legend>{ "MLPerf scenario" }</legend><div class="fields">
            { fields.choice(BenchField::Scenario, "Scenario", "LoadGen\u{2019}s rules in place of NeuronPerf\u{2019}s closed loop", &SCENARIOS) }
            if !chosen.is_empty() {
                { fields.text(BenchField::MinDuration, "Minimum duration (s)", "Simulated; the rules say 600", "600") }
                { fields.text(BenchField::MinQueries, "Minimum queries", "Samples in the Offline scenario", if chosen == "Offline" { "24576" } else { "100" }) }
                if chosen == "MultiStream" {
                    { fields.text(BenchField::SamplesPerQuery, "Samples per query", "", "8") }
                }
                if chosen == "Server" {
                    { fields.text(BenchField::LatencyBound, "Latency bound (ms)", "99 % of the answers must keep to it", "15") }
                    { fields.text(BenchField::TargetQps, "Queries per second", "Empty: searches for the highest rate within the bound", "searched") }
                }
            }
        </div></fieldset>
    }
}

/// Fields for the measured time and for the price.
fn time_and_cost(fields: &Fields<'_>) -> Html {
    html! {
        <fieldset class="group"><legend>{ "Time and cost" }</legend><div class="fields">
            { fields.text(BenchField::Warmup, "Warm-up inferences", "Before the measured window", "1") }
            { fields.text(BenchField::Jitter, "Jitter", "Largest random deviation of a stage: 0.01 is 1 %", "0.01") }
            { fields.choice(BenchField::Accounting, "Duration counts", "", &[("", "when all copies are warm"), ("original", "from the start, as in NeuronPerf")]) }
            { fields.text(BenchField::CostPerHour, "Cost per hour (US$)", "Empty: the instance\u{2019}s published price, if there is one", "") }
        </div></fieldset>
    }
}

const SCENARIOS: [(&str, &str); 5] = [
    ("", "none"),
    ("SingleStream", "SingleStream"),
    ("MultiStream", "MultiStream"),
    ("Server", "Server"),
    ("Offline", "Offline"),
];

const ADVANCED: [BenchField; 27] = [
    BenchField::Scenario,
    BenchField::MinDuration,
    BenchField::MinQueries,
    BenchField::SamplesPerQuery,
    BenchField::LatencyBound,
    BenchField::TargetQps,
    BenchField::PipelineSizes,
    BenchField::PerformanceLevel,
    BenchField::Inputs,
    BenchField::AutoCast,
    BenchField::AutoCastType,
    BenchField::OptLevel,
    BenchField::Lnc,
    BenchField::SdkGeneration,
    BenchField::Workflow,
    BenchField::Name,
    BenchField::DeviceType,
    BenchField::Processes,
    BenchField::Preprocess,
    BenchField::Postprocess,
    BenchField::EnvSetup,
    BenchField::Setup,
    BenchField::Dataset,
    BenchField::Warmup,
    BenchField::Jitter,
    BenchField::Accounting,
    BenchField::CostPerHour,
];

fn input_mode(field: BenchField) -> &'static str {
    match field {
        BenchField::Duration
        | BenchField::Jitter
        | BenchField::CostPerHour
        | BenchField::MinDuration
        | BenchField::LatencyBound
        | BenchField::TargetQps => "decimal",
        BenchField::Seed | BenchField::Warmup | BenchField::PerformanceLevel => "numeric",
        _ => "text",
    }
}

fn error_of(wrong: &Wrong, field: BenchField) -> Option<AttrValue> {
    wrong.iter().find(|(f, _)| *f == field).map(|(_, message)| message.clone().into())
}

/// The models, and the entry for a system described by its measured times.
fn models(catalog: Option<&Catalog>) -> Vec<ModelInfo> {
    catalog.map(|c| c.models.iter().chain([&c.fixed]).cloned().collect()).unwrap_or_default()
}

/// Instance types with their cores and price. Types that are not simulated are listed only if the run simulates nothing.
fn instances(catalog: Option<&Catalog>, state: &BenchState) -> Vec<(AttrValue, AttrValue)> {
    let Some(catalog) = catalog else { return Vec::new() };
    let is_any =
        ModelKind::of(state.text(BenchField::Model)) == ModelKind::Fixed || state.text(BenchField::DeviceType) == "cpu";
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
    let on = |f: fn(&Actions)| {
        let actions = props.actions.clone();
        Callback::from(move |_: MouseEvent| f(&actions))
    };
    html! { <>
        <div class="buttons">
            <button type="submit" class="primary" disabled={!can.run}>{ "Run" }</button>
            <button type="button" disabled={!can.stop} onclick={on(Actions::pause_or_resume)}>{ can.pause.text() }</button>
            <button type="button" disabled={!can.stop} onclick={on(Actions::cancel)}>{ "Cancel" }</button>
            if can.retry {
                <button type="button" onclick={on(Actions::retry)}>{ "Retry failed" }</button>
            }
            <div class="run-slot">
                if props.state.run.is_running() { <ProgressBar run={props.state.run.clone()} /> }
            </div>
            <CopyMenu hash={props.state.hash()} link_gives="Whoever opens it gets these results."
                model={props.state.text(BenchField::Model).to_owned()} {command} />
            <button type="button" disabled={!can.save} onclick={on(Actions::download_csv)}>{ "Download CSV" }</button>
            <button type="button" disabled={!can.save} onclick={on(Actions::download_json)}>{ "Download JSON" }</button>
            <button type="button" disabled={!can.save} onclick={on(Actions::download_page)}>{ "Download as page" }</button>
        </div>
        <LinkNote model={props.state.text(BenchField::Model).to_owned()} />
    </> }
}
