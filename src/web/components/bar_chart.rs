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
}

/// The bars; a list, so that it reads as one.
#[component]
pub fn BarChart(props: &BarChartProps) -> Html {
    let bar = |b: &ns_view::plot::Bar| {
        let color = fill_var(b.fill);
        html! {
            <li>
                <span>{ &b.name }</span>
                <span class="value" title={format!("{} {}", b.value, props.unit)}>{ format_in(b.value, &props.unit) }</span>
                <span class="track" aria-hidden="true"><span style={format!("width:{:.2}%;background:{color}", b.share * 100.0)}></span></span>
            </li>
        }
    };
    html! {
        <figure class="bars">
            <figcaption>{ &props.title }</figcaption>
            <ul>{ for props.plot.bars.iter().map(bar) }</ul>
        </figure>
    }
}
