//! Slices in groups: shares, a treemap, a table; and the distribution of the durations of one group.

use std::rc::Rc;

use yew::prelude::*;

use super::paged_table::PagedTable;
use super::{ToolProps, instances_switch, level_select, slice_filter, waiting};
use crate::components::{LocalTable, PieChart, SelectField, TableLook, on};
use crate::pages::profile::operators::range_switch;
use crate::pages::profile::queries::{AnalysisAnswer, use_analysis, use_listing, use_save_all};
use crate::pages::profile::treemap::treemap_chart;
use crate::platform::page;
use crate::state::{ProfileAction, ProfileState, StateHandle};
use ns_analysis::GroupBy;
use ns_analysis::histogram::{BinScale, Histogram};
use ns_analysis::members::MemberOrder;
use ns_analysis::opcode::short_name;
use ns_base::convert::{f64_to_i64, u64_to_f64};
use ns_base::units::{format_count, format_plural};
use ns_page::Shared;
use ns_page::profile::ToolSetting;
use ns_profile::Unit;
use ns_profile::levels::ALL_LEVELS;
use ns_session::share::Tool;
use ns_session::{Answer, GroupsOf, LinkedTable, Listing, MembersOf, Question, Rows, SliceFilter};
use ns_view::colours::Colours;
use ns_view::plot::Pie;
use ns_view::table::Cell;
use ns_view::timeline::{GroupKind, SliceLink};

/// Positions of the columns in the table of groups.
const SELF_NS: usize = 3;
const BINS: u32 = 40;
/// The most groups that are listed: as many as a user may scroll through.
const MOST_GROUPS: u32 = 10_000;
/// Slices of a group per page.
const MOST_MEMBERS: u32 = 200;

#[component]
pub fn StatisticsTool(props: &ToolProps) -> Html {
    let state = &props.state;
    let tracks = (state.link.tool == Tool::OperatorEngine).then(|| props.run.engine_tracks()).filter(|t| !t.is_empty());
    let is_of_engines = tracks.is_some();
    let of = slice_filter(state);
    // The rows of engines are their own level.
    let of = SliceFilter { level: of.level.filter(|_| !is_of_engines), tracks, ..of };
    // The box beside it decides how names count.
    let by = match state.link.grouping() {
        GroupBy::Name | GroupBy::Operation => state.link.instances.group_by(),
        by => by,
    };
    let groups = Listing::Groups(GroupsOf { by, range: of.range, tracks: of.tracks.clone(), level: of.level.clone() });
    let answer = use_listing(&props.run, Some(groups.clone()), Rows { skip: 0, limit: MOST_GROUPS });
    let save_all = use_save_all(&props.run, &groups, &AttrValue::from("groups"));
    let listed = answer.as_ref().and_then(|a| a.as_ref().ok()).cloned();
    let name = state.link.group.clone();
    let of_name =
        |row: &Vec<Cell>| matches!((&name, row.first()), (Some(name), Some(Cell::Text(text))) if name == text);
    let chosen_row = listed.as_ref().and_then(|l| Some((l, l.table.rows.iter().position(of_name)?)));
    // A group that is not in this table, perhaps chosen at another level, is not shown.
    let name = name.filter(|_| listed.is_none() || chosen_row.is_some());
    let longest = chosen_row.and_then(|(l, row)| l.slices.get(row).cloned().flatten());
    let members = MembersOf { of: of.clone(), by, name: name.clone().unwrap_or_default(), order: MemberOrder::Longest };
    let question = name.clone().map(|name| Question::Histogram { of, by, name, scale: BinScale::Log, bins: BINS });
    let spread = use_analysis(&props.run, question);
    // A group chosen below is shown above: scroll there.
    use_effect_with(name.clone(), |name| {
        if name.is_some() {
            page::focus("chosen-group");
        }
    });
    let choose = on(state.clone(), |state, text: String| {
        if let Some(by) = GroupBy::from_name(&text) {
            state.dispatch(ProfileAction::GroupBy(by));
        }
    });
    let choices = GroupBy::ALL.into_iter().filter(|by| *by != GroupBy::Operation).map(GroupBy::name);
    let options: Vec<_> = choices.map(|name| (AttrValue::from(name), AttrValue::from(name))).collect();
    let chosen = if by == GroupBy::Operation { GroupBy::Name } else { by };
    let content = match &answer {
        None => waiting(None),
        Some(Err(message)) => waiting(Some(message)),
        Some(Ok(listed)) => groups_view(props, listed, save_all),
    };
    html! {
        <>
            { range_switch(state, html! { <>
                if !is_of_engines { { level_select(&props.run, state) } }
                <SelectField id="group-by" label="Group by" value={chosen.name()} {options} on_choose={choose} />
                if chosen == GroupBy::Name { { instances_switch(&props.run, state) } }
            </> }) }
            if let Some(name) = &name { { group_panel(props, name, longest, spread, members) } }
            <section class="panel" aria-label="Groups of slices">{ content }</section>
        </>
    }
}

/// All groups: their shares as pictures, and the table, whose rows choose one.
fn groups_view(props: &ToolProps, listed: &Shared<LinkedTable>, save_all: Callback<()>) -> Html {
    let state = &props.state;
    let on_row = on((state.clone(), listed.clone()), |(state, listed), row: usize| {
        let name = name_of(listed, row);
        state.dispatch(ProfileAction::Adjust(ToolSetting::Group(name)));
    });
    let look = Some((AttrValue::from(state.link.find.clone()), on_look(state)));
    let unit = &props.run.info.outline.unit;
    let colours = colours_of(listed, state.link.grouping(), &props.run.info.colours);
    let rows = 0..listed.table.rows.len();
    let swatches: Rc<[u8]> = rows.map(|row| colours.fill_of(&name_of(listed, row).unwrap_or_default())).collect();
    let save_all = (listed.total > u64::from(MOST_GROUPS)).then_some((listed.total, save_all));
    html! { <>
        <div class="pies">{ shares(listed, unit, &colours) }{ tiles(listed, unit, &colours, &on_row) }</div>
        if let Some((total, _)) = &save_all {
            <p class="note">{ format!("The {} groups with the most time, of {} groups.", format_count(u64::from(MOST_GROUPS)), format_count(*total)) }</p>
        }
        { for listed.notes.iter().map(|note| html! { <p class="note">{ note }</p> }) }
        <LocalTable name="Groups" file="groups" table={Shared::new(listed.table.clone())} {on_row} {save_all} {swatches} sort={state.link.sort.clone()} {look} />
    </> }
}

/// Puts the sorting and the search of the table into the link.
fn on_look(state: &StateHandle<ProfileState>) -> Callback<TableLook> {
    on(state.clone(), |state, look: TableLook| {
        state.dispatch(ProfileAction::Adjust(ToolSetting::TableLook { sort: look.sort, find: look.search }));
    })
}

fn name_of(listed: &LinkedTable, row: usize) -> Option<String> {
    match listed.table.rows.get(row)?.first()? {
        Cell::Text(name) => Some(name.clone()),
        _ => None,
    }
}

/// The colours of the profile if the groups are operations; other groups get separate colours.
fn colours_of(listed: &LinkedTable, by: GroupBy, of_profile: &Colours) -> Colours {
    if matches!(by, GroupBy::Name | GroupBy::Operation | GroupBy::CategoryOrName) {
        return of_profile.clone();
    }
    let times = self_times(listed);
    Colours::distinct(times.iter().map(|(name, ns)| (name.as_str(), *ns)))
}

fn self_times(listed: &LinkedTable) -> Vec<(String, f64)> {
    let row = |row: &Vec<Cell>| match (&row[0], row[SELF_NS].number()) {
        (Cell::Text(name), Some(ns)) => Some((name.clone(), ns)),
        _ => None,
    };
    listed.table.rows.iter().filter_map(row).collect()
}

fn shares(listed: &LinkedTable, unit: &Unit, colours: &Colours) -> Html {
    let pie = Pie::new(self_times(listed)).coloured(colours);
    let title = match unit {
        Unit::Ns => "Self time by group".to_owned(),
        Unit::Counted(what) | Unit::Millionths(what, _) => format!("Own {what} by group"),
    };
    html! { <PieChart {title} {pie} unit={unit.name().to_owned()} /> }
}

/// The same shares as areas; pressing one shows that group.
fn tiles(listed: &Shared<LinkedTable>, unit: &Unit, colours: &Colours, on_row: &Callback<usize>) -> Html {
    let on_choose = on((listed.clone(), on_row.clone()), |(listed, on_row), name: String| {
        let of_name = |row: &Vec<Cell>| row.first() == Some(&Cell::Text(name.clone()));
        if let Some(row) = listed.table.rows.iter().position(of_name) {
            on_row.emit(row);
        }
    });
    treemap_chart(self_times(listed), unit, colours, &on_choose)
}

/// One group: the distribution of its durations, and links to its slices.
fn group_panel(
    props: &ToolProps,
    name: &str,
    longest: Option<SliceLink>,
    spread: Option<AnalysisAnswer>,
    members: MembersOf,
) -> Html {
    let state = &props.state;
    let to_longest = longest.map(|link| {
        let onclick = on(state.clone(), move |state, _: MouseEvent| state.dispatch(ProfileAction::Jump(link.clone())));
        html! { <button type="button" {onclick}>{ "Show the longest" }</button> }
    });
    let highlight = {
        // The rows of engines are chosen by their tracks, on any level.
        let level = if members.of.tracks.is_some() { Some(ALL_LEVELS.to_owned()) } else { members.of.level.clone() };
        let kind = GroupKind { by: members.by, level };
        let (state, name) = (state.clone(), name.to_owned());
        Callback::from(move |_: MouseEvent| state.dispatch(ProfileAction::Highlight(kind.clone(), name.clone())))
    };
    // An interrupted operation has more slices than occurrences.
    let count = spread.as_ref().and_then(|answer| match answer.as_deref() {
        Ok(Answer::Histogram(h)) => Some(h.count),
        _ => None,
    });
    let chart = match spread {
        None => waiting(None),
        Some(Err(message)) => waiting(Some(&message)),
        Some(Ok(answer)) => match &*answer {
            Answer::Histogram(h) => histogram(h, &props.run.info.outline.unit),
            _ => Html::default(),
        },
    };
    html! {
        <section class="panel chosen-group" aria-label="Selected group">
            <h3 id="chosen-group" tabindex="-1" title={name.to_owned()}>{ short_name(name).into_owned() }</h3>
            { chart }
            <div class="buttons">{ for to_longest }<button type="button" onclick={highlight}>{ "Highlight on the timeline" }</button></div>
            <details class="members-list">
                <summary>{ members_title(count) }</summary>
                <PagedTable
                    name="Slices of the group" file="slices" noun="slices" what={Listing::Members(members)}
                    run={props.run.clone()} state={state.clone()} longest_first={true} page_rows={MOST_MEMBERS}
                />
            </details>
        </section>
    }
}

fn members_title(count: Option<u64>) -> String {
    count.map_or_else(|| "Its slices".to_owned(), |n| format!("Its {}", format_plural(n, "slice")))
}

/// Bars from short to long durations, with their values as a table.
fn histogram(h: &Histogram, unit: &Unit) -> Html {
    let most = h.bins.iter().map(|b| b.count).max().unwrap_or(0).max(1);
    let bar = |b: &ns_analysis::histogram::Bin| {
        let what = format!("{} to {}: {} slices", unit.text(b.from_ns), unit.text(b.to_ns), format_count(b.count));
        let height = format!("height:{:.2}%", u64_to_f64(b.count) * 100.0 / u64_to_f64(most));
        html! { <li title={what.clone()}><span class="visually-hidden">{ what }</span><span class="column" aria-hidden="true" style={height}></span></li> }
    };
    let half = h.percentiles.as_ref().map(|p| {
        format!(
            "; 50 % last at most {}, 99 % at most {}",
            unit.text(f64_to_i64(p.p50_ns)),
            unit.text(f64_to_i64(p.p99_ns))
        )
    });
    let ends = h.bins.first().zip(h.bins.last()).map(|(a, z)| (unit.text(a.from_ns), unit.text(z.to_ns)));
    html! {
        <figure class="histogram">
            <figcaption>{ format!("Durations of {}{}", format_plural(h.count, "slice"), half.unwrap_or_default()) }</figcaption>
            // A single column has no information.
            if let (Some((from, to)), true) = (ends, h.bins.len() > 1) {
                <ul>{ for h.bins.iter().map(bar) }</ul>
                <p class="lanes-axis"><span>{ from }</span><span>{ format!("the highest column: {} slices", format_count(most)) }</span><span>{ to }</span></p>
            }
        </figure>
    }
}
