//! The overview of a profile as a file: the overview, the facts, and the operators that take most of the time.

use super::live_address;
use crate::{OperatorTable, build_id};
use ns_base::units::format_count;
use ns_forms::ProfileOrigin;
use ns_forms::share::{PageLink as _, ProfileLink, Tool};
use ns_profile::Unit;
use ns_view::document::{Block, Document};
use ns_view::page::PageFile;
use ns_view::table::{Cell, Column, ColumnKind, Table};

/// Most operators in the file; the page's CSV has all.
const MOST_OPERATORS: usize = 200;

/// The contents of a file besides the overview.
pub struct ProfileParts {
    pub origin: ProfileOrigin,
    /// Names and values.
    pub facts: Vec<(String, String)>,
    /// What the reader noticed, in sentences.
    pub remarks: Vec<String>,
    pub operators: Vec<OperatorTable>,
    /// The unit of their times.
    pub unit: Unit,
}

/// The overview of a profile as one HTML file, with a link to the profile on the page at `base` if it was simulated.
pub fn profile_page(overview: Document, parts: ProfileParts, base: &str) -> String {
    let mut blocks: Vec<Block> =
        parts.remarks.into_iter().map(|remark| Block::Text(format!("Note: {remark}"))).collect();
    blocks.extend(overview.blocks);
    for operators in &parts.operators {
        let mut table = operators.to_table(&parts.unit);
        if table.rows.is_empty() {
            continue;
        }
        let title = operators.kind.title();
        blocks.push(Block::Heading(title.to_owned()));
        let all = table.rows.len();
        if all > MOST_OPERATORS {
            blocks.push(Block::Text(format!("The first {MOST_OPERATORS} of {}.", format_count(all as u64))));
            table.rows.truncate(MOST_OPERATORS);
        }
        blocks.push(Block::Table { title: title.to_owned(), file: String::new(), table });
    }
    blocks.push(Block::Heading("Facts".to_owned()));
    blocks.push(Block::Table { title: "Facts".to_owned(), file: String::new(), table: facts(parts.facts) });
    let (live, made) = match parts.origin {
        ProfileOrigin::Simulated(spec) => {
            let link = ProfileLink { spec, tool: Tool::Overview, ..ProfileLink::default() };
            (Some(live_address(base, &link.hash())), "Simulated")
        }
        ProfileOrigin::Benchmark(trace) => {
            let link = ProfileLink { spec: trace.spec, tool: Tool::Trace, ..ProfileLink::default() };
            (Some(live_address(base, &link.hash())), "Simulated")
        }
        // A link does not carry a file.
        ProfileOrigin::File { .. } => (None, "Read"),
    };
    let lead = format!("{made} by neuronscope {}. Press a column heading to sort by it.", build_id());
    // An overview has no plots, and the program that opens profiles is small.
    PageFile { document: Document { title: overview.title, blocks }, lead, live, figure: |_, _| {}, data: None }
        .to_html()
}

fn facts(facts: Vec<(String, String)>) -> Table {
    let columns = [("name", "Name"), ("value", "Value")].map(|(id, title)| Column::new(id, title, ColumnKind::Text));
    let rows = facts.into_iter().map(|(name, value)| vec![Cell::Text(name), Cell::Text(value)]).collect();
    Table { columns: columns.to_vec(), rows }
}
