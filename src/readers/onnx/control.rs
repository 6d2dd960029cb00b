//! Nodes with subgraphs: known conditions are resolved, and loops with a known number of turns are unrolled.

use std::rc::Rc;

use super::messages::{AttributeValue, OnnxGraph};
use super::site::{FIXED, Failure, Site};
use super::values::Scope;
use ns_base::convert::u64_to_i64;
use ns_base::refuse;
use ns_program::{ArrayType, ElementType, InstructionId, Numbers};

/// Most turns of a loop that is unrolled.
const MOST_TURNS: u64 = 4096;

/// Translates `If`, `Loop` or `Scan`.
pub(super) fn run(site: &mut Site<'_, '_>, scope: &mut Scope) -> Result<Vec<InstructionId>, Failure> {
    let made = match site.node.op.as_str() {
        "If" => condition(site, scope),
        "Loop" => repeat(site, scope),
        _ => scan(site, scope),
    };
    match made {
        Err(Failure::Inside(error)) => Err(Failure::Inside(error)),
        Err(failure) if site.importer.display_only() => undecided(site, scope)?.ok_or(failure),
        made => made,
    }
}

/// A branch or a loop that data decides, as one operation for a program that is only inspected: it reads the node's operands and the outer
/// values that the subgraphs read. `None` if the types of its results are unknown.
fn undecided(site: &mut Site<'_, '_>, scope: &mut Scope) -> Result<Option<Vec<InstructionId>>, Failure> {
    let mut types: Vec<ArrayType> = Vec::new();
    let origin = site.b().origin().clone();
    // If the file does not give types, the types of the first branch apply.
    let side = match site.graph("then_branch") {
        Ok(graph) => site.importer.subgraph(&graph, &[], scope).unwrap_or_default(),
        Err(_) => Vec::new(),
    };
    let carried: Vec<InstructionId> = match site.node.op.as_str() {
        "Loop" => site.inputs.iter().skip(2).flatten().copied().collect(),
        _ => Vec::new(),
    };
    for (at, output) in site.node.outputs.iter().enumerate() {
        let from_info = scope.types.get(output).cloned().and_then(|info| site.importer.type_of_info(&info));
        let own = carried.get(at).and_then(|&x| site.b().array(x).ok().cloned());
        let of_side = side.get(at).and_then(|&x| site.b().array(x).ok().cloned());
        let Some(ty) = own.or(from_info).or(of_side) else { return Ok(None) };
        types.push(ty);
    }
    let mut read: Vec<InstructionId> = site.inputs.iter().flatten().copied().collect();
    // Weights that are first read here keep their own origin.
    for attribute in &site.node.attributes {
        let AttributeValue::Graph(graph) = &attribute.value else { continue };
        for name in names_read(graph) {
            let is_around = scope.initializers.contains_key(name) || scope.values.iter().any(|v| v.contains_key(name));
            if is_around {
                read.push(site.importer.value(name, scope, "a graph").map_err(Failure::Inside)?);
            }
        }
    }
    site.b().set_origin(&origin.op, &origin.scope);
    let made = if site.node.op == "Loop" && types.len() == carried.len() && !carried.is_empty() {
        let rest = read.iter().filter(|x| !carried.contains(x)).copied();
        let state: Vec<InstructionId> = carried.iter().copied().chain(rest).collect();
        site.b().undecided_loop(&state).map(|mut all| {
            all.truncate(carried.len());
            all
        })
    } else {
        let flag = site.inputs.first().copied().flatten();
        site.b().undecided_branch(flag, &read, &types)
    };
    Ok(Some(made?))
}

/// Names that the nodes of a graph read.
fn names_read(graph: &OnnxGraph) -> impl Iterator<Item = &Rc<str>> {
    graph.nodes.iter().flat_map(|n| n.inputs.iter()).filter(|name| !name.is_empty())
}

/// The failure of control flow that depends on data.
fn fixed(what: &str) -> Failure {
    Failure::of(refuse!(instead = FIXED, "{what}"))
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
        return Err(fixed("an If node with subgraphs: which of them is run depends on the input"));
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
            _ => return Err(fixed("a Loop node with a subgraph: the number of its turns depends on the input")),
        },
    };
    let mut goes_on = match site.option(1) {
        None => true,
        Some(flag) => known_flag(site, flag).ok_or_else(endless)?,
    };
    let mut state: Vec<InstructionId> = site.inputs.iter().skip(2).flatten().copied().collect();
    let carried = state.len();
    let mut scanned: Vec<Vec<InstructionId>> = Vec::new();
    let mut turn = 0;
    while goes_on && turns.is_none_or(|all| turn < all) {
        if turn >= MOST_TURNS {
            return Err(Failure::of(refuse!(instead = FIXED, "a Loop node runs more than {MOST_TURNS} times")));
        }
        let number = site.b().whole(ElementType::S64, u64_to_i64(turn))?;
        let flag = site.b().number(ElementType::Pred, 1.0)?;
        let inputs: Vec<InstructionId> = [number, flag].into_iter().chain(state.iter().copied()).collect();
        let results = site.importer.subgraph(&graph, &inputs, scope).map_err(Failure::Inside)?;
        let Some((&again, rest)) = results.split_first().filter(|(_, rest)| rest.len() >= carried) else {
            return Err(Failure::of(refuse!("the body of a Loop gives fewer values than it carries")));
        };
        goes_on = known_flag(site, again).ok_or_else(endless)?;
        state = rest[..carried].to_vec();
        scanned.resize_with(rest.len() - carried, Vec::new);
        for (all, &one) in scanned.iter_mut().zip(&rest[carried..]) {
            all.push(one);
        }
        turn += 1;
    }
    if turn == 0 && graph.outputs.len() > carried + 1 {
        return Err(fixed("a Loop node that never runs gives arrays without elements"));
    }
    for all in scanned {
        state.push(site.b().stack(&all, 0)?);
    }
    Ok(state)
}

/// The failure of a loop whose end depends on data.
fn endless() -> Failure {
    fixed("a Loop node with a subgraph: whether it goes on depends on the input")
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
        return Err(fixed("a Scan node that runs along another dimension than the first, or backwards"));
    }
    let all: Vec<InstructionId> = site.inputs.iter().flatten().copied().collect();
    let Some(carried) = all.len().checked_sub(count) else {
        return Err(Failure::of(refuse!("a Scan node has fewer operands than it says")));
    };
    let (mut state, rows) = (all[..carried].to_vec(), &all[carried..]);
    let turns = match rows.first() {
        Some(&row) => site.b().size(row, 0)?,
        None => 0,
    };
    if turns == 0 || turns > MOST_TURNS {
        return Err(Failure::of(refuse!(
            instead = FIXED,
            "a Scan node runs {turns} times: 1 to {MOST_TURNS} times are written out"
        )));
    }
    let mut scanned: Vec<Vec<InstructionId>> = Vec::new();
    for turn in 0..turns {
        let mut inputs = state.clone();
        for &row in rows {
            inputs.push(site.b().pick(row, 0, turn)?);
        }
        let results = site.importer.subgraph(&graph, &inputs, scope).map_err(Failure::Inside)?;
        if results.len() < carried {
            return Err(Failure::of(refuse!("the body of a Scan gives fewer values than it carries")));
        }
        state = results[..carried].to_vec();
        scanned.resize_with(results.len() - carried, Vec::new);
        for (all, &one) in scanned.iter_mut().zip(&results[carried..]) {
            all.push(one);
        }
    }
    for all in scanned {
        state.push(site.b().stack(&all, 0)?);
    }
    Ok(state)
}
