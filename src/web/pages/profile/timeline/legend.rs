//! The legend of the timeline's colours.

use yew::prelude::*;

use ns_view::colours::Colours;
use ns_view::palette::{GREY, fill_var};

/// Properties of [`TimelineLegend`].
#[derive(Properties, PartialEq)]
pub struct TimelineLegendProps {
    /// Colours of the profile.
    pub colours: Colours,
}

/// The most important kinds, and the meaning of grey.
#[component]
pub fn TimelineLegend(props: &TimelineLegendProps) -> Html {
    let entry = |fill: u8, name: &str| {
        html! {
            <li><span class="swatch" style={format!("background:{}", fill_var(fill))}></span><span class="name">{ name }</span></li>
        }
    };
    let kinds = props.colours.legend();
    if kinds.is_empty() {
        return Html::default();
    }
    html! {
        <ul class="legend in-line timeline-legend" aria-label="Colours">
            { for kinds.iter().map(|k| entry(k.fill, &k.kind)) }
            { entry(GREY, "modules, steps, idle") }
        </ul>
    }
}
