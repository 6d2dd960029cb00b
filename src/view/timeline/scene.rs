//! The whole picture of a timeline as one display list.

use super::annotation::paint_annotations;
use super::layout::{BlockKind, Layout, LayoutBlock, Metrics};
use super::overlay::{Overlay, paint_area, paint_arrows};
use super::slices::{NameLooks, SlicePainter, paint_counter};
use super::{
    Align, Command, DisplayList, Label, Outline, Rect, SliceRef, TimelineTile, TrackId, TrackKind, Viewport, ticks,
};
use crate::palette::Paint;
use crate::text::fit;
use ns_base::convert::usize_to_f64;

/// Everything a picture depends on.
#[derive(Clone, Copy, Debug)]
pub struct TimelineScene<'a> {
    /// Names of sections and tracks.
    pub outline: &'a Outline,
    /// Their places.
    pub layout: &'a Layout,
    /// Sizes.
    pub metrics: &'a Metrics,
    /// The span on the screen; its width is the width of the canvas without the column of names.
    pub view: &'a Viewport,
    /// Slices and the looks of their names; `None` until the first answer.
    pub tile: Option<(&'a TimelineTile, &'a NameLooks)>,
    /// Height of the canvas in pixels, ruler included.
    pub height: f64,
    /// Pixels scrolled down.
    pub scroll_y: f64,
    pub selected: Option<SliceRef>,
    /// A span that is being dragged out, as left and right edge in pixels from the column of names.
    pub range_px: Option<(f64, f64)>,
    /// A dragged track, and the track whose position it takes if it is dropped now.
    pub moved_track: Option<(TrackId, Option<TrackId>)>,
    /// The overlay above the slices.
    pub overlay: Overlay<'a>,
}

impl TimelineScene<'_> {
    /// Position on the canvas of a height in the layout.
    pub(super) fn screen_y(&self, y: f64) -> f64 {
        y - self.scroll_y + self.metrics.ruler
    }
}

pub fn paint(scene: &TimelineScene<'_>) -> DisplayList {
    let m = scene.metrics;
    let width = m.gutter + scene.view.width_px();
    let mut list = DisplayList { width, height: scene.height, commands: Vec::new() };
    list.rect(Paint::Background, Rect::new(0.0, 0.0, width, scene.height));
    let visible = scene.layout.between(scene.scroll_y, scene.scroll_y + scene.height - m.ruler);

    let tracks_area = Rect::new(m.gutter, m.ruler, scene.view.width_px(), (scene.height - m.ruler).max(0.0));
    list.commands.push(Command::Clip(tracks_area));
    paint_stripes(scene, visible, &mut list);
    paint_grid(scene, &mut list);
    if let Some((tile, looks)) = scene.tile {
        let mut slices = SlicePainter::new(scene, tile, looks);
        for block in visible {
            let BlockKind::Track { id, kind, .. } = block.kind else { continue };
            let Some(track) = tile.track(id) else { continue };
            match kind {
                TrackKind::Counter { min, max } => paint_counter(scene, block, track, min, max, &mut list),
                TrackKind::Slices { .. } | TrackKind::Instants => slices.add(block, track),
            }
        }
        slices.finish(&mut list);
    }
    paint_area(scene, &mut list);
    paint_arrows(scene, &mut list);
    if let Some((left, right)) = scene.range_px {
        let (left, right) = (left.min(right), left.max(right));
        list.rect(Paint::Range, Rect::new(m.gutter + left, m.ruler, right - left, tracks_area.h));
    }
    list.commands.push(Command::Unclip);

    list.commands.push(Command::Clip(Rect::new(0.0, m.ruler, width, tracks_area.h)));
    paint_names(scene, visible, &mut list);
    paint_moved_track(scene, &mut list);
    list.commands.push(Command::Unclip);
    paint_ruler(scene, &mut list);
    paint_annotations(scene, &mut list);
    list
}

fn paint_stripes(scene: &TimelineScene<'_>, visible: &[LayoutBlock], list: &mut DisplayList) {
    let m = scene.metrics;
    for block in visible {
        let BlockKind::Track { .. } = block.kind else { continue };
        let rows = (block.height / m.row).max(1.0);
        let mut row = 0.0;
        while row < rows {
            // Stripes follow the height in the whole layout, so that they do not flicker while scrolling.
            let y = block.y + row * m.row;
            if libm::round(y / m.row) % 2.0 != 0.0 {
                let height = m.row.min(block.y + block.height - y);
                let rect = Rect::new(m.gutter, scene.screen_y(y), scene.view.width_px(), height);
                list.rect(Paint::RowAlternate, rect);
            }
            row += 1.0;
        }
    }
}

fn paint_grid(scene: &TimelineScene<'_>, list: &mut DisplayList) {
    let m = scene.metrics;
    for tick in ticks(scene.view, &scene.outline.unit).major {
        let x = libm::floor(m.gutter + scene.view.x_of(tick.ns));
        list.rect(Paint::Grid, Rect::new(x, m.ruler, 1.0, scene.height - m.ruler));
    }
}

fn paint_names(scene: &TimelineScene<'_>, visible: &[LayoutBlock], list: &mut DisplayList) {
    let m = scene.metrics;
    let width = list.width;
    list.rect(Paint::Grid, Rect::new(m.gutter - 1.0, m.ruler, 1.0, scene.height - m.ruler));
    for block in visible {
        let y = scene.screen_y(block.y);
        let Some(section) = scene.outline.sections.get(block.section) else { continue };
        match block.kind {
            BlockKind::Bar { collapsed } => {
                list.rect(Paint::SectionBar, Rect::new(0.0, y, width, block.height - 1.0));
                let middle = y + (block.height - 1.0) / 2.0;
                list.commands.push(Command::Polygon(Paint::MutedText, arrow(9.0, middle, collapsed)));
                let room = width - 26.0;
                if let Some(text) = fit(&section.name, room, m.char_px * 1.05) {
                    list.text(label(18.0, middle, text, Paint::Text, true, room));
                }
            }
            BlockKind::Pins => {
                list.rect(Paint::SectionBar, Rect::new(0.0, y, width, block.height - 1.0));
                let middle = y + (block.height - 1.0) / 2.0;
                list.text(label(18.0, middle, "Pinned".to_owned(), Paint::Text, true, width));
            }
            BlockKind::Track { index, is_folded, is_pinned, .. } => {
                list.rect(Paint::Gutter, Rect::new(0.0, y, m.gutter - 1.0, block.height));
                let Some(track) = section.tracks.get(index) else { continue };
                let room = m.gutter - 16.0;
                let hidden_rows = match track.kind {
                    TrackKind::Slices { rows } if is_folded && rows > 1 => format!(" (+{} rows)", rows - 1),
                    _ => String::new(),
                };
                let name = match is_pinned {
                    true if track.name.is_empty() => section.name.clone(),
                    true => format!("{} \u{b7} {}", track.name, section.name),
                    false => track.name.clone(),
                };
                if let Some(text) = fit(&format!("{name}{hidden_rows}"), room, m.char_px) {
                    list.text(label(10.0, y + m.row / 2.0, text, Paint::Text, false, room));
                }
            }
        }
    }
}

/// Paints a band over the dragged track, and a line at its new position.
fn paint_moved_track(scene: &TimelineScene<'_>, list: &mut DisplayList) {
    let Some((moved, to)) = scene.moved_track else { return };
    let width = list.width;
    let Some(from) = scene.layout.track(moved) else { return };
    list.rect(Paint::Range, Rect::new(0.0, scene.screen_y(from.y), width, from.height));
    let Some(to) = to.and_then(|to| scene.layout.track(to)) else { return };
    // It goes before a track above it, or after a track below it.
    let y = if to.y < from.y { to.y } else { to.y + to.height };
    list.rect(Paint::Accent, Rect::new(0.0, scene.screen_y(y) - 1.0, width, 3.0));
}

fn arrow(x: f64, y: f64, collapsed: bool) -> Vec<(f64, f64)> {
    if collapsed {
        vec![(x - 2.5, y - 4.0), (x + 3.5, y), (x - 2.5, y + 4.0)]
    } else {
        vec![(x - 4.0, y - 2.5), (x + 4.0, y - 2.5), (x, y + 3.5)]
    }
}

fn paint_ruler(scene: &TimelineScene<'_>, list: &mut DisplayList) {
    let m = scene.metrics;
    let ruler = ticks(scene.view, &scene.outline.unit);
    list.rect(Paint::Gutter, Rect::new(0.0, 0.0, list.width, m.ruler));
    list.rect(Paint::Grid, Rect::new(0.0, m.ruler - 1.0, list.width, 1.0));
    let area = Rect::new(m.gutter, 0.0, scene.view.width_px(), m.ruler);
    list.commands.push(Command::Clip(area));
    for ns in ruler.minor {
        list.rect(Paint::Grid, Rect::new(libm::floor(m.gutter + scene.view.x_of(ns)), m.ruler - 5.0, 1.0, 4.0));
    }
    for tick in ruler.major {
        let x = libm::floor(m.gutter + scene.view.x_of(tick.ns));
        list.rect(Paint::MutedText, Rect::new(x, m.ruler - 9.0, 1.0, 8.0));
        // A label cut by the edge would read as another time.
        if x + 5.0 + usize_to_f64(tick.label.chars().count()) * m.char_px <= list.width {
            list.text(label(x + 5.0, m.ruler / 2.0, tick.label, Paint::MutedText, false, 105.0));
        }
    }
    list.commands.push(Command::Unclip);
    if let Some(base) = ruler.base {
        let room = m.gutter - 12.0;
        list.text(label(8.0, m.ruler / 2.0, base, Paint::MutedText, false, room));
    }
}

fn label(x: f64, y: f64, text: String, paint: Paint, bold: bool, max_width: f64) -> Label {
    Label { x, y, text, paint, align: Align::Start, bold, max_width }
}

#[cfg(test)]
mod tests {
    use super::super::{Annotation, Area, Arrangement, FlowArrow, SliceLink, sample, to_svg};
    use super::*;
    use crate::colours::Colours;
    use crate::palette::Theme;
    use ns_base::{Interval, TraceNs};

    fn picture(view: Viewport, search: &str, selected: Option<SliceRef>) -> DisplayList {
        picture_with(view, search, selected, Overlay::default())
    }

    fn picture_with(view: Viewport, search: &str, selected: Option<SliceRef>, overlay: Overlay<'_>) -> DisplayList {
        let outline = sample::outline();
        let metrics = Metrics { gutter: 120.0, ..Metrics::default() };
        let layout = Layout::new(&outline, &Arrangement::default(), &metrics);
        let tile = sample::tile();
        let weights = tile.names.iter().zip(1_u32..).map(|(name, i)| (name.as_str(), 1.0 / f64::from(i)));
        let looks = NameLooks::new(&tile, search, &Colours::new(weights));
        paint(&TimelineScene {
            outline: &outline,
            layout: &layout,
            metrics: &metrics,
            view: &view,
            tile: Some((&tile, &looks)),
            height: 420.0,
            scroll_y: 0.0,
            selected,
            range_px: None,
            moved_track: None,
            overlay,
        })
    }

    #[test]
    fn whole_profile() {
        let view = Viewport::fit(sample::outline().span, 600.0);
        insta::assert_snapshot!(to_svg(&picture(view, "", None), Theme::Light));
    }

    #[test]
    fn zoomed_with_search_and_selection() {
        let view = Viewport::new(Interval::new(TraceNs(10_976), TraceNs(12_280)), 600.0);
        insta::assert_snapshot!(to_svg(&picture(view, "fused", Some(sample::FUSED_16)), Theme::Dark));
    }

    #[test]
    fn slices_out_of_sight_cost_nothing() {
        let near = picture(Viewport::new(Interval::new(TraceNs(0), TraceNs(100)), 600.0), "", None);
        let far = picture(Viewport::new(Interval::new(TraceNs(900_000), TraceNs(900_100)), 600.0), "", None);
        assert!(far.shapes() < near.shapes() + 5);
        assert!(!to_svg(&far, Theme::Light).contains("fused"));
    }

    #[test]
    fn a_dragged_track_shows_where_it_goes() {
        let outline = sample::outline();
        let metrics = Metrics::default();
        let layout = Layout::new(&outline, &Arrangement::default(), &metrics);
        let view = Viewport::fit(outline.span, 600.0);
        let dragged = |to: u32| {
            let (moved, to) = (super::super::TrackId(4), super::super::TrackId(to));
            let list = paint(&TimelineScene {
                outline: &outline,
                layout: &layout,
                metrics: &metrics,
                view: &view,
                tile: None,
                height: 420.0,
                scroll_y: 0.0,
                selected: None,
                range_px: None,
                moved_track: Some((moved, Some(to))),
                overlay: Overlay::default(),
            });
            list.commands.iter().find_map(|c| match c {
                Command::Rects(Paint::Accent, rects) => rects.first().map(|rect| rect.y),
                _ => None,
            })
        };
        let top = |id: u32| layout.track(super::super::TrackId(id)).expect("is laid out").y + metrics.ruler - 1.0;
        assert_eq!(dragged(1), Some(top(1)));
        let below = layout.track(super::super::TrackId(5)).expect("is laid out");
        assert_eq!(dragged(5), Some(below.y + below.height + metrics.ruler - 1.0));
    }

    #[test]
    fn marks_arrows_and_the_area_stand_over_the_slices() {
        let link = |track, start_ns, duration_ns| SliceLink {
            slice: sample::FUSED_16,
            track: super::super::TrackId(track),
            row: 0,
            title: String::new(),
            start_ns,
            duration_ns,
        };
        let (from, to) = (link(11, 11_452, 153), link(8, 12_050, 140));
        let annotations = [
            Annotation { start_ns: 5_000, end_ns: 5_000, label: "A".to_owned() },
            Annotation { start_ns: 11_452, end_ns: 11_605, label: "fused_16".to_owned() },
        ];
        let arrows = [FlowArrow { from, to, is_strong: true }];
        let span = Interval::new(TraceNs(9_000), TraceNs(12_000));
        let area = Area { span, tracks: vec![super::super::TrackId(2)] };
        let overlay = Overlay { annotations: &annotations, arrows: &arrows, area: Some(&area) };
        let view = Viewport::fit(sample::outline().span, 600.0);
        let list = picture_with(view, "", None, overlay);
        let plain = picture(view, "", None);
        // Two flags with a line each, the range's band, bar and end, an arrow with its head, the area's one band.
        assert_eq!(list.shapes() - plain.shapes(), 2 * 3 + 3 + 2 + 1);
        let svg = to_svg(&list, Theme::Light);
        assert!(svg.contains("<path d=\"M") && svg.contains(">fused_16<"));
    }
}
