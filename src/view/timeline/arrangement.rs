//! The user's arrangement of the tracks: which ones are collapsed, pinned, hidden or folded to one row, and their order.

use ns_base::Order;
use std::collections::BTreeSet;

use super::{Outline, Section, Track, TrackId};

/// An arrangement; the default shows everything in the order of the profile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arrangement {
    /// Sections collapsed to their bar, by position in the outline.
    pub collapsed: BTreeSet<usize>,
    /// Pinned tracks, above all sections, from top to bottom.
    pub pinned: Vec<TrackId>,
    pub hidden: BTreeSet<TrackId>,
    /// Folded tracks, which show only their first row.
    pub folded: BTreeSet<TrackId>,
    /// Tracks of reordered sections, from top to bottom; others keep the order of the profile.
    pub order: Vec<TrackId>,
}

impl Arrangement {
    /// The tracks of a section in their current order, with their position in the outline; without hidden and pinned tracks.
    pub fn tracks_of<'o>(&self, section: &'o Section) -> Vec<(usize, &'o Track)> {
        let is_visible = |t: &Track| !self.hidden.contains(&t.id) && !self.pinned.contains(&t.id);
        let mut tracks: Vec<_> = section.tracks.iter().enumerate().filter(|(_, t)| is_visible(t)).collect();
        if !self.order.is_empty() {
            // A stable sort: tracks without a place stay in order behind those with one.
            tracks.order_by_key(|(_, t)| self.order.iter().position(|id| *id == t.id).unwrap_or(usize::MAX));
        }
        tracks
    }

    /// Pins a track above all sections, or puts it back.
    pub fn toggle_pin(&mut self, id: TrackId) {
        if let Some(at) = self.pinned.iter().position(|p| *p == id) {
            self.pinned.remove(at);
        } else {
            self.pinned.push(id);
            self.hidden.remove(&id);
        }
    }

    /// Hides a track, or shows it again.
    pub fn toggle_hidden(&mut self, id: TrackId) {
        if !self.hidden.remove(&id) {
            self.hidden.insert(id);
            self.pinned.retain(|p| *p != id);
        }
    }

    /// Folds a track to one row, or opens it.
    pub fn toggle_fold(&mut self, id: TrackId) {
        if !self.folded.remove(&id) {
            self.folded.insert(id);
        }
    }

    /// Collapses a section to its bar, or opens it.
    pub fn toggle_section(&mut self, section: usize) {
        if !self.collapsed.remove(&section) {
            self.collapsed.insert(section);
        }
    }

    /// Shows a track of this section if it is hidden, by itself or with its section.
    pub fn uncover(&mut self, section: Option<usize>, id: TrackId) {
        self.hidden.remove(&id);
        if let Some(section) = section.filter(|_| !self.pinned.contains(&id)) {
            self.collapsed.remove(&section);
        }
    }

    /// Moves a track to the place of another one: among pinned tracks it becomes pinned, otherwise it moves within its section. It
    /// cannot move to another section.
    pub fn move_to(&mut self, outline: &Outline, id: TrackId, place: TrackId) {
        if id == place {
            return;
        }
        if let Some(to) = self.pinned.iter().position(|p| *p == place) {
            self.pinned.retain(|p| *p != id);
            self.pinned.insert(to.min(self.pinned.len()), id);
            self.hidden.remove(&id);
            return;
        }
        let Some((section, _)) = outline.find(place) else { return };
        if section.tracks.iter().all(|t| t.id != id) {
            return;
        }
        // A track that is dragged from the pinned ones returns to its section first, and then moves.
        self.pinned.retain(|p| *p != id);
        let mut now: Vec<TrackId> = self.tracks_of(section).iter().map(|(_, t)| t.id).collect();
        let (Some(from), Some(to)) = (at(&now, id), at(&now, place)) else { return };
        let moved = now.remove(from);
        now.insert(to, moved);
        self.keep_order(section, now);
    }

    fn keep_order(&mut self, section: &Section, now: Vec<TrackId>) {
        self.order.retain(|t| section.tracks.iter().all(|s| s.id != *t));
        self.order.extend(now);
    }

    /// Moves a track one place up or down among its neighbours.
    pub fn shift(&mut self, outline: &Outline, id: TrackId, down: bool) {
        if let Some(at) = self.pinned.iter().position(|p| *p == id) {
            swap(&mut self.pinned, at, down);
            return;
        }
        let Some((section, _)) = outline.find(id) else { return };
        let mut now: Vec<TrackId> = self.tracks_of(section).iter().map(|(_, t)| t.id).collect();
        let Some(at) = at(&now, id) else { return };
        swap(&mut now, at, down);
        self.keep_order(section, now);
    }

    /// Whether it is the default arrangement of the profile.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

fn at(list: &[TrackId], id: TrackId) -> Option<usize> {
    list.iter().position(|t| *t == id)
}

fn swap(list: &mut [TrackId], at: usize, down: bool) {
    let with = if down { at + 1 } else { at.wrapping_sub(1) };
    if with < list.len() {
        list.swap(at, with);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Layout, Metrics, sample};
    use super::*;

    fn visible_tracks(arrangement: &Arrangement) -> Vec<u32> {
        let layout = Layout::new(&sample::outline(), arrangement, &Metrics::default());
        layout.tracks_between(-1.0, 1e9).iter().map(|t| t.0).collect()
    }

    #[test]
    fn pinned_tracks_stand_on_top_once_and_hidden_ones_nowhere() {
        let mut a = Arrangement::default();
        assert_eq!(visible_tracks(&a), (1..=12).collect::<Vec<_>>());
        a.toggle_pin(TrackId(12));
        a.toggle_pin(TrackId(3));
        a.toggle_hidden(TrackId(1));
        assert_eq!(visible_tracks(&a), [12, 3, 2, 4, 5, 6, 7, 8, 9, 10, 11]);
        a.shift(&sample::outline(), TrackId(3), false);
        a.toggle_hidden(TrackId(12));
        assert_eq!(visible_tracks(&a), [3, 2, 4, 5, 6, 7, 8, 9, 10, 11]);
        a.toggle_pin(TrackId(3));
        a.toggle_hidden(TrackId(1));
        a.toggle_hidden(TrackId(12));
        assert_eq!(visible_tracks(&a), (1..=12).collect::<Vec<_>>());
    }

    #[test]
    fn tracks_move_within_their_section_and_stop_at_its_ends() {
        let (mut a, outline) = (Arrangement::default(), sample::outline());
        a.shift(&outline, TrackId(1), true);
        a.shift(&outline, TrackId(5), false);
        assert_eq!(visible_tracks(&a), [2, 1, 3, 5, 4, 6, 7, 8, 9, 10, 11, 12]);
        a.shift(&outline, TrackId(2), false);
        a.shift(&outline, TrackId(3), true);
        assert_eq!(visible_tracks(&a)[..3], [2, 1, 3]);
    }

    #[test]
    fn a_dragged_track_takes_the_place_it_is_dropped_at() {
        let (mut a, outline) = (Arrangement::default(), sample::outline());
        a.move_to(&outline, TrackId(1), TrackId(3));
        assert_eq!(visible_tracks(&a)[..4], [2, 3, 1, 4]);
        a.move_to(&outline, TrackId(1), TrackId(2));
        assert_eq!(visible_tracks(&a)[..4], [1, 2, 3, 4]);
        // A track cannot move to another section.
        a.move_to(&outline, TrackId(1), TrackId(12));
        assert_eq!(visible_tracks(&a), (1..=12).collect::<Vec<_>>());
        a.toggle_pin(TrackId(12));
        a.move_to(&outline, TrackId(2), TrackId(12));
        assert_eq!(
            (a.pinned.clone(), visible_tracks(&a)[..4].to_vec()),
            (vec![TrackId(2), TrackId(12)], vec![2, 12, 1, 3])
        );
        a.move_to(&outline, TrackId(2), TrackId(1));
        assert_eq!((a.pinned.clone(), visible_tracks(&a)[..4].to_vec()), (vec![TrackId(12)], vec![12, 2, 1, 3]));
    }

    #[test]
    fn a_searched_track_is_visible() {
        let (mut a, outline) = (Arrangement::default(), sample::outline());
        a.toggle_hidden(TrackId(1));
        a.toggle_section(0);
        a.uncover(outline.section_of(TrackId(1)), TrackId(1));
        assert!(a.is_default());
    }

    #[test]
    fn a_folded_track_is_one_row_high() {
        let mut a = Arrangement::default();
        let height = |a: &Arrangement| Layout::new(&sample::outline(), a, &Metrics::default()).height();
        let before = height(&a);
        a.toggle_fold(TrackId(4));
        assert_eq!(before - height(&a), 2.0 * Metrics::default().row);
    }
}
