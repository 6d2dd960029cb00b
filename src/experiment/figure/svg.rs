//! A drawing as SVG.

use super::drawing::{Anchor, Drawing, HALF_MARK, MarkKind, Shape};
use ns_view::svg::{escape, number};

impl Drawing {
    /// The drawing as an SVG document.
    pub fn to_svg(&self) -> String {
        let (w, h, label) = (number(self.width), number(self.height), escape(&self.label));
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" role=\"img\" aria-label=\"{label}\" font-family=\"sans-serif\">\n<rect width=\"{w}\" height=\"{h}\" fill=\"#ffffff\"/>\n"
        );
        for shape in &self.shapes {
            out.push_str(&element(shape));
            out.push('\n');
        }
        out + "</svg>\n"
    }
}

fn element(shape: &Shape) -> String {
    match shape {
        Shape::Line { points, colour, width, dash } => {
            let points: Vec<String> = points.iter().map(|(x, y)| format!("{},{}", number(*x), number(*y))).collect();
            let (points, width) = (points.join(" "), number(*width));
            let lengths: Vec<String> = dash.lengths().iter().map(|l| number(*l)).collect();
            let dash = match lengths.as_slice() {
                [] => String::new(),
                lengths => format!(" stroke-dasharray=\"{}\"", lengths.join(" ")),
            };
            format!("<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"{dash}/>")
        }
        Shape::Rectangle { at: [x, y, w, h], colour } => {
            let [x, y, w, h] = [x, y, w, h].map(|v| number(*v));
            format!("<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" fill=\"{colour}\"/>")
        }
        Shape::Mark { at, kind, colour, title } => {
            let points: Vec<String> =
                kind.outline(*at).iter().map(|(x, y)| format!("{},{}", number(*x), number(*y))).collect();
            let title = escape(title);
            if *kind == MarkKind::Circle {
                let (x, y, r) = (number(at.0), number(at.1), number(HALF_MARK));
                return format!(
                    "<circle cx=\"{x}\" cy=\"{y}\" r=\"{r}\" fill=\"{colour}\"><title>{title}</title></circle>"
                );
            }
            format!("<polygon points=\"{}\" fill=\"{colour}\"><title>{title}</title></polygon>", points.join(" "))
        }
        Shape::Text { at: (x, y), text, size, anchor, turn, opacity } => {
            let anchor = match anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            let (x, y, size) = (number(*x), number(*y), number(*size));
            let turn =
                if *turn == 0.0 { String::new() } else { format!(" transform=\"rotate({} {x} {y})\"", number(*turn)) };
            let opacity = if *opacity == 1.0 { String::new() } else { format!(" opacity=\"{}\"", number(*opacity)) };
            let text = escape(text);
            format!(
                "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" text-anchor=\"{anchor}\"{turn}{opacity}>{text}</text>"
            )
        }
    }
}
