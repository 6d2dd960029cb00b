//! A plot with two axes on the screen: where its values stand, and which of them a pointer is on.

use crate::svg::number;
use ns_base::Order;

/// Left edge of the axes.
pub const LEFT: f64 = 64.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 44.0;
/// Assumed width until a plot knows its own, in pixels: room is reserved for it, and nothing is drawn.
const FIRST_WIDTH: f64 = 560.0;

/// Place of a plot in its figure, in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// Total width.
    pub width: f64,
    /// Total height.
    pub height: f64,
    /// Room at the right of the axes: for labels of lines.
    pub right: f64,
    /// Whether lines have their names beside their ends.
    pub has_names: bool,
}

impl Frame {
    /// A plot of this width (of none: one not yet known), with a suitable height and room at the right of the axes.
    pub fn new(width: Option<f64>, right: f64) -> Self {
        let width = width.unwrap_or(FIRST_WIDTH);
        let height = libm::round((width * 0.5).clamp(200.0, 320.0));
        Self { width, height, right, has_names: false }
    }

    /// The same with names of lines beside their ends, or without.
    pub const fn with_names(self, has_names: bool) -> Self {
        Self { has_names, ..self }
    }

    /// The value of `viewBox`.
    pub fn view_box(&self) -> String {
        format!("0 0 {} {}", number(self.width), number(self.height))
    }

    /// Right edge of the axes.
    pub fn right_edge(&self) -> f64 {
        self.width - self.right
    }

    /// Bottom edge of the axes.
    pub fn bottom_edge(&self) -> f64 {
        self.height - BOTTOM
    }

    /// Position of a share of the horizontal axis, in pixels.
    pub fn x(&self, share: f64) -> f64 {
        LEFT + share * (self.right_edge() - LEFT)
    }

    /// Position of a share of the vertical axis, in pixels.
    pub fn y(&self, share: f64) -> f64 {
        self.bottom_edge() - share * (self.bottom_edge() - TOP)
    }
}

/// The position of the place that is closest to a point; of equal ones the last, which lies on top.
pub fn nearest(places: impl IntoIterator<Item = (f64, f64)>, (x, y): (f64, f64)) -> Option<usize> {
    let mut best: Option<(usize, f64)> = None;
    for (i, (px, py)) in places.into_iter().enumerate() {
        let distance = (px - x) * (px - x) + (py - y) * (py - y);
        if best.is_none_or(|(_, least)| distance <= least) {
            best = Some((i, distance));
        }
    }
    best.map(|(i, _)| i)
}

/// Places for labels that belong at these places, in their order: at least `step` apart, none beyond `end` if they fit.
pub fn apart(wanted: &[f64], step: f64, end: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.order_by(|&a, &b| wanted[a].total_cmp(&wanted[b]));
    let (mut places, mut free) = (wanted.to_vec(), f64::MIN);
    for &i in &order {
        places[i] = wanted[i].max(free);
        free = places[i] + step;
    }
    free = end;
    for &i in order.iter().rev() {
        places[i] = places[i].min(free);
        free = places[i] - step;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_the_axes_are_inside_the_figure() {
        let frame = Frame::new(Some(600.0), 16.0);
        assert_eq!((frame.x(0.0), frame.x(1.0)), (LEFT, 584.0));
        assert!(frame.y(1.0) < frame.y(0.0) && frame.y(0.0) < frame.height);
        assert_eq!(Frame::new(None, 0.0).width, FIRST_WIDTH);
    }

    #[test]
    fn labels_keep_apart_and_inside() {
        assert_eq!(apart(&[50.0, 10.0, 12.0], 13.0, 100.0), [50.0, 10.0, 23.0]);
        assert_eq!(apart(&[98.0, 99.0, 97.0], 13.0, 100.0), [87.0, 100.0, 74.0]);
        assert!(apart(&[], 13.0, 100.0).is_empty());
    }

    #[test]
    fn the_closest_place_answers_and_of_equal_ones_the_one_on_top() {
        let places = [(0.0, 0.0), (10.0, 0.0), (10.0, 0.0), (10.0, 9.0)];
        assert_eq!(nearest(places, (4.0, 0.0)), Some(0));
        assert_eq!(nearest(places, (10.0, 1.0)), Some(2));
        assert_eq!(nearest([], (0.0, 0.0)), None);
    }
}
