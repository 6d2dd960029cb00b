//! Shares over time, one lane below the other, with the value under the pointer.

use yew::prelude::*;

use super::drawn;
use crate::platform::pointer;
use ns_base::units::format_percent;
use ns_view::plot::Lanes;
use ns_view::text::exact_ns;

#[derive(Properties, PartialEq)]
pub struct LanesChartProps {
    pub title: AttrValue,
    pub plot: Lanes,
}

#[component]
pub fn LanesChart(props: &LanesChartProps) -> Html {
    let readout = use_state_eq(|| None::<String>);
    let plot = &props.plot;
    let lane = |lane: &ns_view::plot::Lane| {
        let onmousemove = {
            let (readout, lane, plot) = (readout.clone(), lane.clone(), plot.clone());
            Callback::from(move |event: MouseEvent| {
                if let Some(i) = pointer::share_of(&event, "svg").and_then(|(x, _)| plot.bucket_at(&lane, x)) {
                    let (from, to) = plot.bucket_ns(i, lane.percent.len());
                    readout.set(Some(format!(
                        "{}: {} from {} to {}",
                        lane.name,
                        format_percent(lane.percent[i]),
                        exact_ns(from),
                        exact_ns(to)
                    )));
                }
            })
        };
        html! {
            <li>
                <span class="name">{ &lane.name }</span>
                <svg viewBox="0 0 1000 100" preserveAspectRatio="none" role="img" {onmousemove}
                    aria-label={format!("{}: {} of the time on average", lane.name, format_percent(lane.mean_percent))}>
                    { drawn(&lane.shapes()) }
                </svg>
                <span class="value">{ format_percent(lane.mean_percent) }</span>
            </li>
        }
    };
    html! {
        <figure class="lanes">
            <figcaption>{ &props.title }</figcaption>
            <ul>{ for plot.lanes.iter().map(lane) }</ul>
            <p class="lanes-axis"><span>{ exact_ns(plot.start_ns) }</span><span>{ exact_ns(plot.end_ns) }</span></p>
            <p class="readout">{ readout.as_ref().cloned().unwrap_or_else(|| "Point at a lane for its value; the means are beside the lanes.".to_owned()) }</p>
        </figure>
    }
}
