//! The effect of each action.

use super::action::{ProfileAction, ShownAnswer};
use super::open_run::OpenRun;
use super::state::{Opens, ProfileState};
use crate::file_queue::reading_label;
use crate::{RunState, Shared};
use ns_session::ProfileSpec;
use ns_view::timeline::SliceRef;

impl<Worker: Clone + PartialEq> ProfileState<Worker> {
    /// The page after an action.
    pub fn after(&self, action: ProfileAction<Worker>) -> Self {
        use ProfileAction as A;
        let mut next = self.clone();
        match action {
            A::Load(link) => next.load(*link),
            A::LoadView(link) => next.load_view(*link),
            A::WantRun { is_first } => next.want_run(is_first),
            A::Revisit(link) => next.revisit(*link),
            A::Edit(spec) => next.edit(spec),
            A::RunAsked(spec) => next.ask(spec),
            A::Start(wish, label) => next.start(wish, &label),
            A::Progress(run) if next.run.is_running() => next.run = run,
            A::Progress(_) => {}
            A::Ready(arrived) => next.add(arrived),
            A::ReadyBeside(arrived) => next.add_beside(arrived),
            A::End(run) => next.end(run),
            A::NoFile => next.wants_file = false,
            A::FileGiven(name) => next.expect_file(name),
            A::ModelGiven(name) => {
                next.run = RunState::started(&reading_label(&name));
                next.expect_file(name);
            }
            A::ModelOpened(name, opened) => next.take_model(&name, opened),
            A::TraceAsked => next.opens = Some(Opens::Timeline),
            A::Show(id) => next.change_run(id),
            A::Close(id) => next.close(id),
            A::Tool(tool) => next.change_tool(tool),
            A::Span(span) => next.link.span = span,
            A::Select(slice) => next.select(slice),
            A::Answer(id, answer) if self.current == Some(id) => next.take(*answer),
            A::Answer(..) => {}
            A::Search(search) => next.search(search),
            A::NextHit(forward) => next.go_to_hit(forward),
            A::ToggleSection(section) => next.link.arrangement.toggle_section(section),
            A::Arrange(arrangement) => next.link.arrangement = arrangement,
            A::Annotate(span, label) => next.annotate(span, label),
            A::Annotations(all) => next.link.annotations = all,
            A::Area(area) => next.link.area = area,
            A::NoFlows => next.flows = None,
            A::Sort(sort) => next.link.sort = Some(sort),
            A::Core(core) => next.link.core = core,
            A::InView(in_view) => next.link.in_view = in_view,
            A::Operators(id, range, table) => next.with_run(id, |run| {
                run.operators.insert(table.kind, (range, Shared::new(table)));
            }),
            A::Ask(query) => next.link.ask = query,
            A::GroupBy(by) => next.group_by(by),
            A::Level(level) => next.change_level(level),
            A::ShowTrack(id) => next.show_track(id),
            A::TrackShown => next.track = None,
            A::Highlight(kind, name) => next.highlight(kind, name),
            A::Adjust(setting) => setting.put(&mut next.link),
            A::Jump(link) => next.jump(&link),
            A::ShowSpan(span, slice) => next.show_span(span, slice),
        }
        next
    }

    fn with_run(&mut self, id: u32, change: impl FnOnce(&mut OpenRun<Worker>)) {
        if let Some(run) = self.runs.iter_mut().find(|r| r.id == id) {
            change(run);
        }
    }

    /// Takes an answer about the shown run, unless it answers what is not asked any more.
    fn take(&mut self, answer: ShownAnswer) {
        let is_selected = |slice: SliceRef| self.link.selected == Some(slice.0);
        match answer {
            ShownAnswer::Details(slice, details) if is_selected(slice) => self.know(details),
            ShownAnswer::Neighbour(from, details) if is_selected(from) => self.know(Some(details)),
            ShownAnswer::Details(..) | ShownAnswer::Neighbour(..) => {}
            ShownAnswer::Located(details) => {
                self.jump(&details.link);
                self.details = Some(details);
            }
            ShownAnswer::Hits(hits) if self.asks_for(&hits) => self.know_hits(hits),
            ShownAnswer::Hits(_) => {}
            ShownAnswer::Flows(flows) => self.flows = Some(Shared::new(flows)),
        }
    }

    /// Until something is shown, the address is that of the form.
    fn edit(&mut self, spec: ProfileSpec) {
        if self.current.is_none() && !self.run.is_running() {
            (self.link.spec, self.link.file) = (spec.clone(), None);
        }
        self.draft = spec;
    }

    fn start(&mut self, wish: Option<u32>, label: &str) {
        self.run = RunState::started(label);
        self.run_wish = wish.unwrap_or(self.wish);
        (self.wants_run, self.wants_file) = (false, false);
    }

    /// The run that the user stopped leaves what was shown before it; one that failed leaves its error.
    fn end(&mut self, run: RunState) {
        self.opens = None;
        if !self.run.is_running() || self.run_wish == self.wish {
            (self.wants_run, self.wants_file) = (false, false);
            if let Some(id) = self.current.filter(|_| self.is_awaited && run == RunState::Cancelled) {
                self.show(id);
            }
        }
        self.run = run;
    }
}
