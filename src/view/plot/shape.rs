//! What a plot draws between its axes, for the page, for a saved page and for a picture: each has its own way to write a shape.

use super::Mark;
use crate::palette::fill_var;
use crate::svg::{escape, number};

/// A place of a drawing, in pixels.
pub type Place = (f64, f64);

/// A line, an area, a disc or a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    pub form: Form,
    /// Its look, a class of the style sheets.
    pub class: &'static str,
    /// Place of its colour in the palette; without one, the class decides.
    pub fill: Option<u8>,
    /// What it stands for, in words; empty for decoration.
    pub title: String,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    Line(Vec<Place>),
    Area(Vec<Place>),
    Disc {
        at: Place,
        radius: f64,
    },
    /// A text, its middle at a place.
    Text {
        at: Place,
        text: String,
    },
}

impl Shape {
    pub const fn new(form: Form, class: &'static str, fill: Option<u8>) -> Self {
        Self { form, class, fill, title: String::new() }
    }

    /// A mark of a series.
    pub fn mark(mark: Mark, (x, y): Place, class: &'static str, fill: u8) -> Self {
        let around = |offsets: &[Place]| Form::Area(offsets.iter().map(|(dx, dy)| (x + dx, y + dy)).collect());
        let (form, class) = match mark {
            Mark::Ring => (Form::Disc { at: (x, y), radius: 5.5 }, "ring"),
            Mark::Disc => (Form::Disc { at: (x, y), radius: 5.0 }, class),
            Mark::Square => (around(&[(-4.5, -4.5), (4.5, -4.5), (4.5, 4.5), (-4.5, 4.5)]), class),
            Mark::Triangle => (around(&[(0.0, -6.0), (5.5, 4.5), (-5.5, 4.5)]), class),
            Mark::Diamond => (around(&[(0.0, -6.5), (6.0, 0.0), (0.0, 6.5), (-6.0, 0.0)]), class),
        };
        Self::new(form, class, Some(fill))
    }

    /// Its colours as a declaration of CSS: a line and a ring have a stroke, all else is full.
    pub fn paint(&self) -> Option<String> {
        let colour = fill_var(self.fill?);
        let is_hollow = matches!(self.form, Form::Line(_)) || self.class == "ring";
        Some(if is_hollow { format!("fill:none;stroke:{colour}") } else { format!("fill:{colour}") })
    }

    /// Writes it as SVG.
    pub fn write(&self, out: &mut String) {
        let paint = self.paint().map(|css| format!(" style=\"{css}\"")).unwrap_or_default();
        let class = self.class;
        let (element, place, content) = match &self.form {
            Form::Line(points) => ("polyline", format!("points=\"{}\"", corners(points)), ""),
            Form::Area(points) => ("polygon", format!("points=\"{}\"", corners(points)), ""),
            Form::Disc { at: (x, y), radius } => {
                let (x, y, r) = (number(*x), number(*y), number(*radius));
                ("circle", format!("cx=\"{x}\" cy=\"{y}\" r=\"{r}\""), "")
            }
            Form::Text { at: (x, y), text } => {
                let (x, y) = (number(*x), number(*y));
                ("text", format!("x=\"{x}\" y=\"{y}\" text-anchor=\"middle\""), text.as_str())
            }
        };
        let title = match self.title.as_str() {
            "" => String::new(),
            words => format!("<title>{}</title>", escape(words)),
        };
        out.push_str(&format!("<{element} class=\"{class}\" {place}{paint}>{title}{}</{element}>", escape(content)));
    }
}

/// Places as the value of `points`.
pub fn corners(points: &[Place]) -> String {
    points.iter().map(|(x, y)| format!("{},{}", number(*x), number(*y))).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_become_markup_and_hollow_shapes_have_a_stroke() {
        let mut out = String::new();
        Shape { title: "a < b".to_owned(), ..Shape::mark(Mark::Ring, (1.0, 2.5), "mark", 3) }.write(&mut out);
        Shape::new(Form::Text { at: (4.0, 5.0), text: "<i>".to_owned() }, "line-name", None).write(&mut out);
        let colour = fill_var(3);
        assert_eq!(
            out,
            format!(
                "<circle class=\"ring\" cx=\"1\" cy=\"2.5\" r=\"5.5\" style=\"fill:none;stroke:{colour}\"><title>a &lt; b</title></circle>\
                 <text class=\"line-name\" x=\"4\" y=\"5\" text-anchor=\"middle\">&lt;i&gt;</text>"
            )
        );
    }
}
