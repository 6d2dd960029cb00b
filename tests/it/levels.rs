//! Levels: slices that show the same work are never added up, and an operator has the same count and time in every tool.

use neuronscope::analysis::calltree::call_tree;
use neuronscope::analysis::compare::{OperatorTotals, grouped_by_default};
use neuronscope::analysis::operators::{OpQuery, OpTable, operator_stats};
use neuronscope::analysis::query::{QueryValue, ask};
use neuronscope::analysis::{GroupBy, Selection, Threads};
use neuronscope::base::{Interval, TraceNs};
use neuronscope::formats::chrome::write_to_string;
use neuronscope::formats::{WriteFormat, read_bytes};
use neuronscope::profile::levels::LevelId;
use neuronscope::profile::neuron::{OperatorView, operator_table};
use neuronscope::profile::{Profile, ProfileBuilder, SliceFlags, SliceId, Unit};
use neuronscope::session::{
    AnalysisRequest, ByteSource, Event, ExportKind, ExportedFile, GroupsOf, JobId, JobRequest, Listing, Message,
    ProfileKey, ProfileQuestion, ProfileSpec, Reply, Request, Rows, Session, StepResult, Workflow,
};
use neuronscope::view::table::Cell;
use neuronscope::view::timeline::{GroupKind, SliceGroup, TimelineQuery};
use proptest::prelude::*;

use crate::formats::{fixtures, large_traces};

fn ask_session(session: &mut Session, request: Request) -> Vec<Event> {
    session.handle(request, None::<Box<dyn ByteSource>>);
    let mut events = Vec::new();
    while session.step(1_000_000, &mut |e| events.push(e)) == StepResult::More {}
    events
}

/// A simulated run, as its file holds it.
fn simulated(model: &str, workflow: Workflow) -> Profile {
    let (mut session, job) = (Session::new(), JobId(1));
    let spec = ProfileSpec { model: model.to_owned(), workflow, ..ProfileSpec::default() };
    ask_session(&mut session, Request::new(job, JobRequest::Profile(spec)));
    let export = Request::new(
        job,
        ProfileQuestion::Export { kind: ExportKind::ChromeJson, marks: Vec::new() }.of(ProfileKey(0)),
    );
    let events = ask_session(&mut session, export);
    let [Event::Message(_, Message::File(ExportedFile { bytes, .. }))] = &events[..] else { panic!("{events:?}") };
    read_bytes("run.json", bytes).unwrap()
}

fn fixture(name: &str) -> Profile {
    read_bytes(name, &std::fs::read(fixtures().join(name)).unwrap()).unwrap()
}

fn of_level(profile: &Profile, name: &str) -> Selection {
    Selection::of_level(profile.levels().find(name).unwrap())
}

fn stats(profile: &Profile, group_by: GroupBy, selection: Selection) -> OpTable {
    operator_stats(profile, &OpQuery { group_by, selection, percentiles: false })
}

/// Count, total and self time of a group.
fn of_group(profile: &Profile, table: &OpTable, name: &str) -> (u64, i64, i64) {
    let row = table.stats.iter().find(|s| table.name(profile, s) == name);
    row.map(|s| (s.count, s.total_ns, s.self_ns)).unwrap()
}

fn default_name(profile: &Profile) -> &str {
    profile.levels().name(profile.levels().default_level())
}

/// The level of every slice, with its name.
fn levels_of_slices(profile: &Profile) -> Vec<(String, String)> {
    let (slices, levels) = (profile.slices(), profile.levels());
    let level = |id: SliceId| levels.name(Some(levels.of_slice(profile, slices.track(id), id))).to_owned();
    slices.ids().map(|id| (profile.str(slices.name(id)).to_owned(), level(id))).collect()
}

/// Time in which a thread has slices of a level, over all threads.
fn busy_ns(profile: &Profile, level: Option<LevelId>) -> i64 {
    let (slices, selection) = (profile.slices(), Selection::of_level(level));
    let threads = Threads::of(profile).lanes(&selection.tracks_of(profile));
    let busy = |lanes: &Vec<_>| {
        let all = lanes.iter().flat_map(|t| slices.of_track(*t)).filter_map(|id| selection.counted_part(profile, id));
        Interval::merge(all.collect()).iter().map(|s: &Interval<TraceNs>| s.end.0 - s.start.0).sum::<i64>()
    };
    threads.iter().map(busy).sum()
}

/// Every slice is on one level, and the self times of a level add up to the busy time of its threads.
fn check(profile: &Profile, what: &str) {
    let levels = profile.levels();
    let own = |t: neuronscope::profile::TrackId| profile.tracks()[t].kind.is_own();
    let slices = profile.slices();
    let all = slices.ids().filter(|id| own(slices.track(*id))).count() as u64;
    assert_eq!(levels.used().map(|(_, l)| l.slices).sum::<u64>(), all, "{what}: slices of all levels");
    let closed =
        slices.ids().filter(|id| own(slices.track(*id)) && !slices.flags(*id).has(SliceFlags::UNCLOSED)).count();
    let mut counted = 0;
    for (id, level) in levels.used() {
        let selection = Selection::of_level(Some(id));
        counted +=
            slices.ids().filter(|s| own(slices.track(*s)) && selection.counted_part(profile, *s).is_some()).count();
        let sum: i64 = selection.self_times(profile).iter().sum();
        assert_eq!(sum, busy_ns(profile, Some(id)), "{what}: self time of {}", level.name);
        assert_eq!(levels.find(&level.name.replace(' ', "-")), Ok(Some(id)), "{what}: {}", level.name);
    }
    assert_eq!(counted, closed, "{what}: each slice counts on one level");
}

#[test]
fn levels_of_real_and_simulated_profiles_never_overlap() {
    for name in [
        "hta_amd_mi250_minitoy.json.gz",
        "hta_critical_path_overlaid.json.gz",
        "hta_cpu_only_rank34.json.gz",
        "tracelens_qwen05b_mi300.json.gz",
        "catapult_simple_trace.json",
        "clang_clang11-pid-45_test.json",
    ] {
        check(&fixture(name), name);
    }
    for workflow in [Workflow::Trace, Workflow::MarkStep] {
        check(&simulated("nn", workflow), "nn");
    }
}

#[test]
#[ignore = "needs NEURONSCOPE_TRACES"]
fn levels_of_large_traces_never_overlap() {
    let dir = large_traces();
    for name in ["tracelens_jax_te_fused_attn.xplane.pb", "kineto_resnet50_workers0_a.json.gz"] {
        check(&read_bytes(name, &std::fs::read(dir.join(name)).unwrap()).unwrap(), name);
    }
}

#[test]
fn an_operator_of_a_simulated_run_is_the_same_in_every_tool() {
    for (model, workflow) in [("nn", Workflow::MarkStep), ("nn", Workflow::Trace), ("mlp", Workflow::Trace)] {
        let profile = simulated(model, workflow);
        let levels = profile.levels();
        assert_eq!(levels.name(levels.default_level()), "framework ops");
        let default = Selection::of_level(levels.default_level());
        for (view, level) in [(OperatorView::Framework, "framework ops"), (OperatorView::Hlo, "HLO ops")] {
            let table = operator_table(&profile, view);
            let grouped = stats(&profile, GroupBy::CategoryOrName, of_level(&profile, level));
            assert!(!table.is_empty() && table.len() == grouped.stats.len(), "{model}");
            for row in &table {
                let (count, _, own) = of_group(&profile, &grouped, &row.name);
                assert_eq!((count, own), (row.occurrences, row.time_ns), "{model} {}", row.name);
            }
            // The self times of the level are at most the window of the device, whatever runs in parallel.
            let own: i64 = grouped.stats.iter().map(|s| s.self_ns).sum();
            assert!(own <= profile.span_ns(), "{model}: {own} ns in a profile of {} ns", profile.span_ns());
        }
        let by = grouped_by_default(&profile);
        let compared = OperatorTotals::of(&profile, &default, &stats(&profile, by, default.clone()), model);
        let tree = call_tree(&profile, &default, false);
        let text = "group by operator select operator, count, sum(self)";
        let answer = ask(&profile, text, levels.default_level()).unwrap();
        for row in &operator_table(&profile, OperatorView::Framework) {
            let (count, ns) = (row.occurrences, row.time_ns);
            let in_compare = compared.rows.iter().find(|r| r.name == row.name).unwrap();
            assert_eq!((in_compare.count, in_compare.self_ns), (count, ns), "{model} {}", row.name);
            let nodes = tree.nodes().iter().filter(|n| n.frame.label(&profile) == row.name);
            let in_flame = nodes.fold((0, 0), |(c, t), n| (c + n.count, t + n.self_ns));
            assert_eq!(in_flame, (count, ns), "{model} {}", row.name);
            let expected = [QueryValue::Text(row.name.clone()), QueryValue::Int(count as i64), QueryValue::Int(ns)];
            assert!(answer.rows.iter().any(|r| *r == expected), "{model} {expected:?} of {:?}", answer.rows);
        }
    }
}

#[test]
fn levels_survive_writing_and_reading() {
    for name in ["hta_amd_mi250_minitoy.json.gz", "tracelens_qwen05b_mi300.json.gz", "catapult_simple_trace.json"] {
        let profile = fixture(name);
        let again = read_bytes("again.json", write_to_string(&profile).as_bytes()).unwrap();
        assert_eq!(levels_of_slices(&again), levels_of_slices(&profile), "{name}");
        assert_eq!(default_name(&again), default_name(&profile), "{name}");
    }
    let run = simulated("nn", Workflow::Trace);
    let again = read_bytes("again.json", write_to_string(&run).as_bytes()).unwrap();
    assert_eq!(levels_of_slices(&again), levels_of_slices(&run));
    let perfetto = read_bytes("again.pftrace", &WriteFormat::Perfetto.write(&run)).unwrap();
    assert_eq!(default_name(&perfetto), "framework ops");
}

#[test]
fn wrappers_lead_no_list_of_kineto() {
    let profile = fixture("hta_amd_mi250_minitoy.json.gz");
    let levels = profile.levels();
    assert_eq!(levels.name(levels.default_level()), "device kernels");
    let wrapping: Vec<&str> = levels.used().filter(|(_, l)| l.wraps).map(|(_, l)| l.name.as_str()).collect();
    assert_eq!(wrapping, ["steps", "device steps", "profiler", "waits"]);
    // Over all levels too: the profiler's own span and steps are the last, though they are the longest.
    let all = stats(&profile, GroupBy::Name, Selection::default());
    let place = |name: &str| all.stats.iter().position(|s| all.name(&profile, s) == name);
    let last_work = all.stats.iter().rposition(|s| !s.wraps).unwrap();
    assert!(place("PyTorch Profiler (0)").unwrap() > last_work);
    assert!(all.stats.iter().skip(last_work + 1).all(|s| s.wraps) && !all.stats[0].wraps);
    // On its level the same kernel has the same time as over all levels.
    let kernels = stats(&profile, GroupBy::Name, of_level(&profile, "device-kernels"));
    for row in &kernels.stats {
        let name = kernels.name(&profile, row);
        assert_eq!(of_group(&profile, &all, name).1, row.total_ns, "{name}");
    }
    assert!(kernels.stats.iter().all(|s| !kernels.name(&profile, s).starts_with("aten::")));
    let error = levels.find("engines").unwrap_err().to_string();
    assert!(error.contains("'engines'") && error.contains("device kernels"), "{error}");
}

#[test]
fn an_area_counts_the_part_of_a_slice_inside() {
    let profile = fixture("hta_amd_mi250_minitoy.json.gz");
    let slices = profile.slices();
    let step = slices.ids().find(|id| profile.str(slices.name(*id)).starts_with("ProfilerStep#")).unwrap();
    let (start, dur) = (slices.start(step).0, slices.dur_ns(step));
    let within = Some(Interval::new(TraceNs(start + dur / 5), TraceNs(start + dur / 5 * 2)));
    let tracks = Some(vec![slices.track(step)]);
    let found = stats(&profile, GroupBy::Name, Selection { within, tracks, level: None });
    let (count, total, _) = of_group(&profile, &found, profile.str(slices.name(step)));
    assert_eq!((count, total), (1, dur / 5));
    assert!(found.stats.iter().all(|s| s.max_ns <= dur / 5), "nothing is longer than the area");
}

#[test]
fn stacks_that_were_counted_keep_their_unit() {
    let profile = fixture("speedscope_stackcollapse_simple-utf16-le.txt");
    assert_eq!(profile.meta().unit, Unit::count_of("samples"));
    let timed = fixture("speedscope_speedscope_0.6.0_two-sampled.speedscope.json");
    assert_eq!(timed.meta().unit, Unit::Ns);
}

proptest! {
    #[test]
    fn levels_of_any_slices_never_overlap(
        slices in prop::collection::vec((0u8..3, 0u8..6, 0i64..200, 0i64..90), 1..60),
    ) {
        const KINDS: [(&str, &str); 6] = [
            ("ProfilerStep#1", "user_annotation"),
            ("forward", "user_annotation"),
            ("aten::mm", "cpu_op"),
            ("cudaLaunchKernel", "cuda_runtime"),
            ("gemm", "kernel"),
            ("PyTorch Profiler (0)", "Trace"),
        ];
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", "python");
        let tracks = [b.thread(p, "7", "stream"), b.thread(p, "7.2", "stream"), b.thread(p, "1", "main")];
        for &(track, kind, start, dur) in &slices {
            let (name, category) = KINDS[usize::from(kind)];
            b.slice(tracks[usize::from(track)], start, dur, name, category, None);
        }
        check(&b.finish(neuronscope::base::Diagnostics::new()), "made up");
    }
}

/// The slices of the device's thread: the count in the table, the hits of a search for the group, and the highlighted slices.
#[test]
fn a_highlighted_group_has_the_slices_that_the_table_counted() {
    let (mut session, job, name) = (Session::new(), JobId(1), "hta_amd_mi250_minitoy.json.gz");
    let bytes = std::fs::read(fixtures().join(name)).unwrap();
    let open = Request::new(job, JobRequest::Open { name: name.to_owned(), size: bytes.len() as u64 });
    session.handle(open, Some(Box::new(bytes)));
    while session.step(1_000_000, &mut |_| {}) == StepResult::More {}
    let profile = ProfileKey(0);

    for (level, expected) in [(None, 16), (Some("device-kernels"), 16), (Some("all"), 18), (Some("no such"), 16)] {
        let known = level.filter(|l| *l != "no such").map(str::to_owned);
        let of = GroupsOf { by: GroupBy::Thread, level: known, ..GroupsOf::default() };
        let rows = Rows { skip: 0, limit: 100 };
        let events =
            ask_session(&mut session, Request::new(job, AnalysisRequest::List(Listing::Groups(of), rows).of(profile)));
        let Some(Event::Message(_, Message::Answer(Reply::Listed(listed)))) = events.last() else {
            panic!("{events:?}")
        };
        let row = listed.table.rows.iter().find(|r| matches!(&r[0], Cell::Text(t) if t.contains("stream")));
        let row = row.unwrap_or_else(|| panic!("{:?}", listed.table.rows));
        let Cell::Text(group) = &row[0] else { panic!("{row:?}") };
        assert_eq!(row[1].number(), Some(f64::from(expected)), "{level:?}");

        let kind = |level: Option<&str>| GroupKind { by: GroupBy::Thread, level: level.map(str::to_owned) };
        let mut found = |level| {
            let search = Request::new(
                job,
                ProfileQuestion::Search { text: group.clone(), by: Some(kind(level)), limit: 100 }.of(profile),
            );
            let events = ask_session(&mut session, search);
            let [Event::Message(_, Message::Answer(Reply::Search(hits)))] = &events[..] else { panic!("{events:?}") };
            (hits.total, hits.hits.clone())
        };
        assert_eq!(found(level).0, u64::from(expected as u32), "{level:?}");

        let mut lit = 0;
        for hit in found(Some("all")).1 {
            let span = Interval::new(TraceNs(hit.start_ns), TraceNs(hit.start_ns + hit.duration_ns as i64));
            let group = Some(SliceGroup { kind: kind(level), name: group.clone() });
            let query = TimelineQuery { span, resolution_ns: 1, tracks: vec![hit.track], group };
            let query = TimelineQuery { resolution_ns: hit.duration_ns.div_ceil(1_000).next_power_of_two(), ..query };
            let events = ask_session(&mut session, Request::new(job, ProfileQuestion::Timeline(query).of(profile)));
            let [Event::Message(_, Message::Answer(Reply::Timeline(tile)))] = &events[..] else { panic!("{events:?}") };
            let at = tile.tracks[0].slice.iter().position(|s| *s == hit.slice).unwrap();
            let (_, is_in) = tile.group.as_ref().unwrap();
            lit += u32::from(is_in[tile.tracks[0].name[at] as usize]);
        }
        assert_eq!(lit, expected as u32, "{level:?}");
    }
}
