//! The legend of the timeline's colours.

use yew::prelude::*;

use ns_view::colours::{Colours, Kind};
use ns_view::palette::fill_var;

#[derive(Properties, PartialEq)]
pub struct TimelineLegendProps {
    /// Colours of the profile.
    pub colours: Colours,
    /// Whether the profile is of NeuronCores, whose engines the legend names.
    pub is_neuron: bool,
}

/// The kinds of work in the profile, and the meaning of grey.
#[component]
pub fn TimelineLegend(props: &TimelineLegendProps) -> Html {
    let entry = |kind: Kind| {
        html! {
            <li><span class="swatch" style={format!("background:{}", fill_var(kind.fill()))}></span><span class="name">{ kind.title(props.is_neuron) }</span></li>
        }
    };
    let kinds = props.colours.legend();
    if kinds.is_empty() {
        return Html::default();
    }
    html! { <ul class="legend in-line timeline-legend" aria-label="Colours">{ for kinds.iter().copied().chain([Kind::Idle]).map(entry) }</ul> }
}
