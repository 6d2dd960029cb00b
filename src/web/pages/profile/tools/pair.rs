//! Two timelines one above the other on one axis: moving the view of one moves both.

use std::cell::Cell;
use std::rc::Rc;

use gloo_events::{EventListener, EventListenerOptions};
use wasm_bindgen::JsCast;
use web_sys::{HtmlCanvasElement, HtmlElement, KeyboardEvent};
use yew::prelude::*;

use crate::components::{on, set};
use crate::context::use_app;
use crate::pages::profile::timeline::use_canvas;
use crate::platform::page;
use crate::state::OpenRun;
use crate::timeline::{Change, Controller};
use ns_analysis::opcode::{opcode, short_name};
use ns_session::{Message, ProfileQuestion, Reply};
use ns_view::timeline::{Neighbour, SliceRef};

/// The most slices with a name that are searched to find the first.
const MOST_HITS: u32 = 10_000;

#[derive(Properties, PartialEq)]
pub struct PairOfTimelinesProps {
    pub base: OpenRun,
    /// The run that is compared with the base.
    pub other: OpenRun,
    /// Slices of this name are highlighted on both while no slice is chosen on either.
    #[prop_or_default]
    pub name: Option<AttrValue>,
}

/// The slice that was chosen on one of the two.
#[derive(Clone, PartialEq)]
struct ChosenSlice {
    run: u32,
    slice: SliceRef,
    name: String,
    duration_ns: u64,
    start_ns: i64,
}

/// Both timelines. Slices with the name of the chosen one are highlighted on both.
#[component]
pub fn PairOfTimelines(props: &PairOfTimelinesProps) -> Html {
    let chosen = use_state_eq(|| None::<ChosenSlice>);
    let base = use_controller(&props.base, &chosen);
    let other = use_controller(&props.other, &chosen);
    // Times of the compared profile minus times of the base beside it, in ns.
    let offset_ns = use_state_eq(|| 0_i64);
    use_effect_with((base.clone(), other.clone(), *offset_ns), |(base, other, offset)| {
        base.0.pair_with(&other.0, *offset);
    });
    let fit = on(base.0.clone(), |base, _: MouseEvent| base.fit());
    let zoom = |factor: f64| on(base.0.clone(), move |base, _: MouseEvent| base.zoom(factor));
    // A name that was chosen in the table after the slice takes its place.
    use_effect_with(props.name.clone(), {
        let chosen = chosen.setter();
        move |_| chosen.set(None)
    });
    let name = chosen.as_ref().map(|c| AttrValue::from(c.name.clone())).or_else(|| props.name.clone());
    let said = chosen.as_ref().map(|c| {
        let run = if c.run == props.base.id { &props.base } else { &props.other };
        format!(
            "{}: {} at {} of {}; its name is highlighted on both.",
            short_name(&c.name),
            run.info.outline.unit.text(i64::try_from(c.duration_ns).unwrap_or(i64::MAX)),
            run.info.outline.unit.place(c.start_ns),
            run.info.name
        )
    });
    let align = name.clone().map(|name| {
        let (base, other, offset_ns) = (props.base.clone(), props.other.clone(), offset_ns.setter());
        Callback::from(move |_: MouseEvent| align_at(&base, &other, &name, offset_ns.clone()))
    });
    let cannot_align = align.is_none();
    let from_start = set(&offset_ns, 0);
    let moved = (*offset_ns != 0).then(|| {
        let way = if *offset_ns > 0 { "earlier" } else { "later" };
        format!("{} is shown {} {way}.", props.other.info.name, props.other.info.outline.unit.exact(offset_ns.abs()))
    });
    html! {
        <section class="panel pair" aria-label="Both timelines">
            <div class="timeline-tools" role="toolbar" aria-label="Zoom of both timelines">
                <button type="button" onclick={zoom(1.0 / 1.5)} title="W">{ "Zoom in" }</button>
                <button type="button" onclick={zoom(1.5)} title="S">{ "Zoom out" }</button>
                <button type="button" onclick={fit} title="0">{ "Fit" }</button>
                <button type="button" onclick={align} disabled={cannot_align}>{ "Align at this name" }</button>
                <button type="button" onclick={from_start} disabled={*offset_ns == 0}>{ "Align starts" }</button>
                if let Some(moved) = moved { <span class="note" role="status">{ moved }</span> }
            </div>
            <OneTimeline run={props.base.clone()} timeline={base} role="Base" selected={selected(&chosen, &props.base)} name={name.clone()} />
            <OneTimeline run={props.other.clone()} timeline={other} role="Compared" selected={selected(&chosen, &props.other)} name={name.clone()} />
            <p class="note" role="status">{ said.or(name.as_ref().map(|n| format!("{} is highlighted on both.", short_name(n)))).unwrap_or_else(|| "Both begin at the left. Zoom and pan either one with the mouse, or focus it and use W A S D. Press a slice to find its name on both.".to_owned()) }</p>
        </section>
    }
}

/// Aligns the first slices of a name on both timelines; does nothing if one of the profiles does not have the name.
fn align_at(base: &OpenRun, other: &OpenRun, name: &AttrValue, offset_ns: UseStateSetter<i64>) {
    let found = Rc::new(Cell::new((None::<i64>, None::<i64>)));
    for (run, is_base) in [(base, true), (other, false)] {
        let (found, wanted, offset_ns) = (Rc::clone(&found), name.clone(), offset_ns.clone());
        let on_message = Callback::from(move |message: Message| {
            let Message::Answer(Reply::Search(hits)) = message else { return };
            let first = hits
                .hits
                .iter()
                .find(|hit| hit.title == *wanted || opcode(&hit.title) == *wanted)
                .map(|hit| hit.start_ns);
            found.set(if is_base { (first, found.get().1) } else { (found.get().0, first) });
            if let (Some(here), Some(there)) = found.get() {
                offset_ns.set(there.saturating_sub(here));
            }
        });
        let (profile, text) = (run.info.profile, name.to_string());
        run.engine.send(ProfileQuestion::Search { text, by: None, limit: MOST_HITS }.of(profile), None, on_message);
    }
}

fn selected(chosen: &Option<ChosenSlice>, run: &OpenRun) -> Option<SliceRef> {
    chosen.as_ref().filter(|c| c.run == run.id).map(|c| c.slice)
}

/// A timeline with the element that scrolls it.
#[derive(Clone, PartialEq)]
struct ScrollingTimeline(Rc<Controller>, NodeRef);

#[hook]
fn use_controller(run: &OpenRun, chosen: &UseStateHandle<Option<ChosenSlice>>) -> ScrollingTimeline {
    let scroller = use_node_ref();
    let latest: Rc<std::cell::RefCell<Option<UseStateSetter<Option<ChosenSlice>>>>> = use_mut_ref(|| None);
    *latest.borrow_mut() = Some(chosen.setter());
    let known: Rc<std::cell::RefCell<Option<ChosenSlice>>> = use_mut_ref(|| None);
    known.borrow_mut().clone_from(&**chosen);
    let controller = use_memo(run.id, |_| {
        let (run, scroller, latest) = (run.clone(), scroller.clone(), Rc::clone(&latest));
        let asked = run.clone();
        let on_change = Callback::from(move |change: Change| {
            let Some(set) = latest.borrow().clone() else { return };
            match change {
                Change::Select(None) => set.set(None),
                Change::Select(Some(slice)) => ask(&asked, set, SliceQuestion::Slice(slice)),
                Change::Step(to) => {
                    if let Some(from) = known.borrow().as_ref().filter(|c| c.run == asked.id) {
                        ask(&asked, set, SliceQuestion::Beside(from.slice, to));
                    }
                }
                Change::Scroll(by) => {
                    if let Some(element) = scroller.cast::<HtmlElement>() {
                        page::scroll_by(&element, libm::round(by));
                    }
                }
                _ => {}
            }
        });
        Controller::new(run.engine.clone(), run.info.clone(), None, on_change)
    });
    ScrollingTimeline(controller, scroller)
}

enum SliceQuestion {
    Slice(SliceRef),
    Beside(SliceRef, Neighbour),
}

fn ask(run: &OpenRun, set: UseStateSetter<Option<ChosenSlice>>, what: SliceQuestion) {
    let (id, profile) = (run.id, run.info.profile);
    let on_message = Callback::from(move |message: Message| {
        if let Message::Answer(Reply::Details(Some(d))) = message {
            set.set(Some(ChosenSlice {
                run: id,
                slice: d.link.slice,
                name: d.link.title.clone(),
                duration_ns: d.link.duration_ns,
                start_ns: d.link.start_ns,
            }));
        }
    });
    let question = match what {
        SliceQuestion::Slice(slice) => ProfileQuestion::Details(slice),
        SliceQuestion::Beside(from, to) => ProfileQuestion::Step { from, to },
    };
    run.engine.send(question.of(profile), None, on_message);
}

#[derive(Properties, PartialEq)]
struct OneTimelineProps {
    run: OpenRun,
    timeline: ScrollingTimeline,
    role: AttrValue,
    selected: Option<SliceRef>,
    name: Option<AttrValue>,
}

/// One of the two timelines: its name and its canvas.
#[component]
fn OneTimeline(props: &OneTimelineProps) -> Html {
    let canvas = use_node_ref();
    let theme = use_app().map(|app| app.theme).unwrap_or_default();
    let ScrollingTimeline(controller, scroller) = &props.timeline;
    use_effect_with((controller.clone(), props.name.clone(), theme), |(c, name, theme)| {
        c.set_look(name.as_deref().unwrap_or_default(), None, *theme);
    });
    use_effect_with((controller.clone(), props.selected), |(c, slice)| c.set_selected(*slice));
    use_canvas(controller, &canvas, scroller);
    use_effect_with((controller.clone(), canvas.clone()), |(controller, canvas)| {
        let controller = (**controller).clone();
        let listener = canvas.cast::<HtmlCanvasElement>().map(|canvas| {
            let options = EventListenerOptions::enable_prevent_default();
            EventListener::new_with_options(&canvas, "keydown", options, move |event| {
                if event.dyn_ref::<KeyboardEvent>().is_some_and(|event| controller.key(event)) {
                    event.prevent_default();
                }
            })
        });
        move || drop(listener)
    });
    let height = controller.content_height();
    let label = format!("Timeline of {}", props.run.info.name);
    html! {
        <div class="pair-one">
            <h3><span class="tag">{ &props.role }</span>{ " " }{ &props.run.info.name }</h3>
            <div class="timeline-frame">
                <div class="timeline-scroll" ref={scroller.clone()} style={format!("--content:{height}px")}>
                    <div class="timeline-content" style={format!("height:{height}px")}>
                        <canvas ref={canvas} tabindex="0" role="application" aria-label={label} aria-roledescription="timeline"></canvas>
                    </div>
                </div>
            </div>
        </div>
    }
}
