//! The legend of the timeline's colours.

use yew::prelude::*;

use ns_view::colours::{Colours, Kind};
use ns_view::palette::fill_var;

/// The kinds of work in the profile, and the meaning of grey. `is_neuron`: whether the profile is of NeuronCores, whose engines it names.
pub fn timeline_legend(colours: &Colours, is_neuron: bool) -> Html {
    let entry = |kind: Kind| {
        html! {
            <li><span class="swatch" style={format!("background:{}", fill_var(kind.fill()))}></span><span class="name">{ kind.title(is_neuron) }</span></li>
        }
    };
    let kinds = colours.legend();
    if kinds.is_empty() {
        return Html::default();
    }
    html! { <ul class="legend in-line timeline-legend" aria-label="Colours">{ for kinds.iter().copied().chain([Kind::Idle]).map(entry) }</ul> }
}
