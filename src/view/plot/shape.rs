//! What a plot draws, for the page, for a saved page and for a picture: one text of SVG for all.

use super::Mark;
use crate::palette::{fill_var, on_fill_var};
use crate::svg::{escape, number};

/// A place of a drawing, in pixels.
pub type Place = (f64, f64);

/// A line, an area, a disc or a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    pub form: Form,
    /// Its look, a class of the style sheets.
    pub class: &'static str,
    pub ink: Ink,
    /// What it stands for, in words; empty for decoration.
    pub title: String,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    Line(Vec<Place>),
    Area(Vec<Place>),
    /// An area by its outline, as SVG path data.
    Outline(String),
    Disc {
        at: Place,
        radius: f64,
    },
    Text {
        at: Place,
        text: String,
        anchor: Anchor,
    },
}

/// Which part of a text stands at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
    /// The middle of a text that reads upwards.
    Upward,
    /// The start of a text that rises to the right.
    Rising,
    /// Its end.
    RisingEnd,
}

/// The colour of a shape: a place in the palette, as area, as line, or as what is written on that area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// The class has the colour.
    OfClass,
    Fill(u8),
    Stroke(u8),
    On(u8),
}

impl Ink {
    fn css(self) -> Option<String> {
        match self {
            Self::OfClass => None,
            Self::Fill(fill) => Some(format!("fill:{}", fill_var(fill))),
            Self::Stroke(fill) => Some(format!("fill:none;stroke:{}", fill_var(fill))),
            Self::On(fill) => Some(format!("fill:{}", on_fill_var(fill))),
        }
    }
}

impl Shape {
    pub const fn new(form: Form, class: &'static str, ink: Ink) -> Self {
        Self { form, class, ink, title: String::new() }
    }

    /// A line from a place to another.
    pub fn line(from: Place, to: Place, class: &'static str) -> Self {
        Self::new(Form::Line(vec![from, to]), class, Ink::OfClass)
    }

    pub fn text(at: Place, text: &str, anchor: Anchor, class: &'static str) -> Self {
        Self::new(Form::Text { at, text: text.to_owned(), anchor }, class, Ink::OfClass)
    }

    /// A mark of a series.
    pub fn mark(mark: Mark, (x, y): Place, class: &'static str, fill: u8) -> Self {
        let around = |offsets: &[Place]| Form::Area(offsets.iter().map(|(dx, dy)| (x + dx, y + dy)).collect());
        let (form, ink, class) = match mark {
            Mark::Ring => (Form::Disc { at: (x, y), radius: 5.5 }, Ink::Stroke(fill), "ring"),
            Mark::Disc => (Form::Disc { at: (x, y), radius: 5.0 }, Ink::Fill(fill), class),
            Mark::Square => (around(&[(-4.5, -4.5), (4.5, -4.5), (4.5, 4.5), (-4.5, 4.5)]), Ink::Fill(fill), class),
            Mark::Triangle => (around(&[(0.0, -6.0), (5.5, 4.5), (-5.5, 4.5)]), Ink::Fill(fill), class),
            Mark::Diamond => (around(&[(0.0, -6.5), (6.0, 0.0), (0.0, 6.5), (-6.0, 0.0)]), Ink::Fill(fill), class),
        };
        Self::new(form, class, ink)
    }

    pub fn with_title(self, title: String) -> Self {
        Self { title, ..self }
    }

    /// Writes it as SVG, whose look is that of its class in a style sheet.
    pub fn write(&self, out: &mut String) {
        let paint = self.ink.css().map(|css| format!(" style=\"{css}\"")).unwrap_or_default();
        self.element(&format!("class=\"{}\"", self.class), &paint, out);
    }

    /// Writes it as SVG that has its look as attributes.
    pub fn write_as(&self, look: &str, out: &mut String) {
        self.element(look, "", out);
    }

    fn element(&self, before: &str, after: &str, out: &mut String) {
        let (element, place, content) = match &self.form {
            Form::Line(points) => ("polyline", format!("points=\"{}\"", corners(points)), ""),
            Form::Area(points) => ("polygon", format!("points=\"{}\"", corners(points)), ""),
            Form::Outline(path) => ("path", format!("d=\"{path}\""), ""),
            Form::Disc { at: (x, y), radius } => {
                let (x, y, r) = (number(*x), number(*y), number(*radius));
                ("circle", format!("cx=\"{x}\" cy=\"{y}\" r=\"{r}\""), "")
            }
            Form::Text { at, text, anchor } => ("text", anchor.at(*at), text.as_str()),
        };
        let title = match self.title.as_str() {
            "" => String::new(),
            words => format!("<title>{}</title>", escape(words)),
        };
        out.push_str(&format!("<{element} {before} {place}{after}>{title}{}</{element}>", escape(content)));
    }
}

impl Anchor {
    /// How a text is turned, in degrees, clockwise.
    pub const fn turn(self) -> i16 {
        match self {
            Self::Start | Self::Middle | Self::End => 0,
            Self::Upward => -90,
            Self::Rising | Self::RisingEnd => -45,
        }
    }

    /// The share of a text that stands before its place.
    pub const fn before(self) -> f64 {
        match self {
            Self::Start | Self::Rising => 0.0,
            Self::Middle | Self::Upward => 0.5,
            Self::End | Self::RisingEnd => 1.0,
        }
    }

    /// The place of a text and how it stands there, as attributes.
    fn at(self, (x, y): Place) -> String {
        let (x, y) = (number(x), number(y));
        let anchor = match self {
            Self::Start | Self::Rising => "start",
            Self::Middle | Self::Upward => "middle",
            Self::End | Self::RisingEnd => "end",
        };
        let turn = match self.turn() {
            0 => String::new(),
            turn => format!(" transform=\"rotate({turn} {x} {y})\""),
        };
        format!("x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\"{turn}")
    }
}

/// Shapes as SVG, from back to front.
pub fn to_svg(shapes: &[Shape]) -> String {
    let mut out = String::new();
    shapes.iter().for_each(|shape| shape.write(&mut out));
    out
}

fn corners(points: &[Place]) -> String {
    points.iter().map(|(x, y)| format!("{},{}", number(*x), number(*y))).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_become_markup_and_hollow_shapes_have_a_stroke() {
        let ring = Shape::mark(Mark::Ring, (1.0, 2.5), "mark", 3).with_title("a < b".to_owned());
        let text = Shape::text((4.0, 5.0), "<i>", Anchor::Upward, "axis-title");
        let colour = fill_var(3);
        assert_eq!(
            to_svg(&[ring, text]),
            format!(
                "<circle class=\"ring\" cx=\"1\" cy=\"2.5\" r=\"5.5\" style=\"fill:none;stroke:{colour}\"><title>a &lt; b</title></circle>\
                 <text class=\"axis-title\" x=\"4\" y=\"5\" text-anchor=\"middle\" transform=\"rotate(-90 4 5)\">&lt;i&gt;</text>"
            )
        );
    }
}
