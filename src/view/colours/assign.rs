//! Assignment of hues to kinds.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::kind_of;
use crate::palette::GREY;
use ns_base::Order;
use ns_base::convert::low8;
use ns_base::digest64;

/// The hues of kinds that most profiles have.
const USUAL: [(&str, u8); 17] = [
    ("dot", 0),
    ("convolution", 0),
    ("add", 1),
    ("subtract", 1),
    ("DMA", 2),
    ("copy", 2),
    ("collective", 3),
    ("softmax", 4),
    ("exponential", 4),
    ("attention", 4),
    ("fusion", 5),
    ("normalisation", 6),
    ("reduce", 6),
    ("gelu", 7),
    ("relu", 7),
    ("maximum", 7),
    ("tanh", 7),
];

/// A kind with its hue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KindColour {
    /// The kind, as [`kind_of`] names it.
    pub kind: String,
    /// Its place in [`crate::palette::HUES`].
    pub fill: u8,
}

/// The colours of a profile. A kind has the same hue in every view and in every profile.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Colours {
    /// The kinds of the legend, the most important first: at most eight.
    kinds: Vec<KindColour>,
    /// Whether only these kinds have a hue, each its own.
    is_distinct: bool,
}

/// The hue of a kind: its usual one, or one that depends only on its text.
fn hue_of(kind: &str) -> u8 {
    let usual = USUAL.iter().find(|(k, _)| *k == kind).map(|(_, fill)| *fill);
    usual.unwrap_or_else(|| low8(digest64(kind) % u64::from(GREY)))
}

impl Colours {
    /// Colours of names with their weights, shares or times, by which the legend lists them.
    #[must_use]
    pub fn new<'a>(weights: impl IntoIterator<Item = (&'a str, f64)>) -> Self {
        let legend = heaviest(weights).into_iter();
        Self { kinds: legend.map(|kind| KindColour { fill: hue_of(&kind), kind }).collect(), is_distinct: false }
    }

    /// Colours of names that have no meaning elsewhere, such as threads: the heaviest have a hue each, the others none.
    #[must_use]
    pub fn distinct<'a>(weights: impl IntoIterator<Item = (&'a str, f64)>) -> Self {
        Self { kinds: assigned(heaviest(weights)), is_distinct: true }
    }

    /// The place of this name's colour in [`crate::palette::HUES`].
    #[must_use]
    pub fn fill_of(&self, name: &str) -> u8 {
        match kind_of(name) {
            None => GREY,
            Some(kind) if self.is_distinct => self.kinds.iter().find(|k| k.kind == kind).map_or(GREY, |k| k.fill),
            Some(kind) => hue_of(&kind),
        }
    }

    /// The kinds of the legend, the most important first.
    #[must_use]
    pub fn legend(&self) -> &[KindColour] {
        &self.kinds
    }
}

/// The kinds with the most weight, as many as there are hues.
fn heaviest<'a>(weights: impl IntoIterator<Item = (&'a str, f64)>) -> Vec<String> {
    let mut by_kind: BTreeMap<String, f64> = BTreeMap::new();
    for (name, weight) in weights {
        if let Some(kind) = kind_of(name) {
            *by_kind.entry(kind.into_owned()).or_default() += weight;
        }
    }
    let mut order: Vec<(String, f64)> = by_kind.into_iter().filter(|(_, weight)| *weight > 0.0).collect();
    order.order_by(|a, b| b.1.total_cmp(&a.1));
    order.truncate(usize::from(GREY));
    order.into_iter().map(|(kind, _)| kind).collect()
}

/// Assigns hues first to the kinds whose usual hue is free, then to the others in their order.
fn assigned(kinds: Vec<String>) -> Vec<KindColour> {
    let mut fills: Vec<Option<u8>> = Vec::with_capacity(kinds.len());
    for kind in &kinds {
        let usual = USUAL.iter().find(|(k, _)| k == kind).map(|(_, fill)| *fill);
        fills.push(usual.filter(|fill| !fills.contains(&Some(*fill))));
    }
    for i in 0..fills.len() {
        if fills[i].is_none() {
            fills[i] = (0..GREY).find(|fill| !fills.contains(&Some(*fill)));
        }
    }
    kinds.into_iter().zip(fills).map(|(kind, fill)| KindColour { kind, fill: fill.unwrap_or(GREY) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinct_names_have_hues_and_the_rest_is_grey() {
        let names: Vec<String> = (0..12).map(|i| format!("op{}", char::from(b'a' + i))).collect();
        let weights = names.iter().zip(0_u32..).map(|(n, i)| (n.as_str(), f64::from(100 - i)));
        let colours = Colours::distinct(weights.chain([("BertModel[model]", 1e9), ("never", 0.0)]));
        let mut fills: Vec<u8> = names[..8].iter().map(|n| colours.fill_of(n)).collect();
        fills.sort_unstable();
        assert_eq!(fills, [0, 1, 2, 3, 4, 5, 6, 7]);
        for grey in [names[8].as_str(), "BertModel[model]", "never", "3 others"] {
            assert_eq!(colours.fill_of(grey), GREY, "{grey}");
        }
        assert_eq!(colours.legend()[0].kind, "opa");
    }

    #[test]
    fn kinds_look_alike_in_every_profile() {
        let one = Colours::new([("%dot.7", 5.0), ("add.1", 3.0)]);
        let other = Colours::new([("RunTask", 9.0), ("aten::add", 2.0), ("aten::mm", 1.0)]);
        for name in ["aten__addmm_dot", "aten__add_add", "RunTask", "void n::dgrad_engine<float, 4>(int)"] {
            assert_eq!(one.fill_of(name), other.fill_of(name), "{name}");
        }
        assert_ne!(other.fill_of("RunTask"), other.fill_of("aten::mm"));
        // Instances of an operation have one colour, and work is never grey.
        assert_eq!(one.fill_of("void n::dgrad_engine<float, 8>(int)"), one.fill_of("dgrad_engine"));
        assert!((0..26).all(|i| one.fill_of(&format!("op{}", char::from(b'A' + i))) < GREY));
        // Of two distinct names with the same usual hue, the heavier one gets it.
        let both = Colours::distinct([("gelu", 2.0), ("tanh", 1.0)]);
        assert_ne!(both.fill_of("gelu"), both.fill_of("tanh"));
    }
}
