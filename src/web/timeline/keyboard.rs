//! The keys of the timeline, as in Perfetto and chrome://tracing.

use web_sys::KeyboardEvent;

use super::change::Change;
use super::controller::Controller;
use ns_base::Interval;
use ns_view::timeline::{NO_SLICE, Neighbour, SliceRef, TileSlice, nearest_on_row, row_above_or_below, slice_in_tile};

/// Share of the screen that a step of the keyboard moves by; with Shift a quarter of it.
const PAN_SHARE: f64 = 0.15;
const ZOOM: f64 = 1.35;

impl Controller {
    /// Handles a key; returns whether the key has an effect.
    pub fn key(&self, event: &KeyboardEvent) -> bool {
        if event.alt_key() {
            return self.key_with_alt(event);
        }
        if event.ctrl_key() || event.meta_key() {
            return self.key_with_ctrl(event);
        }
        let fine = if event.shift_key() { 0.25 } else { 1.0 };
        let has_selection = self.0.screen.borrow().selected.is_some();
        match event.key().as_str() {
            "w" | "W" | "+" | "=" => self.zoom_by(ZOOM, fine),
            "s" | "S" | "-" | "_" => self.zoom_by(1.0 / ZOOM, fine),
            "a" | "A" => self.pan_by(-PAN_SHARE * fine),
            "d" | "D" => self.pan_by(PAN_SHARE * fine),
            "ArrowLeft" if has_selection => self.emit(Change::Step(Neighbour::Previous)),
            "ArrowRight" if has_selection => self.emit(Change::Step(Neighbour::Next)),
            "ArrowLeft" => self.pan_by(-PAN_SHARE * fine),
            "ArrowRight" => self.pan_by(PAN_SHARE * fine),
            "," => self.emit(Change::Step(Neighbour::Previous)),
            "." => self.emit(Change::Step(Neighbour::Next)),
            "ArrowDown" if has_selection => self.select_vertically(true),
            "ArrowUp" if has_selection => self.select_vertically(false),
            "f" | "F" => self.fit_selection(),
            "0" | "z" | "Z" | "Home" => self.fit(),
            "Enter" | " " => self.select_first(),
            "Escape" => self.escape(),
            "m" | "M" => self.annotate(),
            "r" | "R" => self.select_area_of_selection(),
            "p" | "P" if has_selection => self.emit(Change::Pin),
            "h" | "H" if has_selection => self.emit(Change::Hide),
            "[" => self.emit(Change::Flow(false)),
            "]" => self.emit(Change::Flow(true)),
            "?" => self.emit(Change::Help),
            _ => return false,
        }
        true
    }

    /// Keys that undo and redo zooming.
    fn key_with_ctrl(&self, event: &KeyboardEvent) -> bool {
        let forth = match event.key().as_str() {
            "z" | "Z" => event.shift_key(),
            "y" | "Y" => true,
            _ => return false,
        };
        self.undo(forth);
        true
    }

    /// Keys that move the track of the selection.
    fn key_with_alt(&self, event: &KeyboardEvent) -> bool {
        let has_selection = self.0.screen.borrow().selected.is_some();
        match event.key().as_str() {
            "ArrowUp" if has_selection => self.emit(Change::Shift(false)),
            "ArrowDown" if has_selection => self.emit(Change::Shift(true)),
            _ => return false,
        }
        true
    }

    fn escape(&self) {
        if self.0.screen.borrow().area.is_some() {
            self.emit(Change::Area(None));
        } else {
            self.emit(Change::Select(None));
        }
    }

    /// Adds a range over the selected area or slice; else a mark under the pointer, or in the middle of the screen.
    fn annotate(&self) {
        let (span, is_of_slice) = {
            let screen = self.0.screen.borrow();
            let of_slice = selected_span(screen.tile.as_deref(), screen.selected)
                .map(|(start, duration)| span_of(start, duration));
            let of_area = screen.area.as_ref().map(|a| a.span);
            let under = screen.pointer.map(|(x, _)| x - screen.metrics.gutter).filter(|x| *x >= 0.0);
            let at = screen.view.ns_at(under.unwrap_or(screen.view.width_px() / 2.0));
            let is_of_slice = of_area.is_none() && of_slice.is_some();
            (of_area.or(of_slice).unwrap_or_else(|| span_of(at, 0)), is_of_slice)
        };
        self.emit(Change::Annotate(span, is_of_slice));
    }

    /// Selects an area: the span of the selected slice, or of the screen, on all visible tracks.
    fn select_area_of_selection(&self) {
        let area = {
            let screen = self.0.screen.borrow();
            let of_slice = selected_span(screen.tile.as_deref(), screen.selected)
                .map(|(start, duration)| span_of(start, duration));
            // The part of the screen outside the profile is empty.
            let (seen, all) = (screen.view.interval(), self.bounds());
            let in_view = Interval::new(seen.start.max(all.start), seen.end.min(all.end));
            let span = of_slice.unwrap_or(if in_view.is_empty() { seen } else { in_view });
            let tracks = screen.layout.tracks_between(screen.scroll_y, screen.scroll_y + screen.height);
            ns_view::timeline::Area { span, tracks }
        };
        self.emit(Change::Area(Some(area)));
    }

    fn zoom_by(&self, factor: f64, fine: f64) {
        let factor = 1.0 + (factor - 1.0) * fine;
        self.zoom(1.0 / factor);
    }

    fn pan_by(&self, share: f64) {
        self.change_view(|view| view.panned_px(share * view.width_px()));
    }

    /// Zooms to the selected slice; the second time, or without a selection, to all of the profile.
    pub fn fit_selection(&self) {
        let area = self.0.screen.borrow().area.as_ref().map(|a| a.span);
        if let Some(span) = area.filter(|span| self.0.screen.borrow().view.interval() != *span) {
            self.show_span(span);
            return;
        }
        let span = {
            let screen = self.0.screen.borrow();
            selected_span(screen.tile.as_deref(), screen.selected).filter(|(start, duration)| {
                let (left, width) = (screen.view.x_of(*start), screen.view.px_of(*duration));
                let is_shown_large = left >= 0.0 && width > screen.view.width_px() * 0.6;
                !is_shown_large
            })
        };
        match span {
            None => self.fit(),
            Some((start, duration)) => self.change_view(|view| {
                let end = start.saturating_add_unsigned(duration.max(1));
                let span = ns_base::Interval::new(ns_base::TraceNs(start), ns_base::TraceNs(end));
                ns_view::timeline::Viewport::new(span, view.width_px()).zoomed(1.3, view.width_px() / 2.0)
            }),
        }
    }

    /// Without a selection: selects the first slice on the screen that is not merged.
    pub(super) fn select_first(&self) {
        if self.0.screen.borrow().tile.is_none() {
            return self.0.wants_first.set(true);
        }
        let found = {
            let screen = self.0.screen.borrow();
            if screen.selected.is_some() {
                None
            } else {
                let seen = screen.view.interval();
                screen.tile.as_ref().and_then(|tile| {
                    let tracks = screen.layout.tracks_between(screen.scroll_y, screen.scroll_y + screen.height);
                    tracks.into_iter().filter_map(|id| tile.track(id)).find_map(|t| {
                        (0..t.len())
                            .find(|&i| {
                                t.slice[i] != NO_SLICE && t.start_ns[i] >= seen.start.0 && t.start_ns[i] < seen.end.0
                            })
                            .map(|i| t.slice[i])
                    })
                })
            }
        };
        if let Some(slice) = found {
            self.emit(Change::Select(Some(slice)));
        }
    }

    /// The slice above or below the selected one, at about the same time; rows without a slice nearby are skipped.
    fn select_vertically(&self, below: bool) {
        let found = {
            let screen = self.0.screen.borrow();
            let Some(tile) = &screen.tile else { return };
            let here = screen.selected.and_then(|s| slice_in_tile(tile, s));
            here.and_then(|from| {
                let track = tile.track(from.track)?;
                let left = screen.view.x_of(track.start_ns[from.index]);
                let right = left + screen.view.px_of(track.duration_ns[from.index]);
                let middle = f64::midpoint(left.max(0.0), right.min(screen.view.width_px()));
                let mut row = (from.track, from.row);
                loop {
                    row = row_above_or_below(&screen.layout, row, below)?;
                    let near = nearest_on_row(tile, row.0, row.1, &screen.view, middle, screen.view.width_px() / 2.0);
                    if let Some(TileSlice { slice, .. }) = near
                        && slice != NO_SLICE
                    {
                        return Some(slice);
                    }
                }
            })
        };
        if let Some(slice) = found {
            self.emit(Change::Select(Some(slice)));
        }
    }
}

fn span_of(start: i64, duration: u64) -> ns_base::Interval<ns_base::TraceNs> {
    let end = start.saturating_add_unsigned(duration);
    ns_base::Interval::new(ns_base::TraceNs(start), ns_base::TraceNs(end))
}

fn selected_span(tile: Option<&ns_view::timeline::TimelineTile>, selected: Option<SliceRef>) -> Option<(i64, u64)> {
    let tile = tile?;
    let found = slice_in_tile(tile, selected?)?;
    let track = tile.track(found.track)?;
    Some((track.start_ns[found.index], track.duration_ns[found.index]))
}
