//! The results, the figures that matter most first. The filter applies to everything here.

use crate::state::StateHandle;
use std::rc::Rc;

use yew::prelude::*;

use super::charts::ConfigurationCharts;
use super::chosen::ChosenRow;
use super::finder::RowFinder;
use super::limiter::LimiterLine;
use super::model_card::ModelCard;
use super::table::{ResultsTable, profile_link};
use super::tiles::{tiles, verdict};
use crate::components::{AnyChart, Later, PlotChart, bar_chart, on};
use crate::platform::page;
use ns_bench::{Report, sharing};
use ns_page::bench::{BenchAction, BenchState, ResultRow, RowId, Tiles};
use ns_session::results::{
    BatchLines, Filter, ModelRuns, Requirements, cost_latency, scaling, throughput_by_configuration, throughput_latency,
};
use ns_view::plot::{Scatter, Spot};

#[derive(Properties, PartialEq)]
pub struct BenchResultsProps {
    /// The state of the page.
    pub state: StateHandle<BenchState>,
}

/// The results, or how to get some.
#[component]
pub fn BenchResults(props: &BenchResultsProps) -> Html {
    let state = &props.state;
    if state.refusal().is_some() {
        return Html::default();
    }
    if state.rows.is_empty() && (!state.is_for_results() || state.config().0.mlperf.is_some()) {
        if is_awaited(state) || !state.scenario.is_empty() {
            return Html::default();
        }
        return html! {
            <section class="panel empty-state" aria-label="How to begin">
                <h2>{ "No results yet" }</h2>
                <p>{ "Press Run: each configuration becomes a row with its throughput, its latency and its price. The unchanged form has the four that NeuronPerf runs by default." }</p>
                <p>{ "Have results of NeuronPerf (CSV, JSON), a trace or a profile already? Drop the file anywhere on this page." }</p>
            </section>
        };
    }
    // The room that is reserved for rows is not seen behind the page's example.
    if !state.has_place_for_results() || (state.rows.is_empty() && page::is_behind_example()) {
        return Html::default();
    }
    html! { <Rows state={state.clone()} /> }
}

/// Whether room is reserved for the results of a run, so that nothing moves when they arrive.
fn is_awaited(state: &BenchState) -> bool {
    state.run.is_running() || state.wants_run
}

/// The rows, with all that is said about them.
#[component]
fn Rows(props: &BenchResultsProps) -> Html {
    let state = &props.state;
    let (filter, _) = Filter::parse(&state.filter);
    let rows = use_memo((state.rows.clone(), filter), |(rows, filter)| {
        rows.iter().filter(|r| filter.accepts(&r.cells)).cloned().collect::<Rc<[ResultRow]>>()
    });
    let (wanted, _) = Requirements::read(&state.wanted);
    let reports: Vec<&Report> = rows.iter().map(ResultRow::report).collect();
    let answer = wanted.find(&reports);
    let best = answer.best.and_then(|i| rows.get(i)).map(|row| row.id);
    let is_awaited = is_awaited(state);
    let choice = {
        let (state, rows) = (state.clone(), (*rows).clone());
        Callback::from(
            move |()| html! { <Choice state={state.clone()} rows={rows.clone()} {wanted} {best} {is_awaited} /> },
        )
    };
    let figures = use_memo((state.rows.clone(), state.filter.clone(), wanted, is_awaited), |_| {
        let best = Tiles::of(&rows, wanted);
        (tiles(&best, is_awaited), verdict(&best, is_awaited))
    });
    let comparison = on(
        (state.clone(), (*rows).clone()),
        move |(state, rows), ()| html! { <Comparison state={state.clone()} rows={rows.clone()} {best} {is_awaited} /> },
    );
    let table = on(
        (state.clone(), (*rows).clone()),
        move |(state, rows), ()| html! { <ResultsTable state={state.clone()} rows={rows.clone()} {best} /> },
    );
    let charts = on(state.clone(), |state, ()| html! { <ConfigurationCharts state={state.clone()} /> });
    html! {
        <section class={classes!("results", state.is_stale().then_some("is-stale"))} data-request={state.request()} aria-labelledby="results-title">
            <h2 id="results-title" class="visually-hidden">{ "Results" }</h2>
            { imported(state) }
            if let Some(ran) = &state.ran {
                <ModelCard model={ran.model.clone()} runs={ModelRuns::of(&reports)} found={wanted.describe(&reports, answer)} profile={best.and_then(|best| profile_link(state, best))} />
            }
            { figures.0.clone() }
            <LimiterLine of={limited(state, best, is_awaited)} />
            <Later draw={choice} />
            <RowFinder state={state.clone()} found={wanted.describe(&reports, answer)} />
            { figures.1.clone() }
            <Later draw={table} />
            if !is_awaited || !state.rows.is_empty() {
                <Later draw={comparison} />
                <Later draw={charts} />
            }
        </section>
    }
}

/// The model, the instance and the batch size of the best row, once all rows are there.
fn limited(state: &BenchState, best: Option<RowId>, is_awaited: bool) -> Option<(AttrValue, AttrValue, u32)> {
    let RowId::Own(row) = best.filter(|_| !is_awaited)? else { return None };
    let rows = state.sweep.as_ref()?.sweep();
    let configuration = &rows.rows().get(row as usize)?.planned.configuration;
    let is_whole = configuration.pipeline_size == 1;
    is_whole.then(|| {
        let (model, instance) = (configuration.model.clone(), configuration.instance_type.clone());
        (model.into(), instance.into(), configuration.batch_size)
    })
}

/// Says which rows were imported rather than run on this page.
fn imported(state: &StateHandle<BenchState>) -> Html {
    let rows = state.rows.iter().filter(|r| matches!(r.id, RowId::Imported(_)));
    let mut files: Vec<String> = rows.clone().filter_map(|r| r.report().machine.clone()).collect();
    files.dedup();
    let count = rows.count();
    if count == 0 {
        return Html::default();
    }
    let onclick = on(state.dispatcher(), |dispatch, _: MouseEvent| dispatch.dispatch(BenchAction::DropImported));
    html! {
        <p class="panel imported">
            { format!("{count} {} imported from {}. ", if count == 1 { "row was" } else { "rows were" }, files.join(", ")) }
            <button type="button" {onclick}>{ "Remove imported rows" }</button>
        </p>
    }
}

#[derive(Properties, PartialEq)]
struct ChoiceProps {
    /// The state of the page, which has the chosen row.
    state: StateHandle<BenchState>,
    /// The rows that the filter lets through.
    rows: Rc<[ResultRow]>,
    /// The limits, and the goal within them.
    wanted: Requirements,
    /// The best row, which is marked if none is chosen.
    best: Option<RowId>,
    /// Whether more rows come.
    is_awaited: bool,
}

/// The plots that decide, drawn anew for other rows, limits or a choice only.
#[component]
fn Choice(props: &ChoiceProps) -> Html {
    let ChoiceProps { state, rows, wanted, best, is_awaited } = props;
    let with_copies = use_state_eq(|| false);
    let keys = (rows.clone(), *wanted, state.selected, *best, *is_awaited, *with_copies);
    (*use_memo(keys, |_| choice(props, &with_copies))).clone()
}

/// The plots that decide: the cost over the latency, and the cost or the throughput over the batch size. A click on a mark chooses its row, whose
/// figures stand below them.
fn choice(props: &ChoiceProps, with_copies: &UseStateHandle<bool>) -> Html {
    let ChoiceProps { state, rows, wanted, best, is_awaited } = props;
    let (best, is_awaited) = (*best, *is_awaited);
    let finished = Finished::of(rows);
    let reports = finished.reports();
    let (plot, of) = cost_latency(&reports, wanted);
    let lines = BatchLines::of(&reports, finished.position(best), **with_copies);
    if plot.points.is_empty() && lines.is_none() {
        let class = classes!("panel", "plots", "is-awaited");
        return if is_awaited {
            html! { <div {class}><p class="empty">{ "Plots come with the first row." }</p></div> }
        } else {
            Html::default()
        };
    }
    let at = |id: Option<RowId>| of.iter().position(|i| finished.position(id) == Some(*i));
    let chosen = at(state.selected).map(|point| (point, CHOSEN)).or_else(|| at(best).map(|point| (point, BEST)));
    let chosen = chosen.and_then(|(point, what)| ring(&plot, point, what));
    let select = finished.select(state);
    let on_point = on((select.clone(), of.clone()), |(select, of), (_, point): Spot| {
        of.get(point).into_iter().for_each(|i| select.emit(*i));
    });
    html! {
        <div class="panel plots choice">
            if !plot.points.is_empty() { <PlotChart title="Cost over latency" plot={AnyChart::from(plot)} {chosen} {on_point} /> }
            if let Some(lines) = lines { { by_batch(lines, finished.position(state.selected), select, with_copies) } } else { { over_latency(&finished, best, select) } }
            <ChosenRow state={state.clone()} />
        </div>
    }
}

/// The lines over the batch size, and the choice between one for each instance and one for each number of models on it.
fn by_batch(
    lines: BatchLines,
    selected: Option<usize>,
    select: Callback<usize>,
    with_copies: &UseStateHandle<bool>,
) -> Html {
    let place = selected.and_then(|i| lines.place_of(i)).map(|place| (place, AttrValue::Static(CHOSEN)));
    let BatchLines { title, plot, of, best, has_copies } = lines;
    let chosen = place.or_else(|| best.map(|place| (place, AttrValue::Static(BEST))));
    let on_point = on((select, of), |(select, of), (line, point): Spot| {
        of.get(line).and_then(|line| line.get(point)).into_iter().for_each(|i| select.emit(*i));
    });
    let onchange = on(with_copies.clone(), |with_copies, _: Event| with_copies.set(!**with_copies));
    html! {
        <div class="by-batch">
            <PlotChart {title} plot={AnyChart::from(plot)} {chosen} {on_point} note="Point at a mark, or press an arrow key, for its values." />
            if has_copies { <label class="check"><input type="checkbox" checked={**with_copies} {onchange} /><span>{ "A line for each number of models" }</span></label> }
        </div>
    }
}

/// The meanings of the ring.
const CHOSEN: &str = "the chosen row";
const BEST: &str = "best within the limits";

/// The ring around a point, and its meaning.
fn ring(plot: &Scatter, point: usize, what: &'static str) -> Option<((f64, f64), AttrValue)> {
    plot.points.get(point).map(|p| ((p.x, p.y), AttrValue::Static(what)))
}

/// The rows that have figures.
struct Finished<'a>(Vec<&'a ResultRow>);

impl<'a> Finished<'a> {
    fn of(rows: &'a [ResultRow]) -> Self {
        Self(rows.iter().filter(|r| r.report().is_finished()).collect())
    }

    fn reports(&self) -> Vec<&'a Report> {
        self.0.iter().map(|r| r.report()).collect()
    }

    fn position(&self, id: Option<RowId>) -> Option<usize> {
        self.0.iter().position(|r| Some(r.id) == id)
    }

    /// Chooses the row at a position.
    fn select(&self, state: &StateHandle<BenchState>) -> Callback<usize> {
        let ids: Vec<RowId> = self.0.iter().map(|r| r.id).collect();
        on((state.dispatcher(), ids), |(dispatch, ids), i: usize| {
            ids.get(i).into_iter().for_each(|id| dispatch.dispatch(BenchAction::Select(*id)));
        })
    }
}

#[derive(Properties, PartialEq)]
struct ComparisonProps {
    /// The state of the page, for the choice of a row.
    state: StateHandle<BenchState>,
    /// The rows that the filter lets through.
    rows: Rc<[ResultRow]>,
    /// The best one, which is marked.
    best: Option<RowId>,
    /// Whether more rows come.
    is_awaited: bool,
}

/// Plots of the rows, drawn anew for other rows or a choice only.
#[component]
fn Comparison(props: &ComparisonProps) -> Html {
    let keys = (props.rows.clone(), props.state.selected, props.best, props.is_awaited);
    (*use_memo(keys, |_| comparison(props))).clone()
}

fn comparison(props: &ComparisonProps) -> Html {
    let finished = Finished::of(&props.rows);
    let reports = finished.reports();
    let select = finished.select(&props.state);
    let is_empty = throughput_latency(&reports).0.points.is_empty();
    if is_empty && props.is_awaited {
        return Html::default();
    }
    if is_empty {
        return html! { <div class="panel plots"><p class="empty">{ "No configuration that is shown has finished, so there is nothing to plot." }</p></div> };
    }
    let (bars, all) = throughput_by_configuration(&reports);
    let title = match all.len() - bars.bars.len() {
        0 => "Throughput by configuration".to_owned(),
        _ => format!("Throughput by configuration: the {} fastest of {}", bars.bars.len(), all.len()),
    };
    let on_bar = on((select.clone(), all), |(select, all), bar: usize| {
        all.get(bar).into_iter().for_each(|i| select.emit(*i));
    });
    html! { <>
        <div class="panel plots">
            if BatchLines::of(&reports, None, false).is_some() { { over_latency(&finished, props.best, select) } }
            { bar_chart(&title, "inf/s", &bars, Some(&on_bar)) }
            <ChosenRow state={props.state.clone()} />
        </div>
        { shared(&reports) }
        { scaling_plots(&reports) }
    </> }
}

/// The throughput over the latency; it stands beside the costs if there is no plot over batch sizes.
fn over_latency(finished: &Finished<'_>, best: Option<RowId>, select: Callback<usize>) -> Html {
    let (plot, of) = throughput_latency(&finished.reports());
    let chosen = of.iter().position(|i| finished.position(best) == Some(*i));
    let chosen = chosen.and_then(|point| ring(&plot, point, BEST));
    let on_point = on((select, of), |(select, of), (_, point): Spot| {
        of.get(point).into_iter().for_each(|i| select.emit(*i));
    });
    if plot.points.is_empty() {
        Html::default()
    } else {
        html! { <PlotChart title="Throughput over latency" plot={AnyChart::from(plot)} {chosen} {on_point} /> }
    }
}

/// What copies and workers share. It stands below the plots, because it comes with the rows and moves what follows it.
fn shared(reports: &[&Report]) -> Html {
    let sentences = sharing(reports.iter().copied());
    if sentences.is_empty() {
        return Html::default();
    }
    html! {
        <section class="panel sharing" aria-labelledby="sharing-title">
            <h3 id="sharing-title">{ "What copies and workers share" }</h3>
            { for sentences.into_iter().map(|sentence| html! { <p>{ sentence }</p> }) }
        </section>
    }
}

/// Small plots beside each other, with the number of lines shown and in all.
fn scaling_plots(reports: &[&Report]) -> Html {
    let Some(found) = scaling(reports.iter().copied()) else { return Html::default() };
    let left_out = if found.lines_drawn < found.all {
        format!(" {} of {} lines are shown, the fastest among them.", found.lines_drawn, found.all)
    } else {
        String::new()
    };
    html! {
        <section class="panel scaling" aria-labelledby="scaling-title">
            <h3 id="scaling-title">{ "Scaling with the number of models" }</h3>
            <p class="help">{ format!("Each line is a number of workers per model. The dashed line is linear scaling: the best throughput of one model, times the number of models.{left_out}") }</p>
            <div class="multiples">
                { for found.plots.into_iter().map(|(title, plot)| html! { <PlotChart {title} plot={AnyChart::from(plot)} /> }) }
            </div>
        </section>
    }
}
