//! The overlay above the slices: flow arrows and the selected area.

use super::display_list::{Command, DisplayList, Rect};
use super::layout::BlockKind;
use super::scene::TimelineScene;
use super::{Annotation, SliceLink, TrackId, TrackKind};
use crate::palette::Paint;
use ns_base::{Interval, TraceNs};

/// An arrow between two slices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowArrow {
    /// The slice where it begins.
    pub from: SliceLink,
    /// The slice where it ends.
    pub to: SliceLink,
    /// Whether it belongs to the selected slice.
    pub is_strong: bool,
}

/// A selected span of some tracks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Area {
    pub span: Interval<TraceNs>,
    pub tracks: Vec<TrackId>,
}

/// The overlay above the slices.
#[derive(Clone, Copy, Debug, Default)]
pub struct Overlay<'a> {
    /// Marks and ranges.
    pub annotations: &'a [Annotation],
    pub arrows: &'a [FlowArrow],
    pub area: Option<&'a Area>,
}

/// Arrows less than this far beyond the screen, in pixels, are painted too.
const BEYOND_PX: f64 = 4_000.0;

/// The band of the selected area over its tracks.
pub(super) fn paint_area(scene: &TimelineScene<'_>, list: &mut DisplayList) {
    let Some(area) = scene.overlay.area else { return };
    let m = scene.metrics;
    let width = scene.view.width_px();
    let left = scene.view.x_of(area.span.start.0).clamp(-2.0, width + 2.0);
    let right = scene.view.x_of(area.span.end.0).clamp(-2.0, width + 2.0);
    for block in scene.layout.between(scene.scroll_y, scene.scroll_y + scene.height - m.ruler) {
        if let BlockKind::Track { id, .. } = block.kind
            && area.tracks.contains(&id)
        {
            let rect = Rect::new(m.gutter + left, scene.screen_y(block.y), (right - left).max(1.0), block.height);
            list.rect(Paint::Range, rect);
        }
    }
}

/// Paints curves with a head from the end of one slice to the start of another.
pub(super) fn paint_arrows(scene: &TimelineScene<'_>, list: &mut DisplayList) {
    for arrow in scene.overlay.arrows {
        let Some((from, to)) = place(scene, &arrow.from, true).zip(place(scene, &arrow.to, false)) else { continue };
        let width = scene.metrics.gutter + scene.view.width_px();
        let beyond = |x: f64| x < -BEYOND_PX || x > width + BEYOND_PX;
        if beyond(from.0) && beyond(to.0) {
            continue;
        }
        let clamp = |(x, y): (f64, f64)| (x.clamp(-BEYOND_PX, width + BEYOND_PX), y);
        let (from, to) = (clamp(from), clamp(to));
        let (paint, line) = if arrow.is_strong { (Paint::Accent, 2.0) } else { (Paint::MutedText, 1.0) };
        let bend = ((to.0 - from.0).abs() / 2.0).clamp(18.0, 120.0);
        let curve = [from, (from.0 + bend, from.1), (to.0 - bend, to.1), to];
        list.commands.push(Command::Curve(paint, curve, line));
        let head = vec![to, (to.0 - 6.0, to.1 - 3.5), (to.0 - 6.0, to.1 + 3.5)];
        list.commands.push(Command::Polygon(paint, head));
    }
}

/// The point where an arrow meets a slice: the end of the slice it leaves, the start of the slice it reaches.
fn place(scene: &TimelineScene<'_>, link: &SliceLink, at_end: bool) -> Option<(f64, f64)> {
    let block = scene.layout.track(link.track)?;
    let rows = match block.kind {
        BlockKind::Track { kind: TrackKind::Slices { rows }, .. } => rows,
        _ => 1,
    };
    let row = f64::from(link.row.min(rows.saturating_sub(1)));
    let y = scene.screen_y(block.y) + (row + 0.5) * scene.metrics.row;
    let start = scene.view.x_of(link.start_ns);
    let x = if at_end { start + scene.view.px_of(link.duration_ns) } else { start };
    Some((scene.metrics.gutter + x, y))
}
