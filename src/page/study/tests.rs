//! Actions of the page of a study, and what each makes of it.

use super::*;
use ns_session::share::Link;

fn first_field(kind: StudyKind) -> &'static str {
    kind.form().fields().next().unwrap().key
}

#[test]
fn a_form_is_edited_and_loads_its_own_examples() {
    for kind in StudyKind::ALL {
        let state = StudyState::new(kind);
        assert_eq!(state.spec(), (StudySpec::new(kind), vec![]));
        for example in kind.form().examples {
            let mut spec = StudySpec::new(kind);
            for (key, text) in example.fields {
                spec.set(key, text).unwrap();
            }
            let loaded = state.after(StudyAction::Ask(Box::new(spec.clone())));
            assert_eq!((loaded.spec(), loaded.wants_run), ((spec, vec![]), true), "{}", example.name);
            assert!(loaded.hash().starts_with(&format!("#/{}?", kind.path())), "{}", loaded.hash());
        }
        let key = first_field(kind);
        assert_eq!(state.after(StudyAction::Edit(key, "x y".to_owned())).text(key), "x y");
        let other = StudyKind::ALL.into_iter().find(|other| *other != kind).unwrap();
        assert_eq!(state.after(StudyAction::Ask(Box::new(StudySpec::new(other)))), state);
    }
}

fn open(kind: StudyKind, intent: LinkIntent) -> StudyAction {
    StudyAction::Open(Box::new(StudySpec::new(kind)), intent, None)
}

/// The state with a job that runs the question of the form, or the form itself without one.
fn start(state: &StudyState, job: u32) -> StudyState {
    let spec = state.asked().cloned().unwrap_or_else(|| state.spec().0);
    state.after(StudyAction::Start(JobId(job), Box::new(spec)))
}

fn result(job: u32, is_over: bool) -> StudyAction {
    StudyAction::Result(JobId(job), Box::default(), is_over)
}

#[test]
fn a_run_shows_its_intermediate_result() {
    let wants = || open(StudyKind::Customop, LinkIntent::Result);
    let state = StudyState::new(StudyKind::Customop).after(wants());
    assert!(state.wants_run);
    let running = start(&state, 1);
    assert!(!running.wants_run);
    assert!(!running.after(wants()).wants_run, "it runs");
    let part = running.after(result(1, false));
    assert!(part.result.is_some() && part.run.is_running());
    let done = part.after(result(1, true));
    assert_eq!((done.run.clone(), done.is_stale()), (RunState::Done, false));
    assert!(done.after(StudyAction::Edit("seed", "3".to_owned())).is_stale());
}

#[test]
fn what_was_asked_for_last_is_drawn_and_nothing_else() {
    let kind = StudyKind::Llm;
    let done = start(&StudyState::new(kind).after(open(kind, LinkIntent::Result)), 1).after(result(1, true));
    assert_eq!(done.request(), Some(done.hash()));
    let mut spec = StudySpec::new(kind);
    spec.set("batch", "32").unwrap();
    let asked = done.after(StudyAction::Ask(Box::new(spec.clone())));
    assert_eq!((asked.result.is_some(), asked.wants_run, asked.hash()), (false, true, spec.hash()));
    // A result of the run before comes too late.
    let late = start(&done.after(open(kind, LinkIntent::Page)), 2).after(StudyAction::Ask(Box::new(spec)));
    assert_eq!(late.after(result(2, true)), late);
    // The form is a draft.
    let edited = done.after(StudyAction::Edit("batch", "4".to_owned()));
    assert_eq!((edited.hash(), edited.in_short(), edited.is_stale()), (done.hash(), done.in_short(), true));
}

#[test]
fn a_file_is_run_and_a_refused_one_leaves_nothing_of_another_model() {
    const LLAMA: &str = r#"{"model_type": "llama", "_name_or_path": "me/tiny-llama", "hidden_size": 2048, "num_hidden_layers": 16,
        "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 8192, "vocab_size": 32000, "max_position_embeddings": 4096}"#;
    let kind = StudyKind::Llm;
    let done = start(&StudyState::new(kind).after(open(kind, LinkIntent::Page)), 1).after(result(1, true));
    let given = |text: &str| {
        done.after(StudyAction::Given(vec![("model", "tiny.json".to_owned()), ("config", text.to_owned())]))
    };
    let llama = given(LLAMA);
    assert!(llama.wants_run && llama.result.is_none());
    assert!(!llama.in_short().contains("llama-3-8b"), "{}", llama.in_short());
    let refused = given(r#"{"model_type": "mixtral"}"#);
    assert_eq!((refused.wants_run, refused.result.is_some(), refused.spec().1.len()), (false, false, 1));
    assert!(!refused.in_short().contains("llama-3-8b"), "{}", refused.in_short());
    // The form has the text of the file, as the run has.
    let kernel = StudyState::new(StudyKind::Customop);
    let own =
        kernel.after(StudyAction::Given(vec![("kernel", "mine.cpp".to_owned()), ("source", "// mine\n".to_owned())]));
    assert_eq!(own.text("source"), "// mine\n");
    let empty = done.after(StudyAction::RefuseFile("x: the file is empty".to_owned()));
    assert_eq!((empty.result.is_some(), empty.run), (false, RunState::Failed("x: the file is empty".to_owned())));
}

#[test]
fn a_file_keeps_its_name_in_the_bar_and_in_the_link() {
    const LLAMA: &str = r#"{"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
        "num_key_value_heads": 2, "intermediate_size": 128, "vocab_size": 256, "max_position_embeddings": 2048}"#;
    let cases = [
        (StudyKind::Llm, "tiny.json", LLAMA),
        (StudyKind::Nki, "tiles.py", "import nki"),
        (StudyKind::Customop, "mine.cpp", "Tensor f(const Tensor& t) { return t; }"),
    ];
    for (kind, name, text) in cases {
        let fields = kind.fields_of_file(name, text.to_owned());
        let state = StudyState::new(kind).after(StudyAction::Given(fields));
        assert!(state.in_short().starts_with(name), "{}", state.in_short());
        let (spec, wrong) = state.spec();
        assert!(wrong.is_empty(), "{name}: {wrong:?}");
        let (read, notices) = Link::parse(&spec.hash());
        assert_eq!((read, notices), (Link::Study(Box::new(spec)), vec![]), "{name}");
    }
    // A name that the form does not know is not taken; the text is.
    let fields = StudyKind::Customop.fields_of_file("a.txt", String::new());
    assert_eq!(fields[0], ("kernel", "own".to_owned()));
    // Another model puts the file away.
    let fields = StudyKind::Llm.fields_of_file("tiny.json", LLAMA.to_owned());
    let other = StudyState::new(StudyKind::Llm)
        .after(StudyAction::Given(fields))
        .after(StudyAction::Edit("model", "llama-2-7b".to_owned()));
    assert_eq!((other.text("config"), other.spec().1.len()), ("", 0));
}

#[test]
fn a_form_in_one_line_names_its_numbers() {
    let state = StudyState::new(StudyKind::Matmult).after(StudyAction::Edit("matrix_dim", "256".to_owned()));
    assert!(state.in_short().starts_with("Matrix size N 256"), "{}", state.in_short());
    let state = StudyState::new(StudyKind::Numerics).after(StudyAction::Edit("model", "nn".to_owned()));
    assert!(state.in_short().starts_with("nn \u{b7} trn1.2xlarge"), "{}", state.in_short());
}

#[test]
fn a_page_opens_on_a_result_and_a_kernel_runs_while_it_is_edited() {
    let opened = |intent| StudyState::new(StudyKind::Customop).after(open(StudyKind::Customop, intent));
    let state = opened(LinkIntent::Page);
    assert!(state.is_about_to_run() && !state.runs_by_itself());
    assert!(!opened(LinkIntent::Form).wants_run);
    let running = start(&state, 1);
    assert!(!running.is_about_to_run() && !running.runs_by_itself());
    let done = running.after(result(1, true));
    assert!(!done.runs_by_itself());
    let edited = done.after(StudyAction::Edit("seed", "7".to_owned()));
    assert!(edited.runs_by_itself());
    assert!(!edited.after(StudyAction::Edit("seed", "x".to_owned())).runs_by_itself());
    // Its result takes the place of the one before in one step.
    let live = edited.after(StudyAction::Start(JobId(2), Box::new(edited.spec().0)));
    assert_eq!((live.result.is_some(), live.hash()), (true, done.hash()));
    let next = live.after(result(2, true));
    assert!(next.hash().contains("seed=7") && next.request() == Some(next.hash()), "{}", next.hash());
    // A sweep of products runs when the user asks for it.
    let matmult = StudyState::new(StudyKind::Matmult).after(open(StudyKind::Matmult, LinkIntent::Page));
    let done = start(&matmult, 1).after(result(1, true));
    assert!(!done.after(StudyAction::Edit("sizes", "64".to_owned())).runs_by_itself());
}

fn kept_study(kind: StudyKind, text: &str) -> KeptStudy {
    let mut spec = StudySpec::new(kind);
    spec.set(first_field(kind), text).unwrap();
    let mut result = StudyResult::default();
    result.document.title = "kept".to_owned();
    KeptStudy { spec, result, when_ms: 9 }
}

#[test]
fn a_kept_result_is_shown_with_its_form_until_a_run_replaces_it() {
    let kept = kept_study(StudyKind::Matmult, "64");
    let state = StudyState::new(StudyKind::Matmult);
    let open = |intent| StudyAction::Open(Box::new(kept.spec.clone()), intent, Some(Box::new(kept.clone())));
    for intent in [LinkIntent::Result, LinkIntent::Page] {
        let restored_state = state.after(open(intent));
        assert_eq!((restored_state.spec(), restored_state.run.clone()), ((kept.spec.clone(), vec![]), RunState::Done));
        assert_eq!(restored_state.restored, Some(KeptResult { spec: kept.spec.clone(), when_ms: 9 }));
        assert_eq!(restored_state.result.as_ref().map(|r| r.document.title.as_str()), Some("kept"));
        assert!(!restored_state.wants_run);
        let again =
            start(&restored_state.after(StudyAction::Ask(Box::new(kept.spec.clone()))), 1).after(result(1, true));
        assert_eq!((again.result.map(|r| r.document.title.clone()), again.restored), (Some(String::new()), None));
    }
    assert!(state.after(open(LinkIntent::Form)).result.is_none());
    // A page that is opened again without anything in particular stays as it was left.
    let asked = state.after(StudyAction::Ask(Box::new(StudySpec::new(StudyKind::Matmult))));
    assert_eq!(asked.after(open(LinkIntent::Page)), asked);
}

#[test]
fn a_measurement_is_shown_again_but_not_run_by_a_link() {
    let mut spec = StudySpec::new(StudyKind::Matmult);
    spec.set("cpu", "true").unwrap();
    assert!(spec.is_measured());
    let state = StudyState::new(StudyKind::Matmult);
    let open = |kept| StudyAction::Open(Box::new(spec.clone()), LinkIntent::Result, kept);
    assert!(!state.after(open(None)).wants_run);
    let kept = Box::new(KeptStudy { spec: spec.clone(), ..kept_study(StudyKind::Matmult, "64") });
    assert!(state.after(open(Some(kept))).result.is_some());
}

use proptest::prelude::*;

fn actions() -> impl Strategy<Value = StudyAction> {
    let kind = StudyKind::Llm;
    let spec = prop::sample::select(vec!["1", "8", "32"]).prop_map(move |batch| {
        let mut spec = StudySpec::new(kind);
        spec.set("batch", batch).unwrap();
        Box::new(spec)
    });
    let jobs = 0_u32..3;
    let intents = prop::sample::select(vec![LinkIntent::Result, LinkIntent::Page, LinkIntent::Form]);
    prop_oneof![
        spec.clone().prop_map(StudyAction::Ask),
        (spec.clone(), intents, any::<bool>()).prop_map(|(spec, intent, is_kept)| {
            let kept = KeptStudy { spec: (*spec).clone(), result: StudyResult::default(), when_ms: 1 };
            StudyAction::Open(spec, intent, is_kept.then(|| Box::new(kept)))
        }),
        prop::sample::select(vec!["1", "8", "x"]).prop_map(|batch| StudyAction::Edit("batch", batch.to_owned())),
        Just(StudyAction::Given(vec![("config", "{}".to_owned())])),
        (jobs.clone(), spec).prop_map(|(job, spec)| StudyAction::Start(JobId(job), spec)),
        (jobs.clone(), any::<bool>()).prop_map(|(job, is_over)| result(job, is_over)),
        jobs.prop_map(|job| StudyAction::Run(JobId(job), RunState::Cancelled)),
    ]
}

proptest! {
    #[test]
    fn what_is_drawn_is_what_the_address_asks_for(actions in prop::collection::vec(actions(), 0..30)) {
        let mut state = StudyState::new(StudyKind::Llm);
        for action in actions {
            state = state.after(action);
            prop_assert_eq!(state.request().is_some(), state.result.is_some());
            prop_assert!(state.request().is_none_or(|request| request == state.hash()));
        }
    }
}
