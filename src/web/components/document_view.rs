//! A document: its parts one below the other.

use std::rc::Rc;

use yew::prelude::*;

use super::screen_texts::{ScreenText, use_screen_text};
use super::{Later, LocalTable, on, overview_blocks};
use ns_page::Shared;
use ns_view::document::{Block, Document, Finding, Tile, Tone};

#[derive(Properties, PartialEq)]
pub struct DocumentViewProps {
    pub document: Shared<Document>,
    /// Receives the target of a chosen row or point, as the document names it.
    #[prop_or_default]
    pub on_open: Option<Callback<String>>,
    /// Draws figures and listings. A document that has none needs no function, so that its program has none of the charts.
    #[prop_or_default]
    pub draw: DrawBlock,
}

/// Draws a block that is a figure or a listing; a point or cell that is chosen has a target to open.
#[derive(Clone, Copy)]
pub struct DrawBlock(pub fn(&Block, Option<&Callback<String>>) -> Html);

impl Default for DrawBlock {
    /// Draws nothing.
    fn default() -> Self {
        Self(|_, _| Html::default())
    }
}

impl PartialEq for DrawBlock {
    /// A page never changes how it draws.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// The parts of the document.
#[component]
pub fn DocumentView(props: &DocumentViewProps) -> Html {
    use_screen_text(ScreenText::Document(props.document.clone()));
    let part = |at: usize| {
        let (document, on_open, draw) = (props.document.clone(), props.on_open.clone(), props.draw);
        let part =
            move |()| document.blocks.get(at).map(|part| block(part, on_open.as_ref(), draw)).unwrap_or_default();
        html! { <Later draw={Callback::from(part)} /> }
    };
    html! {
        <section class="results document" aria-label={props.document.title.clone()}>
            <h2>{ &props.document.title }</h2>
            { for (0..props.document.blocks.len()).map(part) }
        </section>
    }
}

fn block(block: &Block, on_open: Option<&Callback<String>>, draw: DrawBlock) -> Html {
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
        Block::Plot(_) | Block::Plots(_) | Block::Points { .. } | Block::Source(_) => (draw.0)(block, on_open),
        Block::Beside(parts) => html! {
            <div class="beside">{ for parts.iter().map(|part| html! {
                <section aria-label={(!part.title.is_empty()).then(|| part.title.clone())}>
                    if !part.title.is_empty() { <h3>{ &part.title }</h3> }
                    { for part.blocks.iter().map(|b| self::block(b, on_open, draw)) }</section>
            }) }</div>
        },
        Block::Command(text) => {
            html! { <pre class="panel command" tabindex="0" aria-label={command_label(text)}>{ text }</pre> }
        }
        Block::Rows { title, file, table, targets, faint } => {
            let searchable = table.rows.len() > 8;
            let on_row = on_open.map(|open| opener(open, targets));
            html! {
                <div class="panel">
                    <LocalTable key={title.clone()} name={title.clone()} file={file.clone()} table={Shared::new(table.clone())} {searchable} {on_row} faint={Rc::from(faint.as_slice())} cuts_texts={true} />
                </div>
            }
        }
        Block::Shares(parts) => overview_blocks::shares(parts, on_open),
        Block::Columns(columns) => overview_blocks::columns(columns, on_open),
        Block::Ranked { all, note } => overview_blocks::ranked(all, note, on_open),
    }
}

/// Opens the target of a row.
fn opener(open: &Callback<String>, targets: &[String]) -> Callback<usize> {
    on((open.clone(), targets.to_vec()), |(open, targets), row: usize| {
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

/// What a command is called: those of other programs by their names.
fn command_label(text: &str) -> String {
    match text.split_whitespace().next() {
        Some("neuronscope") | None => "Command".to_owned(),
        Some(program) => format!("Command of {program}"),
    }
}
