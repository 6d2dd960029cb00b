//! The figures and listings of a document.

use yew::prelude::*;

use super::{AnyChart, LanesChart, PieChart, PlotChart, bar_chart, heat_map_chart, on};
use ns_view::document::{Block, Figure, Plot, Source};
use ns_view::plot::{Shape, to_svg};

/// Shapes of a plot as elements of a drawing. Their text is safe: [`Shape::write`] escapes it.
pub fn drawn(shapes: &[Shape]) -> Html {
    Html::from_html_unchecked(to_svg(shapes).into())
}

/// Draws a block of a [`DocumentView`](super::DocumentView) that is a figure or a listing.
pub fn drawings(block: &Block, on_open: Option<&Callback<String>>) -> Html {
    match block {
        Block::Plot(one) => figure(one, &[], None),
        Block::Plots(all) => html! { <div class="plots">{ for all.iter().map(|one| figure(one, &[], None)) }</div> },
        Block::Points { figure, targets } => self::figure(figure, targets, on_open),
        Block::Source(text) => source(text),
        _ => Html::default(),
    }
}

fn figure(figure: &Figure, targets: &[Vec<String>], on_open: Option<&Callback<String>>) -> Html {
    let title: AttrValue = figure.title.clone().into();
    let on_point = on_open.map(|open| {
        on((open.clone(), targets.to_vec()), |(open, targets), (line, point): (usize, usize)| {
            if let Some(target) = targets.get(line).and_then(|l| l.get(point)).filter(|t| !t.is_empty()) {
                open.emit(target.clone());
            }
        })
    });
    let chart = |plot: AnyChart| html! { <PlotChart title={title.clone()} {plot} {on_point} /> };
    let plot = match &figure.plot {
        Plot::Lines(plot) => chart(plot.clone().into()),
        Plot::Scatter(plot) => chart(plot.clone().into()),
        Plot::Roofline(plot) => chart(plot.clone().into()),
        Plot::Bars(plot, unit) => bar_chart(&title, unit, plot, None),
        Plot::Pie(pie, unit) => html! { <PieChart {title} pie={pie.clone()} unit={unit.clone()} /> },
        Plot::Lanes(plot) => html! { <LanesChart {title} plot={plot.clone()} /> },
        Plot::HeatMap(plot) => heat_map_chart(&title, plot, targets, on_open),
    };
    let opens = on_open.is_some() && matches!(figure.plot, Plot::Lines(_) | Plot::Scatter(_));
    html! {
        <div class="panel plot">
            { plot }
            if !figure.note.is_empty() { <p class="help">{ &figure.note }</p> }
            if opens { <p class="help">{ "Click a point, or press Enter on it, to open what it stands for." }</p> }
        </div>
    }
}

fn source(source: &Source) -> Html {
    let line = |(i, line): (usize, &ns_view::document::SourceLine)| {
        let shade = (line.share > 0.0).then(|| format!("--share:{:.1}%", line.share.clamp(0.0, 1.0) * 100.0));
        html! {
            <tr style={shade} class={classes!((!line.notes.is_empty()).then_some("has-notes"))}>
                <th scope="row">{ i + 1 }</th>
                { for line.values.iter().map(|value| html! { <td class="num">{ value }</td> }) }
                { for (line.values.len()..source.columns.len()).map(|_| html! { <td></td> }) }
                <td class="code"><code>{ &line.text }</code>{ for line.notes.iter().map(|note| html! { <span class="note">{ note }</span> }) }</td>
            </tr>
        }
    };
    html! {
        <div class="panel source-text" tabindex="0" role="region" aria-label={format!("Source: {}", source.name)}>
            <table>
                <caption>{ &source.name }</caption>
                <thead><tr><th scope="col">{ "Line" }</th>{ for source.columns.iter().map(|c| html! { <th scope="col" class="num">{ c }</th> }) }<th scope="col">{ "Source" }</th></tr></thead>
                <tbody>{ for source.lines.iter().enumerate().map(line) }</tbody>
            </table>
        </div>
    }
}
