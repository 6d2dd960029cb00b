//! `neuronscope flame SOURCE`: stacks, callers and callees, modules, as an indented tree.

use anyhow::{Result, bail};

use super::analysis::{analyse, print_json};
use crate::analysis_args::FlameArgs;
use crate::driver::Driver;
use crate::shell::Shell;
use crate::source;
use ns_analysis::flame::FlameGraph;
use ns_analysis::modules::ModuleTree;
use ns_analysis::opcode::name_in;
use ns_base::convert::i64_to_f64;
use ns_base::units::{format_count, format_ns};
use ns_session::{Answer, Question, Unit};
use ns_view::terminal;

pub(super) fn run(shell: &Shell, args: FlameArgs) -> Result<()> {
    let mut driver = Driver::new(shell);
    let info = source::open(&mut driver, &args.source)?;
    let (profile, unit) = (info.profile, &info.outline.unit);
    // Modules come from all levels unless a level is named.
    let has_line = !args.modules || args.chosen.level.level.is_some();
    let line = if has_line { args.chosen.level.line(&info) } else { String::new() };
    let (of, limit, instances) = (args.chosen.slice_filter(), args.nodes, args.instances.instances());
    let question = match args.name {
        Some(name) => Question::Sandwich { of, name, instances, limit },
        None if args.modules => Question::Modules { of, limit },
        None => Question::Flame {
            of,
            by_thread: args.by_thread,
            is_inverted: args.inverted,
            instances,
            from: Vec::new(),
            limit,
        },
    };
    let answer = analyse(&mut driver, profile, question)?;
    let out = match &answer {
        Answer::Flame(graph) if args.json => return print_json(&driver, graph),
        Answer::Sandwich(graph) if args.json => return print_json(&driver, graph),
        Answer::Modules(tree) if args.json => return print_json(&driver, tree),
        Answer::Flame(graph) => tree_text(graph, unit),
        Answer::Sandwich(graph) => format!(
            "{}: {} slices, {} ({} self)\n\nCallers\n{}\nCallees\n{}",
            graph.name,
            format_count(graph.count),
            unit.text(graph.total_ns),
            unit.text(graph.self_ns),
            tree_text(&graph.callers, unit),
            tree_text(&graph.callees, unit),
        ),
        Answer::Modules(tree) => modules_text(tree),
        _ => bail!("the session returned an unexpected answer"),
    };
    shell.print_lines(&format!("{line}{out}"))
}

fn tree_text(graph: &FlameGraph, unit: &Unit) -> String {
    let row = |depth: u16, name: &str, count: u64, total: i64, own: i64| {
        let name = if name.is_empty() { "(all)" } else { name };
        vec![
            format!("{}{}", "  ".repeat(usize::from(depth)), name_in(name, 72)),
            format_count(count),
            unit.text(total),
            unit.text(own),
        ]
    };
    let rows: Vec<_> = graph.nodes.iter().map(|n| row(n.depth, &n.name, n.count, n.total_ns, n.self_ns)).collect();
    let mut out = terminal::table(&["Stack", ">Count", ">Total", ">Self"], &rows);
    if graph.omitted > 0 {
        out.push_str(&format!("... and {} nodes with less time (--nodes N shows more)\n", graph.omitted));
    }
    out
}

fn modules_text(tree: &ModuleTree) -> String {
    if tree.nodes.is_empty() {
        return "no slice names a module: neither in its arguments nor by nn.Module calls around it\n".to_owned();
    }
    let rows: Vec<_> = tree
        .nodes
        .iter()
        .map(|n| {
            let name = if n.name.is_empty() { "(all modules)" } else { n.name.as_str() };
            vec![
                format!("{}{}", "  ".repeat(usize::from(n.depth)), name_in(name, 72)),
                format_count(n.count),
                format_ns(i64_to_f64(n.total_ns)),
                format_ns(i64_to_f64(n.self_ns)),
            ]
        })
        .collect();
    let mut out = terminal::table(&["Module", ">Slices", ">Time", ">Own"], &rows);
    out.push_str(&format!("outside of all modules: {}\n", format_ns(i64_to_f64(tree.outside_ns))));
    if tree.omitted > 0 {
        out.push_str(&format!("... and {} modules with less time (--nodes N shows more)\n", tree.omitted));
    }
    out
}
