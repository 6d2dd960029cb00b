//! For each question, the analysis that answers it and the answer made from its result.

use super::links::{linked_in_order, linked_sentences};
use super::listing::{Listing, Rows, SliceFilter, Sources};
use super::memory::{memory_operators_table, memory_steps_table, memory_table};
use super::path::{parts_by_length, parts_table, path_steps, path_table};
use super::question::{Answer, Question};
use super::steps::{NoPass, Running, answered, listed};
use super::tables::{counter_table, group_table, idle_table, query_table, slice_table};
use crate::overview::{Context, overview_document};
use crate::timeline::own_name;
use ns_analysis::calltree::{CallTreePass, SandwichPass};
use ns_analysis::compare::{OperatorTotals, grouped_by_default};
use ns_analysis::counters::{CounterPass, CurvePass};
use ns_analysis::critical::CriticalPass;
use ns_analysis::flame::{FlameGraph, SandwichGraph};
use ns_analysis::histogram::Histogram;
use ns_analysis::idle::IdlePass;
use ns_analysis::in_order::InOrderPass;
use ns_analysis::members::{MemberOrder, MemberPass};
use ns_analysis::memory::MemoryPass;
use ns_analysis::module_flame::ModuleFlamePass;
use ns_analysis::modules::ModulePass;
use ns_analysis::operators::{OpQuery, OperatorPass};
use ns_analysis::query::{QueryPass, parse};
use ns_analysis::sentences::SentencesPass;
use ns_analysis::{GroupBy, Grouping, Names, Selection};
use ns_base::StrId;
use ns_profile::Profile;
use ns_view::document::Document;

/// Most nodes of a flame graph or module tree, and most bins, whatever the request.
const MOST_NODES: usize = 20_000;

/// The analysis for some rows of a table. Fails with a message for the user when the question cannot be answered.
pub fn prepare_table(sources: &Sources<'_>, what: &Listing, rows: Rows) -> Result<Box<dyn Running>, String> {
    let profile = sources.profile;
    Ok(match what {
        Listing::Groups(of) => {
            let selection = of.slice_filter().selection(sources)?;
            let query = OpQuery { group_by: of.by, selection, percentiles: true };
            listed(OperatorPass::new(profile, query), |pass, s| pass.finish(s.profile), group_table)
        }
        Listing::Members(of) => {
            let order = of.order;
            listed(
                members(sources, &of.of, of.by, &of.name)?,
                move |pass, s| pass.finish(s.profile, order),
                |s, found, rows| slice_table(s, found, rows),
            )
        }
        Listing::Idle(range) => listed(IdlePass::new(profile, *range, rows.end()), |pass, _| pass.finish(), idle_table),
        Listing::CriticalPath(range, instances) => {
            let names = Names::of(profile, *instances);
            listed(CriticalPass::new(profile, *range), move |pass, _| (pass.finish(), names), path_table)
        }
        Listing::PathParts(range) => {
            listed(CriticalPass::new(profile, *range), |pass, _| parts_by_length(pass.finish()), parts_table)
        }
        Listing::Counters(range) => listed(
            CounterPass::new(profile, *range),
            |pass, _| pass.finish(),
            |s, found, rows| counter_table(s, found, rows),
        ),
        Listing::Memory => listed(
            MemoryPass::new(profile),
            |pass, s| pass.finish(s.profile),
            |s, found, rows| memory_table(s, found, rows),
        ),
        Listing::MemoryOperators => listed(
            MemoryPass::new(profile),
            |pass, s| pass.finish(s.profile),
            |s, found, rows| memory_operators_table(s, found, rows),
        ),
        Listing::MemorySteps => listed(
            MemoryPass::new(profile),
            |pass, s| pass.finish(s.profile),
            |s, found, rows| memory_steps_table(s, found, rows),
        ),
        Listing::Query(of) => {
            let query = parse(&of.text).map_err(|e| e.to_string())?;
            let level = SliceFilter { level: of.level.clone(), ..SliceFilter::default() }.selection(sources)?.level;
            let text = of.text.clone();
            let table = move |s: &Sources<'_>, found: &_, rows| query_table(s, found, rows, &text);
            listed(QueryPass::new(profile, query, level), |pass, s| pass.finish(s.profile), table)
        }
    })
}

/// The analysis for an answer that is not a table. Fails with a message for the user when the question cannot be answered.
pub fn prepare_answer(sources: &Sources<'_>, question: &Question) -> Result<Box<dyn Running>, String> {
    let profile = sources.profile;
    Ok(match question {
        Question::Totals { of, by } => {
            totals(profile, of.selection(sources)?, by.unwrap_or_else(|| grouped_by_default(profile)))
        }
        Question::Histogram { of, by, name, scale, bins } => {
            let (scale, bins) = (*scale, nodes(*bins));
            answered(members(sources, of, *by, name)?, move |pass, s| {
                let found = pass.finish(s.profile, MemberOrder::Time);
                Ok(Answer::Histogram(Histogram::of(found.into_iter().map(|(_, dur)| dur).collect(), scale, bins)))
            })
        }
        Question::Flame { of, by_thread, is_inverted, instances, from, limit } => {
            let selection = without_profiler(profile, of.selection(sources)?);
            let (from, limit) = (from.clone(), nodes(*limit));
            if let Some(pass) = ModuleFlamePass::new(profile, &selection).filter(|_| !by_thread && !is_inverted) {
                return Ok(module_flame(pass, from, limit));
            }
            let pass = CallTreePass::new(profile, selection, *by_thread, Names::of(profile, *instances));
            flame(pass, *is_inverted, from, limit)
        }
        Question::InOrder { of, limit } => {
            answered(InOrderPass::new(profile, of.selection_if_named(sources)?, nodes(*limit)), |pass, s| {
                Ok(Answer::InOrder(linked_in_order(s, &pass.finish(s.profile))))
            })
        }
        Question::Sandwich { of, name, instances, limit } => {
            let (limit, names) = (nodes(*limit), Names::of(profile, *instances));
            let name = known_name(sources, &names, name)?;
            answered(SandwichPass::new(profile, of.selection(sources)?, name, names), move |pass, s| {
                Ok(Answer::Sandwich(SandwichGraph::of(s.profile, &pass.finish(), limit)))
            })
        }
        Question::Modules { of, limit } => {
            let limit = nodes(*limit);
            answered(ModulePass::new(profile, of.selection_if_named(sources)?), move |pass, s| {
                Ok(Answer::Modules(pass.finish(s.profile, limit)))
            })
        }
        Question::Sentences => answered(SentencesPass::new(profile), |pass, s| {
            Ok(Answer::Sentences(linked_sentences(s, pass.finish(s.profile, (s.works)()))))
        }),
        Question::Summary => answered(NoPass, |_, s| Ok(Answer::Summary(s.insights.cloned().map(Box::new)))),
        Question::Overview | Question::FirstOverview => {
            answered(SentencesPass::new(profile), |pass, s| Ok(Answer::Overview(overview(s, pass))))
        }
        Question::Path { range, limit } => {
            let limit = nodes(*limit);
            answered(CriticalPass::new(profile, *range), move |pass, s| {
                Ok(Answer::Path(path_steps(s, &pass.finish(), limit)))
            })
        }
        Question::Curve { name, range, points } => {
            let curve = CurvePass::new(profile, name, *range, nodes(*points));
            let missing = || format!("there is no counter '{name}': choose one from the table of counters");
            answered(curve.ok_or_else(missing)?, |pass, _| Ok(Answer::Curve(pass.finish())))
        }
    })
}

fn overview(s: &Sources<'_>, pass: SentencesPass) -> Document {
    let found = pass.finish_overview(s.profile, (s.works)());
    let Sources { profile, insights, published, mark, .. } = *s;
    overview_document(&Context { profile, found: &found, insights, published, mark }, s.name)
}

/// The selection without the rows of the profiler itself, which last as long as the recording, if it is of all rows and levels.
fn without_profiler(profile: &Profile, selection: Selection) -> Selection {
    if selection.tracks.is_some() || selection.level.is_some() {
        return selection;
    }
    let tracks = selection.tracks_of(profile).into_iter().filter(|t| !profile.levels().is_of_profiler(profile, *t));
    Selection { tracks: Some(tracks.collect()), ..selection }
}

fn totals(profile: &Profile, selection: Selection, group_by: GroupBy) -> Box<dyn Running> {
    let query = OpQuery { group_by, selection: selection.clone(), percentiles: false };
    answered(OperatorPass::new(profile, query), move |pass, s| {
        let table = pass.finish(s.profile);
        Ok(Answer::Totals(OperatorTotals::of(s.profile, &selection, &table, s.name)))
    })
}

/// The flame graph of modules below one of them.
fn module_flame(pass: ModuleFlamePass, from: Vec<String>, limit: usize) -> Box<dyn Running> {
    answered(pass, move |pass, s| {
        pass.finish(s.profile, &from, limit).map(Answer::Flame).ok_or_else(|| no_stack(&from))
    })
}

fn no_stack(from: &[String]) -> String {
    format!("there is no stack '{}' among the selected slices: start from the root", from.join(" > "))
}

/// The flame graph below a stack.
fn flame(pass: CallTreePass, is_inverted: bool, from: Vec<String>, limit: usize) -> Box<dyn Running> {
    answered(pass, move |pass, s| {
        let tree = pass.finish();
        let tree = if is_inverted { tree.inverted() } else { tree };
        let root = tree.find(s.profile, &from).ok_or_else(|| no_stack(&from))?;
        Ok(Answer::Flame(FlameGraph::of(s.profile, &tree, root, limit)))
    })
}

fn nodes(limit: u32) -> usize {
    (limit as usize).clamp(1, MOST_NODES)
}

fn members(sources: &Sources<'_>, of: &SliceFilter, by: GroupBy, name: &str) -> Result<MemberPass, String> {
    let name = own_name(sources.profile, &Grouping::new(sources.profile, by), name);
    Ok(MemberPass::new(sources.profile, of.selection(sources)?, by, name))
}

fn known_name(sources: &Sources<'_>, names: &Names, name: &str) -> Result<StrId, String> {
    let found = names.find(sources.profile, name);
    found.ok_or_else(|| format!("no slice is named '{name}': give a name as shown in the table of operators"))
}
