//! The configurations of a sweep: before the run with their estimates, then with their progress.

use crate::state::StateHandle;
use std::rc::Rc;

use yew::prelude::*;

use crate::components::{Fold, LocalTable};
use ns_base::convert::u64_to_f64;
use ns_base::units::{format_count, format_ns, format_plural, format_whole_share};
use ns_bench::{RowState, SweepRow};
use ns_page::Shared;
use ns_page::bench::BenchState;
use ns_page::sweep::SweepView;
use ns_view::table::{Cell, Column, ColumnKind, Table};

/// Longer lists start folded.
const MOST_OPEN: usize = 32;

#[derive(Properties, PartialEq)]
pub struct PlanPanelProps {
    /// The state of the page.
    pub state: StateHandle<BenchState>,
}

#[component]
pub fn PlanPanel(props: &PlanPanelProps) -> Html {
    let state = &props.state;
    let is_running = state.run.is_running();
    let listed = match &state.listed {
        Some(Err(problem)) if !is_running => {
            return html! { <p class="panel error-box" role="status">{ Rc::clone(problem) }</p> };
        }
        Some(Ok(view)) => Some(view),
        _ => None,
    };
    // The list of the last run stays visible until the form differs from it.
    let ran =
        state.sweep.as_ref().filter(|v| is_running || listed.is_none_or(|l| l.sweep().config == v.sweep().config));
    let Some(view) = ran.or(listed).cloned() else {
        return html! { <p class="panel plan help">{ "The configurations are listed here." }</p> };
    };
    html! { <PlanTable {view} is_open={!state.is_for_results()} /> }
}

#[derive(Clone, Properties, PartialEq)]
struct PlanTableProps {
    view: SweepView,
    is_open: bool,
}

/// Summed up anew for another view only, not for each change of the page.
#[component]
fn PlanTable(props: &PlanTableProps) -> Html {
    let PlanTableProps { view, is_open } = props.clone();
    let summary = summary(&view);
    let is_open = is_open && view.sweep().rows().len() <= MOST_OPEN;
    let draw = Callback::from(move |()| html! { <Configurations view={view.clone()} /> });
    html! { <Fold class="panel plan" {summary} {is_open} {draw} /> }
}

#[derive(Properties, PartialEq)]
struct ConfigurationsProps {
    view: SweepView,
}

#[component]
fn Configurations(props: &ConfigurationsProps) -> Html {
    let table = use_memo(props.view.clone(), |view| Shared::new(table_of(view)));
    let searchable = props.view.sweep().rows().len() > 8;
    html! { <LocalTable name="Configurations" table={(*table).clone()} file="configurations" {searchable} /> }
}

fn summary(view: &SweepView) -> String {
    let sweep = view.sweep();
    let p = sweep.progress();
    let all = sweep.rows().len();
    let mut parts = vec![format_plural(all, "configuration")];
    let mut add = |n: u32, what: &str| {
        if n > 0 {
            parts.push(format!("{n} {what}"));
        }
    };
    add(p.finished, "finished");
    add(p.failed, "failed");
    add(p.running, "running");
    add(p.cancelled, "cancelled");
    let problems = sweep.rows().iter().filter(|r| r.planned.problem.is_some() && r.state == RowState::Waiting).count();
    add(u32::try_from(problems).unwrap_or(u32::MAX), "cannot run");
    let estimates = || sweep.rows().iter().filter_map(|r| r.planned.estimate);
    if estimates().next().is_some() {
        let inferences = estimates().fold(0_u64, |sum, e| sum.saturating_add(e.inferences));
        let ns: f64 = estimates().map(|e| u64_to_f64(e.simulated.to_ns())).sum();
        parts.push(format!("about {} inferences in {} of simulated time", format_count(inferences), format_ns(ns)));
    }
    parts.join(", ")
}

fn table_of(view: &SweepView) -> Table {
    let columns = [
        ("row", "#", ColumnKind::Count),
        ("configuration", "Configuration", ColumnKind::Text),
        ("instance", "Instance", ColumnKind::Text),
        ("inferences", "Expected inferences", ColumnKind::Count),
        ("simulated_s", "Simulated time (s)", ColumnKind::Number),
        ("state", "State", ColumnKind::Text),
    ];
    let sweep = view.sweep();
    let row = |(i, row): (u32, &Rc<SweepRow>)| {
        let planned = &row.planned;
        vec![
            Cell::Count(u64::from(i) + 1),
            Cell::Text(planned.configuration.label()),
            Cell::Text(planned.configuration.instance_type.clone()),
            Cell::from(planned.estimate.map(|e| e.inferences)),
            Cell::from(planned.estimate.map(|e| e.simulated.to_secs_f64())),
            Cell::Text(state_text(row, view.shares().get(&i).copied())),
        ]
    };
    Table {
        columns: columns.map(|(id, title, kind)| Column::new(id, title, kind)).into(),
        rows: (0..).zip(sweep.rows()).map(row).collect(),
    }
}

fn state_text(row: &SweepRow, share: Option<f64>) -> String {
    let again = if row.attempts > 1 { format!(" (attempt {})", row.attempts) } else { String::new() };
    match (&row.state, &row.planned.problem) {
        (RowState::Waiting, Some(problem)) => format!("cannot run: {problem}"),
        (RowState::Waiting, None) => "waiting".to_owned(),
        (RowState::Running, _) => format!("running {}{again}", format_whole_share(share.unwrap_or(0.0) * 100.0)),
        (RowState::Cancelled, _) => "cancelled".to_owned(),
        (RowState::Done(result), _) => match &result.report.error {
            Some(error) => format!("failed: {error}{again}"),
            None => format!("{}{again}", result.report.status),
        },
    }
}
