//! Everything about the selected slice.

use yew::prelude::*;

use ns_page::Shared;
use ns_profile::Unit;
use ns_view::timeline::{Outline, SliceDetails, SliceLink, SliceRef};

/// Properties of [`SliceDetailsPanel`].
#[derive(Properties, PartialEq)]
pub struct SliceDetailsProps {
    pub details: Option<Shared<SliceDetails>>,
    /// Unit that its times count.
    pub unit: Unit,
    /// Its process and thread.
    pub place: AttrValue,
    /// Receives another chosen slice.
    pub on_select: Callback<SliceRef>,
}

/// The place of a slice in words.
#[must_use]
pub fn place_of(outline: &Outline, details: &SliceDetails) -> String {
    outline.find(details.link.track).map_or_else(String::new, |(s, t)| {
        if t.name.is_empty() { s.name.clone() } else { format!("{} / {}", s.name, t.name) }
    })
}

/// Its title, times, arguments, members and neighbours.
#[component]
pub fn SliceDetailsPanel(props: &SliceDetailsProps) -> Html {
    let Some(d) = &props.details else {
        return html! {
            <section class="details panel" aria-label="Selected slice">
                <p class="empty">{ "Nothing selected. Click a slice, or focus the timeline and press Enter, then move with the arrow keys." }</p>
            </section>
        };
    };
    let link = &d.link;
    let duration = |ns: u64| props.unit.exact(i64::try_from(ns).unwrap_or(i64::MAX));
    html! {
        <section class="details panel" aria-label="Selected slice">
            <h3>{ &link.title }</h3>
            <dl>
                { pair("Where", &props.place) }
                { pair("Category", &d.category) }
                { pair("Start", &props.unit.exact(link.start_ns)) }
                { pair("Wall duration", &duration(link.duration_ns)) }
                { pair("Self time", &d.self_ns.filter(|s| *s != link.duration_ns).map(duration).unwrap_or_default()) }
            </dl>
            { for d.notes.iter().map(|note| html! { <p class="note">{ note }</p> }) }
            if !d.members.is_empty() {
                <h4>{ format!("Fused members ({})", d.members.len()) }</h4>
                <ul class="members-list">{ for d.members.iter().map(|m| html! { <li><code>{ m }</code></li> }) }</ul>
            }
            if !d.args.is_empty() {
                <h4>{ "Args" }</h4>
                <dl class="args">{ for d.args.iter().map(|(k, v)| pair(k, v)) }</dl>
            }
            { links("Inside", &d.parents, props) }
            { links("Comes from", &d.predecessors, props) }
            { links("Leads to", &d.successors, props) }
        </section>
    }
}

fn pair(name: &str, value: &str) -> Html {
    if value.is_empty() {
        return Html::default();
    }
    html! { <><dt>{ name.to_owned() }</dt><dd>{ value.to_owned() }</dd></> }
}

fn links(title: &str, links: &[SliceLink], props: &SliceDetailsProps) -> Html {
    if links.is_empty() {
        return Html::default();
    }
    let item = |link: &SliceLink| {
        let slice = link.slice;
        let onclick = props.on_select.reform(move |_: MouseEvent| slice);
        html! { <li><button type="button" class="link" {onclick}>{ &link.title }</button><span class="count">{ format!(" at {}", props.unit.exact(link.start_ns)) }</span></li> }
    };
    html! { <><h4>{ title.to_owned() }</h4><ul class="chain">{ for links.iter().map(item) }</ul></> }
}
