//! A pie with its legend; pointing at a share marks it in both.

use yew::prelude::*;

use super::{drawn, set};
use ns_analysis::opcode::short_name;
use ns_base::units::format_percent;
use ns_view::palette::fill_var;
use ns_view::plot::{Pie, PieSlice, Shape};

#[derive(Properties, PartialEq)]
pub struct PieChartProps {
    pub title: AttrValue,
    pub pie: Pie,
    pub unit: AttrValue,
}

#[component]
pub fn PieChart(props: &PieChartProps) -> Html {
    let active = use_state_eq(|| None::<usize>);
    let enter = |i: usize| set(&active, Some(i));
    let is_dimmed = |i: usize| active.is_some_and(|a| a != i);
    let shapes = props.pie.slices.iter().enumerate().map(|(i, slice)| {
        html! { <g class={classes!(is_dimmed(i).then_some("is-dimmed"))} onmouseenter={enter(i)}>{ drawn(&[slice.shape(&props.unit)]) }</g> }
    });
    let labels: Vec<Shape> = props.pie.slices.iter().filter_map(PieSlice::label).collect();
    let legend = props.pie.slices.iter().enumerate().map(|(i, s)| {
        html! {
            <li class={classes!(is_dimmed(i).then_some("is-dimmed"))} onmouseenter={enter(i)} title={s.words(&props.unit)}>
                <span class="swatch" style={format!("background:{}", fill_var(s.fill))}></span>
                <span class="name">{ short_name(&s.name).into_owned() }</span>
                <span class="value">{ format_percent(s.percent) }</span>
            </li>
        }
    });
    html! {
        <figure class="pie" onmouseleave={set(&active, None)}>
            <figcaption>{ &props.title }</figcaption>
            if props.pie.slices.is_empty() {
                <p class="empty">{ "Nothing to show." }</p>
            } else {
                <div class="pie-body">
                    <svg viewBox="-104 -104 208 208" role="img" aria-label={format!("{}: {}", props.title, props.pie.describe())}>
                        { for shapes }
                        { drawn(&labels) }
                    </svg>
                    <ul class="legend">{ for legend }</ul>
                </div>
            }
        </figure>
    }
}
