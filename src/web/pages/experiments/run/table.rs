//! The experiments of the form, or those of the run with their states.

use ns_base::units::format_plural;
use std::rc::Rc;

use yew::prelude::*;

use crate::components::LocalTable;
use crate::state::StateHandle;
use ns_bench::{RowState, SweepRow};
use ns_experiment::sweep::{ExperimentRow, Experiments, PlannedExperiment};
use ns_page::Shared;
use ns_page::experiments::PlanState;
use ns_view::table::{Cell, Column, ColumnKind, Table};

/// An experiment, and its row if it is of a run.
type ListedExperiment = (PlannedExperiment, Option<Rc<SweepRow<Experiments>>>);

#[derive(Properties, PartialEq)]
pub struct RunTableProps {
    pub plan: StateHandle<PlanState>,
}

#[component]
pub fn RunTable(props: &RunTableProps) -> Html {
    let plan = &props.plan;
    // The rows of a run stay until the form differs from it.
    let request = plan.request().0;
    let ran = plan.sweep.as_ref().filter(|view| plan.run.is_running() || view.sweep().config.request == request);
    let rows: Vec<ListedExperiment> = match (ran, &plan.listed) {
        (Some(view), _) => view.sweep().rows().iter().map(|row| (row.planned.clone(), Some(Rc::clone(row)))).collect(),
        (None, Some(Ok(listed))) => listed.rows.iter().map(|row| (row.clone(), None)).collect(),
        (None, _) => Vec::new(),
    };
    let problem = match &plan.listed {
        Some(Err(message)) => Some(message.to_string()),
        Some(Ok(listed)) => listed.problem.clone(),
        None => None,
    };
    if let Some(problem) = problem.filter(|_| rows.is_empty()) {
        return html! { <p class="error-box" role="status">{ problem }</p> };
    }
    if rows.is_empty() {
        return html! { <p class="help">{ "The experiments are listed here." }</p> };
    }
    let measured = rows.iter().filter(|(planned, _)| planned.is_measured).count();
    let skipped = rows.iter().filter(|(planned, _)| planned.problem.is_some()).count();
    let table = Shared::new(table_of(&rows));
    html! { <>
        <p class="note">{ summary(rows.len(), measured, skipped) }</p>
        <LocalTable name="Experiments" {table} file="experiments" searchable={rows.len() > 8} cuts_texts={true} />
    </> }
}

fn summary(all: usize, measured: usize, skipped: usize) -> String {
    let mut text = format_plural(all, "experiment");
    if measured > 0 {
        text.push_str(&format!(", {measured} measured in this browser"));
    }
    if skipped > 0 {
        text.push_str(&format!(", {skipped} that cannot run here and become records that say why"));
    }
    text
}

fn table_of(rows: &[ListedExperiment]) -> Table {
    let columns = [
        ("row", "#", ColumnKind::Count),
        ("model", "Model", ColumnKind::Text),
        ("accelerator", "Accelerator", ColumnKind::Text),
        ("backend", "Backend", ColumnKind::Text),
        ("test", "Test", ColumnKind::Text),
        ("time_s", "Time per iteration (s)", ColumnKind::Number),
        ("state", "State", ColumnKind::Text),
    ];
    let row = |(i, (planned, row)): (u64, &ListedExperiment)| {
        let result = row.as_ref().and_then(|row| row.result());
        let measured = if planned.is_measured { ", measured" } else { "" };
        vec![
            Cell::Count(i + 1),
            Cell::Text(planned.model.clone()),
            Cell::Text(format!("{}{measured}", planned.accelerator.name())),
            Cell::Text(planned.backend.clone()),
            Cell::Text(planned.test.clone()),
            Cell::from(result.and_then(|result| result.iteration_s)),
            Cell::Text(state_of(planned, row.as_deref())),
        ]
    };
    Table {
        columns: columns.map(|(id, title, kind)| Column::new(id, title, kind)).into(),
        rows: (0..).zip(rows).map(row).collect(),
    }
}

fn state_of(planned: &PlannedExperiment, row: Option<&SweepRow<Experiments>>) -> String {
    let Some(row) = row else {
        return planned.problem.as_ref().map_or_else(|| "planned".to_owned(), |why| format!("will be skipped: {why}"));
    };
    match &row.state {
        RowState::Waiting => "waiting".to_owned(),
        RowState::Running => "running".to_owned(),
        RowState::Cancelled => "cancelled".to_owned(),
        RowState::Done(result) => outcome(result),
    }
}

fn outcome(result: &ExperimentRow) -> String {
    let notes = result.notes.iter().map(|note| format!("; {note}")).collect::<String>();
    match (&result.error, &result.verdict) {
        (Some(error), _) if result.is_skip => format!("skipped: {error}"),
        (Some(error), _) => format!("failed: {error}"),
        (None, Some(verdict)) => format!("{verdict}{notes}"),
        (None, None) => format!("done{notes}"),
    }
}
