//! The parts of a model's page: main figures, the tree, the picture, a node's details.

use std::collections::BTreeSet;

use super::documents::{details, head, obstacles, table};
use super::messages::{InspectFile, InspectResult, TreeRow};
use super::open_model::OpenModel;
use super::passes::passes;
use ns_base::convert::usize_to_u32;
use ns_base::units::format_plural;
use ns_compiler::hlo::text::print;
use ns_forms::{InspectField, InspectSpec, InspectView};
use ns_view::graph::{Look, svg_document, svg_fragment};

/// Most hits that are named.
const MOST_HITS: usize = 100;

/// The view of an open model. Fails when a pass of the compiler breaks the program: a defect of the pass.
pub(super) fn view_of(opened: &OpenModel, spec: &InspectSpec) -> Result<InspectResult, String> {
    let open = opened.open(spec);
    let found = opened.hits(spec.get(InspectField::Search));
    let mut result = InspectResult {
        spec: spec.clone(),
        title: opened.subject.title.clone(),
        head: head(opened),
        limiter: opened.times.iter().filter_map(|times| times.limiter.as_ref()).map(|(text, _)| text.clone()).collect(),
        details: Some(match opened.node(spec.get(InspectField::Selected)) {
            Some(node) => details(opened, node),
            None => obstacles(opened),
        }),
        hits: found.iter().take(MOST_HITS).map(|&n| opened.tree.graph.nodes()[n as usize].id.clone()).collect(),
        found: found.len() as u64,
        ..InspectResult::default()
    };
    match spec.view() {
        InspectView::Graph => {
            let marks = opened.marks(spec, &open, &found);
            let scene = opened.scene(&open);
            result.picture = svg_fragment(&opened.tree.graph, &scene, &marks);
            result.size = (scene.width, scene.height);
            result.tree = rows(opened, &open, &marks.found);
        }
        InspectView::Table => result.panel = Some(table(opened)),
        InspectView::Passes => {
            result.panel = Some(passes(opened, spec.get(InspectField::Pass).parse().unwrap_or(0))?);
        }
    }
    Ok(result)
}

/// The rows of the tree: the contents of open modules, each with its depth.
pub(super) fn rows(opened: &OpenModel, open: &BTreeSet<u32>, found: &BTreeSet<u32>) -> Vec<TreeRow> {
    let nodes = opened.tree.graph.nodes();
    let children = |module: u32, depth: u32| {
        let list = &nodes[module as usize].children;
        let all = usize_to_u32(list.len());
        list.iter().enumerate().map(move |(i, &child)| (child, depth, (usize_to_u32(i) + 1, all))).rev()
    };
    let mut rows = Vec::new();
    let mut stack: Vec<(u32, u32, (u32, u32))> = children(0, 0).collect();
    while let Some((node, depth, place)) = stack.pop() {
        let (own, facts) = (&nodes[node as usize], &opened.tree.facts[node as usize]);
        let is_open = (!own.children.is_empty()).then(|| open.contains(&node));
        rows.push(TreeRow {
            node,
            id: own.id.clone(),
            title: own.title.clone(),
            note: if own.look == Look::Module { operators_text(facts.operators) } else { own.note.clone() },
            time: if facts.call_ns() > 0.0 { facts.call_text() } else { String::new() },
            depth,
            is_open,
            share: own.heat,
            is_found: found.contains(&node),
            place,
        });
        if is_open == Some(true) {
            stack.extend(children(node, depth + 1));
        }
    }
    rows
}

fn operators_text(operators: u64) -> String {
    format_plural(operators, "operator")
}

/// A file of the view: its name, media type and text.
pub(super) fn saved(
    opened: &OpenModel,
    spec: &InspectSpec,
    file: InspectFile,
) -> Result<(String, &'static str, String), String> {
    let stem: String = opened.subject.title.split([',', ':']).next().unwrap_or("model").to_owned();
    match file {
        InspectFile::Svg => {
            let scene = opened.scene(&opened.open(spec));
            let text = svg_document(&opened.tree.graph, &scene, &opened.subject.title);
            Ok((format!("{stem}.svg"), "image/svg+xml", text))
        }
        InspectFile::Csv => {
            Ok((format!("{stem}.operators.csv"), "text/csv", super::documents::operators(opened).0.to_csv()))
        }
        InspectFile::Hlo => {
            let last = opened.subject.pipeline.after_passes(usize::MAX).map_err(|e| e.to_string())?;
            let text = format!("{}\n{}", print(&opened.subject.module), print(&last));
            Ok((format!("{stem}.hlo.txt"), "text/plain", text))
        }
    }
}
