//! Parts of every picture: titles, axes, a legend, and the positions of values.

use super::look::{LETTERS, Picture, fill, mark};
use ns_base::convert::usize_to_f64;
use ns_view::plot::{Anchor, Axis, Shape};

/// Size of a picture in inches of a hundred pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FigureSize {
    pub width_in: f64,
    pub height_in: f64,
}

/// Smallest and largest size of a picture, inches.
const RANGE_IN: (f64, f64) = (2.0, 100.0);

/// The inner rectangle of a picture.
pub(super) struct Frame {
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
}

impl FigureSize {
    /// Pixels per inch.
    pub(super) const DPI: f64 = 100.0;

    /// A size that can be drawn: a value that is not a number, or is too small or too large, is moved into range.
    fn pixels(self) -> (f64, f64) {
        let inches = |x: f64, otherwise: f64| if x.is_finite() { x.clamp(RANGE_IN.0, RANGE_IN.1) } else { otherwise };
        (inches(self.width_in, 9.0) * Self::DPI, inches(self.height_in, 6.75) * Self::DPI)
    }
}

impl Frame {
    /// An empty picture with its titles, and the rectangle inside.
    pub fn new(size: FigureSize, titles: &[&str], left: f64) -> (Picture, Self) {
        let (width, height) = size.pixels();
        let mut drawing = Picture { width, height, label: titles.join(", "), shapes: Vec::new() };
        let mut y = 12.0;
        for title in titles {
            y += LETTERS * 1.4;
            drawing.shapes.push(Shape::text((width / 2.0, y), title, Anchor::Middle, "title"));
        }
        let frame = Self { left, right: width - 24.0, top: y + 14.0, bottom: height - 58.0 };
        (drawing, frame)
    }

    pub fn x(&self, share: f64) -> f64 {
        self.left + share * (self.right - self.left)
    }

    pub fn y(&self, share: f64) -> f64 {
        self.bottom - share * (self.bottom - self.top)
    }

    /// The four sides, the ticks and title of the vertical axis, and the grey line at one.
    pub fn draw_vertical(&self, drawing: &mut Picture, axis: &Axis) {
        for tick in &axis.ticks {
            let y = self.y(axis.share(tick.value));
            drawing.line((self.left - 5.0, y), (self.left, y), "side");
            drawing.word((self.left - 8.0, y + LETTERS / 3.0), &tick.label, Anchor::End);
        }
        let one = self.y(axis.share(1.0));
        drawing.line((self.left, one), (self.right, one), "aid");
        let middle = (self.top + self.bottom) / 2.0;
        drawing.word((LETTERS * 1.4, middle), &axis.title, Anchor::Upward);
        self.draw_sides(drawing);
    }

    pub fn draw_sides(&self, drawing: &mut Picture) {
        let (l, r, t, b) = (self.left, self.right, self.top, self.bottom);
        for (from, to) in [((l, t), (r, t)), ((r, t), (r, b)), ((l, b), (r, b)), ((l, t), (l, b))] {
            drawing.line(from, to, "side");
        }
    }

    /// A tick of the horizontal axis.
    pub fn draw_tick(&self, drawing: &mut Picture, x: f64, label: &str) {
        drawing.line((x, self.bottom), (x, self.bottom + 5.0), "side");
        drawing.word((x, self.bottom + 8.0 + LETTERS), label, Anchor::Middle);
    }

    pub fn draw_horizontal_title(&self, drawing: &mut Picture, title: &str) {
        let middle = (self.left + self.right) / 2.0;
        drawing.word((middle, self.bottom + 48.0), title, Anchor::Middle);
    }

    /// The top of a legend with this many names that ends above the horizontal axis: axes begin at zero, where few points are.
    pub fn legend_at_bottom(&self, names: usize) -> f64 {
        self.bottom - 18.0 - usize_to_f64(names) * LETTERS * 1.4
    }

    /// Names with their marks on the right, below the given height.
    pub fn draw_legend(&self, drawing: &mut Picture, names: &[String], top: f64) {
        let longest = usize_to_f64(names.iter().map(|n| n.chars().count()).max().unwrap_or(0));
        let x = self.right - longest * LETTERS * 0.6 - 12.0;
        for (i, name) in names.iter().enumerate() {
            let y = top + 14.0 + usize_to_f64(i) * LETTERS * 1.4;
            let mark = Shape::mark(mark(i), (x - 12.0, y - LETTERS / 3.0), "mark", fill(i));
            drawing.shapes.push(mark.with_title(name.clone()));
            drawing.word((x, y), name, Anchor::Start);
        }
    }
}
