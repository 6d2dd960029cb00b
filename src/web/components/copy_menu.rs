//! The menu for sharing a view: its link, the command that gives the same result, its tables as Markdown, its charts as pictures.

use crate::state::StateDispatcher;
use web_sys::HtmlCanvasElement;
use yew::prelude::*;

use super::screen_texts::{ScreenText, screen_texts};
use super::{Menu, on};
use crate::context::{AppContext, use_app};
use crate::model_files::{link_sentence, linked_hash};
use crate::platform::picture::{self, Chart, PictureFoot};
use crate::platform::{clipboard, date, machine, url};
use ns_base::convert::f64_to_u64;
use ns_page::notices::{NoticeAction, Notices, Tone};
use ns_session::{build_id, model_label};

#[derive(Properties, PartialEq)]
pub struct CopyMenuProps {
    /// The hash of the view.
    pub hash: AttrValue,
    /// A sentence that says what the link opens.
    #[prop_or(AttrValue::Static("Whoever opens it gets this view."))]
    pub link_gives: AttrValue,
    /// The model of the view: a link holds its file if that is small, and the menu says so.
    #[prop_or_default]
    pub model: AttrValue,
    /// How the figures came about, for pictures: [`SIMULATED`], or nothing to say.
    #[prop_or_default]
    pub origin: AttrValue,
    /// The command that gives the same result; without it, the one that a document on the screen names.
    #[prop_or_default]
    pub command: Option<AttrValue>,
    /// A canvas that can be copied as a picture: its name, and the function that paints it.
    #[prop_or_default]
    pub canvas: Option<(AttrValue, Callback<(), Option<HtmlCanvasElement>>)>,
    /// More entries: `li` elements with the files that can be saved.
    #[prop_or_default]
    pub children: Html,
}

/// The origin of figures that no device gave.
pub const SIMULATED: &str = "Simulated, not measured.";

/// The things that can be copied, found when the menu is opened.
#[derive(Clone, Default, PartialEq)]
struct CopyItems {
    texts: Vec<ScreenText>,
    charts: Vec<Chart>,
}

#[component]
pub fn CopyMenu(props: &CopyMenuProps) -> Html {
    let found = use_state_eq(CopyItems::default);
    let Some(app) = use_app() else { return Html::default() };
    let on_toggle = on(found.setter(), |found, is_open: bool| {
        let now = || CopyItems { texts: screen_texts(), charts: picture::charts() };
        found.set(if is_open { now() } else { CopyItems::default() });
    });
    let notices = &app.notices;
    let command = props.command.clone().or_else(|| found.texts.iter().find_map(ScreenText::command).map(Into::into));
    let texts = found.texts.iter().enumerate().map(|(i, text)| {
        let (notices, text) = (notices.clone(), text.clone());
        let name = text.name();
        entry("markdown", i, name, Callback::from(move |()| copy_text(&notices, "Markdown", &text.markdown(), "")))
    });
    let foot = foot(props, &app);
    let charts = (1..).zip(&found.charts).map(|(i, chart)| chart_entry(i, chart, &foot, notices));
    let canvas = props.canvas.clone().map(|(name, paint)| {
        let what = on((notices.clone(), name.to_string()), move |(notices, title), ()| match paint.emit(()) {
            Some(canvas) => picture::copy_canvas(title, &canvas, saying(notices)),
            None => saying(notices)(Err("There is no picture of it now.".to_owned())),
        });
        entry("image", 0, name.to_string(), what)
    });
    let has_pictures = !found.charts.is_empty() || canvas.is_some();
    let mut entries = vec![link_entry(props, &app)];
    entries.extend(command.map(|text| command_entry(text, notices)));
    // With a key, as all entries: the others stay the same elements.
    entries.push(html! { <key="files">{ props.children.clone() }</> });
    entries.extend((!found.texts.is_empty()).then(|| group("As Markdown")));
    entries.extend(texts);
    entries.extend(has_pictures.then(|| group("As image")));
    entries.extend(canvas);
    entries.extend(charts);
    html! {
        <Menu label="Share" title="What to copy or save" {on_toggle}>{ for entries }</Menu>
    }
}

fn link_entry(props: &CopyMenuProps, app: &AppContext) -> Html {
    let notices = app.notices.clone();
    let hash = linked_hash(&app.models, &props.model, props.hash.to_string());
    let gives = link_sentence(&app.models, &props.model).unwrap_or_else(|| props.link_gives.to_string());
    let what = Callback::from(move |()| copy_text(&notices, "link", &url::address_with(&hash), &gives));
    entry("link", 0, "Copy link".to_owned(), what)
}

/// A chart: its picture to copy, and to save as SVG.
fn chart_entry(number: usize, chart: &Chart, foot: &PictureFoot, notices: &StateDispatcher<Notices>) -> Html {
    let given = (chart.clone(), foot.clone(), notices.clone());
    let copy = on(given.clone(), |(chart, foot, notices), _: MouseEvent| {
        picture::copy_chart(chart, foot.clone(), saying(notices));
    });
    let save = on(given, |(chart, foot, notices), _: MouseEvent| saying(notices)(picture::save_svg(chart, foot)));
    html! {
        <li key={format!("image {number}")} class="two">
            <button type="button" data-copy="image" onclick={copy}>{ &chart.title }</button>
            if chart.is_drawing() {
                <button type="button" data-copy="svg" aria-label={format!("Save as SVG: {}", chart.title)} onclick={save}>{ "SVG" }</button>
            }
        </li>
    }
}

/// What stands below pictures of the page.
fn foot(props: &CopyMenuProps, app: &AppContext) -> PictureFoot {
    PictureFoot {
        subject: model_label(&props.model).into_owned(),
        origin: format!(
            "{} neuronscope {}, {}",
            props.origin,
            build_id(),
            date::moment(f64_to_u64(machine::wall_ms()))
        ),
        address: url::address_with(&linked_hash(&app.models, &props.model, props.hash.to_string())),
    }
}

fn command_entry(text: AttrValue, notices: &StateDispatcher<Notices>) -> Html {
    let what = on(notices.clone(), move |notices, ()| copy_text(notices, "command line", &text, ""));
    entry("command", 0, "Copy command line".to_owned(), what)
}

/// A button of the menu; `kind` is its name for tests. The key keeps it the same element while the opened menu finds more entries:
/// without it, a click or the focus on the link could end up on the entry after it.
fn entry(kind: &'static str, number: usize, title: String, what: Callback<()>) -> Html {
    let onclick = what.reform(|_: MouseEvent| ());
    html! { <li key={format!("{kind} {number}")}><button type="button" data-copy={kind} {onclick}>{ title }</button></li> }
}

/// The name of the entries below it.
fn group(name: &'static str) -> Html {
    html! { <li key={name} class="menu-group" aria-hidden="true">{ name }</li> }
}

/// Copies a text and says so, with a sentence on what it gives; a text that could not be copied is shown, to copy it by hand.
pub fn copy_text(notices: &StateDispatcher<Notices>, what: &'static str, text: &str, gives: &str) {
    let (notices, copied, gives) = (notices.clone(), text.to_owned(), gives.to_owned());
    clipboard::copy(text, move |outcome| {
        let (tone, text) = match outcome {
            Ok(()) => (Tone::Good, format!("The {what} is in the clipboard. {gives}").trim_end().to_owned()),
            Err(reason) => (Tone::Info, format!("Nothing was copied ({reason}). The {what} is:\n{copied}")),
        };
        notices.dispatch(NoticeAction::Say(tone, text));
    });
}

/// Reports whether a picture was copied or saved.
fn saying(notices: &StateDispatcher<Notices>) -> impl FnOnce(Result<&'static str, String>) + use<> + 'static {
    let notices = notices.clone();
    move |result| {
        let (tone, text) = match result {
            Ok(text) => (Tone::Good, text.to_owned()),
            Err(text) => (Tone::Bad, text),
        };
        notices.dispatch(NoticeAction::Say(tone, text));
    }
}
