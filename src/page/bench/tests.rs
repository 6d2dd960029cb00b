//! Tables of the effects of actions on the benchmark page.

use std::collections::BTreeMap;
use std::rc::Rc;

use proptest::prelude::*;

use super::{BenchAction as A, BenchState, OpenedPlan, ResultRow, RowId, ScenarioRow};
use crate::RunState;
use crate::link_intent::LinkIntent;
use crate::sweep::{SweepView, overall_share};
use ns_bench::{BenchConfig, Configuration, ModelIndex, Report, RowResult, SweepState};
use ns_session::BatchRule;
use ns_session::results::WantedTexts;
use ns_session::share::ResultsView;
use ns_view::table::Sort;

fn changes(before: &BenchState, action: A, change: impl FnOnce(&mut BenchState)) {
    let mut expected = before.clone();
    change(&mut expected);
    expected.draw_after(before);
    let after = before.after(action);
    // A list that is drawn anew has equal rows.
    assert_eq!((&*after.rows, &*after.scenario), (&*expected.rows, &*expected.scenario));
    (expected.rows, expected.scenario) = (after.rows.clone(), after.scenario.clone());
    assert_eq!(after, expected);
}

fn config() -> BenchConfig {
    BenchConfig { model: "nn".to_owned(), n_models: Some(vec![1, 2]), ..BenchConfig::default() }
}

fn result(n_models: u32) -> Rc<RowResult> {
    let sweep = SweepState::new(config()).unwrap();
    let configuration = Configuration { n_models, ..sweep.rows()[0].planned.configuration.clone() };
    Rc::new(RowResult::failed(&configuration, "x"))
}

fn ids(state: &BenchState) -> Vec<RowId> {
    state.rows.iter().map(|r| r.id).collect()
}

fn started() -> BenchState {
    let asked = BenchState::default().after(A::TakeUp(Box::new(config())));
    asked.after(A::Start(Box::new(config()), vec!["short".to_owned()]))
}

#[test]
fn the_form_in_one_line_names_model_instance_and_batch_sizes() {
    let state = BenchState::default();
    assert_eq!(state.in_short(), "nn \u{b7} trn1.2xlarge \u{b7} batch 1");
    let without = state.after(A::Edit("batch_sizes", String::new()));
    assert_eq!(without.in_short(), "nn \u{b7} trn1.2xlarge");
    let sizes = state.after(A::Edit("batch_sizes", "1,4".to_owned()));
    assert_eq!(sizes.in_short(), "nn \u{b7} trn1.2xlarge \u{b7} batch 1,4");
    let emptied = sizes.after(A::Edit("instance", String::new()));
    assert_eq!(emptied.in_short(), "nn \u{b7} batch 1,4");
}

#[test]
fn imported_rows_stand_under_their_own_name() {
    let row = |model: &str, instance: &str| Report {
        model_name: model.to_owned(),
        instance_type: instance.to_owned(),
        ..Report::default()
    };
    let rows = vec![row("resnet50", "inf1.xlarge"), row("resnet50", "inf1.6xlarge")];
    let imported = BenchState::default().after(A::Imported(rows));
    assert_eq!(imported.in_short(), "resnet50 \u{b7} inf1.6xlarge + inf1.xlarge \u{b7} 2 imported rows");
    let own = imported.after(load(config())).after(A::Start(Box::new(config()), vec![]));
    let own = own.after(A::Results(vec![(RowId::Own(0), result(1))]));
    assert!(own.after(A::End(RunState::Done)).in_short().starts_with("nn "));
}

#[test]
fn what_actions_change_of_the_form_and_the_view() {
    let state = BenchState::default();
    let edited = state.after(A::Edit("seed", "7".to_owned()));
    assert_eq!((edited.text("seed"), edited.config().0.seed), ("7", 7));
    let wrong = state.after(A::Edit("seed", "-1".to_owned()));
    assert_eq!(wrong.config().1.iter().map(|w| w.0).collect::<Vec<_>>(), ["seed"]);
    assert_eq!(state.after(load(config())).config(), (config(), vec![]));
    let sort = Sort { column: "n_models".to_owned(), descending: true };
    let view = ResultsView { filter: "nn".to_owned(), sort: Some(sort.clone()), ..ResultsView::default() };
    changes(&state, A::Look(view), |s| (s.filter, s.sort) = (Rc::from("nn"), Some(sort.clone())));
    changes(&state, A::Sort(sort.clone()), |s| s.sort = Some(sort));
    changes(&state, A::Filter(Rc::from("p99<5")), |s| s.filter = Rc::from("p99<5"));
    let wanted = WantedTexts { p99_ms: "5".to_owned(), ..WantedTexts::default() };
    changes(&state, A::Want(wanted.clone()), |s| s.wanted = wanted.clone());
    let limited = state.after(A::Want(wanted.clone())).after(A::Columns(Rc::from(["status"])));
    assert!(limited.hash().contains("p99_at_most=5&columns=status"), "{}", limited.hash());
    assert_eq!(state.after(A::Look(limited.view())).view(), limited.view());
    // Limits belong to the link; a link without columns leaves those of the reader.
    let other = limited.after(A::Look(ResultsView::default()));
    assert_eq!((other.wanted, &*other.columns), (WantedTexts::default(), &["status"][..]));
    changes(&state, A::Columns(Rc::from(["n_models"])), |s| s.columns = Rc::from(["n_models"]));
    changes(&state, A::Select(RowId::Own(1)), |s| s.selected = Some(RowId::Own(1)));
    changes(&state, A::Listed(Err("no".to_owned())), |s| s.listed = Some(Err(Rc::from("no"))));
}

fn load(config: BenchConfig) -> A {
    A::Load(Box::new(config), LinkIntent::Result)
}

fn row(at: u32) -> A {
    A::Results(vec![(RowId::Own(at), result(1))])
}

/// A file is read, and has one row.
fn import(state: &BenchState) -> BenchState {
    state.after(A::FileGiven("a.csv".to_owned())).after(A::Imported(vec![result(1).report.clone()]))
}

#[test]
fn the_example_makes_room_for_a_file() {
    let opened = BenchState::default().after(A::Open(None));
    assert!(opened.wants_run && opened.is_for_results());
    assert_eq!(opened.in_short(), "bert-base-uncased \u{b7} inf2.xlarge + trn1.2xlarge \u{b7} batch 1,2,4,8,16,32");
    let example = opened.config().0;
    let run = opened.after(A::Start(Box::new(example.clone()), vec![])).after(A::Taken).after(row(0));
    assert_eq!(ids(&run), [RowId::Own(0)]);
    let reading = run.after(A::FileGiven("a.csv".to_owned()));
    assert_eq!(
        (ids(&reading), reading.in_short(), reading.hash()),
        (vec![], "a.csv".to_owned(), "#/benchmark".to_owned())
    );
    assert_eq!(reading.run, RunState::started("Reading a.csv"));
    // Rows of the example that come later belong to nothing that was asked for.
    let imported = import(&run).after(row(1));
    assert_eq!((ids(&imported), imported.request()), (vec![RowId::Imported(0)], None));
    // The form is of another model than the rows.
    assert_eq!((imported.has_plan(), imported.after(A::DropImported).has_plan()), (false, true));
    assert!(imported.in_short().ends_with("1 imported row"), "{}", imported.in_short());
    // The rows of a run that the reader starts stay beside those of a file.
    let own = imported.after(A::Press);
    let own = own.after(A::Start(Box::new(own.config().0), vec![])).after(row(0));
    assert_eq!(ids(&own), [RowId::Own(0), RowId::Imported(0)]);
    assert_eq!(ids(&import(&own)), [RowId::Own(0), RowId::Imported(0), RowId::Imported(1)]);
}

#[test]
fn what_was_asked_for_last_is_drawn_and_nothing_else() {
    let ended = started().after(row(0)).after(A::End(RunState::Done));
    let own = ended.request();
    assert!(own.is_some_and(|own| ended.hash().starts_with(&own)));
    let other = BenchConfig { seed: 9, ..config() };
    let asked = ended.after(load(other.clone()));
    assert_eq!((asked.rows.len(), &asked.request(), &asked.run, asked.wants_run), (0, &None, &RunState::Idle, true));
    assert!(asked.hash().contains("seed=9"), "{}", asked.hash());
    // A page that is opened without anything to show does not change what was asked for.
    assert_eq!(asked.after(A::Open(Some(Box::new(config())))), asked);
    // The sweep that ran last is there again when it is asked for.
    let back = asked.after(load(config()));
    assert_eq!((ids(&back), back.wants_run), (vec![RowId::Own(0)], false));
    // The form is a draft of the next run.
    let edited = ended.after(A::Edit("seed", "7".to_owned()));
    assert_eq!((edited.hash(), edited.in_short()), (ended.hash(), ended.in_short()));
    let pressed = edited.after(A::Press);
    assert!(pressed.hash().contains("seed=7") && pressed.is_pressed && pressed.rows.is_empty());
    // A link with a mistake fills the form.
    let wrong = ended.after(A::Load(Box::new(other), LinkIntent::Form));
    assert_eq!((wrong.rows.len(), wrong.wants_run, wrong.config().0.seed), (0, false, 9));
}

#[test]
fn a_run_that_is_not_wanted_any_more_makes_room() {
    let running = started().after(row(0));
    assert!(!running.is_overtaken());
    let asked = running.after(load(BenchConfig { seed: 9, ..config() }));
    assert!(asked.is_overtaken() && !asked.can_start() && asked.is_busy() && !asked.run.is_running());
    let free = asked.after(A::End(RunState::Cancelled));
    assert!(!free.is_overtaken() && free.can_start());
    // A file that may be refused ends nothing.
    assert!(!running.after(A::FileGiven("a.onnx".to_owned())).is_overtaken());
}

#[test]
fn a_file_that_is_refused_says_so_alone_and_leads_back() {
    let ended = started().after(row(0)).after(A::End(RunState::Done));
    let refused = ended.after(A::FileGiven("a.onnx".to_owned())).after(A::Refused("no model".to_owned()));
    assert!(ended.has_plan() && !refused.has_plan());
    assert_eq!(
        (refused.rows.len(), refused.in_short(), refused.hash()),
        (0, "a.onnx".to_owned(), "#/benchmark".to_owned())
    );
    assert_eq!(refused.run, RunState::Failed("no model".to_owned()));
    assert_eq!(refused.before_in_short().as_deref(), Some(ended.in_short().as_str()));
    let back = refused.after(A::ShowAgain);
    assert_eq!((ids(&back), back.hash(), back.wants_run), (ids(&ended), ended.hash(), false));
    // From the start page there is nothing to go back to.
    let first = BenchState::default().after(A::FileGiven("a.onnx".to_owned()));
    let first = first.after(A::Open(None)).after(A::Refused("no model".to_owned()));
    assert_eq!((first.in_short(), first.before_in_short()), ("a.onnx".to_owned(), None));
}

#[test]
fn an_index_stays_when_a_link_comes() {
    let state = BenchState::default().after(A::Index(Some(Box::new(ModelIndex::default()))));
    assert!(state.index.is_some() && state.config().0.index.is_some() && !state.wants_run);
    let runs = |model: &str| {
        let text = format!(r#"{{"version": "0", "model_configs": [{{"filename": "a.pt"{model}}}]}}"#);
        state.after(A::Index(Some(Box::new(ModelIndex::read(&text).unwrap().index)))).wants_run
    };
    assert!(runs(r#", "model": "nn""#) && !runs(""), "an entry without a model would run that of the form");
    assert!(state.after(load(config())).index.is_some());
    changes(&state, A::Index(None), |s| s.index = None);
}

#[test]
fn room_is_kept_for_results_from_the_moment_they_are_asked_for() {
    let idle = BenchState::default();
    assert_eq!((idle.is_for_results(), idle.awaited_rows()), (false, 0));
    let asked = idle.after(load(config()));
    assert!(asked.is_for_results(), "a link asks for them");
    assert!(!asked.after(A::Plan(Box::new(config()))).has_place_for_results(), "notes may come above them");
    assert!(started().has_place_for_results());
    let running = started();
    assert_eq!((running.is_for_results(), running.awaited_rows()), (true, 0), "how many is not known yet");
    let sweep = SweepState::new(config()).unwrap();
    let planned = sweep.rows().len();
    let view = SweepView::new(Rc::new(sweep), BTreeMap::new(), 1, false);
    let listed = running.after(A::Ran(view)).after(A::Imported(vec![result(1).report.clone()]));
    assert_eq!(listed.awaited_rows(), planned + 1);
    let ended = listed.after(A::Results(vec![(RowId::Own(0), result(1))])).after(A::End(RunState::Cancelled));
    assert_eq!((ended.is_for_results(), ended.awaited_rows()), (true, 0));
    assert!(!started().after(A::End(RunState::Cancelled)).is_for_results(), "nothing came of it");
}

#[test]
fn a_run_starts_goes_on_and_ends() {
    let state = started();
    assert_eq!(state.run, RunState::started("Starting"));
    assert_eq!((state.notes.clone(), state.ran.as_deref()), (vec![Rc::from("short")], Some(&config())));
    let half = RunState::Running { done: 1, total: 2, label: "x".to_owned() };
    changes(&state, A::Progress(half.clone()), |s| s.own.run = half.clone());
    changes(&state, A::End(RunState::Done), |s| s.own.run = RunState::Done);
    let ended = state.after(A::End(RunState::Cancelled));
    changes(&ended, A::Progress(half), |_| {});
    changes(&ended, A::GoOn, |s| s.own.run = RunState::started("Starting"));
    changes(&state, A::Note("b".to_owned()), |s| s.own.notes.push(Rc::from("b")));
    changes(&state, A::Dismiss("short".to_owned()), |s| s.own.notes.clear());
    // A link to what runs does not run it again.
    assert!(!state.after(load(config())).wants_run);
    let wants = ended.after(load(config()));
    assert!(wants.wants_run);
    changes(&wants, A::Taken, |s| s.wants_run = false);
}

#[test]
fn a_file_is_run_with_the_batch_sizes_that_it_takes_on_all_priced_instances() {
    const ID: &str = "file:bert.onnx@k3x9q2ab";
    let catalog = ns_session::catalog();
    let fixed = || OpenedPlan::of(&BatchRule::Fixed { size: 8 }, Some(&catalog));
    let given = |state: &BenchState| state.after(A::FileGiven("bert.onnx".to_owned()));
    let opened = |plan| A::Opened("bert.onnx".to_owned(), ID.to_owned(), plan);
    let form = given(&BenchState::default()).after(opened(fixed()));
    assert_eq!((form.text("model"), form.text("batch_sizes"), form.wants_run), (ID, "8", true));
    assert!(form.text("instance").starts_with("trn1.2xlarge,inf2.xlarge,inf2.8xlarge"), "{}", form.text("instance"));
    assert!(!form.text("instance").contains("trn2"), "it has no price");
    // Both workers of every core, and enough inferences for a p99, however fast the model is.
    let plan = form.config().0;
    assert_eq!((form.text("n_models"), &plan.workers_per_model, form.text("duration")), ("max", &None, "60"));
    assert_eq!(plan.options.max_inferences, Some(10_000));
    let rows = ns_bench::expand(&plan).unwrap().configurations;
    assert_eq!(rows.len(), 14);
    let all_cores =
        |row: &&Configuration| catalog.instances.iter().any(|i| i.name == row.instance_type && i.cores == row.n_models);
    assert_eq!(rows.iter().filter(all_cores).count(), 14);
    assert_eq!(form.in_short(), "bert.onnx \u{b7} 7 instances \u{b7} batch 8");
    let open = OpenedPlan::of(&BatchRule::Open { dimension: "batch".to_owned(), exported: 2 }, None);
    let without = given(&BenchState::default()).after(opened(open));
    assert_eq!((without.text("batch_sizes"), without.text("instance")), ("1,2,4,8,16,32,64", "trn1.2xlarge"));
    // Something else was asked for since.
    let late = given(&BenchState::default()).after(load(config()));
    assert_eq!(late.after(opened(fixed())), late);
    // A link ran without the file: every row failed.
    let config = form.config().0;
    let failed = form
        .after(A::Taken)
        .after(A::Start(Box::new(config.clone()), vec![]))
        .after(row(0))
        .after(A::End(RunState::Failed("not open".to_owned())));
    let again = given(&failed).after(opened(fixed()));
    assert_eq!((again.wants_run, again.config().0, again.hash()), (true, config, failed.hash()));
}

#[test]
fn rows_stand_in_the_order_of_the_sweep_and_imported_ones_after_them() {
    let rows = |list: &[u32]| A::Results(list.iter().map(|at| (RowId::Own(*at), result(*at))).collect());
    let state = started().after(rows(&[2, 0])).after(A::Imported(vec![Report::default(), Report::default()]));
    let state = state.after(rows(&[1]));
    let own = [RowId::Own(0), RowId::Own(1), RowId::Own(2)];
    assert_eq!(ids(&state), [&own[..], &[RowId::Imported(0), RowId::Imported(1)]].concat());
    assert_eq!(ids(&state.after(A::Imported(vec![Report::default()]))).last(), Some(&RowId::Imported(2)));
    assert_eq!(ids(&state.after(A::DropImported)), own);
    // Another run has its own rows; imported rows stay.
    let again = state.after(A::Select(RowId::Own(1))).after(A::Press).after(A::Start(Box::new(config()), vec![]));
    assert_eq!((ids(&again), again.selected), (vec![RowId::Imported(0), RowId::Imported(1)], None));
    // A row that arrives again replaces the first.
    let newer = state.after(rows(&[1]));
    assert_eq!(ids(&newer), ids(&state));
    assert!(newer.rows[1] != state.rows[1] && newer.rows[0] == state.rows[0]);
    assert_eq!(newer.report_list().len(), 5);
}

#[test]
fn a_scenario_has_a_list_of_its_own() {
    let row = |at: u32, label: &str| ScenarioRow { row: at, label: label.to_owned(), result: Err("x".to_owned()) };
    let rows = started().after(A::Results(vec![(RowId::Own(0), result(1))]));
    let state = rows.after(A::Scenario(vec![row(1, "b")])).after(A::Scenario(vec![row(0, "a"), row(1, "c")]));
    assert_eq!(*state.scenario, [row(0, "a"), row(1, "c")]);
    let scenario = BenchConfig { mlperf: Some(Default::default()), ..config() };
    let again = state.after(load(scenario.clone())).after(A::Start(Box::new(scenario), vec![]));
    assert_eq!((again.scenario.len(), ids(&again)), (0, vec![]));
}

#[test]
fn results_are_stale_when_the_form_asks_for_something_else() {
    let state = BenchState::default().after(load(config())).after(A::Start(Box::new(config()), vec![]));
    let state = state.after(A::Results(vec![(RowId::Own(0), result(1))]));
    let edited = |s: &BenchState| s.after(A::Edit("seed", "7".to_owned()));
    assert!(!state.is_stale() && !edited(&state).is_stale(), "while it runs nothing is stale");
    let ended = state.after(A::End(RunState::Done));
    assert!(!ended.is_stale() && edited(&ended).is_stale());
    assert!(ended.after(A::Edit("seed", "x".to_owned())).is_stale());
}

#[test]
fn the_hash_is_of_what_was_asked_for_and_of_how_results_are_looked_at() {
    let state = BenchState::default().after(load(config())).after(A::Filter(Rc::from("p99<5")));
    let hash = state.hash();
    assert!(hash.starts_with("#/benchmark?") && hash.contains("model=nn") && hash.contains("filter="), "{hash}");
}

#[test]
fn a_look_at_a_sweep_says_how_far_it_is() {
    let mut sweep = Rc::new(SweepState::new(config()).unwrap());
    let all = sweep.rows().len();
    let look = |sweep: &Rc<SweepState>, is_settled| SweepView::new(Rc::clone(sweep), BTreeMap::new(), 2, is_settled);
    let first = look(&sweep, false);
    assert!(first == look(&sweep, false) && first != look(&sweep, true));
    let state = started().after(A::Ran(first.clone())).after(A::Listed(Ok(first.clone())));
    assert!(state.sweep.is_some() && matches!(state.listed, Some(Ok(_))));
    assert_eq!(first.run_label(0.5, 10.0), format!("0 of {all} configurations, 2 workers, about 10 s left"));
    assert_eq!(first.run_label(0.5, 0.5), format!("0 of {all} configurations, 2 workers"));
    Rc::make_mut(&mut sweep).begin_next();
    assert!(look(&sweep, false) != first && first.sweep().progress().running == 0);
    assert!(overall_share(&sweep, &BTreeMap::from([(0, 0.5)])) > 0.0);
    Rc::make_mut(&mut sweep).pause();
    assert!(look(&sweep, false).run_label(0.5, 10.0).starts_with("Pausing: 0 of"));
    assert!(look(&sweep, true).run_label(0.5, 10.0).starts_with("Paused: 0 of"));
    let running = started().after(A::Ran(look(&sweep, true)));
    assert!(running.is_paused() && !running.after(A::End(RunState::Done)).is_paused());
    Rc::make_mut(&mut sweep).cancel();
    assert_eq!(overall_share(&sweep, &BTreeMap::new()), 1.0);
}

proptest! {
    #[test]
    fn rows_are_in_order_and_each_is_there_once(batches in prop::collection::vec(prop::collection::vec(0_u32..9, 0..4), 0..6), imports in 0_usize..4) {
        let mut state = started();
        for batch in &batches {
            state = state.after(A::Results(batch.iter().map(|at| (RowId::Own(*at), result(*at))).collect()));
            state = state.after(A::Imported(vec![Report::default(); imports]));
        }
        prop_assert!(ids(&state).windows(2).all(|pair| pair[0] < pair[1]));
        let own: std::collections::BTreeSet<u32> = batches.iter().flatten().copied().collect();
        prop_assert_eq!(state.rows.len(), own.len() + batches.len() * imports);
        let dropped = state.after(A::DropImported);
        prop_assert_eq!(dropped.rows.iter().map(ResultRow::report).count(), own.len());
    }
}

/// Any event of the page: what the user asks for, and what workers and the store bring.
fn events() -> impl Strategy<Value = Vec<A>> {
    let config = (0_u64..3, prop::sample::select(vec!["nn", "mlp"]))
        .prop_map(|(seed, model)| Box::new(BenchConfig { seed, model: model.to_owned(), ..config() }));
    let name = || prop::sample::select(vec!["a.onnx", "b.onnx"]).prop_map(str::to_owned);
    let intents = prop::sample::select(vec![LinkIntent::Result, LinkIntent::Form]);
    let plan = || OpenedPlan { batch_sizes: vec![8], instances: vec![] };
    let asks = prop_oneof![
        config.clone().prop_map(|config| vec![A::TakeUp(config)]),
        (config.clone(), intents).prop_map(|(config, intent)| vec![A::Load(config, intent)]),
        prop::option::of(config.clone()).prop_map(|latest| vec![A::Open(latest)]),
        name().prop_map(|name| vec![A::FileGiven(name)]),
        name().prop_map(move |name| vec![A::Opened(name.clone(), format!("file:{name}@12345678"), plan())]),
        Just(vec![A::Refused("no".to_owned())]),
        Just(vec![A::ShowAgain]),
        Just(vec![A::Press]),
        (0_u64..3).prop_map(|seed| vec![A::Edit("seed", seed.to_string())]),
    ];
    let comes = prop_oneof![
        config.clone().prop_map(|config| vec![A::Plan(config)]),
        config.prop_map(|config| vec![A::Start(config, vec![]), row(0)]),
        Just(vec![row(1)]),
        Just(vec![A::Imported(vec![Report::default()])]),
        Just(vec![A::End(RunState::Done)]),
        Just(vec![A::Taken]),
    ];
    prop_oneof![asks, comes]
}

proptest! {
    #[test]
    fn what_is_drawn_is_what_the_address_asks_for(events in prop::collection::vec(events(), 0..30)) {
        let mut state = BenchState::default();
        for action in events.into_iter().flatten() {
            state = state.after(action);
            let own = state.rows.iter().any(|row| matches!(row.id, RowId::Own(_)));
            prop_assert_eq!(own, state.request().is_some());
            if let Some(request) = state.request() {
                prop_assert!(state.hash().starts_with(&request), "{} draws {request}", state.hash());
                let model = state.ran.as_ref().map(|ran| ns_session::model_label(&ran.model).into_owned()).unwrap_or_default();
                prop_assert!(state.in_short().starts_with(&model), "{} draws {model}", state.in_short());
            }
        }
    }
}
