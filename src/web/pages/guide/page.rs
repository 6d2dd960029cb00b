//! The page of the guide.

use yew::prelude::*;

use super::example::ExampleCard;
use crate::platform::page;
use ns_session::guide::{CHAPTERS, Chapter};

#[component]
pub fn GuidePage() -> Html {
    let way = |chapter: &Chapter| {
        let id = chapter.id;
        // The fragment of the address holds the route, so it cannot hold an anchor.
        let onclick = Callback::from(move |_: MouseEvent| page::focus(&heading(id)));
        html! { <li><button type="button" class="link" {onclick}>{ chapter.title }</button></li> }
    };
    html! {
        <div class="page guide">
            <h1>{ "Guide" }</h1>
            <p class="lead">{ "For people who tune models, in short chapters. Each example opens with a click and runs at once, in this browser." }</p>
            <nav class="panel" aria-label="Chapters"><ol>{ for CHAPTERS.iter().map(way) }</ol></nav>
            { for CHAPTERS.iter().map(chapter) }
        </div>
    }
}

/// The id of a chapter's heading.
fn heading(id: &str) -> String {
    format!("guide-{id}")
}

fn chapter(chapter: &'static Chapter) -> Html {
    let id = heading(chapter.id);
    html! {
        <section class="chapter" aria-labelledby={id.clone()}>
            <h2 {id} tabindex="-1">{ chapter.title }</h2>
            { for chapter.text.iter().map(|text| html! { <p>{ *text }</p> }) }
            <ul class="cards">{ for chapter.examples.iter().map(|example| html! { <ExampleCard key={example.link} {example} /> }) }</ul>
        </section>
    }
}
