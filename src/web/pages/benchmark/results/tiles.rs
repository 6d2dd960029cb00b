//! The figures of the best rows.

use yew::prelude::*;

use crate::page::bench::{Tile, Tiles};

/// What tiles are of that have no figure yet.
const AWAITED: [&str; 3] = ["Best throughput", "Lowest p99 latency", "Lowest cost"];

/// Figures and sentence; their places are kept while the first ones are awaited.
pub fn tiles(tiles: &Tiles, is_awaited: bool) -> Html {
    let empty = |title: &&'static str| {
        html! { <div class="tile"><dt>{ *title }</dt><dd><strong>{ "\u{2013}" }</strong><span class="sub">{ "\u{a0}" }</span></dd></div> }
    };
    let tile = |tile: &Tile| {
        html! {
            <div class="tile">
                <dt>{ tile.title }</dt>
                <dd><strong title={tile.exact.clone()}>{ &tile.value }</strong>{ " " }{ tile.unit }<span class="sub">{ &tile.of }</span></dd>
            </div>
        }
    };
    html! { <>
        <dl class="tiles">
            { for tiles.best.iter().map(tile) }
            if is_awaited && tiles.best.is_empty() { { for AWAITED.iter().map(empty) } }
            if tiles.failed > 0 {
                <div class="tile bad"><dt>{ "Failed" }</dt><dd><strong>{ tiles.failed }</strong>{ " of " }{ tiles.all }
                    <span class="sub">{ "the reason is in the Status column" }</span></dd></div>
            }
        </dl>
        if tiles.sentence.is_some() || is_awaited { <p class="verdict">{ tiles.sentence.as_deref().unwrap_or_default() }</p> }
    </> }
}
