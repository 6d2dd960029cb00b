//! The page: choices, the view that a worker made, or how to begin.

use yew::prelude::*;

use super::actions::ExperimentsActions;
use super::controls::ExperimentsControls;
use super::run::{KeptRuns, RunActions, RunBar, RunForm, use_example, use_listing, use_run_records};
use crate::components::{DocumentView, DrawBlock, drawings, file_picker, on, progress_bar};
use crate::context::JobSlot;
use crate::context::use_app;
use crate::platform::page;
use crate::state::{ExperimentsAction, ExperimentsState, StateHandle};
use crate::sweep::ExperimentRunner;
use ns_base::convert::u64_to_f64;
use ns_base::units::format_bytes;
use ns_experiment::sweep::ExperimentsRequest;
use ns_page::RunState;
use ns_page::Shared;
use ns_page::experiments::PlanState;
use ns_page::replies::answer_of;
use ns_session::{ExperimentField, Message, RecordsRead, Reply};

/// The element with the result, for the focus.
const RESULT: &str = "experiments-result";

#[derive(Properties, PartialEq)]
pub struct ExperimentsPageProps {
    pub state: StateHandle<ExperimentsState>,
    /// The reading that can be cancelled.
    pub job: JobSlot,
    /// The plan of a run.
    pub plan: StateHandle<PlanState>,
    pub runner: ExperimentRunner,
}

#[component]
pub fn ExperimentsPage(props: &ExperimentsPageProps) -> Html {
    let app = use_app();
    let state = &props.state;
    let actions = app.map(|app| ExperimentsActions { app, state: state.clone(), job: props.job.clone() });
    use_data(state, actions.as_ref());
    use_linked_records(state, actions.as_ref());
    use_view(state, actions.as_ref());
    let run = actions.clone().map(|page| RunActions { page, plan: props.plan.clone(), runner: props.runner.clone() });
    use_example(run.as_ref());
    use_listing(&props.plan, run.as_ref());
    use_run_records(run.as_ref());
    let plan = props.plan.linked().map(|plan| Shared::new(*plan));
    let document = use_memo(state.result.clone(), |result| result.as_ref().map(|s| Shared::new(s.document.clone())));
    let (Some(actions), Some(run)) = (actions, run) else { return Html::default() };
    let on_clear = on(run.clone(), |run, ()| run.put_away());
    let cancel = on(actions.clone(), |actions, _: MouseEvent| actions.cancel());
    let has_controls = state.result.is_some() && state.read.is_some();
    // Nothing is here, and nothing comes by itself.
    let is_coming = run.plan.run.is_running() || run.plan.wants_run || state.wants_sample(&run.plan);
    let is_empty = state.result.is_none() && state.read.is_none() && !state.run.is_running() && !is_coming;
    html! {
        <div class={classes!("page", "experiments", (!is_empty).then_some("has-results"))}>
            <h1>{ "Experiments" }</h1>
            <p class="lead">{ "Records of PyTorch/XLA\u{2019}s benchmark suite, and reports of NeuronPerf, compared over time and between backends. Experiments run here too, on simulated accelerators or measured on this processor." }</p>
            <div class="part"><RunBar actions={run.clone()} is_second={has_controls} /></div>
            <div class="part"><KeptRuns actions={run.clone()} /></div>
            { progress_bar(&state.run) }
            if state.run.is_running() { <div class="buttons"><button type="button" onclick={cancel}>{ "Cancel" }</button></div> }
            { match &state.result {
                Some(result) if has_controls => html! { <>
                    { for state.read.as_ref().map(|read| records_line(read, &actions, plan.as_deref())) }
                    <ExperimentsControls actions={actions.clone()} run={run.clone()} {plan} {on_clear} result={result.clone()} />
                    { back(&actions, result.choices.views.as_slice(), result.spec.get(ExperimentField::View)) }
                    <div id={RESULT} tabindex="-1">
                        { for (*document).clone().map(|document| html! { <DocumentView {document} on_open={opener(&actions)} draw={DrawBlock(drawings)} /> }) }
                    </div>
                </> },
                _ if is_empty => begin(state, &actions),
                _ => Html::default(),
            } }
            <div class="part">if is_empty || state.result.is_some() || run.plan.is_open { <RunForm actions={run.clone()} /> }</div>
        </div>
    }
}

/// Reads the files of a link once.
#[hook]
fn use_data(state: &StateHandle<ExperimentsState>, actions: Option<&ExperimentsActions>) {
    let actions = actions.cloned();
    use_effect_with(state.data.clone(), move |data| {
        if let (Some(data), Some(actions)) = (data, actions) {
            actions.unpack(data);
        }
    });
}

/// Reads the files that a link names, if this browser keeps them.
#[hook]
fn use_linked_records(state: &StateHandle<ExperimentsState>, actions: Option<&ExperimentsActions>) {
    let actions = actions.filter(|a| a.app.catalog.is_some()).cloned();
    use_effect_with((state.linked_files.clone(), actions.is_some()), move |(wanted, _)| {
        if let Some(actions) = actions.filter(|a| !wanted.is_empty() && a.state.read.is_none()) {
            actions.read_linked();
        }
    });
}

/// Asks for the view when a choice or the records change. An answer to an older question is not shown.
#[hook]
fn use_view(state: &StateHandle<ExperimentsState>, actions: Option<&ExperimentsActions>) {
    let actions = actions.cloned();
    let dispatch = state.dispatcher();
    use_effect_with((state.spec.clone(), state.read.clone()), move |(_, read)| {
        let take = |reply| if let Reply::Records(result) = reply { Some(result) } else { None };
        let on_message = Callback::from(move |message: Message| match answer_of(message, take) {
            Some(Ok(result)) => dispatch.dispatch(ExperimentsAction::Answer(result)),
            Some(Err(message)) => dispatch.dispatch(ExperimentsAction::Run(RunState::Failed(message))),
            None => {}
        });
        let asked = read.as_ref().and_then(|_| actions?.show(on_message));
        move || {
            if let Some((engine, job)) = asked {
                engine.forget(job);
            }
        }
    });
}

/// Opens the records behind a row or a point.
fn opener(actions: &ExperimentsActions) -> Callback<String> {
    on(actions.clone(), |actions, target: String| {
        actions.choose(ExperimentField::Open, target);
        page::focus(RESULT);
    })
}

/// The button that leads from records back to the view.
fn back(actions: &ExperimentsActions, views: &[(String, String)], view: &str) -> Html {
    if actions.state.spec.get(ExperimentField::Open).is_empty() {
        return Html::default();
    }
    let title = views.iter().find(|(key, _)| key == view).map_or("the view", |(_, title)| title.as_str());
    let onclick = on(actions.clone(), |actions, _: MouseEvent| {
        actions.choose(ExperimentField::Open, String::new());
        page::focus(RESULT);
    });
    html! { <div class="buttons"><button type="button" {onclick}>{ format!("\u{2190} Back to {title}") }</button></div> }
}

/// A line that says which records are open.
fn records_line(read: &RecordsRead, actions: &ExperimentsActions, plan: Option<&ExperimentsRequest>) -> Html {
    let files = match read.files.as_slice() {
        [(name, size)] => format!("{name}, {}", format_bytes(u64_to_f64(*size))),
        several => {
            format!("{} files, {}", several.len(), format_bytes(u64_to_f64(several.iter().map(|f| f.1).sum::<u64>())))
        }
    };
    let reports = if read.reports > 0 { format!(", {} rows of reports", read.reports) } else { String::new() };
    let remarks = if read.remarks > 0 { format!(", {} remarks", read.remarks) } else { String::new() };
    let link = actions.state.link_holds(plan).replacen("It ", "A link ", 1);
    let records = if read.records == 0 && read.reports > 0 {
        format!("{} rows of reports", read.reports)
    } else {
        format!("{} records{reports}", read.records)
    };
    let download = on(actions.clone(), |actions, _: MouseEvent| actions.download_results());
    html! {
        <p class="note">
            { format!("{files}: {records}{remarks}. {link} ") }
            if !actions.state.kept_results().is_empty() {
                <button type="button" onclick={download}>{ "Download the results" }</button>
            }
        </p>
    }
}

fn begin(state: &ExperimentsState, actions: &ExperimentsActions) -> Html {
    let on_files = on(actions.clone(), |actions, files: Vec<web_sys::File>| actions.read(&files));
    let sample = on(actions.clone(), |actions, _: MouseEvent| actions.load_sample());
    html! {
        <section class="panel empty-state" aria-label="How to begin">
            <h2>{ "No records yet" }</h2>
            if !state.linked_files.is_empty() {
                <p class="note">{ format!("This link shows {}, too large for a link to carry. Open the same files again to see the same view.", state.linked_files.join(", ")) }</p>
            }
            <p>{ "Open or drop one or more results.jsonl files to see the pass rate, geometric means with their coverage, what the newest run improved or broke, and every sample behind each point. Nothing is uploaded." }</p>
            <div class="buttons">
                { file_picker("open-records", "Open results.jsonl", on_files) }
                <button type="button" onclick={sample}>{ "Load the sample" }</button>
            </div>
            <p>{ "A command that makes such a file, here or with PyTorch/XLA:" }</p>
            <pre class="command" tabindex="0" aria-label="Commands">{ "neuronscope experiment --suite-name=torchbench --filter='^resnet18$' --test=eval --accelerator=trn1 --repeat=8\npython xla/benchmarks/experiment_runner.py --suite-name=torchbench --filter='^resnet18$' --test=eval --repeat=8" }</pre>
            <p>{ "The sample holds measured runs of two small models on a processor and simulated runs of two models on Trn1, all written by this program (Apache-2.0)." }</p>
        </section>
    }
}
