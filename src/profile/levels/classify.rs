//! The level of every slice of a profile.

use serde::{Deserialize, Serialize};

use super::family::{Family, family_of};
use super::places::{ENGINES, KINETO, PREFERRED, kineto_level, neuron_level, wrapping_level, xla_level};
use super::waits;
use super::wrappers::{self, RUNTIME_SETUP, Wrapper, is_wrapping_level};
use crate::device::{RUNTIME_INSTRUCTION, engine_of};
use crate::{Profile, SliceId, TrackId};
use ns_base::{FxHashMap, Idx, IndexVec, Refusal, StrId, define_idx, refuse};

define_idx! {
    /// A level of one profile.
    pub struct LevelId;
}

/// The name for all levels together.
pub const ALL_LEVELS: &str = "all";
/// The most threads with separate levels in a profile of an unknown producer; all further threads share one level.
const MOST_THREADS: usize = 200;
/// The level of slices whose category the producer does not document.
const OTHER: &str = "other";

/// A group of slices of which no two show the same work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Level {
    /// Its name: `device kernels`.
    pub name: String,
    /// Number of slices.
    pub slices: u64,
    /// Whether its slices are wrappers; a level of wrappers never comes first in a list.
    pub wraps: bool,
}

/// The rule that decides the level of a track's slices.
#[derive(Clone, Copy, Debug)]
enum Rule {
    /// All slices of the track have this level.
    All(LevelId),
    /// Their category decides.
    ByCategory,
}

/// The levels of a profile, and the level of every slice.
#[derive(Clone, Debug, Default)]
pub struct Levels {
    family: Family,
    list: IndexVec<LevelId, Level>,
    of_track: IndexVec<TrackId, Rule>,
    /// For each text, the level of slices of that category.
    of_category: Vec<LevelId>,
    /// For each text, the kind of wrapper that slices of that name are.
    of_name: Vec<Option<Wrapper>>,
    /// The level of wrappers by the level they would have.
    wrapping: FxHashMap<(Wrapper, LevelId), LevelId>,
    default: Option<LevelId>,
}

impl Levels {
    /// Finds the levels by the tracks, categories and names of a profile; visits every slice once.
    #[must_use]
    pub fn of(profile: &Profile) -> Self {
        let family = family_of(profile);
        let mut names = LevelNames::default();
        let mut levels = Self { family, ..Self::default() };
        levels.of_track = match family {
            Family::Kineto => profile.tracks().iter().map(|_| Rule::ByCategory).collect(),
            Family::Neuron => neuron_rules(profile, &mut names),
            Family::Xla => tracks(profile, |t| names.id(&xla_level(profile, t))),
            Family::Other => threads(profile, &mut names),
        };
        let strings = profile.strings();
        let texts = || (0..strings.len()).map(|i| strings.get(StrId::from_usize(i)));
        if family == Family::Kineto {
            for name in KINETO {
                names.id(name);
            }
            levels.of_category = texts().map(|t| names.id(kineto_level(t).unwrap_or(OTHER))).collect();
        } else if levels.of_track.iter().any(|rule| matches!(rule, Rule::ByCategory)) {
            let level = |t| if t == RUNTIME_INSTRUCTION { RUNTIME_SETUP } else { ENGINES };
            levels.of_category = texts().map(|t| names.id(level(t))).collect();
        }
        levels.of_name = wrappers_by_name(profile, family);
        levels.name_wrapping_levels(&mut names);
        levels.list = names
            .list
            .iter()
            .map(|name| Level { name: name.clone(), slices: 0, wraps: is_wrapping_level(name) })
            .collect();
        levels.count(profile);
        levels
    }

    /// The level of each wrapper that the profile has, by the level that its slices would have.
    fn name_wrapping_levels(&mut self, names: &mut LevelNames) {
        for wrapper in [Wrapper::Step, Wrapper::Profiler, Wrapper::Compilation, Wrapper::Total, Wrapper::Wait] {
            if self.of_name.contains(&Some(wrapper)) {
                for place in (0..names.list.len()).map(LevelId::from_usize) {
                    let level = names.id(wrapping_level(wrapper, &names.list[place]));
                    self.wrapping.insert((wrapper, place), level);
                }
            }
        }
    }

    fn count(&mut self, profile: &Profile) {
        let mut counts = vec![0u64; self.list.len()];
        for (track, info) in profile.tracks().iter_enumerated() {
            if info.kind.is_own() {
                for id in profile.slices().of_track(track) {
                    counts[self.of_slice(profile, track, id).index()] += 1;
                }
            }
        }
        for (level, count) in self.list.iter_mut().zip(counts) {
            level.slices = count;
        }
        let used = |id: &LevelId| self.list[*id].slices > 0;
        let named = |name: &&str| self.list.ids().find(|id| self.list[*id].name == **name).filter(used);
        let mut working = self.list.ids().filter(|id| used(id) && !self.list[*id].wraps);
        self.default = match self.family {
            // The waits of an only thread are shown with it, in the places of its calls.
            Family::Other if self.list.iter().any(|l| l.slices > 0 && l.name == Wrapper::Wait.level()) => None,
            Family::Other => working.next().filter(|_| working.next().is_none()),
            _ => PREFERRED.iter().find_map(named).or_else(|| working.next()),
        };
    }

    /// The producer of the profile.
    pub fn family(&self) -> Family {
        self.family
    }

    /// Whether a track has slices, and all of them are the profiler itself.
    pub fn is_of_profiler(&self, profile: &Profile, track: TrackId) -> bool {
        let mut levels = profile.slices().of_track(track).map(|id| &self.list[self.of_slice(profile, track, id)].name);
        let is_profiler = |name: &String| name == Wrapper::Profiler.level();
        levels.next().is_some_and(is_profiler) && levels.all(is_profiler)
    }

    /// The level of a slice; every slice has one.
    pub fn of_slice(&self, profile: &Profile, track: TrackId, id: SliceId) -> LevelId {
        let slices = profile.slices();
        let place = match self.of_track.get(track) {
            Some(Rule::All(level)) => *level,
            _ => self.of_category.get(slices.category(id).index()).copied().unwrap_or(LevelId(0)),
        };
        match self.of_name.get(slices.name(id).index()) {
            Some(Some(wrapper)) => self.wrapping.get(&(*wrapper, place)).copied().unwrap_or(place),
            _ => place,
        }
    }

    /// Whether a slice is a wrapper.
    pub fn wraps(&self, profile: &Profile, track: TrackId, id: SliceId) -> bool {
        self.list.get(self.of_slice(profile, track, id)).is_some_and(|level| level.wraps)
    }

    /// Whether the name of a slice says that it waits.
    pub fn waits(&self, profile: &Profile, id: SliceId) -> bool {
        self.of_name.get(profile.slices().name(id).index()) == Some(&Some(Wrapper::Wait))
    }

    /// A level.
    pub fn get(&self, id: LevelId) -> Option<&Level> {
        self.list.get(id)
    }

    /// All levels, also those without slices, in the order of their ids.
    pub fn all(&self) -> impl Iterator<Item = &Level> {
        self.list.iter()
    }

    /// The levels that have slices: first those of work, then those of wrappers, each in the order of the profile.
    pub fn used(&self) -> impl Iterator<Item = (LevelId, &Level)> {
        let of = |wraps: bool| self.list.iter_enumerated().filter(move |(_, l)| l.slices > 0 && l.wraps == wraps);
        of(false).chain(of(true))
    }

    /// The default level; absent if the default is all levels together, as for a profile of an unknown producer with several
    /// threads, each of which is a level.
    pub fn default_level(&self) -> Option<LevelId> {
        self.default
    }

    /// The name of a level; `all` for all of them.
    pub fn name(&self, level: Option<LevelId>) -> &str {
        level.and_then(|id| self.list.get(id)).map_or(ALL_LEVELS, |level| level.name.as_str())
    }

    /// The level with a name, in any letter case and with `-` for spaces; absent for `all`; see [`level_of`].
    ///
    /// # Errors
    /// When the profile has no slices of a level of that name.
    pub fn find(&self, name: &str) -> Result<Option<LevelId>, Refusal> {
        let names = || self.used().map(|(_, level)| level.name.as_str()).chain([ALL_LEVELS]);
        let Some(own) = level_of(name, names()) else {
            let known: Vec<&str> = names().collect();
            return Err(refuse!("there is no level '{name}' in this profile: it has {}", known.join(", ")));
        };
        Ok(self.used().find(|(_, level)| level.name == own).map(|(id, _)| id))
    }
}

/// The name that another means, in any letter case and with `-` or `_` for spaces. Its first words are enough where they begin no other:
/// `framework` is `framework ops`, and `framework ops of control` begins with that.
pub fn level_of<'n>(given: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let plain = |name: &str| name.trim().replace(['-', '_'], " ").to_lowercase();
    let begins = |own: &str, with: &str| own.starts_with(&format!("{with} "));
    let (given, mut names) = (plain(given), names.map(|own| (plain(own), own)).collect::<Vec<_>>());
    if let Some((_, own)) = names.iter().find(|(name, _)| *name == given) {
        return Some(own);
    }
    names.retain(|(name, _)| begins(name, &given));
    let (shortest, own) = names.iter().min_by_key(|(name, _)| name.len())?;
    names.iter().all(|(name, _)| name == shortest || begins(name, shortest)).then_some(own)
}

/// Levels by name, in the order in which they are first named.
#[derive(Default)]
struct LevelNames {
    list: IndexVec<LevelId, String>,
    known: FxHashMap<String, LevelId>,
}

impl LevelNames {
    fn id(&mut self, name: &str) -> LevelId {
        if let Some(&id) = self.known.get(name) {
            return id;
        }
        let id = self.list.push(name.to_owned());
        self.known.insert(name.to_owned(), id);
        id
    }
}

fn tracks(profile: &Profile, mut level: impl FnMut(TrackId) -> LevelId) -> IndexVec<TrackId, Rule> {
    profile.tracks().ids().map(|t| Rule::All(level(t))).collect()
}

/// The levels of rows of a Neuron profile; instructions of a device have those of their categories.
fn neuron_rules(profile: &Profile, names: &mut LevelNames) -> IndexVec<TrackId, Rule> {
    let mut rule = |track| match engine_of(profile, track) {
        Some(_) => Rule::ByCategory,
        None => Rule::All(names.id(&neuron_level(profile, track))),
    };
    profile.tracks().ids().map(&mut rule).collect()
}

/// For each text, the kind of wrapper that slices of that name are.
fn wrappers_by_name(profile: &Profile, family: Family) -> Vec<Option<Wrapper>> {
    let strings = profile.strings();
    let is_clang = family == Family::Other && is_time_trace(profile);
    let of_name = |name: &str| match family {
        Family::Other if is_clang && name.starts_with("Total ") => Some(Wrapper::Total),
        Family::Other => waits::is_waiting_call_anywhere(name).then_some(Wrapper::Wait),
        Family::Neuron => wrappers::by_name_of_run(name).or_else(|| wrappers::by_name(name)),
        Family::Kineto | Family::Xla => wrappers::by_name(name),
    };
    (0..strings.len()).map(|i| of_name(strings.get(StrId::from_usize(i)))).collect()
}

/// A level for each thread, by the name that the user sees; threads with the same name share a level.
fn threads(profile: &Profile, names: &mut LevelNames) -> IndexVec<TrackId, Rule> {
    let mut level = |(id, track): (TrackId, &crate::Track)| {
        let name = format!("{} / {}", profile.process_label(track.process), profile.track_label(id));
        let is_new = !names.known.contains_key(&name);
        Rule::All(names.id(if is_new && names.list.len() >= MOST_THREADS { OTHER } else { &name }))
    };
    profile.tracks().iter_enumerated().map(&mut level).collect()
}

/// Whether clang's `-ftime-trace` wrote it, which adds totals of the whole trace as spans.
fn is_time_trace(profile: &Profile) -> bool {
    profile.meta().properties.iter().any(|(key, _)| key == "beginningOfTime")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ProfileBuilder;
    use ns_base::Diagnostics;

    fn level_of<'a>(profile: &'a Profile, name: &str) -> &'a str {
        let slices = profile.slices();
        let id = slices.ids().find(|id| profile.str(slices.name(*id)) == name).unwrap();
        let levels = profile.levels();
        levels.name(Some(levels.of_slice(profile, slices.track(id), id)))
    }

    #[test]
    fn categories_of_kineto_are_levels_and_wrappers_have_their_own() {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", "python");
        let (t, k) = (b.thread(p, "1", "main"), b.thread(p, "7", "stream 7"));
        for (track, name, category) in [
            (t, "PyTorch Profiler (0)", "Trace"),
            (t, "ProfilerStep#4", "user_annotation"),
            (t, "forward", "user_annotation"),
            (t, "aten::mm", "cpu_op"),
            (t, "cudaLaunchKernel", "cuda_runtime"),
            (t, "odd", "mine"),
            (k, "ProfilerStep#4 copy", "gpu_user_annotation"),
            (k, "ProfilerStep#5", "gpu_user_annotation"),
            (k, "gemm", "kernel"),
        ] {
            b.slice(track, 0, 10, name, category, None);
        }
        let profile = b.finish(Diagnostics::new());
        for (name, level) in [
            ("PyTorch Profiler (0)", "profiler"),
            ("ProfilerStep#4", "steps"),
            ("ProfilerStep#5", "device steps"),
            ("forward", "annotations"),
            ("aten::mm", "CPU ops"),
            ("cudaLaunchKernel", "runtime calls"),
            ("odd", "other"),
            ("gemm", "device kernels"),
        ] {
            assert_eq!(level_of(&profile, name), level, "{name}");
        }
        let levels = profile.levels();
        assert_eq!(levels.name(levels.default_level()), "device kernels");
        assert_eq!(levels.find("CPU-Ops").map(|l| levels.name(l).to_owned()), Ok("CPU ops".to_owned()));
        assert_eq!(levels.find("runtime").map(|l| levels.name(l).to_owned()), Ok("runtime calls".to_owned()));
        assert!(levels.find("device").is_err(), "device kernels and device steps begin with it");
        assert_eq!(levels.find("all"), Ok(None));
        let error = levels.find("modules").unwrap_err().to_string();
        assert!(
            error.starts_with("there is no level 'modules' in this profile: it has ") && error.ends_with(", all"),
            "{error}"
        );
        // Wrapping levels come last.
        let wraps: Vec<bool> = levels.used().map(|(_, l)| l.wraps).collect();
        assert!(wraps.is_sorted() && wraps.iter().filter(|w| **w).count() == 3, "{wraps:?}");
        assert_eq!(levels.used().map(|(_, l)| l.slices).sum::<u64>(), 9);
    }

    #[test]
    fn a_common_word_as_category_does_not_make_a_device() {
        let family = |categories: &[&str]| {
            let mut b = ProfileBuilder::new("test");
            let process = b.process("1", "ls");
            let track = b.thread(process, "1", "ls");
            categories.iter().for_each(|category| b.slice(track, 0, 10, "f", category, None));
            b.finish(Diagnostics::new()).levels().family()
        };
        assert_eq!(family(&["User", "Kernel", "Kernel"]), Family::Other);
        assert_eq!(family(&["driver", "net"]), Family::Other);
        assert_eq!(family(&["Kernel", "Operator"]), Family::Kineto);
        assert_eq!(family(&["kernel"]), Family::Kineto);
    }

    #[test]
    fn rows_of_neuron_and_xla_are_levels_and_so_are_other_threads() {
        let profile = |rows: &[(&str, &str, &str)]| {
            let mut b = ProfileBuilder::new("test");
            for (i, (process, row, name)) in rows.iter().enumerate() {
                let p = b.process(process, process);
                let t = b.thread(p, &i.to_string(), row);
                b.slice(t, 0, 10, name, "", None);
            }
            b.finish(Diagnostics::new())
        };
        let neuron = profile(&[
            ("Process Overview", "Neuron Runtime Setup", "setup"),
            ("Process Execution", "Modules", "NN[model]"),
            ("Process Execution", "Framework Ops", "aten__addmm_dot"),
            ("Process Execution", "HLO Ops", "%dot.7"),
            ("Process Data Transfer", "HLO Ops", "%transpose.2"),
            ("NeuronCore engines", "Tensor", "MATMUL"),
        ]);
        let expected = [
            ("setup", "runtime setup"),
            ("NN[model]", "modules"),
            ("aten__addmm_dot", "framework ops"),
            ("%dot.7", "HLO ops"),
            ("%transpose.2", "HLO ops of data transfer"),
            ("MATMUL", "engines"),
        ];
        for (name, level) in expected {
            assert_eq!(level_of(&neuron, name), level, "{name}");
        }
        assert_eq!(neuron.levels().name(neuron.levels().default_level()), "framework ops");

        let xla = profile(&[
            ("/device:TPU:0", "Steps", "1"),
            ("/device:TPU:0", "XLA Modules", "jit_f"),
            ("/device:TPU:0", "XLA Ops", "fusion.1"),
            ("/host:CPU", "python", "$profiler.py:193 stop_trace"),
            ("/host:CPU", "python", "run"),
        ]);
        let expected = [
            ("1", "steps"),
            ("jit_f", "modules"),
            ("fusion.1", "ops"),
            ("$profiler.py:193 stop_trace", "profiler"),
            ("run", "host"),
        ];
        for (name, level) in expected {
            assert_eq!(level_of(&xla, name), level, "{name}");
        }
        assert_eq!(xla.levels().name(xla.levels().default_level()), "ops");

        let other = profile(&[("clang", "main", "Frontend"), ("clang", "pool", "Backend")]);
        assert_eq!(level_of(&other, "Frontend"), "clang / main");
        assert_eq!(other.levels().default_level(), None, "threads are looked at together");
        let alone = profile(&[("clang", "main", "Frontend")]);
        assert_eq!(alone.levels().name(alone.levels().default_level()), "clang / main");
        assert_eq!(Profile::default().levels().name(None), "all");
    }
}
