//! The choice between operations and their single names.

use yew::prelude::*;

use crate::components::on;
use crate::state::{OpenRun, ProfileAction, ProfileState, StateHandle};
use ns_analysis::Instances;
use ns_page::profile::ToolSetting;

/// A box that merges names that are instances of one operation, for every tool. Empty for a run on NeuronCores, whose names have
/// no instances.
pub fn instances_switch(run: &OpenRun, state: &StateHandle<ProfileState>) -> Html {
    if run.is_neuron() {
        return Html::default();
    }
    let is_merged = state.link.instances == Instances::Merged;
    let other = if is_merged { Instances::Each } else { Instances::Merged };
    let onchange = on(state.clone(), move |state, _: web_sys::Event| {
        state.dispatch(ProfileAction::Adjust(ToolSetting::Instances(other)));
    });
    let title = "Names that differ only in a number or in template arguments count as one";
    html! { <label class="radio" {title}><input type="checkbox" checked={is_merged} {onchange} />{ "Merge instances" }</label> }
}
