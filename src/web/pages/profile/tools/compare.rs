//! Two open profiles against each other: both timelines on one axis, and a table operator by operator.

use yew::prelude::*;

use super::pair::PairOfTimelines;
use super::{ToolProps, failed, instances_switch, level_select, waiting};
use crate::components::{LocalTable, SelectField, on};
use crate::pages::profile::kept_bases::KeptBases;
use crate::pages::profile::queries::{AnalysisAnswer, Pending, use_analysis};
use crate::state::{OpenRun, ProfileAction};
use ns_analysis::compare::{Comparison, Measure, OperatorTotals, Presence};
use ns_analysis::{GroupBy, Instances};
use ns_page::Shared;
use ns_page::profile::ToolSetting;
use ns_session::share::CompareLink;
use ns_session::{Answer, Question, SliceFilter};
use ns_view::comparison::comparison_table;

#[component]
pub fn CompareTool(props: &ToolProps) -> Html {
    let CompareLink { base, measure, per_step, .. } = &props.state.link.compare;
    let (measure, per_step) = (*measure, *per_step);
    let name = use_state_eq(|| None::<AttrValue>);
    let others: Vec<&OpenRun> = props.state.runs.iter().filter(|r| r.id != props.run.id).collect();
    let named = |name: &String| others.iter().rfind(|r| r.info.name == *name);
    let chosen = props.state.compared_with().cloned();
    let missing = base.as_ref().filter(|name| named(name).is_none());
    let of = SliceFilter { level: props.state.level(), ..SliceFilter::default() };
    // Without a key, each profile is grouped by what fits it; all names by themselves have to be asked for.
    let by = (props.state.link.instances == Instances::Each).then_some(GroupBy::Name);
    let question = Question::Totals { of, by };
    let own = use_analysis(&props.run, Some(question.clone()));
    // Hooks must always run. Without another run, this run replaces it and no question is asked.
    let theirs = use_analysis(chosen.as_ref().unwrap_or(&props.run), chosen.is_some().then_some(question));
    let Some(chosen) = chosen else {
        return nothing_to_compare(props, missing);
    };
    let options = others.iter().map(|r| (r.info.name.clone().into(), r.info.name.clone().into())).collect::<Vec<_>>();
    let swap = swap(props, chosen.id);
    let choose =
        on(props.state.clone(), |state, name: String| state.dispatch(ProfileAction::Adjust(ToolSetting::Base(name))));
    let choose_measure = on(props.state.clone(), |state, text: String| {
        let measure = if text == "total" { Measure::Total } else { Measure::SelfTime };
        state.dispatch(ProfileAction::Adjust(ToolSetting::Measure(measure)));
    });
    let toggle = on(props.state.clone(), move |state, _: web_sys::Event| {
        state.dispatch(ProfileAction::Adjust(ToolSetting::PerStep(!per_step)));
    });
    let measured = if measure == Measure::Total { "total" } else { "self" };
    let measures = ["self", "total"].map(|m| (AttrValue::from(m), AttrValue::from(m))).to_vec();
    let (said, table) = match (totals(&own), totals(&theirs)) {
        (Some(Ok(other)), Some(Ok(base))) => match Comparison::of(&base, &other, measure, per_step) {
            Ok(comparison) => (summary(&comparison), table_view(&comparison, &name)),
            Err(error) => (failed(&error.to_string()), Html::default()),
        },
        (Some(Err(pending)), _) | (_, Some(Err(pending))) => (waiting(Some(&pending)), Html::default()),
        _ => (waiting(None), Html::default()),
    };
    html! {
        <>
            <div class="panel view-bar">
                <SelectField id="compare-base" label="Base" value={chosen.info.name.clone()} {options} on_choose={choose} />
                { level_select(&props.run, &props.state) }
                { instances_switch(&props.run, &props.state) }
                <SelectField id="compare-measure" label="Time" value={measured} options={measures} on_choose={choose_measure} />
                <label class="radio"><input type="checkbox" checked={per_step} onchange={toggle} />{ "Per step" }</label>
                <div class="buttons"><button type="button" onclick={swap}>{ "Swap" }</button><KeptBases state={props.state.clone()} run={props.run.clone()} /></div>
            </div>
            <div class="panel">{ said }</div>
            <PairOfTimelines key={format!("{}-{}", chosen.id, props.run.id)} base={chosen.clone()} other={props.run.clone()} name={(*name).clone()} />
            <section class="panel" aria-label="Comparison">{ table }</section>
        </>
    }
}

/// Says what to do when only one profile is open; `missing` is the base that a link asks for.
fn nothing_to_compare(props: &ToolProps, missing: Option<&String>) -> Html {
    html! {
        <section class="panel empty-state" aria-label="Nothing to compare with">
            <h3>{ "One profile is open" }</h3>
            if let Some(name) = missing { <p class="note">{ format!("This link compares with {name}, but links do not carry files.") }</p> }
            <KeptBases state={props.state.clone()} run={props.run.clone()} />
            <p>{ "Drop a second file on this page, open it with the button at the top, or run another model, workflow or device. The second profile is then compared with this one, the base." }</p>
        </section>
    }
}

/// Swaps the two: shows the base, with the run shown before as its base.
fn swap(props: &ToolProps, base: u32) -> Callback<MouseEvent> {
    on((props.state.clone(), props.run.info.name.clone()), move |(state, name), _: MouseEvent| {
        state.dispatch(ProfileAction::Adjust(ToolSetting::Base(name.clone())));
        state.dispatch(ProfileAction::Show(base));
    })
}

fn totals(answer: &Option<AnalysisAnswer>) -> Option<Result<OperatorTotals, Pending>> {
    match answer.as_ref()? {
        Err(pending) => Some(Err(pending.clone())),
        Ok(answer) => match &**answer {
            Answer::Totals(totals) => Some(Ok(totals.clone())),
            _ => None,
        },
    }
}

fn table_view(c: &Comparison, name: &UseStateHandle<Option<AttrValue>>) -> Html {
    let on_row = {
        let (name, names) = (name.clone(), c.rows.iter().map(|r| AttrValue::from(r.name.clone())).collect::<Vec<_>>());
        Callback::from(move |row: usize| name.set(names.get(row).cloned()))
    };
    html! { <LocalTable name="Operators compared" file="comparison" table={Shared::new(comparison_table(c))} {on_row} /> }
}

fn operators(n: usize) -> String {
    format!("{n} operator{} {}", if n == 1 { "" } else { "s" }, if n == 1 { "is" } else { "are" })
}

/// The time of both, and how many operators occur in only one.
fn summary(c: &Comparison) -> Html {
    let count = |presence: Presence| c.rows.iter().filter(|r| r.presence == presence).count();
    let level = match &c.levels {
        (a, b) if a == b => format!("level {a}"),
        (a, b) => format!("level {b} against {a}"),
    };
    let text = format!(
        "{}, of {} against {} as base. By operator ({level}): {} new, {} gone.",
        c.took.text(),
        c.other,
        c.base,
        operators(count(Presence::New)),
        operators(count(Presence::Gone))
    );
    html! { <p role="status">{ text }</p> }
}
