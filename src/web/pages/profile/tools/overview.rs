//! The first view of a profile: a document made by the worker, whose parts lead to the other tools.

use yew::prelude::*;

use super::{ToolProps, waiting};
use crate::components::{DocumentView, on};
use crate::pages::profile::queries::use_analysis;
use crate::state::ProfileAction;
use ns_page::Shared;
use ns_session::share::Tool;
use ns_session::{Answer, Evidence, Question};

#[component]
pub fn OverviewTool(props: &ToolProps) -> Html {
    let answer = use_analysis(&props.run, Some(Question::Overview));
    // Made once for each answer, so that the page compares its address in memory and not every row.
    let document = use_memo(answer.clone(), |answer| match answer {
        Some(Ok(answer)) => match &**answer {
            Answer::Overview(document) => Some(Shared::new(document.clone())),
            _ => None,
        },
        _ => None,
    });
    let on_open = on(props.state.clone(), |state, target: String| {
        if let Some(evidence) = Evidence::parse(&target) {
            state.dispatch(action_for(evidence));
        }
    });
    match ((*document).clone(), answer) {
        (Some(document), _) => html! { <DocumentView {document} on_open={Some(on_open)} /> },
        (None, Some(Err(pending))) => waiting(Some(&pending)),
        (None, _) => waiting(None),
    }
}

/// The action that shows a piece of evidence.
fn action_for(evidence: Evidence) -> ProfileAction {
    match (evidence.tool, evidence.span) {
        (Tool::OperatorTimeline | Tool::Trace, Some(span)) => ProfileAction::ShowSpan(span, evidence.slice),
        (tool, _) => ProfileAction::Tool(tool),
    }
}
