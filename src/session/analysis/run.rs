//! One question being answered, a bounded number of slices at a time.

use super::ask::query_table;
use super::counters::counter_table;
use super::groups::group_table;
use super::idle::idle_table;
use super::in_order::in_order_shown;
use super::listing::{Listing, Sources};
use super::members::{MOST_SLICES, slice_table};
use super::path::{path_shown, path_table};
use super::question::{Answer, Question};
use super::said::said;
use crate::base::StrId;
use crate::profile::analysis::calltree::{CallTreePass, SandwichPass};
use crate::profile::analysis::compare::{OperatorTotals, compared_by_default};
use crate::profile::analysis::counters::{CounterPass, CurvePass};
use crate::profile::analysis::critical::CriticalPass;
use crate::profile::analysis::flame::{FlameGraph, SandwichGraph};
use crate::profile::analysis::histogram::Histogram;
use crate::profile::analysis::idle::IdlePass;
use crate::profile::analysis::in_order::InOrderPass;
use crate::profile::analysis::members::{MemberOrder, MemberPass};
use crate::profile::analysis::modules::ModulePass;
use crate::profile::analysis::operators::{OpQuery, OperatorPass};
use crate::profile::analysis::query::{QueryPass, parse};
use crate::profile::analysis::sentences::SentencesPass;
use crate::profile::analysis::work::Works;
use crate::profile::analysis::{GroupBy, Grouping};
use crate::session::timeline::own_name;
use crate::session::{Event, JobId, ProfileKey};

/// Most nodes of a flame graph or module tree, and most bins, whatever is asked for.
const MOST_NODES: usize = 20_000;

/// A shell hears how far it is after so many steps, of about 10 ms each.
const STEPS_OF_PROGRESS: u32 = 24;

/// What was asked.
#[derive(Clone, Debug)]
pub(in crate::session) enum Asked {
    List(Listing),
    Analyse(Question),
}

/// A question with what has been computed for it.
pub(in crate::session) struct AnalysisRun {
    pub job: JobId,
    pub profile: ProfileKey,
    asked: Asked,
    pass: Option<Pass>,
    steps: u32,
}

/// What is being computed.
enum Pass {
    Groups(OperatorPass),
    Members(MemberPass),
    Flame(CallTreePass),
    InOrder(InOrderPass),
    Sandwich(SandwichPass),
    Modules(ModulePass),
    Query(Box<QueryPass>),
    Counters(CounterPass),
    Curve(Box<CurvePass>),
    Idle(Box<(Works, IdlePass)>),
    Path(Box<(Works, CriticalPass)>),
    Sentences(Box<(Works, SentencesPass)>),
}

impl Pass {
    /// Looks at about `limit` slices or samples more. Returns whether it has seen all.
    fn advance(&mut self, sources: &Sources<'_>, limit: usize) -> bool {
        let profile = sources.profile;
        match self {
            Self::Groups(pass) => pass.advance(profile, limit),
            Self::Members(pass) => pass.advance(profile, limit),
            Self::Flame(pass) => pass.advance(profile, limit),
            Self::InOrder(pass) => pass.advance(profile, limit),
            Self::Sandwich(pass) => pass.advance(profile, limit),
            Self::Modules(pass) => pass.advance(profile, limit),
            Self::Query(pass) => pass.advance(profile, limit),
            Self::Counters(pass) => pass.advance(profile, limit),
            Self::Curve(pass) => pass.advance(profile, limit),
            Self::Idle(of) => of.1.advance(profile, &of.0, (sources.flows)(), limit),
            Self::Path(of) => of.1.advance(profile, &of.0, (sources.flows)(), limit),
            Self::Sentences(of) => of.1.advance(profile, &of.0, (sources.flows)(), limit),
        }
    }

    /// How much is done, and of how much, after so many slices; nothing where that is not known.
    fn progress(&self, seen: u64, slices: u64) -> (u64, u64) {
        match self {
            Self::Idle(of) => of.1.progress(),
            Self::Path(of) => of.1.progress(),
            Self::Sentences(of) => of.1.progress(),
            _ => (seen.min(slices), slices),
        }
    }
}

impl AnalysisRun {
    pub fn new(job: JobId, profile: ProfileKey, asked: Asked) -> Self {
        Self { job, profile, asked, pass: None, steps: 0 }
    }

    /// Looks at about `limit` slices more. Returns the answer when all were seen, and now and then how far it is.
    ///
    /// # Errors
    /// With a message for the person when the question can not be answered.
    pub fn step(&mut self, sources: &Sources<'_>, limit: usize) -> Result<Option<Event>, String> {
        let pass = match &mut self.pass {
            Some(pass) => pass,
            none => none.insert(prepare(sources, &self.asked)?),
        };
        self.steps += 1;
        if !pass.advance(sources, limit) {
            if !self.steps.is_multiple_of(STEPS_OF_PROGRESS) {
                return Ok(None);
            }
            let seen = u64::from(self.steps).saturating_mul(limit as u64);
            let (done, total) = pass.progress(seen, sources.profile.slices().len() as u64);
            let label = "Counting".to_owned();
            return Ok(Some(Event::Progress { job: self.job, done, total, label }));
        }
        match self.pass.take() {
            Some(pass) => self.answer(sources, pass).map(Some),
            None => Ok(None),
        }
    }

    fn answer(&self, sources: &Sources<'_>, pass: Pass) -> Result<Event, String> {
        let (job, profile) = (self.job, self.profile);
        let listed = |listed| Event::Listed { job, profile, listed: Box::new(listed) };
        let analysed = |answer| Event::Analysed { job, profile, answer: Box::new(answer) };
        let data = sources.profile;
        Ok(match (pass, &self.asked) {
            (Pass::Groups(pass), Asked::Analyse(Question::Totals { .. })) => {
                analysed(Answer::Totals(OperatorTotals::of(data, &pass.finish(data), sources.name)))
            }
            (Pass::Groups(pass), _) => listed(group_table(sources, &pass.finish(data))),
            (Pass::Members(pass), Asked::List(Listing::Members(of))) => {
                listed(slice_table(sources, &pass.finish(data, of.order), of.skip, of.limit))
            }
            (Pass::Members(pass), Asked::Analyse(Question::Histogram { scale, bins, .. })) => {
                let durations = pass.finish(data, MemberOrder::Time).into_iter().map(|(_, dur)| dur).collect();
                analysed(Answer::Histogram(Histogram::of(durations, *scale, nodes(*bins))))
            }
            (Pass::Flame(pass), Asked::Analyse(Question::Flame { from, limit, .. })) => {
                let tree = pass.finish();
                let root = tree.find(data, from).ok_or_else(|| {
                    format!("there is no stack '{}' among the selected slices: start from the whole", from.join(" > "))
                })?;
                analysed(Answer::Flame(FlameGraph::of(data, &tree, root, nodes(*limit))))
            }
            (Pass::InOrder(pass), _) => analysed(Answer::InOrder(in_order_shown(sources, &pass.finish(data)))),
            (Pass::Sandwich(pass), Asked::Analyse(Question::Sandwich { limit, .. })) => {
                analysed(Answer::Sandwich(SandwichGraph::of(data, &pass.finish(), nodes(*limit))))
            }
            (Pass::Modules(pass), Asked::Analyse(Question::Modules { limit, .. })) => {
                analysed(Answer::Modules(pass.finish(nodes(*limit))))
            }
            (Pass::Query(pass), _) => listed(query_table(sources, &pass.finish(data))),
            (Pass::Counters(pass), _) => listed(counter_table(sources, pass.finish())),
            (Pass::Curve(pass), _) => analysed(Answer::Curve(pass.finish())),
            (Pass::Idle(of), Asked::List(Listing::Idle(asked))) => {
                listed(idle_table(sources, &of.1.finish(), asked.skip))
            }
            (Pass::Path(of), Asked::List(Listing::CriticalPath(asked))) => {
                listed(path_table(sources, &of.1.finish(), asked.limit))
            }
            (Pass::Path(of), Asked::Analyse(Question::Path(asked))) => {
                analysed(Answer::Path(path_shown(sources, &of.1.finish(), asked.limit)))
            }
            (Pass::Sentences(of), _) => {
                let (works, pass) = *of;
                analysed(Answer::Sentences(said(sources, pass.finish(data, &works))))
            }
            _ => return Err("the question changed while it was answered: ask again".to_owned()),
        })
    }
}

fn nodes(limit: u32) -> usize {
    (limit as usize).clamp(1, MOST_NODES)
}

fn prepare(sources: &Sources<'_>, asked: &Asked) -> Result<Pass, String> {
    let (profile, tracks) = (sources.profile, sources.tracks);
    let members = |of: &super::listing::Chosen, by: GroupBy, name: &str| {
        let name = own_name(profile, &Grouping::new(profile, by), name);
        Pass::Members(MemberPass::new(profile, of.selection(tracks), by, name))
    };
    Ok(match asked {
        Asked::List(Listing::Groups(of)) => {
            let selection = of.chosen().selection(tracks);
            Pass::Groups(OperatorPass::new(profile, OpQuery { group_by: of.by, selection, percentiles: true }))
        }
        Asked::Analyse(Question::Totals { of, by }) => {
            let (default_by, rows) = compared_by_default(profile);
            let mut selection = of.selection(tracks);
            if by.is_none() && of.tracks.is_none() {
                selection.tracks = rows.tracks;
            }
            let query = OpQuery { group_by: by.unwrap_or(default_by), selection, percentiles: false };
            Pass::Groups(OperatorPass::new(profile, query))
        }
        Asked::List(Listing::Members(of)) => members(&of.of, of.by, &of.name),
        Asked::Analyse(Question::Histogram { of, by, name, .. }) => members(of, *by, name),
        Asked::Analyse(Question::Flame { of, by_thread, .. }) => {
            Pass::Flame(CallTreePass::new(profile, of.selection(tracks), *by_thread))
        }
        Asked::Analyse(Question::InOrder { of, limit }) => {
            Pass::InOrder(InOrderPass::new(profile, of.selection(tracks), nodes(*limit)))
        }
        Asked::Analyse(Question::Sandwich { of, name, .. }) => {
            Pass::Sandwich(SandwichPass::new(profile, of.selection(tracks), known_name(sources, name)?))
        }
        Asked::List(Listing::Query(text)) => {
            Pass::Query(Box::new(QueryPass::new(profile, parse(text).map_err(|e| e.to_string())?)))
        }
        Asked::List(Listing::Idle(of)) => {
            let limit = of.skip.saturating_add(of.limit.min(MOST_SLICES)) as usize;
            Pass::Idle(Box::new((Works::of(profile), IdlePass::new(profile, of.range, limit))))
        }
        Asked::List(Listing::CriticalPath(of)) | Asked::Analyse(Question::Path(of)) => {
            Pass::Path(Box::new((Works::of(profile), CriticalPass::new(profile, of.range))))
        }
        Asked::Analyse(Question::Sentences) => {
            Pass::Sentences(Box::new((Works::of(profile), SentencesPass::new(profile))))
        }
        Asked::List(Listing::Counters(of)) => Pass::Counters(CounterPass::new(profile, of.range)),
        Asked::Analyse(Question::Curve { name, range, points }) => {
            let curve = CurvePass::new(profile, name, *range, nodes(*points));
            let missing = || format!("there is no counter '{name}': choose one of the table of counters");
            Pass::Curve(Box::new(curve.ok_or_else(missing)?))
        }
        Asked::Analyse(Question::Modules { of, .. }) => Pass::Modules(ModulePass::new(profile, of.selection(tracks))),
    })
}

fn known_name(sources: &Sources<'_>, name: &str) -> Result<StrId, String> {
    let found = sources.profile.strings().lookup(name);
    found.ok_or_else(|| format!("no slice is named '{name}': give a name as the table of operators shows it"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Diagnostics;
    use crate::profile::flows::FlowIndex;
    use crate::profile::{Profile, ProfileBuilder};
    use crate::session::timeline::ShownTracks;
    use crate::session::{SpanOf, analysis::Answer};

    fn profile() -> Profile {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", "python");
        let t = b.thread(p, "1", "main");
        for i in 0..400 {
            b.slice(t, i * 10, 7, if i % 2 == 0 { "mm" } else { "add" }, "cpu_op", None);
        }
        b.finish(Diagnostics::new())
    }

    /// The last event of a question answered `limit` slices at a time, and the progress before it.
    fn answered(profile: &Profile, asked: Asked, limit: usize) -> (Event, Vec<(u64, u64)>) {
        let (tracks, flows) = (ShownTracks::of(profile), FlowIndex::new(profile));
        let sources = Sources { profile, name: "test", tracks: &tracks, flows: &|| &flows };
        let mut run = AnalysisRun::new(JobId(1), ProfileKey(0), asked);
        let mut told = Vec::new();
        for _ in 0..100_000 {
            match run.step(&sources, limit).unwrap() {
                Some(Event::Progress { done, total, .. }) => told.push((done, total)),
                Some(event) => return (event, told),
                None => {}
            }
        }
        panic!("it never ends");
    }

    #[test]
    fn answers_in_steps_are_those_at_once_and_say_how_far_they_are() {
        let profile = profile();
        let span = SpanOf { limit: 50, ..SpanOf::default() };
        for asked in [
            Asked::List(Listing::Idle(span.clone())),
            Asked::List(Listing::CriticalPath(span.clone())),
            Asked::Analyse(Question::Path(span)),
            Asked::Analyse(Question::Sentences),
        ] {
            let (whole, _) = answered(&profile, asked.clone(), usize::MAX);
            let (stepped, told) = answered(&profile, asked, 3);
            assert_eq!(stepped, whole);
            assert!(told.len() > 2 && told.iter().all(|(done, total)| done <= total), "{told:?}");
        }
    }

    #[test]
    fn a_path_comes_with_its_names() {
        let profile = profile();
        let asked = Asked::Analyse(Question::Path(SpanOf { limit: 10, ..SpanOf::default() }));
        let (Event::Analysed { answer, .. }, _) = answered(&profile, asked, 64) else { panic!("no answer") };
        let Answer::Path(path) = *answer else { panic!("no path") };
        // 400 slices of 7 ns with 3 ns between them.
        assert_eq!((path.length_ns, path.total, path.steps.len(), path.by_name.total), (3_997, 799, 10, 3));
    }
}
