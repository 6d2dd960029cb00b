//! A grid of values, each cell shaded and with its value written in it: a table, so that screen readers read it as one.

use yew::prelude::*;

use ns_view::plot::{HeatCell, HeatMap};

/// Properties of [`HeatMapChart`].
#[derive(Properties, PartialEq)]
pub struct HeatMapChartProps {
    pub title: AttrValue,
    pub plot: HeatMap,
}

#[component]
pub fn HeatMapChart(props: &HeatMapChartProps) -> Html {
    let plot = &props.plot;
    let cell = |cell: &Option<HeatCell>| match cell {
        Some(cell) => {
            html! { <td style={format!("--share:{:.1}%", cell.share * 100.0)} title={format!("{} {}", cell.text, plot.value_title)}>{ &cell.text }</td> }
        }
        None => html! { <td class="missing">{ "-" }</td> },
    };
    html! {
        <figure class="heat-map">
            <figcaption>{ &props.title }<span class="sub">{ &plot.value_title }</span></figcaption>
            <div class="scroll" tabindex="0" role="region" aria-label={props.title.clone()}>
                <table>
                    <thead><tr>
                        <th scope="col">{ format!("{} \\ {}", plot.y_title, plot.x_title) }</th>
                        { for plot.columns.iter().map(|c| html! { <th scope="col">{ c }</th> }) }
                    </tr></thead>
                    <tbody>{ for plot.rows.iter().map(|row| html! {
                        <tr><th scope="row">{ &row.name }</th>{ for row.cells.iter().map(cell) }</tr>
                    }) }</tbody>
                </table>
            </div>
        </figure>
    }
}
