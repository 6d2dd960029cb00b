//! The module hierarchy: a tree as an indented table.

use yew::prelude::*;

use super::{ToolProps, slice_filter, waiting};
use crate::components::LocalTable;
use crate::pages::profile::queries::use_analysis;
use ns_analysis::modules::ModuleTree;
use ns_base::convert::i64_to_f64;
use ns_base::units::format_ns;
use ns_page::Shared;
use ns_session::{Answer, Question};
use ns_view::table::{Cell, Column, ColumnKind, Table};

/// The most modules that are listed.
const MOST_MODULES: u32 = 2_000;

#[component]
pub fn ModulesTool(props: &ToolProps) -> Html {
    let question = Question::Modules { of: slice_filter(&props.state), limit: MOST_MODULES };
    let content = match use_analysis(&props.run, Some(question)) {
        None => waiting(None),
        Some(Err(message)) => waiting(Some(&message)),
        Some(Ok(answer)) => match &*answer {
            Answer::Modules(tree) if tree.nodes.len() > 1 => tree_view(tree),
            _ => html! { <p class="empty">{ "This profile does not say which module any slice belongs to." }</p> },
        },
    };
    html! { <section class="panel" aria-label="Module hierarchy">{ content }</section> }
}

fn tree_view(tree: &ModuleTree) -> Html {
    let all = tree.nodes.iter().filter(|n| n.depth == 1).map(|n| n.total_ns).sum::<i64>().max(1);
    let ns = |n: i64| Cell::Count(n.max(0).unsigned_abs());
    let rows = tree.nodes.iter().skip(1).map(|n| {
        let indent = "\u{2003}".repeat(usize::from(n.depth.saturating_sub(1)));
        vec![
            Cell::Text(format!("{indent}{}", n.name)),
            Cell::Count(n.count),
            ns(n.total_ns),
            ns(n.self_ns),
            Cell::Number(i64_to_f64(n.total_ns) * 100.0 / i64_to_f64(all)),
        ]
    });
    let table = Table {
        columns: vec![
            Column::new("module", "Module", ColumnKind::Text),
            Column::new("count", "Slices", ColumnKind::Count),
            Column::new("total_ns", "Total (ns)", ColumnKind::Count),
            Column::new("self_ns", "Self (ns)", ColumnKind::Count),
            Column::new("percent", "Total %", ColumnKind::Percent),
        ],
        rows: rows.collect(),
    };
    html! {
        <>
            <p class="note">{ format!("Outside of all modules: {}.", format_ns(i64_to_f64(tree.outside_ns))) }</p>
            <LocalTable name="Module hierarchy" file="modules" table={Shared::new(table)} />
        </>
    }
}
