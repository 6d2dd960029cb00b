//! Groupings of slices, with a small number for each group.
//!
//! A fused operation counts for each of its members by a part of its time ([`ns_profile::fused`]), in groupings by name,
//! category, operator and module.

use serde::{Deserialize, Serialize};

use super::names::{Instances, Names};
use super::scopes::Scopes;
use ns_base::{FxHashMap, Idx, StrId, StringTable, names};
use ns_profile::fused::{self, FusedMember, Part};
use ns_profile::{ArgsId, ProcessId, Profile, SliceId, TrackId};

names! {
    /// The property by which slices are grouped.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    pub enum GroupBy {
        /// Their name.
        #[default]
        Name = "name",
        /// The operation that their name is an instance of ([`Names`]).
        Operation = "operation",
        /// Their category; slices without one form the group of the empty name.
        Category = "category",
        /// Their category, or their name where they have none.
        CategoryOrName = "operator",
        /// The module they belong to ([`Scopes`]); slices outside all modules form the group of the empty name.
        Module = "module",
        /// The process they are on.
        Process = "process",
        /// The device they are on: a Neuron device, or what the labels of the process say (`GPU 0`, `CPU`).
        Device = "device",
        /// The NeuronCore they are on, or the device where no NeuronCore is known.
        Core = "core",
        /// The thread they are on; lanes of one row are one thread.
        Thread = "thread",
    }

    /// Every grouping.
    pub const ALL: [Self; _];
    /// Its name in commands and links.
    pub const fn name(self) -> &'static str;
    /// The grouping with a name.
    pub fn from_name(name: &str) -> Option<Self>;
}

/// The groups of a fused operation, each with its parts.
type MemberGroups = Vec<(u32, Vec<Part>)>;

/// The group of each slice. Groups are numbers from 0, some of which may be unused.
#[derive(Debug, Default)]
pub struct Grouping {
    by: GroupBy,
    /// Group of each track, for groupings in which a whole track is in one group.
    of_track: Vec<u32>,
    labels: StringTable,
    scopes: Option<Scopes>,
    /// For [`GroupBy::Operation`].
    operations: Option<Box<Operations>>,
    /// The groups of fused operations, each with its parts, by arguments and the names that slices of the track have.
    fused: FxHashMap<(ArgsId, fused::Names), MemberGroups>,
    /// Whether arguments are those of a fused operation, by their place: asked of every slice, so no map.
    has_members: Vec<bool>,
    /// The names that slices have, by track.
    names_of_track: Vec<fused::Names>,
}

/// The operations of a profile, numbered.
#[derive(Debug)]
struct Operations {
    names: Names,
    /// By name; only names of slices have one.
    of_name: Vec<u32>,
}

impl Grouping {
    /// Prepares a grouping of a profile. [`GroupBy::Module`] reads every slice's arguments.
    #[must_use]
    pub fn new(profile: &Profile, by: GroupBy) -> Self {
        let mut labels = StringTable::new();
        let mut of_track = Vec::new();
        let names = Names::of(profile, if by == GroupBy::Operation { Instances::Merged } else { Instances::Each });
        // Where each name counts by itself, an operation is a name, and the members of a fused one have theirs.
        let by = if by == GroupBy::Operation && !names.is_merged() { GroupBy::Name } else { by };
        let label_of: Option<fn(&Profile, TrackId) -> String> = match by {
            GroupBy::Process => Some(|p, t| process_text(p, p.tracks()[t].process)),
            GroupBy::Device => Some(|p, t| device_text(p, p.tracks()[t].process)),
            GroupBy::Core => Some(|p, t| core_text(p, p.tracks()[t].process)),
            GroupBy::Thread => Some(thread_text),
            GroupBy::Name | GroupBy::Operation | GroupBy::Category | GroupBy::CategoryOrName | GroupBy::Module => None,
        };
        if let Some(label_of) = label_of {
            of_track = profile.tracks().ids().map(|t| labels.intern(&label_of(profile, t)).0).collect();
        }
        let scopes = (by == GroupBy::Module).then(|| Scopes::of(profile));
        let operations = (by == GroupBy::Operation).then(|| Box::new(Operations::of(profile, names, &mut labels)));
        Self { by, of_track, labels, scopes, operations, ..Self::default() }.with_fused(profile)
    }

    /// Adds the groups of fused operations.
    fn with_fused(mut self, profile: &Profile) -> Self {
        if !self.divides() {
            return self;
        }
        self.names_of_track = profile.tracks().ids().map(|track| profile.names_of(track)).collect();
        for (args, members) in profile.fusions().iter() {
            if self.has_members.len() <= args.index() {
                self.has_members.resize(args.index() + 1, false);
            }
            self.has_members[args.index()] = true;
            for names in [fused::Names::Framework, fused::Names::Hlo, fused::Names::Own] {
                let mut groups = MemberGroups::new();
                for member in members {
                    let Some(group) = self.group_of_member(names, member) else { continue };
                    match groups.iter_mut().find(|(known, _)| *known == group) {
                        Some((_, parts)) => parts.push(member.part),
                        None => groups.push((group, vec![member.part])),
                    }
                }
                if !groups.is_empty() {
                    self.fused.insert((args, names), groups);
                }
            }
        }
        self
    }

    /// Whether a fused operation counts for its members.
    const fn divides(&self) -> bool {
        matches!(self.by, GroupBy::Name | GroupBy::Category | GroupBy::CategoryOrName | GroupBy::Module)
    }

    /// The group of a member of a fused operation on a track of these names; `None` if it is the group of the slice.
    pub fn group_of_member(&self, names: fused::Names, member: &FusedMember) -> Option<u32> {
        match self.by {
            GroupBy::Name => member.name(names).map(|name| name.0),
            GroupBy::Category | GroupBy::CategoryOrName => Some(member.category(names).0),
            GroupBy::Module => self.scopes.as_ref().map(|s| s.scope_of_member(member).0),
            GroupBy::Operation | GroupBy::Process | GroupBy::Device | GroupBy::Core | GroupBy::Thread => None,
        }
    }

    /// Whether some slices count for several groups.
    pub fn divides_slices(&self) -> bool {
        !self.fused.is_empty()
    }

    /// Calls `visit` with each group that a slice counts for, and the parts of the slice's time that the group has.
    pub fn each_group(&self, profile: &Profile, track: TrackId, id: SliceId, mut visit: impl FnMut(u32, &[Part])) {
        match self.groups_of_fused(profile, track, id) {
            Some(groups) => groups.iter().for_each(|(group, parts)| visit(*group, parts)),
            None => visit(self.group_of(profile, track, id), &[Part::WHOLE]),
        }
    }

    /// The parts of a slice's time that a group has; empty if the slice does not count for it.
    pub fn parts_in(&self, profile: &Profile, track: TrackId, id: SliceId, group: u32) -> &[Part] {
        match self.groups_of_fused(profile, track, id) {
            Some(groups) => groups.iter().find(|(g, _)| *g == group).map_or(&[], |(_, parts)| parts),
            None if self.group_of(profile, track, id) == group => &[Part::WHOLE],
            None => &[],
        }
    }

    fn groups_of_fused(&self, profile: &Profile, track: TrackId, id: SliceId) -> Option<&MemberGroups> {
        let args = profile.slices().args(id);
        if !self.has_members.get(args.index()).is_some_and(|has| *has) {
            return None;
        }
        self.fused.get(&(args, *self.names_of_track.get(track.index())?))
    }

    /// The property by which it groups.
    pub fn by(&self) -> GroupBy {
        self.by
    }

    /// The group of a slice on a track; of a fused operation that of its root.
    pub fn group_of(&self, profile: &Profile, track: TrackId, id: SliceId) -> u32 {
        let slices = profile.slices();
        match self.by {
            GroupBy::Name => slices.name(id).0,
            GroupBy::Operation => self.group_of_name(slices.name(id)).unwrap_or(0),
            GroupBy::Category => slices.category(id).0,
            GroupBy::CategoryOrName if slices.category(id) == StrId::EMPTY => slices.name(id).0,
            GroupBy::CategoryOrName => slices.category(id).0,
            GroupBy::Module => self.scopes.as_ref().map_or(0, |s| s.scope_of(id).0),
            GroupBy::Process | GroupBy::Device | GroupBy::Core | GroupBy::Thread => {
                self.of_track.get(track.index()).copied().unwrap_or(0)
            }
        }
    }

    /// The group of a name, if slices are grouped by their names.
    pub fn group_of_name(&self, name: StrId) -> Option<u32> {
        match (&self.operations, self.by) {
            (Some(operations), _) => operations.of_name.get(name.index()).copied(),
            (None, GroupBy::Name) => Some(name.0),
            (None, _) => None,
        }
    }

    /// One more than the greatest group.
    pub fn len(&self, profile: &Profile) -> usize {
        self.table(profile).len()
    }

    /// The name of a group.
    pub fn label<'a>(&'a self, profile: &'a Profile, group: u32) -> &'a str {
        self.table(profile).get(StrId(group))
    }

    /// The group of a name, if there is one.
    pub fn find(&self, profile: &Profile, label: &str) -> Option<u32> {
        match &self.operations {
            Some(operations) => self.group_of_name(operations.names.find(profile, label)?),
            None => self.table(profile).lookup(label).map(|id| id.0),
        }
    }

    fn table<'a>(&'a self, profile: &'a Profile) -> &'a StringTable {
        match (self.by, &self.scopes) {
            (GroupBy::Name | GroupBy::Category | GroupBy::CategoryOrName, _) => profile.strings(),
            (_, Some(scopes)) => scopes.names(),
            _ => &self.labels,
        }
    }
}

impl Operations {
    /// Numbers the operations by their place in `labels`.
    fn of(profile: &Profile, names: Names, labels: &mut StringTable) -> Self {
        let mut of_name = vec![0; profile.strings().len()];
        let slices = profile.slices();
        for id in slices.ids() {
            let name = slices.name(id);
            let first = names.first(name);
            if of_name[first.index()] == 0 {
                of_name[first.index()] = labels.intern(&names.text(profile, first)).0;
            }
            of_name[name.index()] = of_name[first.index()];
        }
        Self { names, of_name }
    }
}

/// The name of a process, with its labels if they add something.
pub fn process_text(profile: &Profile, id: ProcessId) -> String {
    let label = profile.process_label(id);
    let labels = profile.processes().get(id).map_or("", |p| profile.str(p.labels));
    if labels.is_empty() || label.contains(labels) { label } else { format!("{label} ({labels})") }
}

/// The name of a thread, after the name of its process.
pub fn thread_text(profile: &Profile, id: TrackId) -> String {
    let process = profile.tracks().get(id).map_or_else(String::new, |t| process_text(profile, t.process));
    format!("{process} / {}", profile.track_label(id))
}

/// The device a process is on.
pub fn device_text(profile: &Profile, id: ProcessId) -> String {
    let Some(process) = profile.processes().get(id) else { return String::new() };
    match (process.neuron_core, profile.str(process.labels)) {
        (Some(core), _) => format!("NeuronDevice {}", core.device),
        (None, "") => profile.process_label(id),
        (None, labels) => labels.to_owned(),
    }
}

/// The NeuronCore a process is on, or its device.
pub fn core_text(profile: &Profile, id: ProcessId) -> String {
    match profile.processes().get(id).and_then(|p| p.neuron_core) {
        Some(core) => format!("NeuronDevice {} NeuronCore {}", core.device, core.core),
        None => device_text(profile, id),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_base::Diagnostics;
    use ns_profile::{NeuronCoreId, ProfileBuilder};

    #[test]
    fn lanes_are_one_thread_and_processes_of_one_device_one_group() {
        let mut b = ProfileBuilder::new("test");
        let (run, copy, host) = (b.process("1", "Run"), b.process("2", "Copy"), b.process("3", "python"));
        b.set_process_labels(host, "CPU");
        for p in [run, copy] {
            b.set_neuron_core(p, NeuronCoreId { device: 1, core: u32::from(p == copy) });
        }
        let tracks = [
            b.thread(run, "q", "queue"),
            b.thread(run, "q.2", "queue"),
            b.thread(copy, "q", ""),
            b.thread(host, "5", ""),
        ];
        for t in tracks {
            b.slice(t, 0, 1, "x", "", None);
        }
        let profile = b.finish(Diagnostics::new());
        let labels = |by| {
            let grouping = Grouping::new(&profile, by);
            let label = |t: &TrackId| {
                let id = profile.slices().of_track(*t).next().unwrap();
                grouping.label(&profile, grouping.group_of(&profile, *t, id)).to_owned()
            };
            tracks.iter().map(label).collect::<Vec<_>>()
        };
        assert_eq!(
            labels(GroupBy::Thread),
            ["Run / queue", "Run / queue", "Copy / Thread q", "python (CPU) / Thread 5"]
        );
        assert_eq!(labels(GroupBy::Device), ["NeuronDevice 1", "NeuronDevice 1", "NeuronDevice 1", "CPU"]);
        assert_eq!(labels(GroupBy::Core)[2..], ["NeuronDevice 1 NeuronCore 1", "CPU"]);
        assert_eq!(
            (labels(GroupBy::Name), labels(GroupBy::Operation)),
            (vec!["x".to_owned(); 4], vec!["x".to_owned(); 4])
        );
    }
}
