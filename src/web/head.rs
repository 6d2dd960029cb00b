//! The head of the page: the name, the pages, the buttons that are always there. It is one row at any width: narrow windows have a menu of the pages.

use wasm_bindgen::JsCast;
use web_sys::{File, Node};
use yew::prelude::*;

use super::bridge;
use super::components::{file_picker, on, set};
use super::platform::{page, pointer, theme};
use ns_session::share::Page;
use ns_view::palette::Theme;

/// Id of the button that opens the menu; the focus goes back to it.
const TOGGLE: &str = "pages-toggle";

#[derive(Properties, PartialEq)]
pub struct SiteHeadProps {
    /// The page that is shown.
    pub current: Page,
    /// The pages with their addresses.
    pub links: Vec<(Page, AttrValue)>,
    pub theme: UseStateHandle<Theme>,
    /// Receives the picked files.
    pub on_files: Callback<Vec<File>>,
    /// Opens the finder.
    pub on_find: Callback<MouseEvent>,
}

#[component]
pub fn SiteHead(props: &SiteHeadProps) -> Html {
    let is_open = use_state_eq(|| false);
    use_effect_with(props.current, {
        let is_open = is_open.setter();
        move |_| is_open.set(false)
    });
    let toggle = on(is_open.clone(), |is_open, _: MouseEvent| is_open.set(!**is_open));
    let close = set(&is_open, false);
    let onkeydown = on(is_open.clone(), |is_open, event: KeyboardEvent| {
        if **is_open && event.key() == "Escape" {
            is_open.set(false);
            page::focus(TOGGLE);
        }
    });
    let onfocusout = on(is_open.clone(), |is_open, event: FocusEvent| {
        let head = pointer::around(&event, "header");
        let to = event.related_target().and_then(|t| t.dyn_into::<Node>().ok());
        if to.is_some() && !head.is_some_and(|head| head.contains(to.as_ref())) {
            is_open.set(false);
        }
    });
    let title = if props.current == Page::Home { "Pages" } else { props.current.title() };
    html! {
        <header class={classes!("site", is_open.then_some("is-open"))} {onkeydown} {onfocusout}>
            <a class="brand" href={Page::Home.hash()} aria-current={(props.current == Page::Home).then_some("page")}>{ logo() }<span>{ "neuronscope" }</span></a>
            <button type="button" id={TOGGLE} class="pages-toggle" aria-expanded={is_open.to_string()} aria-controls="pages" onclick={toggle}>
                <span class="visually-hidden">{ "Menu of pages: " }</span><span class="name">{ title }</span><span aria-hidden="true">{ "\u{25be}" }</span>
            </button>
            <nav id="pages" aria-label="Pages" onclick={close}>{ for props.links.iter().map(|(to, href)| link(*to, href.clone(), props.current)) }</nav>
            <div class="site-tools">
                <button type="button" class="find" aria-haspopup="dialog" aria-keyshortcuts="Control+K" title="Find models, pages, runs, operators (Ctrl+K)" onclick={props.on_find.clone()}>
                    <span aria-hidden="true">{ "\u{2315}" }</span><span class="words">{ "Find" }</span><kbd aria-hidden="true">{ "Ctrl K" }</kbd>
                </button>
                { file_picker("open-file", "Open files", props.on_files.clone()) }
                { theme_button(&props.theme) }
            </div>
        </header>
    }
}

fn link(to: Page, href: AttrValue, current: Page) -> Html {
    // The menu exists before the click that shows it.
    let fetch = bridge::is_in_lab(to).then(|| Callback::from(|_: PointerEvent| bridge::fetch_lab()));
    html! { <a {href} onpointerenter={fetch} aria-current={(to == current.in_head()).then_some("page")}>{ to.title() }</a> }
}

fn theme_button(theme: &UseStateHandle<Theme>) -> Html {
    let is_dark = **theme == Theme::Dark;
    let theme = theme.clone();
    let onclick =
        Callback::from(move |_: MouseEvent| set_theme(&theme, if is_dark { Theme::Light } else { Theme::Dark }));
    html! {
        <button type="button" class="plain" {onclick} aria-label={if is_dark { "Use the light theme" } else { "Use the dark theme" }}>
            { if is_dark { "\u{2600}\u{fe0e}" } else { "\u{263e}\u{fe0e}" } }
        </button>
    }
}

/// Shows the page in another theme, now and at the next visit.
pub fn set_theme(theme: &UseStateHandle<Theme>, to: Theme) {
    theme::apply(to, true);
    theme.set(to);
}

fn logo() -> Html {
    html! {
        <svg class="logo" viewBox="0 0 24 24" aria-hidden="true">
            <rect x="2" y="4" width="13" height="4" rx="1" class="a" /><rect x="6" y="10" width="9" height="4" rx="1" class="b" />
            <rect x="9" y="16" width="13" height="4" rx="1" class="c" />
        </svg>
    }
}
