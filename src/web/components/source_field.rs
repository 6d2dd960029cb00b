//! A source text that can be edited, with the numbers of its lines beside it. A plain text area: Tab leaves it, as in other fields.

use std::rc::Rc;

use web_sys::HtmlElement;
use yew::prelude::*;

use super::field::{described_by, labelled};
use crate::platform::page;

/// Rows that are shown at least and at most; a longer text scrolls.
const ROWS: (usize, usize) = (6, 32);

/// What the last run says about a line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LineMark {
    /// Its share of the time, 0 to 1.
    pub share: f64,
    /// Its time, as text.
    pub time: String,
    /// What is wrong with it; empty if nothing is.
    pub problem: String,
    /// The line as it was then, and the column of the problem, from 1.
    pub place: Option<(String, usize)>,
}

impl LineMark {
    /// The line before the word with the problem, and the word; `None` if the line has changed since.
    fn word<'a>(&self, line: &'a str) -> Option<(&'a str, &'a str)> {
        let (was, column) = self.place.as_ref().filter(|(was, _)| was == line)?;
        let start = was.char_indices().nth(column - 1).map_or(was.len(), |(at, _)| at);
        let (before, rest) = line.split_at_checked(start)?;
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let first = rest.chars().next()?;
        let end = if is_word(first) { rest.find(|c| !is_word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        Some((before, rest.get(..end)?))
    }
}

#[derive(Properties, PartialEq)]
pub struct SourceFieldProps {
    /// Id of the text area.
    pub id: AttrValue,
    /// Text above it.
    pub label: AttrValue,
    /// Help below it.
    #[prop_or_default]
    pub help: AttrValue,
    pub value: AttrValue,
    /// Message if the value is wrong.
    #[prop_or_default]
    pub error: Option<AttrValue>,
    /// What stands beside the lines, in their order.
    #[prop_or_default]
    pub marks: Rc<[LineMark]>,
    /// Receives the edited text.
    pub on_edit: Callback<String>,
}

/// The text area with the line numbers, which scroll with it.
#[component]
pub fn SourceField(props: &SourceFieldProps) -> Html {
    let (numbers, text, waves) = (use_node_ref(), use_node_ref(), use_node_ref());
    let oninput = props.on_edit.reform(|event: InputEvent| page::value_of(&event));
    let onscroll = {
        let (numbers, text, waves) = (numbers.clone(), text.clone(), waves.clone());
        Callback::from(move |_: Event| {
            let Some(text) = text.cast::<HtmlElement>() else { return };
            for follower in [&numbers, &waves].into_iter().filter_map(NodeRef::cast::<HtmlElement>) {
                follower.set_scroll_top(text.scroll_top());
            }
            if let Some(waves) = waves.cast::<HtmlElement>() {
                waves.set_scroll_left(text.scroll_left());
            }
        })
    };
    // A newline at the end begins another line, which can be written in.
    let lines = props.value.matches('\n').count() + 1;
    let listed = (1..=lines).map(|n| line_number(n, props.marks.get(n - 1)));
    let wrong = props.value.split('\n').zip(props.marks.iter()).map(|(line, mark)| wave(mark.word(line)));
    let rows = (lines + 1).clamp(ROWS.0, ROWS.1).to_string();
    let error = props.error.as_ref();
    let described = described_by(&props.id, &props.help, error);
    let control = html! {
        <div class="source-editor">
            <pre ref={numbers} aria-hidden="true">{ for listed }</pre>
            <div class="source-lines">
                <pre ref={waves} class="waves" aria-hidden="true">{ for wrong }</pre>
                <textarea ref={text} id={props.id.clone()} {rows} wrap="off" spellcheck="false" autocomplete="off" autocapitalize="off"
                    value={props.value.clone()} {oninput} {onscroll}
                    aria-invalid={error.is_some().then_some("true")} aria-describedby={described} />
            </div>
        </div>
    };
    labelled(&props.id, &props.label, &props.help, error, true, control)
}

/// A line below the text, with a wave under what is wrong.
fn wave(word: Option<(&str, &str)>) -> Html {
    let Some((before, word)) = word else { return html! { "\n" } };
    html! { <>{ before.to_owned() }<span class="wave">{ word.to_owned() }</span>{ "\n" }</> }
}

/// The number of a line, with its time before it and a mark if it is wrong. The document of the result has the same as text. There is room
/// for the time before a run: the text does not move when the run ends.
fn line_number(n: usize, mark: Option<&LineMark>) -> Html {
    let mark = mark.cloned().unwrap_or_default();
    let is_wrong = !mark.problem.is_empty();
    let title = if is_wrong { mark.problem.clone() } else { mark.time.clone() };
    let style = format!("--share:{:.1}%", mark.share.clamp(0.0, 1.0) * 100.0);
    html! {
        <span class={classes!("line-number", is_wrong.then_some("is-wrong"))} {style} title={title}>
            <span class="time">{ mark.time }</span>
            <span class="number">{ if is_wrong { format!("\u{25cf} {n}") } else { n.to_string() } }</span>
            { "\n" }
        </span>
    }
}
