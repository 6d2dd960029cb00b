//! The producer of a profile, which decides the meaning of its rows and categories.

use serde::{Deserialize, Serialize};

use super::places;
use crate::{Profile, TrackId};
use ns_base::{Idx, StrId};

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

/// Categories of Kineto that are words of other tools too: the frames of a sampled program may be of `Kernel`.
const COMMON_WORDS: [&str; 7] = ["Kernel", "Operator", "Runtime", "runtime", "driver", "Trace", "overhead"];

/// Whether slices have a category that only Kineto has, or two of those that others have too.
fn has_kineto_category(profile: &Profile) -> bool {
    let strings = profile.strings();
    let text = |i: usize| strings.get(StrId::from_usize(i));
    let known: Vec<bool> = (0..strings.len()).map(|i| places::kineto_level(text(i)).is_some()).collect();
    let slices = profile.slices();
    let mut common = None;
    let is_proof = |i: usize| !COMMON_WORDS.contains(&text(i)) || *common.get_or_insert(i) != i;
    let mut used = slices.ids().map(|id| slices.category(id).index()).filter(|i| known.get(*i) == Some(&true));
    known.contains(&true) && used.any(is_proof)
}
