//! Grid, ticks and titles of both axes.

use crate::plot::{Anchor, Axis, Frame, LEFT, Shape};
use ns_base::convert::{f64_to_usize, usize_to_f64};

/// Smallest space for a label of the horizontal axis, in pixels.
const LABEL_PX: f64 = 52.0;
/// Room that each letter of a label needs, in pixels.
const LETTER_PX: f64 = 6.2;
/// From the middle of small letters to the line that they stand on, in pixels.
const TO_BASE_PX: f64 = 4.0;

/// If there is no room for all labels of the horizontal axis, every second or third one is written.
pub fn axes(frame: &Frame, x: &Axis, y: &Axis) -> Vec<Shape> {
    let (right, top, bottom) = (frame.right_edge(), frame.y(1.0), frame.bottom_edge());
    let longest = x.ticks.iter().map(|tick| tick.label.chars().count()).max().unwrap_or(0);
    let room = (right - LEFT) / LABEL_PX.max(usize_to_f64(longest + 2) * LETTER_PX);
    let each = f64_to_usize(libm::ceil(usize_to_f64(x.ticks.len()) / room.max(1.0)).max(1.0));
    let mut shapes = Vec::new();
    for (i, tick) in x.ticks.iter().enumerate() {
        let at = frame.x(x.share(tick.value));
        shapes.push(Shape::line((at, top), (at, bottom), "grid"));
        if i % each == 0 {
            shapes.push(Shape::text((at, bottom + 16.0), &tick.label, Anchor::Middle, "tick"));
        }
    }
    for tick in &y.ticks {
        let at = frame.y(y.share(tick.value));
        shapes.push(Shape::line((LEFT, at), (right, at), "grid"));
        shapes.push(Shape::text((LEFT - 6.0, at + TO_BASE_PX), &tick.label, Anchor::End, "tick"));
    }
    shapes.push(Shape::text((frame.x(0.5), frame.height - 8.0), &x.title, Anchor::Middle, "axis-title"));
    shapes.push(Shape::text((12.0, frame.y(0.5)), &y.title, Anchor::Upward, "axis-title"));
    shapes
}
