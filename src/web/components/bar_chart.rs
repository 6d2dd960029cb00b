//! Horizontal bars with their values written beside them.

use yew::prelude::*;

use ns_base::units::format_in;
use ns_view::palette::fill_var;
use ns_view::plot::Bars;

/// More bars than this have one line each: name, bar and value beside each other.
const MOST_HIGH: usize = 12;

/// The bars; a list, so that it reads as one. `on_bar` receives the position of a bar that is pressed; without it bars open nothing.
pub fn bar_chart(title: &str, unit: &str, plot: &Bars, on_bar: Option<&Callback<usize>>) -> Html {
    let bar = |(i, b): (usize, &ns_view::plot::Bar)| {
        let color = fill_var(b.fill);
        let onclick = on_bar.map(|on_bar| on_bar.reform(move |_: MouseEvent| i));
        // A click anywhere on the bar counts; the button is for keys, and its click arrives here too.
        let name = if onclick.is_some() {
            html! { <button type="button" class="link">{ &b.name }</button> }
        } else {
            html! { &b.name }
        };
        html! {
            <li {onclick} title={b.name.clone()}>
                <span>{ name }</span>
                <span class="value" title={format!("{} {}", b.value, unit)}>{ format_in(b.value, unit) }</span>
                <span class="track" aria-hidden="true"><span style={format!("width:{:.2}%;background:{color}", b.share * 100.0)}></span></span>
            </li>
        }
    };
    html! {
        <figure class={classes!("bars", (plot.bars.len() > MOST_HIGH).then_some("is-low"), on_bar.is_some().then_some("opens"))}>
            <figcaption>{ title.to_owned() }</figcaption>
            <ul>{ for plot.bars.iter().enumerate().map(bar) }</ul>
        </figure>
    }
}
