//! Main figures of a model, the table of its operators, and everything about a node.

use super::open_model::OpenModel;
use super::tree::NodeFacts;
use ns_base::Order;
use ns_base::convert::{u64_to_f64, usize_to_u32};
use ns_base::units::{format_bytes, format_count, format_large, format_ns, format_share, format_whole_share};
use ns_bench::{INTERVAL_CASES, SdkGeneration};
use ns_device::EstimateMark;
use ns_fidelity::interval_of_time;
use ns_machine::isa::Engine;
use ns_view::document::{Block, Document, Tile};
use ns_view::graph::Look;
use ns_view::table::Table;

/// Most children that a module's details name.
const MOST_CHILDREN: usize = 12;

/// Main figures, and obstacles on a NeuronCore.
pub(super) fn head(opened: &OpenModel) -> Document {
    let facts = opened.tree.facts.first().cloned().unwrap_or_default();
    let core = &opened.subject.device.costs.core;
    let mut tiles = Vec::new();
    if let Some(times) = &opened.times {
        let busy = facts.call_ns() / times.window_ns.max(1.0) * 100.0;
        let mut note = format!("a simulated {}, busy for {} of it", core.name, format_whole_share(busy));
        let mark = opened.subject.mark();
        // The error of an operator whose cost is a guess is not known.
        let interval = interval_of_time(times.window_ns, &opened.subject.instance, SdkGeneration::default())
            .filter(|_| mark.is_none());
        if let Some((low, high)) = interval {
            note.push_str(&format!("; {} to {} {INTERVAL_CASES}", format_ns(low), format_ns(high)));
        }
        if let Some(mark) = mark {
            note.push_str(&format!("; {}", mark.note()));
        }
        let before = mark.map_or("", EstimateMark::before_time);
        tiles.push(Tile::new("Time on the core", format!("{before}{}", format_ns(times.window_ns)), note));
    }
    // A file counts its own weights: tied ones once, and computed ones as the weights they come from.
    let inspection = opened.subject.pipeline.inspection();
    let parameters = opened.subject.pipeline.parameters();
    let note = format!(
        "{}; {} of weights on the core",
        format_count(parameters),
        format_bytes(u64_to_f64(facts.weight_bytes))
    );
    tiles.push(Tile::new("Parameters", format_large(parameters, ""), note));
    let flops = inspection.map_or(facts.flops, |i| i.flops);
    let what = format!("{} of matrix products, two for each multiply-add", format_count(flops));
    tiles.push(Tile::new("FLOPs", format_large(flops, "FLOP"), what));
    tiles.push(Tile::new(
        "Operators",
        format_count(facts.operators),
        format!("{} instructions", opened.operations.len()),
    ));
    if let Ok(compiled) = &opened.compiled {
        let plan = compiled.executable.memory;
        let share = u64_to_f64(plan.sbuf_peak_bytes) / u64_to_f64(plan.sbuf_capacity_bytes.max(1));
        let note = format!("of {} at the peak", format_bytes(u64_to_f64(plan.sbuf_capacity_bytes)));
        let sbuf = Tile::new("SBUF", format_bytes(u64_to_f64(plan.sbuf_peak_bytes)), note);
        tiles.push(Tile { share: Some(share.clamp(0.0, 1.0)), ..sbuf });
    }
    let mut blocks = vec![Block::Tiles(tiles)];
    if let Some(i) = inspection {
        let producer = if i.producer.is_empty() { "an unnamed program" } else { &i.producer };
        blocks.push(Block::Text(format!("Format {}, written by {producer}.", i.format)));
    }
    Document { title: opened.subject.title.clone(), blocks }
}

/// What stands beside the picture while no node is selected: obstacles on a NeuronCore.
pub(super) fn obstacles(opened: &OpenModel) -> Document {
    let mut blocks = vec![Block::Heading("Obstacles for this model on a NeuronCore".to_owned())];
    blocks.extend(opened.limits.iter().cloned().map(Block::Finding));
    let help = "Choose a module or an operator in the tree or the picture to see everything about it here. A double click or Enter opens a module.";
    blocks.push(Block::Text(help.to_owned()));
    Document { title: "Obstacles".to_owned(), blocks }
}

/// All operators as a document.
pub(super) fn table(opened: &OpenModel) -> Document {
    let (table, nodes) = operators(opened);
    let all = opened.tree.graph.nodes();
    let targets = nodes.iter().map(|&n| format!("node={}", all[n as usize].id)).collect();
    let title = "Operators in the order of the program".to_owned();
    let rows = Block::Rows { title, file: "operators".to_owned(), table, targets, faint: Vec::new() };
    Document { title: "Operators".to_owned(), blocks: vec![rows] }
}

/// All operators as a table, and the node of each row.
pub(super) fn operators(opened: &OpenModel) -> (Table, Vec<u32>) {
    let nodes = opened.tree.graph.nodes();
    let is_operator = |n: &u32| {
        let node = &nodes[*n as usize];
        let in_module = node.parent.is_some_and(|p| nodes[p as usize].look == Look::Module);
        in_module && is_operator_look(node.look)
    };
    let listed: Vec<u32> = (0..usize_to_u32(nodes.len())).filter(is_operator).collect();
    let node = |n: u32| &nodes[n as usize];
    let facts = |n: u32| &opened.tree.facts[n as usize];
    let timed = |value: f64| opened.times.is_some().then_some(value);
    let mut table = Table::of(&listed)
        .text("operator", "Operator", |&n| node(n).title.as_str())
        .text("module", "Module", |&n| node(n).parent.map_or("", |p| node(p).id.as_str()))
        .text("shape", "Gives", |&n| gives(opened, n))
        .text("engine", "Engine", |&n| facts(n).time.main_engine().map_or("\u{2013}", Engine::name))
        .number("time_us", "Time (\u{b5}s)", |&n| timed(facts(n).time.executing_ns / 1e3))
        .percent("share", "Share", |&n| timed(opened.tree.share_percent(n)))
        .number("exposed_us", "Exposed (\u{b5}s)", |&n| timed(facts(n).time.exposed_ns / 1e3))
        .count("flops", "FLOPs", |&n| facts(n).flops)
        .count("bytes", "Bytes", |&n| facts(n).bytes)
        .count("parameters", "Parameters", |&n| facts(n).parameters);
    if opened.tree.facts.first().is_some_and(|all| all.estimates > 0) {
        table = table.text("cost", "Cost", |&n| cost_of(facts(n)));
    }
    (table.table(), listed)
}

/// What is wrong with a cost: nothing is known about it, or it is an estimate.
const fn cost_of(facts: &NodeFacts) -> Option<&'static str> {
    match (facts.unknown, facts.estimates) {
        (0, 0) => None,
        (0, _) => Some("estimated"),
        _ => Some("not known: the time is the least"),
    }
}

/// The shape of an operator's result: the shape of its last instruction.
fn gives(opened: &OpenModel, node: u32) -> String {
    let nodes = opened.tree.graph.nodes();
    let last = nodes[node as usize].children.last().copied().unwrap_or(node);
    let operation = opened.tree.facts[last as usize].operation;
    operation.map_or_else(String::new, |o| opened.operations[o].shape.to_string())
}

pub(super) fn details(opened: &OpenModel, node: u32) -> Document {
    let nodes = opened.tree.graph.nodes();
    let own = &nodes[node as usize];
    let facts = &opened.tree.facts[node as usize];
    let mut rows: Vec<(&str, String)> = Vec::new();
    let module = own.parent.map_or("", |p| nodes[p as usize].id.as_str());
    rows.push(("Module", if module.is_empty() { nodes[0].title.clone() } else { module.to_owned() }));
    if own.look != Look::Value && !own.children.is_empty() {
        rows.push(("Operators", format_count(facts.operators)));
    }
    if let Some(operation) = facts.operation.and_then(|o| opened.operations.get(o)) {
        rows.push(("Instruction", format!("%{} = {}", operation.name, operation.opcode)));
        rows.extend(operation.reads.iter().map(|read| ("Reads", read.clone())));
        rows.push(("Gives", operation.shape.to_string()));
        if let Some(reason) = &operation.refused {
            rows.push(("Refused", reason.clone()));
        } else if operation.is_estimate {
            rows.push(("Cost", "an estimate: no rule of the compiler places it".to_owned()));
        }
    } else if is_operator_look(own.look) {
        rows.push(("Gives", gives(opened, node)));
    }
    rows.extend(figures(opened, node, facts));
    let table = Table::of(&rows)
        .text("what", "What", |(what, _)| *what)
        .text("value", "Value", |(_, value)| value.as_str())
        .table();
    let mut blocks = vec![Block::Table { title: "Details".to_owned(), file: "details".to_owned(), table }];
    if !own.children.is_empty() {
        blocks.push(heaviest(opened, node));
    }
    Document { title: own.title.clone(), blocks }
}

const fn is_operator_look(look: Look) -> bool {
    matches!(look, Look::Operator | Look::Estimate | Look::Refused)
}

/// Times and sizes.
fn figures(opened: &OpenModel, node: u32, facts: &NodeFacts) -> Vec<(&'static str, String)> {
    let mut rows = Vec::new();
    if opened.times.is_some() {
        let share = opened.tree.share_percent(node);
        rows.push(("Part of a call", format!("{}, {}", facts.call_text(), format_share(share))));
        rows.push(("Time", format!("{}, while it executes", format_ns(facts.time.executing_ns))));
        for engine in Engine::ALL {
            let ns = facts.time.engine_ns[engine.index()];
            if ns > 0 {
                rows.push((engine_row(engine), format_ns(u64_to_f64(ns))));
            }
        }
        if facts.time.transfer_ns > 0 {
            let all = format_ns(u64_to_f64(facts.time.transfer_ns));
            rows.push(("Transfers", format!("{all}, each counted whole although they run at once")));
        }
        if facts.time.exposed_ns > 0.0 {
            let exposed = format_ns(facts.time.exposed_ns);
            rows.push(("Exposed", format!("{exposed}, while data is moved for it and nothing executes")));
        }
    }
    if facts.flops > 0 {
        rows.push(("FLOPs", format_count(facts.flops)));
    }
    rows.push(("Bytes", format_bytes(u64_to_f64(facts.bytes))));
    if facts.parameters > 0 {
        let bytes = format_bytes(u64_to_f64(facts.weight_bytes));
        rows.push(("Parameters", format!("{}, {bytes}", format_count(facts.parameters))));
    }
    if facts.estimates > 0 {
        rows.push(("Estimates", format_count(facts.estimates)));
    }
    rows
}

const fn engine_row(engine: Engine) -> &'static str {
    match engine {
        Engine::Tensor => "Tensor engine",
        Engine::Vector => "Vector engine",
        Engine::Scalar => "Scalar engine",
        Engine::GpSimd => "GpSimd engine",
    }
}

/// The children of a module, those with the most time first.
fn heaviest(opened: &OpenModel, node: u32) -> Block {
    let nodes = opened.tree.graph.nodes();
    let mut children = nodes[node as usize].children.clone();
    children.order_by(|a, b| nodes[*b as usize].heat.total_cmp(&nodes[*a as usize].heat).then(a.cmp(b)));
    let title = match children.len() {
        n if n > MOST_CHILDREN => format!("The {MOST_CHILDREN} longest of {n}"),
        _ => "Contents".to_owned(),
    };
    children.truncate(MOST_CHILDREN);
    let targets = children.iter().map(|&c| format!("node={}", nodes[c as usize].id)).collect();
    let table = Table::of(&children)
        .text("name", "Name", |&child| nodes[child as usize].title.as_str())
        .number("call_us", "Part of a call (\u{b5}s)", |&child| opened.tree.facts[child as usize].call_ns() / 1e3)
        .percent("share", "Share", |&child| opened.tree.share_percent(child))
        .table();
    Block::Rows { title, file: "holds".to_owned(), table, targets, faint: Vec::new() }
}
