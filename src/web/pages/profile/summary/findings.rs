//! Findings in plain words, each with its evidence and the slices that show it.

use yew::prelude::*;

use ns_base::convert::u64_to_f64;
use ns_base::units::format_ns;
use ns_insight::{Effect, Finding, SliceRange};
use ns_view::text::exact_ns;

/// `on_slice` receives a slice that is chosen.
pub fn findings(findings: &[Finding], on_slice: &Callback<SliceRange>) -> Html {
    if findings.is_empty() {
        return html! { <p class="empty">{ "No rule applies to this execution." }</p> };
    }
    html! { <ol class="findings">{ for findings.iter().map(|f| finding(f, on_slice)) }</ol> }
}

fn effect(effect: Effect) -> (&'static str, &'static str) {
    match effect {
        Effect::Cost => ("cost", "costs time"),
        Effect::Symptom => ("symptom", "symptom"),
        Effect::Saving => ("saving", "saves time"),
        Effect::Note => ("explains", "explains"),
    }
}

fn finding(f: &Finding, on_slice: &Callback<SliceRange>) -> Html {
    let (class, word) = effect(f.effect);
    let slice = |s: &SliceRange| {
        let range = s.clone();
        let onclick = on_slice.reform(move |_: MouseEvent| range.clone());
        html! {
            <li><button type="button" class="link" {onclick}>{ format!("{} at {}, {}", s.row, exact_ns(s.start_ns), exact_ns(s.end_ns - s.start_ns)) }</button>
                if !s.path.is_empty() { <span class="path">{ format!(" {}", s.path) }</span> }</li>
        }
    };
    html! {
        <li class={classes!("finding", class)} data-rule={f.rule.code()}>
            <p class="finding-title"><span class="tag">{ word }</span>{ " " }<strong>{ &f.title }</strong></p>
            <p>{ &f.detail }{ f.saves_ns.map(saving) }</p>
            <details>
                <summary>{ evidence_title(f.slices.len()) }</summary>
                <dl class="facts">{ for f.evidence.iter().map(|m| html! { <div><dt>{ &m.name }</dt><dd>{ m.text() }</dd></div> }) }</dl>
                <ul class="finding-slices">{ for f.slices.iter().map(slice) }</ul>
            </details>
        </li>
    }
}

/// The most that fixing a cost can save.
fn saving(ns: u64) -> Html {
    html! { <>{ " A fix saves up to " }<strong>{ format_ns(u64_to_f64(ns)) }</strong>{ "." }</> }
}

fn evidence_title(slices: usize) -> String {
    match slices {
        0 => "Evidence".to_owned(),
        1 => "Evidence, and a slice that shows it".to_owned(),
        n => format!("Evidence, and {n} slices that show it"),
    }
}
