//! Flame graphs: the stacks of all threads together or of each thread, one thread in order of time, and callers and callees
//! of a name.

use yew::prelude::*;

use super::{ToolProps, instances_switch, level_select, range_of, slice_filter, waiting};
use crate::components::{LocalTable, SelectField, TextField, on};
use crate::pages::profile::operators::range_switch;
use crate::pages::profile::queries::{AnalysisAnswer, use_analysis, use_listing};
use crate::state::{ProfileAction, ProfileState, StateHandle};
use ns_analysis::Instances;
use ns_analysis::flame::FlameGraph;
use ns_analysis::opcode::short_name;
use ns_base::units::{format_count, format_plural};
use ns_base::{Interval, TraceNs};
use ns_page::Shared;
use ns_page::profile::ToolSetting;
use ns_profile::Unit;
use ns_profile::levels::ALL_LEVELS;
use ns_session::share::{FlameLink, FlameView};
use ns_session::{Answer, GroupsOf, Listing, Question, Rows, SliceFilter};
use ns_view::colours::Colours;
use ns_view::flame::{FlameLayout, FlameRect, Growth, InOrderLayout};
use ns_view::palette::{fill_var, on_fill_var};
use ns_view::table::{Cell, Sort, Table};
use ns_view::timeline::{Section, Track, TrackId, TrackKind};

/// The most rows that are as high as two lines of text.
const MOST_TALL_ROWS: u16 = 14;
/// The most nodes that are asked for, and the smallest share of the width that is drawn.
const MOST_NODES: u32 = 900;
/// The most names in the list beside a sandwich.
const MOST_NAMES: u32 = 2_000;
/// The most slices of a thread in order of time.
const MOST_IN_ORDER: u32 = 1_500;
const LEAST_PERCENT: f64 = 0.15;

#[component]
pub fn FlameTool(props: &ToolProps) -> Html {
    let FlameLink { view, stack, name, .. } = &props.state.link.flame;
    let question = question(&props.state.link.flame, slice_filter(&props.state), props.state.link.instances);
    let has_question = question.is_some();
    let answer = use_analysis(&props.run, question);
    let choose = on(props.state.clone(), |state, text: String| {
        let view = FlameView::from_name(&text).unwrap_or_default();
        state.dispatch(ProfileAction::Adjust(ToolSetting::FlameView(view)));
    });
    let options = FlameView::ALL.map(|view| (AttrValue::from(view.name()), AttrValue::from(view.name()))).to_vec();
    let on_zoom = on(props.state.clone(), |state, path: Vec<String>| {
        state.dispatch(ProfileAction::Adjust(ToolSetting::FlameZoom(path)));
    });
    let content = match &answer {
        None if !has_question => {
            html! { <p class="empty">{ "Choose a name from the list." }</p> }
        }
        None => waiting(None),
        Some(Err(message)) => waiting(Some(message)),
        Some(Ok(answer)) => answer_view(props, answer, &on_zoom),
    };
    let reset = on_zoom.reform(|_: MouseEvent| Vec::new());
    let on_edit = on(props.state.clone(), |state, text: String| {
        state.dispatch(ProfileAction::Adjust(ToolSetting::FlameName(text)))
    });
    html! {
        <>
            { range_switch(&props.state, html! { <>
                { level_select(&props.run, &props.state) }
                <SelectField id="flame-shape" label="View" value={view.name()} {options} on_choose={choose} />
                if *view != FlameView::ByTime { { instances_switch(&props.run, &props.state) } }
                if *view == FlameView::ByTime {
                    { thread_field(props, &answer) }
                } else if *view == FlameView::Sandwich {
                    <TextField id="flame-name" label="Name" value={name.clone()} {on_edit} />
                } else {
                    <button type="button" onclick={reset} disabled={stack.is_empty()}>{ "Show everything" }</button>
                }
            </> }) }
            if *view == FlameView::Sandwich {
                <div class="sandwich"><NameList run={props.run.clone()} state={props.state.clone()} /><section class="panel" aria-label="Flame graph">{ content }</section></div>
            } else {
                <section class="panel is-whole" aria-label="Flame graph">
                    { content }
                    if leaves_out_profiler(props) { <p class="note">{ format!("The rows of the profiler itself are left out; the level \u{201c}{PROFILER}\u{201d} has them.") }</p> }
                </section>
            }
        </>
    }
}

/// Level of the profiler's own slices.
const PROFILER: &str = "profiler";

/// Whether the stacks of all levels are shown, without the profiler's own.
fn leaves_out_profiler(props: &ToolProps) -> bool {
    let has_profiler = props.run.info.levels.iter().any(|level| level.name == PROFILER);
    let is_by_time = props.state.link.flame.view == FlameView::ByTime;
    has_profiler && !is_by_time && props.state.level().is_some_and(|level| level == ALL_LEVELS)
}

/// All names with their time; pressing one shows its callers and callees.
#[component]
fn NameList(props: &ToolProps) -> Html {
    let by = props.state.link.instances.group_by();
    let of = GroupsOf { by, level: props.state.level(), range: range_of(&props.state), tracks: None };
    let answer = use_listing(&props.run, Some(Listing::Groups(of)), Rows { skip: 0, limit: MOST_NAMES });
    let content = match answer {
        None => waiting(None),
        Some(Err(pending)) => waiting(Some(&pending)),
        Some(Ok(listed)) => {
            let table = Shared::new(names_of(&listed.table));
            let on_row = on((props.state.clone(), table.clone()), |(state, rows), row: usize| {
                if let Some(Cell::Text(name)) = rows.rows.get(row).and_then(|cells| cells.first()) {
                    state.dispatch(ProfileAction::Adjust(ToolSetting::FlameName(name.clone())));
                }
            });
            html! { <LocalTable name="Names" file="names" {table} {on_row} sort={Sort { column: "self_ns".to_owned(), descending: true }} /> }
        }
    };
    html! { <section class="panel" aria-label="Names">{ content }</section> }
}

/// The columns of a list of groups that fit beside a picture.
fn names_of(groups: &Table) -> Table {
    let kept: Vec<usize> = (0..groups.columns.len())
        .filter(|i| *i == 0 || matches!(groups.columns[*i].id.as_str(), "self_ns" | "total_ns"))
        .collect();
    Table {
        columns: kept.iter().map(|i| groups.columns[*i].clone()).collect(),
        rows: groups.rows.iter().map(|row| kept.iter().map(|i| row[*i].clone()).collect()).collect(),
    }
}

/// The question to the worker; `None` while a sandwich has no name.
fn question(
    FlameLink { view, stack, name, thread }: &FlameLink,
    of: SliceFilter,
    instances: Instances,
) -> Option<Question> {
    match view {
        FlameView::Sandwich if name.trim().is_empty() => None,
        FlameView::Sandwich => Some(Question::Sandwich { of, name: name.clone(), instances, limit: MOST_NODES / 2 }),
        FlameView::ByTime => {
            Some(Question::InOrder { of: SliceFilter { tracks: thread.map(|t| vec![t]), ..of }, limit: MOST_IN_ORDER })
        }
        FlameView::LeftHeavy | FlameView::ByThread | FlameView::Inverted => {
            let (by_thread, is_inverted) = (*view == FlameView::ByThread, *view == FlameView::Inverted);
            Some(Question::Flame { of, by_thread, is_inverted, instances, from: stack.clone(), limit: MOST_NODES })
        }
    }
}

/// The answer of the worker, as a picture.
fn answer_view(props: &ToolProps, answer: &Shared<Answer>, on_zoom: &Callback<Vec<String>>) -> Html {
    let (unit, colours) = (&props.run.info.outline.unit, &props.run.info.colours);
    let looks = (unit, colours);
    match &**answer {
        Answer::Flame(graph) => graph_view("Stacks", graph, Growth::Down, looks, on_zoom),
        Answer::InOrder(found) => {
            html! { <InOrderView unit={unit.clone()} colours={colours.clone()} found={answer.clone()} range={slice_filter(&props.state).range} state={props.state.clone()} key={found.slices.len()} /> }
        }
        Answer::Sandwich(s) => html! { <>
            <p class="note" role="status">{ format!("{}: {}, total {}, self {}", s.name, format_plural(s.count, "slice"), unit.text(s.total_ns), unit.text(s.self_ns)) }</p>
            { graph_view("Callers", &s.callers, Growth::Up, looks, on_zoom) }
            { graph_view("Callees", &s.callees, Growth::Down, looks, on_zoom) }
        </> },
        _ => Html::default(),
    }
}

/// A field that chooses the thread shown in order of time.
fn thread_field(props: &ToolProps, answer: &Option<AnalysisAnswer>) -> Html {
    let outline = &props.run.info.outline;
    let of_slices = |t: &&Track| matches!(t.kind, TrackKind::Slices { .. });
    let tracks = outline.sections.iter().flat_map(|s| s.tracks.iter().filter(of_slices).map(move |t| (s, t)));
    let name = |s: &Section, t: &Track| {
        if t.name.is_empty() { s.name.clone() } else { format!("{} / {}", s.name, t.name) }
    };
    let options: Vec<(AttrValue, AttrValue)> =
        tracks.map(|(s, t)| (t.id.0.to_string().into(), name(s, t).into())).collect();
    let drawn = match answer {
        Some(Ok(answer)) => match &**answer {
            Answer::InOrder(found) => found.track,
            _ => None,
        },
        _ => None,
    };
    let value = props.state.link.flame.thread.or(drawn).map(|t| t.0.to_string()).unwrap_or_default();
    let on_choose = on(props.state.clone(), |state, text: String| {
        let thread = text.parse().ok().map(TrackId);
        state.dispatch(ProfileAction::Adjust(ToolSetting::FlameThread(thread)));
    });
    html! { <SelectField id="flame-thread" label="Thread" {value} {options} {on_choose} /> }
}

#[derive(Properties, PartialEq)]
struct InOrderViewProps {
    unit: Unit,
    colours: Colours,
    found: Shared<Answer>,
    range: Option<Interval<TraceNs>>,
    state: StateHandle<ProfileState>,
}

/// One thread in order of time: each slice is a button, which shows the slice on the timeline.
#[component]
fn InOrderView(props: &InOrderViewProps) -> Html {
    let Answer::InOrder(found) = &*props.found else { return Html::default() };
    let layout = use_memo((props.found.clone(), props.range), |(found, range)| match &**found {
        Answer::InOrder(f) => {
            InOrderLayout::new(&f.slices, range.map(|r| (r.start.0, r.end.0)), 100.0, LEAST_PERCENT / 2.0)
        }
        _ => InOrderLayout::default(),
    });
    if layout.rects.is_empty() {
        return html! { <p class="empty">{ "This thread has no slice here." }</p> };
    }
    let node = |r: &FlameRect| {
        let slice = &found.slices[r.node as usize];
        let duration = i64::try_from(slice.duration_ns).unwrap_or(i64::MAX);
        let what = format!("{}: {} at {}", slice.title, props.unit.text(duration), props.unit.place(slice.start_ns));
        let (state, link) = (props.state.clone(), slice.clone());
        let onclick = Callback::from(move |_: MouseEvent| state.dispatch(ProfileAction::Jump(link.clone())));
        html! { <button type="button" {onclick} style={style_of(r, &slice.title, &props.colours)} title={what.clone()} aria-label={what}><span>{ short_name(&slice.title).into_owned() }</span></button> }
    };
    let left_out = found.omitted + layout.narrow;
    html! {
        <figure class={classes!("in-order", look_of(layout.rows))} style={format!("--rows:{}", layout.rows)}>
            <figcaption>{ "Slices by time; press one to see it on the timeline" }</figcaption>
            <div>{ for layout.rects.iter().map(node) }</div>
            <p class="lanes-axis"><span>{ props.unit.place(layout.start_ns) }</span><span>{ props.unit.place(layout.end_ns) }</span></p>
            if left_out > 0 { <p class="note">{ format!("{} shorter slices are left out.", format_count(left_out)) }</p> }
        </figure>
    }
}

/// Few rows are high, so that the picture has the height of the window and names two lines.
fn look_of(rows: u16) -> Classes {
    classes!("flame", (rows <= MOST_TALL_ROWS).then_some("is-tall"))
}

/// Style of a rectangle: its place in percent, and the colour of its name.
fn style_of(r: &FlameRect, name: &str, colours: &Colours) -> String {
    let fill = colours.fill_of(name);
    format!(
        "left:{:.4}%;width:{:.4}%;--at:{};background:{};color:{}",
        r.x,
        r.width,
        r.row,
        fill_var(fill),
        on_fill_var(fill)
    )
}

/// Names from the outermost to a node.
fn path_to(graph: &FlameGraph, node: usize) -> Vec<String> {
    let mut names = Vec::new();
    let mut at = node;
    while at != 0 {
        names.push(graph.nodes[at].name.clone());
        at = graph.nodes[at].parent as usize;
    }
    names.extend(graph.nodes.first().map(|n| n.name.clone()).filter(|n| !n.is_empty()));
    names.extend(graph.around.iter().rev().cloned());
    names.reverse();
    names
}

/// Each node is a button, as wide as its time, in the row of its depth.
fn graph_view(
    title: &'static str,
    graph: &FlameGraph,
    growth: Growth,
    (unit, colours): (&Unit, &Colours),
    on_zoom: &Callback<Vec<String>>,
) -> Html {
    let layout = FlameLayout::new(graph, 100.0, LEAST_PERCENT, growth);
    let node = |r: &ns_view::flame::FlameRect| {
        let n = &graph.nodes[r.node as usize];
        let name = if n.name.is_empty() { "everything" } else { n.name.as_str() };
        let path = path_to(graph, r.node as usize);
        let onclick = on_zoom.reform(move |_: MouseEvent| path.clone());
        let times = format!("total {}, self {}", unit.text(n.total_ns), unit.text(n.self_ns));
        // The frame around all stacks is not a slice.
        let what = match n.count {
            0 => format!("{name}: {times}"),
            1 => format!("{name}: 1 slice, {times}"),
            count => format!("{name}: {} slices, {times}", format_count(count)),
        };
        html! { <button type="button" {onclick} style={style_of(r, &n.name, colours)} title={what.clone()} aria-label={what}><span>{ short_name(name).into_owned() }</span></button> }
    };
    html! {
        <figure class={look_of(layout.rows)} style={format!("--rows:{}", layout.rows)}>
            <figcaption>{ title }</figcaption>
            <div>{ for layout.rects.iter().map(node) }</div>
            if graph.omitted > 0 { <p class="note">{ format!("{} nodes with less time are left out.", format_count(graph.omitted)) }</p> }
        </figure>
    }
}
