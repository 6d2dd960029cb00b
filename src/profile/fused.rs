//! Fused operations: the members of an operation that the compiler fused, and the part of its time that each has.
//!
//! A slice of a Neuron profile whose arguments have `fused` (the paths of the members), `fused_hlo` (their instructions) and
//! `fused_share` (the part of the time of each, which add up to one), each with a comma and a line break between the members,
//! counts for its members by these parts. Without `fused_share` it counts for the operation of its name and category.

use std::borrow::Cow;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use serde::Deserialize;

use super::neuron::{EXECUTION_PROCESS, FRAMEWORK_TRACK, HLO_TRACK};
use super::{ArgsArena, ArgsId, Profile, SliceTable, Track, TrackId};
use ns_base::convert::{f64_to_u64, u64_to_u32};
use ns_base::{IndexVec, StrId, StringTable};

/// The argument with the parts of the members.
pub const SHARES: &str = "fused_share";
/// What stands between two members.
const SEPARATOR: &str = ",\n";
/// The unit of parts.
const MILLION: u32 = 1_000_000;
/// The most that the parts in a file may differ from one in sum, in millionths: they are rounded.
const ROUNDING: u64 = 1_000;

/// A part as it is written in the argument: millionths as a fraction of one.
pub fn share_text(share_ppm: u32) -> String {
    format!("{}.{:06}", share_ppm / MILLION, share_ppm % MILLION)
}

/// A part of the time of a slice. The parts of a slice lie next to one another, so that parts in whole nanoseconds add up to the
/// whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    from_ppm: u32,
    until_ppm: u32,
}

impl Part {
    /// All of it.
    pub const WHOLE: Self = Self { from_ppm: 0, until_ppm: MILLION };

    /// The part of a time, in ns.
    pub fn of_ns(self, ns: i64) -> i64 {
        if self == Self::WHOLE {
            return ns;
        }
        // Times of up to an hour need no wider numbers.
        if (0..=i64::MAX / i64::from(2 * MILLION)).contains(&ns) {
            let until = |ppm: u32| (ns * i64::from(ppm) + i64::from(MILLION / 2)) / i64::from(MILLION);
            return until(self.until_ppm) - until(self.from_ppm);
        }
        let until = |ppm: u32| {
            let scaled = i128::from(ns) * i128::from(ppm) + i128::from(MILLION / 2);
            i64::try_from(scaled.div_euclid(i128::from(MILLION))).unwrap_or(i64::MAX)
        };
        until(self.until_ppm) - until(self.from_ppm)
    }

    /// Its size in millionths.
    pub const fn ppm(self) -> u32 {
        self.until_ppm - self.from_ppm
    }

    /// Several parts of a time together, in ns.
    pub fn sum_ns(parts: &[Self], ns: i64) -> i64 {
        parts.iter().map(|part| part.of_ns(ns)).sum()
    }
}

/// A member that has a part of its fusion's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FusedMember {
    /// Full framework path.
    pub path: StrId,
    /// The module in which it is: the path without its last part.
    pub scope: StrId,
    /// The framework operator: the last part of the path.
    pub operator: StrId,
    /// HLO text.
    pub hlo: StrId,
    /// HLO opcode.
    pub opcode: StrId,
    /// Its part of the time.
    pub part: Part,
}

/// The names that the slices of a track have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Names {
    /// Framework operators, which are their categories too.
    Framework,
    /// HLO instructions, with their opcodes as categories.
    Hlo,
    /// Names of their own, with HLO opcodes as categories.
    Own,
}

impl FusedMember {
    /// The name of the slice if it were the member's; `None` if the slice keeps its own.
    pub const fn name(&self, names: Names) -> Option<StrId> {
        match names {
            Names::Framework => Some(self.operator),
            Names::Hlo => Some(self.hlo),
            Names::Own => None,
        }
    }

    /// The category of the slice if it were the member's.
    pub const fn category(&self, names: Names) -> StrId {
        match names {
            Names::Framework => self.operator,
            Names::Hlo | Names::Own => self.opcode,
        }
    }
}

/// The fused operations of a profile; empty for nearly all profiles.
#[derive(Clone, Debug, Default)]
pub struct Fusions {
    of_args: IndexMap<ArgsId, Box<[FusedMember]>, FxBuildHasher>,
}

impl Fusions {
    /// Reads the arguments of slices, if the profile is one of a NeuronCore; adds the names of members to its texts.
    pub(super) fn of(
        strings: &mut StringTable,
        tracks: &IndexVec<TrackId, Track>,
        slices: &SliceTable,
        args: &ArgsArena,
    ) -> Self {
        let mut fusions = Self::default();
        if strings.lookup(EXECUTION_PROCESS).is_none() {
            return fusions;
        }
        let wanted = format!("\"{SHARES}\"");
        let mut last = ArgsId::NONE;
        for id in tracks.ids().flat_map(|track| slices.of_track(track)) {
            let own = slices.args(id);
            if own == last || own.is_none() {
                continue;
            }
            last = own;
            let text = args.get(own);
            if text.contains(&wanted)
                && !fusions.of_args.contains_key(&own)
                && let Some(members) = members_in(strings, text)
            {
                fusions.of_args.insert(own, members);
            }
        }
        fusions
    }

    /// Whether no slice of the profile is divided.
    pub fn is_empty(&self) -> bool {
        self.of_args.is_empty()
    }

    /// The members that have a part of a slice with these arguments; empty if it is not divided.
    pub fn members(&self, args: ArgsId) -> &[FusedMember] {
        if self.of_args.is_empty() {
            return &[];
        }
        self.of_args.get(&args).map_or(&[], |members| members)
    }

    /// The members of every fusion by their arguments, in the order of the slices.
    pub fn iter(&self) -> impl Iterator<Item = (ArgsId, &[FusedMember])> {
        self.of_args.iter().map(|(args, members)| (*args, &**members))
    }
}

impl Profile {
    /// The names that the slices of a track have.
    pub fn names_of(&self, track: TrackId) -> Names {
        match self.tracks().get(track).map_or("", |t| self.str(t.name)) {
            FRAMEWORK_TRACK => Names::Framework,
            HLO_TRACK => Names::Hlo,
            _ => Names::Own,
        }
    }
}

#[derive(Deserialize)]
struct FusedArgs<'a> {
    #[serde(borrow)]
    fused: Cow<'a, str>,
    #[serde(borrow)]
    fused_hlo: Cow<'a, str>,
    #[serde(borrow)]
    fused_share: Cow<'a, str>,
}

/// The members with a part; `None` if the arguments contradict one another.
fn members_in(strings: &mut StringTable, json: &str) -> Option<Box<[FusedMember]>> {
    let args: FusedArgs<'_> = serde_json::from_str(json).ok()?;
    let list = |text: &'_ Cow<'_, str>| text.split(SEPARATOR).map(|m| m.trim().to_owned()).collect::<Vec<_>>();
    let (paths, texts, shares) = (list(&args.fused), list(&args.fused_hlo), list(&args.fused_share));
    if paths.len() != texts.len() || paths.len() != shares.len() {
        return None;
    }
    let mut members = Vec::new();
    let mut until = 0_u64;
    for (i, ((path, text), share)) in paths.iter().zip(&texts).zip(&shares).enumerate() {
        let share: f64 = share.parse().ok().filter(|s| (0.0..=1.0).contains(s))?;
        let from = until;
        until += f64_to_u64(share * f64::from(MILLION) + 0.5);
        if i + 1 == paths.len() {
            if until.abs_diff(u64::from(MILLION)) > ROUNDING {
                return None;
            }
            until = u64::from(MILLION);
        }
        let part = Part { from_ppm: u64_to_u32(from.min(until)), until_ppm: u64_to_u32(until) };
        if part.ppm() > 0 {
            let (scope, operator) = path.rsplit_once('/').unwrap_or(("", path));
            let mut add = |text: &str| strings.intern(text);
            members.push(FusedMember {
                path: add(path),
                scope: add(scope),
                operator: add(operator),
                hlo: add(text),
                opcode: add(opcode_of(text)),
                part,
            });
        }
    }
    // A single member needs no division, but it may be another one than the slice is named after.
    (!members.is_empty()).then(|| members.into_boxed_slice())
}

/// The opcode of `%dot = dot(%p4, %transpose.1)`.
fn opcode_of(hlo: &str) -> &str {
    let after = hlo.split_once(" = ").map_or(hlo, |(_, after)| after);
    after.split_once('(').map_or(after, |(opcode, _)| opcode)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ProfileBuilder, SliceId};
    use ns_base::Diagnostics;
    use proptest::prelude::*;

    fn profile(shares: &str) -> Profile {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", EXECUTION_PROCESS);
        let t = b.thread(p, "1", HLO_TRACK);
        let args = format!(
            r#"{{"fused":"N/L/aten__a,\nN/R/aten__b","fused_hlo":"%a.1 = add(%x, %y),\n%b = max(%a.1)","fused_share":"{shares}"}}"#
        );
        b.slice(t, 0, 101, "fused_0", "max", Some(&args));
        b.slice(t, 200, 5, "tanh", "tanh", Some(r#"{"path":"N/T/aten__tanh"}"#));
        b.finish(Diagnostics::new())
    }

    #[test]
    fn members_have_their_names_and_parts() {
        let profile = profile("0.25,\\n0.75");
        let fused = profile.fusions().members(profile.slices().args(SliceId(0)));
        let groups: Vec<_> =
            fused.iter().map(|m| [m.scope, m.operator, m.hlo, m.opcode].map(|id| profile.str(id)).to_vec()).collect();
        assert_eq!(
            groups,
            [["N/L", "aten__a", "%a.1 = add(%x, %y)", "add"], ["N/R", "aten__b", "%b = max(%a.1)", "max"]]
        );
        assert_eq!(fused.iter().map(|m| m.part.of_ns(101)).collect::<Vec<_>>(), [25, 76]);
        assert!(profile.fusions().members(profile.slices().args(SliceId(1))).is_empty());
    }

    #[test]
    fn arguments_that_contradict_one_another_divide_nothing() {
        for shares in ["0.5", "0.5,\\n0.1", "0.5,\\nhalf", "2.0,\\n-1.0", ""] {
            assert!(profile(shares).fusions().is_empty(), "{shares}");
        }
        let all = profile("1.000000,\\n0.000000");
        let fused = all.fusions().members(all.slices().args(SliceId(0)));
        assert_eq!((fused.len(), fused[0].part), (1, Part::WHOLE));
    }

    proptest! {
        #[test]
        fn the_parts_of_a_time_add_up_to_it(
            cuts in prop::collection::vec(0u32..=MILLION, 0..6),
            ns in 0i64..i64::MAX,
            short in 0i64..10_000_000_000_000,
        ) {
            let mut cuts = [vec![0, MILLION], cuts].concat();
            cuts.sort_unstable();
            let parts: Vec<Part> = cuts.windows(2).map(|w| Part { from_ppm: w[0], until_ppm: w[1] }).collect();
            prop_assert_eq!(Part::sum_ns(&parts, ns), ns);
            // A time has the same parts whether it is short enough for plain numbers or not.
            let scaled = |ppm: u32| (i128::from(short) * i128::from(ppm) + 500_000).div_euclid(1_000_000);
            for part in &parts {
                let exact = scaled(part.until_ppm) - scaled(part.from_ppm);
                prop_assert_eq!(i128::from(part.of_ns(short)), exact);
            }
            prop_assert!(parts.iter().all(|p| p.of_ns(ns) >= 0));
            prop_assert_eq!(parts.iter().map(|p| p.ppm()).sum::<u32>(), MILLION);
        }

        #[test]
        fn a_written_part_is_read_again(ppm in 0u32..=MILLION) {
            let read: f64 = share_text(ppm).parse().unwrap();
            prop_assert_eq!(f64_to_u64(read * f64::from(MILLION) + 0.5), u64::from(ppm));
        }
    }
}
