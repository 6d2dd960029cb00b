//! How points are drawn and read.

use super::{Chart, LegendEntry, Spot, step};
use crate::plot::{Anchor, Axis, Form, Frame, Ink, Mark, Place, Scatter, Shape, nearest};
use ns_base::Order;

/// The meaning of a band along a line.
const INTERVAL: &str = "the interval of a device";

impl Chart for Scatter {
    fn class(&self) -> &'static str {
        "points"
    }

    fn axes(&self) -> (&Axis, &Axis) {
        (&self.x, &self.y)
    }

    /// Marks stand exactly at their values, even if they overlap.
    fn marks(&self, frame: &Frame) -> Vec<Shape> {
        let place = |at: (f64, f64)| self.place_of(frame, at);
        let look = |series: usize| self.series.get(series).map_or((0, Mark::Disc), |(_, fill, mark)| (*fill, *mark));
        let point = |i: &usize| self.points.get(*i);
        let fill = |line: &[usize]| line.first().and_then(point).map_or(0, |p| look(p.series).0);
        let through = |line: &[usize]| Form::Line(line.iter().filter_map(point).map(|p| place((p.x, p.y))).collect());
        let mut shapes = Vec::new();
        for line in &self.lines {
            let ends =
                |end: usize| line.iter().filter_map(point).filter_map(move |p| Some(p.interval?[end])).map(place);
            let mut band: Vec<Place> = ends(0).collect();
            let mut back: Vec<Place> = ends(1).collect();
            back.reverse();
            band.append(&mut back);
            shapes.extend((band.len() > 2).then(|| Shape::new(Form::Area(band), "band", Ink::Fill(fill(line)))));
        }
        shapes.extend(self.lines.iter().map(|line| Shape::new(through(line), "line", Ink::Stroke(fill(line)))));
        if self.lines.is_empty() && self.front.len() > 1 {
            shapes.push(Shape::new(through(&self.front), "front", Ink::OfClass));
        }
        if let Some(limit) = self.limit.filter(|limit| limit.value <= self.x.max) {
            let (x, top) = (frame.x(self.x.share(limit.value)), frame.y(1.0));
            shapes.push(Shape::line((x, top), (x, frame.bottom_edge()), "limit"));
            shapes.push(Shape::text((x, top - 2.0), &limit.text(), Anchor::Middle, "line-name"));
        }
        for p in &self.points {
            let (fill, mark) = look(p.series);
            let class = if p.is_outside { "mark is-outside" } else { "mark" };
            shapes.push(Shape::mark(mark, place((p.x, p.y)), class, fill).with_title(self.describe(p)));
        }
        shapes
    }

    fn place(&self, frame: &Frame, (_, point): Spot) -> Option<Place> {
        self.points.get(point).map(|p| self.place_of(frame, (p.x, p.y)))
    }

    fn at(&self, frame: &Frame, place: Place) -> Option<Spot> {
        Some((0, nearest(self.points.iter().map(|p| self.place_of(frame, (p.x, p.y))), place)?))
    }

    /// From left to right, whatever the series.
    fn next(&self, from: Option<Spot>, key: &str) -> Option<Spot> {
        let mut order: Vec<usize> = (0..self.points.len()).collect();
        order.order_by(|&a, &b| self.points[a].x.total_cmp(&self.points[b].x).then(a.cmp(&b)));
        let now = from.and_then(|(_, i)| order.iter().position(|o| *o == i));
        Some((0, order[step(order.len(), now, key)?]))
    }

    fn words(&self, (_, i): Spot) -> Option<String> {
        let words = self.describe(self.points.get(i)?);
        let front = if self.is_on_front(i) {
            format!(" \u{2013} on the Pareto front of {}", self.front_of)
        } else {
            String::new()
        };
        Some(words + &front)
    }

    fn summary(&self) -> String {
        format!("{} points", self.points.len())
    }

    fn hint(&self) -> String {
        "Point at a mark, or press an arrow key, for its values.".to_owned()
    }

    fn legend(&self, _: &Frame) -> Vec<LegendEntry> {
        let mut entries: Vec<_> =
            self.series.iter().map(|(name, fill, mark)| LegendEntry::mark(*mark, *fill, name)).collect();
        if self.has_bands() {
            let square = [(-8.0, -8.0), (8.0, -8.0), (8.0, 8.0), (-8.0, 8.0)].to_vec();
            let sample = Shape::new(Form::Area(square), "band", Ink::OfClass);
            entries.push(LegendEntry { sample, is_line: false, name: INTERVAL.to_owned() });
        }
        if self.front.len() > 1 && self.lines.is_empty() {
            let name = format!("Pareto front of {}: no other is better in both", self.front_of);
            entries.push(LegendEntry::line("front", Ink::OfClass, &name));
        }
        entries
    }
}
