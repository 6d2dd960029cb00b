//! The answer for a model file of the user: whether it runs, how fast, what it costs at its cheapest, and what leads on.

use yew::prelude::*;

use crate::context::use_app;
use crate::model_files::{file_label, known_file};
use ns_session::InspectField;
use ns_session::InspectSpec;
use ns_session::results::{ModelRuns, model_facts};
use ns_session::share::PageLink as _;

#[derive(Properties, PartialEq)]
pub struct ModelCardProps {
    /// The model of the results.
    pub model: AttrValue,
    pub runs: ModelRuns,
    /// The best row within the limits, in words.
    pub found: AttrValue,
    /// The link to its profile.
    pub profile: Option<AttrValue>,
}

/// The card; empty for a model of the zoo.
#[component]
pub fn ModelCard(props: &ModelCardProps) -> Html {
    let app = use_app();
    let Some((label, app)) = file_label(&props.model).zip(app) else { return Html::default() };
    let facts = known_file(&app.models, &props.model).map(|known| model_facts(&known.0));
    let inspect = InspectSpec::default().with(InspectField::Model, &props.model).hash();
    html! {
        <section class="panel model-card" aria-labelledby="model-card-title">
            <h3 id="model-card-title">{ label }</h3>
            <p>{ props.runs.text() }{ " " }{ facts.unwrap_or_default() }</p>
            // Its room is there before the first row, so that nothing below it moves.
            <p class="found">if props.runs.finished > 0 { { &props.found } }</p>
            <p class="buttons">
                if let Some(profile) = &props.profile { <a class="button" href={profile}>{ "What limits it" }</a> }
                <a class="button" href={inspect}>{ "Look at the model" }</a>
            </p>
        </section>
    }
}
