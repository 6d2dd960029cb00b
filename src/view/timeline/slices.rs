//! Paints the slices of one track, grouped by colour so that a canvas changes its colour rarely.

use std::collections::BTreeMap;

use super::layout::Block;
use super::scene::Scene;
use super::{Align, Command, DisplayList, Label, NO_SLICE, Rect, TimelineTile, TrackTile};
use crate::view::palette::{Paint, fill_of};
use crate::view::text::{contains_ignoring_case, fit};

/// Slices narrower than this carry no text.
const LEAST_LABEL_PX: f64 = 24.0;

/// How the names of a tile look; found once for a picture.
pub(super) struct NameLooks {
    fills: Vec<u8>,
    /// For each name, whether the search found it; absent without a search.
    found: Option<Vec<bool>>,
}

impl NameLooks {
    /// The looks of a tile's names.
    pub(super) fn new(tile: &TimelineTile, search: &str) -> Self {
        let is_found = |n: &String| contains_ignoring_case(n, search);
        Self {
            fills: tile.names.iter().map(|n| fill_of(n)).collect(),
            found: (!search.is_empty()).then(|| tile.names.iter().map(is_found).collect()),
        }
    }

    fn fill(&self, name: usize) -> u8 {
        self.fills.get(name).copied().unwrap_or_default()
    }

    fn is_dimmed(&self, name: usize) -> bool {
        self.found.as_ref().is_some_and(|f| !f.get(name).copied().unwrap_or(false))
    }
}

/// Slices, instants and merged slices of one track.
pub(super) fn paint_slices(
    scene: &Scene<'_>,
    block: &Block,
    (tile, looks): (&TimelineTile, &NameLooks),
    track: &TrackTile,
    list: &mut DisplayList,
) {
    let m = scene.metrics;
    let (left_edge, right_edge) = (m.gutter, m.gutter + scene.view.width_px());
    let mut by_paint: BTreeMap<Paint, Vec<Rect>> = BTreeMap::new();
    let mut labels = Vec::new();
    let mut selected = None;
    for i in visible_slices(scene, track) {
        let Some((x, w)) = horizontal(scene, track, i) else { continue };
        let row = f64::from(track.row[i]);
        let y = scene.screen_y(block.y + row * m.row);
        let rect = Rect::new(x, y + 1.0, w, m.row - 2.0);
        let name = track.name[i] as usize;
        let is_dimmed = looks.is_dimmed(name);
        let paint = if is_dimmed { Paint::Dimmed } else { Paint::Fill(looks.fill(name)) };
        by_paint.entry(paint).or_default().push(rect);
        if track.slice[i] != NO_SLICE && Some(track.slice[i]) == scene.selected {
            selected = Some(rect);
        }
        let (seen_left, seen_right) = (x.max(left_edge), (x + w).min(right_edge));
        let room = seen_right - seen_left - 6.0;
        if room + 6.0 >= LEAST_LABEL_PX
            && track.count[i] == 1
            && let Some(text) = fit(tile.name_of(track, i), room, m.char_px)
        {
            labels.push(Label {
                x: f64::midpoint(seen_left, seen_right),
                y: y + m.row / 2.0,
                text,
                paint: if is_dimmed { Paint::OnDimmed } else { Paint::OnFill },
                align: Align::Middle,
                bold: false,
                max_width: room,
            });
        }
    }
    list.commands.extend(by_paint.into_iter().map(|(paint, rects)| Command::Rects(paint, rects)));
    list.commands.extend(labels.into_iter().map(Command::Text));
    if let Some(r) = selected {
        list.commands.push(Command::Frame(Paint::Text, Rect::new(r.x - 0.5, r.y - 0.5, r.w + 1.0, r.h + 1.0), 1.0));
        list.commands.push(Command::Frame(Paint::Accent, Rect::new(r.x - 1.5, r.y - 1.5, r.w + 3.0, r.h + 3.0), 2.0));
    }
}

/// The value over time as an area.
pub(super) fn paint_counter(
    scene: &Scene<'_>,
    block: &Block,
    track: &TrackTile,
    min: f64,
    max: f64,
    list: &mut DisplayList,
) {
    let low = min.min(0.0);
    let range = if max > low { max - low } else { 1.0 };
    let (top, height) = (scene.screen_y(block.y) + 2.0, block.height - 4.0);
    let mut rects = Vec::new();
    for i in visible_slices(scene, track) {
        let Some((x, w)) = horizontal(scene, track, i) else { continue };
        let share = track.value.get(i).map_or(0.0, |v| ((v - low) / range).clamp(0.0, 1.0));
        let h = (share * height).max(1.0);
        rects.push(Rect::new(x, top + height - h, w, h));
    }
    if !rects.is_empty() {
        list.commands.push(Command::Rects(Paint::Counter, rects));
    }
    let text = crate::view::text::three_decimals(max);
    list.text(Label {
        x: scene.metrics.gutter + 4.0,
        y: top + 6.0,
        text,
        paint: Paint::MutedText,
        align: Align::Start,
        bold: false,
        max_width: 120.0,
    });
}

/// Positions of the slices that touch the screen.
fn visible_slices<'a>(scene: &'a Scene<'_>, track: &'a TrackTile) -> impl Iterator<Item = usize> + 'a {
    let seen = scene.view.interval();
    (0..track.len()).filter(move |&i| {
        let start = track.start_ns[i];
        let end = start.saturating_add_unsigned(track.duration_ns[i]);
        start <= seen.end.0 && end >= seen.start.0
    })
}

/// Left edge and width on the canvas, in whole pixels (which canvases fill several times faster than parts of pixels), cut
/// to a little more than the screen: a canvas does not like huge coordinates. A gap of a pixel sets neighbours apart where
/// there is room for it.
fn horizontal(scene: &Scene<'_>, track: &TrackTile, i: usize) -> Option<(f64, f64)> {
    let gutter = scene.metrics.gutter;
    let (least, most) = (gutter - 8.0, gutter + scene.view.width_px() + 8.0);
    let left = gutter + scene.view.x_of(track.start_ns[i]);
    let right = left + scene.view.px_of(track.duration_ns[i]);
    if right < least || left > most {
        return None;
    }
    let left = libm::round(left.max(least));
    let width = libm::round(right.min(most)) - left;
    let width = if width > 4.0 { width - 1.0 } else { width.max(1.0) };
    Some((left, width))
}
