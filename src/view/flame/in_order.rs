//! Slices of one thread on an axis of time.

use super::FlameRect;
use crate::timeline::SliceLink;
use ns_base::convert::{i64_to_f64, usize_to_u32};

/// Rectangles of slices, each in the row of its depth, and the span of the axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InOrderLayout {
    /// Rectangles in the order of the slices; `node` is the position of the slice.
    pub rects: Vec<FlameRect>,
    /// Number of rows.
    pub rows: u16,
    /// Start of the axis, ns from the origin of the profile.
    pub start_ns: i64,
    pub end_ns: i64,
    /// Number of slices that are too narrow to be drawn.
    pub narrow: u64,
}

impl InOrderLayout {
    /// The rectangles on an axis `width_px` wide from the first start to the last end; those narrower than `least_px` are
    /// left out. Slices that cross an edge of `within` (start, end) are cut there.
    pub fn new(slices: &[SliceLink], within: Option<(i64, i64)>, width_px: f64, least_px: f64) -> Self {
        let end_of = |s: &SliceLink| s.start_ns.saturating_add_unsigned(s.duration_ns);
        let first = slices.iter().map(|s| s.start_ns).min().unwrap_or(0);
        let last = slices.iter().map(end_of).max().unwrap_or(0);
        let (start_ns, end_ns) = within.map_or((first, last), |(a, z)| (first.max(a), last.min(z).max(first.max(a))));
        let per_ns = width_px / i64_to_f64(end_ns.saturating_sub(start_ns)).max(1.0);
        let mut layout = Self { start_ns, end_ns, ..Self::default() };
        for (i, slice) in slices.iter().enumerate() {
            let (from, to) = (slice.start_ns.max(start_ns), end_of(slice).min(end_ns));
            let width = i64_to_f64(to.saturating_sub(from).max(0)) * per_ns;
            if width < least_px {
                layout.narrow += 1;
                continue;
            }
            let x = i64_to_f64(from.saturating_sub(start_ns)) * per_ns;
            layout.rects.push(FlameRect { node: usize_to_u32(i), x, width, row: slice.row });
            layout.rows = layout.rows.max(slice.row.saturating_add(1));
        }
        layout
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slice(start_ns: i64, duration_ns: u64, row: u16) -> SliceLink {
        let (slice, track) = (crate::timeline::SliceRef(0), crate::timeline::TrackId(0));
        SliceLink { slice, track, row, title: String::new(), start_ns, duration_ns }
    }

    #[test]
    fn a_slice_keeps_its_place_and_length() {
        let slices = [slice(100, 100, 0), slice(110, 50, 1), slice(160, 1, 1), slice(250, 50, 0)];
        let layout = InOrderLayout::new(&slices, None, 400.0, 3.0);
        let found: Vec<_> = layout.rects.iter().map(|r| (r.node, r.x, r.width, r.row)).collect();
        assert_eq!(found, [(0, 0.0, 200.0, 0), (1, 20.0, 100.0, 1), (3, 300.0, 100.0, 0)]);
        assert_eq!((layout.rows, layout.start_ns, layout.end_ns, layout.narrow), (2, 100, 300, 1));
    }

    #[test]
    fn a_span_cuts_slices_at_its_edges() {
        let slices = [slice(0, 100, 0), slice(10, 20, 1)];
        let layout = InOrderLayout::new(&slices, Some((20, 60)), 40.0, 0.5);
        assert_eq!(layout.rects.iter().map(|r| (r.x, r.width)).collect::<Vec<_>>(), [(0.0, 40.0), (0.0, 10.0)]);
        let nothing = InOrderLayout::new(&[], Some((20, 60)), 40.0, 0.5);
        assert_eq!((nothing.rects.len(), nothing.rows), (0, 0));
    }
}
