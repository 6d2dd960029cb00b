//! The figures of the best rows.

use yew::prelude::*;

use ns_page::bench::{Tile, Tiles};

/// The figures; their places are reserved while the first results are awaited.
pub fn tiles(tiles: &Tiles, is_awaited: bool) -> Html {
    let empty = |title: &str| {
        html! { <div class="tile"><dt>{ title.to_owned() }</dt><dd><strong>{ "\u{2013}" }</strong><span class="sub">{ "\u{a0}" }</span></dd></div> }
    };
    let tile = |tile: &Tile| {
        html! {
            <div class="tile">
                <dt>{ tile.title }</dt>
                <dd><strong title={tile.exact.clone()}>{ &tile.value }</strong>{ " " }{ tile.unit }<span class="sub">{ &tile.of }</span>
                    { for tile.beside.iter().map(|line| html! { <span class="sub">{ line }</span> }) }</dd>
            </div>
        }
    };
    html! {
        <dl class="tiles">
            { for tiles.best.iter().map(tile) }
            if is_awaited && tiles.best.is_empty() { { for Tiles::TITLES.into_iter().map(empty) } }
            if tiles.failed > 0 {
                <div class="tile bad"><dt>{ "Failed" }</dt><dd><strong>{ tiles.failed }</strong>{ " of " }{ tiles.all }
                    <span class="sub">{ "the reason is in the Status column" }</span></dd></div>
            }
        </dl>
    }
}

/// The sentence that weighs the figures.
pub fn verdict(tiles: &Tiles, is_awaited: bool) -> Html {
    html! {
        if tiles.sentence.is_some() || is_awaited { <p class="verdict">{ tiles.sentence.as_deref().unwrap_or_default() }</p> }
    }
}
