//! A drawing: shapes in pixels from the top left, from back to front.

#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    /// Width, pixels.
    pub width: f64,
    /// Height, pixels.
    pub height: f64,
    /// A description for readers who cannot see it.
    pub label: String,
    /// Shapes from back to front.
    pub shapes: Vec<Shape>,
}

/// The dash style of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dash {
    Solid,
    /// Dots.
    Dotted,
    Dashed,
    DashDot,
}

/// The shape of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkKind {
    Diamond,
    Circle,
    Square,
    /// A triangle, point down.
    Triangle,
}

/// The anchor of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// The anchor is at the first letter.
    Start,
    Middle,
    /// The anchor is at the last letter.
    End,
}

/// A shape. Colours are CSS.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A line from point to point.
    Line {
        points: Vec<(f64, f64)>,
        colour: &'static str,
        /// Width, pixels.
        width: f64,
        dash: Dash,
    },
    Rectangle {
        /// Left, top, width, height.
        at: [f64; 4],
        colour: &'static str,
    },
    /// A mark at a point, with a tooltip.
    Mark {
        at: (f64, f64),
        kind: MarkKind,
        colour: &'static str,
        /// Text of the tooltip.
        title: String,
    },
    Text {
        /// Position of the anchor.
        at: (f64, f64),
        text: String,
        /// Height of the letters, pixels.
        size: f64,
        anchor: Anchor,
        /// Rotation in degrees, clockwise.
        turn: f64,
        /// Opacity, 0 to 1.
        opacity: f64,
    },
}

/// Half the width of a mark, pixels.
pub const HALF_MARK: f64 = 4.0;

impl Dash {
    /// Lengths of lines and gaps in turn, pixels; empty for a solid line.
    pub const fn lengths(self) -> &'static [f64] {
        match self {
            Self::Solid => &[],
            Self::Dotted => &[2.0, 3.0],
            Self::Dashed => &[6.0, 4.0],
            Self::DashDot => &[8.0, 3.0, 2.0, 3.0],
        }
    }
}

impl MarkKind {
    /// Corners of the mark at a point; a circle has none.
    pub fn outline(self, (x, y): (f64, f64)) -> Vec<(f64, f64)> {
        let corners: &[(f64, f64)] = match self {
            Self::Circle => &[],
            Self::Diamond => &[(0.0, -1.2), (1.2, 0.0), (0.0, 1.2), (-1.2, 0.0)],
            Self::Square => &[(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)],
            Self::Triangle => &[(-1.2, -1.0), (1.2, -1.0), (0.0, 1.2)],
        };
        corners.iter().map(|(dx, dy)| (x + dx * HALF_MARK, y + dy * HALF_MARK)).collect()
    }
}

/// Colours of the backends: six that colour-blind people can distinguish (Okabe and Ito), without the
/// yellow, which is hard to see on white.
const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00"];
/// Shapes of the backends' marks.
const MARKS: [MarkKind; 4] = [MarkKind::Diamond, MarkKind::Circle, MarkKind::Square, MarkKind::Triangle];

/// The colour of the nth backend.
pub(super) fn colour(n: usize) -> &'static str {
    COLOURS[n % COLOURS.len()]
}

/// The letter of a colour in a drawing of characters: the first backend is `A`.
pub(super) fn letter(colour: &str) -> char {
    COLOURS.iter().zip('A'..).find(|(known, _)| **known == colour).map_or('*', |(_, letter)| letter)
}

/// The mark of the nth backend.
pub(super) fn mark(n: usize) -> MarkKind {
    MARKS[n % MARKS.len()]
}

/// The line of the nth backend.
pub(super) fn dash(n: usize) -> Dash {
    [Dash::Solid, Dash::Dotted, Dash::Dashed, Dash::DashDot][n % 4]
}

impl Drawing {
    /// A text, black and horizontal.
    pub(super) fn text(&mut self, at: (f64, f64), text: &str, size: f64, anchor: Anchor) {
        self.shapes.push(Shape::Text { at, text: text.to_owned(), size, anchor, turn: 0.0, opacity: 1.0 });
    }

    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), colour: &'static str, width: f64) {
        self.shapes.push(Shape::Line { points: vec![from, to], colour, width, dash: Dash::Solid });
    }
}
