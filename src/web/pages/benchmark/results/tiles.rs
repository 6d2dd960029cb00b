//! The figures of the best rows.

use yew::prelude::*;

use crate::page::bench::{Tile, Tiles};

/// Figures and sentence.
pub fn tiles(tiles: &Tiles) -> Html {
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
            if tiles.failed > 0 {
                <div class="tile bad"><dt>{ "Failed" }</dt><dd><strong>{ tiles.failed }</strong>{ " of " }{ tiles.all }
                    <span class="sub">{ "the reason is in the Status column" }</span></dd></div>
            }
        </dl>
        if let Some(sentence) = &tiles.sentence { <p class="verdict">{ sentence }</p> }
    </> }
}
