//! The colours of the names of a profile.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::kind::{Kind, fill_of};
use super::operation_of;
use crate::palette::GREY;
use ns_base::Order;
use ns_base::convert::usize_to_u8;

/// The colours of a profile. A name has the same colour in every view and in every profile.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Colours {
    /// The kinds of the legend, in the order of [`Kind`].
    kinds: Vec<Kind>,
    /// Names that have no meaning elsewhere, each with a hue of its own: names that are not among them are grey.
    distinct: Option<Vec<String>>,
}

impl Colours {
    /// Colours of names with their weights, shares or times: the legend lists the kinds that have any.
    #[must_use]
    pub fn new<'a>(weights: impl IntoIterator<Item = (&'a str, f64)>) -> Self {
        let weighty = weights.into_iter().filter(|(_, weight)| *weight > 0.0);
        let mut kinds: Vec<Kind> = weighty.map(|(name, _)| Kind::of(name)).filter(|kind| *kind != Kind::Idle).collect();
        kinds.sort_unstable();
        kinds.dedup();
        Self { kinds, distinct: None }
    }

    /// Colours of names that have no meaning elsewhere, such as threads: the heaviest have a hue each, the others none.
    #[must_use]
    pub fn distinct<'a>(weights: impl IntoIterator<Item = (&'a str, f64)>) -> Self {
        Self { kinds: Vec::new(), distinct: Some(heaviest(weights)) }
    }

    /// The place of this name's colour in the palette ([`crate::palette::Paint::Fill`]).
    #[must_use]
    pub fn fill_of(&self, name: &str) -> u8 {
        let Some(distinct) = &self.distinct else { return fill_of(name) };
        let operation = operation_of(name);
        let place = operation.and_then(|operation| distinct.iter().position(|d| *d == operation));
        place.map_or(GREY, usize_to_u8)
    }

    /// The kinds of the legend.
    #[must_use]
    pub fn legend(&self) -> &[Kind] {
        &self.kinds
    }
}

/// The operations with the most weight, as many as there are hues.
fn heaviest<'a>(weights: impl IntoIterator<Item = (&'a str, f64)>) -> Vec<String> {
    let mut by_operation: BTreeMap<String, f64> = BTreeMap::new();
    for (name, weight) in weights {
        if let Some(operation) = operation_of(name) {
            *by_operation.entry(operation.into_owned()).or_default() += weight;
        }
    }
    let mut order: Vec<(String, f64)> = by_operation.into_iter().filter(|(_, weight)| *weight > 0.0).collect();
    order.order_by(|a, b| b.1.total_cmp(&a.1));
    order.truncate(usize::from(GREY));
    order.into_iter().map(|(operation, _)| operation).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinct_names_have_hues_and_the_rest_is_grey() {
        let names: Vec<String> = (0..12).map(|i| format!("op{}", char::from(b'a' + i))).collect();
        let weights = names.iter().zip(0_u32..).map(|(n, i)| (n.as_str(), f64::from(100 - i)));
        let colours = Colours::distinct(weights.chain([("BertModel[model]", 1e9), ("never", 0.0)]));
        let fills: Vec<u8> = names[..8].iter().map(|n| colours.fill_of(n)).collect();
        assert_eq!(fills, [0, 1, 2, 3, 4, 5, 6, 7]);
        for grey in [names[8].as_str(), "BertModel[model]", "never", "3 others"] {
            assert_eq!(colours.fill_of(grey), GREY, "{grey}");
        }
    }

    #[test]
    fn names_look_alike_in_every_profile() {
        let one = Colours::new([("%dot.7", 5.0), ("add.1", 3.0), ("never", 0.0)]);
        let other = Colours::new([("RunTask", 9.0), ("aten::add", 2.0), ("aten::mm", 1.0)]);
        for name in ["aten__addmm_dot", "aten__add_add", "RunTask", "void n::dgrad_engine<float, 4>(int)"] {
            assert_eq!(one.fill_of(name), other.fill_of(name), "{name}");
        }
        assert_ne!(other.fill_of("RunTask"), other.fill_of("aten::mm"));
        // Instances of an operation have one colour, and work is never grey.
        assert_eq!(one.fill_of("void n::dgrad_engine<float, 8>(int)"), one.fill_of("dgrad_engine"));
        assert!((0..26).all(|i| one.fill_of(&format!("op{}", char::from(b'A' + i))) != GREY));
        assert_eq!(
            (one.legend(), other.legend()),
            (&[Kind::Matrix, Kind::Vector][..], &[Kind::Matrix, Kind::Vector, Kind::Host][..])
        );
    }
}
