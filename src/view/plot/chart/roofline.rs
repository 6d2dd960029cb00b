//! How a roofline is drawn and read.

use super::{Chart, LegendEntry, Spot, step};
use crate::plot::{Anchor, Axis, Form, Frame, Ink, Place, RoofPoint, RooflinePlot, Shape, nearest};
use ns_base::units::format_number;

/// Between the line at the ridge and its label.
const LABEL_GAP_PX: f64 = 5.0;

impl RooflinePlot {
    fn place_of_share(frame: &Frame, (x, y): (f64, f64)) -> Place {
        (frame.x(x), frame.y(y))
    }
}

impl Chart for RooflinePlot {
    fn class(&self) -> &'static str {
        "roofline"
    }

    fn axes(&self) -> (&Axis, &Axis) {
        (&self.x, &self.y)
    }

    fn marks(&self, frame: &Frame) -> Vec<Shape> {
        let place = |shares| Self::place_of_share(frame, shares);
        let roof = self.roof.map(place);
        let (ridge, foot) = (roof[1], frame.bottom_edge());
        // Beside the ridge, where there is more room for it.
        let (gap, anchor) =
            if ridge.0 < frame.x(0.5) { (LABEL_GAP_PX, Anchor::Start) } else { (-LABEL_GAP_PX, Anchor::End) };
        let label = format!("ridge {:.1}", self.ridge);
        let mut shapes = vec![
            Shape::new(Form::Line(roof.to_vec()), "roof", Ink::OfClass),
            Shape::line(ridge, (ridge.0, foot), "ridge"),
            Shape::text((ridge.0 + gap, foot - 6.0), &label, anchor, "tick"),
        ];
        // The whole run, then its modules, which are told apart by their names.
        for (i, point) in self.points.iter().enumerate() {
            let (radius, fill) = if i == 0 { (7.0, 1) } else { (5.0, 0) };
            let disc = Form::Disc { at: place(point.at), radius };
            shapes.push(Shape::new(disc, "mark", Ink::Fill(fill)).with_title(describe(point)));
        }
        shapes
    }

    fn place(&self, frame: &Frame, (_, point): Spot) -> Option<Place> {
        Some(Self::place_of_share(frame, self.points.get(point)?.at))
    }

    fn at(&self, frame: &Frame, place: Place) -> Option<Spot> {
        Some((0, nearest(self.points.iter().map(|p| Self::place_of_share(frame, p.at)), place)?))
    }

    fn next(&self, from: Option<Spot>, key: &str) -> Option<Spot> {
        Some((0, step(self.points.len(), from.map(|spot| spot.1), key)?))
    }

    fn words(&self, (_, point): Spot) -> Option<String> {
        self.points.get(point).map(describe)
    }

    fn summary(&self) -> String {
        format!("its ridge at {:.1} flop/B and {} points", self.ridge, self.points.len())
    }

    /// The whole run.
    fn hint(&self) -> String {
        let nothing = || "Nothing here multiplied matrices and moved bytes.".to_owned();
        self.points.first().map_or_else(nothing, describe)
    }

    fn legend(&self, _: &Frame) -> Vec<LegendEntry> {
        Vec::new()
    }
}

fn describe(p: &RoofPoint) -> String {
    let side = if p.is_memory_bound { "below" } else { "above" };
    let [intensity, rate, of_roof] = [p.intensity, p.rate, p.of_roof_percent].map(rounded);
    format!("{}: {intensity} flop/B, {side} the ridge; {rate} flop/s, {of_roof} % of the roof there", p.name)
}

/// Three significant digits.
fn rounded(value: f64) -> String {
    match value.abs() {
        a if a >= 1e12 => format!("{:.2}T", value / 1e12),
        a if a >= 1e9 => format!("{:.2}G", value / 1e9),
        a if a >= 1e6 => format!("{:.2}M", value / 1e6),
        _ => format_number(value),
    }
}
