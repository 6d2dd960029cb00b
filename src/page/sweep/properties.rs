//! Properties of the dispatch that hold whatever the workers do.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::tests::{Shell, config};
use crate::RunState;
use ns_bench::RowState;
use ns_session::Message;

/// Any event of a run.
#[derive(Clone, Copy, Debug)]
enum Event {
    Finish(usize),
    Fail(usize),
    Times(usize),
    Die(usize),
    Pause(bool),
}

fn events() -> impl Strategy<Value = Event> {
    prop_oneof![
        4 => (0_usize..4).prop_map(Event::Finish),
        1 => (0_usize..4).prop_map(Event::Fail),
        2 => (0_usize..4).prop_map(Event::Times),
        1 => (0_usize..4).prop_map(Event::Die),
        1 => any::<bool>().prop_map(Event::Pause),
    ]
}

proptest! {
    #[test]
    fn whatever_happens_every_row_runs_once_at_a_time_and_the_run_ends(
        events in prop::collection::vec(events(), 0..40), threads in 1_usize..5,
    ) {
        let mut shell = Shell::of(config(&[1, 2, 3, 4, 5, 6]), threads);
        shell.feed();
        let mut open: BTreeSet<usize> = BTreeSet::new();
        let mut seen = 0;
        // After the random events, each worker finishes its configuration.
        let rest = std::iter::once(Event::Pause(false)).chain(std::iter::repeat_n(Event::Finish(0), 99));
        for event in events.into_iter().chain(rest) {
            open.extend(seen..shell.sent.len());
            seen = shell.sent.len();
            prop_assert!(open.len() <= threads);
            let rows: BTreeSet<u32> = open.iter().map(|place| shell.sent[*place].0.row).collect();
            prop_assert_eq!(rows.len(), open.len(), "a row is at two workers");
            let nth = |open: &BTreeSet<usize>, n: usize| open.iter().copied().nth(n % open.len().max(1));
            match event {
                Event::Pause(is_paused) => {
                    shell.run.set_paused(is_paused);
                    shell.feed();
                }
                Event::Times(n) => drop(nth(&open, n).map(|place| shell.times(place))),
                Event::Finish(n) => drop(nth(&open, n).map(|place| (open.remove(&place), shell.finish(place)))),
                Event::Fail(n) => {
                    drop(nth(&open, n).map(|place| (open.remove(&place), shell.tell(place, Message::Failed("x".to_owned())))));
                }
                Event::Die(n) => {
                    if let Some(place) = nth(&open, n) {
                        open.remove(&place);
                        shell.sent[place].0.worker.1.set(false);
                        shell.tell(place, Message::Cancelled);
                    }
                }
            }
        }
        prop_assert_eq!(shell.ended.clone(), Some(RunState::Done));
        prop_assert!(shell.sweep().rows().iter().all(|r| matches!(r.state, RowState::Done(_))));
    }
}
