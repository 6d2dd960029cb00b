//! Marks and ranges as a list: names, lengths, distances from one of them.

use yew::prelude::*;

use crate::components::{on, set};
use crate::platform::page;
use crate::state::{ProfileAction, ProfileState, StateHandle};
use crate::timeline::Controller;
use ns_profile::Unit;
use ns_view::timeline::Annotation;

#[derive(Properties, PartialEq)]
pub struct AnnotationsPanelProps {
    /// Unit that their times count.
    pub unit: Unit,
    /// The state of the page.
    pub state: StateHandle<ProfileState>,
    pub controller: Controller,
}

/// The list; empty without marks.
#[component]
pub fn AnnotationsPanel(props: &AnnotationsPanelProps) -> Html {
    let base = use_state_eq(|| 0_usize);
    let all = &props.state.link.annotations;
    if all.is_empty() {
        return Html::default();
    }
    let from = (*base).min(all.len() - 1);
    let row = |(i, a): (usize, &Annotation)| {
        let edit = |change: fn(&mut Vec<Annotation>, usize, String)| {
            let state = props.state.clone();
            move |text: String| {
                let mut next = state.link.annotations.clone();
                change(&mut next, i, text);
                state.dispatch(ProfileAction::Annotations(next));
            }
        };
        let rename = edit(|all, i, text| all[i].label = text.replace([';', '~'], " "));
        let oninput = Callback::from(move |event: InputEvent| rename(page::value_of(&event)));
        let remove = edit(|all, i, _| drop(all.remove(i)));
        let remove = Callback::from(move |_: MouseEvent| remove(String::new()));
        let measure = set(&base, i);
        let show =
            on((props.controller.clone(), a.clone()), |(controller, a), _: MouseEvent| controller.show_annotation(a));
        let length = a.is_range().then(|| a.end_ns - a.start_ns);
        let difference = a.start_ns.saturating_sub(all[from].start_ns);
        html! {
            <tr>
                <td><input type="text" value={a.label.clone()} {oninput} aria-label={format!("Name of mark {}", i + 1)} /></td>
                <td class="number" title={props.unit.exact(a.start_ns)}>{ props.unit.place(a.start_ns) }</td>
                <td class="number" title={length.map(|ns| props.unit.exact(ns))}>{ length.map_or_else(|| "\u{2013}".to_owned(), |ns| props.unit.text(ns)) }</td>
                <td class="number" data-value={difference.to_string()} title={props.unit.exact(difference)}>{ props.unit.text(difference) }</td>
                <td><input type="radio" name="measure-from" checked={i == from} onchange={measure} aria-label={format!("Measure from {}", a.label)} /></td>
                <td class="row-buttons">
                    <button type="button" onclick={show} aria-label={format!("Show {}", a.label)}>{ "Show" }</button>
                    <button type="button" onclick={remove} aria-label={format!("Remove {}", a.label)}>{ "\u{d7}" }</button>
                </td>
            </tr>
        }
    };
    html! {
        <section class="panel" aria-label="Marks and ranges">
            <div class="table-scroll" tabindex="0" role="region" aria-label="Marks and ranges, scrollable">
                <table class="annotations">
                    <caption>{ "Marks and ranges" }</caption>
                    <thead><tr><th scope="col">{ "Name" }</th><th scope="col" class="number">{ "Start" }</th><th scope="col" class="number">{ "Length" }</th>
                        <th scope="col" class="number">{ format!("From {}", all[from].label) }</th><th scope="col">{ "Measure from" }</th><th scope="col">{ "Actions" }</th></tr></thead>
                    <tbody>{ for all.iter().enumerate().map(row) }</tbody>
                </table>
            </div>
        </section>
    }
}
