//! The colours of the names of a profile.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::kind::{Kind, fill_of, fill_of_operation, free_shade};
use super::{operation_of, unit_fills};
use crate::palette::{GREY, SHADES};
use ns_base::Order;

/// The colours of a profile. A name has the same hue in every view and in every profile; in every view of one profile it has the same shade.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Colours {
    /// The kinds of the legend, in the order of [`Kind`].
    kinds: Vec<Kind>,
    /// Operations that have another colour than their name alone says.
    own: BTreeMap<String, u8>,
    /// Whether all other names are grey.
    is_distinct: bool,
}

impl Colours {
    /// Colours of names with their weights, shares or times: the legend lists the kinds that have any. Operations of one kind that follow
    /// each other by weight differ in shade, and the heaviest of a kind all do.
    pub fn new<'a>(weights: impl IntoIterator<Item = (&'a str, f64)>) -> Self {
        let weighty: Vec<_> = weights.into_iter().filter(|(_, weight)| *weight > 0.0).collect();
        let mut kinds: Vec<Kind> = weighty.iter().map(|(name, _)| Kind::of(name)).collect();
        kinds.retain(|kind| *kind != Kind::Idle);
        kinds.order();
        kinds.dedup();
        let (mut own, mut given) = (BTreeMap::new(), BTreeMap::<u8, Vec<u8>>::new());
        for operation in by_weight(weighty) {
            let wanted = fill_of_operation(&operation);
            let (hue, number) = (wanted % (GREY + 1), wanted / (GREY + 1));
            let of_hue = given.entry(hue).or_default();
            // Once all shades of a hue are given, only the one before is avoided.
            let from = if of_hue.len() < usize::from(SHADES) { 0 } else { of_hue.len() - 1 };
            let fill = free_shade(hue, number, |at| of_hue[from..].contains(&at));
            of_hue.push(fill);
            if fill != wanted {
                own.insert(operation, fill);
            }
        }
        Self { kinds, own, is_distinct: false }
    }

    /// Colours of names that have no meaning elsewhere, such as threads: the heaviest have a hue each, the others none. Units, such as
    /// engines and queues, have the hue of their kind.
    pub fn distinct<'a>(weights: impl IntoIterator<Item = (&'a str, f64)>) -> Self {
        let mut heaviest = by_weight(weights);
        heaviest.truncate(usize::from(GREY));
        let units = heaviest.iter().map(|name| name.rsplit(" / ").next().unwrap_or_default());
        let fills = unit_fills(units);
        Self { kinds: Vec::new(), own: heaviest.iter().cloned().zip(fills).collect(), is_distinct: true }
    }

    /// The place of this name's colour in the palette ([`crate::palette::Paint::Fill`]).
    pub fn fill_of(&self, name: &str) -> u8 {
        let own = operation_of(name).and_then(|operation| self.own.get(operation.as_ref()).copied());
        own.unwrap_or_else(|| if self.is_distinct { GREY } else { fill_of(name) })
    }

    pub fn legend(&self) -> &[Kind] {
        &self.kinds
    }
}

/// The operations by descending weight.
fn by_weight<'a>(weights: impl IntoIterator<Item = (&'a str, f64)>) -> Vec<String> {
    let mut by_operation: BTreeMap<String, f64> = BTreeMap::new();
    for (name, weight) in weights {
        if let Some(operation) = operation_of(name) {
            *by_operation.entry(operation.into_owned()).or_default() += weight;
        }
    }
    let mut order: Vec<(String, f64)> = by_operation.into_iter().filter(|(_, weight)| *weight > 0.0).collect();
    order.order_by(|a, b| b.1.total_cmp(&a.1));
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
    fn the_heaviest_operations_of_a_kind_are_told_apart() {
        let names =
            ["wgrad_alg0_engine", "dgrad_engine", "implicit_convolve_sgemm", "ampere_sgemm_128x64_nn", "attn_fwd"];
        let colours = Colours::new(names.iter().zip(0_u32..).map(|(n, i)| (*n, f64::from(9 - i))));
        let fills = names.map(|n| colours.fill_of(n));
        assert!(fills.iter().all(|f| f % (GREY + 1) == Kind::Matrix.fill()), "{fills:?}");
        assert!((0..4).all(|i| (0..i).all(|j| fills[i] != fills[j])) && fills[3] != fills[4], "{fills:?}");
    }

    #[test]
    fn threads_of_engines_have_the_hues_of_their_kinds() {
        let names = ["core / Tensor", "core / Scalar", "core / qSyncIO0", "core / qSyncWeights0", "core / main"];
        let colours = Colours::distinct(names.map(|n| (n, 1.0)));
        let hues = names.map(|n| colours.fill_of(n) % (GREY + 1));
        let [matrix, activation, transfer] = [Kind::Matrix, Kind::Activation, Kind::Transfer].map(Kind::fill);
        assert_eq!(hues[..4], [matrix, activation, transfer, transfer]);
        assert_ne!(colours.fill_of(names[2]), colours.fill_of(names[3]));
    }

    #[test]
    fn names_look_alike_in_every_profile() {
        let one = Colours::new([("%dot.7", 5.0), ("add.1", 3.0), ("never", 0.0)]);
        let other = Colours::new([("RunTask", 9.0), ("aten::add", 2.0), ("aten::mm", 1.0)]);
        for name in ["aten__addmm_dot", "aten__add_add", "RunTask", "void n::dgrad_engine<float, 4>(int)"] {
            assert_eq!(one.fill_of(name) % (GREY + 1), other.fill_of(name) % (GREY + 1), "{name}");
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
