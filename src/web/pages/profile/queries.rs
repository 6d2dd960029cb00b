//! The questions that the profile page asks its workers while the user explores.

use std::cell::Cell;
use std::rc::Rc;

use gloo_timers::callback::Timeout;
use yew::prelude::*;

use crate::answers::{on_answer, say_failure};
use crate::context::{AppContext, use_app};
use crate::state::{OpenRun, ProfileAction, ProfileState, StateDispatcher, StateHandle};
use ns_base::convert::u64_to_f64;
use ns_base::{Interval, TraceNs};
use ns_insight::SliceRange;
use ns_page::Shared;
use ns_page::notices::{NoticeAction, Tone};
use ns_page::profile::{Flows, ShownAnswer};
use ns_page::replies::answer_of;
use ns_session::{
    AnalysisRequest, Answer as SessionAnswer, Control, ExportKind, JobId, LinkedTable, Listing, Message, OperatorKind,
    ProfileQuestion, Question, Reply, Rows,
};
use ns_view::timeline::{Neighbour, SliceDetails, SliceRef};

/// Delay from the last key press until a search starts.
const SEARCH_DELAY_MS: u32 = 120;
/// The most hits that are listed; all are counted.
const MOST_HITS: u32 = 10_000;
/// The most arrows on one screen: more would be a grey cloud.
const MOST_ARROWS: u32 = 400;

/// Asks for an operator table of the counted span, unless it is there already.
#[hook]
pub fn use_operators(
    app: &AppContext,
    state: &StateHandle<ProfileState>,
    run: Option<&OpenRun>,
    kind: Option<OperatorKind>,
) {
    let (range, level) = (state.counted_span(kind), state.level().filter(|_| kind == Some(OperatorKind::Slices)));
    let instances = state.link.instances;
    let is_known = |(run, kind): &(&OpenRun, OperatorKind)| {
        run.operators
            .get(kind)
            .is_some_and(|(counted, table)| *counted == range && table.level == level && table.instances == instances)
    };
    let wanted = run.zip(kind).filter(|asked| !is_known(asked));
    let key = wanted.as_ref().map(|(run, kind)| (run.id, *kind, range, level.clone(), instances));
    let asked = wanted.map(|(run, kind)| (run.engine.clone(), run.info.profile, run.id, kind));
    let (dispatch, notices) = (state.dispatcher(), app.notices.clone());
    use_effect_with(key, move |_| {
        let Some((engine, profile, id, kind)) = asked else { return };
        let take = |reply| if let Reply::Operators(table) = reply { Some(table) } else { None };
        let on_message =
            on_answer(notices, take, move |table| dispatch.dispatch(ProfileAction::Operators(id, range, table)));
        engine.send(ProfileQuestion::Operators { kind, range, level, instances }.of(profile), None, on_message);
    });
}

/// Asks for the details of the selected slice, unless they are there already.
#[hook]
pub fn use_details(app: &AppContext, state: &StateHandle<ProfileState>, run: Option<&OpenRun>) {
    let known = state.details.as_ref().map(|d| d.link.slice);
    let wanted = state.link.selected.map(SliceRef).filter(|s| known != Some(*s));
    let asked = run.map(|r| (r.id, r.engine.clone(), r.info.profile)).zip(wanted);
    let key = asked.as_ref().map(|((id, ..), slice)| (*id, *slice));
    let (dispatch, notices) = (state.dispatcher(), app.notices.clone());
    use_effect_with(key, move |_| {
        let Some(((id, engine, profile), slice)) = asked else { return };
        let said = notices.clone();
        let on_message = on_answer(notices, take_details, move |details| {
            if details.is_none() {
                let text = "The selected slice is not in this profile; the selection is cleared.".to_owned();
                said.dispatch(NoticeAction::Say(Tone::Info, text));
            }
            let details = details.map(|details| Shared::new(*details));
            answer(&dispatch, id, ShownAnswer::Details(slice, details));
        });
        engine.send(ProfileQuestion::Details(slice).of(profile), None, on_message);
    });
}

/// Goes to the previous or next slice.
pub fn step(app: &AppContext, state: &StateHandle<ProfileState>, to: Neighbour) {
    let Some((run, from)) = state.current_run().zip(state.link.selected.map(SliceRef)) else { return };
    let (dispatch, id) = (state.dispatcher(), run.id);
    let on_message = on_answer(app.notices.clone(), take_details, move |details| {
        // At the end of a row the selection stays.
        if let Some(details) = details {
            answer(&dispatch, id, ShownAnswer::Neighbour(from, Shared::new(*details)));
        }
    });
    run.engine.send(ProfileQuestion::Step { from, to }.of(run.info.profile), None, on_message);
}

fn answer(dispatch: &StateDispatcher<ProfileState>, run: u32, answer: ShownAnswer) {
    dispatch.dispatch(ProfileAction::Answer(run, Box::new(answer)));
}

fn take_details(reply: Reply) -> Option<Option<Box<SliceDetails>>> {
    if let Reply::Details(details) = reply { Some(details) } else { None }
}

/// Searches the profile a moment after the last key.
#[hook]
pub fn use_search(app: &AppContext, state: &StateHandle<ProfileState>, run: Option<&OpenRun>) {
    let text = (state.link.search.clone(), state.link.search_by.clone());
    let run_id = run.map(|r| r.id);
    let asked = run.map(|r| (r.id, r.engine.clone(), r.info.profile));
    let (dispatch, notices) = (state.dispatcher(), app.notices.clone());
    use_effect_with((run_id, text), move |(_, (text, by))| {
        let (text, by) = (text.clone(), by.clone());
        let timer = asked.filter(|_| !text.trim().is_empty()).map(|(id, engine, profile)| {
            Timeout::new(SEARCH_DELAY_MS, move || {
                let take = |reply| if let Reply::Search(hits) = reply { Some(hits) } else { None };
                let on_message = on_answer(notices, take, move |hits| answer(&dispatch, id, ShownAnswer::Hits(hits)));
                engine.send(ProfileQuestion::Search { text, by, limit: MOST_HITS }.of(profile), None, on_message);
            })
        });
        move || drop(timer)
    });
}

/// Shows a notice when a link names a level that no open profile has.
#[hook]
pub fn use_known_levels(app: &AppContext, state: &StateHandle<ProfileState>, run: Option<&OpenRun>) {
    let is_of_other = |level: &String| state.runs.iter().any(|r| r.info.own_level(level).is_some());
    let problem = |level: &String| run.and_then(|r| r.info.level_problem(level)).filter(|_| !is_of_other(level));
    let of_group = state.link.search_by.as_ref().and_then(|kind| kind.level.as_ref());
    let problem = state.link.level.as_ref().and_then(problem).or_else(|| of_group.and_then(problem));
    let notices = app.notices.clone();
    use_effect_with(problem, move |problem| {
        if let Some(text) = problem {
            notices.dispatch(NoticeAction::Say(Tone::Info, text.clone()));
        }
    });
}

/// Shows a slice that a finding names on the timeline.
pub fn go_to_range(app: &AppContext, state: &StateHandle<ProfileState>, range: SliceRange) {
    let Some(run) = state.current_run() else { return };
    let (id, profile) = (run.id, run.info.profile);
    let (dispatch, notices) = (state.dispatcher(), app.notices.clone());
    let on_message = on_answer(app.notices.clone(), take_details, move |details| match details {
        Some(details) => answer(&dispatch, id, ShownAnswer::Located(Shared::new(*details))),
        None => {
            let text = "This timeline has no slice with that row and time.".to_owned();
            notices.dispatch(NoticeAction::Say(Tone::Info, text));
        }
    });
    run.engine.send(ProfileQuestion::Locate(range).of(profile), None, on_message);
}

/// Asks for all flow arrows around a span.
pub fn ask_flows(app: &AppContext, state: &StateHandle<ProfileState>, span: Interval<TraceNs>) {
    let Some(run) = state.current_run() else { return };
    let (id, profile) = (run.id, run.info.profile);
    let dispatch = state.dispatcher();
    let take = |reply| if let Reply::Flows { arrows, total } = reply { Some(Flows { arrows, total }) } else { None };
    let on_message =
        on_answer(app.notices.clone(), take, move |flows| answer(&dispatch, id, ShownAnswer::Flows(flows)));
    run.engine.send(ProfileQuestion::Flows { span, limit: MOST_ARROWS }.of(profile), None, on_message);
}

/// The reason that an answer is late or absent.
#[derive(Clone, PartialEq)]
pub enum Pending {
    /// The worker is computing; calling the callback stops it.
    Counting {
        /// What it does, and its progress, from 0 to 1.
        label: String,
        share: f64,
        on_stop: Callback<()>,
    },
    /// The question cannot be answered, or was stopped.
    Failed(String),
}

/// An answer as a table, or the reason why there is none.
pub type Answer = Result<Shared<LinkedTable>, Pending>;

/// An answer that is more than a table, or the reason why there is none.
pub type AnalysisAnswer = Result<Shared<SessionAnswer>, Pending>;

/// Rows of the answer to a question about a run; asked again whenever the question changes.
#[hook]
pub fn use_listing(run: &OpenRun, what: Option<Listing>, rows: Rows) -> Option<Answer> {
    let ask = |(what, rows)| AnalysisRequest::List(what, rows);
    use_question(run, what.map(|what| (what, rows)), ask, |reply| {
        if let Reply::Listed(listed) = reply { Some(*listed) } else { None }
    })
}

/// Saves all rows of the answer to a question about a run as CSV in a file of this name, which the worker writes.
#[hook]
pub fn use_save_all(run: &OpenRun, what: &Listing, file: &AttrValue) -> Callback<()> {
    let notices = use_app().map(|app| app.notices);
    let (engine, profile, what) = (run.engine.clone(), run.info.profile, what.clone());
    let file_name = format!("{file}.csv");
    Callback::from(move |()| {
        let (what, file_name) = (what.clone(), file_name.clone());
        let on_message = say_failure(notices.clone());
        engine.send(AnalysisRequest::ListCsv(what, file_name).of(profile), None, on_message);
    })
}

/// A callback that saves something of a run as a file.
#[hook]
pub fn use_export(run: &OpenRun, kind: ExportKind) -> Callback<()> {
    let notices = use_app().map(|app| app.notices);
    let (engine, profile) = (run.engine.clone(), run.info.profile);
    Callback::from(move |()| {
        let question = ProfileQuestion::Export { kind: kind.clone(), marks: Vec::new() };
        engine.send(question.of(profile), None, say_failure(notices.clone()));
    })
}

/// The answer to a question about a run; asked again whenever the question changes.
#[hook]
pub fn use_analysis(run: &OpenRun, question: Option<Question>) -> Option<AnalysisAnswer> {
    use_question(run, question, AnalysisRequest::Analyse, |reply| {
        if let Reply::Analysed(answer) = reply { Some(*answer) } else { None }
    })
}

/// A question with its run and its outcome.
type QuestionOutcome<Q, A> = (u32, Q, Result<Shared<A>, Pending>);

/// Asks whenever the question changes, and stops the question before it.
#[hook]
fn use_question<Q: Clone + PartialEq + 'static, A: 'static>(
    run: &OpenRun,
    question: Option<Q>,
    ask: fn(Q) -> AnalysisRequest,
    take: fn(Reply) -> Option<A>,
) -> Option<Result<Shared<A>, Pending>> {
    let answer = use_state(|| None::<QuestionOutcome<Q, A>>);
    use_effect_with((run.id, question.clone()), {
        let (answer, engine, profile) = (answer.setter(), run.engine.clone(), run.info.profile);
        move |(id, question): &(u32, Option<Q>)| {
            let number = Rc::new(Cell::new(None::<JobId>));
            let job = question.clone().map(|asked| {
                let (id, question) = (*id, asked.clone());
                let (stop, own_number) = (engine.clone(), Rc::clone(&number));
                let on_message = Callback::from(move |message: Message| {
                    let found = match message {
                        Message::Progress { done, total, label } => {
                            let (stop, job) = (stop.clone(), own_number.get());
                            let on_stop = Callback::from(move |()| {
                                if let Some(job) = job {
                                    stop.tell(Control::Cancel(job));
                                }
                            });
                            let share = u64_to_f64(done) / u64_to_f64(total.max(1));
                            Err(Pending::Counting { label, share, on_stop })
                        }
                        Message::Cancelled => {
                            Err(Pending::Failed("Stopped. Choose the tool again to restart.".to_owned()))
                        }
                        message => match answer_of(message, take) {
                            Some(found) => found.map(Shared::new).map_err(Pending::Failed),
                            None => return,
                        },
                    };
                    answer.set(Some((id, question.clone(), found)));
                });
                engine.send(ask(asked).of(profile), None, on_message)
            });
            number.set(job);
            move || {
                if let Some(job) = job {
                    engine.give_up(job);
                }
            }
        }
    });
    let (id, asked, answer) = answer.as_ref()?;
    (*id == run.id && Some(asked) == question.as_ref()).then(|| answer.clone())
}
