//! The memory of devices: what they hold at most, which operators allocate, what each step leaves behind.

use yew::prelude::*;

use super::ToolProps;
use super::paged_table::PagedTable;
use crate::pages::profile::queries::use_listing;
use ns_session::{Listing, Rows};

/// Operators on a page.
const MOST_OPERATORS: u32 = 100;

/// Three tables; empty for a profile without events of the memory.
#[component]
pub fn MemoryTables(props: &ToolProps) -> Html {
    let devices = use_listing(&props.run, Some(Listing::Memory), Rows::ALL);
    let steps = use_listing(&props.run, Some(Listing::MemorySteps), Rows::ALL);
    let has_rows = |answer: &Option<Result<ns_page::Shared<ns_session::LinkedTable>, _>>| {
        answer.as_ref().and_then(|a| a.as_ref().ok()).is_some_and(|l| l.total > 0)
    };
    if !has_rows(&devices) {
        return Html::default();
    }
    let table = |name: &'static str, file: &'static str, noun: &'static str, what: Listing| {
        let (run, state) = (props.run.clone(), props.state.clone());
        html! { <PagedTable {name} {file} {noun} {what} {run} {state} page_rows={MOST_OPERATORS} /> }
    };
    html! {
        <section class="panel" aria-label="Memory of devices">
            { table("Memory of devices", "memory", "devices", Listing::Memory) }
            { table("Allocations by operator", "memory-operators", "operators", Listing::MemoryOperators) }
            <p class="note">{ "An allocation counts for each operator around it on its thread; \u{201c}by itself\u{201d} counts it once. Press a row to see its largest allocation." }</p>
            if has_rows(&steps) {
                { table("Memory that each step leaves behind", "memory-steps", "steps", Listing::MemorySteps) }
            }
        </section>
    }
}
