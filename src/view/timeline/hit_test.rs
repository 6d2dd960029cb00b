//! Finds what is under the pointer, and what the arrow keys reach.

use super::layout::{BlockKind, Layout, LayoutBlock, Metrics};
use super::{NO_SLICE, SliceRef, TimelineTile, TrackId, TrackTile, Viewport};

/// A slice that the pointer misses by at most this number of pixels counts as hit: many slices are a pixel wide.
const TOLERANCE_PX: f64 = 3.0;

/// The object at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hit {
    /// The bar of a section, by position in the outline.
    Section(usize),
    Slice(TileSlice),
    /// A track, between its slices.
    Track(TrackId),
    Name(TrackId),
    Ruler,
    /// No target.
    Nothing,
}

/// One slice of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileSlice {
    pub track: TrackId,
    /// Its row within the track.
    pub row: u16,
    /// Its position in the columns of the track.
    pub index: usize,
    /// The slice; [`NO_SLICE`] if several are merged.
    pub slice: SliceRef,
}

/// Returns the object at a point of the canvas.
pub fn hit(
    layout: &Layout,
    metrics: &Metrics,
    view: &Viewport,
    tile: Option<&TimelineTile>,
    scroll_y: f64,
    (x, y): (f64, f64),
) -> Hit {
    if y < metrics.ruler {
        return Hit::Ruler;
    }
    let height = y - metrics.ruler + scroll_y;
    let Some(block) = layout.at(height) else { return Hit::Nothing };
    match block.kind {
        BlockKind::Bar { .. } => Hit::Section(block.section),
        BlockKind::Pins => Hit::Nothing,
        BlockKind::Track { id, .. } if x < metrics.gutter => Hit::Name(id),
        BlockKind::Track { id, .. } => {
            let row = row_at(block, metrics, height);
            let found = tile
                .and_then(|t| t.track(id))
                .filter(|_| x >= metrics.gutter)
                .and_then(|t| nearest(t, row, view, x - metrics.gutter, TOLERANCE_PX));
            found.map_or(Hit::Track(id), Hit::Slice)
        }
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 <= row < number of rows")]
fn row_at(block: &LayoutBlock, metrics: &Metrics, height: f64) -> u16 {
    match block.kind {
        BlockKind::Track { kind: super::TrackKind::Slices { rows }, .. } => {
            (libm::floor((height - block.y) / metrics.row).max(0.0) as u16).min(rows.saturating_sub(1))
        }
        _ => 0,
    }
}

/// The slice of a row that is nearest to pixel `x`, if it is within `tolerance_px`.
pub fn nearest_on_row(
    tile: &TimelineTile,
    track: TrackId,
    row: u16,
    view: &Viewport,
    x: f64,
    tolerance_px: f64,
) -> Option<TileSlice> {
    nearest(tile.track(track)?, row, view, x, tolerance_px)
}

fn nearest(track: &TrackTile, row: u16, view: &Viewport, x: f64, tolerance_px: f64) -> Option<TileSlice> {
    let mut best: Option<(f64, usize)> = None;
    for i in (0..track.len()).filter(|&i| track.row[i] == row) {
        let left = view.x_of(track.start_ns[i]);
        let right = left + view.px_of(track.duration_ns[i]).max(1.0);
        let distance = if x < left { left - x } else { (x - right).max(0.0) };
        if distance <= tolerance_px && best.is_none_or(|(d, _)| distance < d) {
            best = Some((distance, i));
        }
    }
    best.map(|(_, index)| TileSlice { track: track.track, row, index, slice: track.slice[index] })
}

/// The position of a slice in a tile.
pub fn slice_in_tile(tile: &TimelineTile, slice: SliceRef) -> Option<TileSlice> {
    if slice == NO_SLICE {
        return None;
    }
    tile.tracks.iter().find_map(|t| {
        let index = t.slice.iter().position(|s| *s == slice)?;
        Some(TileSlice { track: t.track, row: t.row[index], index, slice })
    })
}

/// The row below (or above) a row, among the tracks that are not collapsed.
pub fn row_above_or_below(layout: &Layout, from: (TrackId, u16), below: bool) -> Option<(TrackId, u16)> {
    let rows: Vec<(TrackId, u16)> = layout
        .blocks()
        .iter()
        .filter_map(|b| match b.kind {
            BlockKind::Track { id, kind: super::TrackKind::Slices { rows }, .. } => Some((id, rows.max(1))),
            BlockKind::Track { id, kind: super::TrackKind::Instants, .. } => Some((id, 1)),
            _ => None,
        })
        .flat_map(|(id, rows)| (0..rows).map(move |r| (id, r)))
        .collect();
    let here = rows.iter().position(|r| *r == from)?;
    let there = if below { here.checked_add(1)? } else { here.checked_sub(1)? };
    rows.get(there).copied()
}

#[cfg(test)]
mod tests {
    use super::super::{Arrangement, sample};
    use super::*;

    #[test]
    fn a_click_finds_the_slice_it_looks_like() {
        let outline = sample::outline();
        let metrics = Metrics::default();
        let layout = Layout::new(&outline, &Arrangement::default(), &metrics);
        let tile = sample::tile();
        let view = Viewport::fit(outline.span, 1_000.0);
        let found = slice_in_tile(&tile, sample::FUSED_16).expect("is in the tile");
        let block = layout.track(found.track).expect("is laid out");
        let x = metrics.gutter + view.x_of(11_500);
        let y = metrics.ruler + block.y + (f64::from(found.row) + 0.5) * metrics.row;
        assert_eq!(hit(&layout, &metrics, &view, Some(&tile), 0.0, (x, y)), Hit::Slice(found));
        assert_eq!(hit(&layout, &metrics, &view, Some(&tile), 100.0, (x, y - 100.0)), Hit::Slice(found));
        assert_eq!(hit(&layout, &metrics, &view, Some(&tile), 0.0, (x, 3.0)), Hit::Ruler);
        assert_eq!(hit(&layout, &metrics, &view, Some(&tile), 0.0, (x, metrics.ruler + 2.0)), Hit::Section(0));
        let beside = (metrics.gutter + view.x_of(0) - 15.0, y);
        assert_eq!(hit(&layout, &metrics, &view, Some(&tile), 0.0, beside), Hit::Track(found.track));
        assert_eq!(hit(&layout, &metrics, &view, Some(&tile), 0.0, (5.0, y)), Hit::Name(found.track));
    }

    #[test]
    fn arrows_walk_over_all_rows_and_stop_at_the_ends() {
        let outline = sample::outline();
        let layout = Layout::new(&outline, &Arrangement::default(), &Metrics::default());
        let first = outline.sections[0].tracks[0].id;
        let mut at = (first, 0);
        let mut steps = 0;
        while let Some(next) = row_above_or_below(&layout, at, true) {
            at = next;
            steps += 1;
        }
        assert_eq!(steps, 3 + 3 * 5 - 1);
        assert_eq!(row_above_or_below(&layout, (first, 0), false), None);
        assert_eq!(row_above_or_below(&layout, at, false).map(|_| ()), Some(()));
    }
}
