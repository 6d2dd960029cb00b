//! Nodes that hold graphs: conditions that are known, and loops whose number of turns is known, are written out.

use super::super::program::{InstructionId, Numbers};
use super::site::{Failure, OpError, Site};
use super::values::Scope;
use crate::base::convert::signed;

/// Turns of a loop that are written out.
const MOST_TURNS: u64 = 4096;

/// Translates `If`, `Loop` or `Scan`.
pub(super) fn run(site: &mut Site<'_, '_>, scope: &mut Scope) -> Result<Vec<InstructionId>, Failure> {
    match site.node.op.as_str() {
        "If" => condition(site, scope),
        "Loop" => repeat(site, scope),
        _ => scan(site, scope),
    }
}

/// A boolean that has to be known.
fn known_flag(site: &Site<'_, '_>, x: InstructionId) -> Option<bool> {
    match site.known(x).map(|v| &v.numbers) {
        Some(Numbers::Whole(v)) => v.first().map(|&n| n != 0),
        _ => None,
    }
}

fn condition(site: &mut Site<'_, '_>, scope: &mut Scope) -> Result<Vec<InstructionId>, Failure> {
    let flag = site.x(0)?;
    let Some(flag) = known_flag(site, flag) else {
        let what = "an If node with subgraphs: which of them is run depends on the input";
        return Err(OpError::dynamic(what).into());
    };
    let graph = site.graph(if flag { "then_branch" } else { "else_branch" })?;
    site.importer.subgraph(&graph, &[], scope).map_err(Failure::Inside)
}

fn repeat(site: &mut Site<'_, '_>, scope: &mut Scope) -> Result<Vec<InstructionId>, Failure> {
    let graph = site.graph("body")?;
    let turns = match site.option(0) {
        None => None,
        Some(m) => match site.known(m).map(|v| &v.numbers) {
            Some(Numbers::Whole(v)) => v.first().map(|&n| u64::try_from(n).unwrap_or(0)),
            _ => {
                let what = "a Loop node with a subgraph: the number of its turns depends on the input";
                return Err(OpError::dynamic(what).into());
            }
        },
    };
    let mut goes_on = match site.option(1) {
        None => true,
        Some(flag) => {
            let what = "a Loop node with a subgraph: whether it goes on depends on the input";
            known_flag(site, flag).ok_or_else(|| OpError::dynamic(what))?
        }
    };
    let mut state: Vec<InstructionId> = site.inputs.iter().skip(2).flatten().copied().collect();
    let carried = state.len();
    let mut scanned: Vec<Vec<InstructionId>> = Vec::new();
    let mut turn = 0;
    while goes_on && turns.is_none_or(|all| turn < all) {
        if turn >= MOST_TURNS {
            let what = format!("a Loop node runs more than {MOST_TURNS} times");
            return Err(OpError::dynamic(what).into());
        }
        let number = site.b().whole(super::super::program::ElementType::S64, signed(turn)).map_err(OpError::from)?;
        let flag = site.b().number(super::super::program::ElementType::Pred, 1.0).map_err(OpError::from)?;
        let inputs: Vec<InstructionId> = [number, flag].into_iter().chain(state.iter().copied()).collect();
        let results = site.importer.subgraph(&graph, &inputs, scope).map_err(Failure::Inside)?;
        let Some((&again, rest)) = results.split_first().filter(|(_, rest)| rest.len() >= carried) else {
            return Err(OpError::wrong("the body of a Loop gives fewer values than it carries").into());
        };
        let what = "a Loop node with a subgraph: whether it goes on depends on the input";
        goes_on = known_flag(site, again).ok_or_else(|| OpError::dynamic(what))?;
        state = rest[..carried].to_vec();
        scanned.resize_with(rest.len() - carried, Vec::new);
        for (all, &one) in scanned.iter_mut().zip(&rest[carried..]) {
            all.push(one);
        }
        turn += 1;
    }
    if turn == 0 && graph.outputs.len() > carried + 1 {
        return Err(OpError::dynamic("a Loop node that never runs gives arrays without elements").into());
    }
    for all in scanned {
        state.push(site.b().stack(&all, 0).map_err(OpError::from)?);
    }
    Ok(state)
}

fn scan(site: &mut Site<'_, '_>, scope: &mut Scope) -> Result<Vec<InstructionId>, Failure> {
    let graph = site.graph("body")?;
    let count = usize::try_from(site.int("num_scan_inputs", 0)?).unwrap_or(0);
    let has_defaults = ["scan_input_axes", "scan_output_axes", "scan_input_directions", "scan_output_directions"]
        .iter()
        .map(|name| site.ints(name))
        .collect::<Result<Vec<_>, _>>()?
        .into_iter()
        .flatten()
        .all(|list| list.iter().all(|&n| n == 0));
    if !has_defaults || site.opset < 9 {
        return Err(
            OpError::dynamic("a Scan node that runs along another dimension than the first, or backwards").into()
        );
    }
    let all: Vec<InstructionId> = site.inputs.iter().flatten().copied().collect();
    let Some(carried) = all.len().checked_sub(count) else {
        return Err(OpError::wrong("a Scan node has fewer operands than it says").into());
    };
    let (mut state, rows) = (all[..carried].to_vec(), &all[carried..]);
    let turns = match rows.first() {
        Some(&row) => site.b().size(row, 0).map_err(OpError::from)?,
        None => 0,
    };
    if turns == 0 || turns > MOST_TURNS {
        let what = format!("a Scan node runs {turns} times: 1 to {MOST_TURNS} times are written out");
        return Err(OpError::dynamic(what).into());
    }
    let mut scanned: Vec<Vec<InstructionId>> = Vec::new();
    for turn in 0..turns {
        let mut inputs = state.clone();
        for &row in rows {
            inputs.push(site.b().pick(row, 0, turn).map_err(OpError::from)?);
        }
        let results = site.importer.subgraph(&graph, &inputs, scope).map_err(Failure::Inside)?;
        if results.len() < carried {
            return Err(OpError::wrong("the body of a Scan gives fewer values than it carries").into());
        }
        state = results[..carried].to_vec();
        scanned.resize_with(results.len() - carried, Vec::new);
        for (all, &one) in scanned.iter_mut().zip(&results[carried..]) {
            all.push(one);
        }
    }
    for all in scanned {
        state.push(site.b().stack(&all, 0).map_err(OpError::from)?);
    }
    Ok(state)
}
