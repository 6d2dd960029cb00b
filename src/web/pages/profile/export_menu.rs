//! What can be taken away of a profile: the timeline in the formats of other tools, and the view as a picture.

use web_sys::{HtmlElement, KeyboardEvent};
use yew::prelude::*;

use super::actions::{Actions, Picture};
use crate::profile::formats::WriteFormat;

/// Properties of [`ExportMenu`].
#[derive(Properties, PartialEq)]
pub struct ExportMenuProps {
    /// What buttons do.
    pub actions: Actions,
    /// Whether a timeline is on the screen, which can be a picture.
    pub has_timeline: bool,
}

/// A button that opens a list of formats.
#[component]
pub fn ExportMenu(props: &ExportMenuProps) -> Html {
    let menu = use_node_ref();
    let close = {
        let menu = menu.clone();
        Callback::from(move |()| {
            if let Some(menu) = menu.cast::<HtmlElement>() {
                let _ = menu.remove_attribute("open");
                if let Some(summary) = menu.query_selector("summary").ok().flatten() {
                    let _ = wasm_bindgen::JsCast::unchecked_into::<HtmlElement>(summary).focus();
                }
            }
        })
    };
    let onkeydown = {
        let close = close.clone();
        Callback::from(move |event: KeyboardEvent| {
            if event.key() == "Escape" {
                event.stop_propagation();
                close.emit(());
            }
        })
    };
    let entry = |name: &'static str, title: &'static str, what: Callback<()>| {
        let close = close.clone();
        let onclick = Callback::from(move |_: MouseEvent| {
            close.emit(());
            what.emit(());
        });
        html! { <li><button type="button" data-format={name} {onclick}>{ title }</button></li> }
    };
    let formats = WriteFormat::ALL.map(|format| {
        let actions = props.actions.clone();
        entry(format.name(), title(format), Callback::from(move |()| actions.download_trace(format)))
    });
    let pictures = [(Picture::Svg, "svg", "View as SVG"), (Picture::Png, "png", "View as PNG")];
    let pictures = pictures.into_iter().filter(|_| props.has_timeline).map(|(kind, name, title)| {
        let actions = props.actions.clone();
        entry(name, title, Callback::from(move |()| actions.download_picture(kind)))
    });
    html! {
        <details class="menu" ref={menu} {onkeydown}>
            <summary class="button">{ "Export" }<span aria-hidden="true">{ "\u{25be}" }</span></summary>
            <ul aria-label="Formats to export">
                { for formats }
                { for pictures }
            </ul>
        </details>
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
