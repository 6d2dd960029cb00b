//! The menu for saving from a profile: its tables, the timeline in the formats of other tools, the view as a
//! picture. It also runs a benchmark of the shown model.

use yew::prelude::*;

use super::actions::{Picture, ProfileActions};
use crate::components::{Menu, on};
use ns_formats::WriteFormat;

/// A button that opens a list of formats. `has_timeline`: whether a timeline is on the screen, which can be saved as a picture; `can_trace`:
/// whether the model can also be run as a benchmark.
pub fn export_menu(actions: &ProfileActions, has_timeline: bool, can_trace: bool) -> Html {
    let entry = |name: &'static str, title: &'static str, onclick: Callback<MouseEvent>| {
        html! { <li><button type="button" data-format={name} {onclick}>{ title }</button></li> }
    };
    let action = |name: &'static str, title: &'static str, act: fn(&ProfileActions)| {
        entry(name, title, on(actions.clone(), move |actions, _: MouseEvent| act(actions)))
    };
    let formats = WriteFormat::ALL.map(|format| {
        let onclick = on(actions.clone(), move |actions, _: MouseEvent| actions.download_trace(format));
        entry(format.name(), title(format), onclick)
    });
    let pictures = [(Picture::Svg, "svg", "View as SVG"), (Picture::Png, "png", "View as PNG")];
    let pictures = pictures.into_iter().filter(|_| has_timeline).map(|(kind, name, title)| {
        entry(name, title, on(actions.clone(), move |actions, _: MouseEvent| actions.download_picture(kind)))
    });
    html! {
        <Menu label="Export" title="What to save">
            { action("table-csv", "Download CSV", ProfileActions::download_csv) }
            { action("page", "Download as page", ProfileActions::download_page) }
            { action("view-json", "Download JSON", ProfileActions::download_json) }
            if can_trace { { action("trace", "Trace a benchmark", ProfileActions::trace_benchmark) } }
            <li class="menu-group" aria-hidden="true">{ "Timeline for other tools" }</li>
            { for formats }
            { for pictures }
        </Menu>
    }
}

fn title(format: WriteFormat) -> &'static str {
    match format {
        WriteFormat::Chrome => "Chrome trace JSON",
        WriteFormat::Perfetto => "Perfetto",
        WriteFormat::Speedscope => "speedscope",
        WriteFormat::SlicesCsv => "Slices as CSV",
        WriteFormat::XPlane => "XPlane (XSpace)",
        WriteFormat::NeuronPlugin => "Neuron plugin files (.zip)",
        WriteFormat::TensorBoard => "TensorBoard log directory (.zip)",
    }
}
