//! The colours of a profile, chosen by the time of its operations.

use std::collections::BTreeMap;

use ns_base::convert::i64_to_f64;
use ns_base::{FxHashMap, StrId};
use ns_profile::Profile;
use ns_profile::levels::LevelId;
use ns_view::colours::Colours;

/// Above about this many slices, only a sample is read: colours need no exact times.
const MOST_SLICES: usize = 1 << 20;

/// Colours of the names that have time of their own on a level.
pub fn colours_of(profile: &Profile) -> Colours {
    Colours::new(own_times(profile).iter().map(|((_, name), ns)| (profile.str(*name), i64_to_f64(*ns))))
}

/// Self time of each name on each level, in ns, in a fixed order. Where slices do not nest, it is an
/// estimate.
fn own_times(profile: &Profile) -> BTreeMap<(LevelId, StrId), i64> {
    let (slices, levels) = (profile.slices(), profile.levels());
    let stride = slices.len() / MOST_SLICES + 1;
    let mut own: FxHashMap<(LevelId, StrId), i64> = FxHashMap::default();
    for id in slices.ids().step_by(stride) {
        let track = slices.track(id);
        let level = levels.of_slice(profile, track, id);
        *own.entry((level, slices.name(id))).or_default() += slices.dur_ns(id);
        if let Some(parent) = slices.stack_parent(id) {
            let of_parent = levels.of_slice(profile, track, parent);
            if of_parent == level {
                *own.entry((level, slices.name(parent))).or_default() -= slices.dur_ns(id);
            }
        }
    }
    own.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_base::Diagnostics;
    use ns_profile::ProfileBuilder;
    use ns_view::colours::Kind;
    use ns_view::palette::GREY;

    #[test]
    fn time_of_inner_slices_counts_for_them() {
        let mut b = ProfileBuilder::new("test");
        let process = b.process("1", "host");
        let track = b.thread(process, "1", "main");
        b.slice(track, 0, 1_000, "outer", "", None);
        b.slice(track, 0, 600, "dot.1", "", None);
        b.slice(track, 600, 400, "dot.2", "", None);
        b.slice(track, 2_000, 100, "PyTorch Profiler (0)", "", None);
        let colours = colours_of(&b.finish(Diagnostics::default()));
        assert_ne!(colours.fill_of("%dot.9"), GREY);
        assert_eq!(colours.legend(), [Kind::Matrix], "the outer slice has no time of its own");
    }
}
