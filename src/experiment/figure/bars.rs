//! Horizontal bars: every model at the newest timestamp, a bar for each backend.

use super::frame::{FigureSize, Frame};
use super::look::{LETTERS, Picture, fill};
use crate::aggregate::Report;
use ns_base::convert::usize_to_f64;
use ns_view::plot::{Anchor, Axis, Form, Ink, Shape};

/// Share of a model's height that its bars take.
const FILLED: f64 = 0.7;

/// Bars of every model, the first at the top, and of the geometric means.
pub fn bar_figure(report: &Report<'_>, size: FigureSize, titles: &[&str]) -> Picture {
    let rows = report.grouped();
    let longest = usize_to_f64(rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0));
    let (mut drawing, frame) = Frame::new(size, titles, (longest * LETTERS * 0.6 + 20.0).clamp(60.0, 300.0));
    let values = rows.iter().flat_map(|(_, m)| m).flatten().map(|m| m.avg).filter(|v| v.is_finite());
    let axis = Axis::from_zero("Speedup", values.fold(1.0, f64::max) * 1.1, 8);
    for tick in &axis.ticks {
        frame.draw_tick(&mut drawing, frame.x(axis.share(tick.value)), &tick.label);
    }
    let one = frame.x(axis.share(1.0));
    drawing.line((one, frame.top), (one, frame.bottom), "aid");
    let row_height = (frame.bottom - frame.top) / usize_to_f64(rows.len().max(1));
    let bar_height = row_height * FILLED / usize_to_f64(report.backends.len().max(1));
    for (i, (name, measures)) in rows.iter().enumerate() {
        let top = frame.top + usize_to_f64(i) * row_height;
        let middle = top + row_height / 2.0 + LETTERS / 3.0;
        drawing.word((frame.left - 8.0, middle), name, Anchor::End);
        for (b, measure) in measures.iter().enumerate() {
            let Some(m) = measure.filter(|m| m.avg.is_finite()) else { continue };
            let y = top + row_height * (1.0 - FILLED) / 2.0 + usize_to_f64(b) * bar_height;
            let right = frame.x(axis.share(m.avg));
            let (left, bottom) = (frame.left, y + bar_height);
            let corners = vec![(left, y), (right, y), (right, bottom), (left, bottom)];
            drawing.shapes.push(Shape::new(Form::Area(corners), "bar", Ink::Fill(fill(b))));
            let at = (right + 4.0, y + bar_height / 2.0 + LETTERS / 3.0);
            // Small letters where many bars leave little room.
            let class = if bar_height < LETTERS { "value" } else { "word" };
            drawing.shapes.push(Shape::text(at, &format!("{:.2}", m.avg), Anchor::Start, class));
        }
    }
    frame.draw_sides(&mut drawing);
    frame.draw_horizontal_title(&mut drawing, "Speedup");
    let names: Vec<String> = report.backends.iter().map(|b| b.name().to_owned()).collect();
    frame.draw_legend(&mut drawing, &names, frame.top);
    drawing
}
