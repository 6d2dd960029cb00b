//! A pie with a legend: shares of a whole.

use serde::{Deserialize, Serialize};

use super::{Anchor, Form, Ink, Shape};
use crate::colours::{Colours, part_neighbours};
use crate::palette::{GREY, distinct_fills};
use crate::svg::number;
use ns_base::Order;
use ns_base::units::{format_in, format_percent, format_share};

/// The greatest number of slices; the rest becomes one slice.
const MOST_SLICES: usize = 8;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pie {
    /// Slices clockwise from the top, the largest first.
    pub slices: Vec<PieSlice>,
    /// Sum of all values.
    pub total: f64,
}

/// One share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PieSlice {
    pub name: String,
    pub value: f64,
    /// Its share, 0 to 100.
    pub percent: f64,
    /// Whether it combines the smallest values.
    pub is_rest: bool,
    /// Place of its colour in the palette.
    pub fill: u8,
    /// The shape, as SVG path data around (0, 0) with radius 100.
    pub path: String,
    /// Place of its percentage; `None` if the slice is too thin for it.
    pub label_at: Option<(f64, f64)>,
}

impl PieSlice {
    /// Its name, its value and its share in words.
    pub fn words(&self, unit: &str) -> String {
        format!("{}: {}, {}", self.name, format_in(self.value, unit), format_percent(self.percent))
    }

    pub fn shape(&self, unit: &str) -> Shape {
        Shape::new(Form::Outline(self.path.clone()), "slice", Ink::Fill(self.fill)).with_title(self.words(unit))
    }

    /// Its share, written on it.
    pub fn label(&self) -> Option<Shape> {
        let text = Form::Text { at: self.label_at?, text: format_percent(self.percent), anchor: Anchor::Middle };
        Some(Shape::new(text, "pie-label", Ink::On(self.fill)))
    }
}

impl Pie {
    /// A pie of names and values; values that are not positive are left out. Values of the same name are added. Beyond eight
    /// slices the smallest become "N others".
    pub fn new(values: impl IntoIterator<Item = (String, f64)>) -> Self {
        let mut entries: Vec<(String, f64)> = Vec::new();
        for (name, value) in values {
            if !(value > 0.0 && value.is_finite()) {
                continue;
            }
            match entries.iter_mut().find(|(n, _)| *n == name) {
                Some((_, sum)) => *sum += value,
                None => entries.push((name, value)),
            }
        }
        entries.order_by(|a, b| b.1.total_cmp(&a.1));
        let has_rest = entries.len() > MOST_SLICES;
        if has_rest {
            let rest = entries.split_off(MOST_SLICES - 1);
            let name = format!("{} others", rest.len());
            entries.push((name, rest.iter().map(|(_, v)| v).sum()));
        }
        let total: f64 = entries.iter().map(|(_, v)| v).sum();
        let fills = distinct_fills(entries.iter().map(|(n, _)| n.as_str()));
        let last = entries.len().saturating_sub(1);
        let mut turn = 0.0;
        let slices = entries
            .into_iter()
            .zip(fills)
            .enumerate()
            .map(|(i, ((name, value), fill))| {
                let is_rest = has_rest && i == last;
                let fill = if is_rest { GREY } else { fill };
                let share = value / total;
                let (from, to) = (turn, turn + share);
                turn = to;
                let label_at =
                    (share >= 0.045).then(|| point(f64::midpoint(from, to), if share > 0.9 { 0.0 } else { 64.0 }));
                PieSlice { name, value, percent: share * 100.0, is_rest, fill, path: sector(from, to), label_at }
            })
            .collect();
        Self { slices, total }
    }

    /// The same with the colours that these names have in other views, neighbours of one colour in another shade; the sum of the smallest is
    /// grey.
    pub fn coloured(mut self, colours: &Colours) -> Self {
        let fill = |slice: &PieSlice| if slice.is_rest { GREY } else { colours.fill_of(&slice.name) };
        let mut fills: Vec<u8> = self.slices.iter().map(fill).collect();
        let last = fills.len().saturating_sub(1);
        part_neighbours(&mut fills, |a, b| a + 1 == b || (a == 0 && b == last));
        self.slices.iter_mut().zip(fills).for_each(|(slice, fill)| slice.fill = fill);
        self
    }

    /// The pie in words.
    pub fn describe(&self) -> String {
        let parts: Vec<String> =
            self.slices.iter().map(|s| format!("{} {}", s.name, format_share(s.percent))).collect();
        if parts.is_empty() { "Nothing to show.".to_owned() } else { parts.join(", ") }
    }
}

/// The point at a turn (0 at the top, 1 a full circle clockwise) and a radius.
fn point(turn: f64, radius: f64) -> (f64, f64) {
    let angle = turn * std::f64::consts::TAU;
    (radius * libm::sin(angle), -radius * libm::cos(angle))
}

fn sector(from: f64, to: f64) -> String {
    if to - from > 0.9999 {
        return "M0 -100A100 100 0 1 1 0 100A100 100 0 1 1 0 -100Z".to_owned();
    }
    let (a, b) = (point(from, 100.0), point(to, 100.0));
    let large = u8::from(to - from > 0.5);
    format!("M0 0L{} {}A100 100 0 {large} 1 {} {}Z", number(a.0), number(a.1), number(b.0), number(b.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pie_of_the_simple_profile() {
        let pie = Pie::new([
            ("aten__tanh_tanh".to_owned(), 159.0),
            ("aten__addmm_dot".to_owned(), 279.0),
            ("aten__relu_maximum".to_owned(), 276.0),
        ]);
        assert_eq!(pie.describe(), "aten__addmm_dot 39.1 %, aten__relu_maximum 38.7 %, aten__tanh_tanh 22.3 %");
        assert_eq!(pie.total, 714.0);
        let sum: f64 = pie.slices.iter().map(|s| s.percent).sum();
        assert!((sum - 100.0).abs() < 1e-9);
        assert!(pie.slices[0].path.starts_with("M0 0L0 -100A100 100 0 0 1 "));
        assert!(pie.slices.iter().all(|s| s.label_at.is_some()));
    }

    #[test]
    fn slices_have_the_colours_of_their_kinds() {
        let names = ["aten__addmm_dot", "aten__add_add"];
        let colours = Colours::new(names.map(|n| (n, 1.0)));
        let pie = Pie::new(names.map(|n| (n.to_owned(), 1.0))).coloured(&colours);
        assert_eq!([pie.slices[0].fill, pie.slices[1].fill], names.map(|n| colours.fill_of(n)));
        assert_eq!(colours.fill_of("%dot.3"), pie.slices[0].fill);
    }

    #[test]
    fn a_whole_is_a_disc_and_nothing_is_nothing() {
        let whole = Pie::new([("NeuronDevice 0".to_owned(), 5.0), ("b".to_owned(), 0.0), ("c".to_owned(), f64::NAN)]);
        assert_eq!(whole.slices.len(), 1);
        assert!(whole.slices[0].path.contains("A100 100 0 1 1 0 100"));
        assert_eq!(Pie::new([]).describe(), "Nothing to show.");
    }

    #[test]
    fn many_small_ones_become_one() {
        let pie = Pie::new((1..=20).map(|i| (format!("op{i}"), f64::from(i))));
        assert_eq!(pie.slices.len(), 8);
        assert_eq!((pie.slices[7].name.as_str(), pie.slices[7].fill), ("13 others", GREY));
        assert_eq!(pie.total, 210.0);
    }
}
