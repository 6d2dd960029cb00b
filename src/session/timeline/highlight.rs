//! The group of slices that is highlighted on a timeline.

use super::{ShownTracks, link};
use crate::base::StrId;
use crate::profile::analysis::members::{MemberOrder, members};
use crate::profile::analysis::{GroupBy, Grouping, Selection};
use crate::profile::{Profile, SliceId};
use crate::session::SearchHits;
use crate::view::timeline::SliceGroup;

/// What a group without a name is called.
pub(in crate::session) const NO_NAME: &str = "(none)";

/// A group with what tells which slices are of it.
#[derive(Debug)]
pub(in crate::session) struct Highlight {
    pub group: SliceGroup,
    grouping: Grouping,
    number: Option<u32>,
}

impl Highlight {
    /// Prepares it: for groups by module this reads every slice's arguments.
    pub fn new(profile: &Profile, group: &SliceGroup) -> Self {
        let grouping = Grouping::new(profile, group.by);
        let number = grouping.find(profile, own_name(profile, &grouping, &group.name));
        Self { group: group.clone(), grouping, number }
    }

    /// Whether a slice is of the group.
    pub fn holds(&self, profile: &Profile, id: SliceId) -> bool {
        let group = || self.grouping.group_of(profile, profile.slices().track(id), id);
        self.number.is_some_and(|number| number == group())
    }

    /// Whether what is no slice (an instant, an async span) is of the group: where its name is.
    pub fn holds_name(&self, name: StrId) -> bool {
        self.group.by == GroupBy::Name && self.number == Some(name.0)
    }
}

/// The name of a group in the profile, for the one that tables show.
pub(in crate::session) fn own_name<'a>(profile: &Profile, grouping: &Grouping, shown: &'a str) -> &'a str {
    if shown == NO_NAME && grouping.find(profile, shown).is_none() { "" } else { shown }
}

/// The slices of a group by time.
pub(in crate::session) fn group_hits(
    profile: &Profile,
    tracks: &ShownTracks,
    by: GroupBy,
    text: &str,
    limit: u32,
) -> SearchHits {
    let name = own_name(profile, &Grouping::new(profile, by), text);
    let found = members(profile, &Selection::default(), by, name, MemberOrder::Time);
    let hits = found.iter().take(limit as usize).map(|(id, _)| link(profile, tracks, *id)).collect();
    SearchHits { text: text.to_owned(), by: Some(by), total: found.len() as u64, hits }
}
