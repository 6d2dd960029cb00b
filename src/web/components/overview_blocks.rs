//! Parts of a document with links to other views: a bar of shares, columns of parts, recommendations.

use yew::prelude::*;

use super::{Fold, LocalTable};
use ns_base::units::format_share;
use ns_page::Shared;
use ns_view::document::{Columns, Ranked, Share, Shares, Tone};

/// Opens the target of a part; does nothing if it has none.
fn opener(open: Option<&Callback<String>>, target: &str) -> Option<Callback<MouseEvent>> {
    let target = target.to_owned();
    (!target.is_empty()).then(|| open.map(|open| open.reform(move |_: MouseEvent| target.clone()))).flatten()
}

/// A bar of parts with a legend; the legend has the names, the values and the links.
pub fn shares(shares: &Shares, open: Option<&Callback<String>>) -> Html {
    let part = |p: &Share| {
        html! { <span class={classes!("part", format!("is-{}", p.kind))} style={format!("{}flex-grow:{:.5}", p.paint().unwrap_or_default(), p.share)} title={format!("{}: {}", p.name, p.exact)}></span> }
    };
    let entry = |p: &Share| {
        let text = html! { <>{ &p.name }</> };
        let name = match opener(open, &p.target) {
            Some(onclick) => html! { <button type="button" class="link" {onclick}>{ text }</button> },
            None => text,
        };
        html! {
            <li title={p.exact.clone()}>
                <span class={classes!("swatch", format!("is-{}", p.kind))} style={p.paint()} aria-hidden="true"></span>
                { name }{ " " }<strong>{ &p.value }</strong><span class="sub">{ format_share(p.share * 100.0) }</span>
            </li>
        }
    };
    html! {
        <figure class="panel shares">
            <figcaption>{ &shares.title }</figcaption>
            <div class="parts" aria-hidden="true">{ for shares.parts.iter().map(part) }</div>
            <ul>{ for shares.parts.iter().map(entry) }</ul>
            if !shares.note.is_empty() { <p class="help">{ &shares.note }</p> }
        </figure>
    }
}

/// Columns of parts; a column that opens something is a button.
pub fn columns(columns: &Columns, open: Option<&Callback<String>>) -> Html {
    let column = |c: &ns_view::document::StackedColumn| {
        let said = format!("{}: {} ({})", c.name, c.value, c.described);
        let parts = c.parts.iter().map(|(kind, share)| {
            html! { <span class={format!("is-{kind}")} style={format!("height:{:.2}%", share * 100.0)}></span> }
        });
        let onclick = opener(open, &c.target);
        html! { <li><button type="button" class="parts" aria-label={said.clone()} title={said} disabled={onclick.is_none()} {onclick}>{ for parts }</button></li> }
    };
    // A row has the target of its column; rows beyond the columns have none.
    let on_row = open.map(|open| {
        let (open, targets) = (open.clone(), columns.columns.iter().map(|c| c.target.clone()).collect::<Vec<_>>());
        Callback::from(move |row: usize| {
            if let Some(target) = targets.get(row).filter(|t| !t.is_empty()) {
                open.emit(target.clone());
            }
        })
    });
    let draw = {
        let (name, table) = (AttrValue::from(columns.title.clone()), Shared::new(columns.table.clone()));
        Callback::from(
            move |()| html! { <LocalTable name={name.clone()} file="steps" table={table.clone()} on_row={on_row.clone()} /> },
        )
    };
    html! {
        <figure class="panel step-columns">
            <figcaption>{ &columns.title }<span class="sub">{ format!(" \u{2013} the tallest is {}", columns.most) }</span></figcaption>
            <ol>{ for columns.columns.iter().map(column) }</ol>
            if !columns.note.is_empty() { <p class="help">{ &columns.note }</p> }
            <Fold class="twin" summary="The same as a table" {draw} />
        </figure>
    }
}

/// Recommendations: the most worthwhile first.
pub fn ranked(all: &[Ranked], note: &str, open: Option<&Callback<String>>) -> Html {
    let one = |r: &Ranked| {
        let tone = match r.tone {
            Tone::Bad => Some("bad"),
            Tone::Warning => Some("warning"),
            Tone::Good => Some("good"),
            Tone::Neutral => None,
        };
        let ways = r.ways.iter().map(|way| {
            let onclick = opener(open, &way.target);
            html! { <li><button type="button" disabled={onclick.is_none()} {onclick}>{ &way.text }</button></li> }
        });
        html! {
            <li class={classes!("panel", "finding", tone)}>
                <h4>{ &r.title }</h4>
                if !r.saving.is_empty() { <p class="saving"><span>{ "Saves " }</span><strong>{ &r.saving }</strong></p> }
                <p>{ &r.text }</p>
                <ul class="ways" aria-label="Where it shows">{ for ways }</ul>
            </li>
        }
    };
    html! {
        <>
            <ol class="ranked">{ for all.iter().map(one) }</ol>
            if !note.is_empty() { <p class="help">{ note }</p> }
        </>
    }
}
