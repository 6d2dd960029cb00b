//! Shares as areas.

use yew::prelude::*;

use ns_analysis::opcode::short_name;
use ns_base::Order;
use ns_base::convert::f64_to_i64;
use ns_profile::Unit;
use ns_view::colours::{Colours, part_neighbours};
use ns_view::palette::{fill_var, on_fill_var};
use ns_view::plot::{TreemapTile, treemap};

/// The most tiles: more would be too small to see.
const MOST_TILES: usize = 40;

/// Length of the prefix that all names share, up to its last slash. All threads of a process repeat it, and a tile has little room.
fn shared_prefix(items: &[(String, f64)]) -> usize {
    let Some(((first, _), rest)) = items.split_first().filter(|(_, rest)| !rest.is_empty()) else { return 0 };
    let mut ends = first.rmatch_indices(" / ").map(|(at, slash)| at + slash.len());
    ends.find(|end| rest.iter().all(|(name, _)| name.starts_with(&first[..*end]))).unwrap_or(0)
}

/// The largest of `items` (names and times in ns, which count `unit`) as tiles in a box of 100 x 60, each a button.
pub fn treemap_chart(
    mut items: Vec<(String, f64)>,
    unit: &Unit,
    colours: &Colours,
    on_choose: &Callback<String>,
) -> Html {
    items.order_by(|a, b| b.1.total_cmp(&a.1));
    items.truncate(MOST_TILES);
    let values: Vec<f64> = items.iter().map(|item| item.1).collect();
    let known = shared_prefix(&items);
    let tiles = treemap(&values, 100.0, 60.0);
    let mut fills: Vec<u8> = tiles.iter().map(|t| colours.fill_of(&items[t.item].0)).collect();
    part_neighbours(&mut fills, |a, b| tiles[a].touches(&tiles[b]));
    let tile = |(t, fill): (&TreemapTile, u8)| {
        let (name, ns) = &items[t.item];
        let style = format!(
            "left:{:.3}%;top:{:.3}%;width:{:.3}%;height:{:.3}%;background:{};color:{}",
            t.x,
            t.y / 0.6,
            t.width,
            t.height / 0.6,
            fill_var(fill),
            on_fill_var(fill)
        );
        // A screen reader says the text of the button first, then the whole name.
        let short = short_name(&name[known..]).into_owned();
        let what = format!("{name}: {}", unit.text(f64_to_i64(*ns)));
        let chosen = name.clone();
        let onclick = on_choose.reform(move |_: MouseEvent| chosen.clone());
        html! { <li><button type="button" {onclick} {style} title={what.clone()} aria-label={format!("{short}; {what}")}>{ short.clone() }</button></li> }
    };
    html! {
        <figure class="treemap">
            <figcaption>{ "The largest as areas" }</figcaption>
            <ul>{ for tiles.iter().zip(fills).map(tile) }</ul>
        </figure>
    }
}
