//! Changes of the view of the shown run: tools, the timeline, the selection and the search.

use super::open_run::OpenRun;
use super::state::ProfileState;
use crate::{RunState, Shared};
use ns_analysis::GroupBy;
use ns_base::{Interval, Order, TraceNs};
use ns_session::SearchHits;
use ns_session::share::Tool;
use ns_view::timeline::{Annotation, GroupKind, SliceDetails, SliceLink, SliceRef, TrackId, is_plain_in, next_label};

impl<Worker: Clone + PartialEq> ProfileState<Worker> {
    /// The tool that shows the timeline of the shown run.
    fn timeline_tool(&self) -> Tool {
        if self.current_run().is_some_and(OpenRun::is_trace) { Tool::Trace } else { Tool::OperatorTimeline }
    }

    /// Whoever asks for a view has read why a run or a file failed.
    pub(super) fn forget_failure(&mut self) {
        if matches!(self.run, RunState::Failed(_)) {
            self.run = RunState::Idle;
        }
    }

    pub(super) fn change_tool(&mut self, tool: Tool) {
        self.forget_failure();
        // A group of engines is not a group of all slices.
        if (self.link.tool == Tool::OperatorEngine) != (tool == Tool::OperatorEngine) {
            self.link.group = None;
        }
        self.link.tool = tool;
        self.link.sort = None;
        self.link.find.clear();
    }

    /// Groups the slices of the shown tool; the engines and all other slices are grouped apart.
    pub(super) fn group_by(&mut self, by: GroupBy) {
        match self.link.tool {
            Tool::OperatorEngine => self.link.engines_by = Some(by),
            _ => self.link.group_by = by,
        }
        self.link.group = None;
    }

    pub(super) fn change_level(&mut self, level: Option<String>) {
        (self.link.level, self.link.group) = (level, None);
        self.link.flame.stack.clear();
    }

    pub(super) fn select(&mut self, slice: Option<SliceRef>) {
        self.link.selected = slice.map(|s| s.0);
        if slice.is_none() {
            self.details = None;
        }
    }

    /// Selects the slice with these details; `None` clears the selection.
    pub(super) fn know(&mut self, details: Option<Shared<SliceDetails>>) {
        self.link.selected = details.as_ref().map(|d| d.link.slice.0);
        self.details = details;
    }

    pub(super) fn search(&mut self, search: String) {
        if search.is_empty() {
            self.hits = None;
        }
        self.link.search = search;
        self.link.search_by = None;
        self.wanted_hit = None;
    }

    pub(super) fn know_hits(&mut self, hits: SearchHits) {
        self.hits = Some(Shared::new(hits));
        if let Some((run, forward)) = self.wanted_hit.take()
            && run == self.current
        {
            self.go_to_hit(forward);
        }
    }

    /// Position of the selected slice among hits.
    pub fn position_of_hit(&self, hits: &SearchHits) -> Option<usize> {
        let selected = self.link.selected?;
        hits.hits.iter().position(|hit| hit.slice.0 == selected)
    }

    /// Selects the hit after the selected one, or before it; without one, the first or the last.
    pub(super) fn go_to_hit(&mut self, forward: bool) {
        let Some(hits) = self.hits.clone().filter(|hits| self.asks_for(hits)) else {
            // Enter is often faster than the search.
            self.wanted_hit = (!self.link.search.is_empty()).then_some((self.current, forward));
            return;
        };
        let count = hits.hits.len();
        let to = match (self.position_of_hit(&hits), forward) {
            (None, true) => 0,
            (None, false) => count.saturating_sub(1),
            (Some(at), true) => (at + 1) % count,
            (Some(at), false) => (at + count - 1) % count,
        };
        let Some(hit) = hits.hits.get(to) else { return };
        // A hit that is visible and wide enough does not move the view.
        let all = self.current_run().map(|run| run.info.outline.span);
        match self.link.span.or(all).is_some_and(|seen| is_plain_in(seen, hit)) {
            true => self.select(Some(hit.slice)),
            false => self.jump(hit),
        }
    }

    /// Whether these are the hits of the search that is in the field now.
    pub(super) fn asks_for(&self, hits: &SearchHits) -> bool {
        hits.text == self.link.search && hits.by == self.link.search_by
    }

    pub(super) fn annotate(&mut self, span: Interval<TraceNs>, label: Option<String>) {
        let label = label.unwrap_or_else(|| next_label(&self.link.annotations));
        let new = Annotation { start_ns: span.start.0, end_ns: span.end.0, label };
        self.link.annotations.push(new);
        self.link.annotations.order_by_key(|a| (a.start_ns, a.end_ns));
    }

    pub(super) fn show_track(&mut self, id: TrackId) {
        self.link.tool = self.timeline_tool();
        let section = self.current_run().and_then(|run| run.info.outline.section_of(id));
        self.link.arrangement.uncover(section, id);
        self.track = Some(id);
    }

    pub(super) fn highlight(&mut self, kind: GroupKind, name: String) {
        self.link.tool = self.timeline_tool();
        // The same search has its hits already, so they are not requested again.
        if self.link.search != name || self.link.search_by.as_ref() != Some(&kind) {
            self.hits = None;
        }
        self.link.search = name;
        self.link.search_by = Some(kind);
    }

    pub(super) fn jump(&mut self, link: &SliceLink) {
        self.link.tool = self.timeline_tool();
        self.link.span = Some(around(link));
        self.link.selected = Some(link.slice.0);
    }

    pub(super) fn show_span(&mut self, span: Interval<TraceNs>, slice: Option<SliceRef>) {
        self.link.tool = self.timeline_tool();
        let room = (span.end.0.saturating_sub(span.start.0) / 2).max(5);
        let (from, to) = (span.start.0.saturating_sub(room), span.end.0.saturating_add(room));
        self.link.span = Some(Interval::new(TraceNs(from), TraceNs(to)));
        self.select(slice);
    }
}

/// A span that shows a slice with its surroundings: nine times its length.
fn around(link: &SliceLink) -> Interval<TraceNs> {
    let room = i64::try_from(link.duration_ns).unwrap_or(i64::MAX).max(5).saturating_mul(4);
    let end = link.start_ns.saturating_add_unsigned(link.duration_ns);
    Interval::new(TraceNs(link.start_ns.saturating_sub(room)), TraceNs(end.saturating_add(room)))
}
