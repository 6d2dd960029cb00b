//! The answer for a model file of the user: whether it runs, how fast, what it costs at its cheapest, and what leads on.

use yew::prelude::*;

use crate::context::use_app;
use crate::model_files::{file_label, known_file};
use ns_base::convert::u64_to_f64;
use ns_base::units::{format_number, format_whole_share};
use ns_bench::Report;
use ns_session::BatchRule;
use ns_session::InspectField;
use ns_session::InspectSpec;
use ns_session::share::PageLink as _;

#[derive(Properties, PartialEq)]
pub struct ModelCardProps {
    /// The model of the results.
    pub model: AttrValue,
    /// How many rows finished, how many there are, and the reason of the first that failed.
    pub runs: (usize, usize, Option<AttrValue>),
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
    let known = known_file(&app.models, &props.model).map(|known| known.0.clone());
    let (finished, all, failure) = &props.runs;
    let verdict = match (finished, failure) {
        (0, Some(reason)) => format!("It does not run: {reason}"),
        (0, None) => "It has not run yet.".to_owned(),
        (n, _) if n == all => "It runs on every instance and with every batch size of this list.".to_owned(),
        (n, Some(reason)) => {
            format!(
                "It runs in {n} of {all} configurations ({}). The first of the others: {reason}",
                format_whole_share(u64_to_f64(*n as u64) / u64_to_f64((*all).max(1) as u64) * 100.0,)
            )
        }
        (n, None) => format!("It runs in {n} of {all} configurations."),
    };
    let facts = known.map(|opened| {
        let parameters = format_number(u64_to_f64(opened.inspection.parameters) / 1e6);
        let batch = match opened.batch {
            BatchRule::Open { dimension, .. } => format!("its batch is open ({dimension})"),
            BatchRule::Derived { exported } => {
                format!("exported for batch {exported}; other batches follow from its graph")
            }
            BatchRule::Fixed { size } => format!("it was exported for batch {size}"),
        };
        let unknown = match opened.inspection.unsupported.len() {
            0 => String::new(),
            n => format!("; {n} of its operators have no known meaning and are estimated"),
        };
        format!("{parameters} million parameters, {batch}{unknown}.")
    });
    let inspect = InspectSpec::default().with(InspectField::Model, &props.model).hash();
    html! {
        <section class="panel model-card" aria-labelledby="model-card-title">
            <h3 id="model-card-title">{ label }</h3>
            <p>{ verdict }{ " " }{ facts.unwrap_or_default() }</p>
            if *finished > 0 { <p class="found">{ &props.found }</p> }
            <p class="buttons">
                if let Some(profile) = &props.profile { <a class="button" href={profile}>{ "What limits it" }</a> }
                <a class="button" href={inspect}>{ "Look at the model" }</a>
            </p>
        </section>
    }
}

/// How many reports finished, how many there are, and the reason of the first that failed.
pub fn runs_of(reports: &[&Report]) -> (usize, usize, Option<AttrValue>) {
    let finished = reports.iter().filter(|r| r.is_finished()).count();
    let failure = reports.iter().find_map(|r| r.error.clone()).map(AttrValue::from);
    (finished, reports.len(), failure)
}
