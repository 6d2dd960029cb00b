//! Actions of the user on the timeline, and their effect on the page.

use web_sys::HtmlElement;
use yew::prelude::*;

use crate::context::AppContext;
use crate::pages::profile::queries::{ask_flows, step};
use crate::platform::page;
use crate::state::{ProfileAction, ProfileState, StateHandle};
use crate::timeline::{Change, Hover};
use ns_page::notices::{NoticeAction, Tone};
use ns_view::timeline::{Arrangement, Outline, TrackId};

/// The state that changes of the timeline act on.
pub(super) struct Changes {
    pub app: AppContext,
    pub state: StateHandle<ProfileState>,
    /// The slice under the pointer.
    pub hover: UseStateHandle<Option<Hover>>,
    /// Whether the list of keys is shown.
    pub help: UseStateHandle<bool>,
    /// Counts the changes that the table twin depends on.
    pub version: UseStateHandle<u32>,
    pub scroller: NodeRef,
}

impl Changes {
    /// Applies a change.
    pub fn take(&self, change: Change) {
        let state = &self.state;
        match change {
            Change::View(span, view) => {
                state.dispatch(ProfileAction::Span(span));
                self.version.set(*self.version + 1);
                if state.flows.is_some() {
                    ask_flows(&self.app, state, view.interval());
                }
            }
            Change::ToggleFold(track) => self.arrange(Some(track), |a, _, t| a.toggle_fold(t)),
            Change::Pin => self.arrange(self.selected_track(), |a, _, t| a.toggle_pin(t)),
            Change::Shift(down) => self.arrange(self.selected_track(), |a, outline, t| a.shift(outline, t, down)),
            Change::Move(track, to) => self.arrange(Some(track), |a, outline, t| a.move_to(outline, t, to)),
            Change::Hide => self.arrange(self.selected_track(), |a, _, t| a.toggle_hidden(t)),
            Change::Flow(forth) => self.follow(forth),
            Change::Annotate(span, is_of_slice) => {
                let details = state.details.as_ref().filter(|_| is_of_slice);
                let title = details.map(|d| d.link.title.replace([';', '~'], " "));
                state.dispatch(ProfileAction::Annotate(span, title));
            }
            Change::Area(area) => state.dispatch(ProfileAction::Area(area)),
            Change::Select(slice) => state.dispatch(ProfileAction::Select(slice)),
            Change::Step(to) => step(&self.app, state, to),
            Change::ToggleSection(section) => state.dispatch(ProfileAction::ToggleSection(section)),
            Change::Scroll(by) => {
                if let Some(element) = self.scroller.cast::<HtmlElement>() {
                    page::scroll_by(&element, libm::round(by));
                }
            }
            Change::Tile(_) => self.version.set(*self.version + 1),
            Change::Hover(next) => self.hover.set(next),
            Change::Help => self.help.set(!*self.help),
            Change::Failed(message) => self.app.notices.dispatch(NoticeAction::Say(Tone::Bad, message)),
        }
    }

    fn selected_track(&self) -> Option<TrackId> {
        self.state.details.as_ref().map(|d| d.link.track)
    }

    /// Changes how the tracks of the run that is shown are arranged.
    fn arrange(&self, track: Option<TrackId>, change: impl FnOnce(&mut Arrangement, &Outline, TrackId)) {
        if let (Some(track), Some(run)) = (track, self.state.current_run()) {
            let mut next = self.state.link.arrangement.clone();
            change(&mut next, &run.info.outline, track);
            self.state.dispatch(ProfileAction::Arrange(next));
        }
    }

    /// Follows the first arrow from the selected slice, or goes back along the first one that leads to it.
    fn follow(&self, forth: bool) {
        let Some(details) = &self.state.details else { return };
        let along = if forth { &details.successors } else { &details.predecessors };
        if let Some(to) = along.first() {
            self.state.dispatch(ProfileAction::Select(Some(to.slice)));
        }
    }
}
