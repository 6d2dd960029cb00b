//! The group of slices that is highlighted on a timeline.

use super::{SearchHits, ViewTracks, link};
use ns_analysis::members::{MemberOrder, members};
use ns_analysis::{Grouping, Selection};
use ns_base::StrId;
use ns_profile::levels::LevelId;
use ns_profile::{Profile, SliceId};
use ns_view::timeline::{GroupKind, SliceGroup};

/// Title of a group without a name.
pub(crate) const NO_NAME: &str = "(none)";

/// A group, with data for testing whether a slice belongs to it.
#[derive(Debug)]
pub struct Highlight {
    pub group: SliceGroup,
    grouping: Grouping,
    number: Option<u32>,
    /// The level of its slices; absent for any level.
    level: Option<LevelId>,
}

impl Highlight {
    /// Prepares the test: for groups by module this reads the arguments of every slice.
    pub fn new(profile: &Profile, group: &SliceGroup) -> Self {
        let grouping = Grouping::new(profile, group.kind.by);
        let number = grouping.find(profile, own_name(profile, &grouping, &group.name));
        let level = level_of(profile, group.kind.level.as_deref());
        Self { group: group.clone(), grouping, number, level }
    }

    /// Whether a slice belongs to the group.
    pub fn holds(&self, profile: &Profile, id: SliceId) -> bool {
        let track = profile.slices().track(id);
        let is_of_level = |level| profile.levels().of_slice(profile, track, id) == level;
        let is_member = |group| !self.grouping.parts_in(profile, track, id, group).is_empty();
        self.number.is_some_and(is_member) && self.level.is_none_or(is_of_level)
    }

    /// Whether an instant or an async span belongs to the group, by its name.
    pub fn holds_name(&self, name: StrId) -> bool {
        self.number.is_some() && self.number == self.grouping.group_of_name(name)
    }
}

/// The name of a group in the profile, for the one that tables show.
pub(crate) fn own_name<'a>(profile: &Profile, grouping: &Grouping, text: &'a str) -> &'a str {
    if text == NO_NAME && grouping.find(profile, text).is_none() { "" } else { text }
}

/// The level with a name, `None` for all levels; the default level when none was chosen or the profile has no level with that name.
pub fn level_of(profile: &Profile, name: Option<&str>) -> Option<LevelId> {
    let levels = profile.levels();
    name.and_then(|name| levels.find(name).ok()).unwrap_or_else(|| levels.default_level())
}

/// The slices of a group by time.
pub fn group_hits(profile: &Profile, tracks: &ViewTracks, kind: &GroupKind, text: &str, limit: u32) -> SearchHits {
    let name = own_name(profile, &Grouping::new(profile, kind.by), text);
    let selection = Selection::of_level(level_of(profile, kind.level.as_deref()));
    let found = members(profile, &selection, kind.by, name, MemberOrder::Time);
    let hits = found.iter().take(limit as usize).map(|(id, _)| link(profile, tracks, *id)).collect();
    SearchHits { text: text.to_owned(), by: Some(kind.clone()), total: found.len() as u64, hits }
}
