//! A display list as SVG text: for downloads, and for tests that show what is painted.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{Align, Command, DisplayList, Label, Rect, Strip};
use crate::palette::{Paint, Theme};
use crate::svg::{escape, number};

/// The display list as a complete SVG document.
pub fn to_svg(list: &DisplayList, theme: Theme) -> String {
    let (w, h) = (number(list.width), number(list.height));
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" \
         font-family=\"system-ui,sans-serif\" font-size=\"11\">\n"
    );
    let mut clips = 0;
    for command in &list.commands {
        // Writing into a String cannot fail.
        let _ = write_command(&mut out, command, theme, &mut clips);
    }
    out.push_str("</svg>\n");
    out
}

fn write_rects(out: &mut String, paint: Paint, rects: &[Rect], theme: Theme) -> std::fmt::Result {
    write!(out, "<path fill=\"{}\" d=\"", paint.css(theme))?;
    for r in rects {
        write!(out, "M{} {}h{}v{}h-{}z", number(r.x), number(r.y), number(r.w), number(r.h), number(r.w))?;
    }
    writeln!(out, "\"/>")
}

fn write_label(out: &mut String, label: &Label, theme: Theme) -> std::fmt::Result {
    let anchor = if label.align == Align::Middle { " text-anchor=\"middle\"" } else { "" };
    let weight = if label.bold { " font-weight=\"600\"" } else { "" };
    writeln!(
        out,
        "<text x=\"{}\" y=\"{}\" dominant-baseline=\"central\" fill=\"{}\"{anchor}{weight}>{}</text>",
        number(label.x),
        number(label.y),
        label.paint.css(theme),
        escape(&label.text)
    )
}

fn write_command(out: &mut String, command: &Command, theme: Theme, clips: &mut u32) -> std::fmt::Result {
    match command {
        Command::Clip(r) => {
            *clips += 1;
            writeln!(
                out,
                "<clipPath id=\"c{clips}\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/></clipPath>\
                 <g clip-path=\"url(#c{clips})\">",
                number(r.x),
                number(r.y),
                number(r.w),
                number(r.h)
            )
        }
        Command::Unclip => writeln!(out, "</g>"),
        Command::Rects(paint, rects) => write_rects(out, *paint, rects, theme),
        Command::Strips(strips) => {
            let mut by_paint: BTreeMap<Paint, Vec<Rect>> = BTreeMap::new();
            for (paint, rect) in strips.iter().flat_map(Strip::runs) {
                by_paint.entry(paint).or_default().push(rect);
            }
            by_paint.iter().try_for_each(|(paint, rects)| write_rects(out, *paint, rects, theme))
        }
        Command::Frame(paint, r, width) => writeln!(
            out,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"/>",
            number(r.x),
            number(r.y),
            number(r.w),
            number(r.h),
            paint.css(theme),
            number(*width)
        ),
        Command::Curve(paint, [a, b, c, d], width) => {
            let at = |(x, y): (f64, f64)| format!("{} {}", number(x), number(y));
            writeln!(
                out,
                "<path d=\"M{} C{} {} {}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"/>",
                at(*a),
                at(*b),
                at(*c),
                at(*d),
                paint.css(theme),
                number(*width)
            )
        }
        Command::Polygon(paint, points) => {
            write!(out, "<polygon fill=\"{}\" points=\"", paint.css(theme))?;
            for (x, y) in points {
                write!(out, "{},{} ", number(*x), number(*y))?;
            }
            writeln!(out, "\"/>")
        }
        Command::Text(label) => write_label(out, label, theme),
    }
}
