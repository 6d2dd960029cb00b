//! Where sections, tracks and rows stand, from top to bottom.

use std::collections::BTreeSet;

use super::{Outline, TrackId, TrackKind};

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
    /// Width an average character takes.
    pub char_px: f64,
}

impl Default for Metrics {
    fn default() -> Self {
        Self { ruler: 26.0, section_bar: 21.0, row: 19.0, counter: 38.0, gutter: 176.0, char_px: 6.1 }
    }
}

impl Metrics {
    /// For a canvas of this width: a narrow one has a narrow column of names.
    #[must_use]
    pub fn for_width(width_px: f64) -> Self {
        let gutter = if width_px < 560.0 { 92.0 } else { 176.0 };
        Self { gutter, ..Self::default() }
    }
}

/// Something that stands at a height.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Block {
    /// Top edge in pixels below the ruler, not scrolled.
    pub y: f64,
    /// Height in pixels.
    pub height: f64,
    /// Position of its section in the outline.
    pub section: usize,
    /// What it is.
    pub kind: BlockKind,
}

/// What stands at a height.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BlockKind {
    /// The bar of the section.
    Bar {
        /// Whether the tracks of the section are hidden.
        collapsed: bool,
    },
    /// A track of the section.
    Track {
        /// Position within the section.
        index: usize,
        /// Its id.
        id: TrackId,
        /// What it shows.
        kind: TrackKind,
    },
}

/// Where everything stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layout {
    blocks: Vec<Block>,
    height: f64,
}

impl Layout {
    /// Places the sections of an outline; those in `collapsed` show their bar only.
    #[must_use]
    pub fn new(outline: &Outline, collapsed: &BTreeSet<usize>, metrics: &Metrics) -> Self {
        let mut layout = Self::default();
        for (section, s) in outline.sections.iter().enumerate() {
            let is_collapsed = collapsed.contains(&section);
            layout.push(section, metrics.section_bar, BlockKind::Bar { collapsed: is_collapsed });
            if is_collapsed {
                continue;
            }
            for (index, track) in s.tracks.iter().enumerate() {
                let height = match track.kind {
                    TrackKind::Slices { rows } => f64::from(rows.max(1)) * metrics.row,
                    TrackKind::Counter { .. } => metrics.counter,
                    TrackKind::Instants => metrics.row,
                };
                layout.push(section, height, BlockKind::Track { index, id: track.id, kind: track.kind });
            }
        }
        layout
    }

    fn push(&mut self, section: usize, height: f64, kind: BlockKind) {
        self.blocks.push(Block { y: self.height, height, section, kind });
        self.height += height;
    }

    /// Height of it all in pixels, without the ruler.
    #[must_use]
    pub const fn height(&self) -> f64 {
        self.height
    }

    /// The blocks that touch `top..bottom`.
    #[must_use]
    pub fn between(&self, top: f64, bottom: f64) -> &[Block] {
        let first = self.blocks.partition_point(|b| b.y + b.height <= top);
        let last = self.blocks.partition_point(|b| b.y < bottom);
        &self.blocks[first..last.max(first)]
    }

    /// The block at a height.
    #[must_use]
    pub fn at(&self, y: f64) -> Option<&Block> {
        self.between(y, y + f64::EPSILON.max(y * 1e-12)).first().filter(|b| y >= b.y)
    }

    /// The tracks that touch `top..bottom`.
    #[must_use]
    pub fn tracks_between(&self, top: f64, bottom: f64) -> Vec<TrackId> {
        let track = |b: &Block| match b.kind {
            BlockKind::Track { id, .. } => Some(id),
            BlockKind::Bar { .. } => None,
        };
        self.between(top, bottom).iter().filter_map(track).collect()
    }

    /// The block of a track, unless its section is collapsed.
    #[must_use]
    pub fn track(&self, wanted: TrackId) -> Option<&Block> {
        self.blocks.iter().find(|b| matches!(b.kind, BlockKind::Track { id, .. } if id == wanted))
    }

    /// All blocks from top to bottom.
    #[must_use]
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn rows_of_a_track_stand_below_each_other() {
        let outline = sample::outline();
        let metrics = Metrics::default();
        let layout = Layout::new(&outline, &BTreeSet::new(), &metrics);
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
        let all = Layout::new(&outline, &BTreeSet::new(), &metrics);
        let less = Layout::new(&outline, &BTreeSet::from([0]), &metrics);
        assert!(less.height() < all.height());
        assert!(less.track(outline.sections[0].tracks[0].id).is_none());
        let everything = Layout::new(&outline, &(0..outline.sections.len()).collect(), &metrics);
        assert_eq!(everything.height(), metrics.section_bar * outline.sections.len() as f64);
    }
}
