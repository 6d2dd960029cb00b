//! Paints slices as rows of pixels, so the cost of a picture depends on its pixels and not on the number of slices.

use super::layout::LayoutBlock;
use super::scene::TimelineScene;
use super::{Align, Command, DisplayList, Label, NO_SLICE, Rect, Strip, TimelineTile, TrackTile};
use crate::colours::Colours;
use crate::palette::{GREY, Paint};
use crate::text::{contains_ignoring_case, fit, value_of_counter};
use ns_analysis::opcode::name_in;
use ns_base::convert::{f64_to_usize, usize_to_f64};

/// Slices narrower than this (in pixels) carry no text.
const LEAST_LABEL_PX: f64 = 24.0;
/// Narrower slices do not show a shortened name: a few letters say little, and text is the most expensive thing to paint.
const LEAST_CUT_LABEL_PX: f64 = 42.0;

/// The looks of the names of a tile; computed once for each tile and search.
#[derive(Clone, Debug, Default)]
pub struct NameLooks {
    fills: Vec<u8>,
    /// For each name, whether the search found it; `None` without a search.
    found: Option<Vec<bool>>,
}

impl NameLooks {
    /// The looks of a tile's names. Names outside the tile's group are dimmed; without a group, names that do not contain
    /// `search` are dimmed. An empty search dims none.
    pub fn new(tile: &TimelineTile, search: &str, colours: &Colours) -> Self {
        let is_found = |n: &String| contains_ignoring_case(n, search);
        let searched = || (!search.is_empty()).then(|| tile.names.iter().map(is_found).collect());
        Self {
            fills: tile.names.iter().map(|n| colours.fill_of(n)).collect(),
            found: tile.group.as_ref().map(|(_, found)| found.clone()).or_else(searched),
        }
    }

    fn fill(&self, name: usize) -> u8 {
        self.fills.get(name).copied().unwrap_or(GREY)
    }

    fn is_dimmed(&self, name: usize) -> bool {
        self.found.as_ref().is_some_and(|f| !f.get(name).copied().unwrap_or(false))
    }
}

/// Paints slices, instants and merged slices: first all of them as strips, then the parts on top.
pub(super) struct SlicePainter<'a> {
    scene: &'a TimelineScene<'a>,
    tile: &'a TimelineTile,
    looks: &'a NameLooks,
    strips: Vec<Strip>,
    on_top: Vec<Command>,
}

impl<'a> SlicePainter<'a> {
    /// A painter that has not painted yet.
    pub(super) fn new(scene: &'a TimelineScene<'a>, tile: &'a TimelineTile, looks: &'a NameLooks) -> Self {
        Self { scene, tile, looks, strips: Vec::new(), on_top: Vec::new() }
    }

    /// Paints one track.
    pub(super) fn add(&mut self, block: &LayoutBlock, track: &TrackTile) {
        let (scene, m) = (self.scene, self.scene.metrics);
        let (left_edge, right_edge) = (m.gutter, m.gutter + scene.view.width_px());
        let first_strip = self.add_rows(block);
        let mut selected = None;
        for i in visible_slices(scene, track) {
            let Some((x, w)) = horizontal(scene, track, i) else { continue };
            let name = track.name[i] as usize;
            let (is_dimmed, fill) = (self.looks.is_dimmed(name), self.looks.fill(name));
            let paint = if is_dimmed { Paint::Dimmed } else { Paint::Fill(fill) };
            let Some(strip) = self.strips.get_mut(first_strip + usize::from(track.row[i])) else { continue };
            strip.fill(x, w, paint);
            let rect = Rect::new(x, strip.y, w, strip.h);
            if track.slice[i] != NO_SLICE && Some(track.slice[i]) == scene.selected {
                selected = Some(rect);
            }
            if w + 1.0 < LEAST_LABEL_PX || track.count[i] > 1 {
                continue;
            }
            let (seen_left, seen_right) = (x.max(left_edge), (x + w).min(right_edge));
            let room = seen_right - seen_left - 6.0;
            if room + 6.0 >= LEAST_LABEL_PX
                && let Some(text) =
                    fit(&name_in(self.tile.name_of(track, i), f64_to_usize(room / m.char_px)), room, m.char_px)
                && (room + 6.0 >= LEAST_CUT_LABEL_PX || !text.ends_with('\u{2026}'))
            {
                self.on_top.push(Command::Text(Label {
                    x: f64::midpoint(seen_left, seen_right),
                    y: rect.y - 1.0 + m.row / 2.0,
                    text,
                    paint: if is_dimmed { Paint::OnDimmed } else { Paint::OnFill(fill) },
                    align: Align::Middle,
                    bold: false,
                    max_width: room,
                }));
            }
        }
        if let Some(r) = selected {
            let inner = Rect::new(r.x - 0.5, r.y - 0.5, r.w + 1.0, r.h + 1.0);
            let outer = Rect::new(r.x - 1.5, r.y - 1.5, r.w + 3.0, r.h + 3.0);
            self.on_top.extend([Command::Frame(Paint::Text, inner, 1.0), Command::Frame(Paint::Accent, outer, 2.0)]);
        }
    }

    /// Adds an empty strip for each row of a track; returns the position of the first.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "widths of screens, numbers of rows")]
    fn add_rows(&mut self, block: &LayoutBlock) -> usize {
        let (scene, m) = (self.scene, self.scene.metrics);
        let first = self.strips.len();
        let rows = libm::round(block.height / m.row).max(1.0) as usize;
        let width = libm::ceil(scene.view.width_px()) as usize;
        for row in 0..rows {
            let y = scene.screen_y(block.y + usize_to_f64(row) * m.row);
            let is_seen = y + m.row > m.ruler && y < scene.height;
            // A row out of sight keeps its position, so that rows keep their numbers, but has no pixels.
            let pixels = if is_seen { vec![None; width] } else { Vec::new() };
            self.strips.push(Strip { x: m.gutter, y: y + 1.0, h: m.row - 2.0, pixels });
        }
        first
    }

    /// Everything painted, from back to front.
    pub(super) fn finish(mut self, list: &mut DisplayList) {
        self.strips.retain(|s| s.pixels.iter().any(Option::is_some));
        if !self.strips.is_empty() {
            list.commands.push(Command::Strips(self.strips));
        }
        list.commands.append(&mut self.on_top);
    }
}

/// Paints the value over time as an area.
pub(super) fn paint_counter(
    scene: &TimelineScene<'_>,
    block: &LayoutBlock,
    track: &TrackTile,
    min: f64,
    max: f64,
    list: &mut DisplayList,
) {
    let low = min.min(0.0);
    let range = if max > low { max - low } else { 1.0 };
    let (top, height) = (scene.screen_y(block.y) + 2.0, block.height - 4.0);
    let base = top + height;
    let mut points: Vec<(f64, f64)> = Vec::new();
    for i in visible_slices(scene, track) {
        let Some((left, right)) = edges(scene, track, i) else { continue };
        let share = track.value.get(i).map_or(0.0, |v| ((v - low) / range).clamp(0.0, 1.0));
        let y = base - (share * height).max(1.0);
        match points.last() {
            None => points.push((left, base)),
            // The area is left empty before the first sample and where samples are missing.
            Some((x, _)) if left > *x + 1.0 => points.extend([(*x, base), (left, base)]),
            Some(_) => {}
        }
        points.extend([(left, y), (right, y)]);
    }
    if let Some((x, _)) = points.last() {
        points.push((*x, base));
        list.commands.push(Command::Polygon(Paint::Counter, points));
    }
    let section = scene.outline.sections.get(block.section);
    let name = section.and_then(|s| s.tracks.iter().find(|t| t.id == track.track)).map_or("", |t| &t.name);
    let text = value_of_counter(name, max);
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
fn visible_slices<'a>(scene: &'a TimelineScene<'_>, track: &'a TrackTile) -> impl Iterator<Item = usize> + 'a {
    let seen = scene.view.interval();
    (0..track.len()).filter(move |&i| {
        let start = track.start_ns[i];
        let end = start.saturating_add_unsigned(track.duration_ns[i]);
        start <= seen.end.0 && end >= seen.start.0
    })
}

/// Left edge and width on the canvas, in whole pixels (which canvases fill several times faster than parts of pixels), cut
/// to a little more than the screen, because canvases handle huge coordinates badly. A gap of one pixel separates neighbours
/// if there is room for it.
fn horizontal(scene: &TimelineScene<'_>, track: &TrackTile, i: usize) -> Option<(f64, f64)> {
    let (left, right) = edges(scene, track, i)?;
    let left = libm::round(left);
    let width = libm::round(right) - left;
    let width = if width > 4.0 { width - 1.0 } else { width.max(1.0) };
    Some((left, width))
}

/// Left and right edge on the canvas, cut to a little more than the screen.
fn edges(scene: &TimelineScene<'_>, track: &TrackTile, i: usize) -> Option<(f64, f64)> {
    let gutter = scene.metrics.gutter;
    let (least, most) = (gutter - 8.0, gutter + scene.view.width_px() + 8.0);
    let left = gutter + scene.view.x_of(track.start_ns[i]);
    let right = left + scene.view.px_of(track.duration_ns[i]);
    if right < least || left > most {
        return None;
    }
    Some((left.max(least), right.min(most)))
}
