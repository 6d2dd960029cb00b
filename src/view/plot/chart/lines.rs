//! How lines are drawn and read.

use super::{Chart, LegendEntry, Spot};
use crate::plot::{Anchor, Axis, Form, Frame, Ink, Line, LineStyle, Lines, Place, Shape, apart, nearest};
use ns_base::convert::usize_to_f64;

/// Lines with more points than this have no marks: they would cover the line.
const MOST_MARKS: usize = 40;
/// With more lines, longer names or a narrower plot there is a legend, because names do not fit at the ends of the lines.
const MOST_DIRECT: usize = 8;
const LONGEST_DIRECT: usize = 16;
const LEAST_DIRECT_PX: f64 = 340.0;
/// Smallest distance between the names of two lines.
const LABEL_STEP_PX: f64 = 13.0;
/// Room that each letter of a name needs, in pixels.
const LETTER_PX: f64 = 6.3;
const MARK_PX: f64 = 3.5;
/// Room between the end of a line and its name, in which the ring around a chosen mark fits.
const NAME_GAP_PX: f64 = 14.0;

impl Chart for Lines {
    fn class(&self) -> &'static str {
        "lines"
    }

    fn axes(&self) -> (&Axis, &Axis) {
        (&self.x, &self.y)
    }

    /// With room for the names of the lines beside their ends, where they fit.
    fn frame(&self, width: Option<f64>) -> Frame {
        let longest = self.lines.iter().map(|line| line.name.chars().count()).max().unwrap_or(0);
        let is_direct = (2..=MOST_DIRECT).contains(&self.lines.len())
            && self.lines.iter().all(|line| line.style != LineStyle::Steps)
            && longest <= LONGEST_DIRECT
            && width.is_none_or(|px| px >= LEAST_DIRECT_PX);
        Frame::new(width, if is_direct { NAME_GAP_PX + 2.0 + usize_to_f64(longest) * LETTER_PX } else { 16.0 })
            .with_names(is_direct)
    }

    fn marks(&self, frame: &Frame) -> Vec<Shape> {
        let mut shapes = Vec::new();
        for mark in &self.marks {
            let (x, _) = self.place_of(frame, (mark.x, self.y.min));
            let class = if mark.is_bad { "happened is-bad" } else { "happened" };
            let line = Shape::line((x, frame.y(1.0)), (x, frame.bottom_edge()), class);
            shapes.push(line.with_title(mark.text.clone()));
        }
        self.lines.iter().for_each(|line| self.draw(line, frame, &mut shapes));
        if frame.has_names {
            shapes.append(&mut self.end_names(frame));
        }
        shapes
    }

    fn place(&self, frame: &Frame, (line, point): Spot) -> Option<Place> {
        let line = self.lines.get(line)?;
        let (from, y) = *line.points.get(point)?;
        let end = line.points.get(point + 1).filter(|_| line.style == LineStyle::Steps);
        Some(self.place_of(frame, (end.map_or(from, |next| f64::midpoint(from, next.0)), y)))
    }

    /// The step above or below a place, or the point that is closest to it.
    fn at(&self, frame: &Frame, place: Place) -> Option<Spot> {
        let is_steps = |line: &Line| line.style == LineStyle::Steps;
        if let Some((l, line)) = self.lines.iter().enumerate().find(|(_, line)| is_steps(line)) {
            let begun = line.points.iter().filter(|p| self.place_of(frame, **p).0 <= place.0).count();
            return Some((l, begun.clamp(1, line.last() + 1) - 1));
        }
        let all = || self.lines.iter().enumerate().flat_map(|(l, line)| (0..line.points.len()).map(move |p| (l, p)));
        let places = self.lines.iter().flat_map(|line| line.points.iter().map(|p| self.place_of(frame, *p)));
        all().nth(nearest(places, place)?)
    }

    /// Left and right along a line, up and down between lines, Home and End to its ends.
    fn next(&self, from: Option<Spot>, key: &str) -> Option<Spot> {
        let (line, point) = from.unwrap_or((0, 0));
        let last = |l: usize| self.lines.get(l).map_or(0, Line::last);
        let lines = self.lines.len().checked_sub(1)?;
        let next = match key {
            "ArrowRight" => (line, (point + 1).min(last(line))),
            "ArrowLeft" => (line, point.saturating_sub(1)),
            "ArrowDown" => ((line + 1).min(lines), point),
            "ArrowUp" => (line.saturating_sub(1), point),
            "Home" => (line, 0),
            "End" => (line, last(line)),
            _ => return None,
        };
        Some((next.0, next.1.min(last(next.0))))
    }

    fn words(&self, (line, point): Spot) -> Option<String> {
        let line = self.lines.get(line)?;
        Some(self.describe(line, *line.points.get(point)?))
    }

    fn summary(&self) -> String {
        let points: usize = self.lines.iter().map(|line| line.points.len()).sum();
        format!("{} lines with {points} points in all", self.lines.len())
    }

    fn legend(&self, frame: &Frame) -> Vec<LegendEntry> {
        let has_one = self.lines.len() > 1 && !frame.has_names;
        let entry = |line: &Line| LegendEntry::line(line.class(), line.ink(), &line.name);
        self.lines.iter().filter(|_| has_one).map(entry).collect()
    }
}

impl Lines {
    fn draw(&self, line: &Line, frame: &Frame, shapes: &mut Vec<Shape>) {
        let place = |point: &(f64, f64)| self.place_of(frame, *point);
        if line.style == LineStyle::Steps {
            let edges = line.points.windows(2).flat_map(|pair| [pair[0], (pair[1].0, pair[0].1)]);
            let ends = [line.points.first(), line.points.last()].map(|end| end.map(|(x, _)| (*x, 0.0)));
            let outline = ends[0].into_iter().chain(edges).chain(ends[1]).map(|point| place(&point)).collect();
            shapes.push(Shape::new(Form::Area(outline), "steps", Ink::Fill(line.fill)));
            return;
        }
        for ((x, _), (low, high)) in line.points.iter().zip(&line.spread).filter_map(|(p, s)| Some((p, (*s)?))) {
            let ends = vec![place(&(*x, low)), place(&(*x, high))];
            shapes.push(Shape::new(Form::Line(ends), "spread", Ink::Stroke(line.fill)));
        }
        let through = line.points.iter().map(place).collect();
        shapes.push(Shape::new(Form::Line(through), line.class(), line.ink()));
        if line.points.len() <= MOST_MARKS && line.style == LineStyle::Solid {
            let disc = |point| Form::Disc { at: place(point), radius: MARK_PX };
            shapes.extend(line.points.iter().map(|point| Shape::new(disc(point), "mark", Ink::Fill(line.fill))));
        }
    }

    /// The name of each line beside its end, in its colour; names that would overlap are moved apart.
    fn end_names(&self, frame: &Frame) -> Vec<Shape> {
        let end = |line: &Line| line.points.last().map_or(0.0, |p| frame.y(self.y.share(p.1)));
        let ends: Vec<f64> = self.lines.iter().map(end).collect();
        let places = apart(&ends, LABEL_STEP_PX, frame.bottom_edge());
        let name = |(line, y): (&Line, f64)| {
            let at = (frame.right_edge() + NAME_GAP_PX, y + 4.0);
            let text = Form::Text { at, text: line.name.clone(), anchor: Anchor::Start };
            match line.style {
                LineStyle::Dashed => Shape::new(text, "line-name is-dashed", Ink::OfClass),
                _ => Shape::new(text, "line-name", Ink::Fill(line.fill)),
            }
        };
        self.lines.iter().zip(places).map(name).collect()
    }
}

impl Line {
    /// What is expected and not measured has the look of its class.
    fn ink(&self) -> Ink {
        if self.style == LineStyle::Dashed { Ink::OfClass } else { Ink::Stroke(self.fill) }
    }

    const fn class(&self) -> &'static str {
        match self.style {
            LineStyle::Solid => "line",
            LineStyle::Dashed => "line is-dashed",
            LineStyle::Steps => "line is-steps",
        }
    }
}
