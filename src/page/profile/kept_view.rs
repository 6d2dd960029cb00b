//! The last view of a run, kept while another run is shown.

use ns_base::{Interval, TraceNs};
use ns_session::share::{FlameLink, ProfileLink};
use ns_view::timeline::{Annotation, Area, Arrangement, GroupKind};

/// The view of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct KeptView {
    pub(super) span: Option<Interval<TraceNs>>,
    pub(super) in_view: bool,
    pub(super) selected: Option<u32>,
    pub(super) area: Option<Area>,
    pub(super) arrangement: Arrangement,
    pub(super) annotations: Vec<Annotation>,
    pub(super) core: Option<(u32, u32)>,
    pub(super) group: Option<String>,
    pub(super) flame: FlameLink,
    pub(super) counter: Option<String>,
    pub(super) search: String,
    pub(super) search_by: Option<GroupKind>,
}

impl KeptView {
    /// The view that a link holds.
    pub(super) fn of(link: &ProfileLink) -> Self {
        Self {
            span: link.span,
            in_view: link.in_view,
            selected: link.selected,
            area: link.area.clone(),
            arrangement: link.arrangement.clone(),
            annotations: link.annotations.clone(),
            core: link.core,
            group: link.group.clone(),
            flame: link.flame.clone(),
            counter: link.counter.clone(),
            search: link.search.clone(),
            search_by: link.search_by.clone(),
        }
    }

    pub(super) fn put_into(self, link: &mut ProfileLink) {
        link.span = self.span;
        link.in_view = self.in_view;
        link.selected = self.selected;
        link.area = self.area;
        link.arrangement = self.arrangement;
        link.annotations = self.annotations;
        link.core = self.core;
        link.group = self.group;
        link.flame = self.flame;
        link.counter = self.counter;
        link.search = self.search;
        link.search_by = self.search_by;
    }
}
