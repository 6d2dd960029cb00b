//! Everything about the selected slice.

use yew::prelude::*;

use ns_page::Shared;
use ns_profile::Unit;
use ns_view::timeline::{Outline, SliceDetails, SliceLink, SliceRef};

/// The selected slice, and what a click on another does.
pub struct SelectedSlice {
    pub details: Option<Shared<SliceDetails>>,
    /// Unit that its times count.
    pub unit: Unit,
    /// Its process and thread.
    pub place: String,
    /// Receives another chosen slice.
    pub on_select: Callback<SliceRef>,
}

/// The place of a slice in words.
pub fn place_of(outline: &Outline, details: &SliceDetails) -> String {
    outline.find(details.link.track).map_or_else(String::new, |(s, t)| {
        if t.name.is_empty() { s.name.clone() } else { format!("{} / {}", s.name, t.name) }
    })
}

/// Its title, times, arguments, members and neighbours.
pub fn slice_details_panel(selected: &SelectedSlice) -> Html {
    let Some(d) = &selected.details else {
        return html! {
            <section class="details panel" aria-label="Selected slice">
                <p class="empty">{ "Nothing selected. Click a slice, or focus the timeline and press Enter, then move with the arrow keys." }</p>
            </section>
        };
    };
    let link = &d.link;
    let signed = |ns: u64| i64::try_from(ns).unwrap_or(i64::MAX);
    html! {
        <section class="details panel" aria-label="Selected slice">
            <h3>{ &link.title }</h3>
            <dl>
                { pair("Where", &selected.place) }
                { pair("Category", &d.category) }
                { time("Start", link.start_ns, &selected.unit) }
                { time("Wall duration", signed(link.duration_ns), &selected.unit) }
                if let Some(own) = d.self_ns.filter(|own| *own != link.duration_ns) { { time("Self time", signed(own), &selected.unit) } }
            </dl>
            { for d.notes.iter().map(|note| html! { <p class="note">{ note }</p> }) }
            if !d.members.is_empty() {
                <h4>{ format!("Fused members ({})", d.members.len()) }</h4>
                <ul class="members-list">{ for d.members.iter().map(|m| html! { <li><code>{ m }</code></li> }) }</ul>
            }
            if !d.args.is_empty() {
                <h4>{ "Args" }</h4>
                <dl class="args">{ for d.args.iter().map(|(name, value)| arg(name, value)) }</dl>
            }
            { links("Inside", &d.parents, selected) }
        </section>
    }
}

/// The slices that led to a slice, and those that it leads to.
pub fn slice_flow_panel(selected: &SelectedSlice) -> Html {
    let Some(d) = selected.details.as_ref().filter(|d| !d.predecessors.is_empty() || !d.successors.is_empty()) else {
        return html! { <p class="empty">{ "No flow arrow begins or ends at the selected slice." }</p> };
    };
    html! {
        <section class="details panel" aria-label="Flow">
            <h3>{ &d.link.title }</h3>
            <div class="flow-sides">
                <div>{ links("Comes from", &d.predecessors, selected) }</div>
                <div>{ links("Leads to", &d.successors, selected) }</div>
            </div>
        </section>
    }
}

/// A time as people say it, and exactly.
fn time(name: &str, ns: i64, unit: &Unit) -> Html {
    let (text, exact) = (unit.text(ns), unit.exact(ns));
    html! { <><dt>{ name.to_owned() }</dt><dd>{ text.clone() }if text != exact { { " " }<span class="exact">{ exact }</span> }</dd></> }
}

/// An argument. Frames of a stack stand below one another.
fn arg(name: &str, value: &str) -> Html {
    let frames: Vec<&str> = value.split(';').map(str::trim).filter(|frame| !frame.is_empty()).collect();
    if frames.len() < 3 {
        return pair(name, value);
    }
    html! { <><dt>{ name.to_owned() }</dt><dd><ol class="frames">{ for frames.into_iter().map(|frame| html! { <li><code>{ frame.to_owned() }</code></li> }) }</ol></dd></> }
}

fn pair(name: &str, value: &str) -> Html {
    if value.is_empty() {
        return Html::default();
    }
    html! { <><dt>{ name.to_owned() }</dt><dd>{ value.to_owned() }</dd></> }
}

fn links(title: &str, links: &[SliceLink], selected: &SelectedSlice) -> Html {
    if links.is_empty() {
        return Html::default();
    }
    let item = |link: &SliceLink| {
        let slice = link.slice;
        let onclick = selected.on_select.reform(move |_: MouseEvent| slice);
        html! { <li><button type="button" class="link" {onclick}>{ &link.title }</button><span class="count">{ format!(" {} at {}", selected.unit.text(i64::try_from(link.duration_ns).unwrap_or(i64::MAX)), selected.unit.text(link.start_ns)) }</span></li> }
    };
    html! { <><h4>{ title.to_owned() }</h4><ul class="chain">{ for links.iter().map(item) }</ul></> }
}
