//! Problems found while a file was read.

use yew::prelude::*;

use ns_base::Diagnostic;
use ns_base::units::{format_count, format_plural};

/// A list that unfolds; empty without problems.
pub fn diagnostics_panel(items: &[Diagnostic]) -> Html {
    if items.is_empty() {
        return Html::default();
    }
    let total: u64 = items.iter().map(|d| d.count).sum();
    html! {
        <details class="diagnostics">
            <summary>{ format!("{} of {}", format_plural(total, "diagnostic"), format_plural(items.len() as u64, "kind")) }</summary>
            <div class="table-scroll" tabindex="0" role="region" aria-label="Diagnostics, scrollable">
                <table>
                    <caption>{ "Diagnostics" }</caption>
                    <thead><tr><th scope="col">{ "Code" }</th><th scope="col" class="number">{ "Count" }</th>
                        <th scope="col">{ "First example" }</th><th scope="col" class="number">{ "At byte" }</th></tr></thead>
                    <tbody>{ for items.iter().map(|d| html! {
                        <tr>
                            <th scope="row"><code>{ &d.code }</code></th>
                            <td class="number">{ format_count(d.count) }</td>
                            <td>{ &d.first_example }</td>
                            <td class="number">{ d.byte_offset.map(format_count).unwrap_or_default() }</td>
                        </tr>
                    }) }</tbody>
                </table>
            </div>
        </details>
    }
}
