//! Shapes to paint, in order. They have a meaning instead of a colour, so that one list serves both themes, the canvas
//! and SVG.

use super::super::palette::Paint;
use ns_base::convert::usize_to_f64;

/// A rectangle in pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rect {
    /// Left edge.
    pub x: f64,
    /// Top edge.
    pub y: f64,
    /// Width.
    pub w: f64,
    /// Height.
    pub h: f64,
}

impl Rect {
    /// A rectangle from its top left corner and its size.
    pub const fn new(x: f64, y: f64, w: f64, h: f64) -> Self {
        Self { x, y, w, h }
    }
}

/// Position of a text relative to its anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Begins at the anchor.
    Start,
    /// Is centred on the anchor.
    Middle,
}

/// A line of text.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// Anchor.
    pub x: f64,
    /// Vertical middle of the line.
    pub y: f64,
    pub text: String,
    pub paint: Paint,
    /// Its position relative to the anchor.
    pub align: Align,
    pub bold: bool,
    /// Greatest width.
    pub max_width: f64,
}

/// A row of pixels, each as high as the row. Slices are painted this way: a full screen has thousands of them, but a row
/// has only as many pixels as the screen is wide.
#[derive(Clone, Debug, PartialEq)]
pub struct Strip {
    /// Left edge, a whole number.
    pub x: f64,
    /// Top edge.
    pub y: f64,
    /// Height.
    pub h: f64,
    /// Colour of each pixel from left to right; `None` for an empty pixel.
    pub pixels: Vec<Option<Paint>>,
}

impl Strip {
    /// Colours pixels from `left` (on the canvas) for `width`; the part outside the strip is cut.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "cut to the strip before")]
    pub fn fill(&mut self, left: f64, width: f64, paint: Paint) {
        let length = usize_to_f64(self.pixels.len());
        let from = (left - self.x).clamp(0.0, length) as usize;
        let to = (left + width - self.x).clamp(0.0, length) as usize;
        if let Some(pixels) = self.pixels.get_mut(from..to) {
            pixels.fill(Some(paint));
        }
    }

    /// Its stretches of one colour, from left to right, as rectangles.
    pub fn runs(&self) -> impl Iterator<Item = (Paint, Rect)> + '_ {
        let mut x = self.x;
        self.pixels.chunk_by(|a, b| a == b).filter_map(move |run| {
            let (left, width) = (x, usize_to_f64(run.len()));
            x += width;
            let paint = (*run.first()?)?;
            Some((paint, Rect::new(left, self.y, width, self.h)))
        })
    }
}

/// One step of painting.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Paint only inside this rectangle until [`Command::Unclip`].
    Clip(Rect),
    /// End the last clip.
    Unclip,
    /// Rectangles of one colour.
    Rects(Paint, Vec<Rect>),
    /// Rows of pixels.
    Strips(Vec<Strip>),
    /// The outline of a rectangle, with the line's width.
    Frame(Paint, Rect, f64),
    /// A Bézier curve: its start, two control points and its end, with the line's width.
    Curve(Paint, [(f64, f64); 4], f64),
    Polygon(Paint, Vec<(f64, f64)>),
    Text(Label),
}

/// Everything to paint, from back to front.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DisplayList {
    /// Width in pixels.
    pub width: f64,
    /// Height in pixels.
    pub height: f64,
    /// Steps in order.
    pub commands: Vec<Command>,
}

impl DisplayList {
    /// Adds one rectangle.
    pub fn rect(&mut self, paint: Paint, rect: Rect) {
        if let Some(Command::Rects(last, rects)) = self.commands.last_mut()
            && *last == paint
        {
            rects.push(rect);
            return;
        }
        self.commands.push(Command::Rects(paint, vec![rect]));
    }

    /// Adds a line of text.
    pub fn text(&mut self, label: Label) {
        self.commands.push(Command::Text(label));
    }

    /// Number of shapes.
    pub fn shapes(&self) -> usize {
        let count = |c: &Command| match c {
            Command::Clip(_) | Command::Unclip => 0,
            Command::Rects(_, rects) => rects.len(),
            Command::Strips(strips) => strips.iter().map(|s| s.runs().count()).sum(),
            Command::Frame(..) | Command::Curve(..) | Command::Polygon(..) | Command::Text(_) => 1,
        };
        self.commands.iter().map(count).sum()
    }
}
