//! What dominates a profile, in sentences with numbers, each with links to where it shows.

use yew::prelude::*;

use crate::pages::profile::queries::use_analysis;
use crate::pages::profile::tools::waiting;
use crate::state::{OpenRun, ProfileAction, ProfileState, StateHandle};
use ns_analysis::sentences::Topic;
use ns_base::{Interval, TraceNs};
use ns_profile::Unit;
use ns_session::{Answer, LinkedSentence, Question};
use ns_view::timeline::SliceLink;

#[derive(Properties, PartialEq)]
pub struct InShortProps {
    /// The run that is shown.
    pub run: OpenRun,
    /// The state of the page.
    pub state: StateHandle<ProfileState>,
}

#[component]
pub fn InShort(props: &InShortProps) -> Html {
    let content = match use_analysis(&props.run, Some(Question::Sentences)) {
        None => html! { <p class="empty" role="status">{ "Reading the profile\u{2026}" }</p> },
        Some(Err(pending)) => waiting(Some(&pending)),
        Some(Ok(answer)) => match &*answer {
            Answer::Sentences(said) => html! {
                <ul class="findings said">{ for said.iter().map(|s| sentence(s, &props.run.info.outline.unit, &props.state)) }</ul>
            },
            _ => Html::default(),
        },
    };
    html! {
        <section class="panel" aria-labelledby="in-short-title">
            <h3 id="in-short-title">{ "In short" }</h3>
            { content }
        </section>
    }
}

fn sentence(said: &LinkedSentence, unit: &Unit, state: &StateHandle<ProfileState>) -> Html {
    let slice = |link: &SliceLink| {
        let duration = i64::try_from(link.duration_ns).unwrap_or(i64::MAX);
        let text = format!("{}, {}", link.title, unit.text(duration));
        let title = format!("{}, {}", link.title, unit.exact(duration));
        let (state, link) = (state.clone(), link.clone());
        let onclick = Callback::from(move |_: MouseEvent| state.dispatch(ProfileAction::Jump(link.clone())));
        html! { <li><button type="button" class="link" {onclick} {title}>{ text }</button></li> }
    };
    let span = |span: &Interval<TraceNs>| {
        let text = format!("{} from {}", unit.text(span.end.0.saturating_sub(span.start.0)), unit.text(span.start.0));
        let title = format!("{} to {}", unit.exact(span.start.0), unit.exact(span.end.0));
        let (state, span) = (state.clone(), *span);
        let onclick = Callback::from(move |_: MouseEvent| state.dispatch(ProfileAction::ShowSpan(span, None)));
        html! { <li><button type="button" class="link" {onclick} {title}>{ text }</button></li> }
    };
    let has_links = !said.spans.is_empty() || !said.links.is_empty();
    html! {
        <li class="finding" data-topic={topic(said.topic)}>
            <span class="tag">{ topic(said.topic) }</span>
            <div>
                <p>{ &said.text }</p>
                if has_links {
                    <ul class="chain where">{ for said.spans.iter().map(span) }{ for said.links.iter().map(slice) }</ul>
                }
            </div>
        </li>
    }
}

const fn topic(topic: Topic) -> &'static str {
    match topic {
        Topic::Profile => "profile",
        Topic::Verdict => "verdict",
        Topic::Compute => "compute",
        Topic::Transfer => "transfer",
        Topic::Communication => "communication",
        Topic::Host => "host",
        Topic::Idle => "idle",
        Topic::Operator => "operator",
    }
}
