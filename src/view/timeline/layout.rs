//! The vertical places of sections, tracks and rows.

use super::{Arrangement, Outline, Track, TrackId, TrackKind};
use ns_base::FxHashMap;

/// Sizes in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Metrics {
    /// Height of the ruler.
    pub ruler: f64,
    /// Height of a section's bar.
    pub section_bar: f64,
    /// Height of one row of slices.
    pub row: f64,
    /// Height of a counter.
    pub counter: f64,
    /// Width of the column of names.
    pub gutter: f64,
    /// Width of an average character.
    pub char_px: f64,
}

impl Default for Metrics {
    fn default() -> Self {
        Self { ruler: 26.0, section_bar: 21.0, row: 19.0, counter: 38.0, gutter: 176.0, char_px: 6.1 }
    }
}

impl Metrics {
    /// Sizes for a canvas of this width: a narrow one has a narrow column of names.
    pub fn for_width(width_px: f64) -> Self {
        let gutter = if width_px < 560.0 { 92.0 } else { 176.0 };
        Self { gutter, ..Self::default() }
    }
}

/// A part of the layout at a height.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayoutBlock {
    /// Top edge in pixels below the ruler, not scrolled.
    pub y: f64,
    /// Height in pixels.
    pub height: f64,
    /// Position of its section in the outline; for the bar of pinned tracks, the position of the first one.
    pub section: usize,
    pub kind: BlockKind,
}

/// The kind of a part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BlockKind {
    /// The bar of the section.
    Bar {
        /// Whether the tracks of the section are hidden.
        collapsed: bool,
    },
    /// The bar above pinned tracks.
    Pins,
    /// A track of the section.
    Track {
        /// Position within the section.
        index: usize,
        id: TrackId,
        /// Its content, with one row if it is folded.
        kind: TrackKind,
        /// Whether it shows its first row only.
        is_folded: bool,
        /// Whether it is pinned above all sections.
        is_pinned: bool,
    },
}

/// The places of all parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layout {
    blocks: Vec<LayoutBlock>,
    by_track: FxHashMap<TrackId, usize>,
    height: f64,
}

impl Layout {
    /// Places the tracks of an outline by an arrangement: pinned ones on top, then the sections.
    pub fn new(outline: &Outline, arrangement: &Arrangement, metrics: &Metrics) -> Self {
        let mut layout = Self::default();
        let pinned: Vec<_> = arrangement.pinned.iter().filter_map(|id| place_of(outline, *id)).collect();
        if !pinned.is_empty() {
            layout.push(0, metrics.section_bar, BlockKind::Pins);
        }
        for (section, index, track) in pinned {
            layout.push_track(section, index, track, arrangement, metrics);
        }
        for (section, s) in outline.sections.iter().enumerate() {
            let tracks = arrangement.tracks_of(s);
            if tracks.is_empty() && !s.tracks.is_empty() {
                continue;
            }
            let collapsed = arrangement.collapsed.contains(&section);
            layout.push(section, metrics.section_bar, BlockKind::Bar { collapsed });
            if collapsed {
                continue;
            }
            for (index, track) in tracks {
                layout.push_track(section, index, track, arrangement, metrics);
            }
        }
        layout
    }

    fn push_track(&mut self, section: usize, index: usize, track: &Track, arranged: &Arrangement, metrics: &Metrics) {
        let is_folded = arranged.folded.contains(&track.id);
        let is_pinned = arranged.pinned.contains(&track.id);
        let kind = match track.kind {
            TrackKind::Slices { .. } if is_folded => TrackKind::Slices { rows: 1 },
            kind => kind,
        };
        let height = match kind {
            TrackKind::Slices { rows } => f64::from(rows.max(1)) * metrics.row,
            TrackKind::Counter { .. } => metrics.counter,
            TrackKind::Instants => metrics.row,
        };
        self.by_track.insert(track.id, self.blocks.len());
        self.push(section, height, BlockKind::Track { index, id: track.id, kind, is_folded, is_pinned });
    }

    fn push(&mut self, section: usize, height: f64, kind: BlockKind) {
        self.blocks.push(LayoutBlock { y: self.height, height, section, kind });
        self.height += height;
    }

    /// Total height in pixels, without the ruler.
    pub const fn height(&self) -> f64 {
        self.height
    }

    /// The blocks that touch `top..bottom`.
    pub fn between(&self, top: f64, bottom: f64) -> &[LayoutBlock] {
        let first = self.blocks.partition_point(|b| b.y + b.height <= top);
        let last = self.blocks.partition_point(|b| b.y < bottom);
        &self.blocks[first..last.max(first)]
    }

    /// The block at a height.
    pub fn at(&self, y: f64) -> Option<&LayoutBlock> {
        self.between(y, y + f64::EPSILON.max(y * 1e-12)).first().filter(|b| y >= b.y)
    }

    /// The tracks that touch `top..bottom`.
    pub fn tracks_between(&self, top: f64, bottom: f64) -> Vec<TrackId> {
        let track = |b: &LayoutBlock| match b.kind {
            BlockKind::Track { id, .. } => Some(id),
            BlockKind::Bar { .. } | BlockKind::Pins => None,
        };
        self.between(top, bottom).iter().filter_map(track).collect()
    }

    /// The block of a track, unless its section is collapsed.
    pub fn track(&self, wanted: TrackId) -> Option<&LayoutBlock> {
        self.by_track.get(&wanted).and_then(|i| self.blocks.get(*i))
    }

    /// All blocks from top to bottom.
    pub fn blocks(&self) -> &[LayoutBlock] {
        &self.blocks
    }
}

/// Section and position of a track.
fn place_of(outline: &Outline, id: TrackId) -> Option<(usize, usize, &Track)> {
    let mut sections = outline.sections.iter().enumerate();
    sections.find_map(|(s, section)| {
        let index = section.tracks.iter().position(|t| t.id == id)?;
        Some((s, index, &section.tracks[index]))
    })
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    fn collapsed(sections: std::collections::BTreeSet<usize>) -> Arrangement {
        Arrangement { collapsed: sections, ..Arrangement::default() }
    }

    #[test]
    fn rows_of_a_track_stand_below_each_other() {
        let outline = sample::outline();
        let metrics = Metrics::default();
        let layout = Layout::new(&outline, &Arrangement::default(), &metrics);
        let hierarchy = outline.sections[1].tracks[0].id;
        let block = layout.track(hierarchy).expect("is laid out");
        assert_eq!(block.height, 3.0 * metrics.row);
        assert_eq!(layout.at(block.y).map(|b| b.kind), Some(block.kind));
        assert_eq!(layout.at(layout.height() + 1.0), None);
        assert_eq!(layout.tracks_between(block.y, block.y + 1.0), [hierarchy]);
    }

    #[test]
    fn a_collapsed_section_keeps_its_bar() {
        let outline = sample::outline();
        let metrics = Metrics::default();
        let all = Layout::new(&outline, &Arrangement::default(), &metrics);
        let less = Layout::new(&outline, &collapsed([0].into()), &metrics);
        assert!(less.height() < all.height());
        assert!(less.track(outline.sections[0].tracks[0].id).is_none());
        let everything = Layout::new(&outline, &collapsed((0..outline.sections.len()).collect()), &metrics);
        assert_eq!(everything.height(), metrics.section_bar * outline.sections.len() as f64);
    }
}
