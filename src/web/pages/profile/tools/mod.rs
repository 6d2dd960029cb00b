//! Tools for any trace: overview, statistics, flame graph, modules, critical path, idle gaps, counters, comparison, queries.

mod ask;
mod compare;
mod counters;
mod flame;
mod idle;
mod instances_switch;
mod level_select;
mod memory;
mod modules;
mod overview;
mod paged_table;
mod pair;
mod path;
mod statistics;

pub use ask::AskTool;
pub use compare::CompareTool;
pub use counters::CountersTool;
pub use flame::FlameTool;
pub use idle::idle_tool;
pub use instances_switch::instances_switch;
pub use level_select::level_select;
pub use modules::ModulesTool;
pub use overview::OverviewTool;
pub(super) use paged_table::column;
pub use path::PathTool;
pub use statistics::StatisticsTool;

use yew::prelude::*;

use crate::pages::profile::queries::Pending;
use crate::state::{OpenRun, ProfileState, StateHandle};
use ns_base::{Interval, TraceNs};
use ns_session::SliceFilter;

/// Properties of every tool.
#[derive(Properties, PartialEq)]
pub struct ToolProps {
    /// The run that is shown.
    pub run: OpenRun,
    /// The state of the page.
    pub state: StateHandle<ProfileState>,
}

/// The slices that are counted: the chosen level's, either all or those in view on the timeline.
fn slice_filter(state: &ProfileState) -> SliceFilter {
    SliceFilter { range: range_of(state), level: state.level(), ..SliceFilter::default() }
}

/// The span that is counted: the whole profile, or the view on the timeline.
fn range_of(state: &ProfileState) -> Option<Interval<TraceNs>> {
    state.link.span.filter(|_| state.link.in_view)
}

/// Shown while a worker counts, or when it cannot: then it says why.
pub(super) fn waiting(answer: Option<&Pending>) -> Html {
    match answer {
        None => html! { <p class="empty" role="status">{ "Counting\u{2026}" }</p> },
        Some(Pending::Counting { label, share, on_stop }) => {
            let onclick = on_stop.reform(|_: MouseEvent| ());
            html! {
                <div class="empty progress">
                    <progress aria-label={label.clone()} max="1" value={share.to_string()}></progress>
                    <p role="status">{ format!("{label}\u{2026}") }</p>
                    <button type="button" {onclick}>{ "Stop" }</button>
                </div>
            }
        }
        Some(Pending::Failed(message)) => failed(message),
    }
}

/// The message that says why there is no answer.
fn failed(message: &str) -> Html {
    html! { <p class="error-box" role="alert">{ message }</p> }
}
