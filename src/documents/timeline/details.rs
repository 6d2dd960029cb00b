//! Details for a click, a step to the neighbour, or a search.

use serde::{Deserialize, Serialize};

use super::outline::{ViewTracks, async_of_ref, async_ref, instant_of_ref};
use ns_analysis::lookup::{NameSearch, parse_args, slice_details as profile_details};
use ns_base::Order;
use ns_base::convert::usize_to_u32;
use ns_base::units::format_share;
use ns_profile::asyncs::AsyncId;
use ns_profile::flows::FlowIndex;
use ns_profile::fused::SHARES;
use ns_profile::{InstantId, Profile, SliceId};
use ns_view::text::contains_ignoring_case;
use ns_view::timeline::{GroupKind, Neighbour, SliceDetails, SliceLink, SliceRef};

/// Most arrows of one slice that are listed.
const MOST_FLOWS: usize = 200;

/// Slices found by a search.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SearchHits {
    pub text: String,
    /// The key of the group with that name, if a group was asked for.
    pub by: Option<GroupKind>,
    /// Number of slices that match.
    pub total: u64,
    /// The first matches in order of time.
    pub hits: Vec<SliceLink>,
}

/// All details of a slice, an instant or an async span; `None` for an unknown number.
pub fn slice_details(
    profile: &Profile,
    tracks: &ViewTracks,
    flows: &FlowIndex,
    slice: SliceRef,
) -> Option<SliceDetails> {
    if let Some(instant) = instant_of_ref(profile, slice.0) {
        return Some(instant_details(profile, tracks, slice, instant));
    }
    if let Some(span) = async_of_ref(profile, slice.0) {
        return async_details(profile, tracks, slice, span);
    }
    let found = profile_details(profile, SliceId(slice.0))?;
    let mut notes = Vec::new();
    if found.unclosed {
        notes.push("It begins and never ends; it is drawn to the end of the profile.".to_owned());
    }
    if found.overlaps {
        notes.push("It begins inside another slice of its thread and ends after it.".to_owned());
    }
    let members = members_of(&found.args);
    let mut args = found.args;
    args.retain(|(key, _)| key != "fused" && key != SHARES);
    Some(SliceDetails {
        link: link(profile, tracks, found.id),
        category: found.category,
        self_ns: found.self_ns.and_then(|n| u64::try_from(n).ok()),
        args,
        members,
        // The outermost first, as in a path.
        parents: found.parents.iter().rev().map(|(id, _)| link(profile, tracks, *id)).collect(),
        predecessors: flows.predecessors(found.id).take(MOST_FLOWS).map(|id| link(profile, tracks, id)).collect(),
        successors: flows.successors(found.id).take(MOST_FLOWS).map(|id| link(profile, tracks, id)).collect(),
        notes,
    })
}

/// Members of a fused operation: one text with a comma and a line break between them, as the plugin writes them. Each has its
/// part of the time, if the profile says so.
fn members_of(args: &[(String, String)]) -> Vec<String> {
    let list = |of: &str| {
        let text = args.iter().find(|(key, _)| key == of).map_or("", |(_, value)| value.as_str());
        text.split(",\n").map(|m| m.trim().to_owned()).filter(|m| !m.is_empty()).collect::<Vec<_>>()
    };
    let (members, shares) = (list("fused"), list(SHARES));
    if shares.len() != members.len() {
        return members;
    }
    let with_share = |(member, share): (String, String)| match share.parse::<f64>() {
        Ok(share) => format!("{member}: {}", format_share(share * 100.0)),
        Err(_) => member,
    };
    members.into_iter().zip(shares).map(with_share).collect()
}

fn instant_details(profile: &Profile, tracks: &ViewTracks, slice: SliceRef, id: InstantId) -> SliceDetails {
    let table = profile.instants();
    let args = profile.args().get(table.args(id));
    let args = parse_args(args);
    SliceDetails {
        link: SliceLink {
            slice,
            track: tracks.view_of_instants(table.track(id)),
            row: 0,
            title: profile.str(table.name(id)).to_owned(),
            start_ns: table.ts(id).0,
            duration_ns: 0,
        },
        category: profile.str(table.category(id)).to_owned(),
        self_ns: None,
        args,
        members: Vec::new(),
        parents: Vec::new(),
        predecessors: Vec::new(),
        successors: Vec::new(),
        notes: Vec::new(),
    }
}

fn async_details(profile: &Profile, tracks: &ViewTracks, slice: SliceRef, id: AsyncId) -> Option<SliceDetails> {
    let span = tracks.asyncs().get(id)?;
    let unclosed = "It begins and never ends; it is drawn to the end of the profile.";
    Some(SliceDetails {
        link: async_link(profile, tracks, slice, id)?,
        category: profile.str(span.category).to_owned(),
        self_ns: None,
        args: parse_args(profile.args().get(span.args)),
        members: Vec::new(),
        parents: Vec::new(),
        predecessors: Vec::new(),
        successors: Vec::new(),
        notes: if span.unclosed { vec![unclosed.to_owned()] } else { Vec::new() },
    })
}

fn async_link(profile: &Profile, tracks: &ViewTracks, slice: SliceRef, id: AsyncId) -> Option<SliceLink> {
    let span = tracks.asyncs().get(id)?;
    Some(SliceLink {
        slice,
        track: tracks.view_of_asyncs(span.group),
        row: span.row,
        title: profile.str(span.name).to_owned(),
        start_ns: span.time.start.0,
        duration_ns: span.time.end.0.saturating_sub(span.time.start.0).max(0).unsigned_abs(),
    })
}

/// The slice next to another one on the same row.
pub fn neighbour(profile: &Profile, from: SliceRef, to: Neighbour) -> Option<SliceRef> {
    let slices = profile.slices();
    let id = SliceId(from.0);
    if from.0 as usize >= slices.len() {
        return None;
    }
    let (range, row) = (slices.range_of(slices.track(id)), slices.depth(id));
    let on_row = |i: &usize| slices.depth(SliceId(usize_to_u32(*i))) == row;
    let at = from.0 as usize;
    let found = match to {
        Neighbour::Next => (at + 1..range.end).find(on_row),
        Neighbour::Previous => (range.start..at).rev().find(on_row),
    };
    found.map(|i| SliceRef(usize_to_u32(i)))
}

/// Slices whose name contains a text, in order of time.
pub fn search(profile: &Profile, tracks: &ViewTracks, text: &str, limit: u32) -> SearchHits {
    let found = NameSearch::new(profile, text);
    let spans: Vec<SliceLink> = tracks
        .asyncs()
        .iter()
        .filter(|(_, span)| !text.is_empty() && contains_ignoring_case(profile.str(span.name), text))
        .filter_map(|(id, _)| async_link(profile, tracks, SliceRef(async_ref(profile, id)), id))
        .collect();
    let total = (found.hits().len() + spans.len()) as u64;
    let mut hits: Vec<SliceLink> =
        found.hits().iter().take(limit as usize).map(|id| link(profile, tracks, *id)).collect();
    if !spans.is_empty() {
        hits.extend(spans);
        hits.order_by_key(|h| (h.start_ns, h.slice));
        hits.truncate(limit as usize);
    }
    SearchHits { text: text.to_owned(), by: None, total, hits }
}

/// A slice as a search hit to jump to.
pub fn link(profile: &Profile, tracks: &ViewTracks, id: SliceId) -> SliceLink {
    let slices = profile.slices();
    SliceLink {
        slice: SliceRef(id.0),
        track: tracks.view_of(slices.track(id)),
        row: slices.depth(id),
        title: profile.str(slices.name(id)).to_owned(),
        start_ns: slices.start(id).0,
        duration_ns: slices.dur_ns(id).max(0).unsigned_abs(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::outline::{TrackContent, instant_ref};
    use super::*;
    use ns_base::Diagnostics;
    use ns_profile::{ArgsId, ProfileBuilder};

    #[test]
    fn an_instant_says_on_which_track_it_is() {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", "host");
        let (quiet, busy) = (b.thread(p, "1", "quiet"), b.thread(p, "2", "busy"));
        b.slice(quiet, 0, 10, "work", "", None);
        b.slice(busy, 0, 10, "work", "", None);
        let name = b.intern("mark");
        b.instant(busy, 5, b'i', b't', name, ns_base::StrId::EMPTY, ArgsId::NONE);
        let profile = b.finish(Diagnostics::new());
        let tracks = ViewTracks::of(&profile);
        let instant = SliceRef(instant_ref(&profile, InstantId(0)));
        let details = slice_details(&profile, &tracks, &FlowIndex::default(), instant).expect("is there");
        assert_eq!((details.link.title.as_str(), details.link.start_ns), ("mark", 5));
        assert_eq!(tracks.content_of(details.link.track), Some(TrackContent::Instants(busy)));
        let slice = slice_details(&profile, &tracks, &FlowIndex::default(), SliceRef(1)).expect("is there");
        assert_eq!(tracks.content_of(slice.link.track), Some(TrackContent::Slices(busy)));
    }
}
