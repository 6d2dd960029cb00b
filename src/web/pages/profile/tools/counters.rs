//! Counters over time: statistics of each, and the curve of one.

use std::cmp::Reverse;

use yew::prelude::*;

use super::memory::MemoryTables;
use super::{ToolProps, range_of, waiting};
use crate::components::{AnyChart, LocalTable, PlotChart, on};
use crate::pages::profile::operators::range_switch;
use crate::pages::profile::queries::{use_analysis, use_listing};
use crate::state::ProfileAction;
use ns_analysis::counters::Curve;
use ns_base::convert::i64_to_f64;
use ns_base::units::{is_in_bytes, unit_of_bytes, unit_of_ns};
use ns_page::Shared;
use ns_page::profile::ToolSetting;
use ns_session::{Answer, LinkedTable, Listing, Question, Rows};
use ns_view::plot::{LineStyle, Lines};
use ns_view::table::{Cell, ColumnKind, Table};

/// The most points of the curve: more points than pixels would not be visible.
const MOST_POINTS: u32 = 1_200;

#[component]
pub fn CountersTool(props: &ToolProps) -> Html {
    let state = &props.state;
    let answer = use_listing(&props.run, Some(Listing::Counters(range_of(state))), Rows::ALL);
    let listed = answer.as_ref().and_then(|a| a.as_ref().ok());
    // The counter that the link names, or the one that changes most often.
    let row = listed.and_then(|l| row_of(l, state.link.counter.as_deref()));
    let question = listed.zip(row).and_then(|(l, row)| {
        let name = name_of(l, row)?.to_owned();
        Some(Question::Curve { name, range: range_of(state), points: MOST_POINTS })
    });
    let curve = use_analysis(&props.run, question);
    let content = match &answer {
        None => waiting(None),
        Some(Err(pending)) => waiting(Some(pending)),
        Some(Ok(listed)) if listed.table.rows.is_empty() => {
            html! { <p class="empty">{ "No counter has a value here." }</p> }
        }
        Some(Ok(listed)) => {
            let on_row = on((state.clone(), listed.clone()), |(state, listed), row: usize| {
                let name = name_of(listed, row).map(str::to_owned);
                state.dispatch(ProfileAction::Adjust(ToolSetting::Counter(name)));
            });
            let drawn = match &curve {
                None => waiting(None),
                Some(Err(pending)) => waiting(Some(pending)),
                Some(Ok(answer)) => match &**answer {
                    Answer::Curve(curve) => plot(curve),
                    _ => Html::default(),
                },
            };
            html! { <>
                { drawn }
                <p class="note">{ "A value holds until the next one; mean and integral weight each value by that time. Press a counter to draw it." }</p>
                <LocalTable name="Counters" file="counters" table={Shared::new(visible_table(listed))} {on_row} />
            </> }
        }
    };
    html! { <>{ range_switch(state, Html::default()) }<section class="panel" aria-label="Counters over time">{ content }</section><MemoryTables run={props.run.clone()} state={state.clone()} /></> }
}

fn name_of(listed: &LinkedTable, row: usize) -> Option<&str> {
    match listed.table.rows.get(row)?.first()? {
        Cell::Text(name) => Some(name),
        _ => None,
    }
}

fn row_of(listed: &LinkedTable, name: Option<&str>) -> Option<usize> {
    let rows = 0..listed.table.rows.len();
    let of_link = rows.clone().find(|row| name.is_some() && name_of(listed, *row) == name);
    let column = listed.table.columns.iter().position(|column| column.id == "samples");
    let samples = |row: &usize| match listed.table.rows.get(*row).zip(column).and_then(|(cells, at)| cells.get(at)) {
        Some(Cell::Count(samples)) => *samples,
        _ => 0,
    };
    of_link.or_else(|| rows.max_by_key(|row| (samples(row), Reverse(*row))))
}

/// The table; if all its counters are in bytes, so are its values.
fn visible_table(listed: &LinkedTable) -> Table {
    let mut table = listed.table.clone();
    let rows = 0..table.rows.len();
    if rows.clone().all(|row| name_of(listed, row).is_some_and(is_in_bytes)) {
        for column in table.columns.iter_mut().filter(|column| column.kind == ColumnKind::Number) {
            column.title = match column.title.split_once(" (value") {
                Some((stem, rest)) => format!("{stem} (bytes{rest}"),
                None => format!("{} (bytes)", column.title),
            };
        }
    }
    table
}

/// The curve as steps: each value until the next.
fn plot(curve: &Curve) -> Html {
    let (unit, scale) = unit_of_ns(curve.points.last().map_or(0.0, |(ns, _)| i64_to_f64(*ns)));
    let (axis, size) = if is_in_bytes(&curve.name) {
        let (unit, size) = unit_of_bytes(curve.points.iter().map(|(_, value)| value.abs()).fold(0.0, f64::max));
        (format!("memory ({unit})"), size)
    } else {
        ("value".to_owned(), 1.0)
    };
    let points = curve.points.iter().map(|(ns, value)| (i64_to_f64(*ns) / scale, *value / size)).collect();
    let plot = Lines::new(&format!("time ({unit})"), &axis, [(curve.name.clone(), LineStyle::Steps, points)], false);
    let note = curve.is_thinned.then_some("The smallest and the largest value of each stretch are drawn.");
    html! { <PlotChart title={curve.name.clone()} plot={AnyChart::from(plot)} {note} /> }
}
