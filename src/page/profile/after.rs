//! The effect of each action.

use super::action::ProfileAction;
use super::open_run::OpenRun;
use super::state::{Opens, ProfileState};
use crate::page::{RunState, Shared};

impl<Worker: Clone + PartialEq> ProfileState<Worker> {
    /// The page after an action.
    #[must_use]
    pub fn after(&self, action: ProfileAction<Worker>) -> Self {
        use ProfileAction as A;
        let mut next = self.clone();
        match action {
            A::Load(link) => next.load(*link),
            A::WantRun { is_first } => next.want_run(is_first),
            A::Revisit(link) => next.revisit(*link),
            A::Edit(spec) => next.link.spec = spec,
            A::Start(label) => next.start(&label),
            A::Progress(run) if next.run.is_running() => next.run = run,
            A::Progress(_) => {}
            A::Ready(arrived) => next.add(arrived),
            A::ReadyBeside(arrived) => next.add_beside(arrived),
            A::End(run) => next.end(run),
            A::NoFile => next.wants_file = false,
            A::FileGiven(name) => next.expect_file(name),
            A::TraceAsked => next.opens = Some(Opens::Timeline),
            A::Show(id) => next.change_run(id),
            A::Close(id) => next.close(id),
            A::Tool(tool) => next.change_tool(tool),
            A::Span(span) => next.link.span = span,
            A::Select(slice) => next.select(slice),
            A::Details(details) => next.know(details),
            A::Search(search) => next.search(search),
            A::Hits(hits) if next.asks_for(&hits) => next.hits = Some(Shared::new(hits)),
            A::Hits(_) => {}
            A::ToggleSection(section) => next.link.arrangement.toggle_section(section),
            A::Arrange(arrangement) => next.link.arrangement = arrangement,
            A::Annotate(span, label) => next.annotate(span, label),
            A::Annotations(all) => next.link.annotations = all,
            A::Area(area) => next.area = area,
            A::Flows(flows) => next.flows = flows.map(Shared::new),
            A::Sort(sort) => next.link.sort = Some(sort),
            A::Core(core) => next.link.core = core,
            A::InView(in_view) => next.link.in_view = in_view,
            A::Operators(id, range, table) => next.with_run(id, |run| {
                run.operators.insert(table.kind, (range, Shared::new(table)));
            }),
            A::Insights(id, insights) => {
                next.with_run(id, |run| run.insights = Some(insights.map(|i| Shared::new(*i))))
            }
            A::Ask(query) => next.link.ask = query,
            A::GroupBy(by) => (next.link.group_by, next.link.group) = (by, None),
            A::Level(level) => next.change_level(level),
            A::ShowTrack(id) => next.show_track(id),
            A::TrackShown => next.track = None,
            A::Highlight(kind, name) => next.highlight(kind, name),
            A::Adjust(change) => change(&mut next.link),
            A::Jump(link) => next.jump(&link),
            A::ShowSpan(span, slice) => next.show_span(span, slice),
            A::GoTo(details) => {
                next.jump(&details.link);
                next.details = Some(details);
            }
        }
        next
    }

    fn with_run(&mut self, id: u32, change: impl FnOnce(&mut OpenRun<Worker>)) {
        if let Some(run) = self.runs.iter_mut().find(|r| r.id == id) {
            change(run);
        }
    }

    fn start(&mut self, label: &str) {
        self.run = RunState::started(label);
        (self.wants_run, self.wants_file) = (false, false);
    }

    fn end(&mut self, run: RunState) {
        self.run = run;
        self.opens = None;
        (self.wants_run, self.wants_file) = (false, false);
    }
}
