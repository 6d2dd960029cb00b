//! The first view of a profile: a document made by the worker, whose parts lead to the other tools.

use yew::prelude::*;

use super::{ToolProps, waiting};
use crate::components::{DocumentView, on};
use crate::pages::profile::queries::use_analysis;
use crate::platform::page;
use crate::state::ProfileAction;
use ns_page::Shared;
use ns_session::share::Tool;
use ns_session::{Answer, Evidence, ProfileOrigin, Question};

#[component]
pub fn OverviewTool(props: &ToolProps) -> Html {
    // The whole answer of a simulated execution takes longer; a stored example has it already.
    let is_later = matches!(props.run.info.origin, ProfileOrigin::Simulated(_)) && !*use_state(page::is_behind_example);
    let first = use_analysis(&props.run, is_later.then_some(Question::FirstOverview));
    let whole = use_analysis(&props.run, Some(Question::Overview));
    let known = [&whole, &first].into_iter().flatten().find_map(|answer| answer.clone().ok());
    // Made once for each answer, so that the page compares its address in memory and not every row.
    let document = use_memo(known, |answer| match answer.as_deref() {
        Some(Answer::Overview(document)) => Some(Shared::new(document.clone())),
        _ => None,
    });
    let on_open = on(props.state.clone(), |state, target: String| {
        if let Some(evidence) = Evidence::parse(&target) {
            state.dispatch(action_for(evidence));
        }
    });
    let document = (*document).clone().map(|document| html! { <DocumentView {document} on_open={Some(on_open)} /> });
    let pending = match &whole {
        Some(Err(pending)) => waiting(Some(pending)),
        None if document.is_none() => waiting(None),
        _ => html! {},
    };
    html! { <>{ document }{ pending }</> }
}

/// The action that shows a piece of evidence.
fn action_for(evidence: Evidence) -> ProfileAction {
    match (evidence.tool, evidence.span) {
        (Tool::OperatorTimeline | Tool::Trace, Some(span)) => ProfileAction::ShowSpan(span, evidence.slice),
        (tool, _) => ProfileAction::Tool(tool),
    }
}
