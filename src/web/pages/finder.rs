//! One dialog that finds pages, models, instances, open runs, tools, settings, operators, tracks and slices: the field in the head, Ctrl+K,
//! or Command+K.

use std::cell::RefCell;
use std::rc::Rc;

use gloo_events::{EventListener, EventListenerOptions};
use wasm_bindgen::JsCast;
use web_sys::{HtmlElement, KeyboardEvent};
use yew::prelude::*;

use crate::components::{on, set};
use crate::head::set_theme;
use crate::platform::{page, url};
use crate::state::{OpenRun, ProfileAction, ProfileState, StateHandle};
use crate::worker::Engine;
use ns_analysis::GroupBy;
use ns_analysis::opcode::short_name;
use ns_page::Shared;
use ns_page::profile::{tool_name, tools_of};
use ns_profile::levels::ALL_LEVELS;
use ns_session::share::{Page, Tool, encode};
use ns_session::{AnalysisRequest, Catalog, JobId, Listing, Message, ProfileQuestion, QueryOf, Reply, Rows};
use ns_view::palette::Theme;
use ns_view::text::contains_ignoring_case;
use ns_view::timeline::{GroupKind, SliceLink, TrackId};

/// The most slices that are listed.
const MOST_SLICES: u32 = 20;
/// The most operators and tracks that are listed.
const MOST_OPERATORS: u32 = 8;
const MOST_TRACKS: usize = 12;
/// What a model and an instance are run with.
const EXAMPLE_INSTANCE: &str = "inf2.xlarge";
const EXAMPLE_MODEL: &str = "bert-base-uncased";
/// Smallest length of a searched text: shorter texts occur in too many names.
const LEAST_LETTERS: usize = 2;

#[derive(Properties, PartialEq)]
pub struct FinderProps {
    /// The pages with their addresses.
    pub pages: Vec<(Page, AttrValue)>,
    /// The kept runs and files: names and addresses.
    pub kept: Vec<(AttrValue, AttrValue)>,
    /// The profiles that are open.
    pub profile: StateHandle<ProfileState>,
    /// The theme, which is a setting.
    pub theme: UseStateHandle<Theme>,
    /// Models and instances, once they are known.
    pub catalog: Option<Shared<Catalog>>,
    /// Whether the dialog is open.
    pub is_open: UseStateHandle<bool>,
}

/// The target of an entry.
#[derive(Clone, PartialEq)]
enum Place {
    Page(AttrValue),
    Run(u32),
    Tool(Tool),
    Slice(SliceLink),
    /// All slices of a name.
    Operator(String),
    Track(TrackId),
    Theme(Theme),
    /// Another level; `None` for the default one.
    Level(Option<String>),
}

/// The hits from the worker.
#[derive(Clone, Default, PartialEq)]
struct Hits {
    slices: Vec<SliceLink>,
    operators: Vec<String>,
}

/// An entry of the list: its kind, its name, its target.
type Entry = (&'static str, String, Place);

/// The dialog; empty until it is opened.
#[component]
pub fn Finder(props: &FinderProps) -> Html {
    let is_open = props.is_open.clone();
    let text = use_state_eq(String::new);
    let at = use_state_eq(|| 0_usize);
    let found = use_state_eq(Hits::default);
    // Answers come one after the other: each is added to the ones before.
    let latest = use_mut_ref(Hits::default);
    let before = use_mut_ref(|| None::<HtmlElement>);
    use_shortcut(&is_open);
    use_focus(*is_open, &text, &at, &before);
    let found_in = HitsSetter { latest, current: found.setter() };
    use_slices(&props.profile, &text, &found_in);
    use_operators_named(&props.profile, &text, &found_in);
    if !*is_open {
        return Html::default();
    }
    let entries = entries(props, &text, &found);
    let current = (*at).min(entries.len().saturating_sub(1));
    let go = {
        let (profile, theme, is_open, before) =
            (props.profile.clone(), props.theme.clone(), is_open.clone(), before.clone());
        Callback::from(move |place: Place| {
            // A track takes the focus to the timeline.
            if matches!(place, Place::Track(_)) {
                *before.borrow_mut() = None;
            }
            is_open.set(false);
            go_to(&profile, &theme, place);
        })
    };
    let onkeydown = keys(&entries, (&at, current), &go, &is_open);
    let oninput = on((text.clone(), at.clone()), |(text, at), event: InputEvent| {
        text.set(page::value_of(&event));
        at.set(0);
    });
    let close = set(&is_open, false);
    let option = |(i, entry): (usize, &Entry)| option(i, entry, i == current, &go);
    html! {
        <div class="finder-veil" onclick={close}>
            <div class="finder" role="dialog" aria-modal="true" aria-label="Find" onclick={|event: MouseEvent| event.stop_propagation()}>
                <input
                    id="finder" type="search" role="combobox" aria-expanded="true" aria-controls="finder-list" autocomplete="off"
                    aria-activedescendant={(!entries.is_empty()).then(|| format!("finder-{current}"))} aria-label="Find a tool, run, page, setting, operator, track or slice"
                    placeholder="Find a tool, run, page, setting, operator, track or slice" value={(*text).clone()} {oninput} {onkeydown}
                />
                <ul id="finder-list" role="listbox" aria-label="Found">{ for entries.iter().enumerate().map(option) }</ul>
                if entries.is_empty() { <p class="empty" role="status">{ "No name contains this text." }</p> }
            </div>
        </div>
    }
}

/// Handles keys: the arrow keys walk along the entries, Enter opens the marked one, Escape closes the dialog.
fn keys(
    entries: &[Entry],
    (at, current): (&UseStateHandle<usize>, usize),
    go: &Callback<Place>,
    is_open: &UseStateHandle<bool>,
) -> Callback<KeyboardEvent> {
    let (entries, at, go, is_open) = (entries.to_vec(), at.clone(), go.clone(), is_open.clone());
    Callback::from(move |event: KeyboardEvent| {
        let count = entries.len().max(1);
        match event.key().as_str() {
            "ArrowDown" => at.set((current + 1) % count),
            "ArrowUp" => at.set((current + count - 1) % count),
            "Enter" => entries.get(current).into_iter().for_each(|(.., place)| go.emit(place.clone())),
            "Escape" => is_open.set(false),
            // Only the field takes the focus here.
            "Tab" => {}
            _ => return,
        }
        event.prevent_default();
        event.stop_propagation();
    })
}

/// An entry of the list.
fn option(i: usize, (kind, name, place): &Entry, is_shown: bool, go: &Callback<Place>) -> Html {
    let onclick = on((go.clone(), place.clone()), |(go, place), _: MouseEvent| go.emit(place.clone()));
    html! {
        <li id={format!("finder-{i}")} role="option" aria-selected={is_shown.to_string()} {onclick}>
            <span class="kind">{ *kind }</span><span class="name">{ name }</span>
        </li>
    }
}

/// Moves the focus to the field when the dialog opens, and back to where it was when the dialog closes.
#[hook]
fn use_focus(
    is_open: bool,
    text: &UseStateHandle<String>,
    at: &UseStateHandle<usize>,
    before: &Rc<RefCell<Option<HtmlElement>>>,
) {
    use_effect_with(is_open, {
        let (text, at, before) = (text.clone(), at.clone(), Rc::clone(before));
        move |is_open| {
            if *is_open {
                *before.borrow_mut() = page::focused();
                page::focus("finder");
            } else {
                text.set(String::new());
                at.set(0);
                if let Some(element) = before.borrow_mut().take() {
                    let _ = element.focus();
                }
            }
        }
    });
}

/// Opens and closes the dialog with Ctrl+K.
#[hook]
fn use_shortcut(is_open: &UseStateHandle<bool>) {
    use_effect_with(**is_open, {
        let is_open = is_open.clone();
        move |_| {
            let options = EventListenerOptions::enable_prevent_default();
            let listener = web_sys::window().map(|window| {
                EventListener::new_with_options(&window, "keydown", options, move |event| {
                    let Some(event) = event.dyn_ref::<KeyboardEvent>() else { return };
                    if (event.ctrl_key() || event.meta_key()) && event.key().eq_ignore_ascii_case("k") {
                        event.prevent_default();
                        is_open.set(!*is_open);
                    }
                })
            });
            move || drop(listener)
        }
    });
}

/// The place for answers of the worker.
#[derive(Clone)]
struct HitsSetter {
    latest: Rc<RefCell<Hits>>,
    current: UseStateSetter<Hits>,
}

impl HitsSetter {
    fn change(&self, change: impl FnOnce(&mut Hits)) {
        let mut latest = self.latest.borrow_mut();
        change(&mut latest);
        self.current.set(latest.clone());
    }
}

/// Asks the worker for slices whose name contains the typed text.
#[hook]
fn use_slices(profile: &StateHandle<ProfileState>, text: &str, found: &HitsSetter) {
    let asked = profile.current_run().map(|run| (run.id, run.engine.clone(), run.info.profile));
    let key = (asked.as_ref().map(|(id, ..)| *id), text.trim().to_owned());
    let found = found.clone();
    use_effect_with(key, move |(_, text)| {
        let asked = asked.filter(|_| text.chars().count() >= LEAST_LETTERS);
        if asked.is_none() {
            found.change(|found| found.slices.clear());
        }
        let text = text.clone();
        let on_message = Callback::from(move |message: Message| {
            if let Message::Answer(Reply::Search(hits)) = message {
                found.change(|found| found.slices = hits.hits);
            }
        });
        let job = asked.map(|(_, engine, profile)| {
            let question = ProfileQuestion::Search { text, by: None, limit: MOST_SLICES };
            let job = engine.send(question.of(profile), None, on_message);
            (engine, job)
        });
        move || forget(job)
    });
}

/// Asks the worker for operators whose name contains the typed text, those with the most time first.
#[hook]
fn use_operators_named(profile: &StateHandle<ProfileState>, text: &str, found: &HitsSetter) {
    let asked = profile.current_run().map(|run| (run.id, run.engine.clone(), run.info.profile));
    let level = profile.level();
    let key = (asked.as_ref().map(|(id, ..)| *id), text.trim().to_owned(), level);
    let found = found.clone();
    use_effect_with(key, move |(_, text, level)| {
        let asked = asked.filter(|_| text.chars().count() >= LEAST_LETTERS);
        if asked.is_none() {
            found.change(|found| found.operators.clear());
        }
        let what = Listing::Query(QueryOf::operators_named(text, level.clone()));
        let rows = Rows { skip: 0, limit: MOST_OPERATORS };
        let on_message = Callback::from(move |message: Message| {
            if let Message::Answer(Reply::Listed(listed)) = message {
                let names = listed.table.rows.iter().filter_map(|row| Some(row.first()?.raw())).collect();
                found.change(|found| found.operators = names);
            }
        });
        let job = asked.map(|(_, engine, profile)| {
            let job = engine.send(AnalysisRequest::List(what, rows).of(profile), None, on_message);
            (engine, job)
        });
        move || forget(job)
    });
}

/// Drops a question: what is found for a text is not shown for the next one.
fn forget(asked: Option<(Engine, JobId)>) {
    if let Some((engine, job)) = asked {
        engine.forget(job);
    }
}

/// All entries whose name contains the text: tools, runs, pages, settings, operators, tracks, slices.
fn entries(props: &FinderProps, text: &str, found: &Hits) -> Vec<Entry> {
    let text = text.trim();
    let current = props.profile.current_run();
    let tools = current.into_iter().flat_map(|run| {
        let all = tools_of(run).into_iter().flat_map(|(_, tools)| tools);
        all.filter(|(_, lack)| lack.is_none()).map(|(t, _)| ("Tool", tool_name(t, run).to_owned(), Place::Tool(t)))
    });
    let run = |run: &OpenRun| ("Run", run.label(), Place::Run(run.id));
    let others = props.profile.runs.iter().filter(|r| Some(r.id) != props.profile.current).map(run);
    let pages = props.pages.iter().map(|(page, link)| ("Page", page.title().to_owned(), Place::Page(link.clone())));
    let tabs = Page::TABS.into_iter().flat_map(|(_, tabs)| tabs);
    let tabs = tabs.map(|(tab, name)| ("Page", format!("{}: {name}", tab.title()), Place::Page(tab.hash().into())));
    let kept = props.kept.iter().map(|(name, link)| ("Kept", name.to_string(), Place::Page(link.clone())));
    let named =
        tools.chain(others).chain(pages).chain(tabs).chain(kept).chain(settings(props)).chain(to_run(props, text));
    let named = named.filter(|(_, name, _)| contains_ignoring_case(name, text));
    let operators = found.operators.iter().map(|name| ("Operator", name.clone(), Place::Operator(name.clone())));
    let of_slice = |s: &SliceLink| ("Slice", short_name(&s.title).into_owned(), Place::Slice(s.clone()));
    let slices = found.slices.iter().map(of_slice);
    named.chain(operators).chain(tracks(current, text)).chain(slices).collect()
}

/// Models and instances, once something is typed: each leads to a benchmark.
fn to_run(props: &FinderProps, text: &str) -> Vec<Entry> {
    let Some(catalog) = props.catalog.as_ref().filter(|_| text.chars().count() >= LEAST_LETTERS) else {
        return Vec::new();
    };
    let run = |model: &str, instance: &str| {
        Place::Page(
            format!("{}?v=1&model={}&instance={}", Page::Benchmark.hash(), encode(model), encode(instance)).into(),
        )
    };
    let models = catalog.models.iter().map(|m| ("Model", m.name.clone(), run(&m.name, EXAMPLE_INSTANCE)));
    let instances = catalog.instances.iter().map(|i| ("Instance", i.name.clone(), run(EXAMPLE_MODEL, &i.name)));
    models.chain(instances).collect()
}

/// The settings: the theme, and the level that tools look at.
fn settings(props: &FinderProps) -> Vec<Entry> {
    let (to, name) = match *props.theme {
        Theme::Dark => (Theme::Light, "Light theme"),
        Theme::Light => (Theme::Dark, "Dark theme"),
    };
    let mut all: Vec<Entry> = vec![("Setting", name.to_owned(), Place::Theme(to))];
    let Some(run) = props.profile.current_run().filter(|run| run.info.levels.len() > 1) else { return all };
    let now = props.profile.level().unwrap_or_else(|| run.info.default_level.clone());
    let names = run.info.levels.iter().map(|l| l.name.as_str()).chain([ALL_LEVELS]);
    all.extend(names.filter(|name| *name != now).map(|name| {
        let level = (name != run.info.default_level).then(|| name.to_owned());
        ("Setting", format!("Level: {name}"), Place::Level(level))
    }));
    all
}

/// Tracks of the timeline, once something is typed.
fn tracks(run: Option<&OpenRun>, text: &str) -> Vec<Entry> {
    if text.chars().count() < LEAST_LETTERS {
        return Vec::new();
    }
    let sections = run.into_iter().flat_map(|run| &run.info.outline.sections);
    let all = sections.flat_map(|s| s.tracks.iter().map(move |t| (s.name_of(t), t.id)));
    let named = all.filter(|(name, _)| contains_ignoring_case(name, text)).take(MOST_TRACKS);
    named.map(|(name, id)| ("Track", name, Place::Track(id))).collect()
}

fn go_to(profile: &StateHandle<ProfileState>, theme: &UseStateHandle<Theme>, place: Place) {
    match place {
        Place::Page(link) => url::go(&link),
        Place::Run(id) => profile.dispatch(ProfileAction::Show(id)),
        Place::Tool(tool) => profile.dispatch(ProfileAction::Tool(tool)),
        Place::Slice(link) => profile.dispatch(ProfileAction::Jump(link)),
        Place::Operator(name) => {
            let kind = GroupKind { by: GroupBy::Operation, level: profile.level() };
            profile.dispatch(ProfileAction::Highlight(kind, name));
        }
        Place::Track(id) => profile.dispatch(ProfileAction::ShowTrack(id)),
        Place::Theme(to) => set_theme(theme, to),
        Place::Level(level) => profile.dispatch(ProfileAction::Level(level)),
    }
}
