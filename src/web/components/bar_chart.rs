//! Horizontal bars with their values written beside them.

use yew::prelude::*;

use ns_base::units::format_in;
use ns_view::palette::fill_var;
use ns_view::plot::Bars;

#[derive(Properties, PartialEq)]
pub struct BarChartProps {
    pub title: AttrValue,
    pub unit: AttrValue,
    pub plot: Bars,
    /// Receives the position of a bar that is pressed; without it bars open nothing.
    #[prop_or_default]
    pub on_bar: Option<Callback<usize>>,
}

/// More bars than this have one line each: name, bar and value beside each other.
const MOST_HIGH: usize = 12;

/// The bars; a list, so that it reads as one.
#[component]
pub fn BarChart(props: &BarChartProps) -> Html {
    let bar = |(i, b): (usize, &ns_view::plot::Bar)| {
        let color = fill_var(b.fill);
        let onclick = props.on_bar.as_ref().map(|on_bar| on_bar.reform(move |_: MouseEvent| i));
        // A click anywhere on the bar counts; the button is for keys, and its click arrives here too.
        let name = if onclick.is_some() {
            html! { <button type="button" class="link">{ &b.name }</button> }
        } else {
            html! { &b.name }
        };
        html! {
            <li {onclick} title={b.name.clone()}>
                <span>{ name }</span>
                <span class="value" title={format!("{} {}", b.value, props.unit)}>{ format_in(b.value, &props.unit) }</span>
                <span class="track" aria-hidden="true"><span style={format!("width:{:.2}%;background:{color}", b.share * 100.0)}></span></span>
            </li>
        }
    };
    html! {
        <figure class={classes!("bars", (props.plot.bars.len() > MOST_HIGH).then_some("is-low"), props.on_bar.is_some().then_some("opens"))}>
            <figcaption>{ &props.title }</figcaption>
            <ul>{ for props.plot.bars.iter().enumerate().map(bar) }</ul>
        </figure>
    }
}
