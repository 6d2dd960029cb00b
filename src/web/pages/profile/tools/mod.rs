//! Tools for any trace: statistics, flame graph, modules, comparison, queries.

mod ask;
mod compare;
mod flame;
mod listed;
mod modules;
mod statistics;

pub use ask::AskTool;
pub use compare::CompareTool;
pub use flame::FlameTool;
pub use modules::ModulesTool;
pub use statistics::StatisticsTool;

use yew::prelude::*;

use crate::session::Chosen;
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

/// What is shown while a worker counts, or why it can not.
fn waiting(answer: Option<&String>) -> Html {
    match answer {
        None => html! { <p class="empty" role="status">{ "Counting\u{2026}" }</p> },
        Some(message) => html! { <p class="error-box" role="alert">{ message }</p> },
    }
}
