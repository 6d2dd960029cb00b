//! Mouse, pen, touch and wheel.

use web_sys::{MouseEvent, PointerEvent, WheelEvent};

use super::change::{Change, Hover};
use super::controller::Controller;
use ns_base::{Interval, TraceNs};
use ns_view::text::value_of_counter;
use ns_view::timeline::{Area, Hit, NO_SLICE, TrackId, Viewport, hit};

/// A press that moves less than this, in pixels, is a click.
const CLICK_PX: f64 = 4.0;

/// The effect of dragging the pressed pointer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Drag {
    /// No button is pressed.
    None,
    /// Pressed at a point, not moved yet.
    Pressed(f64, f64),
    /// Pressed on the name of a track, not moved yet.
    Name(TrackId, f64),
    /// A track follows the pointer.
    Track,
    /// The view follows the pointer.
    Pan,
    /// A span to zoom to is dragged out.
    Range,
    /// An area is dragged out from a point; one above the tracks has all of them.
    Area(f64, f64),
    /// Two fingers.
    Pinch,
}

fn place(event: &MouseEvent) -> (f64, f64) {
    (f64::from(event.offset_x()), f64::from(event.offset_y()))
}

impl Controller {
    /// Called when a pointer is pressed.
    pub fn pointer_down(&self, event: &PointerEvent) {
        if event.button() != 0 {
            return;
        }
        let (x, y) = place(event);
        let hit = self.hit_at(x, y);
        let is_touch = event.pointer_type() == "touch";
        let mut screen = self.0.screen.borrow_mut();
        screen.pointer = None;
        screen.pointers.insert(event.pointer_id(), (x, y));
        screen.drag = match screen.pointers.len() {
            1 if event.ctrl_key() || event.meta_key() => Drag::Range,
            1 if event.shift_key() => Drag::Area(x, y),
            // A finger on the names scrolls the page or the view, as it does elsewhere.
            1 => match hit {
                Hit::Name(track) if !is_touch => Drag::Name(track, y),
                // From the ruler, the area has all tracks.
                Hit::Ruler if !is_touch => Drag::Area(x, f64::NEG_INFINITY),
                _ => Drag::Pressed(x, y),
            },
            _ => Drag::Pinch,
        };
        if screen.drag == Drag::Range {
            let from = x - screen.metrics.gutter;
            screen.range_px = Some((from, from));
        }
        if let Some((canvas, _)) = &screen.canvas {
            // Fails when the pointer is already gone.
            let _ = canvas.set_pointer_capture(event.pointer_id());
        }
    }

    /// Called when a pointer moves.
    pub fn pointer_move(&self, event: &PointerEvent) {
        let (x, y) = place(event);
        let (before, drag) = {
            let mut screen = self.0.screen.borrow_mut();
            let before = screen.pointers.get(&event.pointer_id()).copied();
            if let Drag::Pressed(x0, y0) = screen.drag
                && (x - x0).abs().max((y - y0).abs()) > CLICK_PX
            {
                screen.drag = Drag::Pan;
            }
            if let Drag::Name(track, y0) = screen.drag
                && (y - y0).abs() > CLICK_PX
            {
                screen.drag = Drag::Track;
                screen.moved_track = Some((track, None));
            }
            (before, screen.drag)
        };
        let Some(before) = before else {
            self.hover(x, y);
            return;
        };
        match drag {
            Drag::Pan => {
                self.change_view(|view| view.panned_px(before.0 - x));
                self.emit(Change::Scroll(before.1 - y));
                self.remember(event.pointer_id(), (x, y));
            }
            Drag::Pinch => self.pinch(event.pointer_id(), (x, y)),
            Drag::Range => {
                let mut screen = self.0.screen.borrow_mut();
                let to = x - screen.metrics.gutter;
                screen.range_px = screen.range_px.map(|(from, _)| (from, to));
                drop(screen);
                self.redraw();
            }
            Drag::Area(x0, y0) => {
                let mut screen = self.0.screen.borrow_mut();
                let end = if y0.is_finite() { y } else { f64::INFINITY };
                screen.area = Some(screen.area_between((x0, y0), (x, end)));
                drop(screen);
                self.redraw();
            }
            Drag::Track => self.drag_track(y),
            Drag::Pressed(..) | Drag::Name(..) | Drag::None => {}
        }
    }

    /// Lets the dragged track take the place of the track under the pointer.
    fn drag_track(&self, y: f64) {
        let over = match self.hit_at(0.0, y) {
            Hit::Name(track) => Some(track),
            _ => None,
        };
        let mut screen = self.0.screen.borrow_mut();
        screen.moved_track = screen.moved_track.map(|(track, _)| (track, over.filter(|over| *over != track)));
        drop(screen);
        self.redraw();
    }

    /// Called when a pointer is released.
    pub fn pointer_up(&self, event: &PointerEvent) {
        let (drag, range, moved) = {
            let mut screen = self.0.screen.borrow_mut();
            screen.pointers.remove(&event.pointer_id());
            let drag = screen.drag;
            screen.drag = if screen.pointers.is_empty() { Drag::None } else { Drag::Pan };
            (drag, screen.range_px.take(), screen.moved_track.take())
        };
        match drag {
            Drag::Pressed(..) | Drag::Name(..) => self.click(place(event)),
            Drag::Track => {
                if let Some((track, Some(to))) = moved {
                    self.emit(Change::Move(track, to));
                }
            }
            Drag::Range => self.zoom_to_range(range),
            Drag::Area(x0, y0) => {
                // A press that did not move clears the area; on the ruler it is a click, too.
                let moved = (place(event).0 - x0).abs() > CLICK_PX;
                if !moved && !y0.is_finite() {
                    self.click(place(event));
                }
                let area = self.0.screen.borrow().area.clone().filter(|_| moved);
                self.emit(Change::Area(area));
            }
            _ => {}
        }
        self.redraw();
    }

    /// Called when the browser cancels the pointer: this does not count as a click.
    pub fn pointer_cancel(&self, event: &PointerEvent) {
        let mut screen = self.0.screen.borrow_mut();
        screen.pointers.remove(&event.pointer_id());
        screen.drag = Drag::None;
        screen.range_px = None;
        screen.moved_track = None;
        drop(screen);
        self.redraw();
    }

    /// Called when the pointer leaves the canvas.
    pub fn pointer_leave(&self) {
        self.0.screen.borrow_mut().pointer = None;
        self.emit(Change::Hover(None));
    }

    /// Called on a double click, which zooms to a slice.
    pub fn double_click(&self) {
        self.fit_selection();
    }

    /// Called when the wheel is turned; returns whether the timeline used it. With Ctrl (also a pinch on a touchpad) it zooms,
    /// with Shift or sideways it pans. Otherwise it scrolls a timeline that is higher than its frame, and zooms any other.
    pub fn wheel(&self, event: &WheelEvent) -> bool {
        let unit = match event.delta_mode() {
            WheelEvent::DOM_DELTA_LINE => 16.0,
            WheelEvent::DOM_DELTA_PAGE => 400.0,
            _ => 1.0,
        };
        let (dx, dy) = (event.delta_x() * unit, event.delta_y() * unit);
        let (gutter, scrolls) = {
            let screen = self.0.screen.borrow();
            (screen.metrics.gutter, screen.layout.height() + screen.metrics.ruler > screen.height + 1.0)
        };
        if event.shift_key() || dx.abs() > dy.abs() {
            let by = if event.shift_key() && dx == 0.0 { dy } else { dx };
            self.change_view(|view| view.panned_px(by));
            return true;
        }
        if event.ctrl_key() || event.meta_key() || !scrolls {
            let at = (place(event).0 - gutter).max(0.0);
            // A notch of a mouse wheel is about 100 px; a pinch sends single pixels.
            let factor = libm::exp(dy.clamp(-240.0, 240.0) * if event.ctrl_key() { 0.006 } else { 0.002 });
            self.change_view(|view| view.zoomed(factor, at));
            return true;
        }
        false
    }

    fn remember(&self, pointer: i32, at: (f64, f64)) {
        self.0.screen.borrow_mut().pointers.insert(pointer, at);
    }

    /// Zooms with two fingers: the instants under the fingers stay under them.
    fn pinch(&self, pointer: i32, now: (f64, f64)) {
        let (gutter, before, other) = {
            let screen = self.0.screen.borrow();
            let before = screen.pointers.get(&pointer).copied();
            let other = screen.pointers.iter().find(|(id, _)| *id != pointer).map(|(_, p)| *p);
            (screen.metrics.gutter, before, other)
        };
        if let (Some(before), Some(other)) = (before, other) {
            let (was, is) = ((before.0 - other.0).abs(), (now.0 - other.0).abs());
            if was > 8.0 && is > 8.0 {
                self.change_view(|view| view.zoomed(was / is, other.0 - gutter));
            }
        }
        self.remember(pointer, now);
    }

    fn zoom_to_range(&self, range: Option<(f64, f64)>) {
        let Some((a, b)) = range else { return };
        let (left, right) = (a.min(b), a.max(b));
        if right - left < CLICK_PX {
            return;
        }
        self.change_view(|view: Viewport| {
            let moved = view.panned_px(left);
            moved.zoomed((right - left) / view.width_px(), 0.0)
        });
    }

    fn hit_at(&self, x: f64, y: f64) -> Hit {
        let screen = self.0.screen.borrow();
        hit(&screen.layout, &screen.metrics, &screen.view, screen.tile.as_deref(), screen.scroll_y, (x, y))
    }

    fn click(&self, (x, y): (f64, f64)) {
        match self.hit_at(x, y) {
            Hit::Section(section) => self.emit(Change::ToggleSection(section)),
            Hit::Slice(found) if found.slice == NO_SLICE => {
                // Merged slices separate when there is room.
                let gutter = self.0.screen.borrow().metrics.gutter;
                self.change_view(|view| view.zoomed(0.25, x - gutter));
            }
            Hit::Slice(found) => self.emit(Change::Select(Some(found.slice))),
            Hit::Name(track) => self.emit(Change::ToggleFold(track)),
            Hit::Track(_) | Hit::Nothing => self.emit(Change::Select(None)),
            Hit::Ruler => {}
        }
    }

    fn hover(&self, x: f64, y: f64) {
        self.0.screen.borrow_mut().pointer = Some((x, y));
        self.say_hover((x, y));
    }

    /// Called when other slices come under the pointer.
    pub(super) fn hover_again(&self) {
        let pointer = self.0.screen.borrow().pointer;
        if let Some(at) = pointer {
            self.say_hover(at);
        }
    }

    fn say_hover(&self, (x, y): (f64, f64)) {
        let hover = match self.hit_at(x, y) {
            Hit::Slice(found) => {
                let screen = self.0.screen.borrow();
                screen.tile.as_ref().and_then(|tile| {
                    let track = tile.track(found.track)?;
                    Some(Hover {
                        title: tile.name_of(track, found.index).to_owned(),
                        duration_ns: track.duration_ns[found.index],
                        count: track.count[found.index],
                        value: track.value.get(found.index).map(|value| {
                            let (_, drawn_track) = self.0.info.outline.find(found.track).unzip();
                            value_of_counter(drawn_track.map_or("", |track| &track.name), *value)
                        }),
                        x,
                        y,
                    })
                })
            }
            _ => None,
        };
        self.emit(Change::Hover(hover));
    }
}

impl super::controller::Screen {
    /// The span and the tracks between two points of the canvas.
    fn area_between(&self, (x0, y0): (f64, f64), (x1, y1): (f64, f64)) -> Area {
        let ns = |x: f64| self.view.ns_at((x - self.metrics.gutter).clamp(0.0, self.view.width_px()));
        let height = |y: f64| y - self.metrics.ruler + self.scroll_y;
        let span = Interval::new(TraceNs(ns(x0.min(x1))), TraceNs(ns(x0.max(x1)).saturating_add(1)));
        Area {
            span,
            tracks: self.layout.tracks_between(height(y0.min(y1)), height(y0.max(y1)).max(height(y0.min(y1)) + 1.0)),
        }
    }
}
