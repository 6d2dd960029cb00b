//! A document: its parts one below the other.

use yew::prelude::*;

use super::overview_blocks;
use super::screen_texts::{ScreenText, use_screen_text};
use super::{BarChart, HeatMapChart, LanesChart, LineChart, LocalTable, PieChart, RooflineChart, ScatterPlot};
use ns_page::Shared;
use ns_view::document::{Block, Document, Figure, Finding, Plot, Source, Tile, Tone};

/// Properties of [`DocumentView`].
#[derive(Properties, PartialEq)]
pub struct DocumentViewProps {
    pub document: Shared<Document>,
    /// Receives the target of a chosen row or point, as the document names it.
    #[prop_or_default]
    pub on_open: Option<Callback<String>>,
}

/// The parts of the document.
#[component]
pub fn DocumentView(props: &DocumentViewProps) -> Html {
    use_screen_text(ScreenText::Document(props.document.clone()));
    html! {
        <section class="results document" aria-label={props.document.title.clone()}>
            <h2>{ &props.document.title }</h2>
            { for props.document.blocks.iter().map(|part| block(part, props.on_open.as_ref())) }
        </section>
    }
}

fn block(block: &Block, on_open: Option<&Callback<String>>) -> Html {
    match block {
        Block::Heading(text) => html! { <h3>{ text }</h3> },
        Block::Text(text) => html! { <p>{ text }</p> },
        Block::Finding(finding) => finding_panel(finding),
        Block::Tiles(tiles) => html! { <dl class="tiles">{ for tiles.iter().map(tile) }</dl> },
        Block::Table { title, file, table } => {
            let searchable = table.rows.len() > 8;
            html! {
                <div class="panel">
                    <LocalTable key={title.clone()} name={title.clone()} file={file.clone()} table={Shared::new(table.clone())} {searchable} />
                </div>
            }
        }
        Block::Plot(one) => figure(one, None),
        Block::Plots(all) => html! { <div class="plots">{ for all.iter().map(|one| figure(one, None)) }</div> },
        Block::Source(text) => source(text),
        Block::Beside(parts) => html! {
            <div class="beside">{ for parts.iter().map(|part| html! {
                <section aria-label={(!part.title.is_empty()).then(|| part.title.clone())}>
                    if !part.title.is_empty() { <h3>{ &part.title }</h3> }
                    { for part.blocks.iter().map(|b| self::block(b, on_open)) }</section>
            }) }</div>
        },
        Block::Command(text) => html! { <pre class="panel command" tabindex="0" aria-label="Command">{ text }</pre> },
        Block::Rows { title, file, table, targets } => {
            let searchable = table.rows.len() > 8;
            let on_row = on_open.map(|open| opener(open, targets));
            html! {
                <div class="panel">
                    <LocalTable key={title.clone()} name={title.clone()} file={file.clone()} table={Shared::new(table.clone())} {searchable} {on_row} cuts_texts={true} />
                </div>
            }
        }
        Block::Shares(parts) => overview_blocks::shares(parts, on_open),
        Block::Columns(columns) => overview_blocks::columns(columns, on_open),
        Block::Ranked { all, note } => overview_blocks::ranked(all, note, on_open),
        Block::Points { figure: Figure { title, note, plot: Plot::HeatMap(plot) }, targets } => html! {
            <div class="panel plot">
                <HeatMapChart title={title.clone()} plot={plot.clone()} targets={targets.clone()} on_open={on_open.cloned()} />
                if !note.is_empty() { <p class="note">{ note }</p> }
            </div>
        },
        Block::Points { figure, targets } => {
            let open = on_open.map(|open| {
                let (open, targets) = (open.clone(), targets.clone());
                Callback::from(move |(line, point): (usize, usize)| {
                    if let Some(target) = targets.get(line).and_then(|l| l.get(point)).filter(|t| !t.is_empty()) {
                        open.emit(target.clone());
                    }
                })
            });
            self::figure(figure, open)
        }
    }
}

/// Opens the target of a row.
fn opener(open: &Callback<String>, targets: &[String]) -> Callback<usize> {
    let (open, targets) = (open.clone(), targets.to_vec());
    Callback::from(move |row: usize| {
        if let Some(target) = targets.get(row).filter(|t| !t.is_empty()) {
            open.emit(target.clone());
        }
    })
}

const fn class_of(tone: Tone) -> Option<&'static str> {
    match tone {
        Tone::Neutral => None,
        Tone::Good => Some("good"),
        Tone::Warning => Some("warning"),
        Tone::Bad => Some("bad"),
    }
}

fn finding_panel(finding: &Finding) -> Html {
    html! {
        <p class={classes!("panel", "finding", class_of(finding.tone))}>
            <strong>{ &finding.title }</strong>{ " " }{ &finding.text }
        </p>
    }
}

fn tile(tile: &Tile) -> Html {
    let gauge = tile.share.map(|share| {
        let width = format!("width:{:.1}%", share.clamp(0.0, 1.0) * 100.0);
        html! { <span class="gauge" aria-hidden="true"><span style={width}></span></span> }
    });
    let is_long = tile.has_long_value();
    html! {
        <div class={classes!("tile", class_of(tile.tone))}>
            <dt>{ &tile.name }</dt>
            <dd><strong class={classes!(is_long.then_some("is-long"))} title={is_long.then(|| tile.value.clone())}>{ &tile.value }</strong>{ for gauge }<span class="sub" title={tile.note.clone()}>{ &tile.note }</span></dd>
        </div>
    }
}

fn figure(figure: &Figure, on_point: Option<Callback<(usize, usize)>>) -> Html {
    let title: AttrValue = figure.title.clone().into();
    let drawn = match &figure.plot {
        Plot::Lines(plot) => html! { <LineChart {title} plot={plot.clone()} note={AttrValue::default()} {on_point} /> },
        Plot::Bars(plot, unit) => html! { <BarChart {title} plot={plot.clone()} unit={unit.clone()} /> },
        Plot::Pie(pie, unit) => html! { <PieChart {title} pie={pie.clone()} unit={unit.clone()} /> },
        Plot::Scatter(plot) => {
            let on_point = on_point.map(|open| open.reform(|point: usize| (0, point)));
            html! { <ScatterPlot {title} plot={plot.clone()} {on_point} /> }
        }
        Plot::Lanes(plot) => html! { <LanesChart {title} plot={plot.clone()} /> },
        Plot::Roofline(plot) => html! { <RooflineChart plot={plot.clone()} /> },
        Plot::HeatMap(plot) => html! { <HeatMapChart {title} plot={plot.clone()} /> },
    };
    html! {
        <div class="panel plot">
            { drawn }
            if !figure.note.is_empty() { <p class="help">{ &figure.note }</p> }
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
