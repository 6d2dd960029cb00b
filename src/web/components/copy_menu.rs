//! The menu for copying from a view: its link, the command that gives the same result, its tables as Markdown, its charts as pictures.

use crate::state::StateDispatcher;
use web_sys::HtmlCanvasElement;
use yew::prelude::*;

use super::Menu;
use super::shown::{ShownText, shown_texts};
use crate::context::{AppContext, use_app};
use crate::model_files::{link_sentence, linked_hash};
use crate::platform::picture::{self, Chart};
use crate::platform::{clipboard, url};
use ns_page::notices::{NoticeAction, Notices, Tone};

/// Properties of [`CopyMenu`].
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
    /// The command that gives the same result; without it, the one that a document on the screen names.
    #[prop_or_default]
    pub command: Option<AttrValue>,
    /// A canvas that can be copied as a picture: its name, and the function that paints it.
    #[prop_or_default]
    pub canvas: Option<(AttrValue, Callback<(), Option<HtmlCanvasElement>>)>,
}

/// The things that can be copied, found when the menu is opened.
#[derive(Clone, Default, PartialEq)]
struct Found {
    texts: Vec<ShownText>,
    charts: Vec<Chart>,
}

/// The menu.
#[component]
pub fn CopyMenu(props: &CopyMenuProps) -> Html {
    let found = use_state_eq(Found::default);
    let Some(app) = use_app() else { return Html::default() };
    let on_toggle = {
        let found = found.setter();
        Callback::from(move |is_open: bool| {
            let now = || Found { texts: shown_texts(), charts: picture::charts() };
            found.set(if is_open { now() } else { Found::default() });
        })
    };
    let notices = &app.notices;
    let command = props.command.clone().or_else(|| found.texts.iter().find_map(ShownText::command).map(Into::into));
    let texts = found.texts.iter().map(|text| {
        let (notices, text) = (notices.clone(), text.clone());
        let name = text.name();
        entry("markdown", name, Callback::from(move |()| copy(&notices, "Markdown", &text.markdown())))
    });
    let charts = found.charts.iter().map(|chart| {
        let (notices, chart) = (notices.clone(), chart.clone());
        let name = chart.title.clone();
        entry("image", name, Callback::from(move |()| picture::copy_chart(&chart, saying(&notices))))
    });
    let canvas = props.canvas.clone().map(|(name, paint)| {
        let (notices, title) = (notices.clone(), name.to_string());
        let what = Callback::from(move |()| match paint.emit(()) {
            Some(canvas) => picture::copy_canvas(&title, &canvas, saying(&notices)),
            None => saying(&notices)(Err("There is no picture of it now.".to_owned())),
        });
        entry("image", name.to_string(), what)
    });
    let has_pictures = !found.charts.is_empty() || canvas.is_some();
    html! {
        <Menu label="Copy" title="What to copy" {on_toggle}>
            { link_entry(props, &app) }
            { for command.map(|text| command_entry(&text, notices)) }
            if !found.texts.is_empty() {
                <li class="menu-group" aria-hidden="true">{ "As Markdown" }</li>
                { for texts }
            }
            if has_pictures {
                <li class="menu-group" aria-hidden="true">{ "As image" }</li>
                { for canvas }
                { for charts }
            }
        </Menu>
    }
}

fn link_entry(props: &CopyMenuProps, app: &AppContext) -> Html {
    let notices = app.notices.clone();
    let hash = linked_hash(&app.models, &props.model, props.hash.to_string());
    let gives = link_sentence(&app.models, &props.model).unwrap_or_else(|| props.link_gives.to_string());
    let what = Callback::from(move |()| {
        let address = url::address_with(&hash);
        let (notices, gives, shown) = (notices.clone(), gives.clone(), address.clone());
        let done = Callback::from(move |result: Result<(), String>| {
            let (tone, text) = match result {
                Ok(()) => (Tone::Good, format!("The link is in the clipboard. {gives}")),
                Err(reason) => (Tone::Info, format!("The clipboard refused ({reason}). The link is: {shown}")),
            };
            notices.dispatch(NoticeAction::Say(tone, text));
        });
        clipboard::copy(&address, done);
    });
    entry("link", "Copy link".to_owned(), what)
}

fn command_entry(text: &AttrValue, notices: &StateDispatcher<Notices>) -> Html {
    let (notices, text) = (notices.clone(), text.clone());
    entry("command", "Copy command line".to_owned(), Callback::from(move |()| copy(&notices, "command line", &text)))
}

/// A button of the menu; `kind` is its name for tests.
fn entry(kind: &'static str, title: String, what: Callback<()>) -> Html {
    let onclick = what.reform(|_: MouseEvent| ());
    html! { <li><button type="button" data-copy={kind} {onclick}>{ title }</button></li> }
}

/// Copies a text, and reports the outcome; a text that the clipboard refuses is shown, so that it can be copied by hand.
fn copy(notices: &StateDispatcher<Notices>, what: &'static str, text: &str) {
    let (notices, shown) = (notices.clone(), text.to_owned());
    let done = Callback::from(move |result: Result<(), String>| {
        let (tone, text) = match result {
            Ok(()) => (Tone::Good, format!("The {what} is in the clipboard.")),
            Err(reason) => (Tone::Info, format!("The clipboard refused ({reason}). It is:\n{shown}")),
        };
        notices.dispatch(NoticeAction::Say(tone, text));
    });
    clipboard::copy(text, done);
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
