//! Tables of the effects of actions on the profile page.

use super::runs::MOST_FILES;
use super::state::Opens;
use super::{ProfileAction as A, ProfileArrival, ProfileState, ShownAnswer, ToolSetting, tool_name, tools_of};
use crate::{RunState, Shared};
use ns_analysis::{GroupBy, Instances};
use ns_base::{Interval, TraceNs};
use ns_profile::neuron::{ENGINES_PROCESS, TRACE_RUN_FORMAT};
use ns_session::share::{FlameView, ProfileLink, Tool};
use ns_session::{
    OperatorKind, OperatorTable, ProfileInfo, ProfileKey, ProfileOrigin, ProfileSpec, SearchHits, TraceSpec,
};
use ns_view::colours::Colours;
use ns_view::table::Sort;
use ns_view::timeline::{
    Annotation, Area, Arrangement, GroupKind, Outline, Section, SliceDetails, SliceLink, SliceRef, Track, TrackId,
    TrackKind,
};

/// A worker is a number here.
pub(super) type State = ProfileState<u32>;
pub(super) type Action = super::ProfileAction<u32>;

pub(super) fn info(name: &str, origin: ProfileOrigin) -> ProfileInfo {
    ProfileInfo {
        profile: ProfileKey(0),
        name: name.to_owned(),
        origin,
        events: 1,
        outline: Outline::default(),
        operators: vec![],
        levels: vec![],
        default_level: "all".to_owned(),
        is_stacks: false,
        colours: Colours::default(),
        facts: vec![],
        note_of_times: None,
        diagnostics: vec![],
        marks: vec![],
        also: vec![],
    }
}

pub(super) fn file(name: &str) -> ProfileInfo {
    info(name, ProfileOrigin::File { name: name.to_owned(), bytes: 1, format: "Chrome trace".to_owned() })
}

pub(super) fn spec(model: &str) -> ProfileSpec {
    ProfileSpec { model: model.to_owned(), ..ProfileSpec::default() }
}

pub(super) fn simulated(model: &str) -> ProfileInfo {
    info(model, ProfileOrigin::Simulated(spec(model)))
}

pub(super) fn benchmark(model: &str) -> ProfileInfo {
    info(model, ProfileOrigin::Benchmark(Box::new(TraceSpec::of(spec(model)))))
}

pub(super) fn arrived(info: ProfileInfo, engine: u32) -> ProfileArrival<u32> {
    ProfileArrival { info: Box::new(info), engine, run_name: "2026_1_1".to_owned() }
}

/// The page with these profiles, each in its own worker; the last is shown.
fn open(infos: impl IntoIterator<Item = ProfileInfo>) -> State {
    let come = |(state, engine): (State, u32), info| (state.after(A::Ready(arrived(info, engine))), engine + 1);
    infos.into_iter().fold((State::default(), 0), come).0
}

fn span(start: i64, end: i64) -> Interval<TraceNs> {
    Interval::new(TraceNs(start), TraceNs(end))
}

fn slice(number: u32) -> SliceLink {
    SliceLink {
        slice: SliceRef(number),
        track: TrackId(0),
        row: 0,
        title: "a".to_owned(),
        start_ns: 100,
        duration_ns: 10,
    }
}

fn details(number: u32) -> Shared<SliceDetails> {
    Shared::new(SliceDetails {
        link: slice(number),
        category: String::new(),
        self_ns: None,
        args: vec![],
        members: vec![],
        parents: vec![],
        predecessors: vec![],
        successors: vec![],
        notes: vec![],
    })
}

fn hits(text: &str, by: Option<GroupKind>) -> SearchHits {
    SearchHits { text: text.to_owned(), by, ..SearchHits::default() }
}

/// An answer about the shown run.
fn answer(state: &State, answer: ShownAnswer) -> Action {
    A::Answer(state.current.unwrap(), Box::new(answer))
}

fn answered(state: &State, message: ShownAnswer) -> State {
    state.after(answer(state, message))
}

/// Asserts that an action makes this change to a state and no other.
fn changes(before: &State, action: Action, change: impl FnOnce(&mut State)) {
    let mut expected = before.clone();
    change(&mut expected);
    assert_eq!(before.after(action), expected);
}

#[test]
fn what_actions_change_of_the_link() {
    let state = open([file("a.json")]);
    changes(&state, A::Edit(spec("mlp")), |s| s.draft = spec("mlp"));
    changes(&state, A::Span(Some(span(1, 2))), |s| s.link.span = Some(span(1, 2)));
    changes(&state, A::Arrange(Arrangement::default()), |_| {});
    changes(&state, A::ToggleSection(3), |s| s.link.arrangement.toggle_section(3));
    let sort = Sort { column: "name".to_owned(), descending: true };
    changes(&state, A::Sort(sort.clone()), |s| s.link.sort = Some(sort));
    changes(&state, A::Core(Some((1, 2))), |s| s.link.core = Some((1, 2)));
    changes(&state, A::InView(true), |s| s.link.in_view = true);
    changes(&state, A::Ask("top 5".to_owned()), |s| s.link.ask = "top 5".to_owned());
    changes(&state, A::Adjust(ToolSetting::Counter(Some("x".to_owned()))), |s| {
        s.link.counter = Some("x".to_owned());
    });
    // A node of the flame graph is the root of the view, or the name of the sandwich.
    let zoom = || A::Adjust(ToolSetting::FlameZoom(vec!["a".to_owned(), "b".to_owned()]));
    changes(&state, zoom(), |s| s.link.flame.stack = vec!["a".to_owned(), "b".to_owned()]);
    let sandwich = state.after(zoom()).after(A::Adjust(ToolSetting::FlameView(FlameView::Sandwich)));
    assert!(sandwich.link.flame.stack.is_empty());
    changes(&sandwich, zoom(), |s| s.link.flame.name = "b".to_owned());
    let mark = |label: &str, at| Annotation { start_ns: at, end_ns: at, label: label.to_owned() };
    changes(&state, A::Annotations(vec![mark("A", 5)]), |s| s.link.annotations = vec![mark("A", 5)]);
    // Marks are in order of time, and those without a label get the next letter.
    let marked = state.after(A::Annotate(span(9, 9), None)).after(A::Annotate(span(5, 5), None));
    assert_eq!(marked.link.annotations, [mark("B", 5), mark("A", 9)]);
    changes(&marked, A::Annotate(span(7, 7), Some("mine".to_owned())), |s| {
        s.link.annotations = vec![mark("B", 5), mark("mine", 7), mark("A", 9)];
    });
}

#[test]
fn a_group_belongs_to_what_it_is_grouped_by_and_to_its_level() {
    let mut state = open([file("a.json")]);
    state.link.group = Some("x".to_owned());
    state.link.flame.stack = vec!["y".to_owned()];
    changes(&state, A::GroupBy(GroupBy::Thread), |s| (s.link.group_by, s.link.group) = (GroupBy::Thread, None));
    changes(&state, A::Level(Some("op".to_owned())), |s| {
        (s.link.level, s.link.group) = (Some("op".to_owned()), None);
        s.link.flame.stack.clear();
    });
}

#[test]
fn all_tools_count_names_alike_and_what_was_chosen_by_another_name_is_given_up() {
    let mut state = open([file("a.json")]);
    state.link.group = Some("f".to_owned());
    state.link.flame.stack = vec!["f".to_owned()];
    let action = A::Adjust(ToolSetting::Instances(Instances::Each));
    changes(&state, action, |s| {
        (s.link.instances, s.link.group) = (Instances::Each, None);
        s.link.flame.stack.clear();
    });
    let each = state.after(A::Adjust(ToolSetting::Instances(Instances::Each)));
    assert_eq!(each.after(A::Tool(Tool::FlameGraph)).link.instances, Instances::Each);
}

#[test]
fn a_search_in_a_table_leaves_that_of_the_timeline() {
    let mut state = open([file("a.json")]);
    state.link.search = "dgrad".to_owned();
    let look = ToolSetting::TableLook { sort: None, find: "mm".to_owned() };
    changes(&state, A::Adjust(look), |s| s.link.find = "mm".to_owned());
}

#[test]
fn another_tool_begins_without_sort_and_search() {
    let mut state = open([file("a.json")]);
    state.link.sort = Some(Sort { column: "name".to_owned(), descending: true });
    state.link.find = "x".to_owned();
    state.link.group = Some("x".to_owned());
    changes(&state, A::Tool(Tool::Statistics), |s| {
        (s.link.tool, s.link.sort) = (Tool::Statistics, None);
        s.link.find.clear();
    });
    changes(&state, A::Tool(Tool::OperatorEngine), |s| {
        (s.link.tool, s.link.sort) = (Tool::OperatorEngine, None);
        s.link.find.clear();
        s.link.group = None;
    });
}

#[test]
fn engines_and_all_slices_are_grouped_apart() {
    let state = open([file("a.json")]);
    let engines = state.after(A::Tool(Tool::OperatorEngine));
    assert_eq!(engines.link.grouping(), GroupBy::Thread);
    let statistics = engines.after(A::Tool(Tool::Statistics));
    assert_eq!(
        (statistics.link.grouping(), statistics.hash()),
        (GroupBy::Name, state.after(A::Tool(Tool::Statistics)).hash())
    );
    // Neither choice is the other's, whatever is shown between.
    let both = engines.after(A::GroupBy(GroupBy::Category)).after(A::Jump(slice(7))).after(A::Tool(Tool::Statistics));
    let both = both.after(A::GroupBy(GroupBy::Module));
    assert_eq!(both.link.grouping(), GroupBy::Module);
    assert_eq!(both.after(A::Tool(Tool::OperatorEngine)).link.grouping(), GroupBy::Category);
}

#[test]
fn a_slice_is_selected_known_and_let_go() {
    let state = open([file("a.json")]).after(A::Select(Some(SliceRef(7))));
    let known = details(7);
    let selected = answered(&state, ShownAnswer::Details(SliceRef(7), Some(known.clone())));
    assert_eq!((selected.link.selected, &selected.details), (Some(7), &Some(known.clone())));
    changes(&selected, A::Select(Some(SliceRef(8))), |s| s.link.selected = Some(8));
    changes(&selected, A::Select(None), |s| (s.link.selected, s.details) = (None, None));
    changes(&selected, answer(&selected, ShownAnswer::Details(SliceRef(7), None)), |s| {
        (s.link.selected, s.details) = (None, None)
    });
    changes(&selected, A::Area(Some(Area { span: span(0, 1), tracks: vec![] })), |s| {
        s.link.area = Some(Area { span: span(0, 1), tracks: vec![] });
    });
    let arrows = answered(&selected, ShownAnswer::Flows(super::Flows { arrows: vec![], total: 3 }));
    assert_eq!(arrows.flows.as_ref().map(|f| f.total), Some(3));
    changes(&arrows, A::NoFlows, |s| s.flows = None);
}

#[test]
fn answers_that_come_late_change_nothing() {
    let first = open([file("a.json")]).after(A::Select(Some(SliceRef(7))));
    let known = answered(&first, ShownAnswer::Details(SliceRef(7), Some(details(7))));
    // The user went to the next slice and back before its details came.
    let back = known.after(A::Select(Some(SliceRef(8)))).after(A::Select(Some(SliceRef(7))));
    changes(&back, answer(&back, ShownAnswer::Details(SliceRef(8), Some(details(8)))), |_| {});
    changes(&back, answer(&back, ShownAnswer::Details(SliceRef(8), None)), |_| {});
    changes(&back, answer(&back, ShownAnswer::Neighbour(SliceRef(8), details(9))), |_| {});
    let beside = details(6);
    changes(&back, answer(&back, ShownAnswer::Neighbour(SliceRef(7), beside.clone())), |s| {
        (s.link.selected, s.details) = (Some(6), Some(beside));
    });
    // Another profile is shown now, in which the numbers are those of other slices.
    let both = open([file("a.json"), file("b.json")]).after(A::Search("ab".to_owned()));
    let of_first = both.runs[0].id;
    for late in [
        ShownAnswer::Hits(hits("ab", None)),
        ShownAnswer::Flows(super::Flows { arrows: vec![], total: 3 }),
        ShownAnswer::Located(details(7)),
    ] {
        changes(&both, A::Answer(of_first, Box::new(late)), |_| {});
    }
}

#[test]
fn hits_are_of_the_search_that_is_in_the_field() {
    let group = GroupKind { by: GroupBy::Thread, level: None };
    let state = open([file("a.json")]).after(A::Search("ab".to_owned()));
    assert_eq!(state.link.search, "ab");
    changes(&state, answer(&state, ShownAnswer::Hits(hits("a", None))), |_| {});
    changes(&state, answer(&state, ShownAnswer::Hits(hits("ab", Some(group.clone())))), |_| {});
    let found = answered(&state, ShownAnswer::Hits(hits("ab", None)));
    assert!(found.hits.is_some());
    // Hits stay until others arrive, but not if the search is empty.
    changes(&found, A::Search("abc".to_owned()), |s| s.link.search = "abc".to_owned());
    changes(&found, A::Search(String::new()), |s| {
        s.hits = None;
        s.link.search.clear();
    });
    let grouped = found.after(A::Highlight(group.clone(), "ab".to_owned()));
    assert_eq!((&grouped.hits, &grouped.link.search_by), (&None, &Some(group.clone())));
    assert_eq!(grouped.link.tool, Tool::OperatorTimeline);
    let again = answered(&grouped, ShownAnswer::Hits(hits("ab", Some(group.clone()))));
    changes(&again, A::Highlight(group, "ab".to_owned()), |_| {});
}

#[test]
fn enter_selects_the_first_hit_and_then_the_next_ones() {
    let state = open([file("a.json")]).after(A::Search("ab".to_owned()));
    let found = |numbers: &[u32]| {
        let hits: Vec<_> = numbers.iter().map(|n| slice(*n)).collect();
        ShownAnswer::Hits(SearchHits { text: "ab".to_owned(), total: hits.len() as u64, hits, by: None })
    };
    let next = |state: &State| state.after(A::NextHit(true));
    let known = answered(&state, found(&[3, 5, 8]));
    assert_eq!(known.link.selected, None);
    let walk = [true, true, true, true, false, false].into_iter().scan(known.clone(), |state, forward| {
        *state = state.after(A::NextHit(forward));
        state.link.selected
    });
    assert_eq!(walk.collect::<Vec<_>>(), [3, 5, 8, 3, 8, 5]);
    assert_eq!(known.after(A::NextHit(false)).link.selected, Some(8));
    // Enter before the hits are there selects the first one as they come, once.
    let early = answered(&next(&state), found(&[3, 5]));
    assert_eq!((early.link.selected, early.wanted_hit), (Some(3), None));
    assert_eq!(next(&early).link.selected, Some(5));
    // Hits of the text before the last letter are not hits of this text.
    let longer = next(&known.after(A::Search("abc".to_owned())));
    assert_eq!(longer.link.selected, None);
    let other = longer.after(A::Search("abcd".to_owned()));
    assert_eq!(other.wanted_hit, None);
    changes(&answered(&state, found(&[])), A::NextHit(true), |_| {});
    changes(&open([file("a.json")]), A::NextHit(true), |_| {});
}

#[test]
fn what_is_shown_on_the_timeline_has_room_around_it() {
    let state = open([file("a.json")]);
    let jumped = |s: &mut State| {
        (s.link.tool, s.link.span, s.link.selected) = (Tool::OperatorTimeline, Some(span(60, 150)), Some(7));
    };
    changes(&state, A::Jump(slice(7)), jumped);
    let known = details(7);
    changes(&state, answer(&state, ShownAnswer::Located(known.clone())), |s| {
        jumped(s);
        s.details = Some(known);
    });
    changes(&state, A::ShowSpan(span(100, 200), Some(SliceRef(3))), |s| {
        (s.link.tool, s.link.span, s.link.selected) = (Tool::OperatorTimeline, Some(span(50, 250)), Some(3));
    });
    // At the limits of time there is no room for a margin; this is not an error.
    let long = state.after(A::ShowSpan(span(i64::MIN, i64::MAX), None));
    assert_eq!((long.link.span, long.link.selected), (Some(span(i64::MIN, i64::MAX)), None));
    let trace = open([info(
        "run",
        ProfileOrigin::File { name: "run".to_owned(), bytes: 1, format: TRACE_RUN_FORMAT.to_owned() },
    )]);
    assert_eq!(trace.after(A::Jump(slice(7))).link.tool, Tool::Trace);
    let track = state.after(A::ShowTrack(TrackId(4)));
    assert_eq!((track.track, track.link.tool), (Some(TrackId(4)), Tool::OperatorTimeline));
    changes(&track, A::TrackShown, |s| s.track = None);
}

#[test]
fn a_run_starts_goes_on_and_ends() {
    let mut state = open([file("a.json")]);
    (state.wants_run, state.wants_file) = (true, true);
    let started = |s: &mut State| {
        s.run = RunState::started("Reading");
        (s.wants_run, s.wants_file) = (false, false);
    };
    changes(&state, A::Start(None, "Reading".to_owned()), started);
    let running = state.after(A::Start(None, "Reading".to_owned()));
    let half = RunState::Running { done: 1, total: 2, label: "Reading".to_owned() };
    changes(&running, A::Progress(half.clone()), |s| s.run = half.clone());
    // A late message of a run that has ended has no effect.
    let ended = running.after(A::TraceAsked).after(A::End(RunState::Cancelled));
    assert_eq!((&ended.run, ended.opens), (&RunState::Cancelled, None));
    changes(&ended, A::Progress(half), |_| {});
    changes(&state, A::NoFile, |s| s.wants_file = false);
    changes(&state, A::TraceAsked, |s| s.opens = Some(Opens::Timeline));
}

#[test]
fn answers_about_a_run_are_kept_with_it() {
    let state = open([file("a.json"), file("b.json")]);
    let table =
        || OperatorTable { kind: OperatorKind::Slices, level: None, instances: Instances::Merged, rows: vec![] };
    let answered = state.after(A::Operators(0, Some(span(1, 2)), table()));
    assert_eq!(answered.runs[0].operators.get(&OperatorKind::Slices).unwrap().0, Some(span(1, 2)));
    assert!(answered.runs[1].operators.is_empty());
    changes(&state, A::Operators(9, None, table()), |_| {});
}

#[test]
fn a_file_opens_at_its_first_view_unless_a_link_says_how() {
    let given =
        |state: &State, name: &str| state.after(A::FileGiven(name.to_owned())).after(A::Start(None, String::new()));
    let plain = given(&State::default(), "a.json");
    assert_eq!(plain.opens, Some(Opens::FirstView));
    let stacks = ProfileInfo { is_stacks: true, ..file("a.json") };
    assert_eq!(plain.after(A::Ready(arrived(stacks, 0))).link.tool, Tool::FlameGraph);
    assert_eq!(plain.after(A::Ready(arrived(file("a.json"), 0))).link.tool, Tool::Overview);

    let link = ProfileLink {
        file: Some("a.json".to_owned()),
        tool: Tool::Statistics,
        span: Some(span(1, 2)),
        area: Some(Area { span: span(1, 2), tracks: vec![TrackId(1)] }),
        ..ProfileLink::default()
    };
    let linked = State::default().after(A::Load(Box::new(link.clone())));
    assert!(linked.wants_file && linked.link == link);
    let came = given(&linked, "a.json").after(A::Ready(arrived(file("a.json"), 0)));
    assert_eq!((came.link.tool, came.link.span, &came.run), (Tool::Statistics, Some(span(1, 2)), &RunState::Done));
    assert_eq!(came.link.area, link.area);
    assert!(came.hash().contains("area=1..2:1"), "{}", came.hash());
    // The area belongs to its profile.
    let other = came.after(A::Ready(arrived(file("b.json"), 1)));
    assert_eq!((other.link.area.as_ref(), other.after(A::Show(0)).link.area), (None, link.area.clone()));
    // During a comparison, the file is compared.
    let compared = open([file("a.json")]).after(A::Tool(Tool::Compare)).after(A::FileGiven("b.json".to_owned()));
    assert_eq!(compared.opens, None);
    // Opening the same link again does not ask again for the file.
    assert!(linked.after(A::Load(Box::new(link.clone()))).wants_file);
    assert!(!linked.after(A::NoFile).after(A::Load(Box::new(link))).wants_file);
}

#[test]
fn a_link_of_a_model_wants_its_run_unless_it_is_open() {
    let link = |model: &str| Box::new(ProfileLink { spec: spec(model), ..ProfileLink::default() });
    let want = A::WantRun { is_first: false };
    let asked = State::default().after(A::Load(link("mlp"))).after(want);
    assert!(asked.wants_run);
    // The head's link refers to the view that is already shown, unless the page was opened with it.
    let same = State::default().after(A::Load(Box::default())).after(A::Load(Box::default()));
    assert!(!same.after(A::WantRun { is_first: false }).wants_run);
    assert!(same.after(A::WantRun { is_first: true }).wants_run);
    // A browser may tell of an address that the page has read already: it wants its run or its file still.
    assert!(asked.after(A::Load(link("mlp"))).after(A::WantRun { is_first: false }).wants_run);
    let of_file = || Box::new(ProfileLink { file: Some("a".to_owned()), ..ProfileLink::default() });
    assert!(State::default().after(A::Load(of_file())).after(A::Load(of_file())).wants_file);
    // It comes before a run that goes on.
    let busy = State::default().after(A::Start(None, "x".to_owned())).after(A::Load(link("mlp")));
    assert!(busy.after(A::WantRun { is_first: true }).wants_run);
    // A run that is open is shown.
    let both = open([simulated("mlp"), simulated("nn")]);
    let current = both.after(A::Load(link("mlp"))).after(A::WantRun { is_first: false });
    assert_eq!((current.wants_run, current.current), (false, Some(0)));
}

#[test]
fn each_run_keeps_its_view_while_another_is_shown() {
    let state = open([file("a.json"), file("b.json")]).after(A::Span(Some(span(1, 2))));
    let first = state.after(A::Show(0));
    assert_eq!((first.current, first.link.span, first.link.file.as_deref()), (Some(0), None, Some("a.json")));
    assert_eq!(first.after(A::Show(1)).link.span, Some(span(1, 2)));
    changes(&state, A::Show(9), |_| {});
    changes(&state, A::Show(1), |_| {});
    // Closing a run shows the one opened last, then none.
    let left = first.after(A::Close(0));
    assert_eq!((left.current, left.link.span), (Some(1), Some(span(1, 2))));
    let none = left.after(A::Close(1));
    assert_eq!((none.current, none.runs.len(), none.run), (None, 0, RunState::Idle));
}

#[test]
fn back_shows_the_run_that_was_shown() {
    let mut state = open([file("a.json"), simulated("nn"), benchmark("nn")]);
    (state.hits, state.details) = (Some(Shared::new(hits("", None))), Some(details(1)));
    let to = |link: ProfileLink| state.after(A::Revisit(Box::new(link)));
    let file = ProfileLink { file: Some("a.json".to_owned()), search: "x".to_owned(), ..ProfileLink::default() };
    assert_eq!((to(file.clone()).current, to(file.clone()).hits), (Some(0), None));
    assert_eq!(to(file.clone()).link, file);
    assert_eq!(to(ProfileLink { spec: spec("nn"), tool: Tool::Overview, ..ProfileLink::default() }).current, Some(1));
    assert_eq!(to(ProfileLink { spec: spec("nn"), tool: Tool::Trace, ..ProfileLink::default() }).current, Some(2));
    // A file that was closed is asked for again, and nothing is shown in its place.
    let gone = to(ProfileLink { file: Some("gone".to_owned()), ..ProfileLink::default() });
    assert_eq!((gone.current_run().is_some(), gone.wants_file), (false, true));
    let selected = ProfileLink { spec: spec("nn"), tool: Tool::Trace, selected: Some(4), ..ProfileLink::default() };
    assert_eq!(to(selected).details, None);
}

#[test]
fn a_run_of_the_same_thing_takes_the_place_of_the_old_one() {
    let again = open([simulated("nn"), simulated("nn"), benchmark("nn")]);
    let named: Vec<_> = again.runs.iter().map(|r| (r.id, r.label())).collect();
    assert_eq!(named, [(1, "nn (2026_1_1_1)".to_owned()), (2, "nn (2026_1_1)".to_owned())]);
    assert_eq!(again.benchmark_of_visible_run(), Some(2));
    // Profiles of one archive share a worker, and are closed with it.
    let archive = ProfileInfo { also: vec![file("b"), file("c")], ..file("a") };
    let many = open(std::iter::once(archive).chain((1..MOST_FILES).map(|i| file(&format!("f{i}")))));
    assert_eq!(many.runs.len(), 3 + MOST_FILES - 1);
    let more = many.after(A::Ready(arrived(file("new"), 99)));
    assert_eq!(more.runs.len(), MOST_FILES);
    assert_eq!(more.runs[0].info.name, "f1");
}

#[test]
fn what_comes_beside_is_not_shown_and_takes_nothing_away() {
    let state = open([file("a.json")]);
    let beside = state.after(A::ReadyBeside(arrived(file("b.json"), 9)));
    assert_eq!((beside.current, beside.runs.len()), (Some(0), 2));
    assert_eq!(beside.compared_with().map(|r| r.id), Some(1));
    // The file that is shown, added again, replaces itself and stays shown.
    assert_eq!(state.after(A::ReadyBeside(arrived(file("a.json"), 9))).current_run().map(|r| r.engine), Some(9));
    // The shown run is not closed to make room for it.
    let many = open((0..MOST_FILES).map(|i| file(&format!("f{i}")))).after(A::Show(0));
    let beside = many.after(A::ReadyBeside(arrived(file("new"), 99)));
    assert_eq!(beside.current_run().map(|r| r.info.name.clone()).as_deref(), Some("f0"));
    assert_eq!(beside.runs.len(), MOST_FILES);
}

#[test]
fn the_rail_says_what_a_run_lacks() {
    let lacks = |info: ProfileInfo| {
        let state = open([info]);
        let run = state.current_run().unwrap();
        let all = tools_of(run).into_iter().flat_map(|(_, tools)| tools);
        all.filter(|(_, lack)| lack.is_some()).map(|(tool, _)| tool_name(tool, run)).collect::<Vec<_>>()
    };
    assert_eq!(lacks(file("a.json")), ["HLO operators", "Engines", "Memory and counters"]);
    assert_eq!(lacks(benchmark("nn")), ["Operators", "HLO operators", "Engines", "Memory and counters"]);
    let track = |kind| Track { id: TrackId(0), name: "t".to_owned(), kind };
    let counter = TrackKind::Counter { min: 0.0, max: 1.0 };
    let section = Section { name: ENGINES_PROCESS.to_owned(), tracks: vec![track(counter)] };
    let outline = Outline { sections: vec![section], ..Outline::default() };
    let full = ProfileInfo { operators: vec![OperatorKind::Framework, OperatorKind::Hlo], outline, ..simulated("nn") };
    assert_eq!(lacks(full), Vec::<&str>::new());
}

#[test]
fn whoever_asks_for_a_view_has_read_why_a_file_failed() {
    let failed = open([file("a.json")]).after(A::Start(None, "Reading b.json".to_owned()));
    let failed = failed.after(A::End(RunState::Failed("b.json: no trace".to_owned())));
    assert_eq!(failed.run, RunState::Failed("b.json: no trace".to_owned()));
    for action in [A::Show(failed.current.unwrap()), A::Tool(Tool::Statistics)] {
        assert_eq!(failed.after(action).run, RunState::Idle);
    }
    assert_eq!(failed.after(A::Search("x".to_owned())).run, failed.run);
}

#[test]
fn what_was_asked_for_last_is_shown_and_nothing_in_its_place() {
    let link = |model: &str| Box::new(ProfileLink { spec: spec(model), tool: Tool::Compare, ..ProfileLink::default() });
    let nn = open([simulated("nn")]);
    let asked = nn.after(A::Load(link("bert"))).after(A::WantRun { is_first: false });
    assert_eq!((asked.current_run().is_some(), asked.last_run().is_some(), asked.wants_run), (false, true, true));
    // The base of a comparison is run after what is compared with it.
    let mut compared = asked.clone();
    compared.link.compare.base_run = Some(spec("nn8"));
    assert_eq!(compared.missing_base_run(), None);
    let running = compared.after(A::Start(Some(compared.wish), "Profiling".to_owned()));
    let there = running.after(A::Ready(arrived(simulated("bert"), 1)));
    assert_eq!(there.current_run().map(|run| run.info.name.as_str()), Some("bert"));
    assert_eq!(there.missing_base_run(), Some(&spec("nn8")));
    // A run that is stopped leaves what was there, one that fails its error alone.
    let stopped = running.after(A::End(RunState::Cancelled));
    assert_eq!((stopped.current_run().map(|run| run.id), stopped.link.spec.model.as_str()), (Some(0), "nn"));
    let failed = running.after(A::End(RunState::Failed("no".to_owned())));
    assert_eq!((failed.current_run().is_some(), failed.link.spec.model.as_str()), (false, "bert"));
    assert_eq!(failed.after(A::Show(0)).current_run().map(|run| run.id), Some(0));
    // A file that was given before is read to its end, but not shown any more.
    let reading = nn.after(A::FileGiven("a.json".to_owned())).after(A::Start(None, String::new()));
    let late = reading.after(A::Show(0)).after(A::Ready(arrived(file("a.json"), 1)));
    assert_eq!((late.current_run().map(|run| run.id), late.runs.len()), (Some(0), 2));
}

#[test]
fn a_model_file_is_profiled_unless_something_else_was_asked_for_since() {
    let given = open([simulated("nn")]).after(A::ModelGiven("a.onnx".to_owned()));
    assert_eq!((given.current_run().is_some(), &given.run), (false, &RunState::started("Reading a.onnx")));
    let opened = || A::ModelOpened("a.onnx".to_owned(), Ok("file:a.onnx@12345678".to_owned()));
    let asked = given.after(opened());
    assert_eq!(
        (asked.link.spec.model.as_str(), &asked.link.file, asked.wants_run),
        ("file:a.onnx@12345678", &None, true)
    );
    let refused = given.after(A::ModelOpened("a.onnx".to_owned(), Err("no model".to_owned())));
    assert_eq!((refused.current_run().is_some(), &refused.run), (false, &RunState::Failed("no model".to_owned())));
    let back = given.after(A::Show(0));
    assert_eq!(back.after(opened()), back);
}

#[test]
fn a_link_that_names_nothing_is_another_view_of_what_is_shown() {
    let view = || A::LoadView(Box::new(ProfileLink { tool: Tool::Counters, ..ProfileLink::default() }));
    let first_view = open([file("a.json")]).after(view());
    assert_eq!((first_view.current_run().map(|run| run.id), first_view.link.tool), (Some(0), Tool::Counters));
    assert!(!State::default().after(view()).is_asked());
}

#[test]
fn the_form_is_a_draft_until_it_runs() {
    let first = State::default().after(A::Edit(spec("mlp")));
    assert_eq!(first.link.spec, spec("mlp"), "without a profile the address is that of the form");
    let state = open([simulated("nn")]);
    let edited = state.after(A::Edit(spec("mlp")));
    assert_eq!((edited.hash(), edited.current_run().is_some()), (state.hash(), true));
    let asked = edited.after(A::RunAsked(edited.draft.clone()));
    assert_eq!((asked.link.spec.model.as_str(), asked.current_run().is_some(), asked.wants_run), ("mlp", false, true));
}
