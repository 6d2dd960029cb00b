//! How the shapes of a picture look, by their class.

use ns_view::palette::{distinct_fill, hue};
use ns_view::plot::{Anchor, Form, Ink, Mark, Shape};
use ns_view::svg::{escape, number};

/// The look of a class.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    pub class: &'static str,
    /// Its colour where a shape has none of its own.
    pub colour: &'static str,
    /// Width of lines, pixels; 0 for what is filled.
    pub width: f64,
    /// Lengths of lines and gaps in turn, pixels; empty for a solid line.
    pub dash: &'static [f64],
    /// Height of letters, pixels.
    pub letters: f64,
    /// Opacity, 0 to 1.
    pub opacity: f64,
}

const BLACK: &str = "#000000";
/// Height of letters, pixels.
pub(super) const LETTERS: f64 = 13.0;

/// Words of a height.
const fn words(class: &'static str, letters: f64, opacity: f64) -> Look {
    Look { class, colour: BLACK, width: 0.0, dash: &[], letters, opacity }
}

const fn line(class: &'static str, colour: &'static str, width: f64, dash: &'static [f64]) -> Look {
    Look { class, colour, width, dash, letters: 0.0, opacity: 1.0 }
}

/// The lines of the backends where several series belong to each.
pub(super) const LINES: [&str; 4] = ["solid", "dotted", "dashed", "dash-dot"];

const LOOKS: [Look; 11] = [
    words("title", LETTERS * 1.2, 1.0),
    words("word", LETTERS, 1.0),
    words("value", 8.0, 1.0),
    words("model", 8.0, 0.6),
    line("side", BLACK, 1.0, &[]),
    line("aid", "#999999", 1.0, &[]),
    line("error", BLACK, 0.5, &[]),
    line(LINES[0], BLACK, 1.5, &[]),
    line(LINES[1], BLACK, 1.5, &[2.0, 3.0]),
    line(LINES[2], BLACK, 1.5, &[6.0, 4.0]),
    line(LINES[3], BLACK, 1.5, &[8.0, 3.0, 2.0, 3.0]),
];

/// The look of a shape; what has a colour of its own is filled with it.
pub fn look(shape: &Shape) -> Look {
    let look = LOOKS.into_iter().find(|look| look.class == shape.class).unwrap_or_else(|| words("", LETTERS, 1.0));
    Look { colour: colour(shape.ink).unwrap_or(look.colour), ..look }
}

fn colour(ink: Ink) -> Option<&'static str> {
    match ink {
        Ink::Fill(fill) | Ink::Stroke(fill) => Some(hue(fill).light),
        Ink::On(fill) => Some(hue(fill).on_light),
        Ink::OfClass => None,
    }
}

/// The colour of the nth backend.
pub(super) fn fill(n: usize) -> u8 {
    distinct_fill(n)
}

/// The mark of the nth backend.
pub(super) fn mark(n: usize) -> Mark {
    [Mark::Diamond, Mark::Disc, Mark::Square, Mark::Triangle][n % 4]
}

/// A picture: shapes in pixels from the top left, from back to front.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    pub width: f64,
    pub height: f64,
    /// A description for readers who cannot see it.
    pub label: String,
    pub shapes: Vec<Shape>,
}

impl Picture {
    pub(super) fn word(&mut self, at: (f64, f64), text: &str, anchor: Anchor) {
        self.shapes.push(Shape::text(at, text, anchor, "word"));
    }

    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), class: &'static str) {
        self.shapes.push(Shape::line(from, to, class));
    }

    /// The picture as a document of SVG, which looks the same in every program.
    pub fn to_svg(&self) -> String {
        let (w, h, label) = (number(self.width), number(self.height), escape(&self.label));
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" role=\"img\" aria-label=\"{label}\" font-family=\"sans-serif\">\n<rect width=\"{w}\" height=\"{h}\" fill=\"#ffffff\"/>\n"
        );
        for shape in &self.shapes {
            shape.write_as(&attributes(shape), &mut out);
            out.push('\n');
        }
        out + "</svg>\n"
    }
}

fn attributes(shape: &Shape) -> String {
    let Look { colour, width, dash, letters, opacity, .. } = look(shape);
    let letters = number(letters);
    match &shape.form {
        Form::Text { .. } if opacity < 1.0 => format!("font-size=\"{letters}\" opacity=\"{}\"", number(opacity)),
        Form::Text { .. } => format!("font-size=\"{letters}\""),
        Form::Line(_) => {
            let dash: Vec<String> = dash.iter().map(|length| number(*length)).collect();
            let dash =
                if dash.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{}\"", dash.join(" ")) };
            format!("fill=\"none\" stroke=\"{colour}\" stroke-width=\"{}\"{dash}", number(width))
        }
        Form::Area(_) | Form::Outline(_) | Form::Disc { .. } => format!("fill=\"{colour}\""),
    }
}
