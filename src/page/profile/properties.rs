//! Properties of the profile page that hold after any actions.

use proptest::prelude::*;

use super::ProfileAction as A;
use super::runs::MOST_FILES;
use super::tests::{Action, State, arrived, benchmark, file, simulated, spec};
use crate::RunState;
use ns_session::share::{ProfileLink, Tool};
use ns_session::{ProfileInfo, ProfileOrigin};

fn infos() -> impl Strategy<Value = ProfileInfo> {
    (0_u8..4, "[a-c]").prop_map(|(kind, name)| match kind {
        0 => simulated(&name),
        1 => benchmark(&name),
        2 => ProfileInfo { also: vec![file("x"), file("y")], ..file(&name) },
        _ => file(&name),
    })
}

/// Any action on the page.
#[derive(Clone, Debug)]
enum Event {
    Come(Box<ProfileInfo>, bool),
    Show(u32),
    Close(u32),
    Tool(Tool),
    Link(Box<ProfileLink>, bool),
    WantRun,
    FileGiven,
    RunAsked,
    Start,
    TraceAsked,
    End,
}

impl Event {
    /// Its action, with this worker if it brings a profile.
    fn action(self, engine: u32) -> Action {
        match self {
            Self::Come(info, true) => A::ReadyBeside(arrived(*info, engine)),
            Self::Come(info, false) => A::Ready(arrived(*info, engine)),
            Self::Show(id) => A::Show(id),
            Self::Close(id) => A::Close(id),
            Self::Tool(tool) => A::Tool(tool),
            Self::Link(link, true) => A::Revisit(link),
            Self::Link(link, false) => A::Load(link),
            Self::WantRun => A::WantRun { is_first: false },
            Self::FileGiven => A::FileGiven("a".to_owned()),
            Self::RunAsked => A::RunAsked(spec("b")),
            Self::Start => A::Start(None, "x".to_owned()),
            Self::TraceAsked => A::TraceAsked,
            Self::End => A::End(RunState::Cancelled),
        }
    }
}

fn events() -> impl Strategy<Value = Event> {
    let tools = || prop::sample::select(Tool::ALL.to_vec());
    let links = (tools(), prop::option::of("[a-c]"), "[a-c]").prop_map(|(tool, file, model)| ProfileLink {
        tool,
        file,
        spec: spec(&model),
        ..ProfileLink::default()
    });
    prop_oneof![
        4 => (infos(), any::<bool>()).prop_map(|(info, is_beside)| Event::Come(Box::new(info), is_beside)),
        2 => (0_u32..12).prop_map(Event::Show),
        2 => (0_u32..12).prop_map(Event::Close),
        1 => tools().prop_map(Event::Tool),
        2 => (links, any::<bool>()).prop_map(|(link, is_back)| Event::Link(Box::new(link), is_back)),
        1 => prop::sample::select(vec![Event::WantRun, Event::FileGiven, Event::RunAsked, Event::Start, Event::TraceAsked, Event::End]),
    ]
}

proptest! {
    #[test]
    fn the_chosen_run_is_always_open(events in prop::collection::vec(events(), 0..30)) {
        let mut state = State::default();
        for (engine, event) in (0_u32..).zip(events) {
            state = state.after(event.action(engine));
            prop_assert!(state.current.is_none() || state.last_run().is_some(), "run {:?} is shown and closed", state.current);
            if let Some(run) = state.current_run() {
                match &run.info.origin {
                    ProfileOrigin::File { name, .. } => prop_assert_eq!(state.link.file.as_ref(), Some(name)),
                    _ => prop_assert!(state.link.file.is_none() && run.spec() == Some(&state.link.spec)),
                }
            }
            let mut engines: Vec<u32> = state.runs.iter().map(|r| r.engine).collect();
            engines.dedup();
            prop_assert!(engines.len() <= MOST_FILES);
            prop_assert!(state.runs.windows(2).all(|pair| pair[0].id < pair[1].id));
        }
    }

    #[test]
    fn a_toggle_is_undone_by_the_same(section in 0_usize..9, before in prop::collection::vec(0_usize..9, 0..5)) {
        let state = before.into_iter().fold(State::default(), |state, section| state.after(A::ToggleSection(section)));
        prop_assert_eq!(state.after(A::ToggleSection(section)).after(A::ToggleSection(section)), state);
    }
}
