//! One question being answered, a bounded number of slices at a time.

use super::ask::query_table;
use super::groups::{NO_NAME, group_table};
use super::idle::idle_table;
use super::in_order::in_order_shown;
use super::listing::{Listing, Sources};
use super::members::slice_table;
use super::path::{path_shown, path_table};
use super::question::{Answer, Question};
use super::said::said;
use crate::base::StrId;
use crate::profile::analysis::calltree::{CallTreePass, SandwichPass};
use crate::profile::analysis::compare::{OperatorTotals, compared_by_default};
use crate::profile::analysis::flame::{FlameGraph, SandwichGraph};
use crate::profile::analysis::histogram::Histogram;
use crate::profile::analysis::in_order::InOrderPass;
use crate::profile::analysis::members::{MemberOrder, MemberPass};
use crate::profile::analysis::modules::ModulePass;
use crate::profile::analysis::operators::{OpQuery, OperatorPass};
use crate::profile::analysis::query::{QueryPass, parse};
use crate::profile::analysis::{GroupBy, Grouping};
use crate::session::{Event, JobId, ProfileKey};

/// Most nodes of a flame graph or module tree, and most bins, whatever is asked for.
const MOST_NODES: usize = 20_000;

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
    /// What is answered in one piece: its cost is that of one look at the slices.
    AtOnce,
}

impl AnalysisRun {
    pub fn new(job: JobId, profile: ProfileKey, asked: Asked) -> Self {
        Self { job, profile, asked, pass: None }
    }

    /// Looks at about `limit` slices more. Returns the answer when all were seen.
    ///
    /// # Errors
    /// With a message for the person when the question can not be answered.
    pub fn step(&mut self, sources: &Sources<'_>, limit: usize) -> Result<Option<Event>, String> {
        let profile = sources.profile;
        let pass = match &mut self.pass {
            Some(pass) => pass,
            none => none.insert(prepare(sources, &self.asked)?),
        };
        let done = match pass {
            Pass::Groups(pass) => pass.advance(profile, limit),
            Pass::Members(pass) => pass.advance(profile, limit),
            Pass::Flame(pass) => pass.advance(profile, limit),
            Pass::InOrder(pass) => pass.advance(profile, limit),
            Pass::Sandwich(pass) => pass.advance(profile, limit),
            Pass::Modules(pass) => pass.advance(profile, limit),
            Pass::Query(pass) => pass.advance(profile, limit),
            Pass::AtOnce => true,
        };
        if !done {
            return Ok(None);
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
            (Pass::AtOnce, Asked::List(Listing::Idle(of))) => listed(idle_table(sources, of)),
            (Pass::AtOnce, Asked::List(Listing::CriticalPath(of))) => listed(path_table(sources, of)),
            (Pass::AtOnce, Asked::Analyse(Question::Path(of))) => analysed(Answer::Path(path_shown(sources, of))),
            (Pass::AtOnce, Asked::Analyse(Question::Sentences)) => analysed(Answer::Sentences(said(sources))),
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
        let name = if name == NO_NAME && !has_group(sources, by, name) { "" } else { name };
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
        Asked::List(Listing::Idle(_) | Listing::CriticalPath(_))
        | Asked::Analyse(Question::Sentences | Question::Path(_)) => Pass::AtOnce,
        Asked::Analyse(Question::Modules { of, .. }) => Pass::Modules(ModulePass::new(profile, of.selection(tracks))),
    })
}

fn has_group(sources: &Sources<'_>, by: GroupBy, name: &str) -> bool {
    Grouping::new(sources.profile, by).find(sources.profile, name).is_some()
}

fn known_name(sources: &Sources<'_>, name: &str) -> Result<StrId, String> {
    let found = sources.profile.strings().lookup(name);
    found.ok_or_else(|| format!("no slice is named '{name}': give a name as the table of operators shows it"))
}
