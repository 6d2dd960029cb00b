//! The meaning of colours and marks, below a plot.

use crate::plot::shape::to_svg;
use crate::plot::{Form, Ink, Mark, Place, Shape};
use crate::svg::escape;

/// A sample of a look, drawn around (0, 0), and its name.
#[derive(Clone, Debug, PartialEq)]
pub struct LegendEntry {
    pub sample: Shape,
    /// Whether the sample is a piece of a line: wide and flat.
    pub is_line: bool,
    pub name: String,
}

impl LegendEntry {
    pub fn mark(mark: Mark, fill: u8, name: &str) -> Self {
        Self { sample: Shape::mark(mark, (0.0, 0.0), "mark", fill), is_line: false, name: name.to_owned() }
    }

    pub fn line(class: &'static str, ink: Ink, name: &str) -> Self {
        let piece: [Place; 2] = [(-11.0, 0.0), (11.0, 0.0)];
        Self { sample: Shape::new(Form::Line(piece.to_vec()), class, ink), is_line: true, name: name.to_owned() }
    }

    /// The ring around the chosen mark.
    pub fn ring(name: &str) -> Self {
        let ring = Form::Disc { at: (0.0, 0.0), radius: 6.0 };
        Self { sample: Shape::new(ring, "chosen", Ink::OfClass), is_line: false, name: name.to_owned() }
    }
}

/// The entries as the items of a list, HTML.
pub fn legend(entries: &[LegendEntry]) -> String {
    let item = |entry: &LegendEntry| {
        let (class, view_box) =
            if entry.is_line { ("swatch is-line", "-11 -4 22 8") } else { ("swatch", "-8 -8 16 16") };
        let sample = to_svg(std::slice::from_ref(&entry.sample));
        let name = escape(&entry.name);
        format!(
            "<li><svg class=\"{class}\" viewBox=\"{view_box}\" aria-hidden=\"true\">{sample}</svg><span class=\"name\">{name}</span></li>"
        )
    };
    entries.iter().map(item).collect()
}
