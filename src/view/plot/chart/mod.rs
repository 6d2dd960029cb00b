//! A plot over two axes: what it draws, which of its points is at a place, and where a key leads. The page and a saved page know no more
//! of lines, points and rooflines than this.

mod axes;
mod legend;
mod lines;
mod roofline;
mod scatter;

pub use axes::axes;
pub use legend::{LegendEntry, legend};

use super::{Axis, Frame, Place, Shape};

/// A point of a plot: the position of its line, and its position on the line. Points without lines are on line 0.
pub type Spot = (usize, usize);

/// A plot over two axes.
pub trait Chart {
    /// Its look, a class of the style sheets.
    fn class(&self) -> &'static str;

    fn axes(&self) -> (&Axis, &Axis);

    /// Its place in a figure of a width, in pixels.
    fn frame(&self, width: Option<f64>) -> Frame {
        Frame::new(width, 16.0)
    }

    /// What stands between the axes, from back to front.
    fn marks(&self, frame: &Frame) -> Vec<Shape>;

    /// Where a point stands.
    fn place(&self, frame: &Frame, spot: Spot) -> Option<Place>;

    /// The point that a place belongs to.
    fn at(&self, frame: &Frame, place: Place) -> Option<Spot>;

    /// The point that a key leads to: an arrow, Home or End.
    fn next(&self, from: Option<Spot>, key: &str) -> Option<Spot>;

    /// A point in words.
    fn words(&self, spot: Spot) -> Option<String>;

    /// What it is made of: `3 lines with 12 points in all`.
    fn summary(&self) -> String;

    /// What stands below it until a point is chosen.
    fn hint(&self) -> String {
        String::new()
    }

    /// What its colours and marks mean, as far as the drawing of this place does not say it.
    fn legend(&self, frame: &Frame) -> Vec<LegendEntry>;

    /// Everything, from back to front.
    fn shapes(&self, frame: &Frame) -> Vec<Shape> {
        let (x, y) = self.axes();
        let mut shapes = axes(frame, x, y);
        shapes.append(&mut self.marks(frame));
        shapes
    }

    /// Where a value of both axes stands.
    fn place_of(&self, frame: &Frame, (x, y): (f64, f64)) -> Place {
        let axes = self.axes();
        (frame.x(axes.0.share(x)), frame.y(axes.1.share(y)))
    }
}

/// The position in a row of points that a key leads to from another one.
fn step(count: usize, from: Option<usize>, key: &str) -> Option<usize> {
    let last = count.checked_sub(1)?;
    match (key, from) {
        ("ArrowRight" | "ArrowDown", Some(now)) => Some((now + 1).min(last)),
        ("ArrowLeft" | "ArrowUp", Some(now)) => Some(now.saturating_sub(1)),
        ("ArrowRight" | "ArrowDown" | "ArrowLeft" | "ArrowUp" | "Home", _) => Some(0),
        ("End", _) => Some(last),
        _ => None,
    }
}
