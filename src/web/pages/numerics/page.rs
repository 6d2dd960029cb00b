//! The page: a form, examples, the comparison.

use crate::state::StateHandle;
use yew::prelude::*;

use super::actions::Actions;
use super::form::NumericsForm;
use super::result::NumericsResult;
use crate::components::{KeptNote, ProgressBar};
use crate::context::Job;
use crate::context::use_app;
use ns_page::numerics::NumericsState;
use ns_session::NumericsSpec;

/// Properties of [`NumericsPage`].
#[derive(Properties, PartialEq)]
pub struct NumericsPageProps {
    /// The state of the page.
    pub state: StateHandle<NumericsState>,
    /// The run that can be cancelled.
    pub job: Job,
}

/// Comparisons worth seeing: the text of the button, and the model.
const EXAMPLES: [(&str, &str); 3] = [
    ("Goes NaN without a bias", "matmult:n=32,loop_count=200,add_bias=false,normalize=true"),
    ("The same with a bias", "matmult:n=32,loop_count=200,normalize=true"),
    ("The two-layer network of the tutorial", "nn"),
];

/// The page.
#[component]
pub fn NumericsPage(props: &NumericsPageProps) -> Html {
    let Some(app) = use_app() else { return Html::default() };
    let state = &props.state;
    let actions = Actions { app: app.clone(), state: state.clone(), job: props.job.clone() };
    use_effect_with(state.wants_run && app.catalog.is_some(), {
        let actions = actions.clone();
        move |wants| {
            if *wants {
                actions.run();
            }
        }
    });
    let example = |(name, model): (&'static str, &'static str)| {
        let actions = actions.clone();
        let onclick = Callback::from(move |_: MouseEvent| {
            actions.run_spec(NumericsSpec { model: model.to_owned(), ..NumericsSpec::default() });
        });
        html! { <button type="button" {onclick} disabled={state.run.is_running()} title={model}>{ name }</button> }
    };
    let again = |spec: NumericsSpec| {
        let actions = actions.clone();
        Callback::from(move |()| actions.run_spec(spec.clone()))
    };
    html! {
        <div class="page numerics">
            <h1>{ "Numerics" }</h1>
            <p class="lead">{ "What a NeuronCore computes, beside the reference that the processor computes from the same weights and inputs. The NeuronCore\u{2019}s values are rounded by the chosen cast. The result says whether they are good enough, and which operation made a NaN or an infinity." }</p>
            <NumericsForm actions={actions.clone()} catalog={app.catalog.clone()} state={state.clone()} />
            <div class="panel examples" role="group" aria-label="Examples"><span>{ "Examples:" }</span>{ for EXAMPLES.map(example) }</div>
            <ProgressBar run={state.run.clone()} />
            // The kept note and the result come and go in one step: each has its own element, before which Yew can insert.
            <div class="part">
                if let Some(kept) = &state.restored {
                    <KeptNote when_ms={kept.when_ms} is_running={state.run.is_running()} on_run={again(kept.spec.clone())} />
                }
            </div>
            <div class="part">
                if let Some(report) = &state.report {
                    <NumericsResult report={report.clone()} {actions} />
                } else if !state.run.is_running() {
                    <section class="panel empty-state" aria-label="How to begin">
                        <h2>{ "No comparison yet" }</h2>
                        <p>{ "Press Run, or choose an example. Models of up to 8,000 MFLOP are computed twice in this browser; a smaller size of the same model shows the same effects." }</p>
                    </section>
                }
            </div>
        </div>
    }
}
