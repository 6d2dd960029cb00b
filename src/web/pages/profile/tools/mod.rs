//! Tools for any trace: statistics, flame graph, modules, critical path, idle gaps, comparison, queries.

mod ask;
mod compare;
mod flame;
mod idle;
mod listed;
mod modules;
mod pair;
mod path;
mod statistics;

pub use ask::AskTool;
pub use compare::CompareTool;
pub use flame::FlameTool;
pub use idle::IdleTool;
pub use modules::ModulesTool;
pub use path::PathTool;
pub use statistics::StatisticsTool;

use yew::prelude::*;

use crate::session::{Chosen, SpanOf};
use crate::web::state::profile::{OpenRun, ProfileState};

/// What every tool is given.
#[derive(Properties, PartialEq)]
pub struct ToolProps {
    /// The run that is shown.
    pub run: OpenRun,
    /// The state of the page.
    pub state: UseReducerHandle<ProfileState>,
}

/// The slices that are counted: all, or those in view on the timeline.
fn chosen(state: &ProfileState) -> Chosen {
    Chosen { range: state.link.span.filter(|_| state.link.in_view), ..Chosen::default() }
}

/// The span that is looked at: all, or what is in view on the timeline.
fn span_of(state: &ProfileState, limit: u32) -> SpanOf {
    SpanOf { range: state.link.span.filter(|_| state.link.in_view), limit }
}

/// What is shown while a worker counts, or why it can not.
fn waiting(answer: Option<&String>) -> Html {
    match answer {
        None => html! { <p class="empty" role="status">{ "Counting\u{2026}" }</p> },
        Some(message) => html! { <p class="error-box" role="alert">{ message }</p> },
    }
}
