//! The controller of a timeline: holds the state of the screen, and asks the worker for slices.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use gloo_timers::callback::Timeout;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};
use yew::Callback;

use super::change::Change;
use crate::platform::url::PendingAddress;
use crate::worker::Engine;
use ns_base::convert::i64_to_f64;
use ns_base::{Few, Interval, TraceNs};
use ns_page::Shared;
use ns_page::replies::answer_of;
use ns_session::{JobId, Message, ProfileInfo, ProfileQuestion, Reply};
use ns_view::colours::Colours;
use ns_view::palette::Theme;
use ns_view::timeline::{
    Annotation, Area, Arrangement, FlowArrow, GroupKind, Layout, Metrics, NameLooks, SliceGroup, SliceRef,
    TimelineQuery, TimelineTile, TrackId, ViewHistory, Viewport, common_axis, slice_in_tile,
};

/// Delay from the last move of a view until the page is told.
const SETTLE_MS: u32 = 160;

/// Time for texts in a frame. If nothing moved, the next frame has twice as much, and most texts are cached by then.
pub(super) const FRAME_TEXT_MS: f64 = 8.0;

/// One timeline. Clones refer to the same one.
#[derive(Clone)]
pub struct Controller(pub(super) Rc<ControllerInner>);

impl PartialEq for Controller {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

pub(super) struct ControllerInner {
    pub(super) engine: Engine,
    pub(super) info: Shared<ProfileInfo>,
    pub(super) on_change: Callback<Change>,
    pub(super) screen: RefCell<Screen>,
    is_frame_due: Cell<bool>,
    pending_job: Cell<Option<JobId>>,
    /// The span that limits the view: the profile's span, or the span of all profiles on its axis.
    bounds: Cell<Interval<TraceNs>>,
    /// The timeline whose view moves along with this one, and the difference of its times minus those here, in ns.
    partner: RefCell<Option<(Weak<ControllerInner>, i64)>>,
    settle: RefCell<Option<Timeout>>,
    /// Whether to select the first slice in view as soon as slices are known.
    pub(super) wants_first: Cell<bool>,
    /// The span that the page knows of.
    reported_span: Cell<Option<Interval<TraceNs>>>,
    /// The view that the page set. It is reported with the page's own span: a different span would be a new history entry.
    visited: Cell<Option<Viewport>>,
    /// Whether the user has moved the view, even if the page does not know it yet.
    pub(super) is_moved: Cell<bool>,
}

/// Everything a frame depends on.
pub(super) struct Screen {
    pub(super) canvas: Option<(HtmlCanvasElement, CanvasRenderingContext2d)>,
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) dpr: f64,
    pub(super) scroll_y: f64,
    pub(super) metrics: Metrics,
    pub(super) layout: Layout,
    pub(super) arrangement: Arrangement,
    pub(super) annotations: Vec<Annotation>,
    pub(super) arrows: Vec<FlowArrow>,
    pub(super) area: Option<Area>,
    /// Position of the pointer, while it is over the canvas and no button is pressed.
    pub(super) pointer: Option<(f64, f64)>,
    /// A dragged track, and the track whose position it takes if it is dropped now.
    pub(super) moved_track: Option<(TrackId, Option<TrackId>)>,
    pub(super) history: ViewHistory<Viewport>,
    pub(super) view: Viewport,
    pub(super) tile: Option<Shared<TimelineTile>>,
    /// How the names of the tile look, computed for every new tile and search.
    pub(super) looks: NameLooks,
    /// The colours of the names.
    colours: Colours,
    pub(super) strips: super::painter::StripCanvas,
    pub(super) selected: Option<SliceRef>,
    pub(super) search: String,
    /// The group that is highlighted instead of the search hits.
    pub(super) group: Option<SliceGroup>,
    pub(super) theme: Theme,
    pub(super) range_px: Option<(f64, f64)>,
    pub(super) pointers: Few<i32, (f64, f64)>,
    pub(super) drag: super::pointer::Drag,
    /// A span from a link that waits until the width is known.
    pub(super) wanted_span: Option<Interval<TraceNs>>,
}

impl Screen {
    fn look_up_names(&mut self) {
        self.looks = self
            .tile
            .as_deref()
            .map_or_else(NameLooks::default, |tile| NameLooks::new(tile, &self.search, &self.colours));
    }
}

impl Controller {
    /// The timeline of a profile. It paints nothing before [`Self::resize`].
    pub fn new(
        engine: Engine,
        info: Shared<ProfileInfo>,
        span: Option<Interval<TraceNs>>,
        on_change: Callback<Change>,
    ) -> Self {
        let view = Viewport::fit(info.outline.span, 1_000.0);
        let metrics = Metrics::default();
        let layout = Layout::new(&info.outline, &Arrangement::default(), &metrics);
        let screen = Screen {
            canvas: None,
            width: 0.0,
            height: 0.0,
            dpr: 1.0,
            scroll_y: 0.0,
            metrics,
            layout,
            arrangement: Arrangement::default(),
            annotations: Vec::new(),
            arrows: Vec::new(),
            area: None,
            pointer: None,
            moved_track: None,
            history: ViewHistory::default(),
            view,
            tile: None,
            looks: NameLooks::default(),
            colours: info.colours.clone(),
            strips: super::painter::StripCanvas::new(),
            selected: None,
            search: String::new(),
            group: None,
            theme: Theme::default(),
            range_px: None,
            pointers: Few::default(),
            drag: super::pointer::Drag::None,
            wanted_span: span,
        };
        Self(Rc::new(ControllerInner {
            bounds: Cell::new(info.outline.span),
            partner: RefCell::default(),
            engine,
            info,
            on_change,
            screen: RefCell::new(screen),
            is_frame_due: Cell::new(false),
            pending_job: Cell::new(None),
            settle: RefCell::default(),
            wants_first: Cell::new(false),
            reported_span: Cell::new(span),
            visited: Cell::new(None),
            is_moved: Cell::new(false),
        }))
    }

    /// Puts this timeline and another one on a common axis: moving one view moves both, and both stay near the span of the two
    /// profiles. An instant here is next to the instant that is `offset_ns` later there.
    pub fn pair_with(&self, other: &Self, offset_ns: i64) {
        let bounds = common_axis([self, other].map(|one| one.0.info.outline.span), offset_ns);
        let offsets = [offset_ns, offset_ns.saturating_neg()];
        for (((one, two), bounds), offset) in [(self, other), (other, self)].into_iter().zip(bounds).zip(offsets) {
            one.0.bounds.set(bounds);
            *one.0.partner.borrow_mut() = Some((Rc::downgrade(&two.0), offset));
        }
        // Before the canvas has a size, the view is that of this profile alone.
        let is_new = self.0.screen.borrow().canvas.is_none();
        let bounds = self.bounds();
        self.change_view(|view| if is_new { Viewport::fit(bounds, view.width_px()) } else { view });
    }

    /// Height of everything in pixels, the ruler included.
    pub fn content_height(&self) -> f64 {
        let screen = self.0.screen.borrow();
        screen.layout.height() + screen.metrics.ruler
    }

    /// The slices on the screen and the span it shows, for the table beside the canvas.
    pub fn visible_slices(&self) -> (Option<Shared<TimelineTile>>, Viewport) {
        let screen = self.0.screen.borrow();
        (screen.tile.clone(), screen.view)
    }

    /// Sets how tracks are arranged.
    pub fn set_arrangement(&self, arrangement: &Arrangement) {
        let mut screen = self.0.screen.borrow_mut();
        if screen.arrangement != *arrangement {
            screen.arrangement.clone_from(arrangement);
            screen.layout = Layout::new(&self.0.info.outline, arrangement, &screen.metrics);
        }
        drop(screen);
        self.changed();
    }

    /// Sets the marks, ranges and flow arrows over the slices.
    pub fn set_overlay(&self, annotations: &[Annotation], arrows: Vec<FlowArrow>) {
        {
            let mut screen = self.0.screen.borrow_mut();
            screen.annotations = annotations.to_vec();
            screen.arrows = arrows;
        }
        self.redraw();
    }

    /// Sets the selected area.
    pub fn set_area(&self, area: Option<&Area>) {
        self.0.screen.borrow_mut().area = area.cloned();
        self.redraw();
    }

    /// Goes to the view before this one, or to the one that was undone last.
    pub fn undo(&self, forth: bool) {
        let to = {
            let mut screen = self.0.screen.borrow_mut();
            if forth { screen.history.redo() } else { screen.history.undo() }
        };
        if let Some(to) = to {
            self.change_view(|view| to.with_width(view.width_px()));
        }
    }

    /// Whether there is a view to go back to, and one to go forward to.
    pub fn can_undo(&self) -> (bool, bool) {
        self.0.screen.borrow().history.can()
    }

    /// Sets the searched text (a part of a name, or the name of a whole group) and the theme.
    pub fn set_look(&self, search: &str, kind: Option<&GroupKind>, theme: Theme) {
        {
            let mut screen = self.0.screen.borrow_mut();
            screen.theme = theme;
            screen.group = kind.map(|kind| SliceGroup { kind: kind.clone(), name: search.to_owned() });
            if screen.search != search.trim() {
                search.trim().clone_into(&mut screen.search);
                screen.look_up_names();
            }
        }
        self.changed();
    }

    pub fn set_selected(&self, slice: Option<SliceRef>) {
        self.0.screen.borrow_mut().selected = slice;
        self.redraw();
    }

    /// Brings a slice into sight.
    pub fn reveal(&self, link: &ns_view::timeline::SliceLink) {
        self.change_view(|view| view.showing(link.start_ns, link.duration_ns));
    }

    /// The scroll position that brings a row of a track into sight; `None` if it is in sight already.
    pub fn scroll_to(&self, track: TrackId, row: u16) -> Option<f64> {
        let screen = self.0.screen.borrow();
        let block = screen.layout.track(track)?;
        let top = block.y + f64::from(row) * screen.metrics.row;
        let room = screen.height - screen.metrics.ruler - screen.metrics.row;
        if top < screen.scroll_y {
            Some(top)
        } else if top > screen.scroll_y + room {
            Some(top - room)
        } else {
            None
        }
    }

    /// The bottom edge of a row on the canvas, in pixels.
    pub fn bottom_of(&self, track: TrackId, row: u16) -> Option<f64> {
        let screen = self.0.screen.borrow();
        let top = screen.layout.track(track)?.y + screen.metrics.ruler - screen.scroll_y;
        Some(top + (f64::from(row) + 1.0) * screen.metrics.row)
    }

    /// The row of the selected slice, if it is in sight.
    pub fn selected_row(&self) -> Option<(TrackId, u16)> {
        let found = {
            let screen = self.0.screen.borrow();
            slice_in_tile(screen.tile.as_deref()?, screen.selected?)?
        };
        self.scroll_to(found.track, found.row).is_none().then_some((found.track, found.row))
    }

    pub fn show_span(&self, span: Interval<TraceNs>) {
        self.change_view(|view| Viewport::new(span, view.width_px()));
    }

    /// Shows the span that the page wants; without one, all of the profile. A span that the view itself reported is already shown.
    pub fn visit(&self, span: Option<Interval<TraceNs>>) {
        if self.0.reported_span.replace(span) == span {
            return;
        }
        if self.0.screen.borrow().canvas.is_none() {
            // The first resize would replace a view that was made for another width.
            self.0.screen.borrow_mut().wanted_span = span;
            return;
        }
        match span {
            Some(span) => self.show_span(span),
            None => self.fit(),
        }
        self.0.visited.set(Some(self.0.screen.borrow().view));
    }

    /// Called when the timeline is no longer shown: a view that had not come to rest is not reported, because the page has moved on.
    pub fn leave(&self) {
        self.0.settle.borrow_mut().take();
        crate::platform::url::expect_no_span();
    }

    /// Shows a range with some room around it, or brings a mark into sight.
    pub fn show_annotation(&self, a: &Annotation) {
        if a.is_range() {
            let middle = |view: &Viewport| view.width_px() / 2.0;
            self.change_view(|view| Viewport::new(a.span(), view.width_px()).zoomed(1.3, middle(&view)));
        } else {
            self.change_view(|view| view.showing(a.start_ns, 0));
        }
    }

    /// Shows the densest part of a timeline that was just opened and has not been moved.
    pub fn open_at(&self, dense: Interval<TraceNs>) {
        if self.0.reported_span.get().is_some() || self.0.is_moved.get() {
            return;
        }
        crate::platform::url::expect_first_span();
        let is_measured = self.0.screen.borrow().canvas.is_some();
        if is_measured {
            self.show_span(dense);
        } else {
            // The width is known later; the view is set then.
            self.0.screen.borrow_mut().wanted_span = Some(dense);
            self.settle_later();
        }
    }

    /// Width of the column of names, in pixels.
    pub fn gutter(&self) -> f64 {
        self.0.screen.borrow().metrics.gutter
    }

    /// Shows all of the profile.
    pub fn fit(&self) {
        let span = self.bounds();
        self.change_view(|view| Viewport::fit(span, view.width_px()));
    }

    /// Shows less (factor below 1) or more, around the middle.
    pub fn zoom(&self, factor: f64) {
        self.change_view(|view| view.zoomed(factor, view.width_px() / 2.0));
    }

    /// Called when the page scrolled the canvas.
    pub fn set_scroll(&self, scroll_y: f64) {
        self.0.screen.borrow_mut().scroll_y = scroll_y;
        self.changed();
    }

    /// Changes the view by a rule and keeps it near the profile.
    pub(super) fn change_view(&self, rule: impl FnOnce(Viewport) -> Viewport) {
        {
            let mut screen = self.0.screen.borrow_mut();
            screen.view = rule(screen.view).clamped(self.bounds());
        }
        self.0.is_moved.set(true);
        self.changed();
        self.hover_again();
        self.settle_later();
        let partner = self.0.partner.borrow().as_ref().and_then(|(weak, offset)| Some((weak.upgrade()?, *offset)));
        if let Some((partner, offset)) = partner {
            let view = self.0.screen.borrow().view;
            Self(partner).follow(view.panned_px(i64_to_f64(offset) / view.ns_per_px()));
        }
    }

    /// Shows the span that the partner shows.
    fn follow(&self, view: Viewport) {
        {
            let mut screen = self.0.screen.borrow_mut();
            screen.view = view.with_width(screen.view.width_px());
        }
        self.changed();
    }

    /// The span that the view stays near.
    pub(super) fn bounds(&self) -> Interval<TraceNs> {
        self.0.bounds.get()
    }

    /// Called when something that is drawn or asked for may have changed.
    pub(super) fn changed(&self) {
        self.ask();
        self.redraw();
    }

    pub(super) fn emit(&self, change: Change) {
        self.0.on_change.emit(change);
    }

    fn settle_later(&self) {
        let controller = self.clone();
        let pending = PendingAddress::new();
        let timer = Timeout::new(SETTLE_MS, move || {
            let view = controller.0.screen.borrow().view;
            controller.0.screen.borrow_mut().history.record(view);
            let all = Viewport::fit(controller.bounds(), view.width_px());
            let span = match controller.0.visited.take().filter(|visited| *visited == view) {
                Some(_) => controller.0.reported_span.get(),
                None => (view != all).then(|| view.interval()),
            };
            controller.0.reported_span.set(span);
            controller.emit(Change::View(span, view));
            drop(pending);
        });
        *self.0.settle.borrow_mut() = Some(timer);
    }

    pub(super) fn redraw(&self) {
        self.draw_soon(FRAME_TEXT_MS);
    }

    fn draw_soon(&self, text_ms: f64) {
        if self.0.is_frame_due.replace(true) {
            return;
        }
        let inner = Rc::downgrade(&self.0);
        crate::platform::frame::before_next_paint(move || {
            if let Some(inner) = inner.upgrade() {
                inner.is_frame_due.set(false);
                let is_whole = inner.screen.borrow().draw(&inner.info.outline, text_ms);
                if !is_whole {
                    Self(inner).draw_soon(text_ms * 2.0);
                }
            }
        });
    }

    /// Asks for slices if the loaded ones do not suffice. There is one question at a time; its answer asks again if the view moved on.
    fn ask(&self) {
        if self.0.pending_job.get().is_some() {
            return;
        }
        let query = {
            let screen = self.0.screen.borrow();
            if screen.canvas.is_none() {
                return;
            }
            let (top, height) = (screen.scroll_y, screen.height);
            let needed = screen.layout.tracks_between(top, top + height);
            if needed.is_empty()
                || screen.tile.as_ref().is_some_and(|t| screen.view.is_covered_by(t, &needed, screen.group.as_ref()))
            {
                return;
            }
            // Half a screen more above and below, so that scrolling has something to show.
            let group = screen.group.clone();
            TimelineQuery {
                group,
                ..screen.view.query(screen.layout.tracks_between(top - height / 2.0, top + 1.5 * height))
            }
        };
        let profile = self.0.info.profile;
        let controller = Rc::downgrade(&self.0);
        let answer = Callback::from(move |message: Message| {
            if let Some(inner) = controller.upgrade() {
                Self(inner).answered(message);
            }
        });
        let job = self.0.engine.send(ProfileQuestion::Timeline(query).of(profile), None, answer);
        if self.0.engine.is_alive() {
            self.0.pending_job.set(Some(job));
        }
    }

    fn answered(&self, message: Message) {
        self.0.pending_job.set(None);
        let take = |reply| if let Reply::Timeline(tile) = reply { Some(tile) } else { None };
        match answer_of(message, take) {
            Some(Ok(tile)) => {
                let tile = Shared::new(tile);
                {
                    let mut screen = self.0.screen.borrow_mut();
                    screen.tile = Some(tile.clone());
                    screen.look_up_names();
                }
                if self.0.wants_first.take() {
                    self.select_first();
                }
                self.emit(Change::Tile(tile));
                self.hover_again();
                self.changed();
            }
            Some(Err(message)) => self.emit(Change::Failed(message)),
            None => {}
        }
    }
}
