//! The operator views: two pies and a table for profiles of NeuronCores, one pie and a table for any other.

use std::rc::Rc;

use yew::prelude::*;

use crate::components::{DataTable, PieChart, on};
use crate::pages::profile::tools::{instances_switch, level_select};
use crate::pages::profile::treemap::treemap_chart;
use crate::state::{ProfileAction, ProfileState, StateHandle};
use ns_analysis::GroupBy;
use ns_base::convert::u64_to_f64;
use ns_page::Shared;
use ns_page::profile::ToolSetting;
use ns_profile::Unit;
use ns_profile::levels::ALL_LEVELS;
use ns_session::{OperatorKind, OperatorRow, OperatorTable};
use ns_view::colours::Colours;
use ns_view::plot::Pie;
use ns_view::table::Sort;
use ns_view::timeline::GroupKind;

#[derive(Properties, PartialEq)]
pub struct OperatorsViewProps {
    /// The table, once it is there.
    pub table: Option<Shared<OperatorTable>>,
    /// The state of the page.
    pub state: StateHandle<ProfileState>,
}

#[component]
pub fn OperatorsView(props: &OperatorsViewProps) -> Html {
    let view = use_memo((props.table.clone(), unit_of(&props.state)), |(table, unit)| {
        table.as_ref().map(|t| (Shared::new(t.to_table(unit)), notes_of(t)))
    });
    let (Some(operators), Some((table, notes))) = (&props.table, view.as_ref()) else {
        return html! { <p class="panel empty" role="status">{ "Counting operators\u{2026}" }</p> };
    };
    let state = &props.state;
    let colours = state.current_run().map(|run| run.info.colours.clone()).unwrap_or_default();
    let swatches: Rc<[u8]> = operators.rows.iter().map(|r| colours.fill_of(&r.name)).collect();
    let on_sort = on(state.clone(), |state, sort: Sort| state.dispatch(ProfileAction::Sort(sort)));
    // The search of the timeline stays there: pies and areas here are of all rows.
    let on_search = on((state.clone(), state.link.sort.clone()), |(state, sort), find: String| {
        state.dispatch(ProfileAction::Adjust(ToolSetting::TableLook { sort: sort.clone(), find }));
    });
    let on_choose = {
        // Tables of Neuron operators count slices of several levels.
        let level = if operators.kind == OperatorKind::Slices { state.level() } else { Some(ALL_LEVELS.to_owned()) };
        let is_of_slices = operators.kind == OperatorKind::Slices;
        let by = if is_of_slices { operators.instances.group_by() } else { GroupBy::Name };
        on((state.clone(), GroupKind { by, level }), |(state, kind), name: String| {
            state.dispatch(ProfileAction::Highlight(kind.clone(), name))
        })
    };
    let on_row = on((operators.clone(), on_choose.clone()), |(operators, on_choose), row: usize| {
        on_choose.emit(operators.rows[row].name.clone())
    });
    html! {
        <>
            if operators.kind == OperatorKind::Slices {
                { range_switch(state, html! { if let Some(run) = state.current_run() { { level_select(run, state) }{ instances_switch(run, state) } } }) }
            }
            <div class="table-and-shares">
            <div class="panel">
                <DataTable
                    name={operators.kind.title()} table={table.clone()} notes={notes.clone()}
                    sort={state.link.sort.clone()} {on_sort} search={state.link.find.clone()} {on_search} {on_row} {swatches}
                    exact={operators.kind != OperatorKind::Slices}
                />
            </div>
            <div class="panel pies">{ pies(operators, state, &colours) }{ treemap_chart(shares(operators), &unit_of(state), &colours, &on_choose) }</div>
            </div>
        </>
    }
}

fn unit_of(state: &ProfileState) -> Unit {
    state.current_run().map(|run| run.info.outline.unit.clone()).unwrap_or_default()
}

/// The bar above a tool: its own fields, then the choice between all of the profile and the span in view on the timeline.
pub fn range_switch(state: &StateHandle<ProfileState>, fields: Html) -> Html {
    let radio = |in_view: bool, text: String| {
        let checked = state.link.in_view == in_view;
        let onchange =
            on(state.clone(), move |state, _: web_sys::Event| state.dispatch(ProfileAction::InView(in_view)));
        html! {
            <label class="radio"><input type="radio" name="operators-range" {checked} {onchange} />{ text }</label>
        }
    };
    let view = match state.link.span {
        Some(span) => {
            let unit = unit_of(state);
            format!("In view on the timeline: {} to {}", unit.place(span.start.0), unit.place(span.end.0))
        }
        None => "In view on the timeline (all of it now: zoom in there)".to_owned(),
    };
    html! {
        <div class="panel view-bar">
            { fields }
            <fieldset class="range-switch"><legend>{ "Look at" }</legend>
                { radio(false, "All of the profile".to_owned()) }
                { radio(true, view) }
            </fieldset>
        </div>
    }
}

/// Time by name over all cores; self time where it is known.
fn shares(operators: &OperatorTable) -> Vec<(String, f64)> {
    let mut by_name: indexmap::IndexMap<&str, f64> = indexmap::IndexMap::new();
    for row in &operators.rows {
        *by_name.entry(row.name.as_str()).or_insert(0.0) += u64_to_f64(row.self_ns.unwrap_or(row.time_ns));
    }
    by_name.into_iter().map(|(name, ns)| (name.to_owned(), ns)).collect()
}

/// For each row, the members of a fused operator.
fn notes_of(operators: &OperatorTable) -> Rc<[Option<AttrValue>]> {
    let note = |r: &OperatorRow| (!r.members.is_empty()).then(|| AttrValue::from(r.members.join("\n")));
    operators.rows.iter().map(note).collect()
}

fn core_of(row: &OperatorRow) -> Option<(u32, u32)> {
    Some((row.device?, row.core?))
}

fn core_name((device, core): (u32, u32)) -> String {
    format!("NeuronDevice {device} NeuronCore {core}")
}

fn pies(operators: &OperatorTable, state: &StateHandle<ProfileState>, colours: &Colours) -> Html {
    let mut cores: Vec<(u32, u32)> = operators.rows.iter().filter_map(core_of).collect();
    cores.sort_unstable();
    cores.dedup();
    if cores.is_empty() {
        let own = |r: &OperatorRow| (r.name.clone(), u64_to_f64(r.self_ns.unwrap_or(r.time_ns)));
        let pie = Pie::new(operators.rows.iter().map(own)).coloured(colours);
        let unit = unit_of(state);
        let title = if unit == Unit::Ns {
            "Self time per operator".to_owned()
        } else {
            format!("Self {} per operator", unit.name())
        };
        return html! { <PieChart {title} {pie} unit={unit.name().to_owned()} /> };
    }
    let chosen = state.link.core.filter(|c| cores.contains(c)).unwrap_or(cores[0]);
    let by_device =
        Pie::new(operators.rows.iter().filter_map(|r| Some((core_name(core_of(r)?), u64_to_f64(r.time_ns)))));
    let of_core = operators.rows.iter().filter(|r| core_of(r) == Some(chosen));
    let per_operator = Pie::new(of_core.map(|r| (r.name.clone(), u64_to_f64(r.time_ns)))).coloured(colours);
    let radio = |core: &(u32, u32)| {
        let core = *core;
        let state = state.clone();
        let onchange = Callback::from(move |_: web_sys::Event| state.dispatch(ProfileAction::Core(Some(core))));
        html! {
            <label class="radio"><input type="radio" name="core" checked={core == chosen} {onchange} />{ core_name(core) }</label>
        }
    };
    html! { <>
        if cores.len() > 1 { <PieChart title="Time by device" pie={by_device} unit="ns" /> }
        <PieChart title="Time per operator by device" pie={per_operator} unit="ns" />
        if cores.len() > 1 { <fieldset class="cores"><legend>{ "Core" }</legend>{ for cores.iter().map(radio) }</fieldset> }
    </> }
}
