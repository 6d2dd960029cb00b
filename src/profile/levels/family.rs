//! The producer of a profile, which decides the meaning of its rows and categories.

use serde::{Deserialize, Serialize};

use super::places;
use crate::{Profile, TrackId};
use ns_base::Idx;

/// The producer of a profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Family {
    /// The Neuron plugin, or this product's simulator.
    Neuron,
    /// The profiler of PyTorch.
    Kineto,
    /// XLA: JAX, TensorFlow, PyTorch/XLA.
    Xla,
    /// Any other producer: the meaning of its slices is unknown.
    #[default]
    Other,
}

/// The producer, by rows that have slices, then by categories of slices, then by rows of XLA devices.
pub(super) fn family_of(profile: &Profile) -> Family {
    let has = |is_one: fn(&Profile, TrackId) -> bool| {
        profile.tracks().ids().any(|t| is_one(profile, t) && !profile.slices().range_of(t).is_empty())
    };
    if has(places::is_neuron_compute) {
        Family::Neuron
    } else if has_kineto_category(profile) {
        Family::Kineto
    } else if has(places::is_xla_work) {
        Family::Xla
    } else {
        Family::Other
    }
}

fn has_kineto_category(profile: &Profile) -> bool {
    let strings = profile.strings();
    let known: Vec<bool> = (0..strings.len())
        .map(|i| places::kineto_level(strings.get(ns_base::StrId::from_usize(i))).is_some())
        .collect();
    let is_known = |i: usize| known.get(i).copied().unwrap_or(false);
    let slices = profile.slices();
    known.contains(&true) && slices.ids().any(|id| is_known(slices.category(id).index()))
}
